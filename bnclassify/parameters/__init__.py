"""From structure and data to probability tables."""

from . import stacking as stacking  # so that the kinds it knows are registered
