"""The log joint probability of rows and classes, from which every prediction and score follows."""

from . import superparents as superparents  # so that the kinds they know are registered
from . import weighted as weighted
