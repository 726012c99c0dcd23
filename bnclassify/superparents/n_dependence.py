"""Averaged n-dependence estimators (ANDE): in each, n features are parents of all others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ..classifiers import BNC, Average, Dirichlet, Family, MEstimate, Prior
from ..counts import Recoding
from ..dataset import Countable, Dataset, Levels
from ..frames import AnyTable, frame_of, schema_and_features
from ..model import MISSING_RULE, PROPORTIONS, Model, PictureNotes, Recipe, Step, Tally
from ..networks.prefix_tables import LeftOutRows
from ..scores import Computed, Formula, Rows
from ..tools.arrays import Array, Positions, normalize
from ..tools.checks import OneOf, Optional, Whole
from ..tools.immutable import COUNT, cached_property, field_bounds, record
from ..tools.messages import listed, shown
from .cooccurrence import Cooccurrence, count_cooccurrence
from .look_up import log_joint_by_blocks
from .members import Estimators, formula_of_members, log_joint_left_out, log_mean_joint


@record
@dataclass(frozen=True, eq=False, repr=False)
class ANDE(Average):
    """Averaged n-dependence estimators: in each, n features are the superparents of all others.

    The model keeps counts, and computes probabilities for each prediction. The
    members that are used depend on the row.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end.
    n : int
        The number of superparents of each member: 0, 1 or 2.
    min_count : int
        Minimum number of training rows with the superparents' values of a row
        for the member to be used.
    subsumption : int or None
        If another value of a row implies a value, and occurs in more training
        rows than this, the implied value is dropped. If None, no values are
        dropped.
    weighting : str or None
        "mi" if members are weighted by the mutual information of their
        superparents and the class; None if all have equal weights.
    counts : Cooccurrence or None
        Counts of levels alone, in pairs and in triples; None before `lp`.
    prior : pseudo-counts, or None
        The prior that `lp` was called with.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name.

    Examples
    --------
    >>> from bnclassify import ande, load_car, lp, predict
    >>> car = load_car()
    >>> model = lp(ande("class", car, n=2), car, m=1)
    >>> predict(model, car.tail(1), prob=True).round(2)
    class  unacc   acc  good  vgood
    1727    0.09  0.11  0.11    0.7
    """

    bounds = field_bounds(min_count=COUNT, subsumption=COUNT)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    n: int = 1
    min_count: float = 1
    subsumption: float | None = None
    weighting: str | None = None
    counts: Cooccurrence | None = None
    prior: Dirichlet | MEstimate | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "averaged n-dependence estimators do not define a joint distribution, because missing "
        "features are skipped; use aode, whose estimators are networks, or a single network"
    )

    def __post_init__(self) -> None:
        Whole(0, 2).check("n", self.n)
        if self.counts is not None:
            *cards, n_classes = [len(labels) for labels in self.levels or ((),)]
            total = sum(cards)
            shapes = self.counts.cards, self.counts.classes.shape, self.counts.single.shape
            if shapes != (tuple(cards), (n_classes,), (total, n_classes)):
                raise ValueError(
                    f"counts must be of {listed(cards)} levels and {n_classes} classes."
                )
            if (self.n and self.counts.pairs.shape != (total, n_classes, total)) or (
                self.n > 1 and not self.counts.has_triples
            ):
                raise ValueError(
                    f"counts must contain all levels that occur together, {self.n + 1} at a time."
                )
        super().__post_init__()

    @property
    def fitted(self) -> bool:
        """Whether it has parameters."""
        return self.counts is not None

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members, and the settings."""
        return {
            "num. features": len(self.features),
            "num. members": len(self.superparents),
            "superparents": self.n,
            "min_count": self.min_count,
            "subsumption": self.subsumption,
            "weights": self.weighting,
            MISSING_RULE: "ignored",
        }

    @cached_property
    def _fitted_estimators(self) -> Estimators:
        assert self.counts is not None
        assert self.prior is not None
        options = self.n, self.min_count, self.subsumption, self.weighting is not None
        return Estimators(self.counts, self.prior, *options)

    @property
    def superparents(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each member's superparents."""
        return tuple(combinations(range(len(self.features)), min(self.n, len(self.features))))

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators as networks, in the order of `superparents`."""
        return tuple([self.network_of_member(s) for s in self.superparents])

    def network_of_member(self, superparents: tuple[int, ...]) -> BNC:
        """Return an estimator of up to two superparents, the first a parent of the second."""
        earlier = {s: superparents[:i] for i, s in enumerate(superparents)}
        scopes = [(f, *earlier.get(f, superparents)) for f in range(len(self.features))]
        families: list[Family] = []
        for scope in scopes:
            families.append((*[self.features[v] for v in scope], self.class_var))
        families.append((self.class_var,))
        if not self.fitted:
            return BNC(self.class_var, tuple(families), self.levels, recipe=self.recipe)
        counts, prior = self._fitted_estimators.counts, self._fitted_estimators.prior
        cells = counts.counts_of_features(*superparents)
        joint = prior(cells.reshape(-1)).reshape(cells.shape)
        cpts: list[Array] = []
        for scope in scopes:
            if scope[0] in earlier:
                cpts.append(_conditional_of_joint(joint, superparents.index(scope[0])))
            else:
                cpts.append(prior(counts.counts_of_features(*scope)))
        cpts.append(_conditional_of_joint(joint, None))
        return BNC(self.class_var, tuple(families), self.levels, tuple(cpts), self.recipe)

    @property
    def weights(self) -> Array:
        """The weight of each member if all are used; they sum to 1."""
        if self.weighting is None or self.n == 0 or not self.fitted:
            return normalize(np.ones(len(self.superparents)))
        information = self._fitted_estimators.information_of_features
        return normalize(np.array([information[list(s)].sum() for s in self.superparents]))

    @property
    def superparent_shares(self) -> Array:
        """Each feature's share, as a superparent, in the weights of all members; they sum to 1."""
        shares = np.zeros(len(self.features))
        for superparents, weight in zip(self.superparents, self.weights, strict=True):
            shares[list(superparents)] += weight / max(1, len(superparents))
        return shares

    def estimate(self, data: Countable, prior: Prior) -> ANDE:
        if not isinstance(prior, Dirichlet | MEstimate):
            raise TypeError(
                "averaged n-dependence estimators need smooth or m, which also define the joint "
                f"probability of superparents and class; got {shown(prior)}."
            )
        return super().estimate(data, prior)

    def count_all(self, data: Countable, prior: Prior) -> tuple[Cooccurrence]:
        return (count_cooccurrence(data, max(self.n + 1, 1 if self.subsumption is None else 2)),)

    def tally(self) -> Tally:
        adjusted = self.learned.keys() - {PROPORTIONS}
        return super().tally() if adjusted else Tally((self.counts,), self.prior)

    def tabulate(self, tally: Tally) -> ANDE:
        return replace(self, counts=tally.counts[0], prior=tally.prior, learned={})

    def recoded_counts(
        self, counts: tuple[Cooccurrence], recodings: Mapping[Hashable, Recoding], before: Model
    ) -> tuple[Cooccurrence]:
        return (counts[0].recoded([recodings[name] for name in self.variables]),)

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        names = ("n", "min_count", "subsumption", "weighting", "prior")
        return {**super().properties_to_agree, **{name: getattr(self, name) for name in names}}

    @cached_property
    def formula(self) -> Formula:
        """The log of the mean joint of the estimators that each row uses, from their counts."""
        return Computed(self._scores_by_counts, self.type_in_words, self._formula_of_members)

    def _scores_by_counts(self, rows: Rows) -> Array:
        return log_joint_by_blocks(
            partial(log_mean_joint, self._fitted_estimators), rows.codes, len(self.known_levels[-1])
        )

    def _formula_of_members(self) -> Formula:
        """Return the formula of up to one superparent, or raise."""
        if self.n > 1 or self.subsumption is not None:
            raise TypeError(
                "x must be averaged estimators with up to one superparent and without subsumption; "
                f"got n={self.n}, subsumption={self.subsumption}. Use ande(..., n=1) or aode."
            )
        return formula_of_members(self._fitted_estimators)

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: LeftOutRows
    ) -> Array:
        return log_joint_left_out(
            self.estimate(data, prior)._fitted_estimators, data.codes[:-1, rows], left_out
        )

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        return {(self.class_var, feature): 1.0 for feature in self.features}

    @property
    def picture_notes(self) -> PictureNotes:
        if not self.n:
            return PictureNotes()
        phrase = "a feature is the parent" if self.n == 1 else "two features are the parents"
        note = (
            f"average of {len(self.superparents):,} networks, in each of which "
            f"{phrase} of all others"
        )
        if self.weighting is not None and not self.fitted:
            return PictureNotes(note, note="lp will weigh the networks")
        shares = dict(zip(self.features, self.superparent_shares.tolist(), strict=True))
        return PictureNotes(note, shares, "numbers are the shares of features in the weights")

    def feature_weights(self) -> dict[Hashable, float] | None:
        if self.weighting is None or not self.n or not self.fitted:
            return None
        return dict(zip(self.features, self.superparent_shares.tolist(), strict=True))


