"""The values that learners return, `BNC` and `AODE`, and the questions one can ask of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from itertools import accumulate, pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..frames.encoding import Dataset, Levels

Family: TypeAlias = tuple[Hashable, ...]

_FEW_LEVELS = 8  # a feature, on average


@dataclass(frozen=True)
class Recipe:
    """How a model was learned, as functions that can be called again on other data.

    Attributes
    ----------
    structure : callable
        Takes data and returns a model without parameters.
    parameters : callable or None
        Takes such a model and data and returns the model with parameters.
    """

    structure: Callable[[Dataset], Model]
    parameters: Callable[[Model, Dataset], Model] | None = None

    @property
    def learner(self) -> str:
        """Name of the function that learned the structure."""
        return _name(getattr(self.structure, "func", self.structure))

    @property
    def estimation(self) -> str:
        """The call that learned the parameters, what is at its default left out."""
        function: Any = getattr(self.parameters, "func", self.parameters)
        usual = signature(function).parameters
        chosen = getattr(self.parameters, "keywords", {}).items()
        differing = ", ".join(f"{name}={value!r}" for name, value in chosen if value != usual[name].default)
        return f"{_name(function)}({differing})"


@dataclass(frozen=True)
class EM:
    """How expectation maximisation went.

    Attributes
    ----------
    converged : bool
        Whether the last iteration gained no more than the tolerance.
    objectives : tuple of float
        What it maximises, at the start and after each iteration.
    """

    converged: bool
    objectives: tuple[float, ...]

    def __str__(self) -> str:
        how = "converged" if self.converged else "stopped before it converged"
        n = len(self.objectives) - 1
        return f"{n} iteration{'' if n == 1 else 's'}, {how}"


@dataclass(frozen=True, eq=False, repr=False)
class BNC(Immutable):
    """A Bayesian network classifier: its directed acyclic graph and, once learned, its tables.

    Learners return it; functions such as `lp`, `predict` and `params` take it. It never
    changes: `lp` returns a new one.

    Attributes
    ----------
    class_var : str
        The class, a parent of every feature.
    families : tuple of tuple
        ``(variable, feature parents…, class)`` of each feature, the class's own
        ``(class_var,)`` last.
    levels : tuple of tuple, or None
        The labels of each variable in the order of ``families``; None until data was seen.
    cpts : tuple of read-only arrays, or None
        The conditional probability tables in the order of ``families``. Axis i of a table is
        member i of its family, so a table sums to 1 over its first axis. None until `lp`.
    recipe : Recipe or None
        How structure and parameters were learned; `cv` runs it again.
    scores : tuple of float, or None
        Of a structure found by greedy search, the scores of its steps.
    arc_posteriors, weights : tuple of float, or None
        A number a feature that `lp` left behind: the posterior of its arc from the class
        (MANB), its weight (AWNB, WANBIA).
    em : EM or None
        How expectation maximisation went, if it made the parameters.
    """

    class_var: Hashable
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    scores: tuple[float, ...] | None = None
    arc_posteriors: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    em: EM | None = None

    def __repr__(self) -> str:
        return _summary(
            self,
            {
                "num. features": len(self.families) - 1,
                "num. arcs": narcs(self),
                "free parameters": nparams(self) if self.cpts is not None else None,
                "EM": self.em,
            },
        )


@dataclass(frozen=True, eq=False, repr=False)
class AODE(Immutable):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    Their tables are stacked in three arrays, in which the levels of all features follow one
    another in order. `members` takes them apart into networks.

    Attributes
    ----------
    class_var : str
    features : tuple
        Each is the superparent of one estimator, a parent of all the others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None until data was seen.
    priors : (features, classes) read-only array, or None
        P(class) in each estimator; None until `lp`, as the next two.
    superparents : (levels of all features, classes) read-only array, or None
        P(level | class), in the estimator whose superparent has the level.
    children : tuple of read-only arrays, or None
        P(level | level of the superparent, class) in each estimator, (levels of all other
        features, levels of the superparent, classes).
    recipe : Recipe or None
    em : tuple of EM, or None
        How expectation maximisation went in each estimator, if it made the parameters.
    """

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    priors: Array | None = None
    superparents: Array | None = None
    children: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    em: tuple[EM, ...] | None = None

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        return tuple(self._member(i) for i in range(len(self.features)))

    @property
    def spans(self) -> list[slice]:
        """Where the levels of each feature lie among those of all."""
        ends = list(accumulate(len(labels) for labels in (self.levels or ())[:-1]))
        return [slice(start, end) for start, end in pairwise([0, *ends])]

    @property
    def has_few_levels(self) -> bool:
        """Whether products of matrices with a row or column a level beat looking features up."""
        return self.spans[-1].stop <= _FEW_LEVELS * len(self.features)

    def _member(self, i: int) -> BNC:
        superparent = self.features[i]
        families: tuple[Family, ...] = (
            *(
                (f, self.class_var) if f == superparent else (f, superparent, self.class_var)
                for f in self.features
            ),
            (self.class_var,),
        )
        cpts = None
        if self.priors is not None and self.superparents is not None and self.children is not None:
            ends = accumulate(span.stop - span.start for j, span in enumerate(self.spans) if j != i)
            *tables, _ = np.split(self.children[i], list(ends))
            tables.insert(i, self.superparents[self.spans[i]])
            cpts = (*tables, self.priors[i])
        em = self.em[i] if self.em is not None else None
        return BNC(self.class_var, families, self.levels, cpts, self.recipe, em=em)

    def __repr__(self) -> str:
        n = len(self.features)
        return _summary(self, {"num. features": n, "num. members": n})


