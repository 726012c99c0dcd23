"""Learners of parameters: from a structure and data to conditional probability tables."""
