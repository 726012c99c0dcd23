"""Networks and parameters beyond R: hill climbing, EM, weights, back-off, latent classes.

It imports `check`, whose rows that are equal beyond chance count as one case.
"""
