"""Learners that compute a structure from counts: counts become families.

`nb` and `anb` need no counts, only the names and levels of the variables.
`tan_cl` and `chow_liu` compute the weight of each possible arc from the tables
of pairs and find the maximum-weight spanning tree. `kdb_mi` and `spode` rank
features by their information about the class. Rules can require and forbid
arcs. The local scores of families serve the annexes that search for general
networks. `LEARNERS` has all learners by name, also those of the annexes.

A learner needs this chapter and counts. It is a function of the
class and the data:

- `prepare_training_data` checks and encodes the data, in memory or in parts.
  ``data.features`` are the names of the features, whose positions come before
  that of the class.
- Functions of `counts` count.
- `network` builds the result. The `Step` has the name of the learner, its
  function and the values of its arguments, so that `cv` repeats it.

>>> from bnclassify import bnc, cv, load_car, modelstring
>>> from bnclassify.counts import mutual_information
>>> from bnclassify.structure import Step, network, prepare_training_data
>>> def star(class_var, dataset, *, least=0.0):
...     # The feature with the most information on the class is a parent of the others.
...     data = prepare_training_data(dataset, (class_var,))
...     own = len(data.features)  # the position of the class
...     nats = [mutual_information(data, i, own)[0] for i in range(own)]
...     best = data.features[nats.index(max(nats))]
...     parents = {
...         name: (best,) if name != best and value >= least else ()
...         for name, value in zip(data.features, nats)
...     }
...     return network(class_var, parents, data.schema, Step("star", star, {"least": least}))
>>> car = load_car()
>>> model = bnc(star, "class", car, smooth=1, dag_args={"least": 0.05})
>>> modelstring(model)
'[class] [doors|class] [lug_boot|class] [safety|class] [buying|safety:class]
 [maint|safety:class] [persons|safety:class]'
>>> round(cv(model, car, k=5, rng=0), 3)
0.861
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from itertools import chain
from math import log as ln
from math import prod
from typing import Any, Literal, cast

import numpy as np

from .accessors import check_bnc, is_anb
from .classifiers import (
    BNC,
    LEAST_AMOUNT,
    MOST_ESS,
    Dirichlet,
    EquivalentSize,
    Family,
    check_families,
)
from .counts import (
    Counts,
    FamilyCounts,
    Scope,
    arc_scores,
    log_rising_factorial,
    n_log_n_function,
    pair_informations,
    pair_statistics,
)
from .dataset import Columns, Countable, Schema
from .elimination import Numbers, numbers_as_setting, numeric_columns_of
from .frames import (
    AnyTable,
    TrainingData,
    mark_as_averaging,
    open_data,
    prepare_training_data,
    schema_and_features,
)
from .model import Model, Recipe, Step, is_recipe_running
from .tools.arrays import TOLERANCE, Array, Mask, Positions, Slice, first_best
from .tools.calls import parameters_of, with_call_advice
from .tools.checks import (
    Instance,
    ListOf,
    OneOf,
    Real,
    ScoreName,
    Whole,
    check_column_name,
    must_be,
)
from .tools.graphs import descending_order, find_cycle, max_forest_parents, spanning_tree_posterior
from .tools.immutable import EMPTY, record
from .tools.messages import did_you_mean, listed, shown, warn

# The table of learners of structure by name, for `bnc`.


LEARNERS: dict[str, Callable[..., Model]] = {}
"""The learners that `bnc` accepts by name; the package adds them when it is imported."""


def add_learners(*learners: Callable[..., Model]) -> None:
    LEARNERS.update({learner.__name__: record(learner) for learner in learners})


_ORDER = "The learner is the first argument, the class the second, the data the third."


def find_learner(learner: object, argument: str) -> Callable[..., Model]:
    """Return a learner of structure given as a function or by name, or raise."""
    if isinstance(learner, str) and learner in LEARNERS:
        return LEARNERS[learner]
    if callable(learner) and not isinstance(learner, type):
        takes = parameters_of(learner)
        if "dataset" in takes or any(p.kind is Parameter.VAR_KEYWORD for p in takes.values()):
            return learner
        raise TypeError(
            f"{argument} must be a function learner(class_var, dataset=...); {shown(learner)} has "
            "no argument 'dataset'. Give the argument of the data this name."
        )
    raise ValueError(
        f"{argument} must be a function or one of {listed(LEARNERS)}; got "
        f"{shown(learner)}. "
        f"{did_you_mean(learner, LEARNERS) if isinstance(learner, str) else _ORDER}".rstrip()
    )


# Required and forbidden arcs, and initial structures.


Arc = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class ArcRules:
    """Required and forbidden arcs (from, to) or, unless `directed`, pairs of ends."""

    required: tuple[Arc, ...]
    forbidden: tuple[Arc, ...]
    directed: bool = True

    @classmethod
    def check(
        cls,
        required: Iterable[Arc],
        forbidden: Iterable[Arc],
        columns: Collection[Hashable],
        *,
        directed: bool = True,
        apart: Hashable | None = None,
    ) -> ArcRules:
        """Return checked rules for `columns`; arcs must not have `apart`, the class, as an end."""
        rules = cls(
            _check_arcs("required", required), _check_arcs("forbidden", forbidden), directed
        )
        is_column = OneOf(columns, "pairs of columns that are not numbers without a cut point")
        for argument, arcs in (("required", rules.required), ("forbidden", rules.forbidden)):
            for arc in arcs:
                for name in arc:
                    is_column.check(argument, name)
            lost = [arc for arc in arcs if apart is not None and apart in arc]
            if lost:
                raise ValueError(
                    f"{argument} must be arcs between features, as the class is a parent of every "
                    f"feature; got {arcs_in_words(lost)}. Use hc or chow_liu for other networks."
                )
        both = [arc for arc in rules.required if rules.forbids_arc(arc)]
        if both:
            raise ValueError(
                f"required and forbidden must not share arcs; got {arcs_in_words(both)} in both."
            )
        return rules

    def forbids_arc(self, arc: Arc) -> bool:
        return arc in self.forbidden or (not self.directed and arc[::-1] in self.forbidden)

    def recipe_settings(self) -> dict[str, Any]:
        """Return the arguments for the recipe, without those at their defaults."""
        arcs = {"required": self.required, "forbidden": self.forbidden}
        return {name: value for name, value in arcs.items() if value}

    def rules_for_columns(self, names: Collection[Hashable]) -> ArcRules:
        """Return the rules for arcs between some columns."""
        kept = [
            [arc for arc in arcs if set(names).issuperset(arc)]
            for arcs in (self.required, self.forbidden)
        ]
        return ArcRules(tuple(kept[0]), tuple(kept[1]), self.directed)

    def check_numbers_are_leaves(self, numbers: Collection[Hashable]) -> None:
        """Raise if required arcs make a number a parent or, as pairs, give it several parents."""
        ends = [arc for arc in self.required if arc[0] in numbers]
        if not self.directed:
            of_numbers = [[arc for arc in self.required if name in arc] for name in numbers]
            ends = [arc for arc in self.required if set(numbers).issuperset(arc)]
            ends = ends or [arc for arcs in of_numbers if len(arcs) > 1 for arc in arcs]
        if ends:
            limit = "without children" if self.directed else "without children and with one parent"
            raise ValueError(
                f"required must leave numbers {limit}; got {arcs_in_words(ends)}. Discretize them."
            )

    def required_and_forbidden_masks(self, columns: Sequence[Hashable]) -> tuple[Mask, Mask]:
        """Return which arcs between columns are required, and which are forbidden, (from, to)."""
        position = {name: i for i, name in enumerate(columns)}
        matrices = np.zeros((2, len(columns), len(columns)), dtype=bool)
        for matrix, arcs in zip(matrices, (self.required, self.forbidden), strict=True):
            for source, target in arcs:
                matrix[position[source], position[target]] = True
                matrix[position[target], position[source]] |= not self.directed
        return matrices[0], matrices[1]

    def add_required_parents(
        self,
        parents: Mapping[Hashable, Sequence[Hashable]],
        argument: str = "",
        most: int | None = None,
    ) -> dict[Hashable, list[Hashable]]:
        """Return the parents of each variable with required ones, at most `most`, or raise."""
        start = {name: list(names) for name, names in parents.items()}
        for source, target in self.required:
            if source not in start[target] and (self.directed or target not in start[source]):
                start[target].append(source)
        lost = [
            (p, name) for name, names in start.items() for p in names if self.forbids_arc((p, name))
        ]
        if lost:
            raise ValueError(
                "forbidden must not contain arcs of the initial structure; got "
                f"{arcs_in_words(lost)}. Start from a structure without them."
            )
        cycle = find_cycle(start)
        if cycle:
            raise ValueError(
                "required must not form a cycle with the initial arcs; got "
                f"{' -> '.join(map(str, cycle))}. Drop one of these arcs."
            )
        for target, sources in start.items():
            if most is not None and len(sources) > most:
                raise ValueError(
                    f"{argument} must be at least {len(sources)} for the initial structure; got "
                    f"{most}. Drop some of {arcs_in_words((source, target) for source in sources)}."
                )
        return start


def _check_arcs(argument: str, arcs: object) -> tuple[Arc, ...]:
    expected = "pairs of names such as [('a', 'b')]"
    pairs = ListOf(expected).check(argument, arcs)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(must_be(argument, expected, pair))
        if pair[0] == pair[1]:
            raise ValueError(
                f"{argument} must not contain an arc from a variable to itself; got "
                f"{arcs_in_words([pair])}."
            )
    return tuple((source, target) for source, target in pairs)


def arcs_in_words(arcs: Iterable[Sequence[Hashable]]) -> str:
    pairs = list(arcs)
    rest = f" and {len(pairs) - 8} more" if len(pairs) > 8 else ""
    return ", ".join(f"{shown(source)} -> {shown(target)}" for source, target in pairs[:8]) + rest


def parents_in_start(
    start: BNC | None,
    class_var: Hashable,
    columns: Collection[Hashable],
    *,
    augmented: bool = False,
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the parents in an initial structure, without the class if `augmented`; {} for None."""
    if start is None:
        return {}
    Instance(BNC, "a structure such as nb(class_var, dataset)").check("start", start)
    is_column = OneOf(columns, "a network over columns of `dataset`")
    for variable in start.variables:
        is_column.check("start", variable)
    parents = {family[0]: family[1:] for family in start.families}
    if not augmented:
        return parents
    if start.class_var != class_var or not is_anb(start):
        arcs = arcs_in_words((p, v) for v, ps in parents.items() for p in ps)
        raise ValueError(
            "start must be a structure with the class as a parent of every feature and without "
            f"class parents; got arcs {arcs}. "
            "Use hc for other structures."
        )
    return {
        v: tuple([p for p in ps if p != class_var]) for v, ps in parents.items() if v != class_var
    }


