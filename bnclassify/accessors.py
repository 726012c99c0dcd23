"""What functions ask of a model: checks of the argument, new rows in its codes, its families.

Every public function with a model calls one of the checks here, which also
accept a fitted estimator of scikit-learn and say how to get a model that is
suitable. `encode_for_model` reads new rows by the levels of the model: labels
that did not occur in training raise an error or count as missing. The accessors
of the R package follow, such as `families`, `features`, `nparams` and
`modelstring`, and then the tables, `cpt` and `params`, with intervals from their
posterior distributions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from math import prod
from os import PathLike
from typing import Any, cast

import numpy as np
import pandas as pd

from .classifiers import BNC, Drawn, Graph, Network, PseudoCounts
from .dataset import Dataset
from .frames import Records, open_rows
from .model import (
    A_NETWORK,
    ClassPrior,
    ClassProportions,
    Model,
    Step,
    Tally,
    check_class_prior,
    check_counted,
    how_tables_were_given,
    replace_unchecked,
    with_proportions_again,
)
from .numbers import Preparation, warn_of_distant_numbers
from .tools import graphs, special
from .tools.arrays import Array
from .tools.checks import OneOf, Optional, Real, Whole, is_among, must_be, options_sentence
from .tools.messages import Function, listed, shown, with_shared_text

# Arguments of functions: a model that is checked, and data that are encoded by its levels.


_FEW_NAMES = 10  # in advice
_MOST_CELLS = 2**28  # maximum number of cells of a log joint, 2 GiB


def check_model(x: object) -> Model:
    """Return ``x`` if it is a model, or a fitted estimator's model; if not, raise a TypeError."""
    model = unwrap_estimator(x)
    if not isinstance(model, Model):
        advice = "Learn one first, for example with nb(class_var, dataset)."
        if isinstance(x, str | PathLike):
            advice = f"Read the file first, with load({shown(str(x))})."
        elif hasattr(x, "steps"):
            advice = (
                "Pass the last step of a pipeline, pipeline[-1], and transformed rows, "
                "pipeline[:-1].transform(rows). If these are an array, call "
                "pipeline.set_output(transform='pandas') before fit."
            )
        elif hasattr(x, "best_estimator_"):
            advice = "Pass its best_estimator_."
        elif hasattr(x, "columns"):
            advice = "The model is the first argument, the data the second."
        raise TypeError(
            f"x must be a model (BNC, AODE or another); got {type(x).__name__}. {advice}"
        )
    return model


def check_fitted(x: object) -> Model:
    """Return ``x`` if it is a model with parameters; if not, raise."""
    model = check_model(x)
    if not model.fitted:
        raise ValueError(
            "the model has no parameters. Pass the result of lp(x, dataset, smooth=...)."
        )
    return model


def unwrap_estimator(x: Any) -> Any:
    """Return the model of a fitted estimator, and any other value unchanged; raise before `fit`.

    The model has the prior of the estimator. Costs are not a part of a model.
    """
    if isinstance(x, Model) or not hasattr(x, "predict_proba"):
        return x
    package = __name__.partition(".")[0]  # found without importing scikit-learn
    if all(kind.__module__.partition(".")[0] != package for kind in type(x).__mro__):
        return x
    if not isinstance(getattr(x, "model_", None), Model):
        raise ValueError(
            f"x must be fitted; got {type(x).__name__} before fit. Call its method fit first."
        )
    prior = getattr(x, "prior", None)
    if getattr(x, "costs", None) is not None:
        model = "x.model_" if prior is None else "with_prior(x.model_, x.prior)"
        raise ValueError(
            f"x must be an estimator without 'costs'; got {type(x).__name__}. Costs change only "
            f"decisions, so pass its model, {model}. to_sql(x, ...) has a column of decisions, and "
            f"predict({model}, newdata, costs=x.costs) returns them."
        )
    return x.model_ if prior is None else replace_class_prior(x.model_, prior)


def check_has_one_class_variable(x: object) -> Model:
    """Return the fitted model, or raise a ValueError if it has several class variables."""
    model = check_fitted(x)
    if not model.one_class:
        raise ValueError(
            "x must have one class variable; got several. Pass a model of one of them."
        )
    return model


