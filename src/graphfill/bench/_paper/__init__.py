"""The Feature Propagation paper, whole: its tables and figures from runs of this package.

`experiments` says which runs they take, `published` what the paper printed, `measured` what the
runs give; `tables`, `figures` and `spectral` are numbers and drawings of those. What they show is
written by hand in docs/paper/README.md.
"""
