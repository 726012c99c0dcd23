"""The public functions: parameters, prediction, evaluation, explanation, queries."""
