"""Learners of structure that look at counts alone: fixed structures and Chow-Liu trees."""