def _conditional_of_joint(joint: Array, i: int | None) -> Array:
    """Return P(superparent i | previous ones, class) from their joint; P(class) for None."""
    n_kept = 0 if i is None else i + 1
    margin: Array = joint.sum(axis=tuple(range(n_kept, joint.ndim - 1)))
    return margin if i is None else normalize(np.moveaxis(margin, i, 0))


def ande(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    n: int = 1,
    features: Iterable[Hashable] | None = None,
    min_count: int = 1,
    subsumption: int | None = None,
    weights: Literal["mi"] | None = None,
) -> ANDE:
    """Build averaged n-dependence estimators (AnDE).

    In each network, n features are parents of all others.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with the levels of each variable. By default, all columns except
        the class are features.
    n : int, default 1
        Number of superparents of each estimator: 0 is naive Bayes, 1 AODE, 2
        A2DE.
    features : list of str, optional
        Names of the features, a selection of the columns.
    min_count : int, default 1
        Minimum number of training rows with the superparents' values of a row
        for the estimator to be used in that row. Without such an estimator,
        estimators with one superparent fewer are used, down to naive Bayes.
    subsumption : int, optional
        If another value of a row occurs in more training rows than this number,
        usually 50, and all these rows have both values, it implies the value,
        and the implied value is dropped. By default, no values are dropped.
    weights : {"mi"}, optional
        If "mi", estimators are weighted by the mutual information of their
        superparents and the class, summed over two superparents. By default,
        all weights are equal.

    Returns
    -------
    ANDE
        A structure without parameters; `lp` estimates them, with ``smooth`` or
        ``m``.

    Notes
    -----
    The posterior is Σ_i w_i P(c, x_i) Π_{j ≠ i} P(x_j | c, x_i), normalized,
    over the features i and j that are observed in the row, with N(x_i) ≥
    min_count [1]_. For n = 2, pairs of features take the place of i [2]_.
    Missing features are skipped, so the model has no joint distribution, and no
    `loglik`, `AIC`, `BIC` or EM, in contrast to `aode`. WAODE [4]_ is
    ``weights="mi"`` and ``lp(..., m=1)``. The page :doc:`Formulas </methods>`
    defines the estimates.

    Subsumption resolution [3]_ drops x_i if there is an x_j in the row with
    N(x_j) > ``subsumption`` and N(x_i, x_j) = N(x_j).

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes:
       aggregating one-dependence estimators. Machine Learning 58.
    .. [2] Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H.
       (2012). Learning by extrapolation from marginal to full-multivariate
       probability distributions: decreasingly naive Bayesian classification.
       Machine Learning 86.
    .. [3] Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption
       resolution: an efficient and effective technique for semi-naive Bayesian
       learning. Machine Learning 87.
    .. [4] Jiang, L., Zhang, H. (2006). Weightily averaged one-dependence
       estimators. PRICAI 2006.

    Examples
    --------
    >>> from bnclassify import ande, cv, load_car, lp
    >>> car = load_car()
    >>> models = {n: lp(ande("class", car, n=n), car, m=1) for n in (0, 1, 2)}
    >>> cv(models, car, k=5, rng=0).round(2).to_dict()
    {0: 0.85, 1: 0.91, 2: 0.94}
    """
    n = Whole(0, 2).check("n", n)
    min_count = Whole(1).check("min_count", min_count)
    subsumption = Optional(Whole()).check("subsumption", subsumption)
    Optional(OneOf(("mi",))).check("weights", weights)
    if dataset is None:
        frame_of(dataset, "dataset")
    schema, chosen = schema_and_features(dataset, class_var, features)
    levels = None if schema is None else schema.select((*chosen, class_var)).levels
    settings = {"n": n, "features": features, "min_count": min_count}
    step = Step("ande", ande, settings | {"subsumption": subsumption, "weights": weights})
    recipe = Recipe.from_step(class_var, step, schema)
    return ANDE(class_var, chosen, levels, n, min_count, subsumption, weights, recipe=recipe)
