"""Expected counts of incomplete rows, against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnclassify.networks.em import expected_counts, rows_completed_with_each_class

from .strategies import examples

Network = tuple[list[tuple[int, ...]], list[np.ndarray], tuple[int, ...]]


@st.composite
def general_networks(draw, *, most_parents):
    """Any acyclic graph over up to five features and the class, by number, with random tables."""
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(n)))
    cards = tuple(draw(st.lists(st.integers(1, 3 if n > 3 else 20), min_size=n, max_size=n)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    concentration = draw(st.sampled_from([0.02, 1.0]))  # the one gives probabilities of nearly 0
    scopes, tables = [], []
    for v in range(n):
        earlier = order[: order.index(v)]
        features = [p for p in earlier if p != n - 1]
        above = (
            draw(st.lists(st.sampled_from(features), unique=True, max_size=most_parents)) if features else []
        )
        if v != n - 1 and n - 1 in earlier and draw(st.booleans()):
            above = [*above, n - 1]
        scopes.append((v, *above))
        table = rng.dirichlet([concentration] * cards[v], size=[cards[p] for p in above])
        tables.append(np.moveaxis(table, -1, 0))
    return scopes, tables, cards


def complete(codes, cards):
    """All ways to fill in what a row lacks."""
    return list(
        product(*(range(card) if code < 0 else [code] for code, card in zip(codes, cards, strict=True)))
    )


def joint(network, values):
    scopes, tables, _ = network
    return float(
        np.prod([table[tuple(values[v] for v in scope)] for scope, table in zip(scopes, tables, strict=True)])
    )


def draw_codes(network, rng, rows):
    """Possible rows with missing values."""
    *_, cards = network
    everything = list(product(*map(range, cards)))
    chances = np.array([joint(network, values) for values in everything])
    rows_drawn = rng.choice(len(everything), size=rows, p=chances / chances.sum())
    codes = np.array([everything[i] for i in rows_drawn]).T
    return np.where(rng.random(codes.shape) < rng.choice([0.2, 0.6, 1.0]), -1, codes).astype(np.int8)


@pytest.mark.parametrize("most_parents", [1, pytest.param(3, marks=pytest.mark.slow)])
@given(data=st.data(), seed=st.integers(0, 999))
@examples(25)
def test_expected_counts_equal_enumeration(most_parents, data, seed):
    network = data.draw(general_networks(most_parents=most_parents))
    scopes, tables, cards = network
    rng = np.random.default_rng(seed)
    codes = draw_codes(network, rng, 8)
    weights = rng.choice([1.0, 0.5, 3.0], 8)
    counts = [np.zeros(table.shape) for table in tables]
    evidence = 0.0
    for weight, values in zip(weights, codes.T, strict=True):
        ways = complete(values, cards)
        chances = np.array([joint(network, way) for way in ways])
        evidence += weight * np.log(chances.sum())
        for way, share in zip(ways, chances / chances.sum(), strict=True):
            for scope, own in zip(scopes, counts, strict=True):
                if (values[list(scope)] < 0).any():
                    own[tuple(way[v] for v in scope)] += weight * share
    found, loglik = expected_counts(scopes, tables, rows_completed_with_each_class(codes, cards), weights)
    assert loglik == pytest.approx(evidence, rel=1e-9, abs=1e-12)
    for a, b in zip(found, counts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
