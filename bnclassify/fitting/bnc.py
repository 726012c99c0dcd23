"""Structure and parameters in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, Literal

from ..additive.fit import fit_effects, sum_of_effects
from ..additive.pairs import Pairs, check_pairs
from ..classifiers import PRIORS, find_prior
from ..dataset import Countable, OpenedData
from ..elimination import Numbers, numeric_columns_of
from ..frames import (
    AnyTable,
    open_data,
    prepare_training_rows,
    with_groups_as_cases,
)
from ..model import Model
from ..networks.cases import fractional_weights_as_cases, warn_of_copies
from ..numbers import Preparing
from ..parameters import (
    PLAIN,
    check_groups_are_used,
    find_method,
    given_arguments,
    lp,
    warn_of_one_class_or_few_rows,
)
from ..structure import LEARNERS, find_learner
from ..tools.calls import check_arguments, parameters_of, showing_progress, with_call_advice
from ..tools.checks import (
    AnyCutting,
    Flag,
    Instance,
    Learner,
    OneOf,
    Optional,
    Whole,
    check_column_name,
    check_columns,
    check_feature_names,
    options_sentence,
)
from ..tools.foreign_words import ARGUMENTS_ELSEWHERE
from ..tools.messages import did_you_mean, listed, shown
from ..tools.parallel import check_jobs, using_jobs
from .structure import accepts_numbers, check_learner_is_able, learn_structure

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()
"""The default of required arguments."""


@with_call_advice("Pass the prior by name: bnc(dag_learner, class_var, dataset, smooth=1).")
def bnc(
    dag_learner: Learner | Callable[..., Model] | None = None,
    class_var: Hashable = REQUIRED,
    dataset: AnyTable | Countable = REQUIRED,
    *,
    dag_args: Mapping[str, Any] | None = None,
    discretize: AnyCutting | Literal["auto"] | None = "auto",
    bins: int = 5,
    min_count: int | None = None,
    missing_level: bool | Iterable[Hashable] | Literal["auto"] | None = "auto",
    numbers: Numbers = None,
    groups: Any = None,
    pairs: Pairs = "auto",
    interval: bool = False,
    draws: int = 20,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **lp_args: Any,
) -> Model:
    """Fit the default, or structure and parameters of a network, in one call.

    ``bnc("class", data)`` fits the default, a sum of effects of features and of
    pairs of features, which needs no settings. ``bnc("tan_cl", "class", data,
    smooth=1)`` learns the structure that you name, and estimates its tables
    with the prior that you name.

    Parameters
    ----------
    dag_learner : str or callable, optional
        Structure learner or its name, such as "tan_cl", if you want a network.
        By default, a sum of effects is fitted.
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data: the class, and all other columns as features. The default
        reads partitioned data into memory.
    dag_args : dict, optional
        Further arguments of the learner, such as ``{"score": "aic"}``. A
        learner that scores fitted models, such as `tan_hc`, uses the prior of
        `lp` unless these arguments contain a prior.
    discretize : str or None, default "auto"
        How numeric columns are divided into intervals for a network, which then
        accepts raw data.

        - "auto": "mdlp", or None if you give a prior or `numbers`, or rows are
          not in memory.
        - "mdlp", "quantile", "width", "mixed": one set of intervals, as in
          `discretize`.
        - "averaged", "averaged5": the average over nine or five sets of
          intervals.

        A column with a single interval is dropped, unless no feature would
        remain.
    bins : int, default 5
        Number of intervals of "quantile", "width" and "mixed".
    min_count : int, optional
        Minimum number of rows per level. Rarer levels are merged, in training
        data and in new data; numbers are not. By default, a network keeps all
        levels, and the sum of effects merges levels that occur once in a column
        with more than twelve levels.
    missing_level : bool, list or "auto", default "auto"
        Whether a missing value is evidence. With "auto", it has an effect in
        the sum of effects, and is not evidence in a network. With False, it is
        never evidence, as you need if values will be missing for other reasons
        than in training. With True, a network has a level "(missing)" for each
        feature with missing values. A list names the features.
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers in a network, with a density as in
        `lp`, in place of `discretize`. For the learners nb, anb, tan_cl and
        kdb_mi.
    groups : str or array-like, optional
        Name of a column, or one label per row, if several rows belong together,
        such as the visits of a patient. The rows of a group are held out
        together. The column is not a feature.
    pairs : "auto", int or list of pairs, default "auto"
        Effects of pairs of features in the sum: as many as the likelihood of
        held-out rows favors, a number of the strongest pairs, or pairs of
        names. With 0, the sum has single effects only, and `effects` is a table
        with one row per value of a feature.
    interval : bool, default False
        If True, the sum keeps `draws` draws of its effects, so that
        ``predict(..., prob=True, interval=0.9)`` returns an interval of each
        probability.
    draws : int, default 20
        Number of draws for `interval`, at least 2.
    n_jobs : int, optional
        Number of tasks of a learner that run at the same time, as in `cv`. By
        default, 1.
    progress : bool, optional
        Whether to show a progress bar. By default, it appears after 3 seconds
        in an interactive session.
    **lp_args
        Arguments of `lp` for a network, such as ``smooth=1``. Without a prior,
        tables are smoothed by ``backoff=True``, or by ``smooth=1`` if the model
        type does not accept it.

    Returns
    -------
    EffectTable, BNC, AODE or another model
        Fitted model: a sum of effects, or ``lp(dag_learner(...), ...)``. If a
        network averages discretizations, its `members` are the networks.

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
    The default is a smoothing-spline analysis of variance of the log odds [1]_
    [2]_: the score of class c is a_c + Σ f_jc(x_j) + Σ f_ijc(x_i, x_j), and the
    probabilities are proportional to exp(score). The effect of a number is a
    line, a square and twelve cosines of its ranks; that of a category has one
    weight per level; a missing value has an effect of its own; and the effect
    of a pair is a sum of products of those of both. Exact values, and cells of
    two, have effects of their own if held-out rows favor them. The weights are
    normal with mean 0 and maximize the penalized likelihood of all rows. Their
    variances, by type of effect, feature and pair, maximize the likelihood of
    held-out rows: of 400 by 400 others, or, with fewer than 800, in four folds
    of at most 400. Of 800 or more, up to 1,600 choose the variance of pairs
    again. Of more than 128 pairs, those with the steepest slopes of
    the likelihood are used. Each row is held out alone, and a weight of 5 means
    five rows, unless you pass `groups` or ``encode(weights_are="cases")``. The
    intervals are those of the normal approximation of the posterior of the
    weights [3]_. The result does not depend on the order of rows and columns,
    or on units, except for the draws of these intervals.

    References
    ----------
    .. [1] Wahba, G., Wang, Y., Gu, C., Klein, R., Klein, B. (1995). Smoothing
       spline ANOVA for exponential families. Annals of Statistics 23.
    .. [2] Gu, C. (2013). Smoothing spline ANOVA models. 2nd edition. Springer.
    .. [3] Wood, S. N. (2006). On confidence intervals for generalized additive
       models based on penalized regression splines. Australian & New Zealand
       Journal of Statistics 48.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, predict
    >>> women = load_pima()
    >>> predict(bnc("diabetes", women), {"age": 51, "glucose": 171}, prob=True).round(1)
    diabetes   no  yes
    0         0.2  0.8
    >>> options = {"smooth": 1, "discretize": "mdlp"}
    >>> model = bnc("tan_cl", "diabetes", women, dag_args={"score": "aic"}, **options)
    >>> predict(model, {"age": 51, "glucose": 171}, prob=True).round(2)
    diabetes    no   yes
    0         0.13  0.87
    """
    # The learner may be omitted, and the data may come first.
    first: Any = dag_learner
    second: Any = class_var
    is_name, has_data = isinstance(first, str), dataset is not REQUIRED
    if hasattr(first, "columns") and not has_data:
        dag_learner, dataset = None, first
    elif is_name and not has_data and hasattr(second, "columns"):
        if first not in LEARNERS or first in second.columns:
            dag_learner, class_var, dataset = None, first, second
    elif is_name and second is REQUIRED and first not in LEARNERS:
        dag_learner, class_var = None, first
    interval = Flag().check("interval", interval)
    learner = _find_learner_of_one_class(
        "nb" if dag_learner is None else dag_learner, class_var, dataset, lp_args
    )
    check_column_name(class_var)
    Whole(least=2, most=1000).check("draws", draws)
    check_jobs(n_jobs)
    if "weights" in lp_args:
        raise TypeError(
            "bnc does not have the argument 'weights'. Pass them in dataset, with "
            "bnc(class_var=..., dataset=encode(dataset, weights=...))."
        )
    data = open_data(dataset)
    if groups is not None:
        data = with_groups_as_cases(data, groups, (class_var,))
    with showing_progress(progress), using_jobs(n_jobs):
        if dag_learner is None:
            if unknown := [name for name in lp_args if name not in parameters_of(lp)]:
                accepted = [name for name in parameters_of(bnc) if name != "lp_args"]
                raise TypeError(
                    f"bnc has no argument {shown(unknown[0])}. "
                    f"{options_sentence(unknown[0], accepted, ARGUMENTS_ELSEWHERE)}"
                )
            own = None if discretize == "auto" else discretize
            settings = {"discretize": own, "numbers": numbers, "dag_args": dag_args, **lp_args}
            if given := [name for name, value in settings.items() if value is not None]:
                raise ValueError(
                    f"a learner must be given with {listed(given)}; got none. These are "
                    "arguments of a network, such as bnc('tan_cl', class_var, dataset, "
                    f"{given[0]}=...). Without a learner, bnc fits a sum of effects, which needs "
                    "no settings."
                )
            min_count = Optional(Whole(least=1)).check("min_count", min_count)
            settings = {"min_count": min_count, "draws": draws if interval else 0}
            return _fit_default(data, class_var, pairs, missing_level, settings)
        if interval or not (isinstance(pairs, str) and pairs == "auto"):
            name = "interval" if interval else "pairs"
            draws_later = " A network draws the intervals of its tables in predict." * interval
            raise ValueError(
                f"{name} must be {False if interval else 'auto'!r} with a learner; got "
                f"{shown(interval or pairs)}. It belongs to the default, which is fitted without a "
                f"learner.{draws_later}"
            )
        numeric = numeric_columns_of(numbers)
        if numeric:
            if discretize not in (None, "auto"):
                raise ValueError(
                    "numbers must be None if discretize is given. Use only one of the two."
                )
            check_learner_is_able(
                learner, accepts_numbers, "numbers must be None", numbers, "learn from numbers"
            )
        options = _learner_options(learner, class_var, dag_args, lp_args)
        given_priors = [lp_args.get(name) for name in PRIORS]
        chosen = any(value is not None and value is not False for value in given_priors)
        method = find_method(given_arguments(**lp_args))  # raises before the search
        if chosen:
            find_prior(**{name: lp_args.get(name) for name in PRIORS})
        if discretize == "auto":
            is_coded = isinstance(data, Countable) and not data.numbers
            plain = chosen or numeric or is_coded or data.in_parts
            discretize = None if plain else "mdlp"
        own_level = None if missing_level == "auto" else missing_level
        if not isinstance(own_level, bool | None):
            own_level = check_feature_names(own_level, (class_var,), "missing_level")
        if numeric:
            lp_args |= {"numbers": numbers}
            options |= {"numbers": numbers} if "numbers" in parameters_of(learner) else {}
        preparing = Preparing(discretize, bins, min_count, own_level, numeric)
        structure, rows = learn_structure(learner, class_var, data, options, preparing)
        if not chosen:
            no_joint = structure.no_joint or not structure.one_class
            is_network = not no_joint and (structure.graph is structure or structure.is_average)
            is_plain = method is PLAIN and not numeric
            lp_args |= {"backoff": True} if is_network and is_plain else {"smooth": 1}
        if groups is not None:
            check_learner_uses_groups(learner, lp_args)
        fitted = lp(structure, rows, **lp_args)
        warn_of_one_class_or_few_rows(fitted, len(rows))
        return fitted


def _fit_default(
    dataset: OpenedData,
    class_var: Hashable,
    pairs: Pairs,
    missing_level: Any,
    settings: dict[str, Any],
) -> Model:
    """Fit a sum of effects to rows in memory; fractional weights make cases."""
    check_columns([class_var], dataset.columns, "class_var")
    # Columns that "mdlp" would discretize stay numbers.
    read = Preparing("mdlp", 5, None).read(dataset, class_var, dataset.columns)
    data, levels = fractional_weights_as_cases(read), read.schema.levels_of
    names = [name for name in data.columns if name != class_var]
    settings["pairs"] = check_pairs(pairs, names, class_var) or 0
    if isinstance(missing_level, str | bool | None):
        checked: Any = OneOf((True, False, None, "auto")).check("missing_level", missing_level)
        settings["missing_level"] = bool(checked)
    else:
        chosen = check_feature_names(missing_level, (class_var,), "missing_level")
        named = check_columns(chosen, names, "missing_level")
        settings["missing_level"] = tuple([name for name in names if name in named])
    known = [name for name in data.columns if levels[name] or name in data.numbers]
    if class_var in known and len(known) > 1:
        data = data.select(known)
    numeric = tuple([name for name in data.numbers if len(levels[name]) not in (1, 2)])
    training = prepare_training_rows(data, class_var, numeric=numeric)
    warn_of_copies(training)
    fitted = fit_effects(sum_of_effects(class_var, training), training, **settings)
    warn_of_one_class_or_few_rows(fitted, len(training))
    return fitted


def check_learner_uses_groups(
    learner: Callable[..., Model], lp_args: Mapping[str, Any] | None
) -> None:
    """Raise unless folds of a greedy learner, or held-out rows of `lp`, follow groups."""
    if "folds" not in parameters_of(learner):
        check_groups_are_used(find_method(given_arguments(**(lp_args or {}))))


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
    advice = "Pass arguments of the learner in dag_args."
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