# Networks that learners return: the parents of each feature, the levels, and the recipe.


def network(
    class_var: Hashable,
    parents: Mapping[Hashable, Sequence[Hashable]],
    schema: Schema | None,
    step: Step,
    trace: Mapping[str, Any] = EMPTY,
) -> BNC:
    """Build a network from the parents of each variable.

    If ``parents`` has only features, they are the feature parents of an
    augmented naive Bayes, in which the class is a parent of each feature.
    ``schema`` is that of the data, or None if the network is built without
    data. ``step`` is the call that the recipe repeats, and ``trace`` has
    results of the search, by name.
    """
    if class_var not in parents:
        with_class = {feature: (*names, class_var) for feature, names in parents.items()}
        parents = {**with_class, class_var: ()}
    families = families_from_parents(class_var, parents)
    levels = None if schema is None else schema.select([family[0] for family in families]).levels
    return BNC(
        class_var, families, levels, recipe=Recipe.from_step(class_var, step, schema), trace=trace
    )


def families_from_parents(
    class_var: Hashable, parents: Mapping[Hashable, Sequence[Hashable]]
) -> tuple[Family, ...]:
    """Return families with that of the class at the end, and the class as the last parent."""
    ordered = dict(parents)
    ordered[class_var] = ordered.pop(class_var)
    families = []
    for variable, own in ordered.items():
        families.append((variable, *sorted(own, key=lambda parent: parent == class_var)))
    return tuple(families)


