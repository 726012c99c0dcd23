"""Averaged n-dependence estimators, against Weka's figures and the formulas written out for one row."""

import json
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from math import log, prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import logsumexp

import bnclassify as bn
from bnclassify.models import AODE
from bnclassify.superparents import n_dependence

from .conftest import REFERENCE, informative_gaps
from .strategies import examples, frames, smooths

WEKA = {
    **{f"AODE_F{f}": ({"min_count": f}, {"smooth": 1}) for f in (1, 5, 30, 50, 100, 300, 500, 1_000_000)},
    "AODE_M": ({}, {"m": 1}),
    "AODEsr": ({"subsumption": 50}, {"m": 1}),
    "AODEsr_C20": ({"subsumption": 20}, {"m": 1}),
    "AODEsr_F30": ({"subsumption": 50, "min_count": 30}, {"m": 1}),
    "AODEsr_L": ({"subsumption": 50}, {"smooth": 1}),
    "WAODE": ({"weights": "mi"}, {"m": 1}),
}
"""What Weka's variants are here."""


@cache
def referred(name):
    reference = json.loads((REFERENCE / "superparents" / f"{name}.json").read_text())
    if name in ("car", "voting", "voting_missing"):
        frame = bn.load_car() if name == "car" else bn.load_voting()
        frame = frame.dropna() if name == "voting" else frame
    else:
        frame = pd.read_csv(REFERENCE / "data" / f"{name}.csv", dtype=str, keep_default_na=False)
    columns = {
        v: pd.Categorical(frame[v].astype(object), labels) for v, labels in reference["levels"].items()
    }
    return reference, pd.DataFrame(columns)


@examples(20)
@given(frames(min_rows=2, max_features=4, missing=0.3), smooths, st.sampled_from(["aode", "ande", "waode"]))
def test_products_are_the_sums_of_look_ups(frame, smooth, learner):
    if learner == "aode":
        structure = bn.aode("class", frame)
    else:
        weights = "mi" if learner == "waode" else None
        structure = bn.ande("class", frame, min_count=2, weights=weights)
    x = bn.lp(structure, frame, smooth=smooth)
    complete = frame.dropna()
    with pytest.MonkeyPatch.context() as patched:
        found = []
        for products in (0, 10**9):
            patched.setattr(n_dependence, "_PRODUCTS_PER_LOOK_UP", products)
            model = replace(x)
            rows = [frame, frame.iloc[::-1], *([complete] if len(complete) else [])]
            found.append([bn.predict(model, some, prob=True).to_numpy() for some in rows])
    for looked_up, multiplied in zip(*found, strict=True):
        np.testing.assert_allclose(multiplied, looked_up, rtol=1e-11, atol=1e-14)


