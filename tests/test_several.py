"""Several class variables: results by enumeration, random models, functions, errors."""

import json
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import MBC
from bnclassify.scores import Rows
from bnclassify.tools.graphs import maximum_arborescence

from .conftest import informative_gaps
from .strategies import arcs, examples, frames

FOLDER = Path(__file__).parent / "reference" / "several"
FIGURES = json.loads((FOLDER / "figures.json").read_text())
CASES = [(case, name) for case, own in FIGURES.items() for name in own["models"]]


@cache
def table(case):
    return pd.read_csv(FOLDER / FIGURES[case]["csv"], dtype=str)


def rows_of(case, frame):
    names = [name for name in frame if name not in FIGURES[case]["class_vars"]]
    return pd.DataFrame(FIGURES[case]["rows"], columns=names, dtype=object)


def learned(case, name):
    """The model that a name in the results describes, such as "tree/empty bic 2"."""
    kind, score, most, *more = name.split()
    options = {"score": score.replace("bdeu", "bde"), "max_parents": int(most)}
    if more:
        options["ess"] = int(more[0].removeprefix("ess"))
    frame, names = table(case), FIGURES[case]["class_vars"]
    if kind == "maode":
        structure = bn.maode(names, frame, **options)
    else:
        classes, features = kind.split("/") if "/" in kind else ("empty", "empty")
        structure = bn.mbc(names, frame, classes=classes, features=features, **options)
    return bn.lp(structure, frame, smooth=1)


@pytest.mark.parametrize(
    ("case", "name"), [*CASES[::2], *(pytest.param(*c, marks=pytest.mark.slow) for c in CASES[1::2])]
)
def test_figures(case, name):
    x, frame, expected = learned(case, name), table(case), FIGURES[case]["models"][name]
    found = [{v: set(family[1:]) for v, family in bn.families(m).items()} for m in bn.members(x)]
    assert found == [{v: set(parents) for v, parents in own.items()} for own in expected["families"]]
    new = rows_of(case, frame)
    shares, labels = bn.predict(x, new, prob=True), bn.predict(x, new)
    together = bn.predict(x, new, joint=True, prob=True)
    for i, row in enumerate(expected["rows"]):
        for c, own in row["marginals"].items():
            for label, share in own.items():
                assert shares.loc[i, (c, label)] == pytest.approx(share, abs=1e-9)
        assert labels.loc[i].tolist() == row["marginal_labels"]
        assert together.loc[i].tolist()[:-1] == row["joint_label"]
        assert together.loc[i, "probability"] == pytest.approx(row["joint_prob"], abs=1e-9)
    assert bn.loglik(x, frame) == pytest.approx(expected["loglik"], abs=1e-7)
    for how, joint in {"marginal": False, "joint": True}.items():
        predicted = bn.predict(x, frame, joint=joint)
        assert bn.hamming(predicted, frame) == pytest.approx(expected["training"][f"hamming_{how}"], abs=1e-9)
        match = bn.exact_match(predicted, frame)
        assert match == pytest.approx(expected["training"][f"exact_{how}"], abs=1e-9)
    joint = bn.loglik(x, new.assign(**together[list(x.targets)]), by_row=True)  # of labels and features
    evidence = [row["log_evidence"] for row in expected["rows"]]
    np.testing.assert_allclose(joint - np.log(together["probability"]), evidence, atol=1e-9)


@pytest.mark.parametrize("case", FIGURES)
def test_chains(case):
    frame, names = table(case), FIGURES[case]["class_vars"]
    x = bn.lp(bn.chain(names, frame), frame, smooth=1)
    new = rows_of(case, frame)
    shares = bn.predict(x, new, prob=True)
    together = bn.predict(x, new, joint=True, prob=True)
    greedy = bn.predict(x, new, joint=True, greedy=True)
    for i, row in enumerate(FIGURES[case]["chain_nb_smooth1"]):
        for c, own in row["marginals"].items():
            for label, share in own.items():
                assert shares.loc[i, (c, label)] == pytest.approx(share, abs=1e-9)
        assert together.loc[i].tolist()[:-1] == row["joint_label"]
        assert together.loc[i, "probability"] == pytest.approx(row["joint_prob"], abs=1e-9)
        assert greedy.loc[i].tolist() == row["greedy_label"]
    assert bn.predict(x, new, greedy=True).equals(greedy)