# Structures without search: naive Bayes, and structures given by the user.


def features_for_recipe(
    dataset: object, features: object, chosen: tuple[Hashable, ...]
) -> tuple[Hashable, ...] | None:
    """Return the features that the recipe selects from other data; None for all columns."""
    return None if features is None and dataset is not None else chosen


@mark_as_averaging
@with_call_advice("Pass features by name: nb(class_var, dataset, features=[...]).")
def nb(
    class_var: Hashable,
    dataset: AnyTable | Countable | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Build a naive Bayes: the class is the only parent of every feature.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data with the levels of each variable. By default, all columns except
        the class are features. Columns of type float in a data frame may be
        numbers, and `lp` then requires ``numbers``.
    features : list of str, optional
        Names of the features; with `dataset`, a selection of its columns. By
        default all of them, or none without `dataset`.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    References
    ----------
    .. [1] Minsky, M. (1961). Steps toward artificial intelligence. Proceedings
       of the IRE 49.

    Examples
    --------
    >>> from bnclassify import load_car, nb
    >>> nb("class", load_car())
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variable:     class
      num. features:      6
      arcs:               none between features
      learning algorithm: nb
    """
    schema, chosen = schema_and_features(dataset, class_var, features, numeric=True)
    step = Step("nb", nb, {"features": features_for_recipe(dataset, features, chosen)})
    return network(class_var, dict.fromkeys(chosen, ()), schema, step)


@mark_as_averaging
def anb(
    class_var: Hashable,
    parents: Mapping[Hashable, Sequence[Hashable]],
    dataset: AnyTable | Countable | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Build an augmented naive Bayes with given arcs between features.

    Parameters
    ----------
    class_var : str
        Name of the class variable, which is a parent of every feature and is
        not listed in `parents`.
    parents : mapping
        The list of the feature parents of each feature; a string is a single
        parent. Other features have no feature parents.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data with the features and their levels; numbers, as in `nb`, cannot be
        parents.
    features : list of str, optional
        Names of the features. By default and without `dataset`, these are the
        names in `parents`.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Examples
    --------
    >>> from bnclassify import anb, load_car, modelstring
    >>> modelstring(anb("class", {"maint": ["buying"]}, load_car(), features=["buying", "maint"]))
    '[class] [buying|class] [maint|buying:class]'
    """
    Instance(Mapping, "a dict of features and the lists of their parents").check("parents", parents)
    given = dict[Hashable, Family]()
    for name, names in parents.items():
        own = [names] if isinstance(names, str) else names
        given[name] = tuple(ListOf(f"the parents of {shown(name)}").check("parents", own))
        for parent in given[name]:
            check_column_name(parent, "parents")
    mentioned = tuple(dict.fromkeys(chain.from_iterable((f, *ps) for f, ps in given.items())))
    if class_var in mentioned:
        raise ValueError(
            f"parents must contain only features; got the class {shown(class_var)}, which is a "
            "parent of every feature. Omit it."
        )
    if dataset is None and features is None:
        features = mentioned
    schema, chosen = schema_and_features(dataset, class_var, features, numeric=True)
    is_feature = OneOf(chosen, "a dict of features")
    for name in mentioned:
        is_feature.check("parents", name)
    of_chosen = {name: given.get(name, ()) for name in chosen}
    families = [(name, *names, class_var) for name, names in of_chosen.items()]
    check_families(class_var, (*families, (class_var,)), origin="parents")
    kept = features_for_recipe(dataset, features, chosen)
    step = Step("anb", anb_again, {"parents": tuple(given.items()), "features": kept})
    return network(class_var, of_chosen, schema, step)


@record
def anb_again(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    parents: tuple[tuple[Hashable, Family], ...],
    features: tuple[Hashable, ...] | None = None,
) -> BNC:
    return anb(class_var, dict(parents), dataset, features=features)


def from_modelstring(text: str, class_var: Hashable) -> BNC:
    """Read a structure in bnlearn's notation, as `modelstring` writes it.

    Parameters
    ----------
    text : str
        One bracket per variable, ``[child|parent:parent]``, in any order, with
        or without spaces between them.
    class_var : str
        Name of the class variable, which can have parents and need not be a
        parent of every feature.

    Returns
    -------
    BNC
        Structure without parameters, with the features in the order of the
        text.

    Raises
    ------
    TypeError, ValueError
        If the text has another form or a cycle, or a parent or the class has no
        bracket.

    References
    ----------
    .. [1] Scutari, M. (2010). Learning Bayesian networks with the bnlearn R
       package. Journal of Statistical Software 35.

    Examples
    --------
    >>> from bnclassify import families, from_modelstring
    >>> families(from_modelstring("[class][buying|class][maint|buying:class]", "class"))["maint"]
    ('maint', 'buying', 'class')
    """
    for argument, value in (("text", text), ("class_var", class_var)):
        Instance(str, "text").check(argument, value)
    bracket = r"\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]"
    brackets = re.findall(bracket, text)
    names = [name for name, _ in brackets]
    is_read = brackets and not re.sub(bracket, "", text).strip()
    if not is_read or len(set(names)) < len(names):
        raise ValueError(
            must_be("text", "one bracket per variable, such as '[class] [x|class]'", text)
        )
    OneOf(names).check("class_var", class_var)
    parents = {name: tuple(above.split(":")) if above else () for name, above in brackets}
    return network_with_families(
        class_var, parents, Step("from_modelstring", fixed_again), origin="text"
    )


def network_with_families(
    class_var: Hashable, parents: Mapping[Hashable, Sequence[Hashable]], step: Step, *, origin: str
) -> BNC:
    """Build any network from the parents of each variable, for its recipe; errors name `origin`."""
    families = families_from_parents(class_var, parents)
    check_families(class_var, families, origin=origin)
    recipe_step = replace(step, settings={"families": families})
    return BNC(
        class_var, families, recipe=Recipe(class_var, recipe_step, features_of_families(families))
    )


@record
def fixed_again(
    class_var: Hashable, dataset: AnyTable | Countable, *, families: tuple[Family, ...]
) -> BNC:
    """Build a network from its families again, with the levels of data."""
    names = features_of_families(families)
    schema, _ = schema_and_features(dataset, class_var, names)
    levels = None if schema is None else schema.select((*names, class_var)).levels
    return BNC(class_var, families, levels)


def features_of_families(families: Sequence[Family]) -> tuple[Hashable, ...]:
    return tuple([family[0] for family in families[:-1]])


# Decomposable scores of families and of structures.


Amount = float | Array


@dataclass(frozen=True, eq=False)
class DecomposableScore:
    """A score of a family: Σ_jk f(N_jk, a) − Σ_j f(N_j, r a) − penalty · (r − 1) q.

    k are the r levels of the variable, j the q configurations of its parents,
    `term` is f, which is 0 where a count is 0, and `pseudo_counts` returns a
    from r and q.
    """

    term: Callable[[Counts, Amount], Array]
    pseudo_counts: Callable[..., Amount]
    penalty: float


SCORE_NAMES = ("loglik", "aic", "bic", "bde", "k2")


SCORES_OF_EM = ("bic", "aic", "loglik")

WITH_MISSING_VALUES: dict[str, Callable[..., Any]] = {}
"""Searches in incomplete rows by the value of `missing`; structural EM adds itself."""


def check_missing_option(missing: object, usual: str, score: str) -> None:
    if OneOf((usual, "em")).check("missing", missing) == "em":
        OneOf(SCORES_OF_EM).check("score", score)


def check_score_and_ess(score: object, ess: object) -> float:
    """Return `ess`; raise an error if a score is unknown or `ess` is out of range."""
    OneOf(SCORE_NAMES).check("score", score)
    size: float = Real(LEAST_AMOUNT, MOST_ESS).check("ess", ess)
    return size


def check_no_missing_values(data: Countable) -> None:
    """Raise a ValueError that names the incomplete columns."""
    partial = [name for name, lacks in zip(data.columns, data.incomplete, strict=True) if lacks]
    if partial:
        raise ValueError(
            "dataset must have no missing values, because all families are scored on the same "
            f"rows; got missing values in {listed(partial)}. Exclude incomplete rows with "
            ".dropna(), make missing a level with .fillna('missing') or bnc(..., "
            "missing_level=True), or learn by hc, ban or tan_cl with missing='em', in bnc with "
            "dag_args={'missing': 'em'}."
        )


def warn_of_fractional_weights(data: Countable, score: str) -> None:
    """Warn if a score depends on the number of rows and weights cannot be frequencies."""
    if score == "loglik" or not data.is_weighted or data.cases is not None or is_recipe_running():
        return
    rows, fractions = data.n_positive_and_fractional
    if fractions and data.size < rows:
        warn(
            f"the weights of `dataset` sum to {data.size:g}, less than the number of its rows, "
            f"{rows:,}. {score} treats weights as frequencies, so it finds too many arcs or too "
            "few. For survey weights, use encode(..., weights_are='cases')."
        )


class LocalScores:
    """Cached scores of families of the columns of data; `ess` is for "bde"."""

    def __init__(self, data: Countable, score: str, ess: float = 1) -> None:
        self.counts = FamilyCounts(data)
        if score in ("bde", "k2"):  # log marginal likelihoods
            prior = EquivalentSize(ess) if score == "bde" else Dirichlet(1)
            self.score = DecomposableScore(log_rising_factorial, prior.pseudo_count_per_cell, 0.0)
        else:  # Σ N_jk ln(N_jk / N_j) minus a penalty
            penalties = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * ln(data.size or 1)}
            n_log_n = n_log_n_function(data)
            self.score = DecomposableScore(
                lambda n, _: n_log_n(n), lambda r, q: 0, penalties[score]
            )
        self._families: dict[tuple[int, frozenset[int]], float] = {}
        self._gains: dict[tuple[int, frozenset[int]], Array] = {}

    def count_families_ahead(self, families: Iterable[Scope], others: Iterable[Scope] = ()) -> None:
        """Count families to be scored, with or without gains, in one pass over partitioned data."""
        wanted = [
            family for family in families if (family[0], frozenset(family[1:])) not in self._gains
        ]
        alone = [
            family for family in others if (family[0], frozenset(family[1:])) not in self._families
        ]
        self.counts.prefetch(wanted, alone)

    def score_of_family(self, variable: int, parents: Sequence[int]) -> float:
        key = variable, frozenset(parents)
        if key not in self._families:
            r, q = self._levels_and_configurations(variable, parents)
            fit = self._unpenalized_score(self.counts.count_family((variable, *parents)), r, q)
            self._families[key] = float(fit) - self.score.penalty * (r - 1) * q
        return self._families[key]

    def gains_by_added_parent(self, variable: int, parents: Sequence[int]) -> Array:
        """Return the gain of each column as a further parent, (columns,), over complete rows."""
        key = variable, frozenset(parents)
        if key not in self._gains:
            r, q = self._levels_and_configurations(variable, parents)
            penalty = self.score.penalty * (r - 1) * q
            result = np.asarray(penalty * (1.0 - self.counts.cards), dtype=np.float64)
            family, fit = (variable, *parents), np.array(np.nan)
            if self.counts.is_sparse(family):
                for column, both, alone in self.counts.count_occurring_extensions(family):
                    fit = self._sum_of_terms(alone, r, q)
                    result[column] += self._sum_of_terms(both, r, q * self.counts.cards[column])
                    result[column] -= fit
            else:
                for columns, table in self.counts.count_extensions(family):
                    gains, fit = self._unpenalized_gains_and_score(table, columns, r, q)
                    result[columns] += gains
            self._gains[key] = result
            if self.counts.is_complete and not np.isnan(fit):  # spares counting the family alone
                self._families[key] = float(fit) - penalty
        return self._gains[key]

    def gain_over_no_parents(self, variable: int, parents: Sequence[int]) -> float:
        """Return the gain of a variable by these parents instead of none, over complete rows."""
        r, q = self._levels_and_configurations(variable, parents)
        table = self.counts.count_family((variable, *parents))
        alone = self._unpenalized_score(table.sum(axis=1, keepdims=True), r, 1.0)
        n_added = (r - 1) * (q - 1)  # parameters
        return float(self._unpenalized_score(table, r, q) - alone) - self.score.penalty * n_added

    def score_of_network(self, parents: Sequence[Sequence[int]]) -> float:
        self.count_families_ahead([], [(variable, *ps) for variable, ps in enumerate(parents)])
        return sum(self.score_of_family(variable, ps) for variable, ps in enumerate(parents))

    def _levels_and_configurations(
        self, variable: int, parents: Sequence[int]
    ) -> tuple[int, float]:
        cards = self.counts.data.cards
        return cards[variable], float(prod([cards[parent] for parent in parents]))

    def _unpenalized_score(self, table: Counts, r: int, q: Amount) -> Array:
        """Return Σ_jk f(N_jk, a) − Σ_j f(N_j, r a) for levels k, configurations j.

        Example: the log-likelihood, where f is n ln n, of levels and
        configurations with the counts [[3, 1], [0, 2]] is 3 ln 3 + 2 ln 2 − 3
        ln 3 − 3 ln 3 = −1.9.
        """
        term, a = self.score.term, self.score.pseudo_counts(r, q)
        return np.asarray(
            term(table, a).sum(axis=(0, 1)) - term(table.sum(axis=0), r * a).sum(axis=0)
        )

    def _sum_of_terms(self, counts: Sequence[Counts], r: int, q: Amount) -> Array:
        """Return the same from the counts of cells and of configurations that are not 0."""
        (cells, configurations), a = counts, self.score.pseudo_counts(r, q)
        return np.asarray(
            self.score.term(cells, a).sum() - self.score.term(configurations, r * a).sum()
        )

    def _unpenalized_gains_and_score(
        self, table: Counts, columns: Slice, r: int, q: float
    ) -> tuple[Array, Array]:
        """Return what each of some columns adds to the fit as a further parent, and the fit."""
        cards = self.counts.cards[columns]
        starts = np.cumsum(cards) - cards
        by_level = self._unpenalized_score(table, r, q * np.repeat(cards, cards).astype(np.float64))
        known: Array = table[..., : cards[0]].sum(axis=2)
        if not self.counts.is_complete:
            known = np.add.reduceat(table, starts, axis=2)
        fit = self._unpenalized_score(known, r, q)
        return np.add.reduceat(by_level, starts) - fit, fit


