"""Arguments of functions: a model that is checked, and data that are encoded by its levels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..dataset import (
    Columns,
    Countable,
    Dataset,
    Opened,
    as_floats,
    warn_of_distant_numbers,
)
from ..frames import Records, open_data, open_rows
from ..scores import scores_at
from ..tools.arrays import Array, Mask
from ..tools.checks import OneOf, is_among, must_be, options_sentence
from ..tools.messages import listed, shown
from .class_prior import (
    ClassPrior,
    ClassProportions,
    check_class_prior,
    with_proportions_again,
)
from .model import Model, replace_unchecked
from .recipes import A_NETWORK, Step

if TYPE_CHECKING:
    from ..network.classifiers import BNC, Graph, Network

_FEW_NAMES = 10  # in advice
_MOST_CELLS = 2**28  # maximum number of cells of a log joint, 2 GiB


def check_model(x: object) -> Model:
    """Return ``x`` if it is a model, or a fitted estimator's model; if not, raise a TypeError."""
    model = unwrap_estimator(x)
    if not isinstance(model, Model):
        advice = _how_to_get_model(x)
        if hasattr(x, "columns"):
            advice = "The model is the first argument, the data the second."
        raise TypeError(
            f"x must be a model (BNC, AODE or another); got {type(x).__name__}. {advice}"
        )
    return model


def _how_to_get_model(x: object) -> str:
    if isinstance(x, str | PathLike):
        return f"Read the file first, with load({shown(str(x))})."
    if hasattr(x, "steps"):
        return (
            "Pass the last step of a pipeline, pipeline[-1], and transformed rows, "
            "pipeline[:-1].transform(rows)."
        )
    return "Learn one first, for example with nb(class_var, dataset)."


def unwrap_estimator(x: Any) -> Any:
    """Return the model of a fitted estimator, and any other value unchanged; raise before `fit`.

    The model has the prior of the estimator. Costs are not a part of a model.
    """
    if isinstance(x, Model) or not hasattr(x, "predict_proba") or not _is_estimator_of_package(x):
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


def _is_estimator_of_package(x: object) -> bool:
    """Whether a class of this package is among a value's, found without importing scikit-learn."""
    package = __name__.partition(".")[0]
    return any(kind.__module__.partition(".")[0] == package for kind in type(x).__mro__)


def variables_of_new_data(x: Model) -> tuple[Hashable, ...]:
    """Return the variables that data contain: all, or the features if the class is latent."""
    return x.features if "latent" in x.trace else x.variables


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


def check_fitted(x: object) -> Model:
    """Return ``x`` if it is a model with parameters; if not, raise."""
    model = check_model(x)
    if not model.fitted:
        raise ValueError(
            "the model has no parameters. Pass the result of lp(x, dataset, smooth=...)."
        )
    return model


def check_single_graph(x: object, question: str, *, sized: bool = False) -> Graph:
    """Return the single graph of ``x``, not an average if ``sized``, or raise."""
    model = check_model(x)
    if model.graph is None or (sized and len(model.members) > 1):
        raise _not_single_error(model, question)
    graph: Graph = model.graph
    return graph


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
    uncut = () if x.discretizer is None else x.discretizer.uncut
    for name in names:
        if name not in x.variables and is_among(name, uncut):
            found = f"no cut point was found by method={x.discretizer and x.discretizer.method!r}"
            remedy = f"This column was dropped in training, because {found}."
            raise KeyError(must_be(argument, "a feature of the model", name, remedy))


def _not_single_error(x: Model, question: str) -> TypeError:
    got, remedy = x.type_in_words, "Fit one"
    if len(x.members) > 1:
        got = f"a model of {len(x.members)} networks ({x.type_in_words})"
        remedy = "Call it on each of members(x), or fit a single network"
    return TypeError(
        f"{question} requires a single network (BNC); got {got}. {remedy}: {A_NETWORK}."
    )


def encode_any_source(x: Model, dataset: Any, names: Sequence[Hashable] | None = None) -> Countable:
    """Return encoded variables of a model from data of any source."""
    names = x.variables if names is None else names
    data = open_data(dataset, or_rows=True)
    if not data.in_parts:
        return encode_for_model(x, data, names, argument="dataset")
    data = data if x.preparation is None else data.prepared(x.preparation, x.levels_by_name)
    rows: Countable = data.read(Columns(names, x.levels_by_name, x.densities))
    return rows


def encode_for_model(
    x: Model,
    newdata: Any,
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
    unknown: Sequence[Hashable] = (),
) -> Dataset:
    """Encode new data for a model, by default all its variables; errors name ``argument``.

    The features ``unknown`` have no values in the data.
    """
    data = read_for_model(x, newdata, names, argument, unknown)
    return data if x.preparation is None else x.preparation.prepared_data(data)


