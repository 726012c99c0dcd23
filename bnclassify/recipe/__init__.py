"""Hierarchical smoothing (back-off), weights by leave-one-out, averaged discretizations."""