# Random models beside enumeration.


@st.composite
def problems(draw, *, missing=0.3):
    frame = draw(frames(min_rows=3, max_rows=12, max_features=6, missing=missing))
    m = draw(st.integers(1, min(3, frame.shape[1] - 1)))
    names = ["class", *frame.columns[: m - 1]]
    for name in names:
        frame[name] = frame[name].fillna(frame[name].cat.categories[0])
    return frame, names


@st.composite
def networks(draw, frame, class_vars):
    """Any acyclic graph over features and classes, with random tables, some probabilities 0."""
    parents = draw(arcs(list(frame.columns), max_parents=3))
    features = [name for name in frame if name not in class_vars]
    names = [*features, *class_vars]
    levels = {name: tuple(frame[name].cat.categories) for name in names}
    families = tuple((v, *sorted(parents[v], key=names.index)) for v in names)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zeros = draw(st.booleans())
    tables = []
    for family in families:
        own = rng.dirichlet(np.ones(len(levels[family[0]])), size=[len(levels[p]) for p in family[1:]])
        if zeros:
            own = np.where(rng.random(own.shape) < 0.1, 0.0, own)
            total = own.sum(axis=-1, keepdims=True)
            own = np.where(total > 0, own / np.where(total > 0, total, 1), 1 / own.shape[-1])
        tables.append(np.ascontiguousarray(np.moveaxis(own, -1, 0)))
    return MBC(tuple(class_vars), families, tuple(levels.values()), tuple(tables))


def joint_table(x, row):
    """P(combination, known features) of every combination of labels, by sums over all other variables."""
    values, total = bn.values(x), {}
    hidden = [f for f in bn.features(x) if pd.isna(row[f])]
    known = {f: row[f] for f in bn.features(x) if f not in hidden}
    networks = bn.members(x)
    for labels in product(*(values[c] for c in x.targets)):
        share = 0.0
        for filled in product(*(values[f] for f in hidden)):
            whole = known | dict(zip(hidden, filled, strict=True)) | dict(zip(x.targets, labels, strict=True))
            for member in networks:
                p = 1.0
                for variable, own in bn.params(member).items():
                    at = tuple(values[v].index(whole[v]) for v in bn.families(member)[variable])
                    p *= own[at]
                share += p / len(networks)
        total[labels] = share
    return total


def check_beside_enumeration(x, frame, joints):
    shares = bn.predict(x, frame, prob=True)
    together = bn.predict(x, frame, joint=True, prob=True)
    each = bn.predict(x, frame)
    for i, joint in enumerate(joints):
        total = sum(joint.values())
        if total == 0:  # a row that is impossible: all labels are alike
            joint = dict.fromkeys(joint, 1.0)
            total = len(joint)
        for j, c in enumerate(x.targets):
            for label in bn.values(x)[c]:
                expected = sum(p for labels, p in joint.items() if labels[j] == label) / total
                assert shares.iloc[i][(c, label)] == pytest.approx(expected, abs=1e-9)
        best = max(joint.values())
        *labels, probability = together.iloc[i].tolist()
        assert probability == pytest.approx(best / total, abs=1e-9)
        assert tuple(labels) == next(own for own, p in joint.items() if p >= best * (1 - 1e-9))
        # The likeliest combination is never less probable than the likeliest labels of each.
        assert joint[tuple(labels)] >= joint[tuple(each.iloc[i])] * (1 - 1e-9)


@pytest.mark.slow
@given(st.data())
@examples(150)
def test_any_network_agrees_with_enumeration(data):
    frame, class_vars = data.draw(problems())
    x = data.draw(networks(frame, class_vars))
    check_beside_enumeration(x, frame, [joint_table(x, row) for _, row in frame.iterrows()])


@pytest.mark.slow
@given(st.data())
@examples(60)
def test_averages_agree_with_enumeration(data):
    frame, class_vars = data.draw(problems())
    frame = frame.dropna(axis="columns", how="all")
    assume(frame.shape[1] > len(class_vars))  # else lp warns that nothing is left to predict by
    most = data.draw(st.integers(0, 2))
    x = bn.lp(bn.maode(class_vars, frame, max_parents=most), frame, smooth=1)
    check_beside_enumeration(x, frame, [joint_table(x, row) for _, row in frame.iterrows()])


