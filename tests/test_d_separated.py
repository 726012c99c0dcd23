"""Independence implied by arcs: against numerical independence in networks with random tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnclassify as bn


def chain():
    """A → class → b → d, and b ← e."""
    return bn.from_modelstring("[a][class|a][b|class:e][d|b][e]", "class")


def test_chain_fork_and_collider():
    x = chain()
    assert not bn.d_separated(x, "a", "b")
    assert bn.d_separated(x, "a", "b", given="class")
    assert bn.d_separated(x, "class", "e")
    assert not bn.d_separated(x, "class", "e", given="b")  # two arcs meet in b
    assert not bn.d_separated(x, "class", "e", given=["d"])  # or in an ancestor of d
    assert bn.d_separated(x, ["a", "class"], ["d"], given=["b"])


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_networkx_agrees(seed, n):
    nx = pytest.importorskip("networkx", reason="networkx is not installed; the extra exchange has it")
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n - 1)] + ["class"]
    order = list(rng.permutation(names))
    parents = {v: [p for p in order[:i] if rng.random() < 0.4] for i, v in enumerate(order)}
    text = "".join(f"[{v}{'|' if ps else ''}{':'.join(ps)}]" for v, ps in parents.items())
    x = bn.from_modelstring(text, "class")
    graph = nx.DiGraph([(p, v) for v, ps in parents.items() for p in ps])
    graph.add_nodes_from(names)
    where = rng.integers(0, 4, n)
    a, b, c = ([v for v, k in zip(names, where, strict=True) if k == i] for i in (0, 1, 2))
    if a and b:
        assert bn.d_separated(x, a, b, given=c) == nx.is_d_separator(graph, set(a), set(b), set(c))


def test_only_separated_variables_are_independent_in_random_tables():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({v: rng.choice(["u", "v"], 157, p=[0.3, 0.7]) for v in ["a", "class", "b", "d", "e"]})
    model = bn.lp(chain(), data, smooth=1)
    for evidence in ({}, {"class": "u"}, {"b": "u"}):
        for first, second in product(["a", "e"], ["d", "class", "b"]):
            if {first, second} & set(evidence):
                continue
            joint = bn.query(model, [first, second], evidence).to_numpy().reshape(2, 2)
            gap = np.abs(joint - np.outer(joint.sum(1), joint.sum(0))).max()
            assert bn.d_separated(model, first, second, given=list(evidence)) == (gap < 1e-12)


def test_names_may_be_tuples_and_numbers():
    x = bn.nb("y", features=[("p", 1), 2])
    assert bn.d_separated(x, ("p", 1), 2, given="y")
    assert not bn.d_separated(x, [("p", 1)], [2])
