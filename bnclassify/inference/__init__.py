"""Questions to a fitted model: labels, posteriors, explanations, queries, samples, imputation."""
