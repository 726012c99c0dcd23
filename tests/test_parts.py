"""Data in parts, by Dask or in chunks: the same models, scores and predictions as in memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.base.arrays import sum_nested
from bnclassify.counts.information import mutual_information
from bnclassify.counts.pairs import pair_statistics
from bnclassify.frames.opening import open_data
from bnclassify.frames.training import prepare_training_data
from bnclassify.models import Partitions

from .conftest import informative_gaps
from .strategies import examples, frames, networks

CLASS = {"car": "class", "voting": "Class"}


def chunks(frame: pd.DataFrame, size: int = 100) -> Callable[[], Iterator[pd.DataFrame]]:
    """A function that gives a frame in pieces, the first of them empty."""
    starts = [0, *range(0, len(frame), size)]
    return lambda: (frame.iloc[start : start + size * (i > 0)] for i, start in enumerate(starts))


def by_dask(frame: pd.DataFrame, parts: int) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=parts, sort=False)


def with_unknown_categories(frame: pd.DataFrame, parts: int) -> Any:
    """Each partition with separate categories in a separate order, and one empty partition."""
    dd = pytest.importorskip("dask.dataframe")
    pieces = np.array_split(np.arange(len(frame)), parts)
    pieces.insert(1, np.array([], dtype=int))
    made = [frame.iloc[rows].astype(object).astype("category") for rows in pieces]
    unknown = dd.from_map(lambda i: made[i], range(len(made)), meta=made[0])
    return unknown.assign(**{c: unknown[c].cat.as_unknown() for c in frame})


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "chunks": chunks,
    "a list": lambda frame: [frame.iloc[:7], frame.iloc[7:7], frame.iloc[7:]],
    "encoded chunks": lambda frame: bn.encode(chunks(frame)),
    "1 partition": lambda frame: by_dask(frame, 1),
    "5 partitions": lambda frame: by_dask(frame, 5),
    "encoded partitions": lambda frame: bn.encode(by_dask(frame, 2)),
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Callable[[pd.DataFrame], Any]:
    return FORMS[request.param]


LEARNERS = {
    "nb": {}, "tan_cl": {"score": "bic"}, "chow_liu": {}, "kdb_mi": {}, "hc": {}, "ban": {"score": "bde"},
    "chisq_dn": {}, "aode": {},
}  # fmt: skip


def same_model(mine: Any, other: Any) -> None:
    """The same structure and levels, and tables to the last digit: sums of whole counts are exact."""
    for x, y in zip(bn.members(mine), bn.members(other), strict=True):
        assert x.families == y.families
        assert x.levels == y.levels
        for name, table in bn.params(y).items() if y.fitted else ():
            np.testing.assert_array_equal(bn.params(x)[name], table)
    assert repr(mine) == repr(other)


@pytest.mark.slow
@informative_gaps
@pytest.mark.parametrize("name", CLASS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_models_are_those_of_memory(form: Callable[[pd.DataFrame], Any], name: str, learner: str) -> None:
    frame = bn.load_car() if name == "car" else bn.load_voting()
    parts, class_var = form(frame), CLASS[name]
    if name == "voting" and learner in ("hc", "ban"):
        with pytest.raises(ValueError, match="missing values in 'handicapped_infants'"):
            getattr(bn, learner)(class_var, parts)
        return
    options = {"smooth": 1, "dag_args": LEARNERS[learner]}
    same_model(bn.bnc(learner, class_var, parts, **options), bn.bnc(learner, class_var, frame, **options))


PRIORS = ({"smooth": 0}, {"ess": 2}, {"m": 1}, {"backoff": True}, {"smooth": 1, "manb_prior": 0.5})


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_parameters_are_those_of_memory(form: Callable[[pd.DataFrame], Any], prior: dict[str, Any]) -> None:
    votes = bn.load_voting()
    structure = bn.nb("Class", votes) if "manb_prior" in prior else bn.kdb_mi("Class", votes)
    x, y = (bn.lp(structure, data, **prior) for data in (form(votes), votes))
    same_model(x, y)
    if "backoff" in prior:
        pd.testing.assert_series_equal(bn.concentrations(x), bn.concentrations(y))


@informative_gaps
@pytest.mark.parametrize("n", [0, 1, 2])
def test_averaged_estimators(form: Callable[[pd.DataFrame], Any], n: int) -> None:
    votes = bn.load_voting()
    options = {"smooth": 1, "dag_args": {"n": n, "subsumption": 50}}
    x, y = (bn.bnc("ande", "Class", data, **options) for data in (form(votes), votes))
    pd.testing.assert_frame_equal(bn.predict(x, votes, prob=True), bn.predict(y, votes, prob=True))


def test_scores(car: pd.DataFrame, form: Callable[[pd.DataFrame], Any]) -> None:
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    parts = form(car)
    for score in (bn.loglik, bn.cloglik, bn.AIC, bn.BIC, bn.network_score):
        assert score(x, parts) == pytest.approx(score(x, car), rel=1e-13)
    for given_ in (None, "class", ["class", "doors"]):
        mine, other = (bn.cmi("persons", "safety", data, z=given_) for data in (parts, car))
        assert mine == pytest.approx(other, abs=1e-14)


@pytest.mark.slow
@informative_gaps
@pytest.mark.parametrize("parts", [1, 5])
def test_unknown_categories_are_sorted(parts: int) -> None:
    votes = bn.load_voting()
    text = votes.astype(object)
    x = bn.bnc("tan_cl", "Class", with_unknown_categories(votes, parts), smooth=1)
    same_model(x, bn.bnc("tan_cl", "Class", text, smooth=1))


def test_categories_that_never_occur_stay(car: pd.DataFrame) -> None:
    few = car[car["doors"] != "3"]
    for parts in (by_dask(few, 3), chunks(few)):
        x = bn.bnc("tan_cl", "class", parts, smooth=1)
        assert bn.values(x)["doors"] == ("2", "3", "4", "5more")


@given(st.data())
@examples(40)
def test_any_parts_of_any_rows(data: st.DataObject) -> None:
    frame = data.draw(frames(missing=0.2))
    size = data.draw(st.integers(1, len(frame)))
    parts, n = prepare_training_data(chunks(frame, size), ("class",)), frame.shape[1] - 1
    rows = prepare_training_data(frame, ("class",))
    mine, other = (pair_statistics(d, range(n), n) for d in (parts, rows))
    np.testing.assert_allclose(mine.information, other.information, atol=1e-14)
    np.testing.assert_array_equal(mine.rows, other.rows)
    own, theirs = (mutual_information(d, 0, n) for d in (parts, rows))
    assert own == pytest.approx(theirs, abs=1e-14)
    structure = data.draw(networks(frame))
    for prior in ({"smooth": 0.5}, {"backoff": True}):
        same_model(bn.lp(structure, chunks(frame, size), **prior), bn.lp(structure, frame, **prior))


@pytest.mark.filterwarnings("ignore:the network has")
def test_many_levels() -> None:
    """Features with many levels, whose pairs are counted one at a time, and wide families by tables."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 20 + i, 500) for i in range(4)}).assign(
        few=rng.integers(0, 2, 500), c=rng.integers(0, 3, 500)
    )
    for learner in ("tan_cl", "aode", "kdb_mi"):
        same_model(*(bn.bnc(learner, "c", data, smooth=1) for data in (chunks(frame), frame)))


