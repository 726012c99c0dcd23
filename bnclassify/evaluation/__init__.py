"""Prediction, and how good it is."""
