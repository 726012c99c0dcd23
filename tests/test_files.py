"""Files of models: whole or not there at all, and read back as they were."""

import dataclasses
import inspect
import json
import os
import pickle
import stat
import time
import tracemalloc
from collections.abc import Mapping
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.classifiers import Network
from bnclassify.files import storage
from bnclassify.model import Model
from bnclassify.models import AODE, DN
from bnclassify.parameters import Method, fit
from bnclassify.several.multidimensional import ClassView
from bnclassify.structure import LEARNERS
from bnclassify.tools.arrays import normalize
from bnclassify.tools.immutable import StackedArrays, is_record, record

from . import stored
from .strategies import models

VERBS = {"write_bif": bn.write_bif, "save": bn.save}


@pytest.fixture(scope="module")
def model(car):
    return bn.lp(bn.nb("class", car), car, smooth=1)


# Whole or not at all


@pytest.mark.parametrize("reason", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["copymode", "replace"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_cannot_be_written_stays_as_it_was(verb, step, reason, model, tmp_path, monkeypatch):
    def fail(*arguments):
        raise reason

    (tmp_path / "x.bif").write_text("as it was")
    monkeypatch.setattr(*((storage.shutil, "copymode") if step == "copymode" else (Path, "replace")), fail)
    with pytest.raises(type(reason)):
        VERBS[verb](model, tmp_path / "x.bif")
    assert [path.name for path in tmp_path.iterdir()] == ["x.bif"]
    assert (tmp_path / "x.bif").read_text() == "as it was"


def test_a_file_is_replaced_in_its_place(model, tmp_path):
    """Links stay links, permissions what they were; a new file has those that any new file has."""
    file, link, new, usual = (tmp_path / name for name in ("file", "link", "new", "usual"))
    file.write_text("as it was")
    file.chmod(0o640)
    link.symlink_to(file)
    bn.write_bif(model, link)
    assert link.is_symlink()
    assert file.read_text().startswith("network")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    bn.write_bif(model, new)
    usual.touch()
    assert new.stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_file_is_written_to_as_it_is(verb, model, tmp_path):
    write = VERBS[verb]
    write(model, os.devnull)
    assert not Path(os.devnull).is_file()
    with pytest.raises(IsADirectoryError):
        write(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"path must be in an existing folder; got '.*absent/x.bif'"):
        write(model, tmp_path / "absent" / "x.bif")
    with pytest.raises(TypeError, match="path must be the name of a file; got 1"):
        write(model, 1)
    assert not list(tmp_path.iterdir())


# Read back as they were


def assert_same(a, b):
    """Equal in value and type, and in all that is inside; a copy of stacked arrays is a plain tuple."""
    assert type(b) is (tuple if isinstance(a, StackedArrays) else type(a))
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, Mapping):
        assert list(a) == list(b)
        assert_same(tuple(a.values()), tuple(b.values()))
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        assert not b.flags.writeable
    else:
        assert a == b


def there_and_back(x, folder):
    bn.save(x, folder / "x.json")
    back = bn.load(folder / "x.json")
    assert_same(x, back)
    assert repr(x) == repr(back)
    return back


def _ensemble(car):
    members = bn.bnc("nb", "class", car, smooth=1, wanbia=True), bn.bnc("aode", "class", car, ess=2)
    return bn.Ensemble(members, weights=(1, 3))


KINDS = {
    "nb": lambda car: bn.bnc("nb", "class", car, smooth=1),
    "of chosen features": lambda car: bn.lp(
        bn.nb("class", car, features=["doors", "safety"]), car, smooth=0.1
    ),
    "tan_cl": lambda car: bn.bnc("tan_cl", "class", car, ess=2, dag_args={"score": "aic", "root": "doors"}),
    "anb": lambda car: bn.lp(bn.anb("class", {"doors": ["safety", "maint"]}, car), car, m=1),
    "general network": lambda car: bn.lp(
        bn.from_modelstring("[doors][safety][class|safety:doors][maint|class:safety][buying]", "class"),
        car,
        smooth=1,
    ),
    "aode": lambda car: bn.bnc("aode", "class", car, smooth=1),
    "ensemble": _ensemble,
    "ensemble of structures": lambda car: bn.lp(
        bn.Ensemble([bn.tan_cl("class", car, root=root) for root in ("doors", "safety")]), car, smooth=1
    ),
    "manb": lambda car: bn.bnc("nb", "class", car, smooth=1, manb_prior=0.3),
    "awnb": lambda car: bn.bnc("tan_cl", "class", car, smooth=1, awnb_trees=3, rng=5),
    "wanbia": lambda car: bn.bnc("nb", "class", car, smooth=1, wanbia=True),
    "em": lambda car: bn.bnc(
        "tan_cl",
        "class",
        car.mask(np.random.default_rng(1).random(car.shape) < [0.1] * 6 + [0]),
        smooth=1,
        missing="em",
    ),
    "em of an ensemble": lambda car: bn.bnc("aode", "class", car, smooth=1, missing="em"),
    "search": lambda car: bn.bnc("bsej", "class", car, smooth=1, dag_args={"k": 3, "rng": 1}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_read_back_as_it_was_saved(kind, car, tmp_path):
    x = KINDS[kind](car)
    back = there_and_back(x, tmp_path)
    rows = car.mask(np.random.default_rng(0).random(car.shape) < 0.2)
    pd.testing.assert_frame_equal(
        bn.predict(x, rows, prob=True), bn.predict(back, rows, prob=True), check_exact=True
    )
    folds = bn.stratified_folds(car["class"], 2, rng=0)
    for dag in (True, False):
        expected = bn.cv(x, car, folds=folds, dag=dag, rng=3)
        assert bn.cv(back, car, folds=folds, dag=dag, rng=3) == expected


def test_structures_and_models_of_other_files(car, model, tmp_path):
    there_and_back(bn.nb("class", features=["a", "b"]), tmp_path)
    there_and_back(bn.nb("class", car), tmp_path)
    there_and_back(bn.aode("class", car), tmp_path)
    there_and_back(bn.BNC("class", (("a", "class"), ("class",))), tmp_path)
    bn.write_bif(model, tmp_path / "x.bif")
    there_and_back(bn.read_bif(tmp_path / "x.bif", "class"), tmp_path)
    with pytest.raises(ValueError, match="has no parameters"):
        bn.predict(bn.load(tmp_path / "x.json").__class__("class", (("class",),)), car)


LABELS = {
    "negative": [-1, 1], "negative fractions": [-2.5, -1.0, 0.5],
    "infinite": [float("-inf"), 0.0, float("inf")], "huge": [-(10**400), 2**63, 10**400],
    "tiny": [5e-324, 1.7976931348623157e308], "blank": ["", " ", "\t"],
    "quotes": ["'", '"', "\\", "`", "\n"], "numbers as text": ["-1", "nan", "inf", "1e400", "None"],
    "keys of files": ["kind", "shared", "number", "array"], "surrogate and NUL": ["\ud800", "\0"],
    "bools": [False, True],
    "intervals": [pd.Interval(float("-inf"), -1), pd.Interval(-1, 2), pd.Interval(2, float("inf"))],
    "tuples": [(-1, "a"), (float("-inf"), None), ((1, 2), ())],
    "long tuples": [tuple(range(-9, 0)), tuple(range(9))],
}  # fmt: skip


def labelled(labels, class_var="y", features=("a", "b")):
    """Return rows in which two features and the class have these labels, and one feature is a number."""
    rng, n = np.random.default_rng(len(labels[-1])), 80
    codes = [np.r_[np.arange(len(own)), rng.integers(len(own), size=n - len(own))] for own in labels]
    codes[1] = np.where(rng.random(n) < 0.6, codes[2] % len(labels[1]), codes[1])
    codes[1][: len(labels[1])] = np.arange(len(labels[1]))
    levels = [pd.Index(own, dtype=object, tupleize_cols=False) for own in labels]
    columns = [pd.Series(pd.Categorical.from_codes(*own)) for own in zip(codes, levels, strict=True)]
    columns.insert(2, pd.Series(rng.normal(size=n) + codes[2]))
    names = pd.Index([*features, "mass", class_var], dtype=object, tupleize_cols=False)
    return pd.concat(columns, axis=1).set_axis(names, axis=1)


def _in_two(frame):
    return frame.drop(columns="mass").assign(other=[*"uv"] * (len(frame) // 2))


MODELS = {
    "nb": lambda y, d: bn.bnc("nb", y, d, smooth=1, discretize="mdlp"),
    "tan": lambda y, d: bn.bnc("tan_cl", y, d, ess=2, discretize="quantile"),
    "merged": lambda y, d: bn.bnc("tan_cl", y, d, smooth=1, discretize="width", min_count=30),
    "backoff": lambda y, d: bn.bnc("kdb_mi", y, d, backoff=True, discretize="quantile"),
    "hc": lambda y, d: bn.bnc("hc", y, d, m=1, discretize="quantile"),
    "dn": lambda y, d: bn.bnc("chisq_dn", y, d, smooth=1, discretize="quantile", dag_args={"alpha": 0.9}),
    "aode": lambda y, d: bn.bnc("aode", y, d, smooth=1, discretize="quantile"),
    "ande": lambda y, d: bn.bnc("ande", y, d, smooth=1, discretize="quantile"),
    "a2de": lambda y, d: bn.bnc("ande", y, d, m=1, discretize="quantile", dag_args={"n": 2}),
    "waode": lambda y, d: bn.bnc("ande", y, d, m=1, discretize="quantile", dag_args={"weights": "mi"}),
    "ensemble": lambda y, d: bn.lp(
        bn.Ensemble(
            [bn.nb(y, d[[c for c in d if c != "mass"]]), bn.tan_cl(y, d.drop(columns="mass"))], (1, 2)
        ),
        d.drop(columns="mass"),
        smooth=1,
    ),
    "manb": lambda y, d: bn.bnc("nb", y, d, smooth=1, manb_prior=0.5, discretize="quantile"),
    "awnb": lambda y, d: bn.bnc("nb", y, d, smooth=1, awnb_trees=3, rng=0, discretize="quantile"),
    "wanbia": lambda y, d: bn.bnc("nb", y, d, smooth=1, wanbia=True, discretize="quantile"),
    "lazy": lambda y, d: bn.bnc("tan_cl", y, d, smooth=1, subsumption=5, discretize="quantile"),
    "em": lambda y, d: bn.bnc("nb", y, d, smooth=1, missing="em", discretize="quantile"),
    "gaussian": lambda y, d: bn.bnc("nb", y, d, smooth=1, numbers="gaussian"),
    "kernel": lambda y, d: bn.bnc("tan_cl", y, d, smooth=1, numbers="kernel"),
    "averaged": lambda y, d: bn.bnc("nb", y, d, smooth=1, discretize="averaged"),
    "power": lambda y, d: bn.bnc("aode", y, d, smooth=1, held_out="power", discretize="quantile"),
    "weights": lambda y, d: bn.bnc("nb", y, d, smooth=1, held_out="weights", discretize="quantile"),
    "default": lambda y, d: bn.bnc(class_var=y, dataset=d),
    "chain": lambda y, d: bn.lp(bn.chain([y, "other"], _in_two(d)), _in_two(d), smooth=1),
    "mbc": lambda y, d: bn.lp(bn.mbc([y, "other"], _in_two(d)), _in_two(d), smooth=1),
    "maode": lambda y, d: bn.lp(bn.maode([y, "other"], _in_two(d)), _in_two(d), smooth=1),
    "lca": lambda y, d: bn.lca("latent", d.drop(columns=["mass", y]), k=2, restarts=1, rng=0),
}


NAMES = [(-1, "a", ("a", -1)), ("y", float("inf"), ""), ("\0", -1, True), (pd.Interval(0, 1), "a", None)]
"""Names of the class and of two features."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MODELS)
def test_what_is_saved_can_be_loaded_whatever_the_labels_and_names(kind, tmp_path):
    """Each list of labels is that of a feature, of another and of the class, in different models."""
    labels, number = list(LABELS.values()), list(MODELS).index(kind)
    for i in range(number % 3, len(labels), 3):
        class_var, *features = NAMES[i % len(NAMES)]
        frame = labelled([labels[i], labels[i - 1], labels[i - 2]], class_var, features)
        there_and_back(MODELS[kind](class_var, frame), tmp_path)


odd = st.one_of(
    st.text(max_size=4),
    st.text('\ud800\udfff\n"\\{}é', max_size=3),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False).map(lambda number: number + 0.0),
)
odd_labels = st.one_of(
    st.lists(st.one_of(odd, st.tuples(odd, odd), st.none()), min_size=1, max_size=3, unique_by=repr),
    st.just([pd.Interval(0.1, 0.5), pd.Interval(0.5, 7, closed="both"), pd.Interval(1, 2)]),
)


@given(x=models(st.one_of(odd.map(str), st.sampled_from(["kind", "values", "array"])), odd_labels))
def test_any_names_and_labels_are_read_back(x, tmp_path_factory):
    there_and_back(x, tmp_path_factory.getbasetemp())


@given(
    names=st.lists(
        st.one_of(odd, st.tuples(odd, odd), st.tuples(st.tuples(odd))), min_size=2, max_size=4, unique=True
    )
)
def test_names_need_not_be_text(names, tmp_path_factory):
    there_and_back(bn.nb(names[0], features=names[1:]), tmp_path_factory.getbasetemp())


@pytest.mark.parametrize(
    "left",
    [
        {"kind": "a mapping that looks like a record", "items": (1, 2)},
        {("a", 1): {"b": [1, (2, None)]}, True: float("nan"), -1: float("-inf")},
        np.array([[1.5, np.nan], [np.inf, -np.inf]]),
        np.zeros((0, 3)),
        np.array(5),
        np.array([[True], [False]]),
        np.arange(4, dtype=np.int16),
        np.float64(0.1),
    ],
)
def test_what_learning_left_behind_is_kept(left, model, tmp_path):
    x = dataclasses.replace(model, learned={"left": left})
    bn.save(x, tmp_path / "x.json")
    found = bn.load(tmp_path / "x.json").learned["left"]
    assert repr(found) == repr(left.item() if isinstance(left, np.generic) else left)


# Every kind, every learner


def kinds(base):
    for kind in base.__subclasses__():
        if dataclasses.is_dataclass(kind) and kind.__module__.startswith("bnclassify."):
            yield kind
        yield from kinds(kind)


def test_files_hold_every_kind_of_model_and_method():
    # The base of BNC and DN, and models that are made for one question or trial, are in no file.
    found = {*kinds(Model), *kinds(Method)} - {Network, ClassView}
    assert {bn.BNC, DN, AODE, bn.Ensemble} <= found
    assert not [kind for kind in found if not is_record(kind)]


def test_files_name_every_learner():
    assert all(is_record(learner) for learner in LEARNERS.values())
    with pytest.raises(ValueError, match="records must have different names; got 'lp' twice"):

        @record
        def lp(): ...


@pytest.mark.filterwarnings("ignore:No feature improves")
@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_what_any_learner_finds_is_read_back(learner, car, tmp_path):
    """With all that it leaves behind, and so that it can be learned again."""
    some = car[::5].reset_index(drop=True)
    needed = {"anb": {"parents": {"doors": ["safety"]}}}
    searched = {"k": 3, "rng": 1} if "k" in inspect.signature(LEARNERS[learner]).parameters else {}
    x = bn.bnc(learner, "class", some, smooth=1, dag_args=needed.get(learner, searched))
    back = there_and_back(x, tmp_path)
    assert bn.cv(back, some, k=2, rng=0) == bn.cv(x, some, k=2, rng=0)


def own_learner(class_var, dataset):
    return bn.nb(class_var, dataset)


def half_uniform(counts, axis=0):
    return (normalize(counts, axis) + 1 / counts.shape[axis]) / 2


@pytest.mark.parametrize("which", ["learner", "prior"])
def test_a_file_holds_no_code(which, car, tmp_path):
    path = tmp_path / "x.json"
    if which == "learner":
        x = bn.bnc(own_learner, "class", car, smooth=1)
    else:
        x = fit(bn.nb("class", car), car, half_uniform)
    with pytest.warns(UserWarning, match=f"'{'own_learner' if which == 'learner' else 'fit'}' uses"):
        bn.save(x, path)
    back = bn.load(path)
    pd.testing.assert_frame_equal(bn.predict(x, car, prob=True), bn.predict(back, car, prob=True))
    with pytest.raises(ValueError, match=r"does not contain the code of '(own_learner|fit)'"):
        bn.cv(back, car, k=2, rng=0)
    assert bn.lp(back, car, smooth=1).fitted
    with pytest.warns(UserWarning, match="uses a function"):  # what was forgotten stays so
        bn.save(back, path)
    assert "own_learner" in path.read_text() or which == "prior"


# What cannot be saved, or understood


def test_what_cannot_be_saved_is_refused(car, model, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=r"got x.learned.left: .* of type Timestamp"):
        bn.save(dataclasses.replace(model, learned={"left": pd.Timestamp(0)}), path)
    nested = ()
    for _ in range(5_000):
        nested = (nested,)
    for label in (10**5_000, nested):
        with pytest.raises(ValueError, match="x must contain only text, numbers"):
            bn.save(dataclasses.replace(model, learned={"left": label}), path)
    with pytest.raises(ValueError, match=r"x.learned.left: array\(.* of dtype|an array of"):
        bn.save(dataclasses.replace(model, learned={"left": np.array(["a"])}), path)
    with pytest.raises(TypeError, match="x must be a model"):
        bn.save(car, path)

    class Own(bn.BNC):
        pass

    with pytest.raises(TypeError, match=r"a value of the class Own. Decorate this class with @record"):
        bn.save(Own("class", (("class",),)), path)
    assert path.read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 1


SAVED = {
    "format": "bnclassify model",
    "version": 7,
    "written_by": f"bnclassify {bn.__version__}",
    "model": {
        "kind": "BNC",
        "class_var": "y",
        "families": [["a", "y"], ["y"]],
        "levels": [["u", "v"], [1, 2]],
        "cpts": [
            {"kind": "array", "values": [[0.25, 1.0], [0.75, 0.0]]},
            {"kind": "array", "values": [0.5, 0.5]},
        ],
    },
}

NOT_UNDERSTOOD = {
    "no JSON": ('"version"', "version", "the file is damaged: .*Expecting property name"),
    "NaN": ("0.25", "NaN", "cpts must contain finite numbers from 0 to 1 only"),
    "other JSON": ("bnclassify model", "model", "must be a file written by save; got"),
    "the version before": (
        '"version": 7',
        '"version": 6',
        "has another format: the format must be version 7; got 6. Use the bnclassify that wrote the file",
    ),
    "odd version": ('"version": 7', '"version": true', "must be version 7; got True"),
    "other package": (
        f'"written_by": "bnclassify {bn.__version__}", "model": {{',
        '"written_by": "bnclassify 9.9", "model": {"new": 1, ',
        rf"written by bnclassify 9\.9, and this is bnclassify {bn.__version__}: model: BNC has no 'new'",
    ),
    "kind": ('"BNC"', '"BNCC"', "model: unknown type 'BNCC'"),
    "no kind": ('"BNC"', "7", "model: unknown type 7"),
    "function for a kind": ('"BNC"', '"lp"', "model: unknown type 'lp'"),
    "no model": ('"kind": "BNC"', '"kind_": "BNC"', "must contain a model; got"),
    "record, no model": (
        '"model": {',
        '"model": {"kind": "Dirichlet", "smooth": 1}, "more": {',
        r"must contain a model; got Dirichlet\(smooth=1\)",
    ),
    "field": ('"class_var"', '"class"', "model: BNC has no 'class'"),
    "no field": ('"class_var": "y", ', "", "model: BNC needs 'class_var'"),
    "families": (
        '[["a", "y"], ["y"]]',
        '[["a", "z"], ["y"]]',
        r"this is not a valid BNC \(.*parent 'z' of 'a'",
    ),
    "no families": ('[["a", "y"], ["y"]]', "3", r"model: this is not a valid BNC"),
    "shape": ("[0.5, 0.5]", "[0.5, 0.25, 0.25]", r"this is not a valid BNC \(.* a table of 'y' of shape"),
    "ragged": ("[0.25, 1.0]", "[0.25]", "this is not a valid array"),
    "text in numbers": ("0.25", '"a"', "this is not a valid array"),
    "sum": ("0.75", "0.75001", "the probabilities of 'a' do not sum to 1"),
    "negative": ("[0.5, 0.5]", "[1.5, -0.5]", "cpts must contain finite numbers"),
    "infinite": ("0.25", '"inf"', "cpts must contain finite numbers"),
    "dtype": ('"values": [0.5', '"dtype": "object", "values": [0.5', "an array of object"),
}


@pytest.mark.parametrize("case", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_refused(case, tmp_path):
    old, new, message = NOT_UNDERSTOOD[case]
    path, text = tmp_path / "x.json", json.dumps(SAVED)
    path.write_text(text)
    assert bn.classes(bn.load(path)) == (1, 2)
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"x\.json:? .*({message})"):
        bn.load(path)


@pytest.mark.parametrize("name", stored.MODELS)
def test_stored_files_predict_as_before(name):
    if json.loads((stored.FOLDER / f"{name}.json").read_text())["version"] != storage._VERSION:
        pytest.fail("The format has a new version: write the files again, by python -m tests.stored.")
    expected = json.loads((stored.FOLDER / "posteriors.json").read_text())[name]
    found = bn.predict(bn.load(stored.FOLDER / f"{name}.json"), stored.rows(), prob=True)["u"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_fields_of_files_change_with_the_version_only():
    state = json.loads((stored.FOLDER / "fields.json").read_text())
    now, remedy = stored.fields_of_records(), "raise the version, and run python -m tests.stored"
    assert state["version"] == storage._VERSION, remedy
    for name, fields in state["fields"].items():
        assert set(fields) <= set(now.get(name, {})), f"{name} lacks fields: {remedy}"
        new = [field for field, has_default in now[name].items() if field not in fields and not has_default]
        assert not new, f"{name} needs {new}, which files lack: give defaults, or {remedy}"


def test_shared_values_of_another_type_are_refused(tmp_path):
    path = tmp_path / "x.json"
    saved = json.loads((stored.FOLDER / "scorecard.json").read_text())
    for position in range(len(saved["shared"])):
        for value in ("", 0, [], {}):
            shared = [*saved["shared"][:position], value, *saved["shared"][position + 1 :]]
            path.write_text(json.dumps(saved | {"shared": shared}))
            with pytest.raises(ValueError, match=r"x\.json: the file is damaged"):
                bn.load(path)


@pytest.mark.parametrize("dtype", ["float64", "uint8", "int64", "float32", "bool"])
def test_large_arrays_are_written_as_bytes(dtype, tmp_path):
    path = tmp_path / "x.json"
    values = np.arange(5_001).reshape(3, 1_667) % 2
    model = dataclasses.replace(bn.from_modelstring("[y]", "y"), learned={"values": values.astype(dtype)})
    bn.save(model, path)
    found = bn.load(path).learned["values"]
    np.testing.assert_array_equal(found, values.astype(dtype))
    assert found.dtype == dtype
    written = json.loads(path.read_text())["model"]["learned"]["values"]
    assert len(written["base64"]) == 4 * -(-found.nbytes // 3)
    for change in ({"shape": [3, 1_668]}, {"base64": "A"}, {"base64": "é"}, {"base64": 3}, {"dtype": "O"}):
        damaged(model, path, lambda saved, change=change: saved["learned"]["values"].update(change))
        with pytest.raises(ValueError, match="the file is damaged"):
            bn.load(path)


def test_files_of_others_are_refused(model, tmp_path):
    path = tmp_path / "x.bif"
    bn.write_bif(model, path)
    with pytest.raises(ValueError, match=r"file written by save; got .* Use read_bif for files of write_bif"):
        bn.load(path)
    path.write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(ValueError, match="must be a file written by save"):
        bn.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="must be a file written by save"):
        bn.load(path)
    with pytest.raises(FileNotFoundError):
        bn.load(tmp_path / "absent")


def damaged(x, path, change):
    """Save a model with something changed."""
    bn.save(x, path)
    saved = json.loads(path.read_text())
    change(saved["model"])
    path.write_text(json.dumps(saved))


def put(value, *keys):
    def change(model):
        for key in keys[:-1]:
            model = model[key]
        model[keys[-1]] = value

    return change


def array(values, **more):
    return {"kind": "array", "values": values, **more}


def points(cell, weight):
    cells = array([0, cell], dtype="int64")
    content = {"values": array([0.5, 1.0]), "cells": cells, "weights": array([1, weight])}
    return {"kind": "Points", "shape": [2], **content}


DAMAGES = {
    "repeated level": ("nb", put(["low", "low", "high"], "levels", 5)),
    "level that is a mapping": ("nb", put({"low": 1}, "levels", 5, 0)),
    "negative pseudo-count": ("nb", put(-1, "learned", "counts", "prior", "smooth")),
    "recipe": ("nb", put(0, "recipe")),
    "settings": ("nb", put([1], "recipe", "parameters", "settings")),
    "name of a feature": ("nb", put("", "families", 1, 0)),
    "number for text": ("nb", put(1, "recipe", "parameters", "function")),
    "learned": ("nb", put(1, "learned")),
    "negative counts": ("ande", put({"kind": "array", "values": [-1, 1, 1, 1]}, "counts", "classes")),
    "power nan": ("powered", put({"kind": "number", "value": "nan"}, "power")),
    "power inf": ("powered", put({"kind": "number", "value": "inf"}, "power")),
    "base that is no model": ("powered", put(-1, "base")),
    "huge powers": ("weighted", put([-1e7] * 7, "powers")),
    "discretizer": ("raw", put({}, "recipe", "preparation", "discretizer")),
    "cut points": ("raw", put([["a"]], "recipe", "preparation", "discretizer", "points")),
    "other cut points": ("raw", put([[99.5]], "recipe", "preparation", "discretizer", "points")),
    "ranges of cut points": ("raw", put([[1.0]], "recipe", "preparation", "discretizer", "ranges")),
    "range without a number": ("raw", put([[[], 1.0]], "recipe", "preparation", "discretizer", "ranges")),
    "means of cut points": ("raw", put([[1.0]], "recipe", "preparation", "discretizer", "means")),
    "order of cut points": ("raw", put([[99.5, -1e300]], "recipe", "preparation", "discretizer", "points")),
    "negative variance": ("gaussian", put(-1e300, "densities", "mass", "variance", "values", 0)),
    "negative bandwidth": ("kernel", put(-1, "densities", "mass", "bandwidth", "values", 0)),
    "cell of a kernel": ("kernel", put(points(-1, 1.0), "densities", "mass", "by_class")),
    "weight of a kernel": ("kernel", put(points(1, -1.0), "densities", "mass", "by_class")),
    "features of fading": ("weighted", put(array([1.0]), "fading", "usual")),
    "slope of fading": ("weighted", put(4.6e18, "fading", "slope")),
    "counts that are numbers": ("nb", put([1.0] * 7, "learned", "counts", "counts")),
    "negative count": ("nb", put(-1, "learned", "counts", "counts", 0, "values", 0, 0)),
    "fewer counts": ("nb", put([], "learned", "counts", "counts")),
    "counts of another shape": ("nb", put([[1, 2]], "learned", "counts", "counts", 0, "values")),
    "weight of a class": ("nb", put(-1, "recipe", "rows", "classes", 0, 0, 1)),
    "negative size": ("nb", put(-5, "recipe", "rows", "size")),
    "priors of members": ("averaged", put([1], "priors", "values")),
    "weights of members": ("ensemble", put([1, {"kind": "number", "value": "nan"}], "weights")),
}


@pytest.fixture(scope="module")
def damageable(car):
    mass = np.random.default_rng(0).normal(size=300)
    raw = pd.DataFrame({"mass": mass, "kind": np.where(mass > 0, "a", "b")})
    return {
        "nb": bn.bnc("nb", "class", car, smooth=1),
        "ande": bn.bnc("ande", "class", car, smooth=1),
        "powered": bn.bnc("aode", "class", car, smooth=1, held_out="power"),
        "weighted": bn.bnc("nb", "class", car, backoff=True, held_out="weights"),
        "raw": bn.bnc("nb", "kind", raw, smooth=1, discretize="mdlp", min_count=2),
        "gaussian": bn.bnc("nb", "kind", raw, smooth=1, numbers="gaussian"),
        "kernel": bn.bnc("nb", "kind", raw, smooth=1, numbers="kernel"),
        "em": bn.bnc("nb", "class", car, smooth=1, missing="em"),
        "averaged": bn.bnc("aode", "class", car, smooth=1),
        "ensemble": _ensemble(car),
    }


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_in_any_field_is_found(damage, damageable, tmp_path):
    kind, change = DAMAGES[damage]
    path = tmp_path / "x.json"
    damaged(damageable[kind], path, lambda model: None)
    assert repr(bn.load(path)) == repr(damageable[kind])
    damaged(damageable[kind], path, change)
    with pytest.raises(ValueError, match=r"x\.json: the file is damaged") as caught:
        bn.load(path)
    assert len(str(caught.value)) < 400 + len(str(path))


def misshapen(values):
    """Arrays with the numbers of another one, or none, in another shape."""
    yield {"kind": "array", "shape": [0, 5], "values": []}
    yield {"kind": "array", "shape": [2, 7, 0], "values": []}
    for other in (values[:-1], values + values[:1], [values, values]):
        yield {"kind": "array", "values": other}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["default", "raw", "powered", "ande"])
def test_arrays_of_another_shape_change_nothing(kind, damageable, tmp_path):
    """A file with such an array is refused, unless nothing is computed from it."""
    path, rng = tmp_path / "x.json", np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(
        d=rng.choice(list("pqr"), 200)
    )
    frame["y"] = np.where(frame["a"] * frame["b"] + frame["c"] + rng.normal(size=200) > 0, "u", "v")
    x = bn.bnc(class_var="y", dataset=frame) if kind == "default" else damageable[kind]
    bn.save(x, path)
    text = path.read_text()
    rows = pd.DataFrame({v: [*labels[:1]] or [0.0] for v, labels in bn.values(x).items()})
    rows = {"default": frame.head(9), "raw": pd.DataFrame({"mass": [0.5, -3.0]})}.get(kind, rows)
    expected, refused = bn.predict(x, rows, prob=True), 0
    places = [place for place in leaves(json.loads(text)["model"]) if place[-2:-1] == ("values",)]
    for place in sorted({place[: place.index("values")] for place in places}, key=str):
        for other in misshapen(reduce(lambda at, key: at[key], place, json.loads(text)["model"])["values"]):
            saved = json.loads(text)
            put(other, *place)(saved["model"])
            path.write_text(json.dumps(saved))
            try:
                loaded = bn.load(path)
            except ValueError as error:
                refused += "the file is damaged" in str(error)
                continue
            pd.testing.assert_frame_equal(bn.predict(loaded, rows, prob=True), expected)
    assert refused > len(places) // 4


def test_negative_powers_are_kept(tmp_path):
    frame = pd.DataFrame({"a": list("0011") * 10, "b": list("0101") * 10, "c": list("uvvu") * 10})
    for how in ({"held_out": "power"}, {"held_out": "weights"}):
        x = bn.bnc("nb", "c", frame, smooth=1, **how)
        assert bn.loo_summary(x)["power"] < -1
        bn.save(x, tmp_path / "x.json")
        assert bn.predict(bn.load(tmp_path / "x.json"), frame, prob=True).equals(
            bn.predict(x, frame, prob=True)
        )


def leaves(written, *keys):
    """Yield the place of each value in JSON, of the first two elements of lists."""
    yield keys
    pairs = enumerate(written[:2] if isinstance(written, list) else ())
    for key, item in written.items() if isinstance(written, dict) else pairs:
        yield from leaves(item, *keys, key)


@pytest.mark.parametrize("kind", ["nb", "ande", "powered", "weighted", "raw", "em", "ensemble"])
def test_no_damage_leads_to_other_errors(kind, damageable, car, tmp_path):
    """Whatever stands in a place, loading raises a ValueError or returns a model that can be used."""
    path, rng = tmp_path / "x.json", np.random.default_rng(0)
    bn.save(damageable[kind], path)
    text = path.read_text()
    places = list(leaves(json.loads(text)["model"]))[1:]
    for i in rng.permutation(len(places))[:24]:
        saved = json.loads(text)
        odd = [0, -1, "a", -0.5, [], {}, 1e308, [[]], True][rng.integers(9)]
        put(odd, *places[i])(saved["model"])
        path.write_text(json.dumps(saved))
        try:
            x = bn.load(path)
        except ValueError:
            continue
        assert repr(x)
        rows = pd.DataFrame({name: [None] for name in x.features})
        assert bn.predict(x, rows, prob=True).to_numpy().sum() == pytest.approx(1)


def test_an_averaged_model_is_the_same_to_the_last_bit_and_no_larger(tmp_path):
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame({f"t{i}": rng.integers(40, size=n).astype(str) for i in range(10)})
    frame["mass"] = rng.normal(size=n)
    frame["y"] = np.where(frame["mass"] + rng.normal(size=n) > 0, "u", "v")
    x = bn.bnc("nb", "y", frame, discretize="averaged", smooth=1)
    path = tmp_path / "x.json"
    bn.save(x, path)
    back = bn.load(path)
    assert bn.predict(back, frame, prob=True).equals(bn.predict(x, frame, prob=True))
    assert path.stat().st_size < 4 * len(pickle.dumps(x))
    bn.save(back, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == path.read_text()


def test_hostile_files_are_refused_before_much_is_built(tmp_path):
    path = tmp_path / "x.json"
    for text in ("[" + "1," * 5_000_000 + "1]", " " * 20_000_000, '{"a": ' * 1_000_000):
        path.write_text(text)
        start = time.process_time()
        with pytest.raises(ValueError, match="must be a file written by save") as caught:
            bn.load(path)
        assert time.process_time() - start < 0.5
        assert len(str(caught.value)) < 200 + len(str(path))
    header = json.dumps({key: SAVED[key] for key in ("format", "version", "written_by")})
    header = header[:-1] + ', "model": '
    path.write_text(header + "[" + "1," * 500_000 + "1]}")
    tracemalloc.start()
    with pytest.raises(ValueError, match="must contain a model"):
        bn.load(path)
    # the bytes, the text and its JSON, 8 bytes per 2 of the file, and nothing made of it
    assert tracemalloc.get_traced_memory()[1] < 6 * path.stat().st_size
    tracemalloc.stop()
    shared = ["low"]
    for number in range(40):
        one = {"kind": "shared", "number": number}
        shared.append({"kind": "list", "items": [one, one]})
    model = {**SAVED["model"], "learned": {"x": {**one, "number": 40}}}
    path.write_text(f'{header}{json.dumps(model)}, "shared": {json.dumps(shared)}}}')
    with pytest.raises(ValueError, match="the file is damaged"):
        bn.load(path)
    for depth in (100, 500, 990, 5_000):
        path.write_text(header + "[" * depth + "]" * depth + "}")
        with pytest.raises(ValueError, match=r"x\.json") as caught:
            bn.load(path)
        assert len(str(caught.value)) < 200 + len(str(path))
    cycle = {"kind": "shared", "number": 0}
    within_itself = {"kind": "Ensemble", "members": [cycle, cycle]}
    path.write_text(f'{header}{json.dumps(cycle)}, "shared": [{json.dumps(within_itself)}]}}')
    with pytest.raises(ValueError, match="the file is damaged"):
        bn.load(path)


@given(
    start=st.integers(0, 900), length=st.integers(0, 30), insert=st.text('{}[]",:0.1e-naulkid', max_size=4)
)
def test_a_damaged_file_is_read_or_refused(start, length, insert, tmp_path_factory):
    """Whatever is cut out or put in: a model that predicts, or an error that names the file."""
    path, text = tmp_path_factory.getbasetemp() / "damaged.json", json.dumps(SAVED)
    path.write_text(text[:start] + insert + text[start + length :])
    message = ""
    try:
        x = bn.load(path)
        if x.fitted:
            assert bn.predict(x, pd.DataFrame({name: [None] for name in bn.features(x)}), prob=True).shape[0]
    except ValueError as error:
        message = str(error)
    assert not message or "damaged.json" in message


@pytest.mark.parametrize("shared", [None, 3, {}, "x", True])
def test_shared_values_that_are_no_list_are_refused(tmp_path, shared):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**SAVED, "shared": shared}))
    with pytest.raises(ValueError, match="shared must be a list; got"):
        bn.load(path)
