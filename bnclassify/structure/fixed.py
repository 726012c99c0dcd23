"""Structures that need no search: naive Bayes, AODE, and what the user writes down."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from ..base.graphs import find_cycle
from ..base.messages import suggestion
from ..frames.encoding import (
    Dataset,
    check_class_name,
    check_levels,
    check_names,
    encode,
    encode_columns,
    features_to_learn,
)
from ..model.networks import AODE, BNC, Family, Recipe


def network(
    class_var: Hashable, parents: Mapping[Hashable, Sequence[Hashable]], data: Dataset | None = None
) -> BNC:
    """Build a structure from the feature parents of each feature, levels from data if given."""
    families: tuple[Family, ...] = (
        *((feature, *above, class_var) for feature, above in parents.items()),
        (class_var,),
    )
    if data is None:
        return BNC(class_var, families)
    return BNC(class_var, families, tuple(data.levels[data.positions[family[0]]] for family in families))


def _data_and_features(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset | None,
    features: Iterable[Hashable] | None,
) -> tuple[Dataset | None, tuple[Hashable, ...]]:
    """Return the encoded data, if any, and the features of a structure without search."""
    check_class_name(class_var)
    names = None if features is None else check_names(features, class_var)
    if dataset is None:
        return None, names or ()
    if names is None:
        data = encode(dataset)
        return data, features_to_learn(dataset, data, class_var)
    encode_columns(dataset, [class_var], named_by="class_var")
    data = encode_columns(dataset, [*names, class_var], named_by="features")
    check_levels(data, (*names, class_var))
    wanted = set(names)
    return data, tuple(column for column in data.columns if column in wanted)


def _kept(dataset: object, features: object, chosen: tuple[Hashable, ...]) -> tuple[Hashable, ...] | None:
    """Return the features to take again from other data; None for all that it has."""
    return None if features is None and dataset is not None else chosen


def nb(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Build a naive Bayes structure: the class is the only parent of every feature.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset, optional
        Gives the features, all columns but the class, and the levels of each variable.
    features : list of str, optional
        The features to take; with ``dataset`` a selection of its columns. With neither,
        the class stands alone.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters.

    Raises
    ------
    KeyError
        If the class or a feature is not a column of ``dataset``.
    TypeError
        If ``class_var`` is no name, or a column holds no categories.
    ValueError
        If a feature is named twice, or the class is among them, or no value of a column is known.

    Warns
    -----
    UserWarning
        If, of columns not chosen by name, one has a value of its own in every row.

    References
    ----------
    .. [1] Minsky, M. (1961). Steps toward artificial intelligence. Proceedings of the IRE 49.

    Examples
    --------
    >>> from bnclassify import load_car, nb
    >>> nb("class", load_car())
    <BLANKLINE>
      Bayesian network classifier
    <BLANKLINE>
      class variable:      class
      num. features:       6
      num. arcs:           6
      learning algorithm:  nb
    """
    data, chosen = _data_and_features(class_var, dataset, features)
    model = network(class_var, dict.fromkeys(chosen, ()), data)
    return replace(model, recipe=Recipe(partial(nb, class_var, features=_kept(dataset, features, chosen))))


