"""One section of the engine's benchmark per file: ``COLUMNS`` and ``jobs(options)``."""
