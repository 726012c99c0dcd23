"""From structure and data to probability tables."""

from . import stacking as stacking  # so that the kinds they know are registered
from . import superparents as superparents
from . import weighted as weighted
