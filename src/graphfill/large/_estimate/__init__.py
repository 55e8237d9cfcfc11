"""What a fill will take before it is begun: sizes from the files, speeds from a short trial.

Nothing is imported here, so that ``graphfill --help`` answers at once.
"""
