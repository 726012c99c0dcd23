"""Why a model predicts a class, which value to find out next, and what would change it."""
