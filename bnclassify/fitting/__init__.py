"""Models fitted to data: `lp`, `bnc`, `update`, given tables, refits in cross-validation."""
