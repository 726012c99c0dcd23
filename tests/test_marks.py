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

OF_MODEL = """class_var classes concentrations em_objectives families feature_families feature_weights
    features is_anb is_nb is_ode is_semi_naive loo_summary manb_arc_posterior members modelstring
    narcs nparams params plot plot_scores plot_weights preparation scorecard search_steps
    to_networkx to_pgmpy to_pyagrum values vars"""
OF_DATA = "AIC BIC cloglik effects impute loglik network_score plot_importance predict update"
OF_ROW = "counterfactual explain plot_explanation value_of_information"


def called(name, form):
    """A call of a function of a model, and of data or of one row."""
    function = getattr(bn, name)
    if form == "model":
        return lambda x, df, path: function(x)
    return lambda x, df, path: function(x, df if form == "data" else df.iloc[0])


CALLS = {
    **{name: called(name, "model") for name in OF_MODEL.split()},
    **{name: called(name, "data") for name in OF_DATA.split()},
    **{name: called(name, "row") for name in OF_ROW.split()},
    "arc_strength": lambda x, df, path: bn.arc_strength(x, df, replicates=2, rng=0),
    "cpt": lambda x, df, path: bn.cpt(x, "safety"),
    "cv": lambda x, df, path: bn.cv(x, df, k=2, rng=0),
    "cv_predict": lambda x, df, path: bn.cv_predict(x, df, k=2, rng=0),
    "drift": lambda x, df, path: bn.drift(x, df, df),
    "kl_divergence": lambda x, df, path: bn.kl_divergence(x, x),
    "markov_blanket": lambda x, df, path: bn.markov_blanket(x, "safety"),
    "d_separated": lambda x, df, path: bn.d_separated(x, "safety", "maint", "class"),
    "monotonize": lambda x, df, path: bn.monotonize(x, {"price": "decreasing"}, df),
    "plot_cpt": lambda x, df, path: bn.plot_cpt(x, "safety"),
    "plot_effect": lambda x, df, path: bn.plot_effect(x, "safety"),
    "pool": lambda x, df, path: bn.pool([x, x]),
    "query": lambda x, df, path: bn.query(x, "safety"),
    "sample": lambda x, df, path: bn.sample(x, 3, rng=0),
    "save": lambda x, df, path: bn.save(x, path / "x.json"),
    "shd": lambda x, df, path: bn.shd(x, x),
    "summary": lambda x, df, path: bn.summary(x, df, k=2, rng=0),
    "to_sql": lambda x, df, path: bn.to_sql(x, table="cars"),
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