Model: TypeAlias = BNC | AODE


def _name(function: object) -> str:
    """Return the name of a function, as it is said to users."""
    return str(getattr(function, "__name__", function)).removeprefix("_")


def _summary(x: Model, facts: dict[str, int | EM | None]) -> str:
    """Write the lines that R prints of a classifier."""
    lines = {"class variable": str(x.class_var)}
    for name, value in facts.items():
        if value is not None:
            lines[name] = f"{value:,}" if isinstance(value, int) else str(value)
    if x.recipe is not None:
        lines["learning algorithm"] = x.recipe.learner
        if x.recipe.parameters is not None:
            lines["parameters"] = x.recipe.estimation
    width = max(map(len, lines)) + 2
    rows = [f"  {name + ':':<{width}}{value}" for name, value in lines.items()]
    return "\n".join(["", "  Bayesian network classifier", "", *rows])


def check_model(x: object) -> Model:
    """Return ``x`` if it is a model, else raise a TypeError."""
    if not isinstance(x, BNC | AODE):
        advice = of_estimator(x) or "; learn one first, for example with nb(class_var, dataset)"
        if hasattr(x, "columns"):
            advice = "; the model goes first, the data second"
        raise TypeError(f"x: expected a classifier (BNC or AODE), got {type(x).__name__}{advice}")
    return x


def of_estimator(x: object) -> str:
    """Say where the model of a fitted scikit-learn estimator is, if that is what ``x`` is."""
    return "; its attribute model_ is one" if isinstance(getattr(x, "model_", None), BNC | AODE) else ""


def check_single(x: object, question: str) -> BNC:
    """Return ``x`` if it is a single network, else say to ask its members."""
    model = check_model(x)
    if isinstance(model, AODE):
        raise TypeError(
            f"{question}: an AODE is an ensemble of {len(model.features)} networks; ask each of members(x)"
        )
    return model


def check_fitted(x: object) -> Model:
    """Return ``x`` if it is a model with parameters, else say to call lp."""
    model = check_model(x)
    if (model.cpts if isinstance(model, BNC) else model.children) is None:
        raise ValueError(
            "structure only, no parameters: call lp(x, dataset, smooth=...) first, and go on with the model "
            "that it returns"
        )
    return model


def members(x: Model) -> tuple[BNC, ...]:
    """Return the networks that a model averages: itself, or the estimators of an AODE.

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, nb
    >>> car = load_car()
    >>> len(members(nb("class", car))), len(members(aode("class", car)))
    (1, 6)
    """
    model = check_model(x)
    return (model,) if isinstance(model, BNC) else model.members


