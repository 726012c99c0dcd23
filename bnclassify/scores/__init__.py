"""What fitted models compute: terms, sums, mixtures; missing values are marginalized over."""
