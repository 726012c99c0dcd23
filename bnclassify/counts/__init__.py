"""Contingency tables, tables of pairs, counts of families, and information."""
