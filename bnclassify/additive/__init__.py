"""Sums of effects as tables, which people read, edit, make monotone, and turn into scorecards."""