def aode(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> AODE | BNC:
    """Build an AODE: an ensemble with one estimator for each feature as parent of all others.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset, optional
        Gives the features, all columns but the class, and the levels of each variable.
    features : list of str, optional
        The features to take; with ``dataset`` a selection of its columns.

    Returns
    -------
    AODE
        With fewer than two features, the naive Bayes, a BNC.

    Raises
    ------
    KeyError, TypeError, ValueError
        As for `nb`.

    Warns
    -----
    UserWarning
        As for `nb`.

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating
       one-dependence estimators. Machine Learning 58.

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, modelstring
    >>> model = aode("class", load_car(), features=["doors", "safety"])
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """
    data, chosen = _data_and_features(class_var, dataset, features)
    recipe = Recipe(partial(aode, class_var, features=_kept(dataset, features, chosen)))
    if len(chosen) < 2:
        return replace(network(class_var, dict.fromkeys(chosen, ()), data), recipe=recipe)
    levels = None if data is None else tuple(data.levels[data.positions[v]] for v in (*chosen, class_var))
    return AODE(class_var, chosen, levels, recipe=recipe)


def anb(
    class_var: Hashable,
    parents: Mapping[Hashable, Sequence[Hashable]],
    dataset: pd.DataFrame | Dataset | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Build an augmented naive Bayes with the arcs between features that you write down.

    Parameters
    ----------
    class_var : str
        Name of the class, a parent of every feature without being named as one.
    parents : mapping
        A feature to the list of its feature parents (a text is one parent). Features that
        are not named have none.
    dataset : pandas.DataFrame or Dataset, optional
        Gives the features and their levels.
    features : list of str, optional
        The features to take. With neither ``dataset`` nor ``features``, those that
        ``parents`` mentions.

    Returns
    -------
    BNC

    Raises
    ------
    KeyError
        If ``parents`` mentions a feature that is not there.
    ValueError
        If the arcs form a cycle, a parent is named twice, or is the class.

    Examples
    --------
    >>> from bnclassify import anb, load_car, modelstring
    >>> modelstring(anb("class", {"maint": ["buying"]}, load_car(), features=["buying", "maint"]))
    '[class] [buying|class] [maint|buying:class]'
    """
    if not isinstance(parents, Mapping):
        raise TypeError(
            "parents: expected a dict from a feature to the list of its parents, "
            f"got {type(parents).__name__}"
        )
    above = {feature: _as_parents(feature, names) for feature, names in parents.items()}
    mentioned = tuple(dict.fromkeys(name for f, ps in above.items() for name in (f, *ps)))
    if class_var in mentioned:
        raise ValueError(
            f"parents: {class_var!r} is the class, a parent of every feature already; leave it out"
        )
    open_choice = dataset is None and features is None
    data, chosen = _data_and_features(class_var, dataset, mentioned if open_choice else features)
    _check_arcs(above, chosen)
    model = network(class_var, {f: above.get(f, ()) for f in chosen}, data)
    kept = _kept(dataset, features, chosen)
    return replace(model, recipe=Recipe(partial(_anb, class_var, tuple(above.items()), features=kept)))


def _anb(
    class_var: Hashable, arcs: tuple[tuple[Hashable, Family], ...], dataset: Dataset, **options: Any
) -> BNC:
    """Build the structure again, from arcs that cannot be changed meanwhile."""
    return anb(class_var, dict(arcs), dataset, **options)


def _as_parents(feature: Hashable, names: object) -> Family:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise TypeError(f"parents: expected a list of the parents of {feature!r}, got {names!r}")
    return tuple(names)


def _check_arcs(parents: Mapping[Hashable, Family], features: tuple[Hashable, ...]) -> None:
    for feature, above in parents.items():
        for name in (feature, *above):
            if name not in features:
                raise KeyError(f"parents: {name!r} is not among the features; {suggestion(name, features)}")
        if len(set(above)) < len(above):
            raise ValueError(f"parents: a parent of {feature!r} is named twice in {above}")
    cycle = find_cycle(parents)
    if cycle:
        raise ValueError(f"parents: the arcs form a cycle: {' -> '.join(map(str, cycle))}; drop one of them")


def from_modelstring(text: str, class_var: Hashable) -> BNC:
    """Read a structure in bnlearn's notation, as `modelstring` writes it.

    Parameters
    ----------
    text : str
        A bracket a variable, ``[child|parent:parent]``, in any order, with or without spaces
        between the brackets.
    class_var : str
        Which of the variables is the class. It must be a parent of all others.

    Returns
    -------
    BNC
        Its features in the order of the text.

    Raises
    ------
    ValueError
        If the text is not in that notation, or its structure is no augmented naive Bayes.

    References
    ----------
    .. [1] Scutari, M. (2010). Learning Bayesian networks with the bnlearn R package. Journal
       of Statistical Software 35.

    Examples
    --------
    >>> from bnclassify import families, from_modelstring
    >>> families(from_modelstring("[class][buying|class][maint|buying:class]", "class"))["maint"]
    ('maint', 'buying', 'class')
    """
    if not isinstance(text, str) or not isinstance(class_var, str):
        raise TypeError(
            "text, class_var: expected a text such as '[class] [x|class]' and the name of the class, got "
            f"{type(text).__name__} and {type(class_var).__name__}"
        )
    brackets = re.findall(r"\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]", text)
    if not brackets or re.sub(r"\[[^\[\]|]+(\|[^\[\]|]+)?\]", "", text).strip():
        raise ValueError(f"text: expected brackets such as '[class] [x|class]', got {text!r}")
    if len({name for name, _ in brackets}) < len(brackets):
        raise ValueError(f"text: each variable may have one bracket only: {text!r}")
    above = {name: tuple(names.split(":")) if names else () for name, names in brackets}
    if above.pop(class_var, None) != ():
        raise ValueError(f"class_var: expected a bracket [{class_var}] without parents in {text!r}")
    for name, names in above.items():
        strange = [parent for parent in names if parent not in above and parent != class_var]
        if strange or len(set(names)) < len(names):
            raise ValueError(
                f"text: each parent of {name!r} must have a bracket and be named once, got {':'.join(names)}"
            )
        if class_var not in names:
            raise ValueError(
                f"text: {name!r} does not have the class {class_var!r} as a parent, as every feature must"
            )
    inner = {name: [n for n in names if n != class_var] for name, names in above.items()}
    return anb(class_var, inner, features=inner)
