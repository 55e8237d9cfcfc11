"""From file to file, for tables and edges that outgrow memory: the graph is sorted on disk, the
columns are filled a few at a time, and the output is streamed.

What is kept in memory grows with the number of nodes, not with that of edges or columns.
"""

from .filling import Inputs, fill_file, least_in_memory, open_inputs
from .graph_file import Numbering, store_graph
from .parquet import EdgeFile, TableFile
from .sizing import Sizing

__all__ = ["EdgeFile", "Inputs", "Numbering", "Sizing", "TableFile"]
__all__ += ["fill_file", "least_in_memory", "open_inputs", "store_graph"]
