"""Intervals of numeric columns, rare levels, and the preparation of raw columns."""
