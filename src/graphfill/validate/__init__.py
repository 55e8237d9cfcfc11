"""Every refusal graphfill makes, and the sentence it makes it with.

Each function checks one thing and either returns the cleaned value or raises
:class:`InputError` with one sentence that names what is wrong, where, and what to do; others
return the error for their caller to raise.
"""

from .bench import *
from .columns import *
from .errors import *
from .files import *
from .formats import *
from .graphs import *
from .matrices import *
from .outputs import *
from .parameters import *
from .tables import *
from .wording import *
