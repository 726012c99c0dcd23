"""Imputation: the most probable values of missing ones, or draws from their posterior."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import (
    check_has_joint_distribution,
    encode_for_model,
    has_posterior_of_tables,
    model_with_all_tables_drawn,
)
from ..classifiers import PRIORS, Drawn, PseudoCounts, find_prior
from ..dataset import Dataset, Schema, codes_by_levels
from ..elimination import BURN_IN, MOST_SWEEPS
from ..frames import AnyTable, frame_of
from ..model import Model, Tally, check_counted
from ..tools.arrays import Array, Codes, Mask, code_type
from ..tools.calls import with_call_advice
from ..tools.checks import Optional, Seed, Whole, check_rng
from .sample import means_or_draws_of_numbers


@with_call_advice("Pass options by name: impute(x, frame, draws=n, rng=seed).")
def impute(
    x: Model,
    frame: pd.DataFrame | AnyTable,
    *,
    draws: int | None = None,
    rng: Seed = None,
    burn_in: int = BURN_IN,
) -> pd.DataFrame:
    """Fill in missing values by the most probable combination, or draw them.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution, or a dependency network.
    frame : pandas.DataFrame
        Data with one column per feature of the model. Without a column of the
        class, the class is treated as missing and is not returned.
    draws : int, optional
        Number of completions to draw, for multiple imputation. By default, the
        most probable one is returned.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.
    burn_in : int, default 100
        Number of sweeps of Gibbs sampling before the first draw, for a
        dependency network, as in `sample`, or a model fitted by EM.

    Returns
    -------
    pandas.DataFrame
        A copy of `frame` without missing values in the columns of the model. A
        number that the model discretizes is replaced by the mean of the
        training values in the most probable interval, and a number with a
        density by its mean given the other values. Such columns have type
        float, and their imputed numbers have fractions even if the others are
        whole; round them if they must be. With `draws`, this number of
        completions of `frame`, concatenated, with a first level of the index
        ``draw`` from 0. The missing values of a row are drawn together from
        their posterior, numbers uniformly from an interval or from their
        density.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the model does not define a joint distribution, there are too many
        combinations of missing values in a row, or the completions would have
        more than 2²⁸ values.

    Notes
    -----
    The values jointly maximize P(row) or, in a dependency network, the product
    of its tables. To fit a model to incomplete rows, use
    ``lp(..., missing="em")``. To estimate another quantity, draw several
    completions, compute it in each, and pool the results by Rubin's rules [1]_.

    These rules require that completions differ as much as the tables are
    uncertain. If the tables follow from counts and the prior adds pseudo-counts
    (smooth, ess or m above 0), they are drawn from their Dirichlet posterior,
    once for each completion. If `lp` fitted the model by EM to as many rows as
    `frame` has, with a column of the class, tables and completions are drawn
    alternately given these rows (data augmentation [2]_). For all other models,
    all completions have the same tables, and pooled intervals are too narrow:
    models with weights, back-off, densities, averaged cut points or given
    tables, and new rows for a model of EM. In these cases, draw each completion
    from a model of a bootstrap sample.

    References
    ----------
    .. [1] Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys.
       Wiley.
    .. [2] Tanner, M. A., Wong, W. H. (1987). The calculation of posterior
       distributions by data augmentation. Journal of the American Statistical
       Association 82.

    Examples
    --------
    >>> from bnclassify import ban, impute, load_voting, lp
    >>> voting = load_voting()
    >>> network = lp(ban("Class", voting.dropna()), voting, smooth=1)
    >>> votes = ["el_salvador_aid", "education_spending", "crime"]
    >>> impute(network, voting).loc[[3, 4], votes]
      el_salvador_aid education_spending crime
    3               y                  n     n
    4               y                  n     y
    """
    model = check_has_joint_distribution(x, "impute", or_sampled=True)
    Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
    table, generator = frame_of(frame, "frame"), None
    # 2**28: maximum number of values of all completions
    most = max(1, min(1_000_000, 2**28 // max(1, table.size)))
    if Optional(Whole(least=1, most=most)).check("draws", draws) is not None:
        if "draw" in table.index.names:
            raise ValueError(
                "frame must not have an index named 'draw', as the result has. Use .rename_axis."
            )
        generator = check_rng(rng)
    levels, discretizer = model.levels_by_name, model.discretizer
    names = model.variables if model.class_var in table.columns else model.features
    data = encode_for_model(model, table, names, "frame")
    rows = model.rows_to_score(data)
    labels = np.full(len(table), -1, dtype=code_type(len(levels[model.class_var])))
    if len(names) > len(model.features):
        labels = codes_by_levels(data, names[-1:], (levels[names[-1]],))[0]
    codes = np.vstack([rows.codes, labels])
    if generator is None or draws is None:
        completed = model.fill_in_codes(rows, labels, burn_in=burn_in)
    else:
        completed = _draw_completions(model, data, labels, draws, generator, burn_in=burn_in)
        codes = np.tile(codes, draws)
        table = pd.concat([table] * draws, keys=range(draws), names=["draw", *table.index.names])
    numbers = means_or_draws_of_numbers(model, completed, generator)
    result = table.copy()
    for i, name in enumerate(names):
        gaps: Mask = codes[i, :] < 0
        filled: Codes = completed[i, gaps]
        if not len(filled):
            continue
        if name in numbers:
            result[name] = _fill_numbers(table[name], gaps, numbers[name][gaps])
        elif discretizer is not None and name in discretizer.cuts:
            inside = (
                discretizer.interval_means(name, filled)
                if generator is None
                else discretizer.draw_numbers(name, filled, generator)
            )
            result[name] = _fill_numbers(table[name], gaps, inside)
        else:
            result[name] = _fill_labels(table[name], gaps, [levels[name][code] for code in filled])
    return result


def _fill_numbers(column: pd.Series[Any], gaps: Mask, numbers: Array) -> pd.Series[Any]:
    """Return a column of floats with missing values replaced by numbers; nullable if it was."""
    nullable = isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
    values = column.to_numpy(dtype=float, na_value=np.nan, copy=True)
    values[gaps] = numbers
    return pd.Series(values, index=column.index, dtype="Float64" if nullable else float)


def _fill_labels(column: pd.Series[Any], gaps: Mask, labels: Sequence[Hashable]) -> pd.Series[Any]:
    """Return a column with missing values replaced by labels, of the same type if possible."""
    objects = column.astype(object).to_numpy(copy=True)
    objects[gaps] = np.fromiter(labels, dtype=object, count=len(labels))
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = list(dtype.categories)
        lacking = [label for label in dict.fromkeys(labels) if label not in categories]
        dtype = pd.CategoricalDtype([*categories, *lacking], dtype.ordered)
    try:
        return pd.Series(objects, index=column.index, dtype=dtype)
    except ValueError:  # numbers, and the text of merged levels
        return pd.Series(objects, index=column.index)


def _draw_completions(
    x: Model, data: Dataset, labels: Codes, draws: int, rng: np.random.Generator, *, burn_in: int
) -> Codes:
    """Return completions, (variables, rows), of data whose classes are ``labels``, side by side."""
    rows, found = x.rows_to_score(data), list[Codes]()
    if has_posterior_of_tables(x):
        for _ in range(draws):
            drawn = model_with_all_tables_drawn(x, rng)
            found.append(drawn.fill_in_codes(rows, labels, rng, burn_in=burn_in))
        return np.concatenate(found, axis=1)
    prior, fitted, step = None, x.trained_on, None if x.recipe is None else x.recipe.parameters
    is_same = fitted is not None and fitted.size == len(data) and x.class_var in data.columns
    if step is not None and is_same and "em" in x.learned:
        prior = find_prior(**{name: step.settings.get(name) for name in PRIORS})
    if not isinstance(prior, PseudoCounts) or not prior.is_positive:
        repeated = np.tile(np.arange(len(data)), draws)
        return x.fill_in_codes(rows.subset(repeated), labels[repeated], rng, burn_in=burn_in)
    # data augmentation: completions given tables, and tables given a completion, in turn
    schema = Schema(x.variables, tuple([x.levels_by_name[name] for name in x.variables]))
    # 0.2: sweeps between two draws of data augmentation, as a share of those before the first
    spacing = max(1, int(burn_in * 0.2))
    for sweep in range(1, burn_in + draws * spacing + 1):
        completed = x.fill_in_codes(rows, labels, rng)
        if sweep > burn_in and (sweep - burn_in) % spacing == 0:
            found.append(completed)
        counts = check_counted(x).count_all(Dataset(schema, completed, data.index), prior)
        drawn = check_counted(x).tabulate(Tally(counts, Drawn(prior, rng)))
        x = drawn.with_class_proportions(x.class_proportions)
    return np.concatenate(found, axis=1)
