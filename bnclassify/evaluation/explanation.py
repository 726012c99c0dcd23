"""What each feature of one row says about the class: weights of evidence, which sum to the log odds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from ..base import graphs as graph
from ..base.arrays import Array, Codes, first_best, log_normalize, log_sum_exp
from ..base.messages import listed
from ..frames.matching import check_unseen, match
from ..frames.reading import encode_new, is_missing
from ..frames.schema import Dataset
from ..inference.factors import network_factors, sum_factors
from ..inference.joint import joint_of_codes
from ..model.kinds import Model, check_fitted
from ..model.networks import BNC, DN, Network
from ..model.questions import class_var, classes, features, values


@dataclass(frozen=True)
class Evidence:
    """What the features of one row say about the class, one after the other.

    Attributes
    ----------
    known : dict
        The class, with the target as its value, then each feature in the order in which it is
        taken in, with its value; NaN where it is missing.
    log_odds : (variables,) array
        What each adds to the log odds.
    target : Any
        The class that is explained.
    against : tuple
        The classes that it is compared with.
    posterior : float
        The probability of the target, all features taken in.
    rest : bool
        Whether ``against`` are all other classes, and more than one.
    """

    known: dict[Hashable, Any]
    log_odds: Array
    target: Any
    against: tuple[Any, ...]
    posterior: float
    rest: bool

    @property
    def rival(self) -> str:
        """What the target is compared with, in words."""
        if self.rest:
            return "the others"
        more = len(self.against) - 3
        return " or ".join(map(str, self.against[:3])) + (f" or {more} more" if more > 0 else "")


def explain(
    x: Model,
    row: pd.DataFrame | pd.Series[Any] | Mapping[Any, Any] | Dataset,
    *,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
) -> pd.DataFrame:
    """Explain one prediction: what each feature adds to the log odds of a class.

    Parameters
    ----------
    x : BNC or AODE
        A model with parameters.
    row : pandas.DataFrame, Series or dict
        One row, such as ``df.iloc[[i]]``, ``df.iloc[i]`` or ``{"safety": "high", …}``. Has a value
        for each feature, None or NaN where it is missing; others, the class among them, are
        ignored.
    target : optional
        The class to explain; by default the predicted one.
    against : optional
        The class to compare it with, or a list, array or Series of classes taken together; by default the
        likeliest of the others. ``classes(x)`` stands for all others: the odds then are
        P(target | row) / (1 − P(target | row)).
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        A row a variable: the class, then the features, parents before children. Columns:

        - ``value``: the target, and each feature's value; NaN where it is missing
        - ``parents``: the values of its feature parents; empty in an ensemble, whose members
          differ in them
        - ``log_odds``: what it adds to the log odds, in nats. They sum to the log odds of the
          posterior. Above 0 it speaks for the target, below 0 against it, and at 0, as where it
          is missing, neither. What rules a class out, with ``smooth=0``, adds an infinity, and
          what comes after it nothing

        The columns are named after what is compared.

    Raises
    ------
    KeyError
        If the row lacks a feature.
    TypeError
        If ``row`` is no row.
    ValueError
        If there are more rows or fewer than one, a class is unknown, or the row is impossible
        under all classes compared, so that there are no odds.

    Notes
    -----
    The weight of evidence [1]_ of feature i is what it adds when the features before it are known:

        log_odds_i = ln O(target : against | v_1 … v_i) − ln O(target : against | v_1 … v_{i−1})

    and that of the class the log of its prior odds. The features that are not known yet, and those
    that are missing in the row, are summed out. So the weights sum to the log odds of the posterior
    whatever the model, whatever is missing and whatever is compared.

    Of two classes and a complete row of a single network, they are
    ln θ(v_i | parents, target) − ln θ(v_i | parents, against), feature by feature, in whatever order
    [2]_. In other cases they depend on the order: a feature tells less if another has told it before.
    It is that of the layers of the network, each in the order of the data; in an ensemble, that of
    the data.

    References
    ----------
    .. [1] Good, I. J. (1985). Weight of evidence: a brief survey. Bayesian Statistics 2.
    .. [2] Madigan, D., Mosurski, K., Almond, R. G. (1997). Graphical explanation in belief
       networks. Journal of Computational and Graphical Statistics 6.

    Examples
    --------
    >>> from bnclassify import explain, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> explain(model, car.iloc[1727]).round(2)
    vgood against acc  value         parents  log_odds
    variable
    class              vgood                     -1.76
    buying               low                      0.92
    doors              5more                      0.14
    persons             more                      0.09
    maint                low    buying = low      1.01
    safety              high  persons = more      0.61
    lug_boot             big   safety = high      0.65
    """
    evidence = weigh_evidence(x, row, target, against, unseen)
    index = pd.Index(list(evidence.known), name="variable", tupleize_cols=False)
    columns = {
        "value": pd.Series(list(evidence.known.values()), index, dtype=object),
        "parents": pd.Series(_parents(x, evidence.known), index, dtype=object),
        "log_odds": pd.Series(evidence.log_odds, index),
    }
    return pd.DataFrame(columns, index).rename_axis(columns=f"{evidence.target} against {evidence.rival}")


def weigh_evidence(
    x: Model, row: object, target: Any = None, against: Any = None, unseen: str = "error"
) -> Evidence:
    """Weigh what the class's prior and each feature of a row add to the log odds, checking all first."""
    check_fitted(x)
    check_unseen(unseen)
    labels = values(x)
    names = features(x)
    known = {name: labels[name] for name in names}
    codes = match(_encode_row(row, known), names, tuple(known.values()), unseen=unseen)[:, 0]
    order = _order(x)
    logs = _sequential_joint(x, codes, order)
    c, others = _compared(classes(x), logs[-1], target, against)
    odds = _log_odds(logs, c, others)
    added = dict.fromkeys(range(len(names)), 0.0)
    with np.errstate(invalid="ignore"):  # once infinite, the odds stay so: inf − inf adds nothing
        steps = np.where(odds[1:] == odds[:-1], 0.0, np.diff(odds))
    added |= dict(zip((i for i in order if codes[i] >= 0), steps.tolist(), strict=True))
    told = {names[i]: labels[names[i]][codes[i]] if codes[i] >= 0 else np.nan for i in order}
    return Evidence(
        known={class_var(x): classes(x)[c]} | told,
        log_odds=np.array([odds[0], *(added[i] for i in order)]),
        target=classes(x)[c],
        against=tuple(classes(x)[k] for k in others),
        posterior=float(np.exp(log_normalize(logs[-1]))[c]),
        rest=len(others) == len(classes(x)) - 1 > 1,
    )


