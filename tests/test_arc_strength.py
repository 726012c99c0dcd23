"""Strengths of arcs over samples and trees, averaged networks, distances, and their pictures."""

import json
import re
import time
from functools import cache, partial
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

from .conftest import REFERENCE
from .oracles import has_cycle
from .test_networks import NAMES, class_of, frame

TREES = ["tan", "hc_bic"]


@cache
def figures():
    return json.loads((REFERENCE / "uncertainty" / "structures.json").read_text())


def network(columns, arcs, class_var):
    parents = {name: [] for name in columns}
    for tail, head in arcs:
        parents[columns[head]].append(columns[tail])
    text = [f"[{v}|{':'.join(ps)}]" if ps else f"[{v}]" for v, ps in parents.items()]
    return bn.from_modelstring("".join(text), class_var)


def arcs_of(x, columns):
    families = bn.families(x).values()
    return {(columns.index(p), columns.index(v)) for v, *above in families for p in above}


def rows_of(strength, columns):
    rows = strength[strength["strength"] > 0].itertuples(index=False)
    return {(columns.index(a), columns.index(b)): (p, q) for a, b, p, q in rows}


@pytest.mark.parametrize("learner", TREES)
@pytest.mark.parametrize("name", NAMES)
def test_strengths_and_averages_are_those_of_bnlearn(name, learner):
    reference = figures()[name]
    columns, expected, class_var = (
        reference["columns"],
        reference["arc_strength"][learner],
        reference["class"],
    )
    strength = bn.arc_strength([network(columns, arcs, class_var) for arcs in expected["networks"]])
    assert len(strength) == len(columns) * (len(columns) - 1)
    found = rows_of(strength, columns)
    assert found.keys() == {(a, b) for a, b, *_ in expected["rows"]}
    for a, b, *figures_of_pair in expected["rows"]:
        assert found[a, b] == pytest.approx(figures_of_pair, abs=1e-14)
    assert strength.attrs["threshold"] == pytest.approx(expected["threshold"], abs=1e-14)
    for threshold, arcs in ((None, expected["averaged"]), (0.5, expected["averaged_at_half"])):
        x = bn.averaged_network(strength, class_var, threshold=threshold)
        assert arcs_of(x, columns) == set(map(tuple, arcs))
    assert bn.averaged_network(strength.copy(), class_var).recipe.structure.name == "averaged_network"


@pytest.mark.parametrize("case", ["cycle", "both_directions", "all_both_directions", "equal_cycle"])
def test_cycles_and_equal_directions(case):
    expected, columns = figures()["made"][case], list("ABCD")
    strength = bn.arc_strength([network(columns, arcs, "D") for arcs in expected["networks"]])
    rows = {(a, b): (p, q) for a, b, p, q in expected["rows"] if p}
    assert rows_of(strength, columns) == {arc: pytest.approx(pair) for arc, pair in rows.items()}
    for threshold in (0.3, 0.5):
        arcs = set(map(tuple, expected[f"at_{threshold}"]))
        one_way = {(a, b) for a, b in arcs if (b, a) not in arcs or a < b}
        assert arcs_of(bn.averaged_network(strength, "D", threshold=threshold), columns) == one_way


def test_of_two_equal_directions_that_from_the_class_is_kept():
    strength = bn.arc_strength([network("ab", [(0, 1)], "b"), network("ab", [(1, 0)], "b")])
    assert strength["direction"].tolist() == [0.5, 0.5]
    for rounding in (0, 1e-12):
        strength["direction"] = [0.5 + rounding, 0.5 - rounding]
        assert bn.modelstring(bn.averaged_network(strength, "b")) == "[b] [a|b]"
        assert bn.modelstring(bn.averaged_network(strength, "a")) == "[a] [b|a]"


