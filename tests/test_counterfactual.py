"""The smallest changes that lead to another prediction, against all changes."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.explanations import counterfactual

from .conftest import informative_gaps
from .strategies import KINDS, fitted_models, frames
from .zoo import case

COLUMNS = ["alternative", "changes", "variable", "from", "to", "probability"]


def by_brute_force(x, row, target, fixed, most, alternatives):
    """Predict all changes of 1, 2, … features, and return the best of each set of the first size."""
    posterior = bn.predict(x, [row], prob=True).iloc[0]
    predicted = bn.predict(x, [row]).iloc[0]
    if target is None:
        others = posterior.drop(predicted).round(9)
        target = others.idxmax() if len(others) else predicted
    if predicted == target:
        return []
    free = [name for name in bn.features(x) if not pd.isna(row[name]) and name not in fixed]
    for size in range(1, most + 1):
        tried = []
        for names in combinations(free, size):
            options = [[v for v in bn.values(x)[name] if v != row[name]] for name in names]
            tried += [tuple(zip(names, values, strict=True)) for values in product(*options)]
        if not tried:
            continue
        rows = [row | dict(changed) for changed in tried]
        labels, posteriors = bn.predict(x, rows), bn.predict(x, rows, prob=True)[target].to_numpy()
        found = [(i, p) for i, p in enumerate(posteriors) if labels.iloc[i] == target]
        if found:
            ranked = []
            while found and len(ranked) < alternatives:
                best = max(p for _, p in found)
                i, p = next(pair for pair in found if pair[1] >= best - 1e-9)
                ranked.append((tried[i], p))
                names = [name for name, _ in tried[i]]
                found = [(k, q) for k, q in found if [name for name, _ in tried[k]] != names]
            return ranked
    return []


already_predicted = pytest.mark.filterwarnings("ignore:.* is predicted for the row already")


def check(x, row, found, expected, target):
    assert list(found.columns) == COLUMNS
    alternatives = [group for _, group in found.groupby("alternative")]
    assert [tuple(zip(g["variable"], g["to"], strict=True)) for g in alternatives] == [e for e, _ in expected]
    for i, (group, (changed, p)) in enumerate(zip(alternatives, expected, strict=True)):
        assert set(group["alternative"]) == {i}
        assert set(group["changes"]) == {len(changed)}
        assert [row[name] for name in group["variable"]] == group["from"].tolist()
        np.testing.assert_allclose(group["probability"], p, atol=1e-9)
        after = bn.predict(x, [row | dict(zip(group["variable"], group["to"], strict=True))])
        assert target is None or after.iloc[0] == target


@pytest.mark.parametrize("seed", range(8))
def test_the_first_of_equal_changes_is_returned_in_spite_of_rounding(seed):
    rng = np.random.default_rng(seed)
    three = [rng.choice(list("abc"), 60) for _ in range(3)]
    frame = pd.DataFrame({f"x{i}": three[i % 3] for i in range(6)})  # x0 equals x3, and so on
    x = bn.bnc("nb", "y", frame.assign(y=rng.choice(list("pqr"), 60)), smooth=1)
    row = frame.iloc[0].to_dict()
    [predicted] = bn.predict(x, [row])
    for target in {*"pqr"} - {predicted}:
        expected = by_brute_force(x, row, target, [], 2, 1)
        check(x, row, bn.counterfactual(x, row, target, most=2, alternatives=1), expected, target)


@already_predicted
@informative_gaps
@given(frames(missing=0.2, max_features=5), st.data())
def test_changes_are_the_best_of_all(frame, data):
    x = data.draw(fitted_models(frame, KINDS[:-1]))
    row = frame.iloc[data.draw(st.integers(0, len(frame) - 1))].drop("class").to_dict()
    target = data.draw(st.sampled_from([None, *bn.classes(x)]))
    fixed = data.draw(st.lists(st.sampled_from(bn.features(x)), unique=True, max_size=1))
    most, alternatives = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    found = bn.counterfactual(
        x, pd.DataFrame([row]), target, fixed=fixed, most=most, alternatives=alternatives
    )
    expected = by_brute_force(x, row, target, fixed, most, alternatives)
    gaps = np.abs(np.diff([p for _, p in expected]))
    assume(not ((gaps > 1e-10) & (gaps < 1e-8)).any())  # rounding decides whether these are ties
    check(x, row, found, expected, target)


@pytest.mark.parametrize("learner", [partial(bn.kdb_mi, kdbk=3), bn.aode])
@pytest.mark.parametrize("alternatives", [1, 3])
def test_changes_of_features_that_interact_are_the_best_of_all(learner, alternatives, monkeypatch):
    """Sets of changes are tried in small blocks, of which bounds leave out most."""
    monkeypatch.setattr("bnclassify.tools.arrays.BLOCK_CELLS", 60)
    rows = pd.DataFrame(list(product(range(3), repeat=5)) * 2, columns=list("abcde"))
    reasons = [rows["a"] == rows["b"], rows["c"] == rows["d"], rows["e"] == 0]
    frame = rows.assign(y=np.array(list("uuvw"))[np.sum(reasons, axis=0)]).astype("category")
    x = bn.lp(learner("y", frame), frame, smooth=0.1)
    sizes = set()
    for row in frame.iloc[:120:17, :5].to_dict("records"):
        for target in {*"uvw"} - set(bn.predict(x, [row])):
            found = bn.counterfactual(x, row, target, alternatives=alternatives)
            check(x, row, found, by_brute_force(x, row, target, [], 3, alternatives), target)
            sizes |= {*found["changes"]}
    assert sizes >= {1, 2}


@already_predicted
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["kdb", "kdb backoff", "hc", "class with parents", "loo weights", "loo power", "waode", "votes weights"],
)
def test_changes_in_models_of_every_type(name):
    x, frame = case(name)
    names = list(bn.features(x))[:6]
    fixed = [v for v in bn.features(x) if v not in names]
    for row in frame[list(bn.features(x))].iloc[1:7].to_dict("records"):
        for target in (None, bn.classes(x)[-1]):
            found = bn.counterfactual(x, row, target, fixed=fixed, alternatives=4)
            check(x, row, found, by_brute_force(x, row, target, fixed, 3, 4), target)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["women mdlp", "women averaged", "women default"])
def test_numbers_move_to_the_nearest_value_of_another_interval(name):
    x, frame = case(name)
    rows = frame.iloc[10:22][list(bn.features(x))]
    cuts = bn.preparation(x).discretizer.cuts
    changed = 0
    for row in rows.to_dict("records"):
        found = bn.counterfactual(x, row, fixed=list(bn.features(x))[4:], most=2)
        for _, group in found.groupby("alternative"):
            after = row | dict(zip(group["variable"], group["to"], strict=True))
            p = bn.predict(x, [after], prob=True).iloc[0]
            assert p.max() == pytest.approx(group["probability"].iloc[0], abs=1e-9)
            for _, (variable, before, to) in group[["variable", "from", "to"]].iterrows():
                edges = np.array(cuts[variable])
                assert np.searchsorted(edges, before) != np.searchsorted(edges, to)
                unit = {"bmi": 0.1, "pedigree": 0.001}.get(variable, 1)  # of the values of the column
                closer = to + unit if to < before else to - unit
                same = p.idxmax() == bn.predict(x, [after | {variable: closer}]).iloc[0]
                crossed = np.searchsorted(edges, closer) == np.searchsorted(edges, to)
                assert not same or not crossed
                changed += 1
    assert changed


@pytest.fixture(scope="module")
def sick():
    """Two numbers that raise a risk, and a sum of their effects."""
    rng = np.random.default_rng(0)
    glucose, bmi = rng.normal(120, 30, 800).round(), rng.normal(32, 6, 800).round(1)
    risk = 1 / (1 + np.exp(-(0.05 * (glucose - 125) + 0.1 * (bmi - 32))))
    data = pd.DataFrame(
        {"glucose": glucose, "bmi": bmi, "ill": np.where(rng.random(800) < risk, "yes", "no")}
    )
    return bn.bnc(class_var="ill", dataset=data, pairs=0), data


def test_each_feature_has_its_nearest_value(sick):
    """One alternative per set of features, with the nearest value that suffices, smallest first."""
    x, _ = sick
    row = {"glucose": 150, "bmi": 33}
    found = bn.counterfactual(x, row, "no", alternatives=1000)
    assert found["variable"].is_unique
    for _, line in found.iterrows():
        unit = {"glucose": 1, "bmi": 0.1}[line["variable"]]
        assert bn.predict(x, row | {line["variable"]: line["to"]}).item() == "no"
        steps = np.arange(line["to"] + unit, row[line["variable"]], unit).round(1)
        closer = [row | {line["variable"]: value} for value in steps]
        assert (bn.predict(x, closer) == "yes").all()
    assert found["from"].tolist() == [row[name] for name in found["variable"]]
    cuts = [x.discretizer.cuts[name] for name in found["variable"]]
    crossed = [np.searchsorted(c, [b, a]) for c, a, b in zip(cuts, found["from"], found["to"], strict=True)]
    sizes = [(after - before) / len(c) for c, (before, after) in zip(cuts, crossed, strict=True)]
    assert sizes == sorted(sizes)


def sum_of_steps(effects, start):
    """A sum with effects of intervals up to 1, 2, …, and of the levels u and v of c."""
    table = [("y", "p", start), ("c", "u", 0), ("c", "v", 1)]
    for name, values in effects.items():
        ends = [-np.inf, *range(1, len(values)), np.inf]
        table += [
            (name, f"({low}, {high}]", e) for low, high, e in zip(ends[:-1], ends[1:], values, strict=True)
        ]
    return bn.from_effects(pd.DataFrame(table, columns=["feature", "value", "q"]))


def test_the_size_of_a_change_is_its_share_of_the_cut_points():
    """Across 2 of 5 cut points of b is nearer than across 1 of 2 of a, and than 1 of 2 levels."""
    x = sum_of_steps({"a": [0, 1, 1], "b": [0, 0, 1, 1, 1, 1]}, -0.5)
    found = bn.counterfactual(x, {"a": 0, "b": 0, "c": "u"}, "q")
    assert found["variable"].tolist() == ["b", "a", "c"]


def test_the_smallest_of_two_changes_together_is_found_in_any_block(monkeypatch):
    """Of 10 cut points each, a and e cross 1 and 9 and suffice, as b and d, which cross 3 and 4."""
    monkeypatch.setattr("bnclassify.tools.arrays.BLOCK_CELLS", 1)
    steps = {"a": (1, 0.2), "b": (3, 0.7), "d": (4, 0.7), "e": (9, 1.2)}
    x = sum_of_steps({name: [0] * n + [effect] * (11 - n) for name, (n, effect) in steps.items()}, -1.3)
    row = {"c": "u"} | dict.fromkeys(steps, 0)
    found = bn.counterfactual(x, row, "q", alternatives=1, fixed=["c"])
    assert found["variable"].tolist() == ["b", "d"]


def test_changes_that_help_only_together_are_found():
    """Only two or three changes together, each of which makes the class less probable by itself."""
    for n in (2, 3):
        rows = pd.DataFrame(list(product("ab", repeat=n)), columns=[f"x{i}" for i in range(n)])
        rows["y"] = np.where((rows == "b").all(axis=1), "yes", "no")
        frame = pd.concat([rows] * 10 + [rows[rows["y"] == "yes"]] * 10 * 2**n)
        above = {f"x{i}": [f"x{j}" for j in range(i)] for i in range(1, n)}
        x = bn.lp(bn.anb("y", above, frame), frame, smooth=0.01)
        row = dict.fromkeys(above | {"x0": None}, "a")
        found = bn.counterfactual(x, row, "yes", most=n)
        check(x, row, found, by_brute_force(x, row, "yes", [], n, 5), "yes")
        assert found["changes"].tolist() == [n] * n


def test_ranges_and_directions(sick, car):
    x, _ = sick
    row = {"glucose": 150, "bmi": 33}
    both = bn.counterfactual(x, row, "no", ranges={"bmi": (25, 34), "glucose": (130, 500)})
    assert both["changes"].tolist() == [2, 2]  # no single one is possible, but both together suffice
    assert 130 <= both["to"][0] < 150
    assert 25 <= both["to"][1] < 33
    risen = bn.counterfactual(x, row, "no", directions={"glucose": "increasing"})
    assert risen["variable"].tolist() == ["bmi"]
    y = bn.bnc("nb", "class", car, smooth=1)
    bad = car[(car["safety"] == "low") & (car["persons"] == "4")].iloc[0]
    to = bn.counterfactual(y, bad, "acc", ranges={"safety": ["med"]})
    assert set(to["to"][to["variable"] == "safety"]) <= {"med"}
    doors = car.assign(doors=car["doors"].astype(str).str[0].astype(int))
    z = bn.bnc("nb", "class", doors, smooth=1)
    fewer = bn.counterfactual(
        z, doors.iloc[1700], "unacc", ranges={"doors": (2, 3)}, directions={"doors": "decreasing"}, most=6
    )
    assert (fewer["to"][fewer["variable"] == "doors"].astype(int) <= 3).all()
    safe = car.assign(safety=car["safety"] == "high")
    w = bn.bnc("nb", "class", safe, smooth=1)
    risen = bn.counterfactual(w, safe.iloc[1723], "vgood", directions={"safety": "increasing"})
    assert risen[risen["variable"] == "safety"]["to"].tolist() == [True]
    fallen = bn.counterfactual(w, safe.iloc[1723], "vgood", directions={"safety": "decreasing"})
    assert "safety" not in fallen["variable"].tolist()


def test_what_stays_as_it_is(car, voting):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    row = car.iloc[1727]
    with pytest.warns(UserWarning, match=r"'vgood' is predicted for the row already, .* Pass another class"):
        assert bn.counterfactual(x, row, "vgood").shape == (0, 6)
    assert bn.counterfactual(x, row, fixed=bn.features(x)).shape == (0, 6)
    assert not {"safety", "persons"} & set(
        bn.counterfactual(x, row, "unacc", fixed=["safety", "persons"])["variable"]
    )
    some = {"safety": "high", "persons": "4"}
    assert {*bn.counterfactual(x, some, "unacc", most=6)["variable"]} == set(some)
    y = bn.bnc("nb", "Class", voting, smooth=1, missing_level=True)
    lacking = voting[voting.isna().sum(axis=1) == 3].iloc[0]
    table = bn.counterfactual(y, lacking.drop("Class"), most=8)
    assert len(table)
    assert lacking[table["variable"].unique()].notna().all()
    assert "(missing)" not in set(table["to"])
    pima = bn.load_pima()
    z = bn.bnc("nb", "diabetes", pima, smooth=1, numbers="gaussian")
    assert bn.counterfactual(z, pima.dropna().iloc[0]).empty


def test_too_many_sets_of_changes_are_refused(car, monkeypatch):
    row = car.iloc[0]
    for learner, limit in {"tan_cl": 100, "aode": 100, "ande": 1000}.items():
        monkeypatch.setattr(counterfactual, "_MOST_TERMS", limit)
        y = bn.bnc(learner, "class", car, smooth=1)
        refused = r"most must be less than [23] for this row, because [0-9]+ sets .* in [0-9]+ terms\. Name"
        with pytest.raises(ValueError, match=refused):
            bn.counterfactual(y, row, "vgood")
        fixed = ["doors", "lug_boot", "maint", "persons"]
        assert bn.counterfactual(y, row, "vgood", fixed=fixed).empty


@pytest.mark.parametrize("learner", ["nb", "tan_cl", "aode"])
def test_what_cannot_succeed_takes_no_time(monkeypatch, learner):
    """If one feature decides and stays, each change is computed alone or with another one, and no more."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (300, 25)), columns=[f"f{i}" for i in range(25)])
    frame["y"] = frame["f0"]
    x = bn.bnc(learner, "y", frame, smooth=0.001)
    row = frame.iloc[0].drop("y").astype(object)
    row.iloc[1::3] = None
    moves, tried, compute = 2 * int(row.notna().sum() - 1), [0], counterfactual.Changes.log_joint_after

    def count(changes, sets):
        tried[0] += len(sets) * (changes.x is x.score)
        return compute(changes, sets)

    monkeypatch.setattr(counterfactual.Changes, "log_joint_after", count)
    assert bn.counterfactual(x, row, fixed=["f0"], most=4 if learner == "nb" else 3).empty
    assert tried[0] <= {"nb": 2 * moves, "tan_cl": 20 * moves, "aode": 2 * moves}[learner]