def test_weights_in_a_column(car: pd.DataFrame, form: Callable[[pd.DataFrame], Any]) -> None:
    weighed = car.assign(times=np.random.default_rng(0).integers(0, 3, len(car)))
    raw = form(weighed) if not isinstance(form(car), Partitions) else chunks(weighed)
    parts, rows = bn.encode(raw, weights="times"), bn.encode(weighed, weights="times")
    for learner in ("tan_cl", "hc"):
        same_model(*(bn.bnc(learner, "class", data, smooth=1) for data in (parts, rows)))
    x = bn.bnc("nb", "class", rows, smooth=1)
    assert bn.loglik(x, parts) == pytest.approx(bn.loglik(x, rows), rel=1e-13)
    assert parts.size == rows.size
    with pytest.raises(
        TypeError, match="weights must be the name of a column if data are partitioned; got array"
    ):
        bn.encode(chunks(car), weights=np.ones(len(car)))
    with pytest.raises(KeyError, match=r"weights: no column 'tims'.*'times'"):
        bn.encode(raw, weights="tims")


def test_rows_without_a_class_are_told_once(votes: pd.DataFrame) -> None:
    gaps = votes.assign(Class=votes["Class"].where(np.arange(len(votes)) % 7 > 0))
    with pytest.warns(UserWarning, match="34 of 232 rows have no class 'Class'") as caught:
        x = bn.bnc("tan_cl", "Class", chunks(gaps), smooth=1)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="34 of 232 rows"):
        same_model(x, bn.bnc("tan_cl", "Class", gaps, smooth=1))
    nothing = votes.assign(Class=pd.Categorical([None] * len(votes), ["yes", "no"]))
    with pytest.raises(ValueError, match="the class 'Class' is missing in every row"):
        bn.tan_cl("Class", chunks(nothing))


def test_what_is_known_of_all_rows_is_not_said_of_those_with_a_class(votes: pd.DataFrame) -> None:
    gaps = votes.assign(Class=votes["Class"].where(np.arange(len(votes)) % 7 > 0))
    parts = bn.encode(chunks(gaps))
    assert len(parts) == len(votes)
    with pytest.warns(UserWarning, match="34 of 232 rows have no class 'Class'"):
        x = bn.lp(bn.nb("Class", features=["crime"]), parts, smooth=1)
    assert bn.summary(x).set_index("item").loc["rows", "value"] == len(votes) - 34
    assert len(parts) == len(votes)