def replace_class_prior(x: Model, prior: ClassPrior) -> Model:
    """Return a model with other class proportions, and with a recipe that replaces them again."""
    if not x.one_class:
        raise TypeError(
            f"x must be a model of one class variable; got one of {listed(x.targets)}. Proportions "
            "of each do not determine those of their combinations."
        )
    classes = x.known_levels[-1]
    shares = check_class_prior(prior, classes)
    learned = x.learned_class_prior()
    if none := [label for i, label in enumerate(classes) if not learned[i] > 0]:
        raise ValueError(
            f"x must be a model in which each class is possible; got the probability 0 of "
            f"{listed(none)}. Fit it with smooth above 0."
        )
    if none := [label for i, label in enumerate(classes) if not shares[i] > 0]:
        raise ValueError(
            f"prior must be greater than 0 for each class of the model; got 0 for {listed(none)}. "
            "Refit the model without the rows of this class."
        )
    given, recipe = ClassProportions(tuple(shares.tolist())), x.recipe
    changed = x.with_class_proportions(given)
    if recipe is None or recipe.parameters is None:
        return changed
    step = recipe.parameters
    if step.function is with_proportions_again:
        step = step.settings["parameters"]
    settings = {"parameters": step, "proportions": given}
    again = Step("with_prior", with_proportions_again, settings, draws=True)
    return replace_unchecked(changed, recipe=replace(recipe, parameters=again))


def check_ordered(x: Model, argument: str, target: int = 0) -> None:
    """Raise a ValueError unless a class has labels in a declared order, or numbers."""
    name, labels = x.targets[target], x.levels_by_name[x.targets[target]]
    declared = () if x.trained_on is None else x.trained_on.ordered
    numbers = [
        label for label in labels if isinstance(label, int | float) and not isinstance(label, bool)
    ]
    if name not in declared and list(labels) != sorted(numbers):
        raise ValueError(
            f"{argument} requires a class with an order; got {shown(name)} with the labels "
            f"{listed(labels)}. Declare it and refit, with dataset[{name!r}] = "
            f"pd.Categorical(dataset[{name!r}], categories=[...], ordered=True), with the labels "
            "from the lowest to the highest."
        )


def check_has_joint_distribution(x: object, question: str, *, or_sampled: bool = False) -> Model:
    """Return ``x``, a model with parameters that has a joint distribution, or draws, or raise."""
    model = check_fitted(x)
    if model.no_joint and not (or_sampled and model.is_sampled):
        raise TypeError(f"{question}: {model.no_joint}")
    return model


def check_single_graph(x: object, question: str, *, sized: bool = False) -> Graph:
    """Return the single graph of ``x``, not an average if ``sized``, or raise."""
    model = check_model(x)
    if model.graph is None or (sized and len(model.members) > 1):
        raise _not_single_error(model, question)
    graph: Graph = model.graph
    return graph


def _not_single_error(x: Model, question: str) -> TypeError:
    got, remedy = x.type_in_words, "Fit one"
    if len(x.members) > 1:
        got = f"a model of {len(x.members)} networks ({x.type_in_words})"
        remedy = "Call it on each of members(x), or fit a single network"
    return TypeError(
        f"{question} requires a single network (BNC); got {got}. {remedy}: {A_NETWORK}."
    )


def check_single_network(x: object, question: str) -> Network:
    """Return the single network with one class of ``x``, or raise."""
    graph = check_single_graph(x, question)
    if len(graph.targets) > 1:
        raise TypeError(
            f"{question} requires a network with one class; got {type(graph).__name__}."
        )
    return cast("Network", graph)


def check_bnc(x: object, question: str) -> BNC:
    """Return ``x`` if it is a single Bayesian network with one class; if not, raise."""
    model = check_model(x)
    if model.no_joint:
        raise TypeError(f"{question}: {model.no_joint}")
    _check_tables_have_class_proportions(model, question)
    return cast("BNC", check_single_network(model, question))


def _check_tables_have_class_proportions(x: Model, question: str) -> None:
    if x.class_proportions is not None and x.class_shift.any():
        raise TypeError(
            f"{question} requires tables that contain the class proportions; got those of "
            "with_prior, which tables of a class with parents do not contain. Use the model before "
            "with_prior, or a network whose class has no parents."
        )


