"""The arguments of an estimator that repeats the recipe of a model."""

from __future__ import annotations

from typing import Any

from ..additive.fit import fit_effects
from ..fitting.structure import relearn_raw
from ..model import Model, Step, with_proportions_again
from ..parameters import lp
from ..structure import LEARNERS

PREPARATION = ("discretize", "bins", "min_count", "missing_level")
"""The arguments of `bnc` that prepare raw data."""


def estimation_step(x: Model) -> Step | None:
    """Return the step that estimated the parameters of a model, before proportions were given."""
    by = None if x.recipe is None else x.recipe.parameters
    if by is not None and by.function is with_proportions_again:
        step: Step = by.settings["parameters"]
        return step
    return by


def estimator_arguments(x: Model) -> dict[str, Any]:
    """Return the arguments of an estimator that repeats the recipe of a model."""
    if not x.one_class:
        raise TypeError(
            f"x must have one class variable; got {type(x).__name__}. Use BNCMultiClassifier."
        )
    recipe = x.recipe
    by, given = estimation_step(x), x.class_proportions
    prior: dict[str, Any] = {}
    if given is not None:
        prior["prior"] = dict[Any, Any](zip(x.known_levels[-1], given.shares, strict=True))
    if by is not None and by.function is fit_effects:
        found = {name: by.settings[name] for name in ("pairs", "missing_level", "min_count")}
        if found["missing_level"] is True:
            found["missing_level"] = "auto"
        draws = by.settings["draws"]
        return found | ({"interval": True, "draws": draws} if draws else {}) | prior
    if recipe is None or (x.fitted and (by is None or by.function is not lp)):
        how = "no recipe" if recipe is None else "tables without a recipe"
        how = how if by is None else f"those of {by}"
        raise ValueError(
            f"x must have parameters that lp estimated, or none; got {how}. Learn it with bnc."
        )
    step, lp_args = recipe.structure, dict(by.settings) if by else {}
    dag_args, steps = dict(step.settings), {"discretize": None, "missing_level": None}
    learner: Any = step.name if step.name in LEARNERS else step.function
    if step.function is relearn_raw:  # with the preparation of raw data
        steps = {name: step.settings[name] for name in PREPARATION}
        learner, dag_args = step.settings["learner"], dict(step.settings["dag_args"])
    if isinstance(dag_args.get("parents"), tuple):  # of anb
        dag_args["parents"] = dict(dag_args["parents"])
    smooth = lp_args.pop("smooth", None)
    arguments = {"dag_args": dag_args or None, "lp_args": lp_args or None}
    return {"learner": learner, "smooth": smooth, **arguments, **steps, **prior}
