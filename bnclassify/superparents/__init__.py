"""Averaged one- and n-dependence estimators: AODE and ANDE."""
