"""The door: data frames become codes, numbers intervals, rows folds, and codes counts."""
