"""Queries: the exact distribution of some variables, given others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
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
)
from ..dataset import codes_by_levels
from ..elimination import BURN_IN, MOST_SWEEPS
from ..model import CountedModel, Model
from ..scores import Rows, scores_at
from ..tools.arrays import Array, Codes, code_type, log, log_normalize, log_sum_exp, slices
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, Names, Real, Seed, Whole, check_rng, is_among
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
    Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
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
            likelihoods[position] = _level_log_likelihoods(x, name, value)
        elif isinstance(value, list | set | frozenset):
            likelihoods[position] = _level_log_likelihoods(x, name, dict.fromkeys(value, 1.0))
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


def _level_log_likelihoods(x: Model, name: Hashable, weights: Mapping[Hashable, object]) -> Array:
    """Return the logs of likelihoods of the levels of a variable, given by label, (levels,)."""
    likelihoods = np.zeros(len(x.levels_by_name[name]))
    for label, weight in weights.items():
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
