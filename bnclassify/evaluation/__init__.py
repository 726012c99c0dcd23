"""Performance of models: cross-validation, comparison, calibration, scores, uncertainty of arcs."""
