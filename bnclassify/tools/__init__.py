"""Arrays, graphs, checks and messages, immutable values, jobs."""
