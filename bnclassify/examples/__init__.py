"""Data sets that travel with the package."""
