"""From file to file, with the options by name, as `graphfill.impute` takes them."""

from dataclasses import fields

from graphfill.large import _disk
from graphfill.large._disk import FileOptions, LinkNames
from graphfill.solve._options import PropagationOptions

DEFAULTS = {"normalization": "rw", "solver": "exact"}


def fill_file(table, edges, output, *, memory_limit, **options):
    def taken(kind, given):
        return {f.name: given.pop(f.name) for f in fields(kind) if f.name in given}

    names = LinkNames(**taken(LinkNames, options))
    other = taken(FileOptions, options)
    how = FileOptions(**other, propagation=PropagationOptions(**DEFAULTS | options))
    files = table, edges, output
    return _disk.fill_file(*files, memory_limit=memory_limit, names=names, options=how)
