"""Greedy searches for a structure that is guided by a metric."""