def check_categorical_network(x: object, question: str) -> BNC:
    """Return ``x`` if it is one Bayesian network of categories with one class; or raise."""
    network = check_bnc(x, question)
    if network.numeric_features:
        raise TypeError(
            f"{question} requires a network of categories; got the numbers "
            f"{listed(network.numeric_features)}. Discretize them, for example with bnc(..., "
            "discretize='mdlp')."
        )
    return network


def check_augmented(x: Model, argument: str) -> BNC:
    """Return a network in which the class is a parent of all features and has none, or raise."""
    graph: Graph | None = x.graph
    if graph is None or graph is not x or x.no_joint:
        kind = "a dependency network" if x.graph is x else x.type_in_words
        raise TypeError(f"{argument} is defined for a single Bayesian network (BNC); got {kind}.")
    if not graph.is_augmented:
        raise ValueError(
            f"{argument} is defined for an augmented naive Bayes, in which the class "
            f"{shown(x.class_var)} is a parent of every feature and has no parents. Learn the "
            "structure with nb or tan_cl, for example."
        )
    return cast("BNC", x)


def check_single_fitted_graph(x: object, question: str) -> Graph:
    """Return the single graph with tables of ``x``, or raise."""
    model = check_fitted(x)
    if model.network is None:
        raise _not_single_error(model, question)
    _check_tables_have_class_proportions(model, question)
    network: Graph = model.network
    return network


def check_not_dropped(x: Model, argument: str, names: Iterable[Hashable]) -> None:
    """Raise a KeyError if a name is that of a numeric column that was dropped in training."""
    uncut = x.discretizer.uncut
    for name in names:
        if is_among(name, uncut) and name not in x.variables:
            found = f"no cut point was found by method={x.discretizer.method!r}"
            remedy = f"This column was dropped in training, because {found}."
            raise KeyError(must_be(argument, "a feature of the model", name, remedy))


def variables_of_new_data(x: Model) -> tuple[Hashable, ...]:
    """Return the variables that data contain: all, or the features if the class is latent."""
    return x.features if "latent" in x.trace else x.variables


def encode_for_model(
    x: Model,
    newdata: Any,
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
    unknown: Sequence[Hashable] = (),
) -> Dataset:
    """Encode new data for a model, with the categories of its preparation; see `read_for_model`."""
    return x.preparation.prepared_data(read_for_model(x, newdata, names, argument, unknown))


def check_has_rows(data: Dataset, argument: str, purpose: str = "") -> Dataset:
    """Return rows, of which at least one has a positive weight, or raise."""
    if not len(data):
        raise ValueError(f"{argument} must be a table with rows{purpose}; got 0 rows.")
    if not data.size > 0:
        raise ValueError(
            f"{argument} must contain a row with a positive weight; all weights are 0."
        )
    return data


def read_for_model(
    x: Model,
    newdata: Any,
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
    unknown: Sequence[Hashable] = (),
) -> Dataset:
    """Read variables of a model, by default all, from new data; errors name ``argument``.

    The features ``unknown`` have no values in the data. Numbers are not
    discretized, and rare levels not merged.
    """
    rows = open_rows(newdata, argument)
    if not set(x.variables).intersection(rows.columns):
        check_not_dropped(x, argument, rows.columns)
    for name in unknown:
        OneOf(x.features, "a feature of the model").check("unknown", name)
    names = list(x.variables if names is None else names)
    read = [name for name in names if name not in unknown]
    if argument in ("newdata", "row") and not isinstance(rows, Records):  # which omit values
        present = set(rows.columns)
        absent = [name for name in read if name not in present]
        if absent:
            advice = f" {options_sentence(absent[0], rows.columns)}" if rows.columns else ""
            are_few = len(absent) <= _FEW_NAMES
            named = f"unknown={absent!r}" if are_few else "their names as unknown"
            or_dict = " to explain, or a dict without them" if argument == "row" else ""
            raise KeyError(
                f"{argument}: no column {listed(absent)} in the data.{advice} If the values are "
                f"unknown in all rows, pass {named}{or_dict}."
            )
    # A record that names only unknown features is nevertheless one of the model.
    read += [name for name in names if name in unknown and name in rows.columns]
    levels = x.levels_by_name
    data = x.preparation.read(rows, {name: levels[name] for name in read}, argument)
    for name in unknown:
        known = np.count_nonzero(data.known_values(name)) if name in read else 0
        if known:
            raise ValueError(
                f"unknown must name features without values in {argument}; got {shown(name)}, "
                f"which has values in {known:,} of {len(data):,} rows. Drop the column if it "
                "must not be used."
            )
    if argument != "dataset":  # which are often the training data
        categories = x.discretizer.kept
        numbers = {name: own for name, own in data.numbers.items() if name not in categories}
        warn_of_distant_numbers(numbers, x.training_ranges)
        x.merger.warn_of_labels_like_kept(data)
    return data.with_unknown_columns({name: levels[name] for name in names if name in unknown})