def network_score(
    x: BNC, dataset: AnyTable | Countable, *, score: ScoreName = "bic", ess: float = 1
) -> float:
    """Return the score of a structure on data, which `hc` and `ban` maximize.

    Parameters
    ----------
    x : BNC
        Structure. Its parameters are not used.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of `x` and without missing values.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        Name of the score.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12.

    Returns
    -------
    float
        Score in nats. Of two structures over the same variables, the larger
        score is better.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` is not a single network, or values are missing or are not levels
        of `x`.

    Warns
    -----
    UserWarning
        If weights are not whole numbers and sum to less than the number of
        rows.

    Notes
    -----
    Each score is a sum over the families, with k parameters in all:

    - loglik = Σ N_jk ln(N_jk / N_j), the likelihood at its maximum; aic =
      loglik − k; bic = loglik − ½ ln(N) k. They are not multiplied by −2.
    - bde is the log marginal likelihood under a uniform prior with equivalent
      sample size `ess` (BDeu), and k2 that with pseudo-counts of 1. The class
      is a parent like any other.

    Networks with the same conditional independences have the same score, except
    for k2. The page
    :doc:`Formulas </methods>` defines all symbols.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning
       Bayesian networks: the combination of knowledge and statistical data.
       Machine Learning 20.
    .. [2] Cooper, G. F., Herskovits, E. (1992). A Bayesian method for the
       induction of probabilistic networks from data. Machine Learning 9.

    Examples
    --------
    >>> from bnclassify import load_car, nb, network_score
    >>> car = load_car()
    >>> x = nb("class", car)
    >>> [round(network_score(x, car, score=name), 1) for name in ("bic", "bde", "k2")]
    [-13738.5, -13722.6, -13677.2]
    """
    ess = check_score_and_ess(score, ess)
    model = check_bnc(x, "network_score")
    known = None if model.levels is None else dict(zip(model.variables, model.levels, strict=True))
    data = open_data(dataset).read(Columns(model.variables, known))
    rows: Countable = data
    if model.levels is not None:
        rows = data.coded_by_schema(Schema(model.variables, model.levels))
    if not len(rows):
        raise ValueError("dataset must have rows; got none.")
    check_no_missing_values(rows)
    warn_of_fractional_weights(rows, score)
    return LocalScores(rows, score, ess).score_of_network([ps for _, *ps in model.scopes])


