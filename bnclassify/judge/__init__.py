"""How good a model is: scores on given rows, comparison, calibration, drift, strength of arcs."""
