"""The log joint probability of rows and classes, from which every prediction and score follows."""

from . import weighted as weighted  # so that the kinds it knows are registered
