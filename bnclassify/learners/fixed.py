"""Structures without search: naive Bayes, and structures given by the user."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ..classifiers import BNC, Family, check_families
from ..frames import InFull, InParts, mark_as_averaging, schema_and_features
from ..model import Recipe, Step
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, ListOf, OneOf, check_column_name, must_be
from ..tools.immutable import record
from ..tools.messages import shown
from .networks import families_from_parents, network


def features_for_recipe(
    dataset: object, features: object, chosen: tuple[Hashable, ...]
) -> tuple[Hashable, ...] | None:
    """Return the features that the recipe selects from other data; None for all columns."""
    return None if features is None and dataset is not None else chosen


@mark_as_averaging
@with_call_advice("Pass features by name: nb(class_var, dataset, features=[...]).")
def nb(
    class_var: Hashable,
    dataset: InFull | InParts | None = None,
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
    dataset: InFull | InParts | None = None,
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
    given = {name: _check_parents_of_feature(name, names) for name, names in parents.items()}
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
    dataset: InFull | InParts,
    *,
    parents: tuple[tuple[Hashable, Family], ...],
    features: tuple[Hashable, ...] | None = None,
) -> BNC:
    """Build the structure again from immutable arcs."""
    return anb(class_var, dict(parents), dataset, features=features)


def _check_parents_of_feature(feature: Hashable, names: object) -> Family:
    if isinstance(names, str):
        return (names,)
    parents = ListOf(f"the parents of {shown(feature)}").check("parents", names)
    for name in parents:
        check_column_name(name, "parents")
    return tuple(parents)


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
    class_var: Hashable, dataset: InFull | InParts, *, families: tuple[Family, ...]
) -> BNC:
    """Build a network from its families again, with the levels of data."""
    names = features_of_families(families)
    schema, _ = schema_and_features(dataset, class_var, names)
    levels = None if schema is None else schema.select((*names, class_var)).levels
    return BNC(class_var, families, levels)


def features_of_families(families: Sequence[Family]) -> tuple[Hashable, ...]:
    """Return the features of the families."""
    return tuple([family[0] for family in families[:-1]])
