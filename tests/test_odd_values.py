"""Any value of any argument gives a result, or a ValueError, TypeError or KeyError with a short message."""

import importlib.util
import inspect
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

CAR = bn.load_car()[["buying", "safety", "persons", "class"]].sample(150, random_state=0)
NUMBERS = pd.DataFrame({"a": np.arange(30) / 7, "c": list("abc") * 10})
NETWORK = bn.lp(bn.tan_cl("class", CAR), CAR, smooth=1)
WEIGHTED = bn.bnc("kdb_mi", "class", CAR, backoff=True, held_out="weights")
SEARCHED = bn.tan_hc("class", CAR, k=3, smooth=1, epsilon=0, rng=0)
RANKS = pd.DataFrame(np.random.default_rng(0).random((6, 3)), columns=list("abc"))
CLASSES = CAR[["class", "safety"]]
CALIBRATED = {"posteriors": bn.predict(NETWORK, CAR, prob=True), "actual": CAR["class"]}
PREDICTED = {"predicted": bn.predict(NETWORK, CAR), "actual": CAR["class"]}
HOLES = CAR.mask(np.random.default_rng(1).random(CAR.shape) < 0.1).assign(**{"class": CAR["class"]})
BY_EM = bn.lp(NETWORK, HOLES, smooth=1, missing="em")
BY_MANB = bn.bnc("nb", "class", CAR, smooth=1, manb_prior=0.5)
STRENGTH = {"strength": bn.arc_strength(NETWORK, CAR, replicates=2, rng=0)}
RESULTS = bn.cv({"a": NETWORK, "b": WEIGHTED}, CAR, k=4, rng=0, mean=False)

VALUES = {
    "nothing": None, "not available": pd.NA, "not a number": float("nan"), "infinity": float("inf"),
    "a huge number": 10**30, "a negative number": -1, "an array": np.arange(3),
    "an array of names": np.array(["buying", "safety"]), "an array without an axis": np.array(3),
    "an array of two axes": np.ones((2, 2)), "a Series": CAR["buying"],
    "an empty Series": pd.Series([], dtype=object), "a frame": CAR, "a frame without rows": CAR.head(0),
    "a frame without columns": CAR[[]],
    "a frame with a column twice": pd.concat([CAR, CAR[["buying"]]], axis=1),
    "a frame with a column without values": CAR.assign(buying=pd.Categorical([None] * len(CAR))),
    "an Index": CAR.columns, "a long text": "x" * 100_000, "a list of lists": [["buying"]],
    "a dict": {"buying": [1]}, "a set": {"buying"}, "a type": int, "a model": NETWORK,
    "a discretizer": bn.discretize(NUMBERS, class_var="c")[1],
}  # fmt: skip

TWO = bn.bnc("nb", "Class", bn.load_voting(), smooth=1, missing_level=False)
RANKED = bn.load_voting().astype({"crime": pd.CategoricalDtype(["n", "y"], ordered=True)})

COMMON = {
    "x": NETWORK, "class_var": "class", "class_vars": ["class", "safety"], "dataset": CAR,
    "feature": "buying", "frame": CAR, "k": 2, "n": 5, "newdata": CAR, "row": CAR.head(1),
    "variable": "buying", "y": CAR["class"],
}  # fmt: skip

OWN = {
    "accuracy": PREDICTED, "anb": {"parents": {"buying": ["safety"]}}, "arc_strength": {"replicates": 2},
    "averaged_network": STRENGTH, "bnc": {"dag_learner": "tan_cl", "class_var": "class", "smooth": 1},
    "ci_test": {"x": "buying", "y": "safety", "z": "class"},
    "cmi": {"x": "buying", "y": "safety", "z": "class"}, "compare": {"results": RESULTS},
    "compare_ranks": {"table": RANKS}, "concentrations": {"x": WEIGHTED}, "confusion": PREDICTED,
    "discretize": {"dataset": NUMBERS, "class_var": "c"}, "em_objectives": {"x": BY_EM},
    "exact_match": {"predicted": CLASSES, "actual": CLASSES}, "feature_weights": {"x": WEIGHTED},
    "from_effects": {"table": bn.effects(TWO), "dataset": bn.load_voting()},
    "from_modelstring": {"text": "[class] [buying|class]"},
    "from_tables": {"tables": {name: bn.cpt(NETWORK, name) for name in CAR}},
    "hamming": {"predicted": CLASSES, "actual": CLASSES}, "kl_divergence": {"y": NETWORK},
    "lca": {"class_var": "group", "k": 2, "restarts": 1}, "loo_summary": {"x": WEIGHTED},
    "lp": {"smooth": 1}, "manb_arc_posterior": {"x": BY_MANB}, "calibration": CALIBRATED,
    "monotonize": {"x": TWO, "directions": {"crime": "increasing"}, "dataset": RANKED},
    "plot_calibration": CALIBRATED, "plot_confusion": {"counts": bn.confusion(**PREDICTED)},
    "plot_cv": {"results": RESULTS}, "plot_ranks": {"comparison": bn.compare_ranks(RANKS)},
    "plot_scores": {"x": SEARCHED}, "plot_nomogram": {"card": bn.scorecard(TWO)},
    "plot_strength": STRENGTH, "plot_weights": {"x": WEIGHTED}, "pool": {"models": [NETWORK, NETWORK]},
    "r_folds": {"seed": 1}, "query": {"variables": ["buying"], "evidence": {"safety": "low"}},
    "scorecard": {"x": TWO}, "search_steps": {"x": SEARCHED}, "to_sql": {"table": "cars"},
    "shd": {"y": NETWORK}, "d_separated": {"a": "buying", "b": "safety"},
    "with_prior": {"prior": dict.fromkeys(bn.classes(NETWORK), 1 / len(bn.classes(NETWORK)))},
    "with_table": {"frame": bn.cpt(NETWORK, "buying")},
}  # fmt: skip

