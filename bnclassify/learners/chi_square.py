"""Dependency networks by chi-square tests of independence."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from ..base.arrays import Array
from ..base.checks import check_real
from ..base.messages import shown
from ..counts.contingency import count_families
from ..counts.information import pair_statistics
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import prepare
from ..model.recipes import Recipe, Step
from ..network.classifiers import DN
from .local_scores import LocalScores

_LEAST = 1e-8  # worths within this of each other are tied, and one must be greater than this


def chisq_dn(class_var: Hashable, dataset: InFull | InParts, *, alpha: float = 0.025) -> DN:
    """Learn a dependency network classifier by chi-square tests (ChiSqDN).

    Each feature chooses its own parents among the others, one after the other: the one that depends
    on it most, given the class and those it has, as long as one does significantly. As no feature
    knows what the others choose, arcs may run both ways between two features, and in cycles.

    Parameters
    ----------
    class_var : str
        Name of the class, a parent of every feature.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All columns but the class are features.
    alpha : float, default 0.025
        Level of significance of the tests, between 0 and 1; a larger one gives more arcs.

    Returns
    -------
    DN
        A structure; `lp` gives it parameters. Parents stand in the order in which they were chosen.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If ``alpha`` is not between 0 and 1, or the data has no rows, or no class.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out. If every row has a value of its own in a column.

    Notes
    -----
    What Y is worth as a further parent of X, beside the parents Z, is G(X;Y|Z, C) − K q: twice the gain
    in log-likelihood, 2 N I(X;Y|Z, C), over the rows in which all of them are observed, less q for each of
    the K classes. Here q is the 1 − ``alpha`` quantile of the chi-square distribution with
    (r_X − 1)(r_Y − 1) Π r_Z degrees of freedom, r the numbers of levels that occur. Candidates that are
    worth nothing are dropped for good; the best becomes a parent, of those within 1e-8 the first column.

    The network predicts by P(c) Π P(x_i | parents, c), normalised over the classes. That is no joint
    distribution: a dependence that two features show each other is counted twice. So features that
    repeat each other break it: with four noisy copies of one cause, and three weak features, it was right in
    .72 of new rows, where naive Bayes was in .88. It is of interest for its graph, which shows on what each
    feature depends directly; to predict, take `ban` or `tan_cl`.

    References
    ----------
    .. [1] Gámez, J. A., Mateo, J. L., Puerta, J. M. (2006). Dependency networks based classifiers: learning
       models by using independence tests. PGM 2006.
    .. [2] Heckerman, D., Chickering, D. M., Meek, C., Rounthwaite, R., Kadie, C. (2000). Dependency
       networks for inference, collaborative filtering, and data visualization. JMLR 1.

    Examples
    --------
    >>> from bnclassify import chisq_dn, families, load_car
    >>> found = families(chisq_dn("class", load_car()))
    >>> found["buying"], found["maint"]
    (('buying', 'maint', 'class'), ('maint', 'buying', 'class'))
    """
    level = check_real("alpha", alpha)
    if not 0 < level < 1:
        raise ValueError(
            f"alpha: expected a level of significance strictly between 0 and 1, got {shown(alpha)}"
        )
    data = prepare(dataset, (class_var,))
    names = data.features
    families = [
        (names[v], *[names[p] for p in parents], class_var)
        for v, parents in enumerate(_choose_parents(data, float(level)))
    ]
    recipe = Recipe(class_var, Step("chisq_dn", chisq_dn, {"alpha": level}), seen=data.columns)
    return DN(class_var, (*families, (class_var,)), data.levels, recipe=recipe)


def _choose_parents(data: Learnable, alpha: float) -> list[list[int]]:
    """Return the feature parents of each feature, in the order in which they are chosen."""
    class_column = len(data.features)
    pairs = pair_statistics(data, range(class_column), class_column)
    single = count_families(data, [[column] for column in range(class_column + 1)])
    occurring = np.array([np.count_nonzero(counts) for counts in single])
    scores = LocalScores(data, "loglik")
    choices = [_Choice(v, occurring, alpha) for v in range(class_column)]
    dependence = 2 * pairs.rows * pairs.information
    choosing = [choice for choice in choices if choice.go_on(dependence[choice.variable])]
    while choosing:
        scores.prefetch([(choice.variable, *choice.parents, class_column) for choice in choosing])
        choosing = [
            choice
            for choice in choosing
            if choice.go_on(2 * scores.gains(choice.variable, (*choice.parents, class_column))[:class_column])
        ]
    return [choice.parents for choice in choices]


class _Choice:
    """The parents of a feature, as far as they are chosen.

    Parameters
    ----------
    variable : int
    occurring : (variables,) array
        How many levels of each occur, the class last.
    alpha : float
    """

    def __init__(self, variable: int, occurring: NDArray[np.intp], alpha: float) -> None:
        *levels, self._n_classes = occurring
        self.variable, self.parents, self._alpha = variable, list[int](), alpha
        self._levels = np.array(levels)
        self._freedom = (levels[variable] - 1.0) * (self._levels - 1.0)
        self._remains = self._freedom > 0
        self._remains[variable] = False

    def go_on(self, dependence: Array) -> bool:
        """Choose one more parent if one is worth it, and return whether there may be another.

        Parameters
        ----------
        dependence : (features,) array
            G of the feature and each of the others, given the class and the parents so far.
        """
        worth, remains = np.full(len(self._levels), -np.inf), self._remains
        worth[remains] = dependence[remains] - self._n_classes * chdtri(self._freedom[remains], self._alpha)
        remains &= worth > _LEAST
        if not remains.any():
            return False
        best = int(np.argmax(worth >= worth.max() - _LEAST))
        self.parents.append(best)
        remains[best] = False
        self._freedom *= self._levels[best]
        return bool(remains.any())
