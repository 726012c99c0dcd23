"""One call that learns and fits, `bnc`, and changes of fitted models.

It imports `additive`, which is the default, and `networks`, for weights and expected counts.
"""
