"""Markov blankets by tests of independence (IAMB)."""

from __future__ import annotations

from collections.abc import Hashable
from math import log as ln
from math import prod
from typing import Literal

import numpy as np

from ..counts import STATISTICS, FamilyCounts, log_chi_square_p
from ..dataset import Countable
from ..frames import AnyTable, prepare_training_data
from ..structure import warn_of_fractional_weights
from ..tools.arrays import TOLERANCE, Array
from ..tools.checks import OneOf, Real


def learn_blanket(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    alpha: float = 0.05,
    test: str = "g2",
    adjust: Literal["none", "holm"] = "none",
) -> tuple[Hashable, ...]:
    """Learn the Markov blanket of a variable by tests of independence (IAMB).

    Given its Markov blanket, a variable is independent of all others, so the
    blanket contains all features that are needed to predict it. Pass the result
    to a learner as ``features=``.

    Parameters
    ----------
    class_var : str
        Name of the variable, which need not be the class.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. Each test uses the rows in which its variables are
        observed.
    alpha : float, default 0.05
        Significance level of the tests, between 0 and 1.
    test : {"g2", "x2"}, default "g2"
        The statistic: G² of the likelihood-ratio test, or Pearson's X².
    adjust : {"none", "holm"}, default "none"
        Adjustment for the number of tests. By default, each test has the level
        `alpha`. With "holm", p-values are multiplied by the number of variables
        that are tested at the same time.

    Returns
    -------
    tuple
        Names of the variables in the blanket, in column order. Empty if no
        dependence is significant.

    Warns
    -----
    UserWarning
        If weights are not whole numbers and their sum is less than the number
        of rows.

    Notes
    -----
    First, variables are added one at a time: the variable with the smallest
    p-value given the blanket, as long as p is at most `alpha`. Then all
    variables except the last one are tested once, in the order of addition,
    given all others, and removed if p is greater than `alpha`. The degrees of
    freedom count all levels and configurations of the blanket, so the tests
    lose power as the blanket grows.

    With many variables, use ``adjust="holm"``, the first step of Holm's method
    [2]_. Without it, the blanket of a variable that is independent of 16 others
    is not empty in 55 % of data sets with `alpha` 0.05; with it, in at most
    about 5 %, but weak members are missed more often.

    References
    ----------
    .. [1] Tsamardinos, I., Aliferis, C. F., Statnikov, A. (2003). Algorithms
       for large scale Markov blanket discovery. FLAIRS 2003.
    .. [2] Holm, S. (1979). A simple sequentially rejective multiple test
       procedure. Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> from bnclassify import learn_blanket, load_car
    >>> learn_blanket("class", load_car())
    ('buying', 'maint', 'persons', 'safety')
    """
    level = ln(Real(above=0, below=1).check("alpha", alpha))
    OneOf(STATISTICS).check("test", test)
    adjusts = bool(OneOf(("none", "holm")).check("adjust", adjust) == "holm")
    data = prepare_training_data(dataset, (class_var,))
    warn_of_fractional_weights(data, test)
    counts, n = FamilyCounts(data), len(data.features)
    blanket: list[int] = []
    while len(blanket) < n:
        tails = _log_p_values(counts, (n, *blanket), test)
        least = float(tails.min())
        if least + adjusts * ln(n - len(blanket)) > level:
            break
        blanket.append(int((tails <= least + TOLERANCE * max(1.0, -least)).argmax()))
    within = adjusts * ln(max(1, len(blanket) - 1))
    for v in blanket[:-1]:
        others = [u for u in blanket if u != v]
        if others and _log_p_values(counts, (n, *others), test)[v] + within > level:
            blanket = others
    return tuple([data.features[v] for v in sorted(blanket)])


def _log_p_values(counts: FamilyCounts, family: tuple[int, ...], test: str) -> Array:
    """Return ln p of the independence of the first variable and each other, given the rest."""
    cards = counts.cards
    logs = np.full(len(cards), np.inf)
    configurations: int = prod(cards[list(family[1:])].tolist())
    for columns, table in counts.count_extensions(family):
        stops = np.cumsum(cards[columns])
        for v, stop in zip(range(columns.start, columns.stop), stops.tolist(), strict=True):
            if v not in family:
                tables = table[..., stop - cards[v] : stop].swapaxes(0, 1)
                df = (int(cards[family[0]]) - 1) * (int(cards[v]) - 1) * configurations
                logs[v] = log_chi_square_p(float(STATISTICS[test](tables).sum()), df)
    return logs
