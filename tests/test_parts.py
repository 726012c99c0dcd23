"""Data in parts, by Dask or in chunks: read into memory, or counted where they are, with equal results."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import Partitions

from .conftest import informative_gaps
from .forms import as_text, by_dask, chunks, where_they_are, with_unknown_categories
from .strategies import examples, frames, networks


def same_data(mine, other):
    """The same codes, levels, weights, numbers and row labels."""
    assert mine.schema == other.schema
    assert list(map(type, mine.levels[-1])) == list(map(type, other.levels[-1]))
    np.testing.assert_array_equal(mine.codes, other.codes)
    assert mine.codes.dtype == other.codes.dtype
    assert mine.index.equals(other.index)
    assert mine.numbers.keys() == other.numbers.keys()
    for name, values in other.numbers.items():
        np.testing.assert_array_equal(mine.numbers[name], values)


# Read into memory.

READ = {
    "chunks": chunks,
    "a list": lambda frame: [frame.iloc[:7], frame.iloc[7:7], frame.iloc[7:]],
    "1 partition": lambda frame: by_dask(frame, 1),
    "5 partitions": lambda frame: by_dask(frame, 5),
}


@pytest.mark.parametrize(
    "read", [pytest.param(name, marks=pytest.mark.slow) if name[0] == "1" else name for name in READ]
)
@pytest.mark.parametrize("kind", ["categories", "text", "arrow"])
def test_parts_are_the_data_of_memory(read, kind):
    votes = bn.load_voting()
    frame = votes if kind == "categories" else votes.astype(object if kind == "text" else "string")
    same_data(bn.encode(READ[read](frame)), bn.encode(frame))
    assert bn.encode(READ[read](frame)).codes.itemsize == 1


def numbers_frame(n=300):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, n))
    is_p = x + y + rng.normal(size=n) / 2 > 0
    return pd.DataFrame(
        {
            "x": x,
            "y": np.where(rng.random(n) < 0.1, np.nan, y),
            "whole": rng.integers(0, 2_000, n),
            "nullable": pd.array(rng.integers(0, 4, n), dtype="Int64"),
            "flag": rng.random(n) < 0.3,
            "z": rng.choice(list("ab"), n),
            "class": np.where(is_p, "p", "q"),
        }
    )


def columns_of_all_types(n=60):
    rng = np.random.default_rng(0)
    text, whole, real = rng.choice(list("abc"), n), rng.integers(0, 5, n), rng.normal(size=n)
    gap, flag = rng.random(n) < 0.1, rng.random(n) < 0.3
    return {
        "text": pd.Series(text, dtype=object).mask(gap),
        "arrow": pd.Series(text, dtype="string"),
        "whole": whole,
        "narrow": whole.astype(np.uint8),
        "beyond int64": whole.astype(np.uint64) + np.uint64(2**63),
        "beyond 64 bits": pd.Series([2**70 + int(i) for i in whole], dtype=object),
        "nullable": pd.Series(whole, dtype="Int64").mask(gap),
        "real": pd.Series(real).mask(gap),
        "float32": real.astype(np.float32),
        "halves": rng.choice([0.5, 1.5], n),
        "whole floats": pd.Series(whole * 9.0).mask(gap),
        "flag": flag,
        "object flag": pd.Series(flag, dtype=object).mask(gap),
        "category": pd.Categorical(text, list("cbad")),
        "ordered": pd.Categorical(text, list("cbad"), ordered=True),
        "category of numbers": pd.Categorical(whole / 2),
        "interval": pd.cut(real, 4),
        "date": pd.date_range("2020", periods=n),
        "mixed": rng.choice(np.array([1, "a"], dtype=object), n),
        "decimal": pd.Series([Decimal(int(i)) for i in whole], dtype=object),
        "tuple": pd.Series([("a", int(i)) for i in whole], dtype=object),
        "sparse": pd.arrays.SparseArray(whole),
        "none": pd.Series([None] * n, dtype=object),
        "nan": np.full(n, np.nan),
        "constant": ["k"] * n,
        "identifier": [f"p{i}" for i in range(n)],
    }


@pytest.mark.parametrize("name", columns_of_all_types())
def test_columns_of_all_types_are_read_as_in_memory(name):
    frame = pd.DataFrame({"x": columns_of_all_types()[name]}).assign(
        z=["p", "q", "q"] * 20, y=["u", "v"] * 30
    )
    parts = [frame.iloc[:0], frame.iloc[:1], frame.iloc[1:30], frame.iloc[30:]]

    def answers(data):
        """What is said of the column, and the tables of a tree, or the error."""
        for function in (
            lambda: bn.check_data(data, "y").to_string(),
            lambda: bn.params(bn.bnc("tan_cl", "y", data, smooth=1)),
            lambda: bn.cpt(bn.bnc("nb", "y", data, smooth=1, discretize="quantile"), "z").to_string(),
        ):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    yield str(function())
                except (TypeError, ValueError) as error:
                    yield repr(error)
            yield [str(warning.message) for warning in caught]

    assert list(answers(parts)) == list(answers(frame))


RAW = {
    "default": lambda data: bn.bnc(class_var="class", dataset=data),
    "gaussian": lambda data: bn.bnc("nb", "class", data, smooth=1, numbers="gaussian"),
    "mdlp": lambda data: bn.bnc("tan_cl", "class", data, smooth=1, discretize="mdlp"),
    "discretize": lambda data: bn.discretize(data, class_var="class")[1],
    "merge_rare": lambda data: bn.merge_rare(data, columns=["z"], min_count=200)[1],
    "check_data": bn.check_data,
}


@pytest.mark.parametrize("name", [pytest.param("default", marks=pytest.mark.slow), *list(RAW)[1:]])
def test_numbers_in_parts_are_those_of_memory(name):
    frame = numbers_frame()
    mine, other = (RAW[name](data) for data in (chunks(frame), frame))
    if isinstance(other, bn.models.Model):
        mine, other = (bn.predict(x, frame, prob=True) for x in (mine, other))
    if isinstance(other, pd.DataFrame):
        pd.testing.assert_frame_equal(mine, other)
    else:
        assert repr(mine) == repr(other)


METHODS = {
    "search": lambda data: bn.lp(bn.tan_hc("Class", data, k=2, rng=0), data, smooth=1),
    "EM": lambda data: bn.lp(bn.nb("Class", data), data, smooth=1, missing="em"),
    "WANBIA": lambda data: bn.lp(bn.nb("Class", data), data, smooth=1, wanbia=True),
    "AWNB": lambda data: bn.lp(bn.nb("Class", data), data, smooth=1, awnb_trees=2, rng=0),
    "leave-one-out": lambda data: bn.lp(bn.nb("Class", data), data, smooth=1, held_out="power"),
}


@informative_gaps
@pytest.mark.parametrize("name", METHODS)
def test_methods_that_need_rows_read_parts(votes, name):
    frame = votes[["Class", "crime", "mx_missile", "immigration"]]
    frame = frame.dropna() if name == "search" else frame
    mine, other = (METHODS[name](data) for data in (chunks(frame), frame))
    pd.testing.assert_frame_equal(bn.predict(mine, frame, prob=True), bn.predict(other, frame, prob=True))


def test_parts_are_evaluated_as_rows_are(car):
    few = car.iloc[::4]
    x = bn.bnc("tan_cl", "class", few, smooth=1)
    options = {"metric": ["accuracy", "auc", "log_loss"], "mean": False, "rng": 0, "k": 3}
    for more in ({}, {"dag": False}, {"groups": np.arange(len(few)) // 2}):
        found = [bn.cv(x, data, **options, **more) for data in (chunks(few), few)]
        pd.testing.assert_frame_equal(*found)
        assert found[0].attrs == found[1].attrs
    frames_predicted = [bn.cv_predict(x, data, k=3, rng=0) for data in (by_dask(few, 2), few)]
    pd.testing.assert_frame_equal(*frames_predicted)
    pd.testing.assert_series_equal(*(bn.predict(x, data) for data in (chunks(few), few)))
    pd.testing.assert_frame_equal(*(bn.explain(x, data) for data in (chunks(few.head(9), 3), few.head(9))))
    assert repr(bn.summary(x, chunks(few), rng=0)) == repr(bn.summary(x, few, rng=0))


def test_folds_are_a_column(car):
    few, folds = car.iloc[::4], np.arange(432) % 3
    x = bn.bnc("nb", "class", few, smooth=1)
    expected = bn.cv(x, few, folds=folds, mean=False)
    for frame in (few.assign(fold=folds), few.assign(fold=np.array(["a", "b", "c"])[folds])):
        for data in (frame, chunks(frame), bn.encode(frame)):
            pd.testing.assert_frame_equal(bn.cv(x, data, folds="fold", mean=False), expected)


def test_weights_of_parts_that_are_read(car):
    weighed = car.assign(times=np.random.default_rng(0).integers(0, 3, len(car)))
    mine, other = (
        bn.encode(data, weights="times", weights_are="cases") for data in (chunks(weighed), weighed)
    )
    np.testing.assert_array_equal(mine.weights, other.weights)
    same_data(mine, other)


@given(st.data())
@examples(40)
def test_any_parts_of_any_rows_are_read(data):
    frame = data.draw(frames(missing=0.2))
    size = data.draw(st.integers(1, len(frame)))
    same_data(bn.encode(chunks(frame, size)), bn.encode(frame))


def test_a_function_reads_parts_once(car):
    few = car.iloc[::16]
    x = bn.bnc("nb", "class", few, smooth=1)
    calls = {
        "nb": lambda data: bn.nb("class", data),
        "tan_cl": lambda data: bn.tan_cl("class", data),
        "kdb_mi": lambda data: bn.kdb_mi("class", data),
        "hc": lambda data: bn.hc("class", data),
        "bnc": lambda data: bn.bnc("tan_cl", "class", data, smooth=1),
        "lp": lambda data: bn.lp(x, data, smooth=1),
        "update": lambda data: bn.update(x, data, levels="grow"),
        "predict": lambda data: bn.predict(x, data, prob=True, interval=0.9, draws=5),
        "cv": lambda data: bn.cv(x, data, k=2),
        "summary": lambda data: bn.summary(x, data, k=2),
        "BIC": lambda data: bn.BIC(x, data),
        "chain": lambda data: bn.lp(bn.chain(["class", "doors"], few), data, smooth=1),
        "check_data": bn.check_data,
    }
    for name, call in calls.items():
        opened = []

        def give(opened=opened):
            opened.append(None)
            yield from [few.iloc[:50], few.iloc[50:]]

        call(give)
        assert len(opened) == 1, name


def test_large_data_stay_where_they_are(car, monkeypatch):
    monkeypatch.setattr("bnclassify.parts.memory.MOST_BYTES", 9_000)
    expected = bn.bnc("tan_cl", "class", car, smooth=1)
    for data in (chunks(car), by_dask(car, 4)):
        with pytest.warns(UserWarning, match=r"dataset needs more than .* GiB as codes.* in_memory=False"):
            same_model(bn.bnc("tan_cl", "class", data, smooth=1), expected)
        assert isinstance(bn.encode(data, in_memory=True), bn.models.Dataset)
    with pytest.warns(UserWarning, match="frame needs more than"):
        assert isinstance(bn.encode(chunks(car)), Partitions)
    assert isinstance(bn.encode([car.iloc[:500]]), bn.models.Dataset)
    with pytest.raises(TypeError, match="in_memory must be True or False"):
        bn.encode(car, in_memory="no")


def test_models_that_discretize_count_large_data(monkeypatch):
    frame = numbers_frame()
    x = bn.bnc("tan_cl", "class", frame, smooth=1, discretize="quantile")
    expected = bn.lp(x, frame, smooth=2), bn.loglik(x, frame), bn.update(x, frame)
    monkeypatch.setattr("bnclassify.parts.memory.MOST_BYTES", 1_000)
    with pytest.warns(UserWarning, match="needs more than"):
        found = bn.lp(x, chunks(frame), smooth=2), bn.loglik(x, chunks(frame)), bn.update(x, chunks(frame))
    same_model(found[0], expected[0])
    same_model(found[2], expected[2])
    assert found[1] == pytest.approx(expected[1], rel=1e-13)
    in_memory = pytest.raises(TypeError, match="must be in memory")
    with pytest.warns(UserWarning, match="needs more than"), in_memory:
        bn.discretize(chunks(frame), class_var="class")


def test_text_of_many_levels_is_not_narrow(monkeypatch):
    monkeypatch.setattr("bnclassify.parts.memory.MOST_BYTES", 9_000)
    frame = pd.DataFrame({"key": [f"k{i}" for i in range(200)], "c": ["a", "b"] * 100})
    with pytest.warns(UserWarning, match="needs more than"):
        assert isinstance(bn.encode(chunks(frame)), Partitions)


# Counted where they are.


def fitted(learner, prior=None, **options):
    """A job: learn a structure, and estimate its parameters with a prior."""
    return lambda data: bn.bnc(learner, "class", data, dag_args=options, **(prior or {"smooth": 1}))


CAR, VOTES = bn.load_car(), bn.load_voting().rename(columns={"Class": "class"})
TIMES = np.random.default_rng(0).integers(0, 3, len(CAR))
WEIGHTED, WEIGHTED_VOTES = CAR.assign(times=TIMES), VOTES.assign(times=TIMES[: len(VOTES)])
TREE, STRUCTURE = bn.bnc("tan_cl", "class", CAR, smooth=1), bn.kdb_mi("class", VOTES)
CLASSES = ["mx_missile", "crime", "immigration"]
PRIORS = ({"smooth": 0}, {"ess": 2}, {"m": 1}, {"backoff": True})
LEARNERS = {
    "nb": {}, "tan_cl": {"score": "bic"}, "chow_liu": {}, "kdb_mi": {}, "hc": {}, "ban": {"score": "bde"},
    "chisq_dn": {}, "aode": {}, "ande": {},
}  # fmt: skip
SEVERAL = {
    "bridge": lambda data: bn.mbc(CLASSES, data, max_parents=2),
    "trees": lambda data: bn.mbc(CLASSES, data, features="tree", score="bde"),
    "no arcs between classes": lambda data: bn.mbc(CLASSES, data, classes="empty", score="loglik"),
    "maode": lambda data: bn.maode(CLASSES, data, score="aic"),
    "chain": lambda data: bn.chain(CLASSES, data, learner="tan_cl", order=CLASSES[::-1]),
}
"""Learners of models of several classes."""


def several(learner, **prior):
    """The same for several classes."""
    return lambda data: bn.lp(SEVERAL[learner](data), data, **(prior or {"smooth": 1}))


def scores(*functions, **options):
    return lambda data: [function(TREE, data, **options) for function in functions]


GIVEN = (None, "safety", ["safety", "lug_boot"])
JOBS = {
    **{name: (CAR, fitted(name, **options)) for name, options in LEARNERS.items()},
    **{f"{n}, gaps": (VOTES, fitted(n)) for n in ("nb", "tan_cl", "chow_liu", "kdb_mi", "chisq_dn", "aode")},
    **{f"ande {n}": (VOTES.iloc[:, -9:], fitted("ande", n=n, subsumption=50)) for n in (0, 1, 2)},
    **{str(prior): (VOTES, lambda data, prior=prior: bn.lp(STRUCTURE, data, **prior)) for prior in PRIORS},
    "manb": (VOTES, fitted("nb", {"smooth": 1, "manb_prior": 0.5})),
    "update": (CAR, lambda data: bn.update(TREE, data)),
    **{name: (VOTES, several(name)) for name in SEVERAL},
    "bridge, ess": (VOTES, several("bridge", ess=2)),
    "bridge, m": (VOTES, several("bridge", m=1)),
    **{f"{name}, weights": (WEIGHTED, fitted(name)) for name in ("tan_cl", "hc", "aode", "ande")},
    **{f"{name}, weights": (WEIGHTED_VOTES, several(name)) for name in SEVERAL},
    "scores": (CAR, scores(bn.loglik, bn.AIC, bn.BIC, bn.network_score)),
    "cloglik": (CAR, scores(bn.cloglik)),
    "cmi": (CAR, lambda data: [bn.cmi("doors", "class", data, z=given) for given in GIVEN]),
}
"""What is asked of data: a frame, and a function of its rows in any form."""

NEED_ROWS = ("cloglik", "ande 2")
QUICK = {("duckdb", "scores"), ("duckdb", "cmi"), ("partitions", "tan_cl")}


def same_model(mine, other):
    """The same structure and levels, and tables to the last digit: sums of whole counts are exact."""
    for x, y in zip(bn.members(mine), bn.members(other), strict=True):
        assert x.families == y.families
        assert x.levels == y.levels
        for name, table in bn.params(y).items() if y.fitted and isinstance(y, bn.models.BNC) else ():
            np.testing.assert_array_equal(bn.params(x)[name], table)
    assert repr(mine) == repr(other)


@informative_gaps
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by ibis
@pytest.mark.parametrize(
    ("form", "job"),
    [
        pytest.param(form, job, marks=() if form == "chunks" or (form, job) in QUICK else pytest.mark.slow)
        for form in ("chunks", "partitions", "duckdb", "parquet", "postgres")
        for job in JOBS
        if form in ("chunks", "partitions") or job not in NEED_ROWS
    ],
)
def test_answers_are_those_of_memory(form, job, forms):
    frame, work = JOBS[job]
    frame = frame if form in ("chunks", "partitions") else as_text(frame)
    weights = {"weights": "times"} if "times" in frame else {}
    mine, other = work(where_they_are(forms[form](frame), **weights)), work(bn.encode(frame, **weights))
    if isinstance(other, list):
        assert mine == pytest.approx(other, rel=1e-13, abs=1e-14)
        return
    same_model(mine, other)
    assert bn.values(mine) == bn.values(other)
    found = [bn.predict(x, frame.head(99), prob=True) for x in (mine, other)]
    pd.testing.assert_frame_equal(*found, rtol=0, atol=0)
    if "backoff" in job:
        pd.testing.assert_series_equal(bn.concentrations(mine), bn.concentrations(other))


@pytest.mark.slow
@informative_gaps
@pytest.mark.parametrize("parts", [1, 5])
def test_unknown_categories_are_sorted(parts):
    data, text = with_unknown_categories(VOTES, parts), VOTES.astype(object)
    same_data(bn.encode(data), bn.encode(text))
    for rows in (data, where_they_are(data)):
        same_model(fitted("tan_cl")(rows), fitted("tan_cl")(text))
    for name in ("bridge", "chain"):
        same_model(*(bn.lp(SEVERAL[name](rows), rows, smooth=1) for rows in (where_they_are(data), text)))


def test_partitions_with_columns_in_another_order(car):
    dd = pytest.importorskip("dask.dataframe")
    pieces = [car.iloc[:900], car.iloc[900:, ::-1]]
    parts = dd.from_map(lambda i: pieces[i], range(2), meta=car.head(0))
    for data in (parts, bn.encode(parts, in_memory=False)):
        same_model(*(bn.bnc("tan_cl", "class", rows, smooth=1) for rows in (data, car)))


def test_functions_and_results_can_be_sent_to_other_processes(car):
    dask, cloudpickle = pytest.importorskip("dask"), pytest.importorskip("cloudpickle")

    def compute(graph, keys, **options):
        return dask.get(cloudpickle.loads(cloudpickle.dumps(graph)), keys)

    few = car.iloc[::4]
    with dask.config.set(scheduler=compute):
        parts = where_they_are(by_dask(few, 2))
        for learner in ("tan_cl", "hc", "aode", "ande"):
            same_model(fitted(learner)(parts), fitted(learner)(few))
        assert bn.cloglik(TREE, parts) == pytest.approx(bn.cloglik(TREE, few), rel=1e-13)


def test_categories_that_never_occur_stay(car):
    few = car[car["doors"] != "3"]
    for parts in (by_dask(few, 3), chunks(few), where_they_are(by_dask(few, 3)), where_they_are(chunks(few))):
        x = bn.bnc("tan_cl", "class", parts, smooth=1)
        assert bn.values(x)["doors"] == ("2", "3", "4", "5more")


@given(st.data())
@examples(20)
def test_any_parts_of_any_rows(data):
    frame = data.draw(frames(missing=0.2))
    size = data.draw(st.integers(1, len(frame)))
    parts = where_they_are(chunks(frame, size))
    same_model(bn.tan_cl("class", parts, score="aic"), bn.tan_cl("class", frame, score="aic"))
    assert bn.cmi("x0", "class", parts) == pytest.approx(bn.cmi("x0", "class", frame), abs=1e-14)
    structure = data.draw(networks(frame))
    for prior in ({"smooth": 0.5}, {"backoff": True}):
        same_model(bn.lp(structure, parts, **prior), bn.lp(structure, frame, **prior))
    for learn in (bn.mbc, bn.maode):
        same_model(*(bn.lp(learn(["class", "x0"], rows), rows, smooth=0.5) for rows in (parts, frame)))


@pytest.mark.filterwarnings("ignore:the network has")
def test_many_levels():
    """Features with many levels, whose pairs are counted one at a time, and wide families by tables."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 20 + i, 500) for i in range(4)}).assign(
        few=rng.integers(0, 2, 500), c=rng.integers(0, 3, 500)
    )
    for learner in ("tan_cl", "aode", "kdb_mi"):
        parts = where_they_are(chunks(frame))
        same_model(*(bn.bnc(learner, "c", data, smooth=1) for data in (parts, frame)))


