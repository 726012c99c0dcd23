"""Uncertain evidence, tables made by hand, latent classes, and values that imply others."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

from .conftest import REFERENCE


def figures(name):
    """Read a file of reference figures."""
    return json.loads((REFERENCE / "knowledge" / f"{name}.json").read_text())


def rows_of(reference):
    """Return the data of reference figures, with the levels in their order."""
    folder = REFERENCE / "data"
    if reference["csv"] == "car.csv":
        return (
            bn.load_car()
            .astype(str)
            .astype({v: pd.CategoricalDtype(s) for v, s in reference["levels"].items()})
        )
    frame = pd.read_csv(folder / reference["csv"], dtype=str, keep_default_na=False, na_values=[""])
    return frame.astype({v: pd.CategoricalDtype(s) for v, s in reference["levels"].items()})


def network_of(reference, name):
    """Return a network of the reference with tables with smoothing 1."""
    frame, class_var = rows_of(reference), reference["class"]
    families = []
    for variable, parents in reference["families"][name].items():
        features = [p for p in parents if p != class_var]
        families.append((variable, *features, *([class_var] if class_var in parents else [])))
    if class_var not in reference["families"][name]:
        families.append((class_var,))
    families.sort(key=lambda family: family[0] == class_var)
    return bn.lp(bn.BNC(class_var, tuple(families)), frame, smooth=1)


EVIDENCE = figures("evidence")


def evidence_of(query, levels):
    """Return the evidence of a query; of two kinds on one variable, the product."""
    evidence = {v: dict(zip(levels[v], w, strict=True)) for v, w in query["likelihood"].items()}
    for v, labels in query["sets"].items():
        evidence[v] = {k: w for k, w in evidence[v].items() if k in labels} if v in evidence else labels
    for v, label in query["hard"].items():
        evidence[v] = {label: evidence[v].get(label, 0)} if isinstance(evidence.get(v), dict) else label
    return evidence


@pytest.mark.parametrize("name", EVIDENCE)
@pytest.mark.parametrize(
    "net", [*(pytest.param(net, marks=pytest.mark.slow) for net in ("nb", "tan")), "general"]
)
def test_queries_with_uncertain_evidence(name, net):
    reference = EVIDENCE[name]
    x, levels, class_var = network_of(reference, net), reference["levels"], reference["class"]
    for query in reference["queries"]:
        evidence, answer = evidence_of(query, levels), query["answers"][net]
        if class_var not in query["hard"]:
            found = bn.query(x, class_var, evidence)
            assert found.to_numpy() == pytest.approx(answer["posterior"], abs=1e-12)
            assert found.attrs["log_evidence"] == pytest.approx(answer["log_evidence"], abs=1e-11)
        for variable, marginal in answer["marginals"].items():
            assert bn.query(x, variable, evidence).to_numpy() == pytest.approx(marginal, abs=1e-12)
        a, b = query["joint_of"]
        joint = bn.query(x, [a, b], evidence).unstack(sort=False)  # noqa: PD010
        np.testing.assert_allclose(joint.to_numpy(), answer["joint"], atol=1e-12)


def test_jeffrey():
    reference = EVIDENCE["car"]
    for net in ("nb", "tan", "general"):
        x = network_of(reference, net)
        for case in reference["jeffrey"]:
            v = case["variable"]
            wanted = pd.Series(case["new_marginal"], reference["levels"][v])
            ratio = wanted / bn.query(x, v, case["hard"])
            answer = case["answers"][net]
            assert ratio.to_numpy() == pytest.approx(answer["as_likelihood"], rel=1e-11)
            soft = case["hard"] | {v: ratio.to_dict()}
            assert bn.query(x, reference["class"], soft).to_numpy() == pytest.approx(
                answer["posterior"], abs=1e-12
            )
            assert bn.query(x, v, soft).to_numpy() == pytest.approx(wanted.to_numpy(), abs=1e-12)


def test_a_table_is_replaced(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    table = bn.cpt(x, "maint")
    shuffled = table.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
    same = bn.with_table(x, "maint", shuffled.reorder_levels([1, 0], axis=1))
    assert all(map(np.array_equal, same.cpts, x.cpts))
    even = table * 0 + 1 / len(table)
    y = bn.with_table(x, "maint", even)
    assert (bn.params(y)["maint"] == 0.25).all()
    assert (bn.params(x)["maint"] != 0.25).any()
    flat = bn.BNC(
        "class",
        x.families,
        x.levels,
        tuple(np.full(t.shape, 0.25) if i == 1 else t for i, t in enumerate(x.cpts)),
    )
    pd.testing.assert_frame_equal(bn.predict(y, car, prob=True), bn.predict(flat, car, prob=True))
    prior = bn.with_table(x, "class", pd.DataFrame({"probability": [0, 0, 0, 1.0]}, index=bn.classes(x)))
    assert (bn.predict(prior, car) == "vgood").all()
    with pytest.raises(ValueError, match="counts"):
        bn.update(y, car)
    with pytest.raises(ValueError, match="interval"):
        bn.cpt(y, "doors", interval=0.9)
    assert "with_table(x, 'maint', ...)" in repr(y)


def test_names_that_are_numbers_are_not_positions():
    rows = np.random.default_rng(0).integers(2, size=(60, 3))
    frame = pd.DataFrame(rows, columns=[1, 2, 0])
    x = bn.lp(bn.anb(0, {2: [1]}, frame), frame, smooth=1)
    assert bn.families(x)[2] == (2, 1, 0)
    for same in (bn.with_table(x, 2, bn.cpt(x, 2)), bn.from_tables(0, {v: bn.cpt(x, v) for v in bn.vars(x)})):
        pd.testing.assert_frame_equal(bn.cpt(same, 2), bn.cpt(x, 2))


def test_cross_validation_replaces_the_table_again(car, tmp_path):
    x = bn.bnc("nb", "class", car, smooth=1)
    table = bn.cpt(x, "safety") * 0 + np.array([[0.2], [0.3], [0.5]])
    y = bn.with_table(x, "safety", table)
    bn.save(y, tmp_path / "y.json")
    folds = np.arange(len(car)) % 2
    expected = []
    for fold in range(2):
        train, test = car[folds != fold], car[folds == fold]
        fixed = bn.with_table(bn.bnc("nb", "class", train, smooth=1), "safety", table)
        expected.append(bn.accuracy(bn.predict(fixed, test), test["class"]))
    for model in (y, bn.load(tmp_path / "y.json")):
        with pytest.warns(UserWarning, match="is not fitted again"):
            assert bn.cv(model, car, folds=folds, mean=False)[0].tolist() == expected
    tan = bn.with_table(bn.bnc("tan_cl", "class", car, smooth=1), "class", bn.cpt(x, "class"))
    with pytest.warns(UserWarning, match="is not fitted again"):
        assert bn.cv(tan, car, folds=folds) > 0.8


def test_tables_make_a_network(car):
    for x in (bn.bnc("tan_cl", "class", car, smooth=1), bn.lp(bn.hc("class", car), car, smooth=1)):
        y = bn.from_tables("class", {v: bn.cpt(x, v) for v in x.variables})
        assert bn.families(y) == bn.families(x)
        assert bn.values(y) == bn.values(x)
        assert all(map(np.array_equal, y.cpts, x.cpts))
    drawn = bn.sample(y, 20_000, rng=0)
    again = bn.lp(bn.BNC("class", y.families), drawn.astype(car.dtypes.to_dict()), smooth=0)
    np.testing.assert_allclose(bn.cpt(again, "class"), bn.cpt(x, "class"), atol=0.2)


def of_class(probabilities):
    """Return a table of a variable without parents."""
    return pd.DataFrame({"p": probabilities}, index=["a", "b"])


LATENT = figures("latent")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the model of . classes has")
@pytest.mark.parametrize("name", LATENT)
def test_latent_classes(name):
    reference = LATENT[name]
    frame, restarts = rows_of(reference), 6 if name == "carcinoma" else 2
    for k, expected in reference["poLCA"].items():
        x = bn.lca("group", frame, k=int(k), smooth=0, restarts=restarts, rng=0)
        assert bn.loglik(x, frame) == pytest.approx(expected["loglik"], abs=1e-5)
        assert bn.nparams(x) == expected["npar"]
        assert bn.BIC(x, frame) == pytest.approx(
            expected["loglik"] - np.log(len(frame)) / 2 * expected["npar"], abs=1e-5
        )
        if k <= ("3" if name == "carcinoma" else "2"):  # others are not identified
            check_tables(x, expected, 1e-4)
    for k, expected in reference["smoothed"].items():
        x = bn.lca("group", frame, k=int(k), restarts=restarts, rng=1)
        assert bn.em_objectives(x)[-1] == pytest.approx(expected["objective"], abs=1e-6)
        check_tables(x, expected, 1e-5)


@pytest.mark.slow
def test_latent_classes_that_data_cannot_identify_are_told():
    items = bn.load_voting().iloc[:, :3].dropna()
    with pytest.warns(UserWarning, match="4 classes has 15 parameters, .* has 7 free cells"):
        bn.lca("group", items, k=4, restarts=1, rng=0)
    bn.lca("group", items, k=2, restarts=1, rng=0)  # with as many parameters as free cells
    with pytest.warns(UserWarning, match="the largest number of classes, 3, has the best BIC"):
        bn.lca("group", bn.load_voting().drop(columns="Class"), k=[2, 3], restarts=2, rng=0)


def check_tables(x, expected, tolerance):
    """Compare shares and tables of latent classes."""
    tables = bn.params(x)
    np.testing.assert_allclose(tables["group"], expected["shares"], atol=tolerance)
    for item, table in expected["tables"].items():
        np.testing.assert_allclose(tables[item], np.transpose(table), atol=tolerance)


@pytest.mark.filterwarnings("ignore:the largest number of classes")
def test_latent_classes_are_models_like_others(tmp_path):
    votes = bn.load_voting().drop(columns="Class")
    x = bn.lca("group", votes, k=range(1, 4), restarts=3, rng=0)
    steps = bn.search_steps(x)
    assert steps["k"].tolist() == [1, 2, 3]
    best = steps.loc[steps["bic"].idxmax()]
    assert bn.classes(x) == tuple(range(1, int(best["k"]) + 1))
    assert bn.BIC(x, votes) == pytest.approx(best["bic"])
    assert bn.loglik(x, votes) == pytest.approx(best["loglik"])
    assert bn.loglik(x, votes, by_row=True).sum() == pytest.approx(best["loglik"])
    # Observed-data log-likelihood: missing values and the class are marginalized over.
    row = votes.iloc[[0]]
    joint = [bn.query(x, "group", row.iloc[0].dropna().to_dict()).attrs["log_evidence"]]
    assert bn.loglik(x, row) == pytest.approx(joint[0])
    objectives = np.array(bn.em_objectives(x))
    assert (np.diff(objectives) > -1e-8).all()
    bn.save(x, tmp_path / "x.json")
    again = bn.load(tmp_path / "x.json")
    assert bn.predict(again, votes).equals(bn.predict(x, votes))
    assert bn.loglik(again, votes) == bn.loglik(x, votes)
    assert repr(again) == repr(x)
    same = bn.lca("group", votes, k=range(1, 4), restarts=3, rng=0)
    assert all(map(np.array_equal, same.cpts, x.cpts))
    assert set(bn.explain(x, votes.iloc[0]).index) == {"group", *votes.columns}


def test_the_objective_of_latent_classes_by_hand():
    items = pd.DataFrame({"p": list("aabbabab"), "q": list("aabbbbab"), "r": list("abbbaaab")})
    x = bn.lca("group", items, k=2, smooth=0.5, restarts=3, rng=0)
    prior = 0.5 * sum(np.log(table).sum() for table in bn.params(x).values())  # of the class, too
    assert bn.em_objectives(x)[-1] == pytest.approx(bn.loglik(x, items) + prior, rel=1e-12)


@pytest.mark.filterwarnings("ignore:the largest number of classes")
def test_weights_of_latent_classes():
    frame = rows_of(LATENT["values"])
    counted = frame.value_counts().rename("n").reset_index()
    data = bn.encode(counted, weights="n", weights_are="frequencies")
    x, y = (bn.lca("group", rows, k=[1, 2], restarts=2, rng=0) for rows in (frame, data))
    for mine, other in zip(x.cpts, y.cpts, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-5)
    np.testing.assert_allclose(bn.search_steps(x)["bic"], bn.search_steps(y)["bic"])
    assert bn.BIC(y, data) == pytest.approx(bn.BIC(x, frame))


LAZY = figures("lazy")


@pytest.mark.filterwarnings("ignore:the network has")
@pytest.mark.parametrize("name", LAZY)
@pytest.mark.parametrize("net", ["nb", "tan", "kdb2"])
def test_implied_values_are_dropped(name, net):
    reference = LAZY[name]
    frame, structure = rows_of(reference), network_of(reference, net)
    rows = frame.iloc[reference["rows"]]
    posteriors = bn.predict(structure, rows, prob=True)
    np.testing.assert_allclose(posteriors, reference["posterior"][net]["off"], atol=1e-12)
    for least, expected in reference["eliminated"].items():
        x = bn.lp(structure, frame, smooth=1, subsumption=int(least))
        found = bn.predict(x, rows, prob=True)
        np.testing.assert_allclose(found, reference["posterior"][net][least], atol=1e-12)
        weights = bn.explain(x, rows.reset_index(drop=True), target=reference["classes"][0])["log_odds"]
        for row, dropped in expected.items():
            odds = weights.loc[int(row)]
            assert (odds[list(dropped)] == 0).all()
            p = found.iloc[int(row), 0]
            assert odds.sum() == pytest.approx(np.log(p / (1 - p)), rel=1e-6) or len(reference["classes"]) > 2


def test_lazy_models_average_over_discretizations():
    frame = bn.load_pima().dropna().iloc[:, [1, 5, 7, -1]]
    copied = frame.assign(copy=2 * frame.iloc[:, 0])
    fit = partial(bn.bnc, "nb", frame.columns[-1], smooth=1, discretize="averaged")
    x, y = fit(dataset=frame, subsumption=1), fit(dataset=copied, subsumption=1)
    np.testing.assert_allclose(bn.predict(y, copied, prob=True), bn.predict(x, frame, prob=True), atol=1e-9)
    never = fit(dataset=copied, subsumption=len(frame) + 1)
    expected = bn.predict(fit(dataset=copied), copied, prob=True)
    np.testing.assert_allclose(bn.predict(never, copied, prob=True), expected, atol=1e-9)


def test_lazy_models_are_models_like_others(tmp_path):
    frame = rows_of(LAZY["car_sub"])
    x = bn.bnc("tan_cl", "class", frame, smooth=1, subsumption=30)
    assert "num. implications" in repr(x)
    assert bn.params(x)["safety"].shape[0] == 3
    bn.save(x, tmp_path / "x.json")
    pd.testing.assert_frame_equal(
        bn.predict(bn.load(tmp_path / "x.json"), frame, prob=True), bn.predict(x, frame, prob=True)
    )
    folds = np.arange(len(frame)) % 2
    train, test = frame[folds == 1], frame[folds == 0]
    expected = bn.predict(bn.bnc("tan_cl", "class", train, smooth=1, subsumption=30), test)
    assert bn.cv(x, frame, folds=folds, mean=False)[0][0] == bn.accuracy(expected, test["class"])
    parts = bn.lp(bn.tan_cl("class", frame), lambda: (frame[:500], frame[500:]), smooth=1, subsumption=30)
    pd.testing.assert_frame_equal(bn.predict(parts, frame, prob=True), bn.predict(x, frame, prob=True))
    doubled = bn.encode(frame, weights=np.full(len(frame), 2))
    y = bn.lp(bn.tan_cl("class", frame), doubled, smooth=2, subsumption=60)
    np.testing.assert_allclose(bn.predict(y, frame, prob=True), bn.predict(x, frame, prob=True), atol=1e-12)
    # A value that all others imply is dropped, and all rows have it.
    constant = frame.assign(constant="yes")
    z = bn.lp(bn.nb("class", constant), constant, smooth=1, subsumption=1)
    w = bn.lp(bn.nb("class", frame), frame, smooth=1, subsumption=1)
    np.testing.assert_allclose(bn.predict(z, constant, prob=True), bn.predict(w, frame, prob=True))
    again = bn.lp(x, frame, smooth=1)
    assert isinstance(again, bn.BNC)
    for refused in (lambda: bn.query(x, "class"), lambda: bn.loglik(x, frame)):
        with pytest.raises(TypeError, match="subsumption resolution ignores values row by row"):
            refused()
