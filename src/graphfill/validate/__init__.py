"""Every refusal graphfill makes, and the sentence it makes it with.

Each function checks one thing and either returns the cleaned value or raises
:class:`InputError` with one sentence that names what is wrong, where, and what to do; others
return the error for their caller to raise.
"""

from .adjacency import *
from .attributes import *
from .bench import *
from .columns import *
from .disk import *
from .errors import *
from .files import *
from .formats import *
from .graphs import *
from .hetero import *
from .matrices import *
from .newcomers import *
from .outputs import *
from .parameters import *
from .planning import *
from .pyg import *
from .shards import *
from .tables import *
from .wording import *
