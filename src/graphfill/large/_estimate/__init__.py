"""What a fill will take before it is begun: sizes from the files, speeds from a short trial."""