def test_if_one_of_two_equal_directions_closes_a_cycle_the_other_is_kept():
    """a -> b and c -> a are stronger than the arc of b and c, whose first direction would close a cycle."""
    arcs = [(0, 1), (2, 0)]
    networks = [[(0, 1), (1, 2)], [*arcs, (2, 1)], arcs, arcs, arcs, arcs]
    strength = bn.arc_strength([network("abcd", each, "d") for each in networks])
    tied = strength[(strength["from"] == "b") & (strength["to"] == "c")]
    assert tied["direction"].tolist() == [0.5]
    found = bn.averaged_network(strength, "d", threshold=0.2)
    assert arcs_of(found, list("abcd")) == {(0, 1), (2, 0), (2, 1)}


def test_a_class_that_would_close_a_cycle_gets_the_arc():
    """The class comes last in the columns, but its arcs are tried in the direction from the class first."""
    chain = [(0, 1), (1, 2)]  # a -> b -> class
    networks = [[*chain, (0, 2)], [(0, 1), (2, 0)], chain, chain]
    strength = bn.arc_strength([network(["a", "b", "class"], each, "class") for each in networks])
    found = bn.averaged_network(strength, "class", threshold=0.2)
    assert arcs_of(found, ["a", "b", "class"]) == {(0, 1), (1, 2), (0, 2)}


# Over all trees


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("name", NAMES)
def test_exact_posteriors_of_edges(name, size):
    expected, class_var = figures()[name]["tree_edge_posterior"], class_of(name)
    features = expected["features"]
    data = frame(name)[[*features, class_var]]
    x = bn.tan_cl(class_var, data, score="bde", ess=size)
    found = rows_of(bn.arc_strength(x, data, method="exact"), [*features, class_var])
    for a, b, posterior in expected[f"ess{size}"]["edges"]:
        for arc in ((a, b), (b, a)):
            strength, direction = found.get(arc, (0.0, 0.5))
            assert strength == pytest.approx(float(posterior), rel=1e-9, abs=1e-300)
            assert direction == 0.5
    for i in range(len(features)):
        assert found[len(features), i] == (1, 1)
        assert found[i, len(features)] == (1, 0)


def spanning_trees(n):
    """Yield all trees over n vertices, from their Prüfer codes."""
    for code in product(range(n), repeat=n - 2):
        degree = np.bincount(code, minlength=n) + 1
        edges = []
        for v in code:
            leaf = int(np.flatnonzero(degree == 1)[0])
            edges.append((min(leaf, v), max(leaf, v)))
            degree[[leaf, v]] -= 1
        edges.append(tuple(np.flatnonzero(degree == 1).tolist()))
        yield edges


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize(("rows", "levels", "noise"), [(10, 3, 0.9), (5000, 3, 0.5), (1000, 30, 1)])
def test_edge_posteriors_by_enumeration(n, rows, levels, noise):
    """Each tree has the posterior exp(bde) of its network, up to a constant, from any root."""
    rng, names = np.random.default_rng(n), [f"x{i}" for i in range(n)]
    codes = rng.integers(levels, size=(rows, n + 1))
    codes[:, 1:] = np.where(rng.random((rows, n)) < noise, codes[:, 1:], codes[:, :-1])
    data = pd.DataFrame(codes.astype(str), columns=[*names, "y"])
    trees, logs = list(spanning_trees(n)), []
    assert len(trees) == n ** (n - 2)
    for tree in trees:
        required = {"required": [(names[a], names[b]) for a, b in tree]}
        logs.append(bn.network_score(bn.tan_cl("y", data, **required), data, score="bde"))
    weights = np.exp(np.array(logs) - max(logs))
    expected = dict.fromkeys(permutations(range(n), 2), 0.0)
    for tree, weight in zip(trees, weights / weights.sum(), strict=True):
        for a, b in tree:
            expected[a, b] += weight
            expected[b, a] += weight
    found = rows_of(bn.arc_strength(bn.tan_cl("y", data, score="bde"), data, method="exact"), [*names, "y"])
    for arc, posterior in expected.items():
        assert found.get(arc, (0,))[0] == pytest.approx(posterior, rel=1e-9, abs=1e-12)


