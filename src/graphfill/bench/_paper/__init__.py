"""The Feature Propagation paper, whole: its tables and figures from runs of this package.

`experiments` says which runs they take, `measured` what they give and what the paper printed;
`tables`, `figures` and `spectral` are numbers and drawings of those. What they show is
written by hand in docs/paper/README.md.
"""
