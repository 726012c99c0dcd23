"""Learners of structure."""
