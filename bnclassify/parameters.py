"""The function `lp`: counts and a prior become the tables of a structure.

`lp` finds the prior and the method that its arguments request, reads the
variables of the structure, and lets the structure estimate its tables. A method
is a value that estimates parameters in another way, such as EM or weights of
features. Methods are kept in the annexes, which add them to a list here, so
that plain estimates can be read without them. The result has a recipe: the step
that learned the structure, and the call of `lp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast

import numpy as np

from .accessors import check_model
from .classifiers import Prior, find_prior, is_nested_prior, warn_of_wide_tables
from .dataset import Countable, OpenedData
from .elimination import Numbers
from .frames import (
    AnyTable,
    TrainingData,
    check_have_levels,
    open_data,
    prepare_training_data,
    with_groups_as_cases,
)
from .model import Model, SeveralClasses, Step, Tally, TrainingRows, replace_unchecked
from .tools.calls import progress_bar, with_call_advice
from .tools.checks import Seed, check_rng
from .tools.immutable import record
from .tools.messages import listed, shown, to_python_scalar, warn

# Methods of `lp`: what it does to estimate parameters, as values.


@record
class Method:
    """Estimates each table from rows with its family; other methods are dataclasses of options."""

    argument = ""
    """The argument of `lp` that requests the method."""

    takes_rows_without_class = False
    counts_alone = False
    """Whether it needs only counts, and no rows in memory."""

    keeps_counts = False
    """Whether parameters follow from the counts of the model, so that rows can be added."""

    draws = False
    """Whether it draws at random."""

    holds_out_rows = False
    """Whether rows are held out, so that groups of rows stay together."""

    progress = "lp", " steps"
    """The title and the unit of a progress bar."""

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> Method | None:
        """Return the method if the arguments of `lp` that are given request it, or raise."""
        made: Any = cls
        return made(given[cls.argument]) if cls.argument in given else None

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the method is not defined for a structure or a prior."""

    def prepare(self, x: Model, dataset: Any) -> tuple[Model, Any]:
        """Return the structure and the data; only `Densities` accepts numbers."""
        return (replace_unchecked(x, densities={}) if x.densities else x), dataset

    def __call__(self, x: Model, data: Any, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the structure with parameters, from data with its variables in its order."""
        return x.estimate(data, prior)


@record
class Plain(Method):
    """The estimates themselves."""

    counts_alone = True
    keeps_counts = True


PLAIN = Plain()

AnyMethod = TypeVar("AnyMethod", bound=type[Method])

METHODS: list[type[Method]] = []
"""The methods that `lp` can be asked for."""


def method_of_lp(method: AnyMethod) -> AnyMethod:
    METHODS.append(method)
    return method


def find_method(given: Mapping[str, Any]) -> Method:
    """Return the method that the given arguments of `lp` request, or none; several raise."""
    found = [method for kind in METHODS if (method := kind.requested(given)) is not None]
    if len(found) > 1:
        names = [name for name in given if name in [method.argument for method in found]]
        raise ValueError(
            f"Only one of {', '.join(names)} must be given, because each defines the tables."
        )
    return found[0] if found else PLAIN


# Estimation of the parameters of a structure.


OneOrSeveral = TypeVar(
    "OneOrSeveral", SeveralClasses, Model
)  # leave-one-out returns another model type


@record
@with_call_advice("Pass the prior by name: lp(x, dataset, smooth=1).")
def lp(
    x: OneOrSeveral,
    dataset: AnyTable | Countable,
    *,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    backoff: bool | float = False,
    awnb_trees: int | None = None,
    awnb_bootstrap: float | None = None,
    manb_prior: float | None = None,
    wanbia: bool = False,
    held_out: Literal["weights", "parents", "power"] | None = None,
    held_out_args: Mapping[str, Any] | None = None,
    numbers: Numbers = None,
    subsumption: int | None = None,
    missing: Literal["available", "em"] | Mapping[str, float] = "available",
    groups: Any = None,
    progress: bool | None = None,
    rng: Seed = None,
) -> OneOrSeveral:
    r"""Estimate the conditional probability tables of a structure.

    Give one prior: ``smooth=1`` is the usual choice, and ``backoff=True`` suits
    tables with several parents. You can add one method that weights or averages
    the tables. The page
    :doc:`Formulas </methods>` defines the methods, with references.

    ==========================================  ====================================================
    Method                                      Arguments
    ==========================================  ====================================================
    pseudo-counts, hierarchical smoothing       ``smooth``, ``ess`` or ``m``; ``backoff``
    naive Bayes averaged over arcs (MANB)       ``manb_prior``
    weights of features by trees (AWNB)         ``awnb_trees``, ``awnb_bootstrap``, ``rng``
    weights of features by likelihood (WANBIA)  ``wanbia``
    weights or a power by held-out rows         ``held_out``, ``held_out_args``, ``groups``
    incomplete rows by EM                       ``missing``
    densities of numeric features               ``numbers``
    values that imply others                    ``subsumption``
    ==========================================  ====================================================

    Parameters
    ----------
    x : BNC, AODE or another model
        Structure. Existing parameters are replaced.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of `x`; other columns are ignored. Pass raw data
        if the model was fitted to raw data.
    smooth : float, optional
        Number to add to each count: 1 for the Laplace correction, 0 for maximum
        likelihood.
    ess : float, optional
        Equivalent sample size of each table, spread evenly over its cells
        (BDeu).
    m : float, optional
        Equivalent sample size of each distribution in a table, spread evenly
        over the levels.
    backoff : bool or float, default False
        If True, shrink each table towards the table with one parent fewer, by
        the amount that maximizes the marginal likelihood. A number, such as 2,
        is faster: the tables with feature parents are shrunk by this number of
        pseudo-counts for each level that occurs with a configuration of the
        parents, in the mean. `concentrations` returns the amounts.
    awnb_trees : int, optional
        Number of unpruned trees, such as 10, for the weights of AWNB.
    awnb_bootstrap : float, optional
        Proportion of rows in the bootstrap sample of each tree, by default 0.5.
    manb_prior : float, optional
        Prior probability of each arc from the class, between 0 and 1. For naive
        Bayes.
    wanbia : bool, default False
        If True, weight the features to maximize the conditional log-likelihood.
    held_out : {"weights", "parents", "power"}, optional
        Quantity to estimate from rows that are held out one at a time:

        - "weights": the power of each feature's table, and of the class. For
          better probabilities if features are redundant. The model then does
          not define a joint distribution.
        - "parents": the number of feature parents that each feature keeps.
        - "power": one power of the posterior. For probabilities that are too
          close to 0 and 1.
    held_out_args : dict, optional
        With ``held_out="weights"``, ``{"parents": True}`` also chooses the
        number of feature parents.
    numbers : {"gaussian", "kernel"} or dict, optional
        Density of numeric features given their parents: a normal distribution
        per configuration of the parents, or the mean of normal densities around
        the training values. A dict maps columns to "gaussian" or "kernel". By
        default, numeric features must be discretized.
    subsumption : int, optional
        For augmented naive Bayes: if one value of a row implies another in at
        least this number of training rows, ignore the implied value. By
        default, no value is ignored.
    missing : {"available", "em"} or dict, default "available"
        How incomplete rows count. With "available", a row counts for a table if
        it has all variables of the table. With "em", all rows count for all
        tables, even rows without a class, by expectation maximization, which
        takes longer. A dict sets limits of EM: the default is
        ``{"iterations": 200, "tolerance": 1e-6}``, with the tolerance in nats
        per row.
    groups : str or array-like, optional
        Name of a column, or one label per row, if several rows belong together,
        such as the visits of a patient. The rows of a group are held out
        together. The column is not a feature.
    progress : bool, optional
        Whether to show a progress bar. By default, it appears after 3 seconds
        in an interactive session.
    rng : int or numpy.random.Generator, optional
        Seed of the bootstrap samples.

    Returns
    -------
    BNC, AODE or another model
        The model `x` with parameters.

    Raises
    ------
    KeyError, TypeError, ValueError
        If no prior or more than one method is given, or a method does not fit
        the model type: weights by held-out rows require smoothing and one
        network, MANB a naive Bayes.

    Examples
    --------
    >>> from bnclassify import cpt, feature_weights, kdb_mi, load_car, lp, tan_cl
    >>> car = load_car()
    >>> cpt(lp(tan_cl("class", car, score="aic"), car, smooth=1), "class").round(3).T
    class        unacc    acc  good  vgood
    probability  0.699  0.222  0.04  0.038
    >>> weighted = lp(kdb_mi("class", car), car, backoff=True, held_out="weights")
    >>> feature_weights(weighted).round(1).to_dict()
    {'class': 1.6, 'buying': 2.1, 'maint': 1.7, 'doors': 2.7, 'persons': 2.1, 'lug_boot': 2.7,
     'safety': 1.8}
    """
    amounts = {"smooth": smooth, "ess": ess, "m": m}
    amounts["backoff"] = None if backoff is False else backoff
    prior = find_prior(**amounts)
    asked = given_arguments(
        awnb_trees=awnb_trees, awnb_bootstrap=awnb_bootstrap, manb_prior=manb_prior, wanbia=wanbia,
        held_out=held_out, held_out_args=held_out_args, subsumption=subsumption, missing=missing,
        numbers=numbers,
    )  # fmt: skip
    method = find_method(asked)
    if groups is not None:
        check_groups_are_used(method)
    settings = {
        name: dict(v) if isinstance(v, Mapping) else to_python_scalar(v)
        for name, v in {**amounts, **asked}.items()
        if v is not None
    }
    if method.draws and not isinstance(rng, np.random.Generator | None):
        settings["rng"] = rng
    step = Step("lp", lp, settings, draws=True)
    desc, unit = method.progress
    with progress_bar(progress, by_steps=True, desc=desc, unit=unit):
        fitted: Any = fit(x, dataset, prior, method, groups=groups, rng=rng, step=step)
    return cast("OneOrSeveral", fitted)


def given_arguments(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of `lp` that are not the defaults, at which no method is requested."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if given.get("wanbia") is False:
        del given["wanbia"]
    if isinstance(given.get("missing"), str) and given["missing"] == "available":
        del given["missing"]
    return given


def check_groups_are_used(method: Method) -> None:
    """Raise unless the rows of a group are held out together."""
    if not method.holds_out_rows:
        raise ValueError(
            "groups must be None unless held_out is 'weights' or 'parents', because tables do not "
            "depend on groups. Use groups with cv, or the default of bnc."
        )


@record
def fit(
    x: Model,
    dataset: AnyTable | Countable,
    prior: Prior,
    method: Method = PLAIN,
    *,
    groups: Any = None,
    rng: Seed = None,
    step: Step | None = None,
) -> Model:
    """Estimate the parameters of a structure under any prior and by any method, for `lp`."""
    # a seed from the system is slow
    generator: Any = check_rng(rng) if method.draws or rng is not None else None
    step = step or Step("fit", fit, {"prior": prior, "method": method}, draws=True)

    def fit_model_of_shared_rows(x: Model, dataset: OpenedData) -> Model:
        if not x.one_class and (method is not PLAIN or is_nested_prior(prior)):
            name = "backoff" if method is PLAIN else method.argument
            raise TypeError(
                f"{name} must be used with one class variable; got several. The models of "
                "chain(class_vars, dataset) accept it."
            )
        method.check(x, prior)
        x, dataset = method.prepare(x, dataset)
        rows = rows_to_learn_from(x, dataset, method)
        recipe = x.recipe and replace(x.recipe, parameters=step)
        structure = replace_unchecked(x, recipe=recipe, learned={})
        fitted = method(structure, rows, prior, generator)
        tally = fitted.learned.get("counts")
        if not method.keeps_counts and isinstance(tally, Tally):
            # tables that do not follow from the prior alone cannot be updated
            learned = {**fitted.learned, "counts": replace(tally, prior=None)}
            fitted = replace_unchecked(fitted, learned=learned)
        if fitted.recipe is not None:
            recipe = replace(fitted.recipe, rows=TrainingRows.from_data(rows, x.targets))
            fitted = replace_unchecked(fitted, recipe=recipe)
        if not (isinstance(dataset, Countable) and dataset.targets):  # the caller has warned
            warn_of_one_class_or_few_rows(fitted, len(rows))
        return fitted

    opened = open_data(dataset)
    if groups is not None:
        opened = with_groups_as_cases(opened, groups, x.targets)
    return check_model(x).fit_chain_links(fit_model_of_shared_rows, opened, step)


def warn_of_one_class_or_few_rows(x: Model, rows: int) -> None:
    """Warn if the rows of a fitted model have one class, or are few for its parameters."""
    trained = x.trained_on
    for name, weights in zip(x.targets, () if trained is None else trained.classes, strict=False):
        present = [label for label, weight in weights if weight]
        if len(present) == 1:
            warn(
                f"all rows have the class {shown(present[0])} of {shown(name)}, so it is always "
                "predicted. Check whether a previous step dropped the rows of other classes."
            )
    warn_of_wide_tables(x, rows)


def rows_to_learn_from(model: Model, dataset: OpenedData, method: Method = PLAIN) -> Any:
    """Return the model's columns of data, coded by its levels if it has them, as `Countable`."""
    undefined = [name for name in model.numeric_features if name not in model.densities]
    if undefined:
        raise ValueError(
            f"numbers must be given, because {listed(undefined)} are numbers; got None. Use "
            "numbers='gaussian', for example, or learn the model with bnc(..., discretize='mdlp')."
        )
    levels = None if model.levels is None else model.levels_by_name
    takes_all = method.takes_rows_without_class
    data = prepare_training_data(
        dataset, model.targets, model.features, known=levels, preparation=model.preparation,
        numeric=tuple(model.densities), rows_needed=not method.counts_alone, warns=not takes_all,
    )  # fmt: skip
    schema = data.schema.select(model.variables)
    if model.levels is not None:
        schema = replace(schema, levels=model.levels)
    check_have_levels(schema, (name for name in schema.columns if name not in model.densities))
    # methods that use rows can skip rows of weight 0
    rows = data.with_unlabeled_rows if takes_all and isinstance(data, TrainingData) else data
    return rows.coded_by_schema(schema).with_positive_weights()