@pytest.mark.parametrize("learner", ["nb", "aode"])
def test_the_default_target_is_possible_or_the_first_other_class(learner):
    """If all other classes have probability 0, the target is the first of them, as in `explain`."""
    frame = pd.DataFrame({"a": [*"pqr"] * 10, "b": "s", "y": ["k1", "k2", "k3"] * 10})
    x = bn.bnc(learner, "y", frame, smooth=0)
    for value, target, other in [("p", "k2", "q"), ("q", "k1", "p"), ("r", "k1", "p")]:
        row = {"a": value, "b": "s"}
        found = bn.counterfactual(x, row)
        assert found[["variable", "from", "to", "probability"]].to_numpy().tolist() == [
            ["a", value, other, 1]
        ]
        pd.testing.assert_frame_equal(found, bn.counterfactual(x, row, target))
        assert bn.explain(x, row).columns.name == f"k{1 + 'pqr'.index(value)} against {target}"


def test_only_the_best_of_many_changes_that_suffice_are_kept(monkeypatch):
    """Each of six changes suffices; only the best of them is computed again, for its posterior."""
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    frame = pd.DataFrame({f"f{i}": np.where(rng.random(400) < 0.2, ~y, y) for i in range(11)}).assign(y=y)
    x = bn.bnc("nb", "y", frame, smooth=1)
    row = {f"f{i}": i >= 6 for i in range(11)}
    assert len(bn.counterfactual(x, row, True, most=1, alternatives=11)) == 6
    tried, compute = [], counterfactual.Changes.log_joint_after
    monkeypatch.setattr(
        counterfactual.Changes,
        "log_joint_after",
        lambda changes, sets: tried.append(sets) or compute(changes, sets),
    )
    assert len(bn.counterfactual(x, row, True, most=1, alternatives=1)) == 1
    assert [len(sets) for sets in tried] == [1, 11, 1]
