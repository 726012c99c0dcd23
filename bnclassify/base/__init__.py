"""Foundations: immutable values, checks and messages, arrays, graphs, randomness."""