@pytest.mark.parametrize("raw", [chunks, lambda frame: by_dask(frame, 3)], ids=["chunks", "dask"])
def test_weights_in_a_column(raw):
    parts, rows = (
        encode(data, weights="times")
        for encode, data in ((where_they_are, raw(WEIGHTED)), (bn.encode, WEIGHTED))
    )
    assert bn.loglik(TREE, parts) == pytest.approx(bn.loglik(TREE, rows), rel=1e-13)
    assert parts.size == rows.size
    with pytest.raises(TypeError, match="must be the name of a column if data are partitioned; got array"):
        where_they_are(raw(CAR), weights=np.ones(len(CAR)))
    with pytest.raises(KeyError, match=r"weights: no column 'tims'.*'times'"):
        where_they_are(raw(WEIGHTED), weights="tims")
    with pytest.raises(TypeError, match="weights_are must be 'frequencies' if rows stay where they are"):
        where_they_are(raw(WEIGHTED), weights="times", weights_are="cases")


@pytest.mark.parametrize("stay", [lambda data: data, where_they_are], ids=["read", "where they are"])
def test_rows_without_a_class_are_told_once(votes, stay):
    gaps = votes.assign(Class=votes["Class"].where(np.arange(len(votes)) % 7 > 0))
    with pytest.warns(UserWarning, match="34 of 232 rows have no class 'Class'") as caught:
        x = bn.bnc("tan_cl", "Class", stay(chunks(gaps)), smooth=1)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="34 of 232 rows"):
        same_model(x, bn.bnc("tan_cl", "Class", gaps, smooth=1))
    nothing = votes.assign(Class=pd.Categorical([None] * len(votes), ["yes", "no"]))
    with pytest.raises(ValueError, match="the class 'Class' is missing in every row"):
        bn.tan_cl("Class", stay(chunks(nothing)))


