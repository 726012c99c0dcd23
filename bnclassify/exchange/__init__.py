"""Models for other libraries: graphs and networks of theirs, and files that they read."""