def test_many_features_are_eliminated_stably_and_in_seconds():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(2000, 120))
    codes[:, 1:] = np.where(rng.random((2000, 119)) < 0.8, codes[:, :-1], codes[:, 1:])
    data = pd.DataFrame(codes.astype(str)).add_prefix("x").assign(y=rng.choice(["u", "v"], 2000))
    start = time.process_time()
    strength = bn.arc_strength(bn.tan_cl("y", data, score="bde"), data, method="exact")["strength"]
    assert time.process_time() - start < 10
    assert strength.sum() / 2 == pytest.approx(119 + 120, rel=1e-9)
    assert strength.between(0, 1 + 1e-9).all()


# By samples


def recording(samples, learn):
    """A learner that keeps the data that it is given."""

    def learner(class_var, dataset):
        samples.append(dataset)
        return learn(class_var, dataset)

    return learner


def test_a_sample_has_as_many_units_as_the_data(car):
    counted = car.groupby(list(car.columns), observed=True).size().reset_index(name="n").assign(n=3)
    whole, halves = (bn.encode(table, weights="n") for table in (counted, counted.assign(n=0.5)))
    for data, units, share in ((car, 1728, 1), (whole, 3 * 1728, 0.96), (halves, 864, 1)):
        samples = []
        bn.arc_strength(bn.bnc(recording(samples, bn.nb), "class", data, smooth=1), data, replicates=1, rng=0)
        sample = samples[-1]
        assert sample.weights.sum() == units
        assert sample.weights.min() == min(1, units / 1728)
        assert len(sample) < len(data) * share
        assert sample.levels == bn.encode(data).levels


def test_strengths_are_shares_of_structures_learned_from_samples(car):
    samples, learn = [], partial(bn.hc, score="aic")
    x = bn.bnc(recording(samples, learn), "class", car, smooth=1)
    found = bn.arc_strength(x, car, replicates=10, rng=4)
    expected = bn.arc_strength([learn("class", sample) for sample in samples[1:]])
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs == expected.attrs
    assert 0 < found["strength"].mean() < 1