@pytest.mark.slow
@given(st.data(), st.sampled_from(["nb", "tan_cl", "aode"]), st.sampled_from([None, 1, 3]))
@examples(15)
def test_chains_agree_with_enumeration(data, learner, orders):
    frame, class_vars = data.draw(problems(missing=0.0))
    x = bn.lp(bn.chain(class_vars, frame, learner=learner, orders=orders, rng=1), frame, smooth=1)
    chains = [x] if orders is None else bn.members(x)
    holes = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)
    joints = []
    for _, row in holes.iterrows():
        joint = {}
        for labels in product(*(bn.values(x)[c] for c in class_vars)):
            label, shares = dict(zip(class_vars, labels, strict=True)), []
            for chained in chains:
                own, p = row.copy(), 1.0
                for member in bn.members(chained):
                    one = pd.DataFrame([own]).astype(frame.dtypes.to_dict())
                    p *= bn.predict(member, one, prob=True).iloc[0][label[bn.class_var(member)]]
                    own[bn.class_var(member)] = label[bn.class_var(member)]
                shares.append(p)
            joint[labels] = sum(shares) / len(chains)
        joints.append(joint)
    check_beside_enumeration(x, holes, joints)


def test_orders_of_chains(votes):
    names = ["Class", "crime", "immigration", "mx_missile"]
    x = bn.chain(names, votes, orders=10, rng=0)
    orders = [tuple(bn.class_var(link) for link in bn.members(one)) for one in bn.members(x)]
    assert orders[0] == tuple(names)
    assert all(sorted(order) == sorted(names) for order in orders)
    assert len(set(orders)) > 5
    again = bn.chain(names, votes, orders=orders)
    repeated = [tuple(bn.class_var(link) for link in bn.members(one)) for one in bn.members(again)]
    assert repeated == orders
    single = bn.lp(bn.chain(names, votes, orders=1), votes, smooth=1)
    chained = bn.lp(bn.chain(names, votes), votes, smooth=1)
    for options in ({}, {"joint": True}, {"greedy": True}, {"joint": True, "greedy": True}):
        ours, theirs = (bn.predict(model, votes, prob=True, **options) for model in (single, chained))
        pd.testing.assert_frame_equal(ours, theirs, atol=1e-12)
    told = bn.explain(single, votes.head(1), class_var="crime")
    pd.testing.assert_frame_equal(told, bn.explain(chained, votes.head(1), class_var="crime"))


def test_an_impossible_row_gets_the_first_labels():
    """All combinations of its labels are tied, also those of class variables that no other value concerns."""
    frame = pd.DataFrame({"u": list("xxyy"), "v": list("xyxy"), "a": list("ppqq"), "b": list("pqpq")})
    frame["u"] = pd.Categorical(frame["u"], ["x", "y", "z"])
    x = bn.lp(bn.mbc(["a", "b"], frame, classes="empty", score="loglik"), frame, smooth=0)
    row = {"u": "z", "v": "y"}
    assert bn.predict(x, {**row, "u": "y"}, joint=True).iloc[0].tolist() == ["q", "q"]
    found = bn.predict(x, row, joint=True, prob=True)
    assert found.iloc[0].tolist() == ["p", "p", 0.25]


def test_greedy_chains_choose_the_best_of_their_combinations(votes):
    names = ["Class", "crime", "immigration"]
    x = bn.lp(bn.chain(names, votes, orders=4, rng=0), votes, smooth=1)
    found = bn.predict(x, votes, joint=True, prob=True, greedy=True)
    tried = [bn.predict(one, votes, joint=True, greedy=True) for one in bn.members(x)]
    best = bn.predict(x, votes, joint=True, prob=True)
    assert (found["probability"] <= best["probability"] + 1e-12).all()
    for i, labels in enumerate(found[names].itertuples(index=False)):
        assert tuple(labels) in {tuple(one.iloc[i]) for one in tried}
    data = bn.encode(votes)
    codes = data.codes[[data.positions[name] for name in x.features]]
    for one in tried:
        labels = np.array([one[name].cat.codes for name in names])
        assert (np.exp(x.log_posterior_at(Rows(codes), labels)) <= found["probability"] + 1e-12).all()
    shares = sum(bn.predict(one, votes, prob=True, greedy=True) for one in bn.members(x)) / 4
    pd.testing.assert_frame_equal(bn.predict(x, votes, prob=True, greedy=True), shares, atol=1e-12)


