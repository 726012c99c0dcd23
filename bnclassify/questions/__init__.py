"""Questions to a fitted model: queries, samples, imputed values, and results of learning."""
