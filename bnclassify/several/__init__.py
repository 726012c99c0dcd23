"""Models of several class variables."""