FUNCTIONS = {
    name: list(inspect.signature(function).parameters)
    for name in bn.__all__
    if inspect.isfunction(function := getattr(bn, name))
    if "path" not in inspect.signature(function).parameters
}
OPTIONAL = {f"to_{module}": module for module in ("networkx", "pgmpy", "pyagrum")}


def usual(name):
    """Return arguments that a function accepts."""
    parameters = inspect.signature(getattr(bn, name)).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty or p.name in ("dataset", "k")]
    return {p: COMMON[p] for p in needed if p in COMMON} | dict(OWN.get(name, {}))


def is_installed(name):
    """Whether the library that a function needs is installed."""
    module = "matplotlib" if name.startswith("plot") else OPTIONAL.get(name)
    return module is None or importlib.util.find_spec(module) is not None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_usual_values_are_accepted():
    for name in filter(is_installed, FUNCTIONS):
        getattr(bn, name)(**usual(name))
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def problem(function, arguments):
    """Return the problem of the error that a call raises: its type, or a message of many lines."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            function(**arguments)
    except (ValueError, TypeError, KeyError, ImportError) as error:
        message = str(error)
        return None if 5 < len(message) < 700 and message.count("\n") < 3 else repr(error)[:1000]
    except Exception as error:
        return repr(error)[:1000]
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    return None


PLACES = [(name, argument) for name, own in FUNCTIONS.items() for argument in own if argument != "lp_args"]


@pytest.mark.parametrize("sixth", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 6))])
@pytest.mark.parametrize("odd", VALUES)
def test_odd_values_give_a_result_or_a_short_error(odd, sixth):
    """Each argument is given every sixth value, and by the slow tests the others."""
    problems = {}
    for name, argument in PLACES[(list(VALUES).index(odd) + sixth) % 6 :: 6]:
        if not (argument == "metric" and callable(VALUES[odd])):
            told = problem(getattr(bn, name), {**usual(name), argument: VALUES[odd]})
            if told:
                problems[f"{name}, {argument}"] = told
    assert not problems


@pytest.mark.parametrize("options", [{"smooth": 1}, {"smooth": 1, "discretize": "mdlp"}, {}])
def test_an_empty_list_of_records_has_no_predictions(options):
    frame = (
        NUMBERS if "smooth" not in options or "discretize" in options else CAR.rename(columns={"class": "c"})
    )
    x = bn.bnc("nb", "c", frame, **options)
    pd.testing.assert_series_equal(bn.predict(x, []), bn.predict(x, frame.head(0)), check_index_type=False)
    assert bn.predict(x, [], prob=True).columns.equals(bn.predict(x, frame, prob=True).columns)
    assert len(bn.explain(x, [])) == len(bn.explain(x, [], sentences=True)) == 0


@pytest.mark.parametrize("options", [{"smooth": 1}, {"smooth": 1, "discretize": "mdlp"}, {}])
def test_a_class_with_one_label_gives_a_warning(options):
    frame = (
        NUMBERS if "smooth" not in options or "discretize" in options else CAR.rename(columns={"class": "c"})
    )
    label = frame["c"].iloc[0]
    one = frame[frame["c"] == label]
    with pytest.warns(UserWarning, match=f"all rows have the class {label!r} of 'c', so it is") as caught:
        x = bn.bnc("nb", "c", one, **options)
    assert len(caught) == 1
    assert set(bn.predict(x, frame.drop(columns="c"), unseen="missing")) == {label}


def test_a_model_without_features_is_fitted_by_default():
    with pytest.warns(UserWarning, match="no feature remains"):
        x = bn.bnc(class_var="class", dataset=CAR[["class"]])
    shares = CAR["class"].value_counts(normalize=True)
    found = bn.predict(x, CAR.head(2), prob=True)
    np.testing.assert_allclose(found, [shares[found.columns]] * 2, atol=0.01)


SEVERAL = bn.lp(bn.mbc(["class", "safety"], CAR), CAR, smooth=1)


def test_numbers_of_any_size_are_accepted_or_refused_in_a_sentence():
    rng = np.random.default_rng(0)
    for size in (5e-320, 1e-305, 1e-100, 1e100, 1e140):
        frame = pd.DataFrame({"x": rng.normal(size=60) * size, "c": ["a", "b"] * 30})
        for how in ({"numbers": "gaussian", "smooth": 1}, {"numbers": "kernel", "smooth": 1}, {}):
            posteriors = bn.predict(bn.bnc("nb", "c", frame, **how), frame, prob=True)
            assert posteriors.to_numpy().sum(axis=1) == pytest.approx(1)
    for family in ("gaussian", "kernel"):
        frame = pd.DataFrame({"x": rng.normal(size=60) * 1e306, "c": ["a", "b"] * 30})
        with pytest.raises(ValueError, match="column 'x' must have numbers up to 1e\\+150"):
            bn.bnc("nb", "c", frame, smooth=1, numbers=family)
    signal = pd.DataFrame({"x": [Decimal("sNaN"), Decimal(1), Decimal(2)] * 10, "c": ["a", "b", "a"] * 10})
    missing = signal.assign(x=[None, 1, 2] * 10)
    for options in ({"smooth": 1, "discretize": "mdlp"}, {}):
        both = [bn.bnc("nb", "c", frame, **options) for frame in (signal, missing)]
        assert bn.predict(both[0], signal, prob=True).equals(bn.predict(both[1], missing, prob=True))


@pytest.mark.parametrize("numbers", [1 + np.arange(5) * 2.0**-52, 7 * 10**17 + np.arange(5) * 128])
def test_the_default_divides_numbers_where_floats_are_dense(numbers):
    frame = pd.DataFrame({"x": np.repeat(numbers, 12), "c": [*"aaabbb" * 2, *"bbbbba" * 8]})
    model = bn.bnc(class_var="c", dataset=frame)
    share = bn.effects(model, frame).set_index("feature").loc["x", "share"]
    assert share.tolist() == pytest.approx([*[1 / 5] * 5, 0])  # an interval per number, (missing)


def test_categories_of_arrow_may_repeat_or_be_null():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed; the extra test has it")
    for labels in (["x", "x", "y"], ["x", None, "y"]):
        codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2] * 10), pa.array(labels))
        x = bn.nb("c", pa.table({"a": codes, "c": pa.array(["p", "q", "p", "q", "q"] * 6)}))
        assert bn.values(x)["a"] == ("x", "y")


@pytest.mark.parametrize("kind", ["category", "interval", object])
def test_intervals_are_categories_of_any_type(kind):
    cut = pd.cut(pd.Series(range(40)), [-1, 9, 39]).cat.as_unordered()
    frame = pd.DataFrame({"x": cut, "y": ["u", "v"] * 5 + ["v"] * 30})
    model = bn.bnc("nb", "y", frame, smooth=1)
    same = frame.assign(x=cut if kind == "category" else pd.Series(cut.tolist(), dtype=kind))
    assert bn.values(bn.bnc("nb", "y", same, smooth=1)) == bn.values(model)
    assert bn.predict(model, same, prob=True).equals(bn.predict(model, frame, prob=True))
    assert not len(bn.check_data(same, "y"))


def test_numpy_integers_are_whole_numbers():
    car = bn.load_car().iloc[::9]
    gaps = car.assign(buying=car["buying"].where(car["doors"] != "2"))
    searches = [bn.search_steps(bn.hc("class", car, tabu=tabu)) for tabu in (np.int8(4), 4)]
    pd.testing.assert_frame_equal(*searches)
    folds = [bn.r_folds(car["class"], 3, seed=seed).tolist() for seed in (np.int8(9), 9)]
    assert folds[0] == folds[1]
    x = bn.lp(bn.chisq_dn("class", car), car, smooth=1)
    few, many = {"burn_in": 127, "draws": 2}, {"burn_in": np.int8(127), "draws": np.int8(2)}
    pd.testing.assert_frame_equal(bn.impute(x, gaps, rng=0, **many), bn.impute(x, gaps, rng=0, **few))
