"""Averaged one-dependence estimators (AODE): in each, one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..classifiers import BNC, Average, Family, Prior, PseudoCounts
from ..counts import Recoding, check_cells_of_all_pairs, contingency_table, count_pairs
from ..dataset import Countable, Dataset, Levels
from ..frames import AnyTable, schema_and_features
from ..model import PROPORTIONS, Recipe, Step, Tally
from ..networks.em import EM
from ..scores import Computed, Formula, Rows
from ..structure import features_for_recipe, network
from ..tools.arrays import Array, ArrayOf, Codes, Positions, Slice, log, slices
from ..tools.immutable import PROBABILITY, cached_property, field_bounds, record
from .look_up import LookUp, level_positions, log_joint_by_blocks, spans_of_levels

_SMALL = 2**20  # cells


@record
@dataclass(frozen=True, eq=False, repr=False)
class AODE(Average):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    The tables of all estimators are stacked in three arrays; the levels of all
    features are numbered consecutively. `members` returns the estimators as
    networks.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features. Each is the superparent of one estimator, a
        parent of all others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None without
        data.
    priors : (features, classes) read-only array, or None
        P(class) in each estimator; None before `lp`, like the next two.
    superparents : (levels of all features, classes) read-only array, or None
        P(level | class), in the estimator of the superparent with the level.
    children : tuple of read-only arrays, or None
        P(level | level of the superparent, class) in each estimator, (levels of
        all other features, levels of the superparent, classes).
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name: tuples with one value per
        estimator.

    Examples
    --------
    >>> from bnclassify import aode, load_car, lp, members, modelstring
    >>> car = load_car()
    >>> model = lp(aode("class", car, features=["doors", "safety"]), car, smooth=1)
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """

    bounds = field_bounds(priors=PROBABILITY, superparents=PROBABILITY, children=PROBABILITY)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    priors: Array | None = None
    superparents: Array | None = None
    children: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.children is not None

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members, without making the members."""
        return {"num. features": len(self.features), "num. members": len(self.features)}

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        of_members = [name for name in self.learned if name not in ("counts", PROPORTIONS)]
        members = []
        for i, superparent in enumerate(self.features):
            families: list[Family] = [(f, superparent, self.class_var) for f in self.features]
            families[i] = superparent, self.class_var
            families.append((self.class_var,))
            cpts, learned = None, {name: self.learned[name][i] for name in of_members}
            if self.priors is not None and self.superparents is not None and self.children:
                spans = self.spans_of_features
                cards = [span.stop - span.start for j, span in enumerate(spans) if j != i]
                *tables, _ = np.split(self.children[i], np.cumsum(cards))
                tables.insert(i, self.superparents[spans[i]])
                cpts = (*tables, self.priors[i])
            own = self.class_var, tuple(families), self.levels, cpts, self.recipe
            members.append(BNC(*own, learned=learned))
        return tuple(members)

    @cached_property
    def spans_of_features(self) -> tuple[Slice, ...]:
        """The slice of the levels of each feature among all levels."""
        return spans_of_levels([len(labels) for labels in (self.levels or ())[:-1]])

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        """Count the classes and all pairs of levels, or the tables of each estimator."""
        n = len(self.features)
        check_cells_of_all_pairs(data, range(n), n)
        if self._uses_one_array_of_pairs and isinstance(prior, PseudoCounts):
            return contingency_table(data, (n,)), count_pairs(data)
        return tuple([member.count(data, prior) for member in self.members])

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    @property
    def _uses_one_array_of_pairs(self) -> bool:
        """Whether most pairs of levels belong to two features, so that one array is efficient."""
        *cards, n_classes = map(len, self.levels or ())
        square = sum(cards) ** 2
        return square * n_classes <= _SMALL or 2 * sum(card**2 for card in cards) <= square

    def tabulate(self, tally: Tally) -> AODE:
        learned = {"counts": tally}
        if not (self._uses_one_array_of_pairs and isinstance(tally.prior, PseudoCounts)):
            members = zip(self.members, tally.counts, strict=True)
            tables = [member.tabulate(Tally(counts, tally.prior)) for member, counts in members]
            stacked = self._ensemble_of_members(tables)
            return replace(stacked, learned={**stacked.learned, **learned})
        # square[u, c, x] is the number of rows of class c with the levels u of the superparent and
        # x, (levels, classes, levels)
        (classes, square), prior, spans = tally.counts, tally.prior, self.spans_of_features
        cards = np.array([span.stop - span.start for span in spans])
        feature = np.repeat(np.arange(len(cards)), cards)
        configurations = (cards[feature] * len(classes))[:, None, None]
        children = list[Array]()
        for block in slices(len(cards), int(cards.max(initial=1)) * len(classes) * len(feature)):
            start = spans[block.start].start
            rows = slice(start, spans[block.stop - 1].stop)
            cpts = prior.tables_on_last_axis(square[rows], feature, cards, configurations[rows])
            for own in spans[block]:
                of_own = cpts[own.start - start : own.stop - start].transpose(2, 0, 1)
                children.append(np.delete(of_own, own, axis=0))
        every = np.arange(len(feature))
        singles = square[every, :, every].T
        return replace(
            self,
            priors=prior(np.tile(classes, (len(cards), 1)), axis=1),
            superparents=prior.tables_on_last_axis(singles, feature, cards, len(classes)).T.copy(),
            children=tuple(children),
            learned=learned,
        )

    def recoded_counts(
        self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Any
    ) -> Any:
        if isinstance(counts[0], np.ndarray):
            counts = tuple(before._counts_by_member(*counts))
        members = zip(self.members, counts, strict=True)
        by_member = [member.recoded_counts(tables, recodings, before) for member, tables in members]
        if self._uses_one_array_of_pairs and isinstance(by_member[0][-1], np.ndarray):
            return self._counts_of_classes_and_pairs(by_member)
        return tuple(by_member)

    def _counts_by_member(self, classes: Array, square: ArrayOf[Any]) -> list[tuple[Any, ...]]:
        """Return the tables of each estimator, that of the class last, from all pairs of levels."""
        every, by_member = range(len(self.features)), []
        for i in every:
            tables = [square[self._cells_of_pair(i, j, len(classes))] for j in every]
            by_member.append((*tables, classes))
        return by_member

    def _counts_of_classes_and_pairs(self, by_member: Sequence[tuple[Any, ...]]) -> tuple[Any, Any]:
        """Return counts of the classes and of all pairs of levels from the estimators' tables."""
        (*_, classes), n_levels = by_member[0], self.spans_of_features[-1].stop
        dtype = np.result_type(*[table for tables in by_member for table in tables])
        square = np.zeros((n_levels, len(classes), n_levels), dtype)
        for i, (*tables, _) in enumerate(by_member):
            for j, table in enumerate(tables):
                square[self._cells_of_pair(i, j, len(classes))] = table
        return classes, square

    def _cells_of_pair(self, i: int, j: int, n_classes: int) -> tuple[Positions, ...]:
        """Return where feature j's counts in estimator i are among those of all level pairs."""
        own, other = self.spans_of_features[i], self.spans_of_features[j]
        superparent = np.arange(own.start, own.stop)[:, None]
        levels = np.arange(other.start, other.stop)[:, None, None]
        return superparent if i == j else levels, np.arange(n_classes), superparent

    def _ensemble_of_members(self, members: Sequence[BNC]) -> AODE:
        tables = [member.cpts or () for member in members]
        return replace(
            self,
            levels=members[0].levels,
            priors=np.stack([cpts[-1] for cpts in tables]),
            superparents=np.concatenate([cpts[i] for i, cpts in enumerate(tables)]),
            children=tuple(
                [np.concatenate([*cpts[:i], *cpts[i + 1 : -1]]) for i, cpts in enumerate(tables)]
            ),
            learned={
                name: tuple([m.learned[name] for m in members]) for name in members[0].learned
            },
        )

    def maximize(self, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
        check_cells_of_all_pairs(data, range(len(self.features)), len(self.features))
        return self._ensemble_of_members(
            [member.maximize(data, prior, em) for member in self.members]
        )

    @cached_property
    def _log_look_up(self) -> LookUp:
        """Ln P(level | superparent's level, class); at its own level, ln P(level, class)."""
        if self.priors is None or self.superparents is None or self.children is None:
            raise TypeError("the ensemble has no tables")
        every = np.arange(len(self.superparents))
        tables = np.ones((len(every), len(every) + 1, self.priors.shape[1]))
        for own, children, prior in zip(
            self.spans_of_features, self.children, self.priors, strict=True
        ):
            tables[own, np.delete(every, own)] = children.transpose(1, 0, 2)
            tables[every[own], every[own]] = self.superparents[own] * prior
        return LookUp(log(tables), self.spans_of_features)

    @cached_property
    def formula(self) -> Formula:
        """The mean of estimators, by look-up unless the array of all level pairs is large."""
        if not self._uses_one_array_of_pairs:
            return self.mixture_of_members()
        return Computed(
            self._scores_by_look_up, self.type_in_words, self.mixture_of_members, averages=True
        )

    def _scores_by_look_up(self, rows: Rows) -> Array:
        equal_weights = np.full(len(self.features), -float(np.log(len(self.features))))

        def log_joint(codes: Codes) -> Array:
            levels = level_positions(codes, self.spans_of_features)
            return self._log_look_up.log_joint_of_rows(
                levels, levels, equal_weights, marginalizes=True
            )

        return log_joint_by_blocks(log_joint, rows.codes, len(self.known_levels[-1]))


def aode(
    class_var: Hashable,
    dataset: AnyTable | Countable | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> AODE | BNC:
    """Build averaged one-dependence estimators (AODE), one per feature.

    In each network, its feature is a parent of all others.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data with the levels of each variable. By default, all columns except
        the class are features.
    features : list of str, optional
        Names of the features; with `dataset`, a selection of its columns.

    Returns
    -------
    AODE
        A structure without parameters; `lp` estimates them. With fewer than two
        features, it is a naive Bayes, a BNC.

    Notes
    -----
    This is the ensemble of the R package, the mean of the joint distributions
    of networks, which marginalizes over missing features exactly. `ande`
    follows its authors [1]_: the first table of an estimator is P(class,
    superparent), only superparents with values that occurred in training are
    used, and missing features are skipped.

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes:
       aggregating one-dependence estimators. Machine Learning 58.

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, modelstring
    >>> model = aode("class", load_car(), features=["doors", "safety"])
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """
    schema, chosen = schema_and_features(dataset, class_var, features)
    step = Step("aode", aode, {"features": features_for_recipe(dataset, features, chosen)})
    if len(chosen) < 2:
        return network(class_var, dict.fromkeys(chosen, ()), schema, step)
    levels = None if schema is None else schema.select((*chosen, class_var)).levels
    return AODE(class_var, chosen, levels, recipe=Recipe.from_step(class_var, step, schema))
