"""Learners of structure, from counts or by greedy search."""
