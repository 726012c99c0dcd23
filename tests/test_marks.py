"""The marks of the reference: what works with the default, with a sum of effects, and with a network."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import bnclassify as bn

ROOT = Path(__file__).parents[1]
MARKS = {
    (True, True, True): "yes",
    (True, True, False): "default, sum",
    (False, True, True): "sum, net",
    (False, True, False): "sum",
    (False, False, True): "net",
}
"""The mark of a function that works with the default, with ``pairs=0``, and with every network."""

CALLS = {
    "AIC": lambda x, df, path: bn.AIC(x, df),
    "BIC": lambda x, df, path: bn.BIC(x, df),
    "arc_strength": lambda x, df, path: bn.arc_strength(x, df, replicates=2, rng=0),
    "class_var": lambda x, df, path: bn.class_var(x),
    "classes": lambda x, df, path: bn.classes(x),
    "cloglik": lambda x, df, path: bn.cloglik(x, df),
    "concentrations": lambda x, df, path: bn.concentrations(x),
    "counterfactual": lambda x, df, path: bn.counterfactual(x, df.iloc[0]),
    "cpt": lambda x, df, path: bn.cpt(x, "safety"),
    "cv": lambda x, df, path: bn.cv(x, df, k=2, rng=0),
    "cv_predict": lambda x, df, path: bn.cv_predict(x, df, k=2, rng=0),
    "effects": lambda x, df, path: bn.effects(x, df),
    "em_objectives": lambda x, df, path: bn.em_objectives(x),
    "explain": lambda x, df, path: bn.explain(x, df.iloc[0]),
    "drift": lambda x, df, path: bn.drift(x, df, df),
    "families": lambda x, df, path: bn.families(x),
    "feature_families": lambda x, df, path: bn.feature_families(x),
    "feature_weights": lambda x, df, path: bn.feature_weights(x),
    "features": lambda x, df, path: bn.features(x),
    "impute": lambda x, df, path: bn.impute(x, df),
    "is_anb": lambda x, df, path: bn.is_anb(x),
    "is_nb": lambda x, df, path: bn.is_nb(x),
    "is_ode": lambda x, df, path: bn.is_ode(x),
    "is_semi_naive": lambda x, df, path: bn.is_semi_naive(x),
    "kl_divergence": lambda x, df, path: bn.kl_divergence(x, x),
    "loglik": lambda x, df, path: bn.loglik(x, df),
    "loo_summary": lambda x, df, path: bn.loo_summary(x),
    "manb_arc_posterior": lambda x, df, path: bn.manb_arc_posterior(x),
    "markov_blanket": lambda x, df, path: bn.markov_blanket(x, "safety"),
    "d_separated": lambda x, df, path: bn.d_separated(x, "safety", "maint", "class"),
    "members": lambda x, df, path: bn.members(x),
    "modelstring": lambda x, df, path: bn.modelstring(x),
    "monotonize": lambda x, df, path: bn.monotonize(x, {"price": "decreasing"}, df),
    "narcs": lambda x, df, path: bn.narcs(x),
    "network_score": lambda x, df, path: bn.network_score(x, df),
    "nparams": lambda x, df, path: bn.nparams(x),
    "params": lambda x, df, path: bn.params(x),
    "plot": lambda x, df, path: bn.plot(x),
    "plot_cpt": lambda x, df, path: bn.plot_cpt(x, "safety"),
    "plot_effect": lambda x, df, path: bn.plot_effect(x, "safety"),
    "plot_explanation": lambda x, df, path: bn.plot_explanation(x, df.iloc[0]),
    "plot_importance": lambda x, df, path: bn.plot_importance(x, df),
    "plot_scores": lambda x, df, path: bn.plot_scores(x),
    "plot_weights": lambda x, df, path: bn.plot_weights(x),
    "pool": lambda x, df, path: bn.pool([x, x]),
    "predict": lambda x, df, path: bn.predict(x, df),
    "preparation": lambda x, df, path: bn.preparation(x),
    "query": lambda x, df, path: bn.query(x, "safety"),
    "sample": lambda x, df, path: bn.sample(x, 3, rng=0),
    "save": lambda x, df, path: bn.save(x, path / "x.json"),
    "scorecard": lambda x, df, path: bn.scorecard(x),
    "search_steps": lambda x, df, path: bn.search_steps(x),
    "shd": lambda x, df, path: bn.shd(x, x),
    "summary": lambda x, df, path: bn.summary(x, df, k=2, rng=0),
    "to_networkx": lambda x, df, path: bn.to_networkx(x),
    "to_pgmpy": lambda x, df, path: bn.to_pgmpy(x),
    "to_pyagrum": lambda x, df, path: bn.to_pyagrum(x),
    "to_sql": lambda x, df, path: bn.to_sql(x, table="cars"),
    "update": lambda x, df, path: bn.update(x, df),
    "value_of_information": lambda x, df, path: bn.value_of_information(x, df.iloc[0]),
    "values": lambda x, df, path: bn.values(x),
    "vars": lambda x, df, path: bn.vars(x),
    "with_prior": lambda x, df, path: bn.with_prior(x, dict.fromkeys(bn.classes(x), 1 / len(bn.classes(x)))),
    "with_table": lambda x, df, path: bn.with_table(x, "safety", bn.cpt(x, "safety")),
    "write_bif": lambda x, df, path: bn.write_bif(x, path / "x.bif"),
    "write_page": lambda x, df, path: bn.write_page(x, path / "x.html"),
}
"""A call of each function of a model."""

LEARNED = {
    "concentrations": lambda df: bn.bnc("nb", "class", df, backoff=True),
    "em_objectives": lambda df: bn.bnc("nb", "class", df, smooth=1, missing="em"),
    "feature_weights": lambda df: bn.bnc("nb", "class", df, smooth=1, wanbia=True),
    "loo_summary": lambda df: bn.bnc("nb", "class", df, backoff=True, held_out="weights"),
    "manb_arc_posterior": lambda df: bn.bnc("nb", "class", df, smooth=1, manb_prior=0.5),
    "plot_scores": lambda df: bn.bnc("fssj", "class", df, smooth=1, dag_args={"k": 2}),
    "plot_weights": lambda df: bn.bnc("nb", "class", df, smooth=1, wanbia=True),
    "search_steps": lambda df: bn.bnc("fssj", "class", df, smooth=1, dag_args={"k": 2}),
}
"""Networks for functions that show how these were learned."""


@pytest.fixture(scope="module")
def cars():
    """Cars with an interaction of two features, every seventh with the other class, and a number."""
    frame = bn.load_car()[["persons", "safety", "maint", "class"]]
    like = (frame["persons"] == "2") == (frame["safety"] == "low")
    frame["price"] = np.random.default_rng(0).normal(size=len(frame)) + like
    frame["class"] = np.where(like ^ (np.arange(len(frame)) % 7 == 0), "acc", "unacc")
    return frame[::8].reset_index(drop=True)


@pytest.fixture(scope="module")
def models(cars):
    """The default with pairs, single effects, and a network with two feature parents, with their data."""
    default = bn.bnc(class_var="class", dataset=cars)
    assert default.pairs
    total = bn.bnc(class_var="class", dataset=cars, pairs=0)
    labels = cars.drop(columns="price")
    net = bn.bnc("kdb_mi", "class", labels, smooth=1, dag_args={"kdbk": 2})
    return [(default, cars), (total, cars), (net, labels)]


@pytest.fixture(scope="module")
def marks():
    """The marks of each function in the tables of the reference."""
    found = {name: set() for name in CALLS}
    for line in (ROOT / "vignettes/reference/index.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3:
            mark = cells[2]
            codes = re.findall(r"`([^`]*)`", cells[1])
            names = {name for code in codes for name in re.findall(r"\w+(?=\()|^\w+$", code)}
            special = dict(re.findall(r"`(\w+)` ([\w, ]+)", mark))
            rest = re.sub(r".*the others ", "", mark) if not special or "the others" in mark else ""
            for name in names & set(found):
                found[name].add(special.get(name, rest))
    return {name: marked - {""} for name, marked in found.items()}


def test_every_function_of_a_model_is_called():
    given = {"cmi", "ci_test", "lp", "r_folds", "stratified_folds"}  # of structures, columns and labels
    names = {
        name
        for name, function in vars(bn).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and next(iter(inspect.signature(function).parameters), "") in ("x", "y", "models")
    }
    assert names - given == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_the_reference_marks_what_works(name, models, marks, tmp_path):
    plt = pytest.importorskip(
        "matplotlib.pyplot", reason="matplotlib is not installed; the extra plot has it"
    )
    works = []
    for x, data in models:
        own = x is models[2][0] and name in LEARNED
        try:
            CALLS[name](LEARNED[name](data) if own else x, data, tmp_path)
            works.append(True)
        except ImportError as error:
            pytest.skip(str(error))
        except (TypeError, ValueError, KeyError):
            works.append(False)
    plt.close("all")
    assert marks[name] == {MARKS[works[0], works[1], works[2]]}