def test_what_is_known_of_all_rows_is_not_said_of_those_with_a_class(votes):
    gaps = votes.assign(Class=votes["Class"].where(np.arange(len(votes)) % 7 > 0))
    parts = where_they_are(chunks(gaps))
    assert len(parts) == len(votes)
    with pytest.warns(UserWarning, match="34 of 232 rows have no class 'Class'"):
        x = bn.lp(bn.nb("Class", features=["crime"]), parts, smooth=1)
    assert bn.summary(x).set_index("item").loc["rows", "value"] == len(votes) - 34
    assert len(parts) == len(votes)


class Passes:
    """Frames, and the number of passes through them."""

    def __init__(self, frame):
        self.frame, self.number = frame, 0

    def __call__(self):
        for i in range(0, len(self.frame), 100):
            if i:  # who looks at the first alone does not go through them
                self.number += i == 100
            yield self.frame.iloc[i : i + 100]


@pytest.mark.parametrize(
    ("verb", "passes"),
    [
        (lambda x, data: bn.nb("class", data), 0),
        (lambda x, data: bn.tan_cl("class", data), 1),
        (lambda x, data: bn.chow_liu("class", data), 1),
        (lambda x, data: bn.kdb_mi("class", data), 2),
        (lambda x, data: bn.bnc("tan_cl", "class", data, smooth=1), 2),
        (lambda x, data: bn.bnc("aode", "class", data, smooth=1), 1),
        (lambda x, data: bn.lp(x, data, smooth=1), 1),
        (lambda x, data: bn.lp(x, data, backoff=True), 1),
        (lambda x, data: bn.loglik(x, data), 1),
        (lambda x, data: bn.BIC(x, data), 1),
    ],
)
def test_passes(car, verb, passes):
    """One when data are encoded, for levels; one for all pairs; one for all tables."""
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    data = Passes(car)
    parts = where_they_are(data)
    assert data.number == 1
    verb(x, parts)
    assert data.number == 1 + passes


