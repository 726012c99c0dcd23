"""How good a model is: scores on given rows, comparison, calibration, drift, strength of arcs.

It imports `questions`, for facts and joint tables, `additive`, for effects that drift, and
`networks`, for their counts with back-off.
"""
