"""``python -m graphfill``: the command."""

import sys

from .cli._main import main

sys.exit(main())
