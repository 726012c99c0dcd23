"""Greedy learners of structure, guided by a cross-validated metric."""