@pytest.mark.parametrize(
    "learner",
    [
        bn.nb, bn.chow_liu, bn.chisq_dn, bn.kdb_mi, bn.ban, partial(bn.tan_hc, k=2, smooth=1, rng=0),
        partial(bn.fssj, k=2, smooth=1, rng=0), partial(bn.anb, parents={"doors": "safety"}),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:No feature improves")
def test_every_learner_of_one_network(learner, car):
    some = car[::8].reset_index(drop=True)
    x = learner("class", dataset=some)
    strength = bn.arc_strength(x, some, replicates=3, rng=0)
    again = bn.arc_strength(x, some, replicates=3, rng=0)
    pd.testing.assert_frame_equal(strength, again)
    assert strength["strength"].between(0, 1).all()
    both = strength.set_index(["from", "to"])["direction"]
    for a, b in combinations(car.columns, 2):
        assert both[a, b] + both[b, a] in (0, 1)


def test_models_of_raw_data_and_weighted_models():
    rng = np.random.default_rng(0)
    mass = rng.normal(size=200)
    raw = pd.DataFrame(
        {"mass": mass, "size": mass + rng.normal(size=200), "kind": np.where(mass > 0, "a", "b")}
    )
    x = bn.bnc("tan_cl", "kind", raw, smooth=1, discretize="mdlp")
    strength = bn.arc_strength(x, raw, replicates=5, rng=0).set_index(["from", "to"])["strength"]
    assert strength["kind", "mass"] == 1
    weighted = bn.bnc("kdb_mi", "kind", raw, backoff=True, held_out="parents", discretize="mdlp")
    assert bn.arc_strength(weighted, raw, replicates=2, rng=0)["strength"].between(0, 1).all()


# Distances


@pytest.mark.parametrize("name", NAMES)
def test_distances_are_those_of_bnlearn(name):
    reference = figures()[name]
    expected = reference["structural_distance"]
    networks = {
        k: network(reference["columns"], arcs, reference["class"]) for k, arcs in expected["networks"].items()
    }
    for a, b, distance in expected["shd"]:
        assert bn.shd(networks[a], networks[b]) == bn.shd(networks[b], networks[a]) == distance


def acyclic_graphs(n):
    pairs = list(combinations(range(n), 2))
    for choice in product(range(3), repeat=len(pairs)):
        arcs = frozenset((p if c == 1 else p[::-1]) for p, c in zip(pairs, choice, strict=True) if c)
        if not has_cycle({v: [a for a, b in arcs if b == v] for v in range(n)}):
            yield arcs


def test_equivalence_classes_by_enumeration():
    """A class has the graphs with the same edges and v-structures; an arc of its graph is in all of them."""
    classes = {}
    for arcs in acyclic_graphs(4):
        edges = frozenset(map(frozenset, arcs))
        colliders = frozenset(
            (frozenset((a, c)), b)
            for a, b in arcs
            for c, d in arcs
            if b == d and a != c and frozenset((a, c)) not in edges
        )
        classes.setdefault((edges, colliders), []).append(arcs)
    assert len(classes) == 185  # as known of four vertices
    drawn = np.random.default_rng(0).permutation(len(classes))[:40]
    some = [list(classes.values())[i] for i in drawn]
    for first, second in combinations(some, 2):
        one, other = [frozenset().union(*graphs) for graphs in (first, second)]
        expected = len({frozenset(arc) for arc in one ^ other})
        x, y = network("abcd", first[-1], "d"), network("abcd", second[0], "d")
        assert bn.shd(x, y) == expected
    for graphs in some:
        assert bn.shd(network("abcd", graphs[0], "d"), network("abcd", graphs[-1], "d")) == 0


def test_distances_of_other_models(car):
    x = bn.tan_cl("class", car)
    assert bn.shd(x, bn.lp(x, car, backoff=True, held_out="weights")) == 0


@pytest.mark.filterwarnings("ignore:the network has .* free parameters")
@pytest.mark.parametrize("name", NAMES)
def test_divergences_over_all_configurations(name):
    expected, data, class_var = figures()[name]["kl_divergence"], frame(name), class_of(name)
    data = data[[*expected["features"], class_var]]
    half = expected["first_half_rows"]
    rows = {"all": data, "first_30": data[:30], "first_half": data[:half], "second_half": data[half:]}
    parents = {v: [p] for v, p in expected["tan_parent"].items() if p}
    structures = {"nb": bn.nb(class_var, data), "tan": bn.anb(class_var, parents, data)}
    models = {f"{s}_{r}": bn.lp(x, some, smooth=1) for s, x in structures.items() for r, some in rows.items()}
    for pair in expected["pairs"]:
        p, q = models[pair["p"]], models[pair["q"]]
        assert bn.kl_divergence(p, q) == pytest.approx(pair["kl_p_q"], rel=1e-10)
        assert bn.kl_divergence(q, p) == pytest.approx(pair["kl_q_p"], rel=1e-10)
        assert bn.kl_divergence(p, p) == 0


def test_divergence_of_what_is_impossible_is_infinite(car):
    x, y = [bn.lp(bn.tan_cl("class", car), car, smooth=smooth) for smooth in (0, 1)]
    assert bn.kl_divergence(y, x) == np.inf
    assert 0 < bn.kl_divergence(x, y) < 0.1
    wide = car.assign(doors=car["doors"].cat.add_categories("6"))
    with pytest.raises(ValueError, match="must have the same levels; the levels of 'doors' differ"):
        bn.kl_divergence(x, bn.bnc("nb", "class", wide, smooth=1))
    with pytest.raises(TypeError, match="of 6 networks"):
        bn.kl_divergence(x, bn.bnc("aode", "class", car, smooth=1))
    with pytest.raises(ValueError, match="the model has no parameters"):
        bn.kl_divergence(x, bn.nb("class", car))
    pima = bn.load_pima()
    gaussian = bn.bnc("nb", "diabetes", pima, smooth=1, numbers="gaussian")
    with pytest.raises(TypeError, match="kl_divergence requires a network of categories"):
        bn.kl_divergence(gaussian, gaussian)


@pytest.mark.slow
def test_divergence_of_a_wide_network_needs_no_enumeration():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(300, 60))
    codes[:, 1:] = np.where(rng.random((300, 59)) < 0.5, codes[:, :-1], codes[:, 1:])
    data = pd.DataFrame(codes.astype(str), columns=[f"x{i}" for i in range(60)])
    x = bn.lp(bn.chow_liu("x30", data), data, smooth=1)
    y = bn.lp(bn.tan_cl("x30", data), data, smooth=1)
    drawn = bn.sample(x, 20_000, rng=0)
    difference = (bn.loglik(x, drawn) - bn.loglik(y, drawn)) / len(drawn)
    assert bn.kl_divergence(x, y) == pytest.approx(difference, rel=0.05)


# Pictures


def test_strong_arcs_are_drawn_wide_and_dark(car):
    x = bn.tan_cl("class", car)
    strength = bn.arc_strength(x, car, replicates=50, rng=0)
    source = bn.plot(x, strength=strength).source
    label = dict(re.findall(r"\t(\d+) \[label=(\w+)", source))
    widths = {
        (label[a], label[b]): float(width)
        for a, b, width in re.findall(r"(\d+) -> (\d+) \[.*penwidth=([\d.]+)", source)
    }
    known = strength.set_index(["from", "to"])["strength"]
    inner = {arc: width for arc, width in widths.items() if arc[0] != "class"}
    assert len(inner) == 5
    assert sorted(inner, key=inner.__getitem__) == sorted(inner, key=known.__getitem__)
    assert min(inner.values()) < max(inner.values())
    assert "strong arcs are wide and dark" in source
    few = strength[strength["from"] != "buying"]
    with pytest.raises(ValueError, match="strength must have the arcs of x; it lacks 'buying -> maint'"):
        bn.plot(x, strength=few)
    with pytest.raises(TypeError, match="strength must be a result of arc_strength"):
        bn.plot(x, strength=car)


def test_the_chart_of_strengths(car):
    strength = bn.arc_strength(bn.tan_cl("class", car), car, replicates=50, rng=0)
    axes = bn.plot_strength(strength, threshold=0.6)
    widths = [bar.get_width() for bar in axes.patches]
    expected = sorted(strength.query("strength > 0")["strength"], reverse=True)[::2]
    assert widths == pytest.approx(expected)
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert [color == colors[0] for color in colors] == [width > 0.6 for width in widths]
    assert axes.get_yticklabels()[0].get_text() == "buying → maint"
    exact = bn.arc_strength(bn.tan_cl("class", car, score="bde"), car, method="exact")
    labels = [label.get_text() for label in bn.plot_strength(exact).get_yticklabels()]
    assert "buying \N{EN DASH} maint" in labels
    assert "class → doors" in labels


def test_a_chart_of_many_pairs_omits_some():
    names = [f"v{i}" for i in range(12)]
    rng = np.random.default_rng(0)
    networks = [
        network(
            names,
            [(a, b) for a, b in permutations(range(12), 2) if a < b and (a == 0 or rng.random() < 0.5)],
            "v0",
        )
        for _ in range(8)
    ]
    axes = bn.plot_strength(bn.arc_strength(networks))
    assert len(axes.patches) == 25
    assert "omitted: 11 pairs of strength 1" in axes.get_xlabel().replace("\n", " ")
    assert "pairs weaker" in axes.get_xlabel()
