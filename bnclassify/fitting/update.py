"""More rows for a model that follows from counts: `update` adds rows, `pool` those of models."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any, Literal, TypeVar, cast

from ..accessors import check_fitted, unwrap_estimator
from ..classifiers import Given
from ..counts import Recoding
from ..dataset import Columns, Countable, OpenedData, united_levels
from ..frames import AnyTable, open_data
from ..model import PROPORTIONS, Model, Tally, TrainingRows, check_counted, replace_unchecked
from ..parameters import rows_to_learn_from
from ..tools.arrays import sum_nested
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, ListOf, OneOf
from ..tools.messages import shown

M = TypeVar("M", bound=Model)

_TABLES = ("cpts", "class_cpts", "priors", "superparents", "children")
"""The fields that hold the tables of models."""


@with_call_advice("The class is a column of the data: update(x, dataset).")
def update(x: M, dataset: AnyTable | Countable, *, levels: Literal["same", "grow"] = "same") -> M:
    """Add rows to the training data of the parameters of a model.

    The result is the same as from all rows at once, given the structure and its
    levels, because `lp` keeps the counts and the prior.

    Parameters
    ----------
    x : BNC, AODE or another model
        Model with parameters that `lp` estimated from counts: with smooth, ess,
        m or backoff.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Rows to add, weighted if they have weights.
    levels : {"same", "grow"}, default "same"
        With "same", new levels raise an error. With "grow", they are added
        after the known ones.

    Returns
    -------
    BNC, AODE or another model
        Like ``x``, with the same structure.

    Raises
    ------
    KeyError, TypeError, ValueError
        If parameters do not follow from counts alone, as with weights, averages
        and EM, or a value is not among the levels of ``x`` and ``levels`` is
        "same".

    Notes
    -----
    The amounts of back-off are estimated again from all counts. Structure and
    cut points do not change.

    Examples
    --------
    Half of the cars, sorted by price, then the others:

    >>> from bnclassify import cpt, load_car, lp, nb, update
    >>> car = load_car()
    >>> model = lp(nb("class", car), car.iloc[600:], smooth=1)
    >>> cpt(model, "class").loc["vgood"].round(3).item()
    0.058
    >>> cpt(update(model, car.iloc[:600]), "class").loc["vgood"].round(3).item()
    0.038
    """
    OneOf(("same", "grow")).check("levels", levels)
    model, rows = check_fitted(x), open_data(dataset)
    if levels == "grow":
        fixed = {*model.discretizer.cuts, *model.merger.columns}
        names = [name for name in model.variables if name not in fixed]
        known = None if rows.in_parts else model.levels_by_name
        numeric = [name for name in names if name in model.densities]
        data = rows.read(Columns(names, known, numeric))
        own = model.levels_by_name
        model = with_more_levels(
            model, united_levels_by_name([own, {**own, **data.schema.levels_of}])
        )
    return cast("M", model.fit_chain_links(_add_rows, rows))


def _add_rows(x: Model, dataset: OpenedData) -> Model:
    rows: Countable = rows_to_learn_from(x, dataset)

    def add_rows_to_part(part: Model) -> Model:
        tally = check_counted(part).tally()
        more = check_counted(part).count_all(rows, tally.prior)
        grown = model_of_pooled_counts(part, [tally.counts, more])
        return with_training_rows(grown, part, TrainingRows.from_data(rows, part.targets))

    grown = x.map_counted_parts(add_rows_to_part)
    return with_training_rows(grown, x, TrainingRows.from_data(rows, x.targets))


def pool(models: Iterable[M], *, levels: Literal["same", "union"] = "same") -> M:
    """Combine models of one structure into the model of all their rows.

    The sites of a study can fit a structure to their rows and share the models:
    these contain counts, but not the rows. The result equals the fit to the
    rows of all sites up to rounding.

    Parameters
    ----------
    models : list of models
        Models with the same structure and prior, and parameters that `lp`
        estimated from counts: with smooth, ess, m or backoff.
    levels : {"same", "union"}, default "same"
        With "same", models must have the same levels in the same order. With
        "union", levels that only some models have are united, in order of the
        models.

    Returns
    -------
    BNC, AODE or another model
        Like the first model, with the parameters that follow from all counts.

    Raises
    ------
    KeyError, TypeError, ValueError
        If parameters do not follow from counts alone, as with weights and EM,
        or the models differ in structure, prior or cut points, or in levels and
        ``levels`` is "same".

    Notes
    -----
    Tables and concentrations of back-off are estimated from the sums of the
    counts, and means and variances of numbers are combined [1]_. Structure and
    cut points must be the same, so learn them at one site or from public data.
    Counts are not anonymous: a count of 1 describes a single row.

    References
    ----------
    .. [1] Chan, T. F., Golub, G. H., LeVeque, R. J. (1983). Algorithms for
       computing the sample variance. The American Statistician 37.

    Examples
    --------
    Three sites, of which the first two have not seen a very good car:

    >>> from bnclassify import cpt, load_car, lp, nb, pool
    >>> car = load_car().sort_values("class")
    >>> structure = nb("class", load_car())
    >>> sites = [lp(structure, car.iloc[at : at + 576], smooth=1) for at in (0, 576, 1152)]
    >>> [cpt(site, "class").loc["vgood"].round(3).item() for site in (*sites, pool(sites))]
    [0.002, 0.002, 0.114, 0.038]
    """
    OneOf(("same", "union")).check("levels", levels)
    found: list[Model] = list(
        map(unwrap_estimator, ListOf("models", filled=True).check("models", models))
    )
    for i, x in enumerate(found):
        Instance(Model, "a model").check(f"models[{i}]", x)

    def with_counts(part: Model) -> Model:
        check_counted(part).tally()  # which raises without counts
        return part

    def pooled_model(*models: Model) -> Model:
        counts = [check_counted(x).tally().counts for x in models]
        return with_training_rows(model_of_pooled_counts(models[0], counts), *models)

    checked = [check_fitted(x).map_counted_parts(with_counts) for x in found]
    tallies = [x.learned.get("counts") for x in checked]
    priors = [
        tally.prior for tally in tallies if tally is not None and not isinstance(tally.prior, Given)
    ]
    for i, tally in enumerate(tallies if priors else ()):  # given tables have that of the others
        if tally is not None and isinstance(tally.prior, Given):
            learned = {**checked[i].learned, "counts": replace(tally, prior=priors[0])}
            checked[i] = replace_unchecked(checked[i], learned=learned)
    first, *others = checked
    for i, other in enumerate(others, start=1):
        _check_same_settings(first, other, number=i)
        first.map_counted_parts(partial(_check_same_settings, number=i), other)
        for name, labels in first.levels_by_name.items():
            theirs = other.levels_by_name[name]
            if levels == "same" and labels != theirs:
                remedy = "Use levels='union' to unite them."
                raise _differing_models_error(f"levels of {shown(name)}", labels, theirs, i, remedy)
    known = united_levels_by_name([x.levels_by_name for x in (first, *others)])
    first, *others = [with_more_levels(x, known) for x in (first, *others)]
    pooled = first.map_counted_parts(pooled_model, *others)
    return cast("M", with_training_rows(pooled, first, *others))


def with_training_rows(x: Model, *sources: Model | TrainingRows) -> Model:
    """Return a model with its rows, which are those of several models or `TrainingRows`."""
    rows = [source if isinstance(source, TrainingRows) else source.trained_on for source in sources]
    if x.recipe is None or x.recipe.rows is None:
        return x
    return replace_unchecked(
        x, recipe=replace(x.recipe, rows=None if None in rows else reduce(add, rows))
    )


def model_of_pooled_counts(x: Model, counts: Iterable[tuple[Any, ...]]) -> Model:
    """Return the model of rows that were counted apart."""
    counted = check_counted(x)
    tally = Tally(sum_nested(counts), counted.tally().prior)
    pooled = counted.tabulate(tally.with_narrow_arrays())
    return pooled.with_class_proportions(x.class_proportions)


def with_more_levels(x: Model, levels: Mapping[Hashable, tuple[Hashable, ...]]) -> Model:
    """Return a model with counts for levels that contain its own, or itself if they are equal."""
    if levels == x.levels_by_name:
        return x
    if x.class_proportions is not None and levels[x.class_var] != x.known_levels[-1]:
        raise ValueError(
            "x must have the class proportions of its rows to get more classes; got those of "
            "with_prior. Call with_prior last."
        )

    def model_of_more_levels(part: Model) -> Model:
        """Return the model with its counts, but no tables."""
        recodings = {
            name: Recoding.from_labels(labels, levels[name])
            for name, labels in part.levels_by_name.items()
        }
        bare = replace_unchecked(part, **{name: None for name in _TABLES if name in vars(part)})
        grown = replace_unchecked(bare, levels=tuple([levels[name] for name in part.variables]))
        tally, given = check_counted(part).tally(), part.class_proportions
        counts = check_counted(grown).recoded_counts(tally.counts, recodings, part)
        kept = {} if given is None else {PROPORTIONS: given}
        return replace_unchecked(grown, learned={"counts": Tally(counts, tally.prior), **kept})

    return x.map_counted_parts(model_of_more_levels)


def united_levels_by_name(
    levels: Iterable[Mapping[Hashable, tuple[Hashable, ...]]],
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Unite the levels of the same variables, in order."""
    known, *others = map(dict, levels)
    for more in others:
        known = {name: united_levels(name, labels, more[name]) for name, labels in known.items()}
    return known


def _check_same_settings(first: Model, other: Model, *, number: int) -> Model:
    """Return the first model, or raise a ValueError that names a property that differs."""
    theirs_by_name: Mapping[str, object] = check_counted(other).properties_to_agree
    for name, own in check_counted(first).properties_to_agree.items():
        theirs = theirs_by_name.get(name)
        if own != theirs:
            if isinstance(own, tuple) and isinstance(theirs, tuple):  # show the first that differ
                pairs = zip(own, theirs, strict=False)
                own, theirs = next((pair for pair in pairs if pair[0] != pair[1]), (own, theirs))
            remedy = "Fit one structure with the same arguments of lp at each site."
            raise _differing_models_error(name, own, theirs, number, remedy)
    return first


def _differing_models_error(
    what: str, own: object, theirs: object, number: int, remedy: str
) -> ValueError:
    found = f"got {shown(own)} and, in models[{number}], {shown(theirs)}"
    return ValueError(f"models must have the same {what}; {found}. {remedy}")
