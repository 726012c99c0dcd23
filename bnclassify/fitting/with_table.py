"""Given tables and class proportions: a network of given tables, and models with some replaced."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..accessors import (
    check_fitted,
    check_model,
    check_single_fitted_graph,
    position_of_variable,
    replace_class_prior,
)
from ..classifiers import BNC, MOST_ESS, Family, Given, Graph
from ..dataset import Countable, Known
from ..model import A_NETWORK, GIVEN, ClassPrior, Model, Step, Tally, replace_unchecked
from ..networks.em import expected_counts, rows_completed_with_each_class
from ..structure import fixed_again, network_with_families
from ..tools.arrays import Array, Mask
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, OneOf, Optional, Real, must_be
from ..tools.immutable import record
from ..tools.messages import listed, shown, to_python_scalar

X = TypeVar("X", bound=Model)


def with_table(x: X, variable: Hashable, frame: pd.DataFrame) -> X:
    """Replace the conditional probability table of one variable.

    Parameters
    ----------
    x : BNC or DN
        Fitted model.
    variable : str
        A feature or the class.
    frame : pandas.DataFrame
        The new table, as `cpt` returns it: one row per level of the variable,
        and one column per configuration of its parents, or one column if it has
        no parents. Each column sums to 1. Rows and columns are matched by
        label, so they can be in any order.

    Returns
    -------
    BNC or DN
        The model with this table, but without counts, so `update` and credible
        intervals raise an error. `cv` also replaces the table in each fold.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the labels of `frame` differ from the table, or a column is not a
        distribution.

    Examples
    --------
    An expert corrects the probability that a car of low safety is acceptable,
    which is 0:

    >>> from bnclassify import bnc, cpt, load_car, predict, with_table
    >>> car = load_car()
    >>> model = bnc("nb", "class", car, smooth=1)
    >>> table = cpt(model, "safety")
    >>> table["acc"] = [0.0, 0.5, 0.5]
    >>> predict(with_table(model, "safety", table), car.head(1), prob=True).round(6)["acc"].item()
    0.0
    """
    network = check_single_fitted_graph(x := cast("X", check_model(x)), "with_table")
    if network is not x:
        expected = "a single network, whose tables are used unchanged"
        raise TypeError(must_be("x", expected, x, f"Fit one: {A_NETWORK}."))
    family = network.families[position_of_variable(network, variable)]
    if variable in network.densities:
        raise TypeError(
            must_be("variable", "a variable with a table", variable, "Numbers have densities.")
        )
    replaced = _with_replaced_table(
        network, variable, _array_of_table(frame, family, network.levels_by_name)
    )
    return cast("X", replaced)


def _with_replaced_table(x: Graph, variable: Hashable, table: Array) -> Graph:
    """Return a network with another table of a variable, and a recipe that replaces it again."""
    tables = dict(zip(x.variables, x.cpts or (), strict=True)) | {variable: table}
    recipe = x.recipe
    if recipe is not None and recipe.parameters is not None:
        name = f"{recipe.parameters}, then with_table(x, {shown(variable)}, ...)"
        settings = {"parameters": recipe.parameters, "variable": variable}
        settings["table"] = _nested_tuples(table.tolist())
        recipe = replace(recipe, parameters=Step(name, table_again, settings, draws=True))
    given = None if variable == x.class_var else x.class_proportions
    changed = replace_unchecked(x, cpts=tuple(tables.values()), learned={}, recipe=recipe)
    return changed.with_class_proportions(given)


def _nested_tuples(values: object) -> object:
    return tuple(map(_nested_tuples, values)) if isinstance(values, list) else values


@record
def table_again(
    x: Model,
    dataset: Countable,
    *,
    parameters: Step,
    variable: Hashable,
    table: ArrayLike,
    rng: np.random.Generator | None = None,
) -> Graph:
    """Estimate the parameters of a structure, and replace a table again."""
    fitted: Graph = parameters(x, dataset, rng=rng)
    array = np.array(table, dtype=np.float64)
    if (fitted.cpts or ())[position_of_variable(fitted, variable)].shape != array.shape:
        raise ValueError(f"{shown(variable)} must have the parents of the given table")
    return _with_replaced_table(fitted, variable, array)


GIVEN.add(table_again)


@with_call_advice("Pass options by name: from_tables(class_var, tables, rows=100).")
def from_tables(
    class_var: Hashable, tables: Mapping[Hashable, pd.DataFrame], *, rows: float | None = None
) -> BNC:
    """Build a network from given conditional probability tables.

    Parameters
    ----------
    class_var : str
        Name of the class.
    tables : dict of pandas.DataFrame
        The table of each variable, as `cpt` returns it: one row per level, one
        column per configuration of the parents, which ``columns.names`` lists,
        or one column without a name if the variable has no parents. Each column
        sums to 1.
    rows : float, optional
        Number of rows that the tables are worth, as if they were estimated from
        this number of rows. With it, `update` and `pool` combine the tables
        with data, and credible intervals follow. By default, the tables are
        certain.

    Returns
    -------
    BNC
        With parameters and, with `rows`, counts. Its features are in the order
        of `tables`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the class has no table, a column of a table does not sum to 1, the
        arcs form a cycle, or `rows` is not greater than 0.

    Notes
    -----
    The counts are `rows` rows in the proportions of the network: a column of a
    table is worth as many of them as have its configuration of the parents.
    After `update` by n rows, a table without parents is (rows · table + counts)
    / (rows + n). In `pool`, the model has the prior of the other models.

    Examples
    --------
    A test that detects 90 % of the cases of an illness and has 5 % false
    alarms:

    >>> import pandas as pd
    >>> from bnclassify import from_tables, predict
    >>> ill = pd.DataFrame({"probability": [0.99, 0.01]}, index=["no", "yes"])
    >>> test = pd.DataFrame([[0.95, 0.10], [0.05, 0.90]], index=["negative", "positive"],
    ...                     columns=pd.Index(["no", "yes"], name="ill"))
    >>> model = from_tables("ill", {"ill": ill, "test": test})
    >>> predict(model, {"test": "positive"}, prob=True).round(3)
    ill     no    yes
    0    0.846  0.154

    The tables are worth 200 rows. Of ten further people, three are ill:

    >>> from bnclassify import cpt, update
    >>> model = from_tables("ill", {"ill": ill, "test": test}, rows=200)
    >>> results = ["negative"] * 7 + ["positive"] * 3
    >>> seen = pd.DataFrame({"ill": ["no"] * 7 + ["yes"] * 3, "test": results})
    >>> cpt(update(model, seen), "ill", interval=0.95).round(3).loc["yes"].tolist()
    [0.008, 0.024, 0.048]
    """
    Optional(Real(above=0, most=MOST_ESS)).check("rows", rows)
    Instance(Mapping, "a dict from variables to DataFrames").check("tables", tables)
    for name, table in tables.items():
        Instance(pd.DataFrame, "a DataFrame, as cpt returns it").check(f"tables[{name!r}]", table)
    OneOf(tables, "a variable with a table").check("class_var", class_var)
    parents: dict[Hashable, tuple[Hashable, ...]] = {}
    for name, frame in tables.items():
        names = tuple(frame.columns.names)
        parents[name] = () if names == (None,) else names
        for parent in parents[name]:
            OneOf(tables, "a variable with a table").check(f"a parent of {shown(name)}", parent)
    levels = {name: tuple(map(to_python_scalar, frame.index)) for name, frame in tables.items()}
    structure = network_with_families(
        class_var, parents, Step("from_tables", fixed_again), origin="tables"
    )
    cpts = [_array_of_table(tables[family[0]], family, levels) for family in structure.families]
    x = replace(structure, levels=tuple([levels[v] for v in structure.variables]), cpts=tuple(cpts))
    if rows is None:
        return x
    unknown = rows_completed_with_each_class(np.full((len(x.variables), 1), -1), x.cards)
    joint, _ = expected_counts(x.scopes, cpts, unknown)
    # 1e-9: share of rows with a parent configuration of probability 0, whose column stays as it is
    shares = [np.maximum(table.sum(axis=0), 1e-9) for table in joint]
    tally = Tally(
        tuple([rows * share * table for share, table in zip(shares, cpts, strict=True)]), Given()
    )
    return replace_unchecked(x, learned={"counts": tally})


def _array_of_table(frame: pd.DataFrame, family: Family, levels: Known) -> Array:
    """Return the array of a table in a frame, with axes in the order of the family, or raise."""
    variable, *parents = family
    Instance(pd.DataFrame, "a DataFrame, as cpt returns it").check(
        f"the table of {shown(variable)}", frame
    )
    if len(parents) > 1 and set(frame.columns.names) == set(parents):
        by_name: list[Any] = parents  # as positions can be names, too
        frame = frame.reorder_levels(by_name, axis=1)
    place = f"of the table of {shown(variable)}"
    rows = _positions_in_index(
        frame.index, [(label,) for label in levels[variable]], f"rows {place}"
    )
    columns = [0]
    if parents or frame.shape[1] != 1:
        wanted = list(product(*[levels[parent] for parent in parents]))
        columns = _positions_in_index(frame.columns, wanted, f"columns {place}")
    table: Array = frame.to_numpy(dtype=np.float64)[np.ix_(rows, columns)]
    sums: Array = table.sum(axis=0)
    wrong: Mask = (table < 0).any(axis=0) | ~(np.abs(sums - 1) <= 1e-8)
    if wrong.any():
        got = f"the sum {sums[wrong][0]:.10g}. Divide each column by its sum."
        if (table < 0).any():
            got = f"{table.min():g}."
        raise ValueError(
            f"the table of {shown(variable)} must have columns of probabilities that sum to 1; got "
            f"{got}"
        )
    return table.reshape([len(levels[v]) for v in family])


def _positions_in_index(
    index: pd.Index[Any], wanted: list[tuple[Hashable, ...]], what: str
) -> list[int]:
    """Return the positions of labels, one per level in a tuple, in a unique index, or raise."""
    found = {
        label if isinstance(index, pd.MultiIndex) else (label,): i for i, label in enumerate(index)
    }
    if len(index) != len(wanted) or found.keys() != set(wanted):
        labels = [label[0] if len(label) == 1 else label for label in wanted]
        raise ValueError(
            f"{what} must have the labels {listed(labels)}; got {listed(index.tolist())}."
        )
    return [found[label] for label in wanted]


@with_call_advice("Give a proportion of each class: with_prior(x, {'yes': 0.02, 'no': 0.98}).")
def with_prior(x: X, prior: ClassPrior) -> X:
    """Replace the class proportions of a model by those of another population.

    If the classes are more or less frequent in production than in the training
    data, for example because rare cases were sampled more often, the
    probabilities of the model are wrong there. The returned model has the right
    ones everywhere: in `predict`, `explain`, `to_sql`, `write_page`, files,
    scorecards and tables of effects.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model of one class variable, of any type.
    prior : dict or pandas.Series
        Proportion of each class, greater than 0; they sum to 1.

    Returns
    -------
    BNC, AODE or another model
        A model of the same type, whose `predict` is that of `x` with this
        ``prior``. If no feature is known, it predicts these proportions. `cv`
        and `update` keep them, and `with_prior` replaces them.

    Raises
    ------
    TypeError, ValueError
        If `x` has several class variables, whose joint distribution a
        proportion of each class does not determine, or `prior` is not a
        distribution of the classes.

    See Also
    --------
    predict : Its argument ``prior`` does the same for a single call.
    scorecard : Call it after `with_prior` if ``pdo`` is given, so that its scale fits.

    Notes
    -----
    With the learned proportions P(c) and the given ones Q(c), ln Q(c) / P(c) is
    added to the score of each class. By Bayes' rule, this is exact if the
    features of a class are distributed as in training [1]_. In a network, the
    class has a table with the given proportions; if it has parents, no table
    contains them, so functions that need the joint distribution raise an error.
    `loglik`, `AIC` and `BIC` are those of the changed model, with as many
    parameters as before. `cv` of rows in which the classes have the old
    proportions finds a larger log-loss, as it should.

    For an estimator with ``prior``, functions use its model with this prior.
    A model of ``from_effects(effects(x), dataset=...)`` has the proportions in
    complete rows, and those of the dataset if nothing is known, so call
    `with_prior` after it.

    References
    ----------
    .. [1] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the
       outputs of a classifier to new a priori probabilities: a simple
       procedure. Neural Computation 14.

    Examples
    --------
    Half of the sampled claims are frauds, but 2 % of all claims:

    >>> import pandas as pd
    >>> from bnclassify import bnc, predict, with_prior
    >>> night = ["yes"] * 40 + ["no"] * 10 + ["yes"] * 15 + ["no"] * 35
    >>> claims = pd.DataFrame({"night": night, "claim": ["fraud"] * 50 + ["honest"] * 50})
    >>> model = bnc("nb", "claim", claims, smooth=1)
    >>> predict(model, {"night": "yes"}, prob=True).round(3)
    claim  fraud  honest
    0      0.719   0.281
    >>> real = with_prior(model, {"fraud": 0.02, "honest": 0.98})
    >>> predict(real, {"night": "yes"}, prob=True).round(3)
    claim  fraud  honest
    0       0.05    0.95
    """
    return cast("X", replace_class_prior(check_fitted(x), prior))
