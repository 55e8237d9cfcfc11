"""CSV and its relatives: dialects, reading and writing."""