def check_size_of_scores(rows: int, n_classes: int) -> None:
    """Raise a ValueError if an array of rows and classes would need too much memory."""
    if rows * n_classes > _MOST_CELLS:
        raise ValueError(
            f"{rows:,} rows and {n_classes:,} classes would need {rows * n_classes:,} numbers, "
            f"more than {_MOST_CELLS:,}. Pass fewer rows at a time, or merge rare classes."
        )


# Accessors of models: names, levels, arcs, and the type of the structure.


_SECTIONS = """\
Parameters
----------
x : {0}
    With or without parameters.

Returns
-------
{2}
    {3}

Raises
------
TypeError
    If `x` is not {1}"""


def _add_sections(kind: str, returned: str) -> Callable[[Function], Function]:
    """Return a decorator that adds the sections of an accessor for any model, or one network."""
    marks = {
        "{any model}": ("BNC, AODE or another model", "a model."),
        "{one network}": (
            "BNC or DN",
            "a single network; call it on each of ``members(x)``.",
        ),
    }
    return with_shared_text(
        {mark: _SECTIONS.format(*texts, kind, returned) for mark, texts in marks.items()}
    )


@_add_sections("tuple of models", "One model per member.")
def members(x: Model) -> tuple[Model, ...]:
    """Return the models that a model averages, or a single model itself.

    {any model}

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, nb
    >>> car = load_car()
    >>> len(members(nb("class", car))), len(members(aode("class", car)))
    (1, 6)
    """
    return check_model(x).members


@_add_sections("str or tuple of str", "The name, or one name per class variable.")
def class_var(x: Model) -> Hashable:
    """Return the name of the class, or the names of several class variables.

    {any model}

    Examples
    --------
    >>> from bnclassify import class_var, load_car, nb
    >>> class_var(nb("class", load_car()))
    'class'
    """
    model = check_model(x)
    return model.targets[0] if model.one_class else model.targets


