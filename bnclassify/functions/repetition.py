"""A model learned again on other data, by its recipe."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..frames.schema import Dataset
from ..model.model import Model, check_fitted
from ..model.recipes import Recipe


def relearn(x: Model, data: Dataset, *, dag: bool, rng: np.random.Generator | None = None) -> Model:
    """Learn a model again: structure, if ``dag``, and parameters.

    What draws at random while learning draws from ``rng``, if given.
    """
    recipe = check_recipe(x)
    return recipe.fit(data, rng) if dag else recipe.refit(x, data, rng)


def columns_needed(x: Model, *, dag: bool) -> set[Hashable] | None:
    """Return the columns that learning a model again looks at; None for all there are."""
    recipe = check_recipe(x)
    return set(x.variables) if recipe.columns is not None or not dag else None


def check_recipe(x: Model) -> Recipe:
    """Return the recipe of a model with parameters, or raise if it has none."""
    check_fitted(x)
    if x.recipe is None or x.recipe.parameters is None:
        raise ValueError("x: the model does not know how it was learned; learn it with this package's verbs")
    return x.recipe
