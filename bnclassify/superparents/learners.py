"""Averaged n-dependence estimators, which need no search."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..base.checks import check_choice, check_whole
from ..frames.encoding import check_frame
from ..frames.parting import InFull, InParts
from ..frames.training import describe
from ..model.recipes import Recipe, Step
from .ande import ANDE


def ande(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    n: int = 1,
    features: Iterable[Hashable] | None = None,
    min_count: int = 1,
    subsumption: int | None = None,
    weights: str | None = None,
) -> ANDE:
    """Build averaged n-dependence estimators: each n features are parents of all others in one of them.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        Gives the features, all columns but the class, and the levels of each variable.
    n : int, default 1
        The number of superparents of each estimator: 0 is naive Bayes, 1 AODE, 2 A2DE.
    features : list of str, optional
        The features to take, a selection of the columns.
    min_count : int, default 1
        A value that the row has of a superparent, or of two a pair of values, must have been seen in
        this many rows for the estimator to vote. Where none does, those with a superparent less vote,
        and in the end naive Bayes does.
    subsumption : int, optional
        Leave out, row by row, values that say nothing new: those that all training rows have that have
        another value of the row, if these are more than so many rows; 50 is usual.
    weights : {"mi"}, optional
        Weigh estimators by the mutual information of their superparents and the class, of two the sum.
        By default all weigh the same.

    Returns
    -------
    ANDE
        A structure; `lp` gives it parameters, with ``smooth`` or ``m``.

    Raises
    ------
    KeyError
        If the class or a feature is not a column of ``dataset``.
    TypeError
        If ``class_var`` is no name, a column holds no categories, or a setting is no whole number.
    ValueError
        If a setting is out of its range, a feature is named twice or is the class, or no value of a
        column is known.

    Warns
    -----
    UserWarning
        If, of columns not chosen by name, one has a value of its own in every row.

    See Also
    --------
    aode : As the R package has it.

    Notes
    -----
    With N(·) counts of training rows, C classes, r_i levels of feature i, and A the features that are
    known in the row, `predict` takes for n = 1 [1]_

    .. math:: P(c | x) ∝ Σ_i w_i P(c, x_i) Π_{j ≠ i} P(x_j | c, x_i),

    over i ∈ A with N(x_i) ≥ min_count and j ∈ A,

    .. math:: P(c, x_i) = (N(c, x_i) + s) / (N_i + C r_i s)

    .. math:: P(x_j | c, x_i) = (N(c, x_i, x_j) + s) / (N(c, x_i; j) + r_j s)

    for ``lp(..., smooth=s)``, where N_i are the rows in which i is known, N(c, x_i; j) those with c and x_i
    in which j is; ``lp(..., m=m)`` puts m / (C r_i) and m / r_j in the place of s. For n = 2, pairs take the
    place of x_i, w that of their sum [2]_. A feature that is missing in the row neither votes nor is a child.

    R's `aode` differs: each of its estimators is a network with tables of its own, P(c) P(x_i | c), smoothed
    one by one, and what is missing is summed out. So it has a likelihood, and this has none: there is no
    `loglik`, `AIC`, `BIC` or EM.

    Subsumption resolution [3]_ drops x_i if there is an x_j in the row with N(x_j) > ``subsumption`` and
    N(x_i, x_j) = N(x_j); of two values that always come together, that of the earlier column stays. Where
    nothing votes, naive Bayes takes all features again. Weights by information are those of WAODE [4]_,
    which is ``weights="mi"`` and ``lp(..., m=1)``: cells with a probability below 1e-6 are left out of the
    information.

    Learning counts all pairs of levels, for n = 2 all triples that occur, and refuses tables that would
    take more than 1 GiB.

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating
       one-dependence estimators. Machine Learning 58.
    .. [2] Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by
       extrapolation from marginal to full-multivariate probability distributions: decreasingly
       naive Bayesian classification. Machine Learning 86.
    .. [3] Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption resolution: an
       efficient and effective technique for semi-naive Bayesian learning. Machine Learning 87.
    .. [4] Jiang, L., Zhang, H. (2006). Weightily averaged one-dependence estimators. PRICAI 2006.

    Examples
    --------
    >>> from bnclassify import ande, cv, load_car, lp
    >>> car = load_car()
    >>> models = {n: lp(ande("class", car, n=n), car, m=1) for n in (0, 1, 2)}
    >>> models[2]
    <BLANKLINE>
      Bayesian network classifier
    <BLANKLINE>
      class variable:     class
      num. features:      6
      num. members:       15
      superparents:       2
      min_count:          1
      learning algorithm: ande
      parameters:         lp(m=1)
    >>> cv(models, car, k=5, rng=0).round(2).to_dict()
    {0: 0.85, 1: 0.91, 2: 0.94}
    """
    n = check_whole("n", n, 0, 2, kind="a whole number of superparents")
    min_count = check_whole("min_count", min_count, 1, kind="a whole number of rows")
    if subsumption is not None:
        subsumption = check_whole("subsumption", subsumption, kind="a whole number of rows")
    if weights is not None:
        check_choice("weights", weights, ("mi",))
    if dataset is None:
        check_frame(dataset, "dataset")
    schema, chosen = describe(dataset, class_var, features)
    levels = None if schema is None else schema.select((*chosen, class_var)).levels
    kept = None if features is None else chosen
    settings = {
        "n": n, "features": kept, "min_count": min_count, "subsumption": subsumption, "weights": weights
    }  # fmt: skip
    seen = None if schema is None or kept is not None else schema.columns
    recipe = Recipe(class_var, Step("ande", ande, settings), kept, seen=seen)
    return ANDE(class_var, chosen, levels, n, min_count, subsumption, weights, recipe=recipe)