def encode_opened_rows(x: Model, rows: Opened[Dataset], names: Sequence[Hashable]) -> Dataset:
    """Return some variables of a model in opened rows, prepared as it reads them."""
    data = _encode_columns(x, rows, names, "dataset")
    return data if x.preparation is None else x.preparation.prepared_data(data)


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
    """Encode new data without discretization and merging."""
    rows = open_rows(newdata, argument)
    if not set(x.variables).intersection(rows.columns):
        check_not_dropped(x, argument, rows.columns)
    names = list(x.variables if names is None else names)
    check_unknown_have_no_values(x, rows, unknown, argument)
    known = [name for name in names if name not in unknown]
    said = list[Hashable]()  # unknown features that some record names
    if isinstance(rows, Records):
        said = [name for name in unknown if name in rows.columns and name in names]
    elif argument in ("newdata", "row"):
        _check_columns_exist(rows.columns, known, argument)
    # A record that names only unknown features is nevertheless one of the model.
    data = _encode_columns(x, rows, [*known, *said], argument).with_unknown_columns(said)
    if argument != "dataset":  # which are often the training data
        _warn_of_unusual_values(x, data)
    others = [name for name in names if name in unknown and name not in said]
    if not others:
        return data
    nothing = Records([dict.fromkeys(unknown)], argument)
    return data.with_unknown_columns_added(_encode_columns(x, nothing, others, argument))


def _warn_of_unusual_values(x: Model, data: Dataset) -> None:
    """Warn of numbers far from those of training, and of merged labels that read like others."""
    kept = () if x.discretizer is None else x.discretizer.kept
    numbers = {name: own for name, own in data.numbers.items() if name not in kept}
    warn_of_distant_numbers(numbers, x.training_ranges)
    if x.preparation is not None and x.preparation.merger is not None:
        x.preparation.merger.warn_of_labels_like_kept(data)


def _check_columns_exist(
    columns: Sequence[Hashable], names: Sequence[Hashable], argument: str
) -> None:
    absent = [name for name in names if name not in columns]
    if not absent:
        return
    advice = f" {options_sentence(absent[0], columns)}" if columns else ""
    named = f"unknown={absent!r}" if len(absent) <= _FEW_NAMES else "their names as unknown"
    or_dict = " to explain, or a dict without them" if argument == "row" else ""
    raise KeyError(
        f"{argument}: no column {listed(absent)} in the data.{advice} If the values are unknown in "
        f"all rows, pass {named}{or_dict}."
    )


def _encode_columns(
    x: Model, rows: Opened[Dataset], names: Sequence[Hashable], argument: str
) -> Dataset:
    """Encode some columns of opened rows, as a model reads them."""
    levels = x.levels_by_name
    wanted = {name: levels[name] for name in names}
    if x.preparation is not None:
        return x.preparation.read(rows, wanted, argument)
    numeric = [name for name in wanted if name in x.densities]
    return rows.encode(Columns(wanted, wanted, numeric, argument))


def check_unknown_have_no_values(
    x: Model, rows: Opened[Dataset], unknown: Sequence[Hashable], argument: str
) -> None:
    """Raise unless features of a model that are said to be unknown have no values in the rows."""
    for name in unknown:
        OneOf(x.features, "a feature of the model").check("unknown", name)
        if name not in rows.columns:
            continue
        if isinstance(rows, Records):  # of which some can omit the name
            column: Opened[Dataset] = Records(
                [{name: row.get(name)} for row in rows.rows], argument
            )
        else:
            column = rows
        data = _encode_columns(x, column, [name], argument)
        known: Mask = np.greater_equal(data.codes[0], 0)
        if name in data.numbers:
            known |= ~np.isnan(as_floats(data.numbers[name]))
        if known.any():
            raise ValueError(
                f"unknown must name features without values in {argument}; got {shown(name)}, "
                f"which has values in {np.count_nonzero(known):,} of {known.size:,} rows. Drop "
                "the column if it must not be used."
            )


def log_joint(x: Model, data: Dataset, *, unseen: str | None = None) -> Array:
    """Return ln P(observed features, class), (rows, classes), of rows with a column per feature."""
    check_size_of_scores(len(data), len(x.known_levels[-1]))
    return scores_at(x.score, x.rows_to_score(data, unseen))


def check_size_of_scores(rows: int, n_classes: int) -> None:
    """Raise a ValueError if an array of rows and classes would need too much memory."""
    if rows * n_classes > _MOST_CELLS:
        raise ValueError(
            f"{rows:,} rows and {n_classes:,} classes would need {rows * n_classes:,} numbers, "
            f"more than {_MOST_CELLS:,}. Pass fewer rows at a time, or merge rare classes."
        )


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
