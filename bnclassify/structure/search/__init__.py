"""Greedy learners of structure, guided by cross-validated accuracy."""
