"""Structure and parameters in one call, and again on other data."""
