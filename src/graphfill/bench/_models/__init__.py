"""The networks: torch, and each module imported only where it is used."""
