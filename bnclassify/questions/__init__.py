"""Questions to a fitted model: queries, samples, imputed values, and results of learning.

It imports `networks`, for the type of a result of EM.
"""