@_add_sections("tuple of str", "One name per feature.")
def features(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features, in the order of the training data.

    {any model}

    Examples
    --------
    >>> from bnclassify import features, nb
    >>> features(nb("class", features=["doors", "safety"]))
    ('doors', 'safety')
    """
    return check_model(x).features


@_add_sections("tuple of str", "One name per variable.")
def vars(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features, then of the class or classes.

    {any model}

    Examples
    --------
    >>> import bnclassify as bn  # `from bnclassify import vars` would hide the function of Python
    >>> bn.vars(bn.nb("class", features=["doors", "safety"]))
    ('doors', 'safety', 'class')
    """
    return check_model(x).variables


@_add_sections(
    "dict of tuple of str",
    "One family per variable: itself, its feature parents, and the class.",
)
def families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each variable: the variable and its parents.

    {one network}

    Examples
    --------
    >>> from bnclassify import families, load_car, tan_cl
    >>> families(tan_cl("class", load_car()))["maint"]
    ('maint', 'buying', 'class')
    """
    return {family[0]: family for family in check_single_graph(x, "families").families}


@_add_sections(
    "dict of tuple of str",
    "One family per feature: the feature, its feature parents, and the class.",
)
def feature_families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each feature.

    {one network}

    Examples
    --------
    >>> from bnclassify import feature_families, nb
    >>> feature_families(nb("class", features=["doors"]))
    {'doors': ('doors', 'class')}
    """
    model = check_single_graph(x, "feature_families")
    return {family[0]: family for family in model.families[: len(model.features)]}


@_add_sections(
    "dict of tuple", "A tuple of levels per variable, in table order; empty for a number."
)
def values(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the levels of each variable.

    {any model}
    ValueError
        If the levels are unknown, because no data were given.

    Examples
    --------
    >>> from bnclassify import load_car, nb, values
    >>> values(nb("class", load_car()))["safety"]
    ('low', 'med', 'high')
    """
    return check_model(x).levels_by_name


@_add_sections("tuple", "One label per class.")
def classes(x: Model) -> tuple[Any, ...]:
    """Return the levels of the class, in the order of posterior columns.

    {any model}
    ValueError
        If the levels are unknown, because no data were given.

    Examples
    --------
    >>> from bnclassify import classes, load_car, nb
    >>> classes(nb("class", load_car()))
    ('unacc', 'acc', 'good', 'vgood')
    """
    model = check_model(x)
    return model.levels_by_name[model.class_var]


@_add_sections("int", "The number of parameters.")
def nparams(x: Model) -> int:
    """Return the number of free parameters of the tables.

    It is Σ (levels − 1) · Π levels of the parents, over the variables.

    The number follows from structure and levels, so the model need not be
    fitted. A number has a mean and a variance per configuration of its parents.

    {one network}
    ValueError
        If the levels are unknown, because no data were given.
    TypeError
        If the density of a number is a kernel density.

    Examples
    --------
    >>> from bnclassify import load_car, nb, nparams
    >>> nparams(nb("class", load_car()))
    63
    """
    graph = check_single_graph(x, "nparams", sized=True)
    kernels = [name for name, density in graph.densities.items() if not density.is_parametric]
    if kernels:
        got = f"got kernels of {listed(kernels)}. Use numbers='gaussian'."
        raise TypeError(f"nparams is not defined for kernel densities; {got}")
    n: int = graph.n_parameters
    return n


@_add_sections("int", "The number of arcs.")
def narcs(x: Model) -> int:
    """Return the number of arcs, including arcs from the class.

    {one network}

    Examples
    --------
    >>> from bnclassify import load_car, narcs, nb
    >>> narcs(nb("class", load_car()))
    6
    """
    return sum(len(family) - 1 for family in check_single_graph(x, "narcs").families)


@_add_sections("str", "One bracket per variable, with its parents after ``|``.")
def modelstring(x: Model) -> str:
    """Write the structure in bnlearn's notation, parents before children.

    {one network}
    ValueError
        If a name contains a character of ``[ ] | :`` of the notation.

    Examples
    --------
    >>> from bnclassify import anb, modelstring
    >>> modelstring(anb("class", {"maint": ["buying"]}, features=["maint", "buying"]))
    '[class] [buying|class] [maint|buying:class]'
    """
    model = check_bnc(x, "modelstring")
    for name in model.variables:
        if set(str(name)) & set("[]|:"):
            raise ValueError(
                f"modelstring: the name {shown(name)} contains a character of the notation ([ ] | "
                ":). Rename the column, or call families(x)."
            )
    parents = model.parents
    order = [variable for layer in graphs.topological_layers(parents) for variable in layer]
    texts = {v: f"{v}|{':'.join(map(str, parents[v]))}" if parents[v] else str(v) for v in order}
    return " ".join(f"[{texts[variable]}]" for variable in order)


def markov_blanket(x: Model, variable: Hashable) -> tuple[Hashable, ...]:
    """Return the Markov blanket of a variable.

    Given the blanket, the variable is independent of all other variables.

    Parameters
    ----------
    x : BNC or DN
        A structure.
    variable : str
        A feature or the class.

    Returns
    -------
    tuple
        The parents, the children, and the other parents of the children, in
        column order, the class last. The blanket of a feature in a dependency
        network is its parents.

    Raises
    ------
    KeyError
        If the model has no such variable.
    TypeError
        If `x` is not a single network.

    Examples
    --------
    >>> from bnclassify import hc, load_car, markov_blanket
    >>> markov_blanket(hc("class", load_car()), "class")
    ('buying', 'maint', 'persons', 'lug_boot', 'safety')
    """
    model = check_single_network(x, "markov_blanket")
    position = position_of_variable(model, variable)
    blanket = set(model.scopes[position])
    if not model.no_joint or variable == model.class_var:
        blanket.update(*(scope for scope in model.scopes if position in scope))
    return tuple([name for i, name in enumerate(model.variables) if i in blanket - {position}])


def position_of_variable(x: Model, variable: Hashable) -> int:
    check_not_dropped(x, "variable", [variable])
    OneOf(x.variables, "a variable of the model").check("variable", variable)
    return x.variables.index(variable)


def preparation(x: Model) -> Preparation:
    """Return the function that turns raw data into categories of the model.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Returns
    -------
    Preparation
        Its ``discretizer`` and ``merger`` are None if the model does not
        discretize numbers or merge rare levels. ``cut_points`` is a DataFrame
        with readable digits; ``discretizer.cuts`` has the exact numbers.

    Raises
    ------
    TypeError
        If `x` is not a model.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, preparation
    >>> model = bnc("nb", "diabetes", load_pima(), smooth=1, discretize="mdlp", missing_level=False)
    >>> preparation(model).cut_points.loc[["glucose", "bmi"]]
            method intervals          cut_points
    column
    glucose   mdlp         4  99.5, 127.5, 154.5
    bmi       mdlp         2               27.35
    """
    return check_model(x).preparation


@_add_sections("bool", "True if no feature has a feature parent.")
def is_nb(x: Model) -> bool:
    """Return whether no feature has a feature parent (naive Bayes).

    {any model}

    Examples
    --------
    >>> from bnclassify import is_nb, nb
    >>> is_nb(nb("class", features=["doors"]))
    True
    """
    return is_anb(x) and not any(check_model(x).feature_parents.values())


@_add_sections("bool", "True if no feature has more than one feature parent.")
def is_ode(x: Model) -> bool:
    """Return whether no feature has two feature parents (one-dependence).

    {any model}

    Examples
    --------
    >>> from bnclassify import is_ode, load_car, tan_cl
    >>> is_ode(tan_cl("class", load_car()))
    True
    """
    return is_anb(x) and all(
        len(parents) <= 1 for parents in check_model(x).feature_parents.values()
    )


@_add_sections("bool", "True if the features form such groups.")
def is_semi_naive(x: Model) -> bool:
    """Return whether features form groups with all arcs (semi-naive Bayes).

    {any model}

    Examples
    --------
    >>> from bnclassify import anb, is_semi_naive
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["a", "b"]}))
    True
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["b"]}))
    False
    """
    if not is_anb(x):
        return False
    parents = check_model(x).feature_parents
    for group in graphs.connected_components(parents):
        arcs = sum(len(parents[v]) for v in group)
        if arcs != len(group) * (len(group) - 1) // 2:  # that of all pairs
            return False
    return True


@_add_sections("bool", "True if the class is a parent of every feature and has no parents.")
def is_anb(x: Model) -> bool:
    """Return whether the model is an augmented naive Bayes.

    In an augmented naive Bayes, the class is a parent of every feature and has
    no parents. An ensemble is not an augmented naive Bayes.

    {any model}

    Examples
    --------
    >>> from bnclassify import is_anb, nb
    >>> is_anb(nb("class", features=["doors"]))
    True
    """
    graph = check_model(x).graph
    return graph is not None and graph.is_augmented and not graph.no_joint


# Intervals: quantiles of the probabilities of tables, and their columns in results.


BOUNDS = ("lower", "estimate", "upper")
"""Names of the columns that an interval adds."""

MOST_DRAWN = 2**25
"""Largest number of drawn probabilities in memory, 256 MiB."""


def check_interval(interval: object) -> float | None:
    return Optional(Real(above=0, below=1)).check("interval", interval)


def check_draws(draws: object, cells: int = 1) -> int:
    return Whole(least=1, most=MOST_DRAWN // cells).check("draws", draws)


def probabilities_of_interval_ends(interval: float) -> list[float]:
    return [(1 - interval) / 2, (1 + interval) / 2]


def bounds_of_table_entries(counts: Array, prior: PseudoCounts, interval: float) -> Array:
    """Return quantiles of a table's entries, (2, levels, parents' levels…), each a Beta."""
    levels, *parent_cards = counts.shape
    mass = prior.counts_plus_prior(counts, levels, prod(parent_cards))
    rest: Array = mass.sum(axis=0) - mass
    tails = np.reshape(probabilities_of_interval_ends(interval), (2, *[1] * mass.ndim))
    is_beta = (mass > 0) & (rest > 0)
    inside = special.betaincinv(np.where(is_beta, mass, 1.0), np.where(is_beta, rest, 1.0), tails)
    return np.where(is_beta, inside, np.where(mass > 0, 1.0, 0.0))


def bounds_from_posterior_draws(
    x: Model, probabilities: Callable[[Any], Array], interval: float, draws: int, seed: int
) -> Array:
    rng = np.random.default_rng(seed)
    drawn = [probabilities(model_with_all_tables_drawn(x, rng)) for _ in range(draws)]
    return np.asarray(np.quantile(drawn, probabilities_of_interval_ends(interval), axis=0))


def _dirichlet_counts_or_none(x: Model) -> Tally | None:
    tally = x.learned.get("counts")
    is_known = isinstance(tally, Tally) and getattr(tally.prior, "is_positive", False)
    return tally if is_known and not x.densities else None


def has_posterior_of_tables(x: Model) -> bool:
    """Whether the posterior of all tables is a product of Dirichlet distributions."""
    parts: list[Model] = []

    def keep_part(part: Model) -> Model:
        parts.append(part)
        return part

    x.map_counted_parts(keep_part)
    return all(_dirichlet_counts_or_none(part) is not None for part in parts)


def dirichlet_counts_of(x: Model) -> Tally:
    """Return counts of tables whose posterior is a product of Dirichlet distributions, or raise."""
    tally = _dirichlet_counts_or_none(x)
    if tally is not None:
        return tally
    if how := how_tables_were_given(x):
        raise ValueError(f"interval must be None, because the tables of x were {how}.")
    raise ValueError(
        f"interval must be None for {x.type_in_words}, because no draws of it are kept. "
        "Fit with interval=True, as in bnc(class_var=..., dataset=..., interval=True), or fit a "
        f"network with a prior above 0: {A_NETWORK}."
    )


def model_with_all_tables_drawn(x: Model, rng: np.random.Generator) -> Model:
    """Return a model, of which parts may have counts, with drawn tables; given ones are kept."""

    def draw_tables(part: Model) -> Model:
        tally = dirichlet_counts_of(part)
        return check_counted(part).tabulate(Tally(tally.counts, Drawn(tally.prior, rng)))

    return x.map_counted_parts(draw_tables).with_class_proportions(x.class_proportions)


def with_interval_columns(frame: pd.DataFrame, bounds: Array) -> pd.DataFrame:
    """Return estimates and their bounds, (2, rows, columns), as a further level of columns."""
    values = np.stack([bounds[0], frame.to_numpy(), bounds[1]], axis=-1)
    columns = product_of_indexes(frame.columns, pd.Index(BOUNDS))
    return pd.DataFrame(values.reshape(len(frame), -1), index=frame.index, columns=columns)


def product_of_indexes(index: pd.Index[Any], level: pd.Index[Any]) -> pd.MultiIndex:
    """Return an index with a further level: each of its labels, or tuples, with all of these."""
    if isinstance(index, pd.MultiIndex):
        levels, codes = list[Any](index.levels), list[Any](index.codes)
    else:
        own_codes, labels = pd.factorize(index, use_na_sentinel=False)
        levels, codes = [labels], [own_codes]
    codes = [np.repeat(code, len(level)) for code in codes]
    codes.append(np.tile(np.arange(len(level)), len(index)))
    levels.append(level)
    return pd.MultiIndex(levels=levels, codes=codes, names=[*index.names, level.name])


# Tables of conditional probabilities, as arrays and with labels.


_raising = with_shared_text(
    {
        "{fitted}": """\