# Trees by Chow and Liu's algorithm: among features within each class, or among all variables.


def edge_posterior(data: Countable, ess: float) -> Array:
    gains = np.mean([arc_scores(view, "bde", ess).gains for view in data.codings], axis=0)
    return spanning_tree_posterior(gains)[0]


_SCORES = ("loglik", "aic", "bic", "bde")


@mark_as_averaging
def tan_cl(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    score: Literal["loglik", "aic", "bic", "bde"] = "loglik",
    ess: float = 1,
    root: Hashable | None = None,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    missing: Literal["available", "em"] = "available",
    numbers: Numbers = None,
) -> BNC:
    """Learn a tree-augmented naive Bayes (TAN) by the Chow-Liu algorithm.

    The class is a parent of every feature, and each feature has at most one
    other feature as a parent. The arcs between features form a maximum-weight
    spanning tree or forest, where the weight of an arc is its contribution to
    `score`. An arc represents dependence given the class, in either direction,
    and not a causal effect.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns except `class_var` are features.
    score : {"loglik", "aic", "bic", "bde"}, default "loglik"
        Decomposable score to maximize. With "loglik", the features form a
        single tree. The other scores omit arcs that lower the score, so the
        result can be a forest or a naive Bayes model.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12.
    root : str, optional
        Feature to use as the root of its tree. By default, and for all other
        trees, the root is the first feature of the tree in column order. With
        `lp` and `ess`, the root does not change posteriors.
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Pairs of features, in any order, that are always joined, and pairs that
        are never joined.
    missing : {"available", "em"}, default "available"
        With "available", each pair of features is counted in the rows with both
        values. With "em", structural EM uses all rows, as in `hc`; not with the
        score "bde".
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, as in `lp`. A numeric feature is
        never a parent. Its own parent is the feature with the largest mutual
        information given the class under a Gaussian model, for all scores.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Notes
    -----
    Use "aic" to predict. "bic" keeps fewer arcs, and "loglik", the default of
    R, keeps n − 1 of them, even if features are independent. The page
    :doc:`Formulas </methods>` defines the weight of an arc, which comes from
    the rows with values of both features and the class. "loglik" ranks arcs by
    information per row, as R does, so if values are missing, the result need
    not be the maximum-likelihood tree. Of tied arcs, the first in column order
    is chosen.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network
       classifiers. Machine Learning 29.
    .. [2] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability
       distributions with dependence trees. IEEE Transactions on Information
       Theory 14.

    Examples
    --------
    With AIC, buying, doors and safety have no other feature as a parent:

    >>> from bnclassify import load_car, modelstring, tan_cl
    >>> modelstring(tan_cl("class", load_car(), score="aic", root="safety"))
    '[class] [buying|class] [doors|class] [safety|class] [maint|buying:class] [persons|safety:class]
     [lug_boot|safety:class]'
    """
    OneOf(_SCORES).check("score", score)
    ess = check_score_and_ess("bde", ess)
    check_missing_option(missing, "available", score)
    data = prepare_training_data(
        dataset,
        (class_var,),
        features,
        rows_needed=missing == "em",
        numeric=numeric_columns_of(numbers),
    )
    coded = tuple([name for name in data.features if name not in data.schema.numeric])
    rules = ArcRules.check(required, forbidden, data.columns, directed=False, apart=class_var)
    rules.check_numbers_are_leaves(data.schema.numeric)
    first = 0 if root is None else coded.index(OneOf(coded, "a feature").check("root", root))
    warn_of_fractional_weights(data, score)
    settings = {"score": score, "root": root, "ess": None if ess == 1 else ess}
    settings |= {"features": features} | rules.recipe_settings() | numbers_as_setting(numbers)
    trace: dict[str, Any] = {}
    if missing == "em":
        if data.schema.numeric:
            raise ValueError(
                "missing must be 'available' with numbers; got 'em'. Discretize the numbers."
            )
        parents, scores = _best_forest_by_em(cast("TrainingData", data), score, first, rules)
        settings, trace = settings | {"missing": missing}, {"scores": scores, "steps": ()}
    else:
        parents = _parents_in_best_forest(data, score, ess, first, rules)
    return network(class_var, parents, data.schema, Step("tan_cl", tan_cl, settings), trace)


