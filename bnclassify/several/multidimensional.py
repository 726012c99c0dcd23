"""Models of several class variables: networks, averages of networks, chains, and their learners.

Class variables are missing variables of a network, and are marginalized over like missing features.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import comb, prod
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np
import pandas as pd

from ..accessors import read_for_model
from ..classifiers import (
    ArcShares,
    Family,
    Graph,
    Prior,
    check_families,
    mean_arc_shares,
    tables_from_counts,
)
from ..counts import count_families, pair_statistics
from ..dataset import Countable, Dataset, Levels, OpenedData, codes_by_levels
from ..elimination import (
    Component,
    Factor,
    LogTable,
    check_elimination_size,
    components_of_missing,
    eliminate_log_tables,
    log_joint_of_network,
    log_mean_joint_of_networks,
    multiply_tables,
    plan_elimination,
    posteriors_of_families,
    score_combinations,
)
from ..frames import AnyTable, prepare_training_data
from ..model import (
    Fit,
    Model,
    Recipe,
    SeveralClasses,
    Step,
    Tally,
    TrainingRows,
    forward_to_basis,
    recipe_with_parameter_step,
)
from ..prediction import Labelling
from ..scores import Computed, Formula, Rows, scores_at
from ..structure import LocalScores, check_score_and_ess, find_learner, warn_of_fractional_weights
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    Slice,
    first_best,
    log,
    log_normalize,
    log_sum_exp,
    slices,
)
from ..tools.calls import check_arguments, parameters_of, progress_bar
from ..tools.checks import (
    Instance,
    Names,
    OneOf,
    ScoreName,
    Seed,
    Whole,
    check_column_name,
    check_rng,
    must_be,
)
from ..tools.graphs import max_forest_parents, maximum_arborescence
from ..tools.immutable import EMPTY, PROBABILITY, cached_property, field_bounds, record
from ..tools.messages import listed, shown, with_shared_text

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are enumerated."""

_PROBABILITY = "probability"


class MultiModel(SeveralClasses):
    """Base of models of several ``class_vars``; ``levels`` has the features, then the classes."""

    is_chain = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        super().__post_init__()

    @property
    def class_var(self) -> NoReturn:
        """Raise a TypeError that names the class variables."""
        raise TypeError(
            f"x must predict one class variable; got a model of {listed(self.class_vars)}, which "
            "class_var(x) returns."
        )

    @property
    def targets(self) -> tuple[Hashable, ...]:
        return self.class_vars

    @property
    def class_levels(self) -> Levels:
        """The labels of each class variable."""
        return (self.levels or ())[len(self.features) :]

    @property
    def class_cardinalities(self) -> tuple[int, ...]:
        """The number of labels of each class variable."""
        return tuple(map(len, self.class_levels))

    if TYPE_CHECKING:  # each family implements these; codes are (features, rows), -1 where missing

        @property
        def class_vars(self) -> tuple[Hashable, ...]:
            """The names of the class variables."""

        def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
            """Return ln P(label, observed features) of each class variable, up to a constant."""

        def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
            """Return the most probable combination of labels, (classes, rows), first if tied."""

        def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
            """Return ln P(labels | observed features) of codes, (class variables, rows)."""

    def log_joint_at(self, rows: Rows, labels: Codes) -> Array:
        """Return ln P(labels, observed features), (rows,)."""
        raise TypeError(f"x must define a joint distribution; {self.no_joint}.")

    # methods that functions call

    def predict(
        self,
        newdata: Any,
        prob: bool,
        unseen: str,
        unknown: Sequence[Hashable],
        prior: object,
        costs: object,
        joint: bool,
        greedy: bool,
    ) -> pd.DataFrame:
        for name, value in {"prior": prior, "costs": costs}.items():
            if value is not None:
                raise TypeError(
                    f"{name} must be None for several class variables. Predict "
                    "each by its own model."
                )
        if greedy and not self.is_chain:
            raise TypeError(
                "greedy must be False unless x is a chain, which chain(class_vars, dataset) learns."
            )
        if joint and prob and _PROBABILITY in self.class_vars:
            raise ValueError(
                f"x must not have a class variable called {shown(_PROBABILITY)}. Rename it."
            )
        data = read_for_model(self, newdata, self.features, unknown=unknown)
        levels = self.known_levels[: len(self.features)]
        rows = Rows(codes_by_levels(data, self.features, levels, unseen=unseen))
        if joint:
            best = self.most_probable(rows, greedy=greedy)
            labels = self._label_frame(best, data.index)
            if prob:
                labels[_PROBABILITY] = np.exp(self.log_posterior_at(rows, best))
            return labels
        marginals = self.log_marginals(rows, greedy=greedy)
        if prob:
            pairs = [
                (name, label)
                for name, labels in zip(self.class_vars, self.class_levels, strict=True)
                for label in labels
            ]
            axes = [
                pd.Index(own, dtype=object, tupleize_cols=False) for own in zip(*pairs, strict=True)
            ]
            posteriors = np.hstack([np.exp(log_normalize(logs)) for logs in marginals])
            return pd.DataFrame(posteriors, data.index, pd.MultiIndex.from_arrays(axes))
        return self._label_frame([first_best(logs) for logs in marginals], data.index)

    def _label_frame(self, codes: Iterable[Codes], index: pd.Index[Any]) -> pd.DataFrame:
        """Return labels from codes, with one categorical column per class variable."""
        series = []
        for labels, name, of_class in zip(self.class_levels, self.class_vars, codes, strict=True):
            series.append(Labelling(labels, name, index).labels_of_codes(of_class))
        names = pd.Index(list(self.class_vars), tupleize_cols=False)
        return pd.DataFrame(dict(enumerate(series)), index=index).set_axis(names, axis="columns")

    def model_of_class(self, class_var: Hashable | None) -> ClassView:
        if class_var is None:
            raise TypeError(f"class_var must be given, one of {listed(self.class_vars)}.")
        return ClassView(self, OneOf(self.class_vars).check("class_var", class_var))


