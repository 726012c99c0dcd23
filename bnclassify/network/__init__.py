"""Bayesian networks and their averages: values, inference, priors, tables, EM."""