def _parents_in_best_forest(
    data: Countable, score: str, ess: float, root: int, rules: ArcRules
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its parents: in the forest or, for a number, the most informative."""
    names, position = data.features, data.positions
    numbers = [name for name in names if name in data.schema.numeric]
    coded = tuple([name for name in names if name not in data.schema.numeric])
    views = []
    for view in data.select((*coded, data.class_var)).codings:
        pairs = arc_scores(view, score, ess)
        views.append(pairs.information if score == "loglik" else pairs.gains)
    ends = [(position[name], position[number]) for name in coded for number in numbers]
    found = pair_informations(data, ends, (len(names),))
    weights = np.asarray(np.mean(views, axis=0))
    keep = np.full_like(weights, True, dtype=bool)
    if score != "loglik":
        # features that are never observed together have no information, and ln 0 in a penalty
        keep = (weights >= -TOLERANCE) & (pairs.rows > 0)
    required, forbidden = rules.required_and_forbidden_masks(names)
    information = np.where(required, np.inf, -np.inf)  # of numbers, (from, to)
    for pair, (value, n_rows) in zip(ends, found, strict=True):
        if n_rows and not forbidden[pair] and not required[pair]:
            information[pair] = value
    parents = parents_in_max_forest(
        coded, weights, keep, root, rules.rules_for_columns(coded), is_tree=score == "loglik"
    )
    for number in numbers:
        of_number = information[:, position[number]]
        best = names[int(first_best(of_number))]
        parents[number] = (best,) if of_number.max() > -np.inf else ()
    return {name: parents[name] for name in names}


def _best_forest_by_em(
    data: TrainingData, score: str, root: int, rules: ArcRules
) -> tuple[dict[Hashable, tuple[Hashable, ...]], tuple[float, ...]]:
    if len(list(data.codings)) > 1:
        raise ValueError(
            "missing must be 'available' with several discretizations; got 'em'. Discretize once, "
            "for example with discretize='mdlp'."
        )
    features, class_column, position = data.features, len(data.features), data.positions

    def positions_of_parents(parents: Mapping[Hashable, Sequence[Hashable]]) -> list[list[int]]:
        of_features = [[position[p] for p in parents[feature]] for feature in features]
        return [*[[*own, class_column] for own in of_features], []]

    # the arcs that are required
    none = np.zeros((class_column, class_column))
    start = parents_in_max_forest(features, none, none > 0, root, rules, is_tree=False)

    def learn_forest(rows: TrainingData, _: object = None) -> list[list[int]]:
        return positions_of_parents(_parents_in_best_forest(rows, score, 1, root, rules))

    found, scores = WITH_MISSING_VALUES["em"](
        data, positions_of_parents(start), learn_forest, score, others=[learn_forest(data)]
    )
    parents = {}
    for feature, (*own, _) in zip(features, found[:-1], strict=True):
        parents[feature] = tuple([features[p] for p in own])
    return parents, tuple(scores)


def parents_in_max_forest(
    names: tuple[Hashable, ...],
    weights: Array,
    keep: Mask,
    root: int,
    rules: ArcRules,
    *,
    is_tree: bool = True,
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each variable to its parent in the maximum-weight forest that obeys the rules.

    ``weights`` are those of the edges between variables, (n, n), of which those
    to ``keep`` can be used. Required edges are used in any case. If it
    ``is_tree``, forbidden edges must not divide it.
    """
    required, forbidden = rules.required_and_forbidden_masks(names)
    roots = sorted(range(len(names)), key=lambda i: i != root)
    if rules.required:
        n_joined = len(names) - _n_roots(max_forest_parents(weights, required, roots))
        if np.count_nonzero(required) > 2 * n_joined:  # each pair has two entries
            raise ValueError(
                "required must not contain pairs that form a cycle; got "
                f"{arcs_in_words(rules.required)}. Drop one of them."
            )
    # a required edge has a larger weight than any path of others
    raised = np.where(required, 1 + 2 * float(np.abs(weights).max(initial=0.0)), weights)
    parent = max_forest_parents(raised, (keep & ~forbidden) | required, roots)
    if is_tree and rules.forbidden:
        usual = max_forest_parents(weights, keep, roots)
        if _n_roots(parent) > _n_roots(usual):
            raise ValueError(
                "forbidden must leave a tree over all variables; got "
                f"{arcs_in_words(rules.forbidden)}. Drop some of them."
            )
    return {name: (names[p],) if p >= 0 else () for name, p in zip(names, parent, strict=True)}


def _n_roots(parent: Sequence[int]) -> int:
    return sum(p < 0 for p in parent)


def chow_liu(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    root: Hashable | None = None,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
) -> BNC:
    """Learn the tree of highest likelihood over all variables (Chow-Liu).

    Of all networks with at most one parent per variable, this one has the
    highest likelihood. The class is a variable like any other and is predicted
    from its neighbors in the tree only. In contrast, `tan_cl` makes the class a
    parent of every feature and learns a tree over the features.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns become variables.
    root : str, optional
        Root of the tree, by default the class. It does not change the
        likelihood. With `lp` and `ess`, it does not change predictions; with
        `smooth`, it does, because the pseudo-counts differ.
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Pairs of variables that are always joined, and pairs that are never
        joined, as in `tan_cl`, including pairs with the class.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Notes
    -----
    Use it for an overview of the dependences in a table; `tan_cl` predicts
    better. An edge contributes I(X;Y), in nats per row, over the rows with both
    values. Variables that are never observed together are not joined. Ties are
    broken as in `tan_cl`.

    References
    ----------
    .. [1] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability
       distributions with dependence trees. IEEE Transactions on Information
       Theory 14.

    Examples
    --------
    >>> from bnclassify import chow_liu, load_car, modelstring
    >>> modelstring(chow_liu("class", load_car()))
    '[class] [buying|class] [maint|class] [doors|class] [persons|class] [lug_boot|class]
     [safety|class]'
    """
    data = prepare_training_data(dataset, (class_var,), features)
    rows = data.in_original_column_order
    names = rows.columns
    rules = ArcRules.check(required, forbidden, names, directed=False)
    first = names.index(
        class_var if root is None else OneOf(names, "a variable").check("root", root)
    )
    pairs = pair_statistics(rows, range(len(names)), None)
    parents = parents_in_max_forest(names, pairs.information, pairs.rows > 0, first, rules)
    settings = {"root": root, "features": features} | rules.recipe_settings()
    return network(class_var, parents, rows.schema, Step("chow_liu", chow_liu, settings))


# One superparent (SPODE) and k-dependence classifiers: parents by score or information.


@mark_as_averaging
def spode(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    score: ScoreName = "bic",
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Learn a superparent one-dependence estimator (SPODE).

    The class is a parent of every feature, and one feature, the superparent, is
    a parent of all other features. The superparent is the feature with the
    largest score of its network, the best single member of an `aode`.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. By default, all columns except `class_var` are features.
    score : {"loglik", "aic", "bic", "bde", "k2"}, default "bic"
        Decomposable score to maximize, as in `network_score`.
    features : list of str, optional
        Columns to use as features.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. With one
        feature, naive Bayes.

    Warns
    -----
    UserWarning
        As in `tan_cl`.

    Notes
    -----
    Use it for the readable graph closest to an AODE. The score of a superparent
    is the sum of its contributions to the scores of all other features, each
    from the rows with values of both features. Of tied superparents, the first
    in column order is chosen. Naive Bayes can have a larger score;
    `network_score` compares them.

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (1999). Learning augmented Bayesian
       classifiers: a comparison of distribution-based and classification-based
       approaches. AISTATS 1999.
    .. [2] Yang, Y., Korb, K., Ting, K. M., Webb, G. I. (2005). Ensemble
       selection for superparent-one-dependence estimators. AI 2005.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, spode
    >>> modelstring(spode("class", load_car()))
    '[class] [safety|class] [buying|safety:class] [maint|safety:class] [doors|safety:class]
     [persons|safety:class] [lug_boot|safety:class]'
    """
    OneOf(SCORE_NAMES).check("score", score)
    data = prepare_training_data(dataset, (class_var,), features)
    warn_of_fractional_weights(data, score)
    names = data.features
    parents: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(names, ())
    if len(names) > 1:
        n, views = len(names), list[Array]()  # contributions of arcs, (child, parent)
        for view in data.codings:
            if score == "k2":  # which depends on the direction
                scores = LocalScores(view, score)
                of_children = [scores.gains_by_added_parent(i, (n,))[:n] for i in range(n)]
                views.append(np.array(of_children))
            else:
                views.append(arc_scores(view, score, size=view.size).gains)
        gains = np.where(np.eye(n, dtype=bool), 0.0, np.mean(views, axis=0))
        best = names[int(first_best(gains.sum(axis=0)))]  # for the scores of all other features
        parents = {name: () if name == best else (best,) for name in names}
    step = Step("spode", spode, {"score": score, "features": features})
    return network(class_var, parents, data.schema, step)


@mark_as_averaging
def kdb_mi(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    kdbk: int = 2,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    numbers: Numbers = None,
) -> BNC:
    """Learn a k-dependence classifier by mutual information (Sahami's k-DB).

    Features are ranked by their mutual information with the class. The feature
    parents of each feature are the `kdbk` features of higher rank with the
    largest mutual information given the class, even if it is small. One pass
    over pairs of features suffices. `kdb` returns a structure of the same type,
    but adds an arc only if it improves the cross-validated accuracy, so it has
    fewer arcs and takes longer. The page Choosing a classifier compares both.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns except `class_var` are features.
    kdbk : int, default 2
        Number of feature parents; 0 gives naive Bayes. Tables grow with each
        parent, so a larger number needs more rows or hierarchical smoothing
        (``backoff=True`` in `lp`).
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features that are always included, and arcs
        that are never included.
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, as in `lp`, which estimates their
        densities. They are ranked with the other features by the mutual
        information under a Gaussian model. Their parents are categorical
        features, and they are never parents themselves.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. Required
        parents come first, then the others in descending order of information.

    Notes
    -----
    Use it with many rows, and with ``backoff=True``, because tables are large.
    Features are ranked by I(X;C) and parents of X by I(X;Y|C), in nats per row,
    over the rows with values of these variables. Of tied features, the first in
    column order is chosen. Required parents count in `kdbk` and come before
    their children in the ranking.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers.
       KDD 96.

    Examples
    --------
    >>> from bnclassify import kdb_mi, load_car, modelstring
    >>> modelstring(kdb_mi("class", load_car(), kdbk=1))
    '[class] [safety|class] [buying|safety:class] [persons|safety:class] [lug_boot|safety:class]
     [maint|buying:class] [doors|lug_boot:class]'
    """
    k = Whole().check("kdbk", kdbk)
    data = prepare_training_data(
        dataset, (class_var,), features, numeric=numeric_columns_of(numbers)
    )
    rules = ArcRules.check(required, forbidden, data.columns, apart=class_var)
    rules.check_numbers_are_leaves(data.schema.numeric)
    rules.add_required_parents(dict.fromkeys(data.features, ()), "kdbk", k)
    settings = {"kdbk": k, "features": features}
    step = Step("kdb_mi", kdb_mi, settings | rules.recipe_settings() | numbers_as_setting(numbers))
    names, class_column = data.features, len(data.features)
    parents: dict[Hashable, list[Hashable]] = {name: [] for name in names}
    if k == 0:
        return network(class_var, parents, data.schema, step)
    required, forbidden = rules.required_and_forbidden_masks(names)
    with_class = [(feature, class_column) for feature in range(class_column)]
    pairs, of_views = [], []
    for view in data.codings:
        pairs.append(pair_statistics(view, range(class_column), class_column))
        of_views.append([value for value, _ in pair_informations(view, with_class)])
    rank = _ranks_by_relevance(descending_order(np.mean(of_views, axis=0)), required)
    coded = np.array(data.cards[:class_column]) > 0  # the others are numbers
    # (children, candidates); -inf if a feature cannot be a parent, or no longer
    is_candidate = (rank < rank[:, None]) & (pairs[0].rows > 0) & ~forbidden.T & coded
    mean = np.mean([view.information for view in pairs], axis=0)
    information = np.where(is_candidate, mean, -np.inf)
    information[required.T] = np.inf
    each = np.arange(class_column)
    for _ in range(min(k, class_column - 1)):
        best = first_best(information)
        for child in np.flatnonzero(information[each, best] > -np.inf).tolist():
            parents[names[child]].append(names[best[child]])
        information[each, best] = -np.inf
    return network(class_var, parents, data.schema, step)


def _ranks_by_relevance(order: Positions, required: Mask) -> Positions:
    """Return the rank of each feature; a feature follows its required parents.

    Example: in the order 2, 0, 1, where 2 requires the parent 1, the features
    0, 1 and 2 have the ranks 0, 1 and 2: feature 2 waits until 1 is ranked.
    """
    unranked = len(order)
    rank = np.full(len(order), unranked)
    for number in range(len(order)):
        waits: Mask = required[rank == unranked].any(axis=0) | (rank < unranked)
        rank[order[~waits[order]][0]] = number
    return rank
