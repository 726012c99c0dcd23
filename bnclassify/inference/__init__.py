"""Questions to a fitted model: labels and posteriors, explanations, queries, samples, imputation."""
