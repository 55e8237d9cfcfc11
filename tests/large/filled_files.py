"""From file to file, with the options by name, as `graphfill.impute` takes them."""

from dataclasses import fields

from graphfill.large import _disk
from graphfill.solve import PropagationOptions
from graphfill.table._options import TableOptions
from graphfill.trust import FillOptions

DEFAULTS = {"normalization": "rw", "solver": "exact"}


def fill_file(table, edges, output, *, memory_limit, **options):
    def taken(kind):
        return {f.name: options.pop(f.name) for f in fields(kind) if f.name in options}

    about, fill = taken(TableOptions), {"method": "propagation"} | taken(FillOptions)
    propagation = PropagationOptions(**DEFAULTS | options)
    chosen = TableOptions(**about, fill=FillOptions(**fill, propagation=propagation))
    return _disk.fill_file(table, edges, output, memory_limit=memory_limit, options=chosen)
