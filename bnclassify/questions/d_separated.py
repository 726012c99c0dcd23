"""Independence that the arcs of a network imply."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from ..accessors import check_bnc
from ..model import Model
from ..tools import graphs
from ..tools.checks import Names, OneOf
from ..tools.messages import listed

Variables = Hashable | Iterable[Hashable]
"""One name, or a list of names."""


def d_separated(x: Model, a: Variables, b: Variables, given: Variables = ()) -> bool:
    """Return whether a network implies that variables are independent.

    If `a` and `b` are d-separated by `given`, they are independent given these
    variables for all tables that the network can have. If not, some tables make
    them dependent.

    Parameters
    ----------
    x : BNC
        A structure, with or without parameters.
    a, b : str or list of str
        Variables: features or the class.
    given : str or list of str, default ()
        Variables with known values.

    Returns
    -------
    bool
        True if every path between `a` and `b` is blocked by `given`.

    Raises
    ------
    TypeError
        If `x` is not a single Bayesian network.
    KeyError
        If a name is not a variable of `x`.
    ValueError
        If `a` or `b` is empty, or a variable is in two of the three arguments.

    See Also
    --------
    markov_blanket : The variables that separate a variable from all others.
    ci_test : Test in data whether two variables are independent given others.

    Notes
    -----
    A path is blocked by a variable that is given, unless two arcs of the path
    meet in it (a → v ← b). If two arcs meet in a variable, it blocks the path
    unless the variable or a descendant is given. Equivalently [1]_, take the
    variables of all three arguments and their ancestors, join the members of
    each family, remove the arrows and the variables in `given`: `a` and `b` are
    separated if no path is left.

    References
    ----------
    .. [1] Lauritzen, S. L., Dawid, A. P., Larsen, B. N., Leimer, H.-G. (1990).
       Independence properties of directed Markov fields. Networks 20.

    Examples
    --------
    In a naive Bayes, features are independent given the class, and only then:

    >>> from bnclassify import d_separated, load_car, nb
    >>> model = nb("class", load_car())
    >>> d_separated(model, "buying", "safety", given="class")
    True
    >>> d_separated(model, "buying", "safety")
    False
    """
    families = check_bnc(x, "d_separated").parents
    first, second = _names_as_tuple(families, "a", a), _names_as_tuple(families, "b", b)
    known = _names_as_tuple(families, "given", given)
    for name, names, others in [("b", second, first), ("given", known, (*first, *second))]:
        if shared := [v for v in names if v in others]:
            raise ValueError(
                f"a, b and given must not share a variable; {name} repeats {listed(shared)}. "
                "Pass each variable once."
            )
    # The moral graph of the variables and their ancestors, without the known ones: with a → c ← b,
    # the family (c, a, b) joins a and b if c or a descendant of c is among the variables.
    new: list[Hashable] = list({*first, *second, *known})
    relevant = set(new)
    while new:
        new = [p for p in families[new.pop()] if p not in relevant] + new
        relevant.update(new)
    neighbors: dict[Hashable, list[Hashable]] = {
        v: [] for v in families if v in relevant and v not in known
    }
    for variable in families:
        if variable in relevant:
            family = [v for v in (variable, *families[variable]) if v not in known]
            for other in family[1:]:  # all are joined through the first
                neighbors[other].append(family[0])
    groups = graphs.connected_components(neighbors)
    return not any(set(first) & set(group) and set(second) & set(group) for group in groups)


def _names_as_tuple(
    families: Mapping[Hashable, object], argument: str, value: Variables
) -> tuple[Hashable, ...]:
    """Return one name, or several, as a tuple, or raise."""
    if isinstance(value, Hashable) and (value in families or not isinstance(value, tuple)):
        OneOf(families, "a variable of the network").check(argument, value)
        return (value,)
    check = Names(families, "variables of the network", filled=argument != "given")
    return check.check(argument, value)
