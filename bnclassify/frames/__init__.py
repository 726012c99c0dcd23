"""Data comes in: data frames become codes, numbers intervals, rows folds, and codes counts."""