@given(st.data())
@examples(40)
def test_scores_of_data_agree_with_enumeration(data):
    frame, class_vars = data.draw(problems())
    x = data.draw(networks(frame, class_vars))
    joints = [joint_table(x, row) for _, row in frame.iterrows()]
    actual = [tuple(row[c] for c in class_vars) for _, row in frame.iterrows()]
    own = np.array([joint[labels] for joint, labels in zip(joints, actual, strict=True)])
    assume((own > 0).all())
    assert bn.loglik(x, frame) == pytest.approx(np.log(own).sum(), rel=1e-9)
    total = np.array([sum(joint.values()) for joint in joints])
    assert bn.cloglik(x, frame) == pytest.approx(np.log(own / total).sum(), rel=1e-9, abs=1e-9)


@informative_gaps
@given(st.data())
@examples(30)
def test_explained_odds_are_those_of_the_posterior(data):
    frame, class_vars = data.draw(problems())
    x = data.draw(networks(frame, class_vars))
    name = data.draw(st.sampled_from(class_vars))
    labels = bn.values(x)[name]
    shares = bn.predict(x, frame, prob=True)[name]
    assume(len(labels) > 1 and (shares > 0).all(axis=None))
    assume(sum(joint_table(x, frame.iloc[0]).values()) > 0)
    told = bn.explain(x, frame.head(1), class_var=name, target=labels[0], against=list(labels[1:]))
    p = shares.iloc[0, 0]
    assert told["log_odds"].sum() == pytest.approx(np.log(p / (1 - p)), abs=1e-8)


def test_a_network_of_one_class_is_an_ordinary_one(car):
    one = bn.lp(bn.mbc(["class"], car, score="loglik"), car, smooth=1)
    nb = bn.lp(bn.nb("class", car), car, smooth=1)
    np.testing.assert_allclose(bn.predict(one, car, prob=True), bn.predict(nb, car, prob=True), rtol=1e-9)
    assert bn.loglik(one, car) == pytest.approx(bn.loglik(nb, car))
    assert bn.BIC(one, car) == pytest.approx(bn.BIC(nb, car))
    mine = bn.explain(one, car.iloc[7], class_var="class")
    assert mine["log_odds"].tolist() == pytest.approx(
        bn.explain(nb, car.iloc[7])["log_odds"].tolist(), abs=1e-9
    )


def test_the_joint_of_a_single_network_is_not_averaged(car, monkeypatch):
    one = bn.lp(bn.mbc(["class", "safety"], car, score="loglik"), car, smooth=1)
    expected = bn.loglik(one, car)
    monkeypatch.setattr("bnclassify.elimination.log_sum_exp", None)
    assert bn.loglik(one, car) == expected


def test_ties_go_to_the_first_combination():
    half = np.full(2, 0.5)
    same = np.array([[0.2, 0.8], [0.8, 0.2]])
    families = (("a",), ("c",), ("d", "c"))
    x = MBC(("c", "d"), families, (("u", "v"),) * 3, (half, half, same))
    together = bn.predict(x, pd.DataFrame({"a": ["u"]}), joint=True, prob=True)
    assert together.iloc[0].tolist() == ["u", "v", pytest.approx(0.4)]
    assert bn.predict(x, pd.DataFrame({"a": ["u"]})).iloc[0].tolist() == ["u", "u"]


# Learners.


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["any", "whole", "symmetric"]))
@examples(100)
def test_arborescences_are_as_heavy_as_can_be(n, seed, kind):
    nx = pytest.importorskip("networkx", reason="NetworkX is not installed; the extra exchange has it")
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, (n, n)).astype(float) if kind == "whole" else rng.random((n, n))
    weights = weights + weights.T if kind == "symmetric" else weights
    parent = maximum_arborescence(weights)
    graph = nx.DiGraph([(p, v) for v, p in enumerate(parent) if p >= 0])
    graph.add_nodes_from(range(n))
    assert parent.count(-1) == 1
    assert nx.is_arborescence(graph)
    complete = nx.DiGraph()
    complete.add_nodes_from(range(n))
    complete.add_weighted_edges_from((i, j, weights[i, j]) for i in range(n) for j in range(n) if i != j)
    best = nx.maximum_spanning_arborescence(complete).size(weight="weight") if n > 1 else 0.0
    assert sum(weights[p, v] for v, p in enumerate(parent) if p >= 0) == pytest.approx(best)