def test_hill_climbing_goes_through_the_data_once_a_step(car):
    data = Passes(car)
    x = bn.hc("class", where_they_are(data))
    assert data.number <= len(bn.search_steps(x)) + 2


def test_an_iterator_is_not_a_source(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    match = r"a new iterator at each call, such as lambda.*got an iterator"
    for function in (bn.loglik, bn.update, bn.cv):
        with pytest.raises(ValueError, match=match):
            function(x, chunks(car)())
    with pytest.raises(ValueError, match=match):
        bn.encode(chunks(car)())


def test_a_function_makes_a_new_iterator_in_each_call(car, tmp_path):
    text, again = car.astype(str), "a new iterator at each call"
    x = bn.bnc("nb", "class", text, smooth=1)
    one = (text.iloc[i : i + 432] for i in range(0, len(text), 432))
    function = lambda: one  # noqa: E731
    assert bn.loglik(x, function) == pytest.approx(bn.loglik(x, text), rel=1e-13)
    for verb in (bn.loglik, bn.update):
        with pytest.raises(ValueError, match=again):
            verb(x, function)
    pieces = iter([text, text])
    with pytest.raises(ValueError, match=again):
        bn.tan_cl("class", where_they_are(lambda: pieces))
    text.to_csv(tmp_path / "car.csv", index=False)
    with pd.read_csv(tmp_path / "car.csv", chunksize=500) as reader, pytest.raises(ValueError, match=again):
        bn.tan_cl("class", where_they_are(lambda: reader))


def test_files_that_no_pass_follows_are_closed(car):
    closed = []

    def give():
        try:
            yield car
            yield car
        finally:
            closed.append(True)

    with pytest.raises(KeyError, match="class_var: no column 'clas'"):
        bn.nb("clas", give)
    assert closed == [True]


def test_a_file_in_chunks(car, tmp_path):
    path = tmp_path / "car.csv"
    car.to_csv(path, index=False)
    whole = pd.read_csv(path)
    x = bn.bnc("tan_cl", "class", lambda: pd.read_csv(path, chunksize=200), smooth=1)
    same_model(x, bn.bnc("tan_cl", "class", whole, smooth=1))
    found = bn.loglik(x, lambda: pd.read_csv(path, chunksize=500))
    assert found == pytest.approx(bn.loglik(x, whole), rel=1e-13)


def test_the_first_frame_tells_the_columns(car):
    more = [car.iloc[:900], car.iloc[900:].assign(other="a")]
    same_model(*(bn.bnc("tan_cl", "class", data, smooth=1) for data in (more, car)))
    twice = [car.iloc[:900], pd.concat([car[["doors"]], car], axis=1).iloc[900:]]
    with pytest.raises(ValueError, match="newdata: part 2 has column 'doors' more than once"):
        bn.predict(bn.lp(bn.nb("class", car), car, smooth=1), twice)


def test_identifiers_are_refused(monkeypatch):
    monkeypatch.setattr("bnclassify.parts.survey.MAX_LEVELS", 50)
    frame = pd.DataFrame({"id": np.arange(120), "c": np.arange(120) % 2})
    with pytest.raises(ValueError, match="'id' has more than 50 levels"):
        where_they_are(chunks(frame, 30))


def test_estimators_take_rows_in_memory(car):
    estimators = pytest.importorskip("bnclassify.sklearn")
    parts = by_dask(car, 2)
    x, y = parts.drop(columns="class"), car["class"]
    message = r"X must be in memory; got partitioned data\. Use a sample"
    with pytest.raises(TypeError, match=message):
        estimators.BNCClassifier("nb", smooth=1).fit(x, y)
    fitted = estimators.BNCClassifier("nb", smooth=1).fit(car.drop(columns="class"), y)
    with pytest.raises(TypeError, match=message):
        fitted.predict(x)
    pd.testing.assert_series_equal(
        bn.predict(fitted.model_, x).compute(), bn.predict(fitted.model_, car.drop(columns="class"))
    )


@pytest.mark.parametrize("parts", [1, 7])
def test_predictions_are_lazy(car, votes, parts):
    for frame, name in ((car, "class"), (votes, "Class")):
        x = bn.bnc("tan_cl", name, frame, smooth=1)
        lazy = by_dask(frame, parts)
        labels, posteriors = bn.predict(x, lazy), bn.predict(x, lazy, prob=True)
        assert labels.npartitions == lazy.npartitions
        pd.testing.assert_series_equal(labels.compute(), bn.predict(x, frame))
        pd.testing.assert_series_equal(bn.predict(x, where_they_are(lazy)).compute(), bn.predict(x, frame))
        pd.testing.assert_frame_equal(posteriors.compute(), bn.predict(x, frame, prob=True))
        assert posteriors.columns.tolist() == list(bn.classes(x))
        assert labels.dtype == bn.predict(x, frame).dtype
    even = dict.fromkeys(bn.classes(x), 1 / 2)
    pd.testing.assert_frame_equal(
        bn.predict(x, lazy, prob=True, prior=even).compute(), bn.predict(x, votes, prob=True, prior=even)
    )
    with pytest.raises(KeyError, match="newdata: no column 'crime'"):
        bn.predict(x, lazy.drop(columns="crime"))


def test_whole_numbers_that_are_floats_in_some_chunks():
    """As `pandas.read_csv` returns them, if values are missing in a chunk."""
    frame = pd.DataFrame({"x": [1, 2, 3, 1, 2, 3, 1, 2], "y": list("uvuvuvuv")})
    whole = frame.assign(x=frame["x"].astype("Int64").mask(frame.index == 5))
    parts = [frame.head(4), frame.iloc[4:].assign(x=[2.0, np.nan, 1.0, 2.0])]
    for order in (parts, parts[::-1]):
        x = bn.bnc("nb", "y", order, smooth=1)
        same_model(x, bn.bnc("nb", "y", whole, smooth=1))
        assert bn.loglik(x, order) == pytest.approx(bn.loglik(x, whole))
    with pytest.raises(TypeError, match="column 'x' must be categorical; got whole numbers of type float"):
        bn.tan_cl("y", parts[1:])
    with pytest.raises(TypeError, match="column 'x' must be categorical; got numbers with fractions"):
        bn.tan_cl("y", [frame, frame.assign(x=0.5)])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.assign(a=d["a"].map({"x": "y", "y": "x"})),
        lambda d: d.assign(y=d["y"].map({"u": "v", "v": "u"})),
        lambda d: d.assign(b=None),
    ],
    ids=["labels of a feature", "labels of the class", "missing values"],
)
def test_values_that_change_between_passes_are_refused(change):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y", "y"], 300), "b": rng.choice(["p", "q"], 300)})
    frame["y"] = rng.choice(["u", "v", "v"], 300)

    def changing(first):
        passes = []

        def read():
            passes.append(None)
            return chunks(frame if len(passes) < first else change(frame))()

        return read

    with pytest.raises(ValueError, match="must not change between passes over its parts; got different val"):
        bn.bnc("tan_cl", "y", where_they_are(changing(3)), smooth=1)
    same_model(
        bn.bnc("tan_cl", "y", where_they_are(changing(9)), smooth=1),
        bn.bnc("tan_cl", "y", chunks(frame), smooth=1),
    )


