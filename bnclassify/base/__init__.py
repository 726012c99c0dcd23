"""What everything stands on: immutable values, checks and messages, arrays, graphs, randomness."""