def _encode_row(row: Any, known: Mapping[Hashable, tuple[Any, ...]]) -> Dataset:
    """Encode the one row that there is, whatever holds it."""
    data = encode_new(row, known, "row")
    if len(data) != 1:
        raise ValueError(f"row: expected one row, got {len(data)}; choose one, for example df.iloc[[0]]")
    return data


def _order(x: Model) -> list[int]:
    """Order the numbers of the features, parents before children; of an ensemble, as in the data."""
    names = features(x)
    if not isinstance(x, BNC):
        return list(range(len(names)))
    position = {name: i for i, name in enumerate(names)}
    return [position[name] for layer in graph.layers(x.feature_parents) for name in layer]


def _sequential_joint(x: Model, codes: Codes, order: Sequence[int]) -> Array:
    """Return the log joint of the class and the first 0, 1, 2 … of the features that are observed."""
    if isinstance(x, DN):
        return _running_product(x, codes, order)
    observed = [i for i in order if codes[i] >= 0]
    step = np.full(len(codes), len(observed))
    step[observed] = np.arange(len(observed))
    known = step[:, None] < np.arange(len(observed) + 1)
    sequence = np.where(known, codes[:, None], -1)
    return joint_of_codes(x, sequence)


def _running_product(x: DN, codes: Codes, order: Sequence[int]) -> Array:
    """Return the same where nothing can be summed out: the tables one after the other."""
    joint_of_codes(x, codes[:, None])  # refuses what is missing
    *of_features, of_class = network_factors(x)
    each = [
        sum_factors([factor], codes[:, None], complete=True)
        for factor in (of_class, *[of_features[i] for i in order])
    ]
    return np.concatenate(each).cumsum(axis=0)


def _compared(labels: tuple[Any, ...], logs: Array, target: Any, against: Any) -> tuple[int, list[int]]:
    """Return the number of the class to explain and of those it is compared with."""
    if len(labels) < 2:
        raise ValueError(f"x: has the one class {listed(labels)}, so there is nothing to compare it with")
    c = int(first_best(logs)) if target is None else _class_number("target", labels, target)
    if against is None:
        others = [k for k in range(len(labels)) if k != c]
        return c, [others[int(first_best(logs[others]))]]
    several = isinstance(against, list | set | frozenset | pd.Series | pd.Index | ExtensionArray | np.ndarray)
    several &= getattr(against, "ndim", 1) > 0
    several |= isinstance(against, tuple) and not _is_among(labels, against)  # a tuple may be a label
    chosen = {_class_number("against", labels, label) for label in (against if several else [against])}
    if not chosen - {c}:
        raise ValueError(f"against: expected another class than the target {labels[c]!r}, got {against!r}")
    return c, sorted(chosen - {c})


def _class_number(argument: str, labels: tuple[Any, ...], label: Any) -> int:
    if not _is_among(labels, label):
        raise ValueError(f"{argument}: expected one of the classes {listed(labels)}, got {label!r}")
    return labels.index(label)


def _is_among(labels: tuple[Any, ...], label: Any) -> bool:
    """Whether a value is a class; pd.NA and arrays do not say whether they equal one."""
    return isinstance(label, Hashable) and not is_missing(label) and label in labels


def _log_odds(logs: Array, c: int, others: list[int]) -> Array:
    """Return the log odds of a class against others, row by row."""
    own, rival = logs[:, c], log_sum_exp(logs[:, others])
    if max(own[-1], rival[-1]) == -np.inf:
        raise ValueError(
            "row: is impossible under every class compared, so there are no odds to explain; learn with "
            "smooth above 0, which makes nothing impossible"
        )
    return own - rival


def _parents(x: Model, known: Mapping[Hashable, Any]) -> list[str]:
    """Write the values of the feature parents of each variable."""
    above = x.feature_parents if isinstance(x, Network) else {}
    return [", ".join(describe(p, known[p]) for p in above.get(v, ())) for v in known]


def describe(variable: Hashable, value: Any) -> str:
    """Write what is known of a variable.

    >>> describe("safety", "high"), describe("doors", float("nan"))
    ('safety = high', 'doors missing')
    """
    return f"{variable} missing" if is_missing(value) else f"{variable} = {value}"