@forward_to_basis("features", "fitted", "is_average")
@dataclass(frozen=True, eq=False, repr=False)
class ClassView(Model):
    """One class variable's model in a model of several, marginalized over the others."""

    basis: MultiModel
    class_var: Hashable
    recipe: Recipe | None = None

    @property
    def levels(self) -> Levels | None:
        by_name = self.basis.levels_by_name
        return tuple([by_name[name] for name in self.variables])

    learned = EMPTY

    @property
    def type_in_words(self) -> str:
        return self.basis.type_in_words

    @property
    def members(self) -> tuple[Model, ...]:
        return (self,)

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of variables without other class variables; empty without one graph."""
        parents, variables = self.basis.parents, set(self.variables)
        return {v: tuple([p for p in parents.get(v, ()) if p in variables]) for v in self.variables}

    @cached_property
    def formula(self) -> Formula:
        """The log posterior of the class, marginalized over the other class variables."""
        place = self.basis.class_vars.index(self.class_var)
        return Computed(lambda rows: self.basis.log_marginals(rows)[place], self.type_in_words)


class Chained(MultiModel):
    """Base of a chain and of an average of chains, its `members`."""

    is_chain = True
    no_joint = (
        "a chain does not define a joint distribution with the features, because each of its "
        "members has a separate one; use predict, cloglik or cv"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        super().__post_init__()

    def chooses_labels_one_by_one(self, greedy: bool) -> bool:
        """Whether labels are chosen one by one, if requested or if combinations are too many."""
        return greedy or prod(self.class_cardinalities) > MOST_COMBINATIONS

    def map_counted_parts(self, function: Callable[..., Model], *others: Any) -> Self:
        alike = zip(self.members, *[other.members for other in others], strict=True)
        return replace(
            self,
            members=tuple([member.map_counted_parts(function, *rest) for member, *rest in alike]),
        )

    def read_training_rows(self, dataset: OpenedData) -> Any:
        known = None if self.levels is None else self.levels_by_name
        return prepare_training_data(dataset, self.class_vars, self.features, known=known)


@record
@dataclass(frozen=True, eq=False, repr=False)
class Chain(Chained):
    """A classifier chain: P(classes | features) = Π P(class | features, earlier classes).

    `chain` learns the structure, `lp` the parameters. It does not define a
    distribution of the features.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables, in the order of the predicted columns.
    members : tuple of models
        One model per class variable, in the order of the chain. Earlier class
        variables may be among the features of a model.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members
    >>> voting = load_voting()
    >>> model = lp(chain(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> [member.class_var for member in members(model)]
    ['mx_missile', 'crime']
    """

    class_vars: tuple[Hashable, ...]
    members: tuple[Model, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        strange = [
            type(m).__name__ for m in self.members if not isinstance(m, Model) or not m.one_class
        ]
        if strange:
            raise TypeError(
                f"members must be models of one class variable each; got {listed(strange)}."
            )
        order = [member.class_var for member in self.members]
        if len(set(self.class_vars)) < len(self.class_vars) or Counter(order) != Counter(
            self.class_vars
        ):
            raise ValueError(
                f"members must be one model of each of {listed(self.class_vars)}; got "
                f"{listed(order)}."
            )
        known: dict[Hashable, tuple[Hashable, ...]] = {}
        for i, member in enumerate(self.members):
            if ahead := [name for name in member.features if name in order[i:]]:
                raise ValueError(
                    "members must have no later class variables as features; that of "
                    f"{shown(order[i])} has {listed(ahead)}."
                )
            for name, labels in zip(member.variables, member.levels or (), strict=False):
                if known.setdefault(name, labels) != labels:
                    raise ValueError(
                        f"members must be models with the same levels of {shown(name)}."
                    )

    @cached_property
    def order(self) -> tuple[Hashable, ...]:
        return tuple([member.class_var for member in self.members])

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        named = dict.fromkeys(name for member in self.members for name in member.features)
        return tuple([name for name in named if name not in self.class_vars])

    @cached_property
    def levels(self) -> Levels | None:
        if any(member.levels is None for member in self.members):
            return None
        known = ChainMap(*[member.levels_by_name for member in self.members])
        return tuple([known[name] for name in self.variables])

    @property
    def fitted(self) -> bool:
        return all(member.fitted for member in self.members)

    @property
    def trained_on(self) -> TrainingRows | None:
        trained = {member.class_var: member.trained_on for member in self.members}
        known = [rows for rows in [trained[name] for name in self.class_vars] if rows is not None]
        if len(known) < len(self.members):
            return None
        incomplete = dict.fromkeys(name for rows in known for name in rows.incomplete)
        classes = tuple([weights for rows in known for weights in rows.classes])
        ranges = dict(ChainMap(*[dict(rows.ranges) for rows in known]))
        size = max(rows.size for rows in known)
        return TrainingRows(size, classes, tuple(incomplete), ranges=ranges)

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"x must have one graph; got a chain of {len(self.members):,} networks, one per class "
            "variable. Plot each of members(x)."
        )

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        codes = rows.codes
        if self.chooses_labels_one_by_one(greedy):
            return _posteriors_along_chain(self, codes)[0]
        n, cards = codes.shape[1], self.class_cardinalities
        results: list[Array] = [np.empty((n, card)) for card in cards]
        for block, logs in _log_posteriors_by_block(self, codes):
            shares = np.exp(logs)
            for j, result in enumerate(results, start=1):
                result[block] = log(shares.sum(axis=tuple({*range(1, shares.ndim)} - {j})))
        return results

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        codes = rows.codes
        if self.chooses_labels_one_by_one(greedy):
            return _posteriors_along_chain(self, codes)[1]
        labels = np.empty((len(self.class_vars), codes.shape[1]), dtype=np.intp)
        for block, joint in _log_posteriors_by_block(self, codes):
            best = first_best(joint.reshape(len(joint), -1))
            labels[:, block] = np.unravel_index(best, self.class_cardinalities)
        return labels

    def log_posteriors_of_combinations(self, rows: Rows) -> Array:
        """Return ln P(labels | features) of all combinations of labels, (rows, combinations)."""
        found = [joint for _, joint in _log_posteriors_by_block(self, rows.codes)]
        return np.concatenate(found).reshape(len(rows), -1)

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        logs = np.zeros(len(rows))
        of_classes = _posteriors_along_chain(self, rows.codes, labels)[0]
        for own, chosen in zip(of_classes, labels.astype(np.intp), strict=True):
            logs += np.take_along_axis(own, chosen[:, None], axis=1)[:, 0]
        return logs

    def fit_chain_links(
        self, function: Fit, dataset: OpenedData, step: Step | None = None
    ) -> Chain:
        data, members = self.read_training_rows(dataset), []
        for member in self.members:
            rows = prepare_training_data(data.select(member.variables), member.targets, warns=False)
            members.append(function(member, rows))
        return replace(
            self, members=tuple(members), recipe=recipe_with_parameter_step(self.recipe, step)
        )

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {**super().properties_to_agree, "order": self.order}

    def facts(self) -> dict[str, object]:
        order = None if self.order == self.class_vars else ", ".join(map(str, self.order))
        return {"num. features": len(self.features), "order": order}


def _posteriors_along_chain(
    x: Chain, codes: Codes, labels: Codes | None = None
) -> tuple[list[Array], Codes]:
    """Choose labels one by one, or use these; return each class's log posteriors, and labels."""
    n, unknown = len(x.features), np.zeros((len(x.class_vars), codes.shape[1]), dtype=np.intp)
    variables = np.concatenate([codes, unknown if labels is None else labels])
    marginals = {}
    for member in x.members:
        j = x.class_vars.index(member.class_var)
        marginals[j] = _log_posterior_of_member(x, member, variables)
        if labels is None:
            variables[n + j] = first_best(marginals[j])
    return [marginals[j] for j in sorted(marginals)], variables[n:]


def _log_posterior_of_member(x: Chain, member: Model, variables: Codes) -> Array:
    """Return a member class's log posterior given features, among them earlier classes."""
    codes = variables[[x.variables.index(name) for name in member.features]]
    return log_normalize(scores_at(member.score, Rows(codes)))


def _log_posteriors_by_block(x: Chain, codes: Codes) -> Iterator[tuple[Slice, Array]]:
    """Yield blocks of rows, and their ln P(labels | features), (rows, labels of each class…)."""
    axes = [0, *(1 + x.order.index(name) for name in x.class_vars)]
    cards = dict(zip(x.class_vars, x.class_cardinalities, strict=True))
    widest = max(len(member.features) + 2 for member in x.members)
    for rows in slices(codes.shape[1], prod(x.class_cardinalities) * widest):
        logs = np.zeros(rows.stop - rows.start)
        variables = np.pad(codes[:, rows], ((0, len(cards)), (0, 0)))  # any label, for now
        for i, member in enumerate(x.members):  # given earlier classes, an axis for each
            shape = [cards[name] if name in member.features else 1 for name in x.order[:i]]
            hidden = [x.variables.index(name) for name in x.order[:i]]
            posterior = partial(_log_posterior_of_member, x, member)
            own = score_combinations(posterior, variables, hidden, shape)
            logs = logs[..., None] + own.reshape(len(logs), *shape, -1)
        yield rows, logs.transpose(axes)


def log_mean_exp(logs: Sequence[Array]) -> Array:
    """Return the log of the mean of exponentials."""
    return log_sum_exp(np.stack(logs), axis=0) - float(np.log(len(logs)))


@record
@forward_to_basis("features", "levels", "fitted", "trained_on")
@dataclass(frozen=True, eq=False, repr=False)
class ChainEnsemble(Chained):
    """An average of classifier chains, each with another order of the class variables.

    Its posteriors are the means over the chains. `chain` with ``orders`` learns
    the structure, `lp` the parameters.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables, in the order of the predicted columns.
    members : tuple of Chain
        The chains.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members
    >>> voting = load_voting()
    >>> structure = chain(["mx_missile", "crime"], voting, orders=3, rng=5)
    >>> [[member.class_var for member in members(one)] for one in members(structure)]
    [['mx_missile', 'crime'], ['crime', 'mx_missile'], ['crime', 'mx_missile']]
    """

    is_average = True

    class_vars: tuple[Hashable, ...]
    members: tuple[Chain, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.members or not all(isinstance(member, Chain) for member in self.members):
            kinds = [type(member).__name__ for member in self.members]
            raise TypeError(f"members must be chains, at least one; got {listed(kinds)}.")
        for name in ("class_vars", "features", "levels", "fitted"):
            own = getattr(self.members[0], name)
            if any(getattr(member, name) != own for member in self.members):
                raise ValueError(
                    f"members must have the same {name}. Learn all of them from the same data."
                )

    @property
    def basis(self) -> Chain:
        """The first chain, which has the features, levels and training rows of all."""
        return self.members[0]

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"x must have one graph; got an average of {len(self.members):,} chains. Plot the "
            "members of each of members(x)."
        )

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        found = [member.log_marginals(rows, greedy=greedy) for member in self.members]
        return [log_mean_exp(of_class) for of_class in zip(*found, strict=True)]

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        if self.chooses_labels_one_by_one(greedy):
            tried = [member.most_probable(rows, greedy=True) for member in self.members]
            best = first_best(np.stack([self.log_posterior_at(rows, own) for own in tried], axis=1))
            return np.stack(tried)[best, :, np.arange(len(rows))].T
        labels = np.empty((len(self.class_vars), len(rows)), dtype=np.intp)
        for block in slices(len(rows), prod(self.class_cardinalities)):
            some = rows.subset(block)
            joint = log_mean_exp([x.log_posteriors_of_combinations(some) for x in self.members])
            labels[:, block] = np.unravel_index(first_best(joint), self.class_cardinalities)
        return labels

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        return log_mean_exp([member.log_posterior_at(rows, labels) for member in self.members])

    def fit_chain_links(
        self, function: Fit, dataset: OpenedData, step: Step | None = None
    ) -> ChainEnsemble:
        data = self.read_training_rows(dataset)
        recipe = recipe_with_parameter_step(self.recipe, step)
        members = tuple([member.fit_chain_links(function, data, step) for member in self.members])
        return replace(self, members=members, recipe=recipe)

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {
            **super().properties_to_agree,
            "orders": tuple([member.order for member in self.members]),
        }


def _with_unknown_labels(codes: Codes, cards: Sequence[int]) -> Codes:
    return np.pad(codes, ((0, len(cards)), (0, 0)), constant_values=-1)


def _best_labels_of_component(component: Component, first_class: int) -> dict[int, Positions]:
    """Return connected class variables' best labels: a sum over features, a maximum of classes."""
    card: dict[int, int] = {}
    for scope, logs in component.tables:
        card |= dict(zip(scope, logs.shape[1:], strict=False))
    features = _checked_elimination_order(
        [u for u in component.order if u < first_class], component.tables, card
    )
    _, tables = eliminate_log_tables(features, component.tables)
    order = _checked_elimination_order(
        [u for u in component.order if u >= first_class], tables, card
    )
    chosen: dict[int, Positions] = {}
    for u in sorted(order):  # one by one, each the first label that leads to the maximum
        order.remove(u)
        best = multiply_tables(eliminate_log_tables(order, tables, np.max)[1]).logs[..., 0]
        chosen[u] = first_best(np.broadcast_to(best, (len(component.rows), best.shape[1])))
        for number, (scope, logs) in enumerate(tables):
            if u in scope:  # keep the part of each row's table at the label
                axis = 1 + scope.index(u)
                index = chosen[u].reshape(-1, *[1] * (logs.ndim - 1))
                kept = np.take_along_axis(logs, index, axis=axis).squeeze(axis)
                tables[number] = LogTable(tuple([w for w in scope if w != u]), kept)
    return chosen


def _checked_elimination_order(
    component: Sequence[int], tables: Sequence[LogTable], card: Mapping[int, int]
) -> list[int]:
    order, cells = plan_elimination(component, [table.scope for table in tables], card)
    check_elimination_size(component, cells)
    return order


class Bridged(MultiModel):
    """Base of models with tables over features and classes, whose `members` are networks."""

    if TYPE_CHECKING:

        @property
        def members(self) -> tuple[MBC, ...]: ...

    @cached_property
    def _log_tables_by_member(self) -> list[Sequence[Factor]]:
        """The log tables of each network, and the empty table of a class with a single label."""
        found = list[Sequence[Factor]]()
        for member in self.members:
            pairs = zip(member.scopes, member.cpts or (), strict=True)
            tables = [Factor(scope, log(table)[..., None, None]) for scope, table in pairs]
            found.append([*tables, Factor((), np.zeros((1, 1)))])
        return found

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        tables, cards = self._log_tables_by_member, self.class_cardinalities
        variables, first = _with_unknown_labels(rows.codes, cards), len(rows.codes)
        found = []
        for terms in tables:
            results: list[Array] = [np.empty((variables.shape[1], card)) for card in cards]
            for block in slices(variables.shape[1], most=BLOCK_ROWS):
                evidence = log_joint_of_network(terms, variables[:, block])
                beliefs = posteriors_of_families(terms, variables[:, block])
                for i, some, free, shares in beliefs:
                    if i >= first:
                        others = tuple([1 + axis for axis, v in enumerate(free) if v != i])
                        logs = log(shares.sum(axis=others)[..., 0])
                        results[i - first][block][some] = logs + evidence[some]
            found.append(results)
        return [log_mean_exp(logs) for logs in zip(*found, strict=True)]

    def log_joint_at(self, rows: Rows, labels: Codes) -> Array:
        codes = np.concatenate([rows.codes, labels])  # -1 is unknown
        return log_mean_joint_of_networks(self._log_tables_by_member, codes)[:, 0]

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        evidence = self.log_joint_at(rows, np.full_like(labels, -1))
        possible: Mask = evidence > -np.inf
        logs = self.log_joint_at(rows, labels) - np.where(possible, evidence, 0.0)
        return np.where(possible, logs, -float(np.log(prod(self.class_cardinalities))))

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        tables, cards = self._log_tables_by_member, self.class_cardinalities
        variables, first = _with_unknown_labels(rows.codes, cards), len(rows.codes)
        if len(tables) > 1:
            n = prod(cards)
            if n > MOST_COMBINATIONS:
                raise ValueError(
                    f"joint must be False for more than {MOST_COMBINATIONS:,} combinations of "
                    f"labels; got {n:,}. Use joint=False, or mbc, which does not enumerate them."
                )
            hidden, best = range(first, len(variables)), np.empty(len(rows), dtype=np.intp)
            log_joint = partial(log_mean_joint_of_networks, tables)
            for block in slices(len(best), n, MOST_COMBINATIONS):
                logs = score_combinations(log_joint, variables[:, block], hidden, cards)
                best[block] = first_best(logs[..., 0])
            return np.array(np.unravel_index(best, cards))
        [terms] = tables
        labels = np.zeros((len(cards), len(rows)), dtype=np.intp)
        for block in slices(len(rows), most=BLOCK_ROWS):
            own, codes = labels[:, block], variables[:, block]
            for component in components_of_missing(terms, codes, everywhere=True):
                for u, chosen in _best_labels_of_component(component, first).items():
                    own[u - first, component.rows] = chosen
            own[:, log_joint_of_network(terms, codes)[:, 0] == -np.inf] = 0
        return labels


@record
@dataclass(frozen=True, eq=False, repr=False)
class MBC(Bridged, Graph):
    """A multidimensional Bayesian network classifier: an acyclic graph of features and classes.

    It has class variables as parents of features (the bridge), a graph among
    the class variables, and a graph among the features, but any acyclic graph
    is accepted. `mbc` learns the structure, `lp` the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables.
    families : tuple of tuple
        ``(variable, feature parents…, class parents…)`` of each feature and
        then of each class variable, with class parents in the order of
        ``class_vars``.
    levels : tuple of tuple, or None
        Labels of each variable in the order of ``families``; None without data.
    cpts : tuple of read-only arrays, or None
        Conditional probability tables in the order of ``families``; axis i of a
        table is member i of its family. None without parameters.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify.models import MBC
    >>> MBC(("rain", "wind"), (("sky", "rain", "wind"), ("rain",), ("wind", "rain")))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variables: rain, wind
      num. features:   1
      num. arcs:       3
    """

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def _check_graph(self) -> None:
        m = len(self.class_vars)
        last = tuple([family[0] for family in self.families[-m:] if family])
        if not m or last != self.class_vars:
            raise ValueError(
                "families must have one family per variable, with families of "
                f"{listed(self.class_vars)} at the end."
            )
        check_families(self.class_vars[-1], tuple(self.families))
        position = {name: i for i, name in enumerate(self.class_vars)}
        for variable, *parents in self.families:
            order = [position.get(name, -1) for name in parents]
            if order != sorted(order):
                raise ValueError(
                    "families must list feature parents, then class parents in the order of the "
                    f"class variables; got {listed(parents)} as the parents of {shown(variable)}."
                )

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        return tuple([family[0] for family in self.families[: -len(self.class_vars)]])


@record
@dataclass(frozen=True, eq=False, repr=False)
class MAODE(Bridged):
    """An average of networks; in each, another class variable is the parent of the others.

    The features have the same parents and the same tables in all networks,
    which are stored once. `members` returns the networks. `maode` builds the
    structure, `lp` estimates the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables. Each is the parent of the others in one
        member.
    families : tuple of tuple
        ``(feature, feature parents…, class parents…)`` of each feature.
    levels : tuple of tuple, or None
        Labels of each feature, then of each class variable; None without data.
    cpts : tuple of read-only arrays, or None
        Tables of the features in the order of ``families``; None without
        parameters.
    class_cpts : tuple of read-only arrays, or None
        Tables of all class variables in the first member, then in the second,
        and so on.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import load_voting, lp, maode, predict
    >>> voting = load_voting()
    >>> model = lp(maode(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> predict(model, voting.head(2))
      mx_missile crime
    0          n     y
    1          n     y
    """

    bounds = field_bounds(cpts=PROBABILITY, class_cpts=PROBABILITY)
    is_average = True

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    class_cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.cpts is None) != (self.class_cpts is None):
            raise ValueError("cpts and class_cpts must be given together.")
        m = len(self.class_vars)
        if self.class_cpts is not None and len(self.class_cpts) != m * m:
            raise ValueError(f"class_cpts must be {m * m} tables; got {len(self.class_cpts)}.")
        _ = self.members  # each member checks its families and tables

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        return tuple([family[0] for family in self.families])

    @property
    def fitted(self) -> bool:
        return self.cpts is not None

    @cached_property
    def members(self) -> tuple[MBC, ...]:
        m, members = len(self.class_vars), []
        for own in (slice(start, start + m) for start in range(0, m * m, m)):
            families = (*self.families, *self.class_families[own])
            cpts = None if self.cpts is None else (*self.cpts, *(self.class_cpts or ())[own])
            members.append(MBC(self.class_vars, families, self.levels, cpts, self.recipe))
        return tuple(members)

    @property
    def class_families(self) -> tuple[Family, ...]:
        """The families of all class variables in the first member, then in the second, etc."""
        names = self.class_vars
        return tuple([(c,) if c == parent else (c, parent) for parent in names for c in names])

    def arc_shares(self) -> ArcShares:
        return mean_arc_shares(self.members, [1 / len(self.members)] * len(self.members))

    @property
    def _families_to_count(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys((*self.families, *self.class_families)))

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        families = [[data.positions[v] for v in family] for family in self._families_to_count]
        return count_families(data, families)

    def tabulate(self, tally: Tally) -> MAODE:
        tables = tables_from_counts(tally.counts, tally.prior)
        by_family = dict(zip(self._families_to_count, tables, strict=True))
        return replace(
            self,
            cpts=tuple([by_family[family] for family in self.families]),
            class_cpts=tuple([by_family[family] for family in self.class_families]),
            learned={"counts": tally},
        )


Parents = tuple[int, ...]

_shared = with_shared_text(
    {
        "{data}": """\
class_vars : list of str
    Names of the class variables.
dataset : pandas.DataFrame, Dataset, or partitioned data
    Data with the class variables. All other columns are features.""",
        "{search}": """\
ess : float, default 1
    Equivalent sample size of "bde".
max_parents : int, default 1
    Maximum number of class parents of a feature. All sets up to this size
    are scored.
progress : bool, optional
    Whether to show a progress bar; by default after 3 seconds, in an
    interactive session.""",
    }
)


@_shared
@record
def mbc(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    classes: Literal["tree", "empty"] = "tree",
    features: Literal["tree", "empty"] = "empty",
    score: ScoreName = "bic",
    ess: float = 1,
    max_parents: int = 1,
    progress: bool | None = None,
) -> MBC:
    """Learn a multidimensional Bayesian network classifier (MBC).

    The class variables that a feature depends on become its parents, so that
    evidence about one class variable changes the posteriors of the others. With
    both graphs empty, this is the multidimensional naive Bayes, and with two
    trees the tree-augmented classifier [1]_.

    Parameters
    ----------
    {data}
    classes : {"tree", "empty"}, default "tree"
        Graph among the class variables: the maximum-weight spanning tree of
        mutual information (Chow-Liu), directed away from the first class
        variable, or no arcs.
    features : {"empty", "tree"}, default "empty"
        Graph among the features: no arcs, or the best tree given the class
        parents of the features.
    score : {"bic", "bde", "aic", "k2", "loglik"}, default "bic"
        Score for the choice of the class parents of a feature, as in
        `network_score`.
    {search}

    Returns
    -------
    MBC
        A structure without parameters; `lp` estimates them.

    Notes
    -----
    Among tied sets of class parents (within 1e-9), the smallest is chosen, then
    the first. In the tree of features, the weight of an arc p → v is N I(v; p |
    class parents of v), and the tree is a maximum arborescence (Edmonds). Rows
    without some class variables count for the families that they have. In
    prediction, missing features are marginalized over exactly.

    References
    ----------
    .. [1] van der Gaag, L. C., de Waal, P. R. (2006). Multi-dimensional
       Bayesian network classifiers. PGM 2006.
    .. [2] Bielza, C., Li, G., Larrañaga, P. (2011). Multi-dimensional
       classification with Bayesian networks. International Journal of
       Approximate Reasoning 52.

    Examples
    --------
    >>> from bnclassify import families, load_voting, lp, mbc, predict
    >>> voting = load_voting()
    >>> structure = mbc(["mx_missile", "immigration", "crime"], voting)
    >>> families(structure)["el_salvador_aid"], families(structure)["immigration"]
    (('el_salvador_aid', 'mx_missile'), ('immigration', 'crime'))
    >>> model = lp(structure, voting, smooth=1)
    >>> predict(model, voting.loc[[97]], joint=True, prob=True).round(2)
       mx_missile immigration crime  probability
    97          n           y     y         0.27
    """
    names = _check_class_vars(class_vars)
    given = {"classes": classes, "features": features}
    graphs = {name: OneOf(("tree", "empty")).check(name, value) for name, value in given.items()}
    settings = _score_settings(score, ess, max_parents)
    data = prepare_training_data(dataset, names, named_by="class_vars")
    bridge = _choose_class_parents(data, progress, **settings)
    n, m = len(bridge), len(names)
    feature_parents, class_parents = list[Parents]([()] * n), list[Parents]([()] * m)
    if features == "tree":  # with the largest gain in log-likelihood
        scores = LocalScores(data, "loglik")
        scores.count_families_ahead([(v, *own) for v, own in enumerate(bridge)])
        gains = [scores.gains_by_added_parent(v, own)[:n] for v, own in enumerate(bridge)]
        tree = maximum_arborescence(np.maximum(gains, 0.0).T)
        feature_parents = [(p,) if p >= 0 else () for p in tree]
    if classes == "tree":  # of maximum information, rooted at the first class
        pairs = pair_statistics(data, range(n, n + m), None)
        tree = max_forest_parents(pairs.information, pairs.rows > 0, roots=range(m))
        class_parents = [(n + p,) if p >= 0 else () for p in tree]
    parents = [(*p, *c) for p, c in zip(feature_parents, bridge, strict=True)] + class_parents
    recipe = Recipe(names, Step("mbc", mbc, graphs | settings))
    return MBC(names, _families_by_name(data, parents), data.levels, recipe=recipe)


@_shared
@record
def maode(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    score: ScoreName = "bic",
    ess: float = 1,
    max_parents: int = 1,
    progress: bool | None = None,
) -> MAODE:
    """Build an average of networks, each with another class as the parent.

    The root of the class variables need not be chosen, because each of them is
    the root of one network.

    Parameters
    ----------
    {data}
    score : {"bic", "bde", "aic", "k2", "loglik"}, default "bic"
        Score for the choice of the class parents of a feature. All networks
        share these parents.
    {search}

    Returns
    -------
    MAODE
        A structure without parameters; `lp` estimates them.

    Notes
    -----
    P(classes, features) is the mean of the joint distributions of the members.
    Posteriors, the most probable combination of labels and the marginalization
    over missing features follow from it. The paper [1]_ pools the logs of the
    members instead.

    References
    ----------
    .. [1] Antonucci, A., Corani, G., Mauá, D. D., Gabaglio, S. (2013). An
       ensemble of Bayesian networks for multilabel classification. IJCAI 2013.

    Examples
    --------
    >>> from bnclassify import load_voting, lp, maode, members, predict
    >>> voting = load_voting()
    >>> model = lp(maode(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> len(members(model))
    2
    >>> predict(model, voting.loc[[183]], prob=True).round(2)
        mx_missile       crime
                 n     y     n     y
    183       0.36  0.64  0.65  0.35
    """
    names = _check_class_vars(class_vars)
    settings = _score_settings(score, ess, max_parents)
    data = prepare_training_data(dataset, names, named_by="class_vars")
    families = _families_by_name(data, _choose_class_parents(data, progress, **settings))
    return MAODE(names, families, data.levels, recipe=Recipe(names, Step("maode", maode, settings)))


def _check_class_vars(class_vars: object) -> tuple[Hashable, ...]:
    if isinstance(class_vars, pd.DataFrame):
        remedy = "The class variables are the first argument, and the data are the second."
        raise TypeError(must_be("class_vars", "a list of names", class_vars, remedy))
    names = Names(filled=True).check("class_vars", class_vars)
    for name in names:
        check_column_name(name, "class_vars")
    return names


def _score_settings(score: str, ess: float, max_parents: int) -> dict[str, Any]:
    ess = check_score_and_ess(score, ess)
    settings = {"score": score, "max_parents": Whole().check("max_parents", max_parents)}
    return settings | ({"ess": ess} if score == "bde" else {})


def _families_by_name(data: Countable, parents: Sequence[Parents]) -> tuple[Family, ...]:
    return tuple(
        [(data.columns[v], *(data.columns[p] for p in ps)) for v, ps in enumerate(parents)]
    )


def _choose_class_parents(
    data: Countable, progress: bool | None, *, score: str, max_parents: int, ess: float = 1
) -> list[Parents]:
    """Return each feature's class parents with the largest gain over none, by position."""
    n, m = len(data.features), len(data.targets)
    warn_of_fractional_weights(data, score)
    scores = LocalScores(data, score, ess)
    best = [0.0] * n
    chosen: list[Parents] = [()] * n
    sizes = range(1, min(max_parents, m) + 1)
    total = sum(comb(m, size) for size in sizes)
    with progress_bar(progress, total=total, desc="class parents", unit=" sets") as bar:
        for size in sizes:
            sets = list(combinations(range(n, n + m), size))
            scores.counts.prefetch([], [(v, *classes) for classes in sets for v in range(n)])
            for classes in sets:
                for v in range(n):
                    if (gain := scores.gain_over_no_parents(v, classes)) > best[v] + TOLERANCE:
                        best[v], chosen[v] = gain, classes
                bar.update()
    return chosen


@_shared
@record
def chain(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    learner: str | Callable[..., Model] = "nb",
    order: Sequence[Hashable] | None = None,
    orders: int | Sequence[Sequence[Hashable]] | None = None,
    dag_args: Mapping[str, Any] | None = None,
    rng: Seed = None,
) -> Chain | ChainEnsemble:
    """Learn a chain of structures, each with earlier classes as features.

    Parameters
    ----------
    {data}
    learner : str or callable, default "nb"
        Learner of structure, or its name, such as "tan_cl".
    order : list of str, optional
        Class variables in the order of the chain. By default, the order of
        `class_vars`.
    orders : int or list of orders, optional
        Learn an ensemble of chains in place of one: their orders, or their
        number. The first of a number of chains has the order of `class_vars`,
        the others have random orders, which can be equal.
    dag_args : dict, optional
        Additional arguments of the learner, the same for all class variables.
    rng : int or numpy.random.Generator, optional
        Seed of random orders.

    Returns
    -------
    Chain or, with `orders`, ChainEnsemble
        A structure without parameters; `lp` estimates them, by any of its
        methods.

    Notes
    -----
    P(c_1 … c_m | features) = Π P(c_j | features, c_1 … c_{j−1}), where each
    factor is the posterior of a classifier of one class variable. `predict`
    enumerates all combinations of labels if there are at most 65,536. Beyond
    that, or with ``greedy=True``, it predicts one class variable after the
    other, given the labels predicted before. Rows without a class variable are
    excluded only from the model of that variable. Missing features are treated
    as in the models of the chain.

    The posteriors of an ensemble are means over its chains: of the labels of
    each class variable, and with ``joint=True`` of combinations of labels. If
    these are too many, or with ``greedy=True``, the best of the combinations
    that the chains predict is returned.

    References
    ----------
    .. [1] Dembczyński, K., Cheng, W., Hüllermeier, E. (2010). Bayes optimal
       multilabel classification via probabilistic classifier chains. ICML 2010.
    .. [2] Read, J., Pfahringer, B., Holmes, G., Frank, E. (2011). Classifier
       chains for multi-label classification. Machine Learning 85.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members, predict
    >>> voting = load_voting().dropna()
    >>> bic = {"score": "bic"}
    >>> structure = chain(["mx_missile", "crime"], voting, learner="tan_cl", dag_args=bic)
    >>> "mx_missile" in members(structure)[1].features
    True
    >>> predict(lp(structure, voting, smooth=1), voting.head(1), joint=True, prob=True).round(3)
      mx_missile crime  probability
    5          n     n        0.813
    """
    names = _check_class_vars(class_vars)
    Instance(Mapping | None, "a dict of arguments of the learner").check("dag_args", dag_args)
    options = dict(dag_args or {})
    if order is not None and orders is not None:
        raise ValueError(must_be("order", "None if orders are given", order, "Add it to orders."))
    chain_orders: tuple[tuple[Hashable, ...], ...] = (names,)
    if isinstance(orders, int | Integral):
        generator, n = check_rng(rng), Whole(least=1, most=10_000).check("orders", orders)
        drawn = [generator.permutation(len(names)).tolist() for _ in range(n - 1)]
        chain_orders += tuple([tuple([names[i] for i in own]) for own in drawn])
    else:
        given = [names if order is None else order] if orders is None else orders
        Instance(Sequence, "a number of chains, or a list of orders").check("orders", given)
        chain_orders = tuple([Names().check("order", own) for own in given])
    for own in chain_orders:
        if set(own) != set(names):
            raise ValueError(must_be("order", "a list of all class variables", list(own)))
    if not chain_orders:
        raise ValueError("orders must have at least one order; got none. Pass a number of chains.")
    function = find_learner(learner, "learner")
    check_arguments(function, options, "dag_args", supplied=("class_var", "dataset"))
    data = prepare_training_data(dataset, names, named_by="class_vars")

    def chain_recipe(**of_order: Any) -> Recipe:
        settings = {"learner": learner, **of_order, "dag_args": options}
        return Recipe(
            names, Step("chain", chain_again, settings, draws="rng" in parameters_of(function))
        )

    chains = []
    for own in chain_orders:
        links = []
        for i, name in enumerate(own):
            selected: Any = data.select((*data.features, *own[:i], name))
            rows = prepare_training_data(selected, (name,), warns=False)
            link = function(name, dataset=rows, **options)
            if not isinstance(link, Model) or not link.one_class:
                expected = "a function that returns a structure of one class variable"
                raise TypeError(f"learner must be {expected}; it returned {shown(link)}.")
            links.append(link)
        chains.append(Chain(names, tuple(links), chain_recipe(order=own)))
    if orders is None:
        return chains[0]
    return ChainEnsemble(names, tuple(chains), chain_recipe(orders=chain_orders))


@record
def chain_again(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    dag_args: Mapping[str, Any],
    rng: np.random.Generator | None = None,
    **settings: Any,
) -> Chain | ChainEnsemble:
    """Learn chains again, with draws of the learner from `rng` if given."""
    drawn = {} if rng is None else {"rng": rng}
    return chain(class_vars, dataset, dag_args={**dag_args, **drawn}, **settings)
