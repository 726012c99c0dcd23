"""Hypothesis strategies: random data and random models, in one place."""

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

import bnclassify as bn

USUAL = 50
"""The number of examples where the profile does not ask for more."""


def examples(n):
    """Draw n examples, and as many times more as the profile draws more than usual; a decorator."""
    return settings(max_examples=n * settings.default.max_examples // USUAL)


@st.composite
def frames(draw, *, min_rows=1, max_rows=40, max_features=4, max_levels=3, missing=0.0):
    """Random data with the class ``class``; levels may never occur, features may have one level."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(min_rows, max_rows))
    names = [f"x{i}" for i in range(draw(st.integers(1, max_features)))]
    columns = {}
    for name in [*names, "class"]:
        levels = [f"{name}_{k}" for k in range(draw(st.integers(1, max_levels)))]
        codes = rng.integers(len(levels), size=rows)
        if name != "class":
            codes[rng.random(rows) < missing] = -1
        columns[name] = pd.Categorical.from_codes(codes, categories=levels)
    return pd.DataFrame(columns)


@st.composite
def arcs(draw, features, *, max_parents=3):
    """The feature parents of each feature in a random acyclic graph."""
    order = draw(st.permutations(features))
    return {
        name: draw(st.lists(st.sampled_from(order[:i]), unique=True, max_size=max_parents)) if i else []
        for i, name in enumerate(order)
    }


@st.composite
def networks(draw, frame, *, max_parents=3):
    """A random augmented naive Bayes over the columns of a data frame."""
    features = [name for name in frame.columns if name != "class"]
    return bn.anb("class", draw(arcs(features, max_parents=max_parents)), frame)


@st.composite
def graphs(draw, frame, *, max_parents=3):
    """A random acyclic graph over all columns of a data frame, the class anywhere in it."""
    parents = draw(arcs(list(frame.columns), max_parents=max_parents))
    text = "".join(f"[{v}|{':'.join(parents[v])}]" if parents[v] else f"[{v}]" for v in frame.columns)
    x = bn.from_modelstring(text, "class")
    return replace(x, levels=tuple(tuple(frame[v].cat.categories) for v in x.variables))


KINDS = ("augmented", "any", "aode", "ensemble")


@st.composite
def fitted_models(draw, frame, kinds=KINDS):
    """A random model of a data frame, fitted to it with the first level in place of missing values."""
    make = {
        "augmented": lambda: draw(networks(frame)),
        "any": lambda: draw(graphs(frame)),
        "aode": lambda: bn.aode("class", frame),
        "ensemble": lambda: bn.Ensemble([draw(networks(frame)), draw(graphs(frame))], weights=[1, 2]),
    }
    structure = make[draw(st.sampled_from(kinds))]()
    whole = frame.assign(**{name: frame[name].fillna(frame[name].cat.categories[0]) for name in frame})
    return bn.lp(structure, whole, smooth=draw(smooths))


@st.composite
def models(draw, names, labels):
    """A random augmented naive Bayes with random tables, its names and labels drawn as well."""
    class_var, *features = draw(st.lists(names, min_size=1, max_size=5, unique_by=str.casefold))
    structure = bn.anb(class_var, draw(arcs(features)), features=features)
    levels = {name: tuple(draw(labels)) for name in structure.variables}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    concentration = draw(st.sampled_from([0.01, 1.0, 100.0]))
    tables = []
    for variable, *above in structure.families:
        shape = [len(levels[parent]) for parent in above]
        table = rng.dirichlet([concentration] * len(levels[variable]), size=shape)
        tables.append(np.ascontiguousarray(np.moveaxis(table, -1, 0)))
    return replace(structure, levels=tuple(levels.values()), cpts=tuple(tables))


smooths = st.sampled_from([0.01, 0.5, 1.0, 3.0])