def test_products_of_tiny_probabilities():
    """A level that a row does not have is never one that it may have, however improbable its own are."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.choice(list("ab"), 200) for i in range(40)})
    frame = frame.assign(y=rng.choice(list("uv"), 200))
    x = bn.lp(bn.aode("y", frame.head(20)), frame.head(20), smooth=1e-100)
    holes = frame.mask(rng.random(frame.shape) < 0.3).assign(y=frame["y"])
    together = bn.predict(x, holes, prob=True)
    one_by_one = pd.concat([bn.predict(x, holes.iloc[[i]], prob=True) for i in range(20)])
    np.testing.assert_allclose(together.head(20), one_by_one, rtol=1e-9)


class ByHand:
    """The formulas for one row, counting rows one by one."""

    def __init__(self, frame, class_var, smooth, m):
        self.levels = {v: list(frame[v].cat.categories) for v in frame}
        self.rows = [
            {v: None if pd.isna(value) else value for v, value in row.items()}
            for row in frame.to_dict("records")
            if not pd.isna(row[class_var])
        ]
        self.class_var, self.smooth, self.m = class_var, smooth, m

    def count(self, *known, **values):
        """Rows that have some values, and know some more variables."""
        return sum(
            all(row[v] == value for v, value in values.items()) and all(row[v] is not None for v in known)
            for row in self.rows
        )

    def estimate(self, count, total, cells):
        pseudo = self.m / cells if self.m is not None else self.smooth
        mass = total + cells * pseudo
        return (count + pseudo) / mass if mass else 1 / cells

    def joint(self, label, row, above, used):
        """P(label, values of the superparents) times those of the children given them."""
        given = {self.class_var: label} | {v: row[v] for v in above}
        cells = prod(len(self.levels[v]) for v in given)
        result = self.estimate(self.count(**given), self.count(*above), cells)
        for child in used:
            if child not in above:
                own = self.count(**given, **{child: row[child]})
                result *= self.estimate(own, self.count(child, **given), len(self.levels[child]))
        return result

    def kept(self, row, subsumption):
        known = [v for v in row if row[v] is not None]
        dropped = {}
        for i, x in enumerate(known):
            for j, y in enumerate(known):
                if subsumption is None or x == y or dropped.get(y) == x:
                    continue
                both, own = self.count(**{x: row[x], y: row[y]}), self.count(**{y: row[y]})
                if own > subsumption and own == both:
                    if own == self.count(**{x: row[x]}) and i < j:
                        continue
                    dropped[x] = y
                    break
        return [v for v in known if v not in dropped]

    def information(self, feature):
        known = [(row[feature], row[self.class_var]) for row in self.rows if row[feature] is not None]
        result = 0.0
        for value in self.levels[feature]:
            for label in self.levels[self.class_var]:
                p = known.count((value, label)) / max(len(known), 1)
                q = (
                    sum(a == value for a, _ in known)
                    * sum(b == label for _, b in known)
                    / max(len(known), 1) ** 2
                )
                if p >= 1e-6 and q >= 1e-6:
                    result += p * log(p / q)
        return result if result > 1e-14 else 0.0

    def posterior(self, row, n=1, min_count=1, subsumption=None, weights=None):
        kept = self.kept(row, subsumption)
        labels = self.levels[self.class_var]
        for size in range(n, 0, -1):
            voters = [
                s for s in combinations(kept, size) if self.count(**{v: row[v] for v in s}) >= min_count
            ]
            if voters:
                share = [sum(map(self.information, s)) if weights else 1.0 for s in voters]
                share = share if sum(share) else [1.0] * len(voters)
                mass = [
                    sum(w * self.joint(label, row, s, kept) for w, s in zip(share, voters, strict=True))
                    for label in labels
                ]
                break
        else:
            used = kept if n == 0 else [v for v in row if row[v] is not None]
            mass = [self.joint(label, row, (), used) for label in labels]
        return [m / sum(mass) if sum(mass) else 1 / len(mass) for m in mass]


def records(frame):
    rows = frame.drop(columns="class").to_dict("records")
    return [{v: None if pd.isna(value) else value for v, value in row.items()} for row in rows]


@st.composite
def settings(draw):
    return {
        "n": draw(st.integers(0, 2)),
        "min_count": draw(st.integers(1, 6)),
        "subsumption": draw(st.sampled_from([None, 0, 1, 3])),
        "weights": draw(st.sampled_from([None, "mi"])),
    }


@st.composite
def with_copies(draw, **options):
    """Random data in which some features follow from others."""
    frame = draw(frames(**options))
    features = list(frame.columns[:-1])
    for i, name in enumerate(draw(st.lists(st.sampled_from(features), max_size=2))):
        labels = draw(st.lists(st.sampled_from("ab"), min_size=3, max_size=3))
        mapped = frame[name].cat.codes.map(dict(enumerate(labels)))
        frame.insert(draw(st.integers(0, len(features))), f"copy{i}", pd.Categorical(mapped, ["b", "a"]))
    return frame


@given(
    frame=with_copies(missing=0.2, max_features=3),
    new=st.data(),
    chosen=settings(),
    amount=st.sampled_from([{"smooth": 1}, {"smooth": 0.3}, {"smooth": 0}, {"m": 1}, {"m": 2.5}]),
)
def test_posteriors_follow_the_formulas(frame, new, chosen, amount):
    x = bn.lp(bn.ande("class", frame, **chosen), frame, **amount)
    reference = ByHand(frame, "class", amount.get("smooth"), amount.get("m"))
    tested = frame.drop(columns="class").head(6).copy()
    for name in tested:  # rows that training did not have
        order = new.draw(st.permutations(range(len(tested))))
        tested[name] = tested[name].array[order]
    expected = [reference.posterior(row, **chosen) for row in records(tested.assign(**{"class": None}))]
    np.testing.assert_allclose(bn.predict(x, tested, prob=True), expected, rtol=1e-9, atol=1e-12)


CASES = [
    (name, variant) for name in ("car", "voting", "breast", "tic-tac-toe", "car_sub") for variant in WEKA
]
CASES += [("voting_missing", variant) for variant in WEKA if variant != "WAODE"]


@pytest.mark.parametrize(("name", "variant"), CASES, ids="-".join)
def test_posteriors_of_weka(name, variant):
    reference, frame = referred(name)
    settings, amount = WEKA[variant]
    x = bn.lp(bn.ande(reference["class"], frame, **settings), frame, **amount)
    expected = reference["weka"][variant]
    posteriors = bn.predict(x, frame, prob=True)
    np.testing.assert_allclose(posteriors.head(50), expected["posterior"], rtol=0, atol=1e-12)
    wrong = bn.predict(x, frame).astype(str) != frame[reference["class"]].astype(str)
    assert wrong.sum() == expected["training_errors"]


@pytest.mark.parametrize("name", ["car", "voting", "breast", "tic-tac-toe"])
def test_posteriors_of_pairs_of_superparents(name):
    reference, frame = referred(name)
    x = bn.lp(bn.ande(reference["class"], frame, n=2), frame, smooth=1)
    posteriors = bn.predict(x, frame.head(12), prob=True)
    np.testing.assert_allclose(posteriors, reference["a2de"], rtol=0, atol=1e-12)


@informative_gaps
@given(frame=frames(missing=0.2), smooth=smooths, use_m=st.booleans())
def test_without_superparents_it_is_naive_bayes(frame, smooth, use_m):
    amount = {"m": smooth} if use_m else {"smooth": smooth}
    x, naive = (
        bn.lp(structure, frame, **amount)
        for structure in (bn.ande("class", frame, n=0), bn.nb("class", frame))
    )
    expected = bn.predict(naive, frame, prob=True)
    pd.testing.assert_frame_equal(bn.predict(x, frame, prob=True), expected, rtol=1e-12)
    never = bn.lp(bn.ande("class", frame, n=2, min_count=10**6), frame, **amount)
    pd.testing.assert_frame_equal(bn.predict(never, frame, prob=True), expected, rtol=1e-12)
    if len(bn.classes(x)) > 1:
        row = frame.iloc[[0]]
        ours = bn.explain(x, row)["log_odds"]
        pd.testing.assert_series_equal(ours, bn.explain(naive, row)["log_odds"], atol=1e-12)


@given(
    frame=frames(min_rows=2, max_features=4),
    n=st.integers(0, 2),
    weights=st.sampled_from([None, "mi"]),
    smooth=smooths,
)
def test_it_is_the_mean_of_its_members(frame, n, weights, smooth):
    """On rows that training had, where all members vote."""
    x = bn.lp(bn.ande("class", frame, n=n, weights=weights), frame, smooth=smooth)
    n = min(n, len(bn.features(x)))
    if n < x.n or (x.weights == 0).any():
        return
    mean = bn.Ensemble(bn.members(x), weights=tuple(x.weights))
    posteriors = [bn.predict(model, frame, prob=True) for model in (x, mean)]
    pd.testing.assert_frame_equal(*posteriors, rtol=1e-10)
    for member in bn.members(x):
        assert all(np.allclose(table.sum(axis=0), 1) for table in bn.params(member).values())


@pytest.mark.parametrize("m", [1, 2.5])
def test_levels_that_never_occur_together_have_the_probability_of_the_formula(m):
    """With two superparents; all but four of the eight rows are new, and two have the value of a row."""
    frame = pd.DataFrame({"a": list("uuvv"), "b": list("xyxx"), "c": list("ppqp"), "class": list("+-+-")})
    frame = pd.concat([frame] * 3, ignore_index=True).astype("category")
    x, reference = bn.lp(bn.ande("class", frame, n=2), frame, m=m), ByHand(frame, "class", None, m)
    rows = [dict(zip("abc", values, strict=True)) for values in product("uv", "xy", "pq")]
    expected = [reference.posterior(row, n=2, min_count=1, subsumption=None, weights=None) for row in rows]
    np.testing.assert_allclose(bn.predict(x, rows, prob=True), expected, rtol=1e-9)


@given(frame=with_copies(missing=0.2, max_features=3), chosen=settings(), repeats=st.data())
def test_rows_that_weigh_are_rows_repeated(frame, chosen, repeats):
    times = np.array(repeats.draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame))))
    if not times.any():
        return
    weighted = replace(bn.encode(frame), weights=times.astype(float))
    repeated = frame.loc[frame.index.repeat(times)]
    one, other = (bn.lp(bn.ande("class", data, **chosen), data, smooth=1) for data in (weighted, repeated))
    pd.testing.assert_frame_equal(bn.predict(one, frame, prob=True), bn.predict(other, frame, prob=True))


@given(frame=with_copies(missing=0.2, max_features=3), chosen=settings(), order=st.data())
def test_only_ties_depend_on_the_order_of_columns(frame, chosen, order):
    chosen["subsumption"] = None
    names = order.draw(st.permutations(list(frame.columns)))
    one = bn.predict(bn.lp(bn.ande("class", frame, **chosen), frame, m=1), frame, prob=True)
    other = bn.predict(bn.lp(bn.ande("class", frame[names], **chosen), frame[names], m=1), frame, prob=True)
    pd.testing.assert_frame_equal(one, other, rtol=1e-9)


@informative_gaps
@given(
    frame=with_copies(missing=0.2, max_features=3),
    chosen=settings(),
    smooth=st.sampled_from([0, 0.5, 1]),
    row=st.integers(0, 5),
    all_others=st.booleans(),
)
@example(
    # class c is impossible after the first feature, and possible after the second
    frame=pd.DataFrame(
        {
            "copy1": [None, "a", "b", None, "a", "a", None, "a", "a", "a", None, "a", None],
            "copy0": ["a", "a", "a", "a", "a", "a", None, "a", None, "a", "a", "a", "a"],
            "x0": ["p", "q", "q", "q", "p", "p", None, "p", None, "p", "q", "p", "p"],
            "x1": ["p", "p", "p", "p", "q", "p", "p", None, "q", "p", "p", "q", "q"],
            "x2": [None, "p", "r", None, "q", "p", None, "q", "p", "q", None, "q", None],
            "class": list("bbcccabcaaaab"),
        }
    ).astype("category"),
    chosen={"n": 1, "min_count": 1, "subsumption": None, "weights": None},
    smooth=0,
    row=2,
    all_others=False,
)
def test_what_features_add_sums_to_the_log_odds(frame, chosen, smooth, row, all_others):
    x = bn.lp(bn.ande("class", frame, **chosen), frame, smooth=smooth)
    some = frame.iloc[[row % len(frame)]]
    with np.errstate(divide="ignore"):
        logs = np.log(bn.predict(x, some, prob=True).to_numpy()[0])
    if np.ptp(logs) == 0:  # one class, or all are impossible
        return
    target = bn.predict(x, some).item()
    told = bn.explain(x, some, target=target, against=bn.classes(x) if all_others else None)
    own = bn.classes(x).index(target)
    others = np.delete(logs, own)
    expected = logs[own] - (logsumexp(others) if all_others else others.max())
    assert told["log_odds"].sum() == pytest.approx(expected, abs=1e-9)
    assert (told["log_odds"][told["value"].isna()] == 0).all()


@pytest.mark.parametrize("learner", [bn.aode, partial(bn.ande, n=1, weights="mi"), partial(bn.ande, n=2)])
def test_a_feature_contributes_the_change_of_the_log_odds(learner, car):
    prior = {"m": 1} if getattr(learner, "keywords", {}).get("weights") else {"smooth": 1}
    x = bn.lp(learner("class", car), car, **prior)
    row, hidden = car.iloc[[1727]].copy(), car.columns[:-1]
    odds = []
    for i in range(len(hidden) + 1):
        some = row.astype(object).copy()
        some[hidden[i:]] = None
        posterior = bn.predict(x, some, prob=True).iloc[0]
        odds.append(np.log(posterior["vgood"] / posterior["acc"]))
    told = bn.explain(x, row, target="vgood", against="acc")["log_odds"]
    np.testing.assert_allclose(told, [odds[0], *np.diff(odds)], atol=1e-9)


def test_a_row_without_values_gets_the_shares_of_the_classes(voting):
    empty = voting.head(1).assign(**dict.fromkeys(voting.columns[:-1], None))
    shares = (voting["Class"].value_counts() + 1) / (len(voting) + 2)
    for n in (0, 1, 2):
        x = bn.lp(bn.ande("Class", voting, n=n, subsumption=50), voting, smooth=1)
        assert bn.predict(x, empty, prob=True).iloc[0].to_dict() == pytest.approx(shares.to_dict())


def test_superparents_that_tell_nothing_weigh_the_same():
    """The features are independent of the class, and of each other."""
    grid = pd.DataFrame(product("ab", "xyz", "no"), columns=["f", "g", "class"])
    for n in (1, 2):
        some, same = (bn.lp(bn.ande("class", grid, n=n, weights=w), grid, smooth=1) for w in ("mi", None))
        pd.testing.assert_frame_equal(bn.predict(some, grid, prob=True), bn.predict(same, grid, prob=True))
        np.testing.assert_allclose(some.weights, same.weights)


def test_the_summary_tells_members_and_what_they_need(car):
    x = bn.ande("class", car, n=2, min_count=3, subsumption=50, weights="mi")
    lines = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in repr(x).splitlines()[3:]}
    assert lines == {
        "class variable": "class",
        "num. features": "6",
        "num. members": "15",
        "superparents": "2",
        "min_count": "3",
        "subsumption": "50",
        "weights": "mi",
        "learning algorithm": "ande",
    }
    assert len(bn.members(x)) == 15
    assert bn.families(bn.members(x)[0])["doors"] == ("doors", "buying", "maint", "class")
    assert not isinstance(x, AODE)


def test_the_picture_shows_what_superparents_weigh(car):
    x = bn.lp(bn.ande("class", car, n=2, weights="mi"), car, m=1)
    source = bn.plot(x).source
    information = {f: bn.cmi(f, "class", car) for f in bn.features(x)}
    pairs = list(combinations(information, 2))
    total = sum(information[a] + information[b] for a, b in pairs)
    for f in information:
        share = sum(information[a] + information[b] for a, b in pairs if f in (a, b)) / total / 2
        assert f'label="{f}\\n{share:.2f}"' in source
        assert bn.feature_weights(x)[f] == pytest.approx(share)
    assert "in each of which two features are the parents" in source.replace("\\n", " ")
    assert source.count(" -> ") == 6
    assert "shares of features in the weights" in source.replace("\\n", " ")
    assert "lp will weigh the networks" in bn.plot(bn.ande("class", car, weights="mi")).source
    assert "average" not in bn.plot(bn.ande("class", car, n=0)).source
    explained = bn.plot(x, row=car.iloc[1727]).source
    assert "safety = high" in explained
    powered = bn.lp(bn.ande("class", car, n=2, weights="mi"), car, m=1, held_out="power")
    pd.testing.assert_series_equal(bn.feature_weights(powered), bn.feature_weights(x))
    assert "share in the weights" not in explained.replace("\\n", " ")
    powered = bn.lp(bn.ande("class", car, n=2), car, m=1, held_out="power")
    assert "in each of which two features" in bn.plot(powered).source.replace("\\n", " ")


def test_what_has_no_joint_distribution_is_refused(car):
    structure = bn.ande("class", car)
    x = bn.lp(structure, car, smooth=1)
    for score in (bn.loglik, bn.AIC, bn.BIC):
        with pytest.raises(TypeError, match=rf"{score.__name__}: .* not define a joint distribution"):
            score(x, car)


def test_tables_of_an_aode_are_those_of_its_members(car):
    structure = bn.aode("class", car)
    x = bn.lp(structure, car, ess=2)
    for member, alone in zip(bn.members(x), bn.members(structure), strict=True):
        for mine, expected in zip(member.cpts, bn.lp(alone, car, ess=2).cpts, strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_features_may_be_few(car):
    for n in (0, 1, 2):
        x = bn.lp(bn.ande("class", car, n=n, features=[]), car, smooth=1)
        assert bn.predict(x, car.tail(1)).item() == "unacc"
        one = bn.lp(bn.ande("class", car, n=n, features=["safety"]), car, smooth=1)
        assert bn.features(one) == ("safety",)
        assert len(bn.members(one)) == 1
        mean = bn.predict(bn.Ensemble(bn.members(one)), car, prob=True)
        pd.testing.assert_frame_equal(bn.predict(one, car, prob=True), mean)
        assert bn.predict(one, car.head(1)).item() == "unacc"


def test_tables_that_would_be_too_large_are_refused(car, monkeypatch):
    monkeypatch.setattr(n_dependence, "MAX_BYTES", 16_000)
    one = bn.ande("class", car)
    assert bn.lp(one, car, smooth=1).fitted
    with pytest.raises(ValueError, match=r"of the 21 levels of 6 features would have 12,552 cells and need"):
        bn.lp(bn.ande("class", car, n=2), car, smooth=1)
    monkeypatch.setattr(n_dependence, "MAX_BYTES", 8_000)
    with pytest.raises(ValueError, match="all pairs of the 21 levels of 6 features would have 1,764 cells"):
        bn.lp(one, car, smooth=1)


def test_levels_that_do_not_meet_take_no_room():
    rng = np.random.default_rng(0)
    columns = {f"x{i}": pd.Categorical.from_codes(rng.integers(2, size=400), range(300)) for i in range(6)}
    columns["long"] = pd.Categorical(np.arange(400) // 2)
    frame = pd.DataFrame(columns).assign(k=rng.integers(2, size=400))
    x = bn.lp(bn.ande("k", frame, n=2), frame, smooth=1)
    assert sum(cells.size for cells in x.counts.triples) < 1_000_000  # of 8,000,000,000
    assert bn.predict(x, frame.head(40)).notna().all()


def test_a_power_is_learned_by_leaving_rows_out(car):
    for n in (1, 2):
        plain, powered = (
            bn.bnc("ande", "class", car, m=1, dag_args={"n": n}, held_out=how) for how in (None, "power")
        )
        assert bn.loo_summary(powered).power > 1
        assert bn.cloglik(powered, car) > bn.cloglik(plain, car)
        assert bn.predict(powered, car).equals(bn.predict(plain, car))


@pytest.mark.parametrize("features", [[], ["safety"]])
def test_a_power_is_learned_with_fewer_features_than_superparents(features, car):
    structure = bn.ande("class", car, n=2, features=features)
    x = bn.lp(structure, car, smooth=1, held_out="power")
    assert len(bn.members(x)) == len(bn.members(structure)) == 1
    assert bn.features(bn.members(x)[0]) == tuple(features)
    assert bn.loo_summary(x).power > 0


def test_weights_ignore_cells_of_less_than_a_millionth():
    rows = [
        ("x", "u", "0", 5_000_000),
        ("y", "u", "0", 1_000_000),
        ("y", "v", "1", 3_999_000),
        ("y", "u", "1", 1_000),  # counts for b
        ("x", "u", "1", 1),  # is ignored for a
    ]
    data = bn.encode(pd.DataFrame(rows, columns=["a", "b", "k", "n"]), weights="n")
    n = 10_000_001
    cells = {
        "a": [
            (5_000_000, 5_000_001, 6_000_000),
            (1_000_000, 5_000_000, 6_000_000),
            (4_000_000, 5_000_000, 4_000_001),
        ],
        "b": [
            (6_000_000, 6_001_001, 6_000_000),
            (1_001, 6_001_001, 4_000_001),
            (3_999_000, 3_999_000, 4_000_001),
        ],
    }
    expected = [
        sum(both / n * log(both * n / own / of_class) for both, own, of_class in cells[f]) for f in "ab"
    ]
    x = bn.lp(bn.ande("k", data, weights="mi"), data, m=1)
    np.testing.assert_allclose(x.weights, np.array(expected) / sum(expected), rtol=1e-9)