@given(st.data(), st.sampled_from(["aic", "bic", "bde", "k2"]), st.sampled_from([0.5, 4.0]))
@examples(40)
def test_bridges_are_the_best_by_the_score_of_networks(data, score, ess):
    frame, class_vars = data.draw(problems(missing=0.0))
    x = bn.mbc(class_vars, frame, classes="empty", score=score, ess=ess, max_parents=2)
    for feature in bn.features(x):
        worth = {}
        for size in range(min(2, len(class_vars)) + 1):
            for classes in combinations(class_vars, size):
                text = f"[{feature}|{':'.join(classes)}]" if classes else f"[{feature}]"
                text += "".join(f"[{c}]" for c in classes)
                network = bn.from_modelstring(text, feature)
                own = bn.network_score(network, frame, score=score, ess=ess)
                worth[classes] = own - sum(
                    bn.network_score(bn.from_modelstring(f"[{c}]", c), frame, score=score, ess=ess)
                    for c in classes
                )
        chosen = bn.families(x)[feature][1:]
        assert worth[chosen] >= max(worth.values()) - 1e-8
        assert all(worth[other] < worth[chosen] + 1e-8 for other in worth)


def test_of_tied_class_parents_the_first_are_chosen():
    frame = pd.DataFrame({"a": list("uuvv"), "c": list("ppqq"), "d": list("rrss")})
    x = bn.mbc(["c", "d"], frame, score="loglik", max_parents=2)
    assert bn.families(x)["a"] == ("a", "c")


def test_rows_that_lack_classes_count_where_they_can(voting):
    names = ["Class", "immigration"]
    holes = voting.copy()
    holes.loc[:50, "Class"] = None
    x = bn.lp(bn.mbc(names, holes), holes, smooth=1)
    expected = bn.lp(bn.nb("Class", holes.dropna(subset=["Class"])), holes.dropna(subset=["Class"]), smooth=1)
    vote = next(f for f, family in bn.families(x).items() if family[1:] == ("Class",) and f not in names)
    np.testing.assert_allclose(bn.cpt(x, vote), bn.cpt(expected, vote))


def test_weighted_rows_count_as_often_as_they_weigh(votes):
    names = ["Class", "crime"]
    data = bn.encode(votes)
    weights = np.random.default_rng(0).integers(0, 3, len(votes)).astype(float)
    weighted = replace(data, weights=weights)
    repeated = bn.encode(votes.loc[votes.index.repeat(weights.astype(int))].reset_index(drop=True))
    repeated = replace(repeated, schema=data.schema)
    for learner in (bn.mbc, bn.maode, bn.chain):
        one = bn.lp(learner(names, weighted), weighted, smooth=1)
        other = bn.lp(learner(names, repeated), repeated, smooth=1)
        np.testing.assert_allclose(
            bn.predict(one, votes, prob=True), bn.predict(other, votes, prob=True), rtol=1e-9
        )


def test_a_chain_takes_any_learner_any_method_any_order(votes):
    names = ["Class", "crime", "immigration"]
    order = ["crime", "immigration", "Class"]
    x = bn.chain(names, votes, learner="kdb_mi", order=np.array(order), dag_args={"kdbk": 1})
    assert [bn.class_var(member) for member in bn.members(x)] == order
    assert "order" in repr(x)
    model = bn.lp(x, votes, smooth=1, wanbia=True)
    assert bn.predict(model, votes).columns.tolist() == names
    drawn = bn.chain(names[:2], votes, learner="kdb", dag_args={"k": 2, "rng": 0, "smooth": 1})
    assert 0.5 < bn.cv(bn.lp(drawn, votes, smooth=1), votes, k=2, rng=0)["hamming"] < 1


def test_the_rows_of_a_chain_are_those_of_the_member_with_the_most(votes):
    gaps = votes.assign(crime=votes["crime"].where(np.arange(len(votes)) % 7 > 0))
    x = bn.lp(bn.chain(["Class", "crime"], gaps), gaps, smooth=1)
    sizes = [bn.summary(member).set_index("item").loc["rows", "value"] for member in bn.members(x)]
    assert sizes == [232, 198]
    assert bn.summary(x).set_index("item").loc["rows", "value"] == 232


