"""Mistakes that tests once did not notice: a file, what stands there, and what instead."""

MISTAKES = [
    # What users are told about trust.
    ("trust/_channels.py", "np.clip(slope - error, 0.0, 1.0)", "np.clip(slope, 0.0, 1.0)"),
    ("trust/_channels.py", "np.clip(slope - error, 0.0, 1.0)", "max(slope - error, 0.0)"),
    ("trust/_channels.py", "c = self.reliance\n        return", "c = 1.0\n        return"),
    (
        "trust/_intervals.py",
        "_by_group(scores[rest], group[rest], group[part], share, w[rest])",
        "_by_group(scores[part], group[part], group[part], share, w[part])",
    ),
    (
        "trust/_intervals.py",
        "held[held == number] = asked[asked == number] = number - 1",
        "pass",
    ),
    # Solvers.
    ("solve/_steps.py", "np.ceil(np.log2(max(n, 2)))", "np.floor(np.log2(max(n, 2)))"),
    ("solve/_solvers.py", "self.active & (curvature > 0) & (", "self.active & ("),
    # Files.
    ("io/_columnar.py", "options.check_size(path, shared)", "pass"),
    ("io/_columnar.py", "options.check_size(path, table.nbytes + shared)", "pass"),
    ("io/_columnar.py", "    options.check_size(path, size)\n    for", "    for"),
    ("io/_columnar.py", "            options.check_size(path, size)\n\n", "\n\n"),
    ("io/_tables.py", "os.fsync(file.fileno())", "pass"),
    ("io/_tables.py", "sync_folder(final.parent)", "pass"),
    ("large/_shards/storage.py", "os.fsync(raw.fileno())", "pass"),
    ("large/_shards/storage.py", "        sync_folder(path.parent)", "        pass"),
]
