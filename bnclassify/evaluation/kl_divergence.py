"""The Kullback-Leibler divergence of two networks."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from ..base.messages import listed
from ..inference.query import log_table
from ..model.arguments import check_coded, check_fitted
from ..model.model import Model
from ..network.classifiers import BNC
from ..scores.rows import Rows
from .shd import check_same_variables


def kl_divergence(x: Model, y: Model) -> float:
    r"""Return the Kullback-Leibler divergence between the distributions of two networks.

    It is 0 if both networks define the same distribution over features and class, and grows with the
    difference. It is the expected loss of log-likelihood per row if data come from `x` and are described
    by `y`.

    Parameters
    ----------
    x, y : BNC
        Models of single networks with parameters, over the same variables with the same levels.

    Returns
    -------
    float
        In nats, at least 0; infinite if a row that is possible under `x` is impossible under `y`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a model does not define a joint distribution, or the networks are over different variables or
        levels.

    Notes
    -----
    The divergence is :math:`\sum_v P(v) \ln (P(v) / Q(v))` over all configurations v. It is not symmetric.

    References
    ----------
    .. [1] Kullback, S., Leibler, R. A. (1951). On information and sufficiency. Annals of Mathematical
       Statistics 22.

    Examples
    --------
    >>> from bnclassify import kl_divergence, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> tan, naive = [lp(learner("class", car), car, smooth=1) for learner in (tan_cl, nb)]
    >>> round(kl_divergence(tan, naive), 3), kl_divergence(tan, tan)
    (0.143, 0.0)
    """
    first, second = [check_coded(check_fitted(each), "kl_divergence") for each in (x, y)]
    levels, labels = first.levels_by_name, second.levels_by_name
    check_same_variables(set(levels), set(labels))
    different = [name for name in levels if levels[name] != labels[name]]
    if different:
        raise ValueError(f"x and y must have the same levels; the levels of {listed(different)} differ.")
    position = {name: i for i, name in enumerate(first.variables)}
    nothing = Rows(np.full((len(position), 1), -1, dtype=np.int8))

    def mean_log(network: BNC) -> float:
        """Return the mean of the log of the tables of a network over the distribution of x."""
        total = 0.0
        for family, table in zip(network.families, network.cpts or (), strict=True):
            shares = np.exp(log_table(first, [position[name] for name in family], nothing))
            total += float(xlogy(shares, table).sum())
        return total

    return max(0.0, mean_log(first) - mean_log(second))