# Several class variables.


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["bridge", "maode", "chain"])
def test_scores_and_lazy_predictions_of_several_classes(learner):
    votes = VOTES.dropna(subset=CLASSES)
    x = bn.lp(SEVERAL[learner](votes), votes, smooth=1)
    for score in (bn.cloglik,) if learner == "chain" else (bn.loglik, bn.cloglik):
        assert score(x, where_they_are(chunks(votes))) == pytest.approx(score(x, votes), rel=1e-13)
    lazy = by_dask(votes, 5)
    for wish in ({}, {"prob": True}, {"joint": True}, {"joint": True, "prob": True}):
        pd.testing.assert_frame_equal(bn.predict(x, lazy, **wish).compute(), bn.predict(x, votes, **wish))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "options"),
    [
        *((learner, {"smooth": 1}) for learner in SEVERAL),
        ("bridge", {"ess": 3}),
        ("maode", {"m": 1}),
        ("chain", {"backoff": True}),
    ],
)
def test_rows_in_turn_are_rows_at_once(learner, options, tmp_path):
    votes = VOTES
    x = SEVERAL[learner](votes)
    bn.save(bn.lp(x, votes.iloc[::2], **options), tmp_path / "x.json")
    y, more = bn.lp(x, votes, **options), votes.iloc[1::2]
    for rows in (more, where_they_are(chunks(more)), by_dask(more, 3)):
        same_model(bn.update(bn.load(tmp_path / "x.json"), rows), y)
    strange = more.assign(crime=more["crime"].astype(object).where(more["crime"] != "n", "nay"))
    with pytest.raises(ValueError, match="'crime': 'nay' not among the levels of the model"):
        bn.update(y, strange)


