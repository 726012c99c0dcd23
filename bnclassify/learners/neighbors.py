"""Neighbors of a structure: the candidate edits of a step of a search.

Features are numbered. A structure maps each of its features to its feature
parents. An edit maps the features whose family it changes to their new parents,
or to None if the feature is removed. Edits are ordered for ties.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product

from ..tools.graphs import connected_components

Parents = tuple[int, ...]
Structure = Mapping[int, Parents]
Edit = Mapping[int, Parents | None]
Arcs = Collection[tuple[int, int]]


def apply_edit(structure: Structure, edit: Edit) -> dict[int, Parents]:
    """Return the structure after an edit; new features are last.

    >>> apply_edit({0: (), 1: ()}, {0: (1,), 2: ()})
    {0: (1,), 1: (), 2: ()}
    """
    changed = {**structure, **edit}
    return {feature: parents for feature, parents in changed.items() if parents is not None}


def describe_edit(structure: Structure, edit: Edit, *, joins: bool) -> tuple[str, Parents, Parents]:
    """Return the name of an edit, and its source and target features.

    >>> describe_edit({0: (), 1: ()}, {0: (1,)}, joins=True)
    ('join', (1,), (0,))
    >>> describe_edit({0: (), 1: ()}, {0: (1,)}, joins=False)
    ('arc', (1,), (0,))
    >>> describe_edit({0: ()}, {1: ()}, joins=True), describe_edit({0: ()}, {0: None}, joins=True)
    (('add', (), (1,)), ('remove', (0,), ()))
    """
    gone = tuple(feature for feature, parents in edit.items() if parents is None)
    if gone:
        return "remove", gone, ()
    changed = tuple(edit)
    old = structure.get(changed[0], ())
    new = tuple(parent for parent in edit[changed[0]] or () if parent not in old)
    if not new:
        return "add", (), changed
    return "join" if joins else "arc", new, changed


def feature_and_ancestors(structure: Structure, feature: int) -> set[int]:
    """Return a feature and its ancestors.

    >>> sorted(feature_and_ancestors({0: (1,), 1: (2,), 2: ()}, 0))
    [0, 1, 2]
    """
    reached, open_ends = {feature}, [feature]
    while open_ends:
        parents = set(structure[open_ends.pop()]) - reached
        reached |= parents
        open_ends.extend(parents)
    return reached


def _may_join_groups(first: Sequence[int], second: Sequence[int], forbidden: Arcs) -> bool:
    return not any(pair in forbidden for pair in product(first, second))


def additions_and_joins(
    structure: Structure, features: Sequence[int], forbidden: Arcs = frozenset()
) -> list[Edit]:
    """Add a feature alone, or with all members of a group as its parents (FSSJ).

    >>> additions_and_joins({1: ()}, [0, 1, 2])
    [{0: ()}, {2: ()}, {0: (1,)}, {2: (1,)}]
    """
    absent = [feature for feature in features if feature not in structure]
    groups = connected_components(structure)
    additions: list[Edit] = [{feature: ()} for feature in absent]
    joins: list[Edit] = [
        {feature: tuple(group)}
        for feature in absent
        for group in groups
        if _may_join_groups([feature], group, forbidden)
    ]
    return additions + joins


def removals_and_joins(
    structure: Structure, forbidden: Arcs = frozenset(), fixed: Collection[int] = ()
) -> list[Edit]:
    """Remove a feature, or join two groups: the later's members are parents of the other's (BSEJ).

    The `fixed` features are not removed.

    >>> removals_and_joins({0: (), 1: ()})
    [{0: None}, {1: None}, {0: (1,)}]
    """
    edits = list[Edit]()
    for gone in structure:
        if gone not in fixed:
            children = {v: parents for v, parents in structure.items() if gone in parents}
            orphaned = {
                v: tuple([p for p in parents if p != gone]) for v, parents in children.items()
            }
            edits.append({gone: None, **orphaned})
    for earlier, later in combinations(connected_components(structure), 2):
        if _may_join_groups(earlier, later, forbidden):
            edits.append({feature: (*structure[feature], *later) for feature in earlier})
    return edits


def acyclic_arcs(
    structure: Structure,
    parents: Sequence[int],
    children: Sequence[int],
    forbidden: Arcs = frozenset(),
) -> list[tuple[int, int]]:
    """Return the new arcs (parent, child), parent by parent, without cycles and forbidden ones.

    >>> acyclic_arcs({0: (1,), 1: (), 2: ()}, [0], [1, 2])
    [(0, 2)]
    """
    ancestors_of = {parent: feature_and_ancestors(structure, parent) for parent in parents}
    return [
        (parent, child)
        for parent in parents
        for child in children
        if child not in ancestors_of[parent]
        and parent not in structure[child]
        and (parent, child) not in forbidden
    ]


def _additions_of_arcs(structure: Structure, arcs: Sequence[tuple[int, int]]) -> list[Edit]:
    return [{child: (*structure[child], parent)} for parent, child in arcs]


def features_without_parents(structure: Structure) -> list[int]:
    """Return the features that have no feature parent."""
    return [feature for feature, parents in structure.items() if not parents]


def tree_arc_additions(structure: Structure, forbidden: Arcs = frozenset()) -> list[Edit]:
    """Add an arc to a feature without a feature parent (TAN hill climbing).

    Between two such features, either direction gives an equivalent structure.
    The arc from the later to the earlier one is the candidate, unless it is
    forbidden.

    >>> tree_arc_additions({0: (), 1: ()})
    [{0: (1,)}]
    """
    free = features_without_parents(structure)
    rank = {feature: i for i, feature in enumerate(free)}
    others = [feature for feature in structure if feature not in rank]
    from_free = [
        (parent, child)
        for parent, child in acyclic_arcs(structure, free, free, forbidden)
        if rank[child] < rank[parent] or (child, parent) in forbidden
    ]
    return _additions_of_arcs(
        structure, acyclic_arcs(structure, others, free, forbidden) + from_free
    )


def superparent_additions(structure: Structure, forbidden: Arcs = frozenset()) -> list[Edit]:
    """Make a feature the parent of all that can have it as their only feature parent (TAN-HCSP).

    >>> superparent_additions({0: (), 1: (), 2: (0,)})
    [{1: (0,)}, {0: (1,)}, {1: (2,)}]
    """
    free = features_without_parents(structure)
    candidates = [
        {child: (parent,) for _, child in acyclic_arcs(structure, [parent], free, forbidden)}
        for parent in structure
    ]
    return [edit for edit in candidates if edit]


def k_dependence_additions(
    structure: Structure, k: int, forbidden: Arcs = frozenset()
) -> list[Edit]:
    """Add an arc to a feature with fewer than ``k`` feature parents (k-dependence).

    Arcs from features without room for parents come first; for other features,
    targets are in cyclic order, starting after the feature.

    >>> k_dependence_additions({0: (), 1: ()}, 1)
    [{1: (0,)}, {0: (1,)}]
    """
    free = [feature for feature, parents in structure.items() if len(parents) < k]
    full = [feature for feature, parents in structure.items() if len(parents) >= k]
    around = [
        arc
        for i, parent in enumerate(free)
        for arc in acyclic_arcs(structure, [parent], free[i + 1 :] + free[:i], forbidden)
    ]
    return _additions_of_arcs(structure, acyclic_arcs(structure, full, free, forbidden) + around)