def test_classes_can_have_more_labels_than_features():
    i = np.arange(800)
    a = np.minimum(i % 210, 199)  # the last label is the most frequent one
    frame = pd.DataFrame({"f": i % 3, "a": a, "b": (a > 150) ^ (i % 7 == 0)}).astype("category")
    row, labels = frame[["f"]].head(1), frame["a"].cat.categories
    every = row.loc[[0] * 400].assign(a=[*labels] * 2, b=[False] * 200 + [True] * 200).reset_index(drop=True)
    x = bn.lp(bn.chain(["a", "b"], frame), frame, smooth=1)
    shares = bn.predict(x.members[0], row, prob=True).to_numpy()
    given_a = bn.predict(x.members[1], every.iloc[:200], prob=True).to_numpy()
    np.testing.assert_allclose(bn.predict(x, row, prob=True)["b"], shares @ given_a, atol=1e-12)
    x = bn.lp(bn.maode(["a", "b"], frame), frame, smooth=1)
    best = every.iloc[bn.loglik(x, every, by_row=True).idxmax()]
    assert bn.predict(x, row, joint=True).iloc[0].tolist() == best[["a", "b"]].tolist()


def test_too_many_combinations(votes, monkeypatch):
    names = ["Class", "crime", "immigration"]
    average = bn.lp(bn.maode(names, votes), votes, smooth=1)
    chained = bn.lp(bn.chain(names, votes), votes, smooth=1)
    greedy = bn.predict(chained, votes, prob=True, greedy=True)
    monkeypatch.setattr("bnclassify.several.multidimensional.MOST_COMBINATIONS", 4)
    with pytest.raises(ValueError, match="joint=False"):
        bn.predict(average, votes, joint=True)
    assert bn.predict(average, votes).shape == (len(votes), 3)
    assert bn.predict(chained, votes, prob=True).equals(greedy)
    assert bn.predict(chained, votes, joint=True).equals(bn.predict(chained, votes, joint=True, greedy=True))
    chains = bn.lp(bn.chain(names, votes, orders=2, rng=0), votes, smooth=1)
    assert bn.predict(chains, votes, joint=True).equals(bn.predict(chains, votes, joint=True, greedy=True))


def test_tables_that_would_be_too_large(votes, monkeypatch):
    names = list(votes.columns[:6])
    x = bn.lp(bn.mbc(names, votes, max_parents=2, score="loglik"), votes, smooth=1)
    monkeypatch.setattr("bnclassify.elimination.MAX_CELLS", 2)
    with pytest.raises(ValueError, match="fewer parents"):
        bn.predict(x, votes)
    holes = votes.mask(np.random.default_rng(0).random(votes.shape) < 0.3)
    tree = bn.lp(bn.mbc(names, votes, features="tree"), votes, smooth=1)
    with pytest.raises(ValueError, match="fewer parents"):
        bn.predict(tree, holes, joint=True)


# Verbs.

MODELS = {
    "mbc": lambda names, frame: bn.mbc(names, frame, features="tree", max_parents=2),
    "maode": bn.maode,
    "chain": lambda names, frame: bn.chain(names, frame, learner="tan_cl", dag_args={"score": "bic"}),
    "chains": lambda names, frame: bn.chain(names, frame, orders=3, rng=0),
}
NAMES = ["Class", "crime", "immigration"]


@pytest.fixture(scope="module")
def models():
    voting = bn.load_voting()
    return {name: bn.lp(learner(NAMES, voting), voting, smooth=1) for name, learner in MODELS.items()}