class Passes:
    """Frames, and the number of passes through them."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame, self.number = frame, 0

    def __call__(self) -> Iterator[pd.DataFrame]:
        for i in range(0, len(self.frame), 100):
            if i:  # who looks at the first alone does not go through them
                self.number += i == 100
            yield self.frame.iloc[i : i + 100]


@pytest.mark.parametrize(
    ("verb", "passes"),
    [
        (lambda x, data: bn.nb("class", data), 1),
        (lambda x, data: bn.tan_cl("class", data), 2),
        (lambda x, data: bn.chow_liu("class", data), 2),
        (lambda x, data: bn.kdb_mi("class", data), 3),
        (lambda x, data: bn.bnc("tan_cl", "class", data, smooth=1), 3),
        (lambda x, data: bn.bnc("aode", "class", data, smooth=1), 2),
        (lambda x, data: bn.lp(x, data, smooth=1), 1),
        (lambda x, data: bn.lp(x, data, backoff=True), 1),
        (lambda x, data: bn.loglik(x, data), 1),
        (lambda x, data: bn.BIC(x, data), 1),
    ],
)
def test_passes(car: pd.DataFrame, verb: Callable[[Any, Any], Any], passes: int) -> None:
    """One for levels, if they are not known; one for all pairs; one for all tables."""
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    data = Passes(car)
    verb(x, data)
    assert data.number == passes


def test_hill_climbing_goes_through_the_data_once_a_step(car: pd.DataFrame) -> None:
    data = Passes(car)
    x = bn.hc("class", data)
    assert data.number <= len(bn.search_steps(x)) + 2


def test_an_iterator_is_not_a_source(car: pd.DataFrame) -> None:
    x = bn.bnc("nb", "class", car, smooth=1)
    match = r"a new iterator at each call, such as lambda.*got an iterator"
    for function in (bn.loglik, bn.update, bn.cv):
        with pytest.raises(ValueError, match=match):
            function(x, chunks(car)())
    with pytest.raises(ValueError, match=match):
        bn.encode(chunks(car)())


def test_a_function_makes_a_new_iterator_in_each_call(car: pd.DataFrame, tmp_path: Any) -> None:
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
        bn.bnc("tan_cl", "class", lambda: pieces, smooth=1)
    text.to_csv(tmp_path / "car.csv", index=False)
    with pd.read_csv(tmp_path / "car.csv", chunksize=500) as reader, pytest.raises(ValueError, match=again):
        bn.bnc("nb", "class", lambda: reader, smooth=1)


def test_no_frame_is_read_to_be_thrown_away(car: pd.DataFrame) -> None:
    calls: list[int] = []

    def give() -> Iterator[pd.DataFrame]:
        calls.append(0)
        return chunks(car.astype(str))()

    x = bn.bnc("tan_cl", "class", give, smooth=1)
    assert len(calls) == 3  # levels, pairs, tables
    bn.loglik(x, give)
    assert len(calls) == 4


def test_files_that_no_pass_follows_are_closed(car: pd.DataFrame) -> None:
    closed: list[bool] = []

    def give() -> Iterator[pd.DataFrame]:
        try:
            yield car
            yield car
        finally:
            closed.append(True)

    with pytest.raises(KeyError, match="class_var: no column 'clas'"):
        bn.nb("clas", give)
    assert closed == [True]


def test_data_that_changes_between_passes(car: pd.DataFrame) -> None:
    for learner in ("tan_cl", "nb"):
        sizes = iter([1728, 1728, 432] if learner == "tan_cl" else [1728, 432])
        with pytest.raises(ValueError, match="1728 rows in the first pass and 432 in a later one"):
            bn.bnc(learner, "class", lambda sizes=sizes: [car.iloc[: next(sizes)].astype(str)], smooth=1)


def test_a_file_in_chunks(car: pd.DataFrame, tmp_path: Any) -> None:
    path = tmp_path / "car.csv"
    car.to_csv(path, index=False)
    whole = pd.read_csv(path)
    x = bn.bnc("tan_cl", "class", lambda: pd.read_csv(path, chunksize=200), smooth=1)
    same_model(x, bn.bnc("tan_cl", "class", whole, smooth=1))
    found = bn.loglik(x, lambda: pd.read_csv(path, chunksize=500))
    assert found == pytest.approx(bn.loglik(x, whole), rel=1e-13)


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (lambda: iter([]), ValueError, "got no data frames"),
        (lambda: 7, TypeError, "got a function that returns int"),
        (lambda: pd.DataFrame({"c": [1]}), TypeError, "got a function that returns DataFrame"),
        (lambda: iter(["a"]), TypeError, "must contain data frames; got str"),
        (lambda: [pd.DataFrame({"a": [1]})], KeyError, "class_var: no column 'c'"),
        (
            lambda: [pd.DataFrame({"a": [1], "c": [1]}), pd.DataFrame({"c": [1]})],
            KeyError,
            "'a'",
        ),
        (
            lambda: [pd.DataFrame({"a": [1], "c": [1]}), pd.DataFrame({"a": ["x"], "c": [1]})],
            TypeError,
            r"'a' must have one type.*'int', 'str'.*dtype=",
        ),
        (
            lambda: [pd.DataFrame({"a": [True, False], "c": 1}), pd.DataFrame({"a": [1, 2], "c": 1})],
            TypeError,
            "column 'a' must have one type in all parts of the data.*'bool', 'int'",
        ),
        (
            lambda: [pd.DataFrame({"a": [0, 1], "c": 1}), pd.DataFrame({"a": [True, False], "c": 1})],
            TypeError,
            "column 'a' must have one type in all parts of the data.*'int', 'bool'",
        ),
        (lambda: [pd.DataFrame({"a": [0.5], "c": [1]})], TypeError, "column 'a' must be categorical"),
        (lambda: [pd.DataFrame({"a": [None], "c": [1]})], ValueError, "all values are missing in 'a'"),
        (lambda: [pd.DataFrame([[1, 2, 3]], columns=["a", "a", "c"])], ValueError, "unique column names"),
    ],
)  # fmt: skip
def test_what_is_no_data(data: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        bn.tan_cl("c", data)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([], "must be a pandas DataFrame.*; got list"),
        (["a.csv"], "got list"),
        ([bn.load_car(), None], "got list"),
        ((bn.load_car(), bn.load_car()["class"]), "got tuple. Make one with pd.DataFrame"),
        ([bn.encode(bn.load_car())], "got list"),
    ],
)
def test_what_is_no_list_of_frames(car: pd.DataFrame, data: Any, match: str) -> None:
    x = bn.bnc("nb", "class", car, smooth=1)
    for verb in (bn.encode, lambda data: bn.nb("class", data), lambda data: bn.loglik(x, data)):
        with pytest.raises(TypeError, match=match):
            verb(data)


def test_what_of_dask_is_no_frame(car: pd.DataFrame) -> None:
    delayed = pytest.importorskip("dask.delayed").delayed
    parts = by_dask(car, 2)
    with pytest.raises(TypeError, match=r"got Series. Call its compute\(\)"):
        bn.nb("class", parts["class"])
    with pytest.raises(TypeError, match="got list"):
        bn.nb("class", [parts])
    for late in (delayed(car), delayed(bn.load_car)()):
        with pytest.raises(TypeError, match=r"got Delayed.*\. Call its compute\(\)"):
            bn.bnc("nb", "class", late, smooth=1)


def test_the_first_frame_tells_the_columns(car: pd.DataFrame) -> None:
    more = [car.iloc[:900], car.iloc[900:].assign(other="a")]
    same_model(*(bn.bnc("tan_cl", "class", data, smooth=1) for data in (more, car)))


def test_a_level_that_the_model_does_not_know(car: pd.DataFrame) -> None:
    x = bn.nb("class", car)
    strange = car.astype(object).assign(doors="6")
    with pytest.raises(ValueError, match="column 'doors': '6' not among the levels of the model"):
        bn.lp(x, chunks(strange), smooth=1)


def test_identifiers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bnclassify.frames.survey.MAX_LEVELS", 50)
    frame = pd.DataFrame({"id": np.arange(120), "c": np.arange(120) % 2})
    with pytest.raises(ValueError, match="'id' has more than 50 levels"):
        bn.nb("c", chunks(frame, 30))


NEED_ROWS: dict[str, Callable[[Any], Any]] = {
    "search": lambda data: bn.tan_hc("class", data, k=3),
    "search by bnc": lambda data: bn.bnc("fssj", "class", data, smooth=1, dag_args={"k": 3}),
    "EM": lambda data: bn.lp(bn.nb("class", bn.load_car()), data, smooth=1, missing="em"),
    "WANBIA": lambda data: bn.lp(bn.nb("class", bn.load_car()), data, smooth=1, wanbia=True),
    "AWNB": lambda data: bn.lp(bn.nb("class", bn.load_car()), data, smooth=1, awnb_trees=2),
    "leave-one-out": lambda data: bn.lp(bn.nb("class", bn.load_car()), data, smooth=1, held_out="power"),
    "cuts": lambda data: bn.discretize(data, class_var="class"),
}


@pytest.mark.parametrize("verb", NEED_ROWS)
def test_what_needs_rows_says_so(car: pd.DataFrame, verb: str) -> None:
    for data in (chunks(car), bn.encode(chunks(car)), by_dask(car, 2)):
        with pytest.raises(
            TypeError, match=r"must be in memory; got partitioned data.*frame\.sample\(frac=0\.01\)"
        ):
            NEED_ROWS[verb](data)


ASK_ABOUT_ROWS: dict[str, tuple[Callable[..., Any], str]] = {
    "predict": (bn.predict, r"newdata must be .*for chunk in chunks: predict\(x, chunk\)"),
    "impute": (bn.impute, r"frame must be .*for chunk in chunks: impute\(x, chunk\)"),
    "explain": (bn.explain, r"row must be .*frame\.head\(\)"),
    "plot_importance": (bn.plot_importance, r"dataset must be .*frame\.sample\(frac=0\.01\)\.compute\(\)"),
}


@pytest.mark.parametrize("verb", ASK_ABOUT_ROWS)
def test_what_is_asked_about_rows_says_how_to_go_on(car: pd.DataFrame, verb: str) -> None:
    x = bn.bnc("nb", "class", car, smooth=1)
    function, message = ASK_ABOUT_ROWS[verb]
    forms = [chunks(car), [car.iloc[:9], car.iloc[9:]], bn.encode(chunks(car))]
    for data in [*forms, *([] if verb == "predict" else [by_dask(car, 2)])]:
        with pytest.raises(TypeError, match=message) as error:
            function(x, data)
        assert "structures by" not in str(error.value)


def test_estimators_take_rows_in_memory(car: pd.DataFrame) -> None:
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
    with pytest.raises(TypeError, match="must be a pandas DataFrame; got Series"):
        bn.tan_cl("class", parts["class"])


@pytest.mark.parametrize("parts", [1, 17])
def test_predictions_are_lazy(car: pd.DataFrame, votes: pd.DataFrame, parts: int) -> None:
    for frame, name in ((car, "class"), (votes, "Class")):
        x = bn.bnc("tan_cl", name, frame, smooth=1)
        lazy = by_dask(frame, parts)
        labels, posteriors = bn.predict(x, lazy), bn.predict(x, lazy, prob=True)
        assert labels.npartitions == lazy.npartitions
        pd.testing.assert_series_equal(labels.compute(), bn.predict(x, frame))
        pd.testing.assert_series_equal(bn.predict(x, bn.encode(lazy)).compute(), bn.predict(x, frame))
        pd.testing.assert_frame_equal(posteriors.compute(), bn.predict(x, frame, prob=True))
        assert posteriors.columns.tolist() == list(bn.classes(x))
        assert labels.dtype == bn.predict(x, frame).dtype
    even = dict.fromkeys(bn.classes(x), 1 / 2)
    pd.testing.assert_frame_equal(
        bn.predict(x, lazy, prob=True, prior=even).compute(), bn.predict(x, votes, prob=True, prior=even)
    )
    with pytest.raises(KeyError, match="newdata: no column 'crime'"):
        bn.predict(x, lazy.drop(columns="crime"))


def test_values_that_add_up() -> None:
    narrow = np.array([200], dtype=np.uint8)
    assert sum_nested([narrow, narrow]).tolist() == [400]
    assert sum_nested([{"a": (1, None)}, {"a": (2, None)}]) == {"a": (3, None)}
    assert sum_nested([np.float32([2**24]), np.float32([1])]).tolist() == [2**24 + 1]


def test_what_workers_are_sent_can_be_pickled(car: pd.DataFrame) -> None:
    sent: list[Any] = []

    class Spy(bn.frames.sources.Chunks):
        def reduce(self, make: Any, merge: Any, columns: Any = None) -> Any:
            sent.append(pickle.loads(pickle.dumps((make, merge))))
            return super().reduce(*sent[-1], columns)

    parts = bn.encode(chunks(car))
    object.__setattr__(parts, "source", Spy(chunks(car), "dataset"))
    for learner in ("tan_cl", "hc", "aode", "ande"):
        x = bn.bnc(learner, "class", parts, smooth=1)
    assert bn.cloglik(x, parts) == pytest.approx(bn.cloglik(x, car), rel=1e-13)
    assert len(sent) > 4
    parts.memo.labels.clear()
    assert parts.label_counts("class").sum() == len(car)


METRICS = ["accuracy", "balanced_accuracy", "log_loss", "brier", "rmse", "calibration_error"]


@pytest.mark.slow
@informative_gaps
@pytest.mark.parametrize("name", CLASS)
def test_cross_validation_by_given_folds(form: Callable[[pd.DataFrame], Any], name: str) -> None:
    """The figures of memory, with the same folds."""
    frame = bn.load_car().iloc[::3] if name == "car" else bn.load_voting()
    class_var, folds = CLASS[name], np.random.default_rng(0).integers(0, 3, len(frame))
    models = {
        "nb": bn.bnc("nb", class_var, frame, smooth=1),
        "tan": bn.bnc("tan_cl", class_var, frame, smooth=0.1, dag_args={"score": "aic"}),
    }
    numbered = form(frame.assign(fold=folds))
    for dag in (True, False):
        mine = bn.cv(models, numbered, folds="fold", metric=METRICS, mean=False, dag=dag)
        other = bn.cv(models, frame, folds=folds, metric=METRICS, mean=False, dag=dag)
        pd.testing.assert_frame_equal(mine, other, rtol=1e-12)
    told, known = (frame.attrs["cv"] for frame in (mine, other))
    assert told["train_size"] == pytest.approx(known["train_size"])
    assert told["baselines"] == pytest.approx(known["baselines"])
    assert bn.cv(models["tan"], numbered, folds="fold", dag=False) == pytest.approx(
        mine["tan", "accuracy"].mean()
    )


def hashed(frame: pd.DataFrame, k: int, seed: int = 0) -> np.ndarray:
    from bnclassify.metrics.folds import HashedFolds

    drawn = int(np.random.default_rng(seed).integers(2**63))
    return HashedFolds(tuple(frame), k, drawn)(frame)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["a list", "5 partitions"])
def test_hashed_folds(car: pd.DataFrame, form: str) -> None:
    """They are the same however rows lie in parts, and about as large as each other."""
    x, parts = bn.bnc("tan_cl", "class", car, smooth=1), FORMS[form](car)
    found = bn.cv(x, parts, k=4, mean=False)
    folds = hashed(car, 4)
    pd.testing.assert_frame_equal(found, bn.cv(x, car, folds=folds, mean=False), rtol=1e-12)
    sizes = np.bincount(folds)
    assert (np.abs(sizes - len(car) / 4) < 4 * np.sqrt(len(car) * 3 / 16)).all()
    again = bn.cv(x, parts, k=4, mean=False, rng=0)
    pd.testing.assert_frame_equal(found, again)
    assert not bn.cv(x, parts, k=4, mean=False, rng=1).equals(found)
    repeated = bn.cv(x, parts, k=2, repeats=2, mean=False)
    assert repeated.index.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert repeated.loc[0].to_numpy().tolist() != repeated.loc[1].to_numpy().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 5])
def test_predictions_out_of_fold_are_lazy(car: pd.DataFrame, parts: int) -> None:
    x, lazy = bn.bnc("tan_cl", "class", car, smooth=1), by_dask(car, parts)
    folds = hashed(car, 5)
    for prob in (True, False):
        mine = bn.cv_predict(x, lazy, k=5, prob=prob)
        other = bn.cv_predict(x, car, folds=folds, prob=prob)
        compare = pd.testing.assert_frame_equal if prob else pd.testing.assert_series_equal
        compare(mine.compute(), other)
        compare(bn.cv_predict(x, bn.encode(lazy), k=5, prob=prob).compute(), other)
    numbered = by_dask(car.assign(fold=np.arange(len(car)) % 3), parts)
    mine = bn.cv_predict(x, numbered, folds="fold").compute()
    pd.testing.assert_frame_equal(mine, bn.cv_predict(x, car, folds=np.arange(len(car)) % 3))
    with pytest.raises(TypeError, match="or a Dask DataFrame, whose predictions are lazy; got chunks"):
        bn.cv_predict(x, chunks(car))


@pytest.mark.slow
def test_cross_validation_in_parts_says_what_it_cannot(car: pd.DataFrame) -> None:
    x, data = bn.bnc("nb", "class", car, smooth=1), chunks(car)
    with pytest.raises(
        TypeError, match="must be a function of sums over rows if data are partitioned; got 'auc'"
    ):
        bn.cv(x, data, metric=["accuracy", "auc"])
    with pytest.raises(TypeError, match="must be a function of sums over rows"):
        bn.cv(x, data, metric=lambda posteriors, actual: 0.0)
    with pytest.raises(TypeError, match="folds must be the name of a column"):
        bn.cv(x, data, folds=np.arange(len(car)) % 2)
    with pytest.raises(KeyError, match="folds: no column 'fold'"):
        bn.cv(x, data, folds="fold", columns="any")
    with pytest.raises(ValueError, match="the columns that model 0 was learned from; it lacks 'doors'"):
        bn.cv(x, chunks(car.drop(columns="doors")))
    gaps = car.assign(**{"class": car["class"].where(np.arange(len(car)) > 3)})
    with pytest.warns(UserWarning, match="4 of 1728 rows have no class 'class' and are ignored"):
        found = bn.cv([x], chunks(gaps), k=3, metric=["accuracy", "log_loss"])
    same = bn.cv([x], chunks(gaps.iloc[4:]), k=3, metric=["accuracy", "log_loss"])
    pd.testing.assert_series_equal(found, same)
    assert found.attrs["cv"] == same.attrs["cv"]
    errors = (results.attrs["standard_errors"] for results in (found, same))  # of sums in another order
    np.testing.assert_allclose(*(list(each.values()) for each in errors), rtol=1e-12)
    with pytest.raises(ValueError, match="a new iterator at each call"):
        bn.cv(x, iter([car]))
    sampled = bn.bnc("nb", "class", car, smooth=1, wanbia=True)
    with pytest.raises(TypeError, match="must be in memory"):
        bn.cv(sampled, data)


@pytest.mark.slow
def test_weighted_rows_in_cross_validation(car: pd.DataFrame) -> None:
    weighed = car.assign(
        times=np.random.default_rng(0).integers(0, 3, len(car)), fold=np.arange(len(car)) % 3
    )
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    parts = bn.encode(chunks(weighed), weights="times")
    rows = bn.encode(car, weights=weighed["times"])
    mine = bn.cv(x, parts, folds="fold", metric=METRICS, mean=False)
    other = bn.cv(x, rows, folds=weighed["fold"].to_numpy(), metric=METRICS, mean=False)
    pd.testing.assert_frame_equal(mine, other, rtol=1e-12)
    for size in ("train_size", "test_size"):
        assert mine.attrs["cv"][size] == pytest.approx(other.attrs["cv"][size])
    assert mine.attrs["cv"]["test_size"] == pytest.approx(weighed["times"].sum() / 3)


def test_encoded_parts_without_rows_are_told_of(car: pd.DataFrame) -> None:
    weightless = bn.encode(lambda: [car.assign(w=0.0)], weights="w")
    with pytest.raises(ValueError, match="all weights are 0"):
        bn.tan_cl("class", weightless)
    x = bn.tan_cl("class", car)
    with pytest.raises(ValueError, match="all weights are 0"):
        bn.lp(x, weightless, smooth=1)
    for empty in (bn.encode(lambda: [car.iloc[:0]]), bn.encode(by_dask(car.iloc[:0], 1))):
        with pytest.raises(ValueError, match=r"dataset must have rows; got none"):
            bn.bnc("tan_cl", "class", empty, smooth=1)
        len(empty)  # which counts, so that what follows need not
        with pytest.raises(ValueError, match=r"dataset must have rows; got none"):
            bn.lp(x, empty, smooth=1)


def test_encoded_parts_are_warned_of_wide_tables() -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({name: rng.integers(0, 40, 300).astype(str) for name in ("x", "y", "class")})
    x = bn.nb("class", wide)
    with pytest.warns(UserWarning, match=r"the network has .* free parameters, more than the 300 rows"):
        bn.lp(x, bn.encode(chunks(wide)), smooth=1)


def raw_rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400))
    is_p = x + y + rng.normal(size=400) / 2 > 0
    return pd.DataFrame({"x": x, "y": y, "z": rng.choice(list("ab"), 400), "class": np.where(is_p, "p", "q")})


def test_models_that_take_raw_data_are_cross_validated() -> None:
    raw = raw_rows()
    x = bn.bnc("tan_cl", "class", raw, discretize="mdlp", smooth=1)
    folds = np.arange(len(raw)) % 3
    mine = bn.cv(x, chunks(raw.assign(fold=folds)), folds="fold", metric=METRICS, mean=False, dag=False)
    other = bn.cv(x, raw, folds=folds, metric=METRICS, mean=False, dag=False)
    pd.testing.assert_frame_equal(mine, other, rtol=1e-12)
    lazy = bn.cv_predict(x, by_dask(raw.assign(fold=folds), 3), folds="fold", dag=False).compute()
    pd.testing.assert_frame_equal(lazy, bn.cv_predict(x, raw, folds=folds, dag=False), rtol=1e-12)
    with pytest.raises(
        TypeError,
        match=r"dataset must be in memory to refit the preparation of raw data. .* cv\(..., dag=False\)",
    ):
        bn.cv(x, chunks(raw))
    with pytest.raises(TypeError, match="prepare raw data in the same way"):
        bn.cv([x, bn.bnc("nb", "class", raw, discretize="width", smooth=1)], chunks(raw), dag=False)
    with pytest.raises(TypeError, match="must be in memory"):
        bn.cv(bn.bnc("nb", "class", raw, discretize="averaged", smooth=1), chunks(raw), dag=False)


@pytest.mark.slow
def test_folds_are_the_same_whatever_the_models(car: pd.DataFrame) -> None:
    few = bn.lp(bn.nb("class", car, features=["doors", "safety"]), car, smooth=1)
    x, parts = bn.bnc("nb", "class", car, smooth=1), by_dask(car, 2)
    together = bn.cv({"few": few, "all": x}, parts, k=4, mean=False)
    apart = bn.cv({"few": few}, parts, k=4, mean=False), bn.cv({"all": x}, parts, k=4, mean=False)
    pd.testing.assert_frame_equal(pd.concat(apart, axis=1), together)
    assert [results.attrs["cv"]["folds"] for results in apart] == [together.attrs["cv"]["folds"]] * 2


@pytest.mark.slow
def test_folds_that_no_row_is_in(car: pd.DataFrame) -> None:
    x, folds = bn.bnc("nb", "class", car, smooth=1), np.arange(len(car)) % 2
    labels = pd.Categorical.from_codes(folds * 2, ["a", "b", "c"])
    mine = bn.cv(x, chunks(car.assign(fold=labels)), folds="fold", mean=False)
    pd.testing.assert_frame_equal(mine, bn.cv(x, car, folds=folds, mean=False), rtol=1e-12)
    few = bn.cv(x, chunks(car.iloc[::400]), k=30, dag=False, mean=False)  # most test no row
    assert 2 <= few[0].notna().sum() <= 5
    with pytest.raises(ValueError, match="at least 2 folds; got 1 in 'fold'"):
        bn.cv(x, chunks(car.assign(fold=labels[:1].repeat(len(car)))), folds="fold")


def test_whole_numbers_that_are_floats_in_some_chunks() -> None:
    """As `pandas.read_csv` returns them, if values are missing in a chunk."""
    frame = pd.DataFrame({"x": [1, 2, 3, 1, 2, 3, 1, 2], "y": list("uvuvuvuv")})
    whole = frame.assign(x=frame["x"].astype("Int64").mask(frame.index == 5))
    parts = [frame.head(4), frame.iloc[4:].assign(x=[2.0, np.nan, 1.0, 2.0])]
    for order in (parts, parts[::-1]):
        x = bn.bnc("nb", "y", order, smooth=1)
        same_model(x, bn.bnc("nb", "y", whole, smooth=1))
        assert bn.loglik(x, order) == pytest.approx(bn.loglik(x, whole))
    with pytest.raises(TypeError, match="column 'x' must be categorical; got whole numbers of type float"):
        bn.nb("y", parts[1:])
    with pytest.raises(TypeError, match="column 'x' must be categorical; got numbers with fractions"):
        bn.nb("y", [frame, frame.assign(x=0.5)])


@pytest.mark.slow
def test_unseen_levels_in_parts_are_missing_as_in_memory(
    car: pd.DataFrame, form: Callable[[pd.DataFrame], Any]
) -> None:
    known = car[(car["safety"] != "low") & (car["doors"] != "2")].astype(str)
    x, frame = bn.bnc("tan_cl", "class", known, smooth=1), car.astype(str)
    folds = np.arange(len(car)) % 3
    with pytest.warns(
        UserWarning, match="treated as missing: '576 in 'safety'', '432 in 'doors''|treated"
    ) as caught:
        mine = bn.cv(x, form(frame.assign(fold=folds)), folds="fold", dag=False, mean=False)
    with pytest.warns(UserWarning, match="treated as missing"):
        other = bn.cv(x, frame, folds=folds, dag=False, mean=False)
    pd.testing.assert_frame_equal(mine, other, rtol=1e-12)
    assert len(caught) == 1
    assert mine.attrs["unseen"] == other.attrs["unseen"] == {"doors": 432, "safety": 576}
    with pytest.raises(ValueError, match="not among the levels"):
        bn.cv(x, form(frame), dag=False, unseen="error")


@pytest.mark.slow
def test_units_of_whole_weights_in_parts_are_split(car: pd.DataFrame) -> None:
    counted = car.groupby(list(car.columns), observed=True).size().rename("n").reset_index()
    counted["n"] = counted["n"] * np.arange(1, len(counted) + 1) % 90
    x = bn.bnc("nb", "class", car, smooth=1)
    data = bn.encode(chunks(counted), weights="n")
    found = bn.cv(x, data, k=5, mean=False)
    sizes = found.attrs["cv"]
    assert sizes["test_size"] + sizes["train_size"] == counted["n"].sum()
    from bnclassify.metrics.folds import HashedFolds

    folds = HashedFolds(tuple(car.columns), 5, 7, "n")
    parts = folds.units_tested_by_folds(counted)
    assert (parts.sum(axis=1) == counted["n"]).all()
    assert ((parts > 0).sum(axis=1) > 1).mean() > 0.9  # nearly every row is in several folds
    assert np.abs(parts.sum(axis=0) / parts.sum() - 0.2).max() < 0.005
    one = counted.assign(n=1)
    assert (folds.units_tested_by_folds(one).argmax(axis=1) == folds(one)).all()
    lazy = bn.cv_predict(x, bn.encode(by_dask(counted, 3), weights="n"), k=5).compute()
    assert lazy.sum(axis=1).to_numpy() == pytest.approx(1)
    # A row whose units are in all folds has the mean of the posteriors of these folds.
    parts = HashedFolds(
        tuple(car.columns), 5, int(np.random.default_rng(0).integers(2**63)), "n"
    ).units_tested_by_folds(counted)
    expected = np.zeros(lazy.shape)
    for fold in range(5):
        rows = bn.encode(counted.drop(columns="n"), weights=(counted["n"] - parts[:, fold]).to_numpy())
        learned = bn.lp(bn.nb("class", rows), rows, smooth=1)
        expected += parts[:, [fold]] * bn.predict(learned, counted, prob=True)[lazy.columns].to_numpy()
    weighted = counted["n"].to_numpy() > 0
    weights = counted["n"].to_numpy()[weighted, None]
    np.testing.assert_allclose(lazy.to_numpy()[weighted], expected[weighted] / weights, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("divided", "size"), [(chunks, 600), (by_dask, 3)])
def test_folds_of_parts_without_rows_to_learn_from_are_nan(
    car: pd.DataFrame, divided: Any, size: int
) -> None:
    folds = np.arange(len(car)) % 3
    x = bn.bnc("nb", "class", car, smooth=1)
    frame = car.assign(fold=folds, w=np.where(folds == 1, 1.5, 0.0))
    message = "No training row has a positive weight if fold 1 is tested"
    parts = bn.encode(divided(frame, size), weights="w")
    with pytest.warns(UserWarning, match=message):
        mine = bn.cv(x, parts, folds="fold", mean=False)
    with pytest.warns(UserWarning, match=message):
        other = bn.cv(x, bn.encode(car, weights=frame["w"]), folds=folds, mean=False)
    pd.testing.assert_frame_equal(mine, other)
    assert np.isnan(mine.loc[1, 0])
    if divided is by_dask:
        with pytest.warns(UserWarning, match=message):
            lazy = bn.cv_predict(x, parts, folds="fold")
        assert (lazy.compute().isna().all(axis=1) == (folds == 1)).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.assign(a=d["a"].map({"x": "y", "y": "x"})),
        lambda d: d.assign(y=d["y"].map({"u": "v", "v": "u"})),
        lambda d: d.assign(b=None),
    ],
    ids=["labels of a feature", "labels of the class", "missing values"],
)
def test_values_that_change_between_passes_are_refused(change: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y", "y"], 300), "b": rng.choice(["p", "q"], 300)})
    frame["y"] = rng.choice(["u", "v", "v"], 300)

    def changing(first: int) -> Callable[[], Iterator[pd.DataFrame]]:
        passes: list[None] = []

        def read() -> Iterator[pd.DataFrame]:
            passes.append(None)
            return chunks(frame if len(passes) < first else change(frame))()

        return read

    with pytest.raises(ValueError, match="must not change between passes over its parts; got different val"):
        bn.bnc("tan_cl", "y", changing(3), smooth=1)
    same_model(bn.bnc("tan_cl", "y", changing(9), smooth=1), bn.bnc("tan_cl", "y", chunks(frame), smooth=1))


def test_numbers_of_parts_are_columns_that_are_numbers_in_all_of_them() -> None:
    many, few = np.arange(40) + 0.5, [0.0, 1.0] * 20
    parts = {
        "numbers in a part": (many, few),
        "few values each": (few, [2.5, 3.5] * 20),
        "codes": (few, few),
        "missing in a part": (many, [np.nan] * 40),
        "missing": ([np.nan] * 40, [np.nan] * 40),
        "text in a part": (many, ["a", "b"] * 20),
        "text": (["a", "b"] * 20, ["b", "c"] * 20),
    }
    pair = [pd.DataFrame({name: columns[i] for name, columns in parts.items()}) for i in range(2)]
    for order in (pair, pair[::-1]):
        _, found = open_data(order).data_and_default_numeric_features(list(parts), ())
        assert found == ("numbers in a part", "few values each", "missing in a part")