def class_var(x: Model) -> Hashable:
    """Return the name of the class.

    Examples
    --------
    >>> from bnclassify import class_var, load_car, nb
    >>> class_var(nb("class", load_car()))
    'class'
    """
    return check_model(x).class_var


def vars(x: Model) -> tuple[Hashable, ...]:
    """Return the names of all variables: the features, then the class.

    Examples
    --------
    >>> from bnclassify import nb, vars
    >>> vars(nb("class", features=["doors", "safety"]))
    ('doors', 'safety', 'class')
    """
    model = check_model(x)
    if isinstance(model, AODE):
        return (*model.features, model.class_var)
    return tuple(family[0] for family in model.families)


def features(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features: in the order of the data, or as they were named without data.

    Examples
    --------
    >>> from bnclassify import features, nb
    >>> features(nb("class", features=["doors", "safety"]))
    ('doors', 'safety')
    """
    return vars(x)[:-1]


def families(x: BNC) -> dict[Hashable, Family]:
    """Return the family of each variable: the variable, its feature parents, the class.

    Examples
    --------
    >>> from bnclassify import families, load_car, tan_cl
    >>> families(tan_cl("class", load_car()))["maint"]
    ('maint', 'buying', 'class')
    """
    return {family[0]: family for family in check_single(x, "families").families}


def values(x: Model) -> dict[Hashable, tuple[Any, ...]]:
    """Return the levels of each variable, in the order of the axes of its table.

    Raises
    ------
    ValueError
        If the model has seen no data yet.

    Examples
    --------
    >>> from bnclassify import load_car, nb, values
    >>> values(nb("class", load_car()))["safety"]
    ('low', 'med', 'high')
    """
    levels = check_model(x).levels
    if levels is None:
        raise ValueError(
            "the model has seen no data, so it knows no levels: call lp(x, dataset, smooth=...) first"
        )
    return dict(zip(vars(x), levels, strict=True))


def classes(x: Model) -> tuple[Any, ...]:
    """Return the levels of the class, in the order of the columns of posteriors.

    Examples
    --------
    >>> from bnclassify import classes, load_car, nb
    >>> classes(nb("class", load_car()))
    ('unacc', 'acc', 'good', 'vgood')
    """
    return values(x)[class_var(x)]


def params(x: BNC) -> dict[Hashable, Array]:
    """Return the conditional probability table of each variable.

    Parameters
    ----------
    x : BNC
        A model with parameters.

    Returns
    -------
    dict
        Variable to a read-only array. Axis i is member i of the variable's family
        (`families`), its positions the levels of that member (`values`); the table sums to 1
        over axis 0.

    Raises
    ------
    ValueError
        If the model is a structure without parameters.
    TypeError
        If the model is an ensemble.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, params
    >>> car = load_car()
    >>> params(lp(nb("class", car), car, smooth=1))["safety"].round(3)
    array([[0.476, 0.003, 0.014, 0.015],
           [0.295, 0.468, 0.556, 0.015],
           [0.229, 0.53 , 0.431, 0.971]])
    """
    check_single(check_fitted(x), "params")
    return dict(zip(vars(x), x.cpts or (), strict=True))


def nparams(x: BNC) -> int:
    """Return the number of free parameters: Σ (levels − 1) · Π levels of the parents.

    It follows from structure and levels, so a model need not be fitted, but must have seen data.

    Examples
    --------
    >>> from bnclassify import load_car, nb, nparams
    >>> nparams(nb("class", load_car()))
    63
    """
    model = check_single(x, "nparams")
    cards = {variable: len(labels) for variable, labels in values(model).items()}
    return sum((cards[f[0]] - 1) * prod(cards[v] for v in f[1:]) for f in model.families)


def narcs(x: BNC) -> int:
    """Return the number of arcs, those from the class included.

    Examples
    --------
    >>> from bnclassify import load_car, narcs, nb
    >>> narcs(nb("class", load_car()))
    6
    """
    return sum(len(family) - 1 for family in check_single(x, "narcs").families)


def augmenting_parents(x: BNC) -> dict[Hashable, Family]:
    """Map each feature to its feature parents: the graph that is left without the class."""
    return {family[0]: family[1:-1] for family in x.families[:-1]}