def test_damaged_files_are_refused(models, tmp_path):
    path = tmp_path / "model.json"
    for kind in ("mbc", "maode"):
        bn.save(models[kind], path)
        text = path.read_text()
        document = json.loads(text)
        document["model"]["class_vars"] = NAMES[:2]
        path.write_text(json.dumps(document))
        with pytest.raises(ValueError, match="damaged"):
            bn.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_cross_validation_by_hand(models, kind):
    known = bn.load_voting().dropna(subset=NAMES).reset_index(drop=True)
    folds = np.arange(len(known)) % 3
    metric = ["hamming", "exact_match", "joint_hamming", "joint_exact_match", "accuracy", "log_loss"]
    found = bn.cv(models[kind], known, folds=folds, metric=metric, mean=False)
    for fold in range(3):
        train, test = known[folds != fold], known[folds == fold]
        x = bn.lp(MODELS[kind](NAMES, train), train, smooth=1)
        each, together = bn.predict(x, test), bn.predict(x, test, joint=True)
        shares = bn.predict(x, test, prob=True)
        expected = {
            "hamming": bn.hamming(each, test),
            "exact_match": bn.exact_match(each, test),
            "joint_hamming": bn.hamming(together, test),
            "joint_exact_match": bn.exact_match(together, test),
        }
        for c in NAMES:
            expected[f"accuracy({c})"] = bn.accuracy(each[c], test[c])
            own = [shares.loc[i, (c, label)] for i, label in test[c].items()]
            expected[f"log_loss({c})"] = -np.log(own).mean()
        assert found.loc[fold].to_dict() == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_what_cross_validation_returns(models):
    known = bn.load_voting().dropna(subset=NAMES)
    one = bn.cv(models["mbc"], known, k=3, rng=0)
    assert one.index.tolist() == ["hamming", "exact_match"]
    assert bn.cv(models["mbc"], known, k=3, rng=0, mean=False).columns.tolist() == ["hamming", "exact_match"]
    several = bn.cv(models, known, k=3, rng=0)
    assert several["mbc"].to_dict() == one.to_dict()
    assert bn.cv(models["mbc"], known, k=3, rng=0, metric="brier").index.tolist() == [
        f"brier({name})" for name in NAMES
    ]
    twice = bn.cv(models["mbc"], known, k=3, repeats=2, rng=0, mean=False)
    assert twice.index.names == ["repeat", "fold"]
    assert twice.loc[0, "hamming"].mean() == pytest.approx(one["hamming"])
    kept = bn.cv(models["mbc"], known, k=3, rng=0, dag=False)
    assert 0.3 < kept["exact_match"] < kept["hamming"] < 1
    with pytest.raises(ValueError, match="models of the same class"):
        bn.cv([models["mbc"], bn.lp(bn.nb("Class", known), known, smooth=1)], known)


def test_labels_that_are_not_known_are_not_judged(models):
    voting = bn.load_voting()
    folds = np.arange(len(voting)) % 2
    found = bn.cv(models["mbc"], voting, folds=folds, mean=False, dag=False)
    train, test = voting[folds != 0], voting[folds == 0]
    x = bn.lp(models["mbc"], train, smooth=1)
    each = bn.predict(x, test)
    right = np.concatenate([(each[c] == test[c])[test[c].notna()] for c in NAMES])
    assert found.loc[0, "hamming"] == pytest.approx(right.mean())
    known = test[NAMES].notna().all(axis=1)
    assert found.loc[0, "exact_match"] == pytest.approx(bn.exact_match(each[known], test[known]))


def test_pictures_tell_the_parts_apart(models):
    source = bn.plot(models["mbc"]).source
    assert "3 class variables" in source
    assert len({style for style in ("#1f4e79", "#87919b") if f'color="{style}"' in source}) == 2
    assert "average of 3 networks" in bn.plot(models["maode"]).source
    with pytest.raises(TypeError, match="members"):
        bn.plot(models["chain"])


def test_questions(models):
    x = models["mbc"]
    assert x.targets == tuple(NAMES)
    assert bn.class_var(x) == x.targets
    assert x.variables[-3:] == tuple(NAMES)
    assert bn.nparams(x) == sum((t.shape[0] - 1) * t[0].size for t in bn.params(x).values())
    assert bn.AIC(x, bn.load_voting().dropna(subset=NAMES)) < 0
    with pytest.raises(TypeError, match=r"class_var\(x\) returns"):
        bn.classes(x)
    assert not bn.is_nb(x)
    assert "class variables" in repr(x)


def test_agreement_of_labels():
    predicted = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 1, 2]})
    actual = pd.DataFrame({"b": [1, 2, 2], "a": ["x", "y", "y"], "more": [0, 0, 0]})
    assert bn.hamming(predicted, actual) == pytest.approx(4 / 6)
    assert bn.exact_match(predicted, actual) == pytest.approx(1 / 3)
