"""Several class variables at once: values, learners, inference and evaluation, on what stands before."""

from . import estimation, links, prediction, validation, views  # noqa: F401  # each registers what verbs do with these models
