"""Questions to a joint distribution: distributions given evidence, samples, missing values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import prod
from numbers import Real as RealNumber
from typing import Any, TypeAlias, overload

import numpy as np
import pandas as pd

from ..accessors import (
    BOUNDS,
    bounds_from_posterior_draws,
    check_draws,
    check_has_joint_distribution,
    check_interval,
    check_not_dropped,
    encode_for_model,
    has_posterior_of_tables,
    model_with_all_tables_drawn,
)
from ..classifiers import PRIORS, Drawn, PseudoCounts, find_prior
from ..counts import flat_index
from ..dataset import Dataset, Schema, codes_by_levels
from ..elimination import BURN_IN, MOST_SWEEPS
from ..frames import AnyTable, frame_of, is_missing
from ..model import CountedModel, Model, Tally, check_counted
from ..scores import Rows, scores_at
from ..tools.arrays import Array, Codes, Mask, code_type, log, log_normalize, log_sum_exp, slices
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, Names, Optional, Real, Seed, Whole, check_rng, is_among
from ..tools.immutable import EMPTY
from ..tools.messages import listed, shown

_MOST_CELLS = 2**22


Variables: TypeAlias = "Hashable | Sequence[Hashable]"
EvidenceOf: TypeAlias = "Mapping[Hashable, Any] | pd.Series[Any] | None"


@overload
def query(
    x: Model,
    variables: Variables,
    evidence: EvidenceOf = None,
    *,
    interval: None = None,
    draws: int = 1000,
    rng: Seed = None,
    burn_in: int = BURN_IN,
) -> pd.Series[float]: ...
@overload
def query(
    x: Model,
    variables: Variables,
    evidence: EvidenceOf = None,
    *,
    interval: float,
    draws: int = 1000,
    rng: Seed = None,
) -> pd.DataFrame: ...
@with_call_advice("Pass options by name: query(x, variables, evidence).")
def query(
    x: Model,
    variables: Variables,
    evidence: EvidenceOf = None,
    *,
    interval: float | None = None,
    draws: int = 1000,
    rng: Seed = None,
    burn_in: int = BURN_IN,
) -> pd.Series[float] | pd.DataFrame:
    """Return the exact joint distribution of some variables, given others.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution, or a dependency network.
    variables : str or list of str
        Variables of the joint distribution: features, the class, or both.
    evidence : dict or Series, optional
        Evidence on each variable: its label; a list or set of possible labels;
        or a dict of likelihoods, P(observation | label) up to a factor, where
        omitted labels have 0. For numeric columns, a number. The model
        marginalizes over all other variables.
    interval, draws, rng
        Probability of a credible interval of each probability, the number of
        draws, and their seed, as in `predict`. In a dependency network, the
        number of draws that estimate probabilities.
    burn_in : int, default 100
        For a dependency network: number of sweeps of Gibbs sampling before each
        draw, as in `sample`.

    Returns
    -------
    pandas.Series
        Probabilities, which sum to 1, indexed by level; with several variables,
        by a MultiIndex. ``attrs["log_evidence"]`` is ln P(evidence), or the log
        of the expectation of likelihoods.
    pandas.DataFrame
        With `interval`, with columns lower, estimate and upper.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the model does not define a joint distribution, a variable is in both
        `variables` and `evidence`, the evidence has probability 0, or the
        distribution would be too large.

    Notes
    -----
    Likelihoods multiply the joint distribution (virtual evidence [1]_), so they
    need not sum to 1: a sensor that reports "high" for 80 % of the rows with
    label high and 20 % of the rows with label med is
    ``{"high": 0.8, "med": 0.2}``. They are not probabilities of the labels: to
    change the distribution of a variable to q (Jeffrey's rule), pass q(x) /
    P(x | other evidence), where P is the result of `query`.

    In a dependency network (`chisq_dn`), the result is the proportion of draws,
    with a standard error of √(p (1 − p) / draws) if evidence is certain, and
    "log_evidence" refers to the product of tables. The posterior of the class
    alone equals the result of `predict`.

    References
    ----------
    .. [1] Pearl, J. (1988). Probabilistic Reasoning in Intelligent Systems.
       Morgan Kaufmann.

    Examples
    --------
    >>> from bnclassify import hc, load_car, lp, query
    >>> car = load_car()
    >>> network = lp(hc("class", car), car, smooth=1)
    >>> query(network, ["class", "persons"], {"safety": "high"}).round(3)["acc"]
    persons
    2       0.002
    4       0.185
    more    0.165
    Name: probability, dtype: float64
    >>> evidence = {"safety": {"low": 0.2, "med": 0.8}, "doors": ["3", "4"]}
    >>> query(network, "class", evidence).round(3).to_dict()
    {'unacc': 0.687, 'acc': 0.25, 'good': 0.058, 'vgood': 0.005}
    """
    model = check_has_joint_distribution(x, "query", or_sampled=True)
    burn_in = Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
    is_name = isinstance(variables, str) or is_among(variables, model.variables)
    named = [variables] if is_name else variables
    check_not_dropped(model, "variables", named if isinstance(named, list | tuple) else [])
    names = Names(model.variables, "variables of the model", filled=True).check("variables", named)
    numeric = [name for name in names if name in model.densities]
    if numeric:
        raise TypeError(
            f"variables must have levels; got the numbers {listed(numeric)}. Use cpt or sample."
        )
    requested = [model.variables.index(name) for name in names]
    known, likelihoods = encode_evidence(model, evidence)
    overlap = [model.variables[i] for i in requested if known.codes[i] >= 0]
    if overlap:
        raise ValueError(
            f"variables must not be in the evidence; got {listed(overlap)} in both. Omit one."
        )
    by_draws = model.is_sampled and names != (model.class_var,)
    logs: Array = check_not_impossible(
        log_joint_table(model, () if by_draws else requested, known, likelihoods)
    ).ravel()
    log_evidence = float(log_sum_exp(logs))
    labels = [list(model.levels_by_name[name]) for name in names]
    if by_draws:
        if interval is not None:
            raise ValueError("interval must be None for features of a dependency network. Omit it.")
        n, generator = check_draws(draws, len(known.codes)), check_rng(rng)
        drawn = draw_rows_given_evidence(model, known, likelihoods, n, generator, burn_in)
        cards = list(map(len, labels))
        if prod(cards) > _MOST_CELLS:
            raise ValueError(
                "variables must have a joint distribution of fewer cells; got "
                f"{prod(cards):,}. Query fewer variables at a time."
            )
        cells: Codes = np.ravel_multi_index(tuple(drawn[requested]), cards)
        logs = log(np.bincount(cells, minlength=prod(cards)) / n)
    index = pd.Index(labels[0], name=names[0], tupleize_cols=False)
    if len(names) > 1:
        axes = [pd.Index(own, tupleize_cols=False) for own in labels]
        index = pd.MultiIndex.from_product(axes, names=names)
    found = pd.Series(np.exp(log_normalize(logs)), index=index, name="probability")
    found.attrs["log_evidence"] = log_evidence
    inside = check_interval(interval)
    if inside is None:
        return found
    draws, seed = check_draws(draws, len(found)), int(check_rng(rng).integers(2**63))

    def joint_posterior(drawn: Model) -> Array:
        return np.exp(log_normalize(log_joint_table(drawn, requested, known, likelihoods).ravel()))

    lower, upper = bounds_from_posterior_draws(model, joint_posterior, inside, draws, seed)
    frame = pd.DataFrame(dict(zip(BOUNDS, [lower, found, upper], strict=True)), index=index)
    frame.attrs["log_evidence"] = log_evidence
    return frame


def draw_rows_given_evidence(
    x: Model,
    known: Rows,
    likelihoods: Mapping[int, Array],
    n: int,
    rng: np.random.Generator,
    burn_in: int = BURN_IN,
) -> Codes:
    """Return rows drawn given evidence, (variables, n) codes."""
    uncertain = list(likelihoods)
    rows = known.subset(np.zeros(n, dtype=np.intp))
    logs = check_not_impossible(log_joint_table(x, uncertain, known, likelihoods))
    if uncertain:
        cells = rng.choice(logs.size, size=n, p=np.exp(log_normalize(logs.ravel())))
        rows.codes[uncertain] = np.unravel_index(cells, logs.shape)
    features = Rows(rows.codes[:-1], rows.numbers)
    return x.fill_in_codes(features, rows.codes[-1], rng, burn_in=burn_in)


def check_not_impossible(logs: Array) -> Array:
    """Return logs of evidence, or raise a ValueError if it is impossible."""
    if logs.max() == -np.inf:
        raise ValueError(
            "evidence must have a positive probability; got 0. Fit the model with smooth=1."
        )
    return logs


def encode_evidence(x: Model, evidence: EvidenceOf) -> tuple[Rows, dict[int, Array]]:
    """Return what is known as a row of all variables, -1 if unknown, and log likelihoods."""
    codes = np.full(len(x.variables), -1, dtype=code_type(max(map(len, x.levels or ((),)))))
    likelihoods: dict[int, Array] = {}
    numbers: dict[int, Array] = {}
    if evidence is None:
        return Rows(codes[:, None]), likelihoods
    Instance(Mapping | pd.Series, "a dict from variables to their values").check(
        "evidence", evidence
    )
    given: dict[Hashable, object] = dict(evidence.items())
    check_not_dropped(x, "evidence", given)
    Names(x.variables, "values of variables of the model").check("evidence", list(given))
    for name, value in given.items():
        position = x.variables.index(name)
        if name in x.densities:
            number = Real().check(f"evidence[{shown(name)}]", value)
            numbers[position] = np.array([number], dtype=float)
            codes[position] = 0
        elif isinstance(value, Mapping):
            likelihoods[position] = _level_log_likelihoods(x, name, value.items())
        elif isinstance(value, list | set | frozenset):
            likelihoods[position] = _level_log_likelihoods(x, name, ((v, 1.0) for v in value))
        else:
            codes[position] = _code_of_label(x, name, value)
    return Rows(codes[:, None], numbers), likelihoods


def _code_of_label(x: Model, name: Hashable, label: object) -> int:
    """Return the code of a label, or of the raw value of a label, of a variable."""
    levels = x.levels_by_name[name]
    if is_among(label, levels):
        return list[object](levels).index(label)
    row = encode_for_model(x, {name: label}, [name], "evidence")
    return int(codes_by_levels(row, [name], (levels,))[0, 0])


def _level_log_likelihoods(
    x: Model, name: Hashable, weights: Iterable[tuple[object, object]]
) -> Array:
    """Return the logs of likelihoods of the levels of a variable, given by label, (levels,)."""
    likelihoods = np.zeros(len(x.levels_by_name[name]))
    for label, weight in weights:
        code = _code_of_label(x, name, label)
        if code < 0:
            raise ValueError(
                f"evidence must have labels of {shown(name)}; got {shown(label)}. Omit it."
            )
        likelihoods[code] = Real(least=0).check(f"the likelihood of {shown(label)}", weight)
    if not likelihoods.any():
        raise ValueError(
            f"evidence must have a positive probability; got 0 for all labels of {shown(name)}."
        )
    return log(likelihoods)


def log_joint_table(
    x: Model, variables: Sequence[int], evidence: Rows, likelihoods: Mapping[int, Array] = EMPTY
) -> Array:
    """Return ln P(requested variables, evidence), with one axis per requested variable."""
    cards = [len(labels) for labels in x.levels or ()]
    of_class = len(cards) - 1  # the position of the class
    if variables and of_class not in variables:
        largest = max(variables, key=cards.__getitem__)
        exchanged = x.with_class_exchanged(largest) if isinstance(x, CountedModel) else None
        if exchanged is not None:  # whose scores have a column per level of this variable
            position = {largest: of_class, of_class: largest}
            codes = evidence.codes.copy()
            codes[[largest, of_class]] = codes[[of_class, largest]]
            known = Rows(codes, evidence.numbers)
            weights = {position.get(v, v): values for v, values in likelihoods.items()}
            return log_joint_table(
                exchanged, [position.get(v, v) for v in variables], known, weights
            )
    requested = [v for v in variables if v != of_class]
    # Other features with likelihoods are marginalized over.
    summed = [v for v in likelihoods if v not in (*requested, of_class)]
    features = [*requested, *summed]
    uncertain = [v for v in features if v in likelihoods]
    possible = [np.arange(cards[v]) for v in requested]
    possible += [np.flatnonzero(likelihoods[v] > -np.inf) for v in summed]
    shape = [len(codes) for codes in possible]
    n = prod(shape)
    if n * cards[-1] > _MOST_CELLS:
        raise ValueError(
            "variables and evidence must have a joint distribution of fewer cells; got "
            f"{n * cards[-1]:,}. Query fewer variables at a time, or give fewer "
            "likelihoods and lists."
        )
    logs: Array = np.empty((n, cards[-1]))
    cells = np.indices(shape, dtype=np.intp).reshape(len(features), n)
    for block in slices(n, len(cards)):
        some = cells[:, block]
        rows = evidence.subset(np.zeros(some.shape[1], dtype=np.intp))
        codes = rows.codes[:-1]
        for i, v in enumerate(features):
            codes[v] = possible[i][some[i]]
        logs[block] = scores_at(x.score, Rows(codes, rows.numbers))
        for v in uncertain:
            logs[block] += likelihoods[v][codes[v], None]
    logs += likelihoods.get(of_class, 0.0)
    # (cells of requested features, cells of the others, classes)
    shape = shape[: len(requested)]
    logs = log_sum_exp(logs.reshape(prod(shape), -1, cards[-1]), axis=1)
    logs = logs.reshape(*shape, cards[-1])
    given = int(evidence.codes[-1, 0])
    if given >= 0:
        logs = logs[..., [given]]
    if of_class not in variables:
        return log_sum_exp(logs)
    return np.moveaxis(logs, -1, list(variables).index(of_class))


@with_call_advice("Pass options by name: sample(x, n, evidence=evidence, rng=seed).")
def sample(
    x: Model, n: int, *, evidence: EvidenceOf = None, rng: Seed = None, burn_in: int = BURN_IN
) -> pd.DataFrame:
    """Draw rows from the distribution of a model, given evidence if any.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution, or a dependency network.
    n : int
        The number of rows.
    evidence : dict or Series, optional
        Evidence on some variables, as in `query`.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.
    burn_in : int, default 100
        For a dependency network: number of sweeps over the features before each
        draw.

    Returns
    -------
    pandas.DataFrame
        One categorical column per feature and, at the end, one for the class,
        with the levels of the model as categories. Columns that the model
        discretizes contain numbers, drawn uniformly from the interval within
        the range of the training data; features with a density (``numbers`` in
        `lp`) contain numbers drawn from it. Numbers have fractions even if
        those of the training data are whole; round them if they must be. A
        number in `evidence` is the value of its column.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the model does not define a joint distribution, the sample would have
        more than 2³¹ values, or the evidence has probability 0.

    Notes
    -----
    Each variable is drawn given its parents, parents first. In an average of
    networks, each row is drawn from one network, chosen by its weight. With
    `evidence`, the rows are drawn exactly, without rejection.

    In a dependency network (`chisq_dn`), the class of a row is drawn from the
    posterior that `predict` returns, and then its features by ordered Gibbs
    sampling [1]_: in each sweep, each feature is drawn given all others, by its
    table and the tables of its children, unless these are also its parents.
    Without cycles, this is the distribution of a `BNC` with the same tables.

    References
    ----------
    .. [1] Heckerman, D., Chickering, D. M., Meek, C., Rounthwaite, R., Kadie,
       C. (2000). Dependency networks for inference, collaborative filtering,
       and data visualization. JMLR 1.

    Examples
    --------
    >>> from bnclassify import load_car, lp, sample, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> drawn = sample(model, 1_000, evidence={"class": "acc", "safety": ["low", "med"]}, rng=0)
    >>> drawn["safety"].value_counts().to_dict()
    {'med': 976, 'low': 24, 'high': 0}
    """
    model = check_has_joint_distribution(x, "sample", or_sampled=True)
    burn_in = Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
    generator = check_rng(rng)
    most = 2**31 // len(model.variables)  # maximum number of values of a sample
    n = Whole(least=0, most=most).check("n", n)
    if evidence is None and not model.is_sampled:
        codes = model.draw(n, generator)
    else:
        known, likelihoods = encode_evidence(model, evidence)
        codes = draw_rows_given_evidence(model, known, likelihoods, n, generator, burn_in)
    numbers, discretizer = means_or_draws_of_numbers(model, codes, generator), model.discretizer
    given: dict[Hashable, object] = {} if evidence is None else dict(evidence.items())
    for name, value in given.items():
        is_number = name in model.densities or name in model.discretizer.cuts
        if is_number and isinstance(value, RealNumber) and not is_missing(value):
            numbers[name] = np.full(n, float(value))
    columns: dict[Hashable, Array | pd.Categorical[Any]] = {}
    for i, (name, labels) in enumerate(model.levels_by_name.items()):
        if name in numbers:
            columns[name] = numbers[name]
        elif name in discretizer.cuts:
            columns[name] = discretizer.draw_numbers(name, codes[i, :], generator)
        else:
            columns[name] = pd.Categorical.from_codes(
                codes[i, :], dtype=pd.CategoricalDtype(list(labels))
            )
    return pd.DataFrame(columns)


def means_or_draws_of_numbers(
    x: Model, codes: Codes, rng: np.random.Generator | None = None
) -> dict[Hashable, Array]:
    """Return numeric features in complete rows, (rows,): conditional means, or drawn by rng."""
    numbers = {}
    for name, density in x.densities.items():
        positions = [x.variables.index(parent) for parent in x.parents[name]]
        cells = flat_index([codes[p] for p in positions], density.shape).astype(np.intp)
        means: Array = density.parameters_by_name()["mean"].ravel()
        numbers[name] = means[cells] if rng is None else density.draw(cells, rng)
    return numbers


@with_call_advice("Pass options by name: impute(x, frame, draws=n, rng=seed).")
def impute(
    x: Model,
    frame: pd.DataFrame | AnyTable,
    *,
    draws: int | None = None,
    rng: Seed = None,
    burn_in: int = BURN_IN,
) -> pd.DataFrame:
    """Fill in missing values by the most probable combination, or draw them.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution, or a dependency network.
    frame : pandas.DataFrame
        Data with one column per feature of the model. Without a column of the
        class, the class is treated as missing and is not returned.
    draws : int, optional
        Number of completions to draw, for multiple imputation. By default, the
        most probable one is returned.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.
    burn_in : int, default 100
        Number of sweeps of Gibbs sampling before the first draw, for a
        dependency network, as in `sample`, or a model fitted by EM.

    Returns
    -------
    pandas.DataFrame
        A copy of `frame` without missing values in the columns of the model. A
        number that the model discretizes is replaced by the mean of the
        training values in the most probable interval, and a number with a
        density by its mean given the other values. Such columns have type
        float, and their imputed numbers have fractions even if the others are
        whole; round them if they must be. With `draws`, this number of
        completions of `frame`, concatenated, with a first level of the index
        ``draw`` from 0. The missing values of a row are drawn together from
        their posterior, numbers uniformly from an interval or from their
        density.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the model does not define a joint distribution, there are too many
        combinations of missing values in a row, or the completions would have
        more than 2²⁸ values.

    Notes
    -----
    The values jointly maximize P(row) or, in a dependency network, the product
    of its tables. To fit a model to incomplete rows, use
    ``lp(..., missing="em")``. To estimate another quantity, draw several
    completions, compute it in each, and pool the results by Rubin's rules [1]_.

    These rules require that completions differ as much as the tables are
    uncertain. If the tables follow from counts and the prior adds pseudo-counts
    (smooth, ess or m above 0), they are drawn from their Dirichlet posterior,
    once for each completion. If `lp` fitted the model by EM to as many rows as
    `frame` has, with a column of the class, tables and completions are drawn
    alternately given these rows (data augmentation [2]_). For all other models,
    all completions have the same tables, and pooled intervals are too narrow:
    models with weights, back-off, densities, averaged cut points or given
    tables, and new rows for a model of EM. In these cases, draw each completion
    from a model of a bootstrap sample.

    References
    ----------
    .. [1] Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys.
       Wiley.
    .. [2] Tanner, M. A., Wong, W. H. (1987). The calculation of posterior
       distributions by data augmentation. Journal of the American Statistical
       Association 82.

    Examples
    --------
    >>> from bnclassify import ban, impute, load_voting, lp
    >>> voting = load_voting()
    >>> network = lp(ban("Class", voting.dropna()), voting, smooth=1)
    >>> votes = ["el_salvador_aid", "education_spending", "crime"]
    >>> impute(network, voting).loc[[3, 4], votes]
      el_salvador_aid education_spending crime
    3               y                  n     n
    4               y                  n     y
    """
    model = check_has_joint_distribution(x, "impute", or_sampled=True)
    burn_in = Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
    table, generator = frame_of(frame, "frame"), None
    # 2**28: maximum number of values of all completions
    most = max(1, min(1_000_000, 2**28 // max(1, table.size)))
    draws = Optional(Whole(least=1, most=most)).check("draws", draws)
    if draws is not None:
        if "draw" in table.index.names:
            raise ValueError(
                "frame must not have an index named 'draw', as the result has. Use .rename_axis."
            )
        generator = check_rng(rng)
    levels, discretizer = model.levels_by_name, model.discretizer
    names = model.variables if model.class_var in table.columns else model.features
    data = encode_for_model(model, table, names, "frame")
    rows = model.rows_to_score(data)
    labels = np.full(len(table), -1, dtype=code_type(len(levels[model.class_var])))
    if len(names) > len(model.features):
        labels = codes_by_levels(data, names[-1:], (levels[names[-1]],))[0]
    codes = np.vstack([rows.codes, labels])
    if generator is None or draws is None:
        completed = model.fill_in_codes(rows, labels, burn_in=burn_in)
    else:
        completed = _draw_completions(model, data, labels, draws, generator, burn_in=burn_in)
        codes = np.tile(codes, draws)
        table = pd.concat([table] * draws, keys=range(draws), names=["draw", *table.index.names])
    numbers = means_or_draws_of_numbers(model, completed, generator)
    result = table.copy()
    for i, name in enumerate(names):
        gaps: Mask = codes[i, :] < 0
        filled: Codes = completed[i, gaps]
        if not len(filled):
            continue
        if name in numbers:
            result[name] = _fill_numbers(table[name], gaps, numbers[name][gaps])
        elif name in discretizer.cuts:
            inside = (
                discretizer.interval_means(name, filled)
                if generator is None
                else discretizer.draw_numbers(name, filled, generator)
            )
            result[name] = _fill_numbers(table[name], gaps, inside)
        else:
            result[name] = _fill_labels(table[name], gaps, [levels[name][code] for code in filled])
    return result


def _fill_numbers(column: pd.Series[Any], gaps: Mask, numbers: Array) -> pd.Series[Any]:
    """Return a column of floats with missing values replaced by numbers; nullable if it was."""
    nullable = isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
    values = column.to_numpy(dtype=float, na_value=np.nan, copy=True)
    values[gaps] = numbers
    return pd.Series(values, index=column.index, dtype="Float64" if nullable else float)


def _fill_labels(column: pd.Series[Any], gaps: Mask, labels: Sequence[Hashable]) -> pd.Series[Any]:
    """Return a column with missing values replaced by labels, of the same type if possible."""
    objects = column.astype(object).to_numpy(copy=True)
    objects[gaps] = np.fromiter(labels, dtype=object, count=len(labels))
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = list(dtype.categories)
        lacking = [label for label in dict.fromkeys(labels) if label not in categories]
        dtype = pd.CategoricalDtype([*categories, *lacking], dtype.ordered)
    try:
        return pd.Series(objects, index=column.index, dtype=dtype)
    except (TypeError, ValueError):  # Booleans or numbers, and the text of merged levels
        return pd.Series(objects, index=column.index)


def _draw_completions(
    x: Model, data: Dataset, labels: Codes, draws: int, rng: np.random.Generator, *, burn_in: int
) -> Codes:
    """Return completions, (variables, rows), of data whose classes are ``labels``, side by side."""
    rows, found = x.rows_to_score(data), list[Codes]()
    if has_posterior_of_tables(x):
        for _ in range(draws):
            drawn = model_with_all_tables_drawn(x, rng)
            found.append(drawn.fill_in_codes(rows, labels, rng, burn_in=burn_in))
        return np.concatenate(found, axis=1)
    prior, fitted, step = None, x.trained_on, None if x.recipe is None else x.recipe.parameters
    is_same = fitted is not None and fitted.size == len(data) and x.class_var in data.columns
    if step is not None and is_same and "em" in x.learned:
        prior = find_prior(**{name: step.settings.get(name) for name in PRIORS})
    if not isinstance(prior, PseudoCounts) or not prior.is_positive:
        repeated = np.tile(np.arange(len(data)), draws)
        return x.fill_in_codes(rows.subset(repeated), labels[repeated], rng, burn_in=burn_in)
    # data augmentation: completions given tables, and tables given a completion, in turn
    schema = Schema(x.variables, tuple([x.levels_by_name[name] for name in x.variables]))
    # 0.2: sweeps between two draws of data augmentation, as a share of those before the first
    spacing = max(1, int(burn_in * 0.2))
    for sweep in range(1, burn_in + draws * spacing + 1):
        completed = x.fill_in_codes(rows, labels, rng)
        if sweep > burn_in and (sweep - burn_in) % spacing == 0:
            found.append(completed)
        counts = check_counted(x).count_all(Dataset(schema, completed, data.index), prior)
        drawn = check_counted(x).tabulate(Tally(counts, Drawn(prior, rng)))
        x = drawn.with_class_proportions(x.class_proportions)
    return np.concatenate(found, axis=1)
