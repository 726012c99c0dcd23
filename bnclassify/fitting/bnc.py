"""Structure and parameters in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from ..additive.fit import fit_effects, sum_of_effects
from ..additive.pairs import Pairs, check_pairs
from ..base.calls import check_arguments, parameters_of, showing_progress, with_call_advice
from ..base.checks import (
    AnyCutting,
    Flag,
    Instance,
    Learner,
    OneOf,
    Whole,
    check_column_name,
    check_columns,
    check_feature_names,
)
from ..base.messages import did_you_mean, listed, warn
from ..base.parallel import check_jobs, using_jobs
from ..frames.columns import warn_of_columns
from ..frames.dataset import Countable, Dataset, Opened, OpenedData
from ..frames.opening import (
    InFull,
    InParts,
    open_data,
    with_groups_as_cases,
)
from ..frames.training import Numeric, TrainingData, read_training
from ..learners import LEARNERS, find_learner
from ..model.model import Model, replace_unchecked
from ..network.densities import Numbers, numeric_columns_of
from ..numbers.preparation import Preparing
from ..recipe import default
from ..recipe.backoff_prior import PRIORS, find_prior
from ..recipe.content_order import fractional_weights_as_cases, warn_of_copies
from .lp import check_groups_are_used, lp, parse_held_out, warn_of_one_class_or_few_rows
from .refits import with_refits
from .structure import accepts_numbers, check_learner_is_able, learn_structure, ranks_parents

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()
"""The default of required arguments."""

_MOST_FEATURES = 1000
"""Number of features from which the default recipe takes long."""


@with_call_advice("Pass the prior by name: bnc(dag_learner, class_var, dataset, smooth=1).")
def bnc(
    dag_learner: Learner | Callable[..., Model] | None = None,
    class_var: Hashable = REQUIRED,
    dataset: InFull | InParts = REQUIRED,
    *,
    dag_args: Mapping[str, Any] | None = None,
    discretize: AnyCutting | Literal["auto"] | None = "auto",
    bins: int = 5,
    min_count: int | None = None,
    missing_level: bool | Iterable[Hashable] | Literal["auto"] | None = "auto",
    numbers: Numbers = None,
    groups: Any = None,
    additive: bool = False,
    pairs: Pairs = None,
    interval: bool = False,
    draws: int = 20,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **lp_args: Any,
) -> Model:
    """Learn structure and parameters in one call.

    ``bnc("class", data)`` fits the default model, which needs no settings.
    ``bnc("tan_cl", "class", data, smooth=1)`` learns the structure that you
    name, and estimates its tables with the prior that you name.

    Parameters
    ----------
    dag_learner : str or callable, optional
        Structure learner or its name, such as "tan_cl". Name one if you want a
        certain type of network. By default, `kdb_gain`, or `kdb_mi` with one
        feature parent if the rows are not in memory.
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data: the class, and all other columns as features. To
        discretize, pass a DataFrame or, for "quantile", a table of ibis.
    dag_args : dict, optional
        Further arguments of the learner, such as ``{"score": "aic"}``. A
        learner that scores fitted models, such as `tan_hc`, uses the prior of
        `lp` unless these arguments contain a prior.
    discretize : str or None, default "auto"
        How numeric columns are divided into intervals. The model then accepts
        raw data. Keep "auto" unless you want to read the tables, and then
        choose "mdlp".

        - "auto": "averaged_mdlp" for the default recipe, or "mdlp" for learners
          that cannot average. None if you give a prior or `numbers`, or rows
          are not in memory.
        - "mdlp", "quantile", "width", "mixed": one set of intervals, as in
          `discretize`.
        - "averaged", "averaged5": the average over nine or five sets of
          intervals.
        - "averaged_mdlp": the average over four sets. The default recipe adds
          tables of two more sets, by MDLP and of 16 intervals (the term
          "codings" of `lp`).

        A column with a single interval is dropped, unless no feature would
        remain.
    bins : int, default 5
        Number of intervals of "quantile", "width" and "mixed".
    min_count : int, optional
        Minimum number of rows per level. Rarer levels are merged, as by
        `merge_rare`, in training data and in new data. By default, all levels
        are kept. Set it if a column has many levels with few rows.
    missing_level : bool, list or "auto", default "auto"
        Whether a missing value is evidence. With "auto", the default recipe
        estimates how much evidence it is; with a prior, it is not evidence.
        With False, it is never evidence, as you need if values will be missing
        for other reasons than in training. True adds a level "(missing)" to
        each feature with missing values; a list names the features.
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, with a density as in `lp`, in place
        of `discretize`. For the learners nb, anb, tan_cl and kdb_mi.
    groups : str or array-like, optional
        Name of a column, or one label per row, if several rows belong together,
        such as the visits of a patient. The rows of a group are held out
        together. The column is not a feature.
    additive : bool, default False
        If True, fit a sum of one effect per feature, as with ``pairs=0``.
    pairs : "auto", int or list of pairs, optional
        If given, fit a sum of effects of features and of pairs of features.
        Choose it if people will read, check or edit the model: `effects` shows
        the sum as a table. "auto" has as many pairs as the likelihood of
        held-out rows favors; a number has this many, the strongest ones; a list
        names them; and 0 has none, so that `scorecard` can round the sum to
        points.
    interval : bool, default False
        If True, fit the model `draws` more times, each time without a part of
        the rows, or draw the effects of a sum from their posterior. Then
        ``predict(..., prob=True, interval=0.9)`` returns an interval of each
        probability.
    draws : int, default 20
        Number of refits or draws for `interval`, at least 2.
    n_jobs : int, optional
        Number of folds and refits that are fitted at the same time, as in `cv`.
        By default, 1.
    progress : bool, optional
        Whether to show a progress bar. By default, it appears after 3 seconds
        in an interactive session.
    **lp_args
        Arguments of `lp`. A prior, such as ``smooth=1``, replaces the default
        recipe. Without a prior, other arguments change single steps of the
        recipe, and the keys of ``held_out_args`` that you omit keep their
        values. ``rng`` draws the folds; by default, they depend only on the
        contents of the rows.

    Returns
    -------
    BNC, AODE or another model
        Fitted model: with a learner and a prior, ``lp(dag_learner(...), ...)``.
        If it averages discretizations, its `members` are their networks.

    Raises
    ------
    KeyError
        If the class or another name is not a column of `dataset`.
    TypeError, ValueError
        If `dataset` has no rows, or an argument does not fit the learner, the
        method of `lp` or the data.

    Warns
    -----
    UserWarning
        If a column looks like identifiers, has too many levels for its rows, or
        equal rows look like copies. If rows have no class; they are ignored.

    Notes
    -----
    The default recipe adds up three models: one without arcs between features,
    one with at most four feature parents per feature, and a logistic
    regression. Each has a power that five folds of the rows estimate. Tables
    are smoothed by ``backoff`` and weighted by ``held_out="weights"`` with
    additional terms, which `lp` describes. A numeric column is discretized in
    several ways, and its repeated numbers are also labels. AODE, ensembles and
    `ande` have a power only (``held_out="power"``), and other models have
    ``smooth=1``. Each row is held out alone, and a weight of 5 means five rows,
    unless you pass `groups` or ``encode(weights_are="cases")``. The page
    :doc:`Formulas </methods>` has the details and the averages over
    discretizations [1]_.

    A sum of effects is a smoothing-spline analysis of variance of the log odds
    [2]_: the score of class c is a_c + Σ f_jc(x_j) + Σ f_ijc(x_i, x_j), and the
    probabilities are proportional to exp(score). The effect of a number is a
    line, a square and twelve cosines of its ranks; that of a category has one
    weight per level; a missing value has an effect of its own; that of a pair
    is a sum of products of those of both. Exact values, and cells of two, have
    effects of their own if rows that are left out favor them. The weights are
    normal with mean 0 and maximize the penalized likelihood of all rows. Their
    variances, by type of effect, feature and pair, maximize the likelihood of
    held-out rows, in five folds of at most 400 rows. Of more than 128 pairs,
    those with the steepest slopes of the likelihood are used.

    References
    ----------
    .. [1] Yang, Y., Webb, G. I. (2009). Discretization for naive-Bayes
       learning: managing discretization bias and variance. Machine Learning 74.
    .. [2] Gu, C. (2013). Smoothing spline ANOVA models. 2nd edition. Springer.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, predict
    >>> women = load_pima()
    >>> options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
    >>> model = bnc("tan_cl", "diabetes", women, dag_args={"score": "aic"}, **options)
    >>> predict(model, {"age": 51, "glucose": 171}, prob=True).round(2)
    diabetes    no   yes
    0         0.13  0.87
    """
    dag_learner, class_var, dataset = _reorder_arguments(dag_learner, class_var, dataset)
    additive, interval = Flag().check("additive", additive), Flag().check("interval", interval)
    learner = _find_learner_of_one_class(
        default.LEARNER if dag_learner is None else dag_learner, class_var, dataset, lp_args
    )
    check_column_name(class_var)
    Whole(least=2, most=1000).check("draws", draws)
    check_jobs(n_jobs)
    data = open_data(dataset)
    in_memory = not data.in_parts
    if additive or pairs is not None:
        given = {"discretize": discretize, "numbers": numbers, "dag_args": dag_args, **lp_args}
        _check_can_be_sum(dag_learner, given)
        with showing_progress(progress), using_jobs(n_jobs):
            coded = _encode_for_sum(data, class_var, groups)
            names = [name for name in coded.columns if name != class_var]
            return _fit_sum(
                coded,
                class_var,
                pairs=check_pairs(pairs, names, class_var) or 0,
                missing_level=_checked_missing_level(missing_level, names, class_var),
                min_count=min_count and Whole(least=1).check("min_count", min_count),
                draws=draws if interval else 0,
            )
    if dag_learner is None and not in_memory:
        name, own = default.LEARNER_OF_PARTS
        learner, dag_args = LEARNERS[name], {**own, **(dag_args or {})}
    numeric = numeric_columns_of(numbers)
    if numeric:
        _check_accepts_numbers(learner, numbers, discretize)
    if groups is not None:
        read = partial(_read_with_numbers, class_var=class_var, numeric=numeric)
        data = with_groups_as_cases(data, groups, (class_var,), read)
    options = _learner_options(learner, class_var, dag_args, lp_args)
    chosen = _has_prior(lp_args)
    ranked = ranks_parents(learner) and "kdbk" not in options
    if ranked and not chosen:
        options["kdbk"] = default.MOST_PARENTS
    if discretize == "auto":
        plain = chosen or numeric or not data.has_numbers
        discretize = None if plain else default.discretization_method(learner)
    facts = {"ranked": ranked, "in_memory": in_memory, "grouped": groups is not None}
    facts |= {"ignores_missing": missing_level is False}
    own_level = None if missing_level == "auto" else missing_level
    if not isinstance(own_level, bool | None):
        own_level = check_feature_names(own_level, (class_var,), "missing_level")
    if numeric:
        lp_args |= {"numbers": numbers}
        options |= {"numbers": numbers} if "numbers" in parameters_of(learner) else {}
    preparing = Preparing(discretize, bins, min_count, own_level, numeric, not chosen and in_memory)
    with showing_progress(progress), using_jobs(n_jobs):
        structure, rows = learn_structure(learner, class_var, data, options, preparing)
        fitted = _fit_parameters(structure, rows, lp_args, chosen=chosen, **facts)
        return with_refits(fitted, data, draws=draws) if interval else fitted


def _checked_missing_level(value: Any, names: Sequence[Hashable], class_var: Hashable) -> Any:
    """Return the features whose missing values are evidence: True for all, or a tuple of names."""
    if isinstance(value, str | bool | None):
        return bool(OneOf((True, False, None, "auto")).check("missing_level", value))
    chosen = check_feature_names(value, (class_var,), "missing_level")
    return tuple(check_columns(chosen, names, "missing_level"))


def _encode_for_sum(data: OpenedData, class_var: Hashable, groups: Any) -> Dataset:
    """Return rows in memory, with numeric columns as numbers; fractional weights make cases."""
    data = data.check_in_memory("dataset")
    read = partial(_read_with_numbers, class_var=class_var, numeric=())
    if groups is not None:
        return with_groups_as_cases(data, groups, (class_var,), read)
    check_columns([class_var], data.columns, "class_var")
    opened = data.check_in_memory("dataset")
    rows = opened if isinstance(opened, Dataset) else read(opened)
    return fractional_weights_as_cases(rows)


def _fit_sum(data: Dataset, class_var: Hashable, **settings: Any) -> Model:
    levels = data.schema.levels_of
    numeric = [name for name in data.numbers if len(levels[name]) not in (1, 2)]
    rows = read_training(data, (class_var,), numeric=tuple(numeric))
    assert isinstance(rows, TrainingData)
    warn_of_copies(rows)
    fitted = fit_effects(sum_of_effects(class_var, rows), rows, **settings)
    warn_of_one_class_or_few_rows(fitted, len(rows))
    return fitted


def _reorder_arguments(learner: Any, class_var: Any, dataset: Any) -> tuple[Any, Any, Any]:
    """Return learner, class and data; the learner may be omitted, and the data may come first."""
    if hasattr(learner, "columns") and dataset is REQUIRED:
        return None, class_var, learner
    is_name = isinstance(learner, str) and dataset is REQUIRED and hasattr(class_var, "columns")
    if is_name and (learner not in LEARNERS or learner in class_var.columns):
        return None, learner, class_var
    if isinstance(learner, str) and class_var is REQUIRED and learner not in LEARNERS:
        return None, learner, dataset
    return learner, class_var, dataset


def _has_prior(lp_args: Mapping[str, Any]) -> bool:
    """Whether a prior is given; raise for wrong arguments before a structure is learned."""
    chosen = any(lp_args.get(name) is not None and lp_args[name] is not False for name in PRIORS)
    parse_held_out(
        lp_args.get("held_out", None if chosen else "weights"), lp_args.get("held_out_args")
    )
    if chosen:
        find_prior(**{name: lp_args.get(name) for name in PRIORS})
    return chosen


def _fit_parameters(
    structure: Model, rows: Countable, lp_args: dict[str, Any], *, chosen: bool, **facts: bool
) -> Model:
    """Return a structure with parameters, by a prior that was chosen, or by the default recipe."""
    settings = lp_args if chosen else default.lp_arguments(structure, lp_args, **facts)
    _check_held_out_settings(settings, len(rows.features), grouped=facts["grouped"])
    fitted = lp(structure, rows, **settings)
    fitted = fitted if chosen else _with_name_of_default_recipe(fitted, lp_args)
    warn_of_one_class_or_few_rows(fitted, len(rows))
    return fitted


def _with_name_of_default_recipe(x: Model, given: Mapping[str, Any]) -> Model:
    """Return a model of the default recipe, which is printed as such if it has weights."""
    by = None if x.recipe is None else x.recipe.parameters
    if x.recipe is None or by is None or "held_out_args" not in by.settings:
        return x
    texts = [f"{name}={v!r}" for name, v in given.items() if v is not None and name in by.settings]
    name = f"default recipe with {', '.join(texts)}" if texts else "default recipe"
    return replace_unchecked(x, recipe=replace(x.recipe, parameters=replace(by, name=name)))


def _check_can_be_sum(learner: object, given: Mapping[str, Any]) -> None:
    """Raise a ValueError if arguments of networks are given for a sum of effects."""
    names = [
        name
        for name, value in given.items()
        if name != "rng" and value not in (None, False, "auto", {})
    ]
    if learner is not None or names:
        what = listed(names) if names else "a learner"
        raise ValueError(
            f"pairs must be None, and additive False, with {what}. A sum of effects is not a "
            "network: call bnc(class_var=..., dataset=..., pairs=0), or omit pairs and additive."
        )


def _check_accepts_numbers(
    learner: Callable[..., Model], numbers: Numbers, discretize: object
) -> None:
    """Raise an error unless a learner can keep columns as numbers, and nothing cuts them."""
    if discretize not in (None, "auto"):
        raise ValueError("numbers must be None if discretize is given. Use only one of the two.")
    check_learner_is_able(
        learner, accepts_numbers, "numbers must be None", numbers, "learn from numbers"
    )


def _read_with_numbers(rows: Opened[Dataset], class_var: Hashable, numeric: Numeric) -> Dataset:
    """Return encoded rows, whose columns to discretize stay numbers."""
    reading = Preparing(None if numeric else "mdlp", 5, None, numeric=numeric)
    read = reading.read(rows, class_var, rows.columns)
    warn_of_columns(read, class_var)
    return read


def _find_learner_of_one_class(
    dag_learner: str | Callable[..., Model],
    class_var: object,
    dataset: object,
    others: Collection[str],
) -> Callable[..., Model]:
    """Return the learner; raise a TypeError if arguments are absent or classes are several."""
    absent = [
        n for n, value in {"class_var": class_var, "dataset": dataset}.items() if value is REQUIRED
    ]
    if absent:
        unknown = [name for name in others if name not in parameters_of(lp)]
        got = f", but the unknown argument {listed(unknown)}" if unknown else ""
        advice = f"{did_you_mean(unknown[0], absent)} Write".lstrip() if unknown else "Write"
        raise TypeError(
            f"bnc must be called with {listed(absent)}; got no value for it{got}. {advice} "
            "bnc(dag_learner, class_var, dataset), or bnc(class_var=..., dataset=...) for "
            "the default learner."
        )
    learner = None if isinstance(class_var, list) else find_learner(dag_learner, "dag_learner")
    if learner is None or "class_vars" in parameters_of(learner):
        raise TypeError(
            "class_var must be one class variable. For several, use lp(mbc(class_vars, dataset), "
            "dataset, smooth=...), or maode or chain instead of mbc."
        )
    return learner


def _learner_options(
    learner: Callable[..., Model],
    class_var: Hashable,
    dag_args: Mapping[str, Any] | None,
    lp_args: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of the learner, with the prior of `lp` if it scores fitted models."""
    advice = (
        "Pass arguments of the learner in dag_args, and weights in encode(dataset, weights=...)."
    )
    check_arguments(
        lp, lp_args, "additional arguments of bnc", supplied=("x", "dataset"), advice=advice
    )
    Instance(Mapping | None, "a dict of arguments").check("dag_args", dag_args)
    options = dict(dag_args or {})
    check_arguments(learner, options, "dag_args", supplied=("class_var", "dataset"))
    if learner not in LEARNERS.values():
        return options
    if options.get("features") is not None:
        options["features"] = check_feature_names(options["features"], (class_var,))
    if not any(options.get(name) is not None for name in PRIORS):
        accepted = parameters_of(learner)
        options |= {name: lp_args[name] for name in PRIORS if name in accepted and name in lp_args}
    return options


def _check_held_out_settings(settings: Mapping[str, Any], features: int, *, grouped: bool) -> None:
    """Raise if groups are not used; warn of weights that take long: 14 s for 1,000 numbers."""
    if grouped:
        check_groups_are_used(
            settings.get("held_out"), (settings.get("held_out_args") or {}).get("folds")
        )
    if settings.get("held_out") == "weights" and features >= _MOST_FEATURES:
        warn(
            f"dataset has {features:,} features, so held_out='weights' takes about "
            f"{0.014 * features:.0f} seconds, and more if there are many rows. A model without "
            "them, with smooth=1 and discretize='mdlp', takes less than a second."
        )