@pytest.mark.parametrize("learn", [bn.mbc, bn.maode])
def test_no_row_that_counts_is_told_of_in_any_form(learn):
    votes = VOTES
    x = learn(CLASSES, votes)
    gaps = votes.assign(**{name: votes[name].where(votes[name].isna()) for name in CLASSES})
    for data in (gaps, [gaps], where_they_are([gaps]), where_they_are(by_dask(gaps, 2))):
        with pytest.raises(ValueError, match=r"all of .* are missing in every row"):
            bn.lp(x, data, smooth=1)
    weighed = votes.assign(w=0.0)
    for data in (weighed, chunks(weighed), by_dask(weighed, 2)):
        with pytest.raises(ValueError, match="all weights are 0"):
            bn.lp(x, where_they_are(data, weights="w"), smooth=1)


def test_a_part_without_values_has_the_type_of_others():
    """Also if it declares labels."""
    parts = [
        pd.DataFrame({"x": pd.Categorical([None] * 3, ["u", "v"]), "y": [*"aba"]}),
        pd.DataFrame({"x": [1, 2, 2], "y": [*"bab"]}),
    ]
    data = bn.encode(parts)
    assert data.levels[0] == (1, 2)
    assert data.codes[0].tolist() == [-1, -1, -1, 0, 1, 1]
