"""The Feature Propagation paper, whole: its tables and figures from runs of this package.

`experiments` says which runs they take, `published` what the paper printed, `measured` what the
runs give; `tables`, `findings`, `advice`, `figures` and `spectral` are numbers, sentences and
drawings of those, and `page` puts them together.
"""