Raises
------
ValueError
    If the model has no parameters.
TypeError
    If `x` is not a single network; call the function on each of
    ``members(x)``."""
    }
)


@_raising
def params(x: Model) -> dict[Hashable, Array]:
    """Return the conditional probability table of each variable as an array.

    Parameters
    ----------
    x : BNC or DN
        Fitted model.

    Returns
    -------
    dict
        A read-only array by variable. Axis i is member i of the variable's
        family (`families`), its positions are the levels of that member
        (`values`), and the table sums to 1 over axis 0. For a number, axis 0
        has the mean, the standard deviation and, for a kernel density, the
        bandwidth.

    {fitted}

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, params
    >>> car = load_car()
    >>> params(lp(nb("class", car), car, smooth=1))["safety"].round(3)
    array([[0.476, 0.003, 0.014, 0.015],
           [0.295, 0.468, 0.556, 0.015],
           [0.229, 0.53 , 0.431, 0.971]])
    """
    network = check_single_fitted_graph(x, "params")
    tables = dict(zip(network.variables, network.cpts or (), strict=True))
    for name, density in network.densities.items():
        tables[name] = np.stack([*density.parameters_by_name().values()])
    return tables


@_raising
def cpt(x: Model, variable: Hashable, *, interval: float | None = None) -> pd.DataFrame:
    """Return one conditional probability table with labels.

    Parameters
    ----------
    x : BNC or DN
        Fitted model.
    variable : str
        A feature or the class.
    interval : float, optional
        Probability of a credible interval of each entry, between 0 and 1, such
        as 0.9. Requires tables estimated with ``smooth``, ``ess`` or ``m``
        above 0, and rows that are a sample.

    Returns
    -------
    pandas.DataFrame
        One row per level of the variable, and one column per configuration of
        its parents, which is a distribution. A variable without parents has one
        column, ``probability``. With `interval`, each column is divided into
        lower, estimate and upper, an additional level. For a number, one row
        per configuration of its parents, with columns ``mean``, ``sd`` and, for
        a kernel density, ``bandwidth``.

    {fitted}
    KeyError
        If the model has no such variable.

    Notes
    -----
    A column with counts N_k and pseudo-count a has a Dirichlet posterior, so an
    entry is distributed as Beta(N_k + a, Σ_l (N_l + a) − N_k − a). The interval
    has equal tails. It assumes that the structure is correct, and does not
    measure the uncertainty of arcs.

    Examples
    --------
    >>> from bnclassify import cpt, load_car, lp, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> cpt(model, "safety").round(3)
    class   unacc    acc   good  vgood
    safety
    low     0.476  0.003  0.014  0.015
    med     0.295  0.468  0.556  0.015
    high    0.229  0.530  0.431  0.971

    Few cars are good, so the intervals of their probabilities are wide:

    >>> cpt(model, "safety", interval=0.9)[["acc", "good"]].round(2)
    class    acc                 good
           lower estimate upper lower estimate upper
    safety
    low     0.00     0.00  0.01  0.00     0.01  0.04
    med     0.43     0.47  0.51  0.46     0.56  0.65
    high    0.49     0.53  0.57  0.34     0.43  0.53
    """
    probability = check_interval(interval)
    network = check_single_fitted_graph(x := check_model(x), "cpt")
    if probability is not None:
        frame, tally = cpt(x, variable), dirichlet_counts_of(network)
        counts = tally.counts[network.variables.index(variable)]
        bounds = bounds_of_table_entries(counts, tally.prior, probability)
        if variable == x.class_var and network.class_proportions is not None:
            bounds = np.stack([frame.to_numpy()] * 2)  # given, and hence certain
        return with_interval_columns(frame, bounds.reshape(2, *frame.shape))
    table = params(network)
    family = network.families[position_of_variable(network, variable)]
    labels = x.levels_by_name
    index = pd.Index(list(labels[variable]), name=variable, tupleize_cols=False)
    if len(family) == 1:
        return pd.DataFrame({"probability": table[variable]}, index=index)
    headers = [pd.Index(list(labels[v]), name=v, tupleize_cols=False) for v in family[1:]]
    columns = (
        headers[0] if len(headers) == 1 else pd.MultiIndex.from_product(headers, names=family[1:])
    )
    if variable in network.densities:
        figures = network.densities[variable].parameters_by_name().items()
        return pd.DataFrame({name: figure.ravel() for name, figure in figures}, index=columns)
    return pd.DataFrame(table[variable].reshape(len(index), -1), index=index, columns=columns)
