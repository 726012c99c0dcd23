"""What a fitted model computes: terms, their sums and mixtures, and marginalization over missing values."""
