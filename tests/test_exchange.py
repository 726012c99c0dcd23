"""Models in other libraries and in files."""

import pickle
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import examples, frames, models, networks, smooths

# What every reader of the format takes for a word.
words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(
    lambda word: word not in {
        "network", "variable", "probability", "property", "type", "discrete", "default", "table",
    }
)  # fmt: skip
names = st.one_of(words, st.from_regex(r"[\w.-]{1,6}", fullmatch=True))
texts = st.one_of(
    words,
    st.sampled_from(["low risk", "<=50K", "größe", "10-20", "1.5", "a:b", "[0-1]", "é è", "|"]),
    st.sampled_from(["default", "table", "property", "'", "\\", "#%", "a/b", "*", "0", "True"]),
)


def some(label, min_size=1):
    return st.lists(label, min_size=min_size, max_size=3, unique=True)


labels = st.one_of(some(texts, min_size=2), some(words))


@pytest.fixture(scope="module")
def car_models(car):
    two = {"maint": ["buying"], "safety": ["persons", "lug_boot"], "doors": ["maint", "buying"]}
    structures = {
        "nb": bn.nb("class", car),
        "tan_cl": bn.tan_cl("class", car, score="aic"),
        "two parents": bn.anb("class", two, car),
    }
    return {name: bn.lp(structure, car, smooth=1) for name, structure in structures.items()}


def incomplete(frame, rng, rows):
    """Some rows, the first half of them complete."""
    chosen = frame.iloc[rng.integers(len(frame), size=rows)].reset_index(drop=True)
    gaps = rng.random(chosen.shape) < 0.4
    gaps[: rows // 2] = False
    return chosen.mask(pd.DataFrame(gaps, columns=chosen.columns))


def evidence(x, row):
    return {name: row[name] for name in bn.features(x) if not pd.isna(row[name])}


def pgmpy_posteriors(network, x, rows):
    inference = load_pgmpy("pgmpy.inference").VariableElimination(network)
    target = bn.class_var(x)
    results = []
    for _, row in rows.iterrows():
        answer = inference.query([target], evidence=evidence(x, row), show_progress=False)
        assert answer.state_names[target] == list(bn.classes(x))
        results.append(answer.values)
    return np.array(results)


def pyagrum_posteriors(network, x, rows):
    inference = load_pyagrum().LazyPropagation(network)
    target = str(bn.class_var(x))
    assert network.variable(target).labels() == tuple(map(str, bn.classes(x)))
    results = []
    for _, row in rows.iterrows():
        inference.setEvidence({str(name): str(label) for name, label in evidence(x, row).items()})
        inference.makeInference()
        results.append(inference.posterior(target).toarray().ravel())
    return np.array(results)


def load_pgmpy(module="pgmpy"):
    return pytest.importorskip(module, reason="pgmpy is not installed; the extra exchange has it")


def load_pyagrum():
    return pytest.importorskip("pyagrum", reason="pyAgrum is not installed; the extra exchange has it")


def load_networkx():
    return pytest.importorskip("networkx", reason="NetworkX is not installed; the extra exchange has it")


# Objects of other libraries


def test_networkx_has_the_graph_and_what_is_known(car):
    networkx = load_networkx()
    fitted = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    for x in (bn.anb("class", {"b": ["a"], "c": ["a", "b"]}), bn.tan_cl("class", car), fitted):
        graph = bn.to_networkx(x)
        assert networkx.is_directed_acyclic_graph(graph)
        assert tuple(graph.nodes) == x.variables
        assert graph.graph == {"class_var": "class"}
        for variable, family in bn.families(x).items():
            assert tuple(graph.predecessors(variable)) == family[1:]
            node = graph.nodes[variable]
            assert node["kind"] == ("class" if variable == "class" else "feature")
            assert ("levels" in node) == (x.levels is not None)
            assert ("cpt" in node) == (x.cpts is not None)
    assert graph.nodes["safety"]["levels"] == ("low", "med", "high")
    pd.testing.assert_frame_equal(graph.nodes["safety"]["cpt"], bn.cpt(fitted, "safety"))


def check_posteriors(library, x, rows):
    """Compare the posteriors of another library with those of `predict`, and return its network."""
    pytest.importorskip(library, reason=f"{library} is not installed; the extra exchange has it")
    network = getattr(bn, f"to_{library}")(x)
    compute = {"pgmpy": pgmpy_posteriors, "pyagrum": pyagrum_posteriors}[library]
    found, expected = compute(network, x, rows), bn.predict(x, rows, prob=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    return network


@pytest.mark.parametrize("library", ["pgmpy", "pyagrum"])
def test_other_libraries_compute_the_same_posteriors(library, car, car_models):
    check_posteriors(library, car_models["two parents"], incomplete(car, np.random.default_rng(1), 16))


@pytest.mark.parametrize("library", ["pgmpy", "pyagrum"])
@examples(10)
@given(data=st.data(), frame=frames(missing=0.3), smooth=smooths)
def test_other_libraries_compute_the_same_for_random_structures(library, data, frame, smooth):
    check_posteriors(library, bn.lp(data.draw(networks(frame)), frame, smooth=smooth), frame.head(4))


@pytest.fixture
def odd():
    """A model with names and labels that are numbers, bools and anything but words."""
    rng = np.random.default_rng(3)
    rows = 40
    frame = pd.DataFrame(
        {
            "a name, with signs": rng.choice(["x y", "x, y", '"', "é"], rows),
            7: rng.integers(3, size=rows),
            "yes": rng.random(rows) < 0.5,
            "cut": pd.cut(rng.random(rows), 3),
            "y": rng.choice([0, 1], rows),
        }
    )
    structure = bn.anb("y", {7: ["a name, with signs"], "cut": ["yes", 7]}, frame)
    return bn.lp(structure, frame, smooth=1), frame


@pytest.mark.filterwarnings("ignore:.*labels that differ only in punctuation")
def test_pgmpy_keeps_names_and_labels(odd):
    x, frame = odd
    network = check_posteriors("pgmpy", x, frame.head(8))
    assert set(network.nodes) == set(x.variables)
    for name, labels in bn.values(x).items():
        assert network.get_cpds(name).state_names[name] == list(labels)


@pytest.mark.filterwarnings("ignore:.*labels that differ only in punctuation")
def test_pyagrum_has_names_and_labels_as_text(odd):
    network = check_posteriors("pyagrum", *odd)
    assert set(network.names()) == {"a name, with signs", "7", "yes", "cut", "y"}
    assert network.variable("yes").labels() == ("False", "True")


def test_class_alone():
    load_pgmpy(), load_pyagrum(), load_networkx()
    frame = pd.DataFrame({"y": ["a", "b", "b", "b"]})
    x = bn.lp(bn.nb("y", frame, features=[]), frame, smooth=0)
    assert list(bn.to_networkx(x)) == ["y"]
    assert bn.to_pgmpy(x).get_cpds("y").get_values().ravel().tolist() == [0.25, 0.75]
    assert bn.to_pyagrum(x).cpt("y").tolist() == [0.25, 0.75]


@pytest.mark.parametrize("library", ["networkx", "pgmpy", "pyagrum"])
def test_without_the_library(library, car_models, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{library}.*pip install --upgrade {library.lower()}"):
        getattr(bn, f"to_{library}")(car_models["nb"])


def test_with_an_old_library(car_models, monkeypatch):
    for module in ("pgmpy", "pgmpy.models"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    with pytest.raises(ImportError, match=r"with DiscreteBayesianNetwork; got: .* Run pip install --upg"):
        bn.to_pgmpy(car_models["nb"])


# Files


def assert_same(x, y):
    assert x.families == y.families
    assert x.levels == y.levels
    assert_same_tables(x, y)


def assert_same_tables(x, y):
    for a, b in zip(x.cpts, y.cpts, strict=True):
        assert np.array_equal(a, b)
        assert not b.flags.writeable


@given(x=models(names, labels))
def test_a_file_is_read_back_as_it_was_written(x, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "round.bif"
    bn.write_bif(x, path)
    assert_same(x, bn.read_bif(str(path), bn.class_var(x)))


def test_a_file_looks_as_bnlearn_reads_it(tmp_path):
    """Line breaks and spaces stand where its reader, which reads by lines, looks for them."""
    frame = pd.DataFrame({"a": ["n", "y"] * 2, "b": [0, 1, 1, 1], "c": ["u", "u", "v", "v"]})
    x = bn.lp(bn.anb("c", {"b": ["a"]}, frame), frame, smooth=0)
    bn.write_bif(x, tmp_path / "abc.bif")
    assert (
        (tmp_path / "abc.bif").read_bytes().decode()
        == """network unknown {
}
variable a {
  type discrete [ 2 ] { n, y };
}
variable b {
  type discrete [ 2 ] { 0, 1 };
}
variable c {
  type discrete [ 2 ] { u, v };
}
probability ( a | c ) {
  (u) 0.5, 0.5;
  (v) 0.5, 0.5;
}
probability ( b | a, c ) {
  (n, u) 1.0, 0.0;
  (n, v) 0.0, 1.0;
  (y, u) 0.0, 1.0;
  (y, v) 0.0, 1.0;
}
probability ( c ) {
  table 0.5, 0.5;
}
"""
    )


@given(x=models(words, some(st.one_of(words, st.integers().map(str)), min_size=2)))
def test_pyagrum_reads_what_is_written(x, tmp_path_factory):
    pyagrum = load_pyagrum()
    path = str(tmp_path_factory.getbasetemp() / "pyagrum.bif")
    bn.write_bif(x, path)
    network = pyagrum.loadBN(path)
    assert set(network.names()) == set(x.variables)
    for family, table in zip(x.families, x.cpts, strict=True):
        there = network.cpt(family[0])
        assert network.variable(family[0]).labels() == bn.values(x)[family[0]]
        assert set(there.names) == set(family)
        axes = [there.names[::-1].index(member) for member in family]
        # pyAgrum reads numbers as 32 bits.
        np.testing.assert_allclose(there.toarray().transpose(axes), table, rtol=1e-6, atol=1e-37)


@pytest.mark.slow
def test_pgmpy_reads_what_is_written(tmp_path):
    pytest.importorskip(
        "pgmpy", minversion="1.1", reason="needs pgmpy 1.1, whose reader knows more than words"
    )
    readwrite = load_pgmpy("pgmpy.readwrite")
    x = bn.anb("größe", {"b.c": ["a-b"]}, features=["a-b", "b.c"])
    levels = ("low risk", "<=50K"), ("table", "1.5", "a:b"), ("10-20", "[0-1]")
    rng = np.random.default_rng(4)
    tables = (
        rng.dirichlet([1, 1], size=2).T,
        np.moveaxis(rng.dirichlet([1, 1e-3, 1], size=(2, 2)), -1, 0),
        np.array([0.25, 0.75]),
    )
    x = replace(x, levels=levels, cpts=tables)
    bn.write_bif(x, tmp_path / "odd.bif")
    network = readwrite.BIFReader(str(tmp_path / "odd.bif")).get_model()
    for family, table in zip(x.families, x.cpts, strict=True):
        there = network.get_cpds(family[0])
        assert tuple(there.variables) == family
        assert there.state_names == {member: list(bn.values(x)[member]) for member in family}
        np.testing.assert_array_equal(there.values, table)


def test_what_pgmpy_writes_is_read(car, car_models, tmp_path):
    readwrite = load_pgmpy("pgmpy.readwrite")
    x = car_models["two parents"]
    (tmp_path / "car.bif").write_text(str(readwrite.BIFWriter(bn.to_pgmpy(x))))
    back = bn.read_bif(tmp_path / "car.bif", "class")
    assert bn.values(back) == bn.values(x)
    # pgmpy sorts the variables by name.
    assert bn.features(back) == tuple(sorted(bn.features(x)))
    assert bn.families(back) == bn.families(x)
    np.testing.assert_allclose(
        bn.predict(back, car, prob=True), bn.predict(x, car, prob=True), rtol=0, atol=1e-12
    )


@given(x=models(words, some(words, min_size=2)))
def test_what_pyagrum_writes_is_read(x, tmp_path_factory):
    load_pyagrum()
    path = str(tmp_path_factory.getbasetemp() / "pyagrum.bif")
    bn.to_pyagrum(x).saveBIF(path)
    back = bn.read_bif(path, bn.class_var(x))
    assert bn.families(back) == bn.families(x)
    assert bn.values(back) == bn.values(x)
    for name, table in bn.params(back).items():
        np.testing.assert_allclose(table, bn.params(x)[name], rtol=1e-5, atol=1e-300)


DOG = """
/* After the dog problem of JavaBayes; class "family out".
   network is no keyword here: variable x { */
network "Dog-LogisticProblem" { // 3 variables
  property "credal-set constant-density-bounded 1.1" ;
  property author = Charniak; }
variable  "light-on" { // 2 values
  type discrete[2] {  "true"  "false" };
  property "position = (218, 195); or // so" ;
}
probability ( "family-out" ) { table 0.15 0.85; }
variable  dog-out { property p = 1; type discrete [ 3 ] = { yes, no way, "per, haps" }; }
variable  "family-out" { type discrete[2] { "true" "false" };
}
probability (  light-on  family-out ) {
  table 0.6 0.05 0.4 0.95 ;
}
probability ( dog-out | "family-out" light-on ) {
  property why = because;
  default 0.5, 0.25, 0.25;
  (true, false) 0.1 0.2 0.7;
  ("false" true) 1e-3, .999, 0;
}
"""


def test_a_file_in_the_style_of_the_first_programs(tmp_path):
    path = tmp_path / "dog.bif"
    path.write_text(DOG)
    x = bn.read_bif(path, "family-out")
    assert bn.families(x) == {
        "light-on": ("light-on", "family-out"),
        "dog-out": ("dog-out", "light-on", "family-out"),
        "family-out": ("family-out",),
    }
    assert bn.values(x)["dog-out"] == ("yes", "no way", "per, haps")
    assert bn.params(x)["light-on"].tolist() == [[0.6, 0.05], [0.4, 0.95]]
    dog = bn.params(x)["dog-out"]
    assert dog[:, 0, 0].tolist() == dog[:, 1, 1].tolist() == [0.5, 0.25, 0.25]
    assert dog[:, 1, 0].tolist() == [0.1, 0.2, 0.7]
    assert dog[:, 0, 1].tolist() == [0.001, 0.999, 0]


def test_rounded_probabilities_are_made_to_sum_to_1(tmp_path):
    path = tmp_path / "x.bif"
    path.write_text(CLINIC.replace("0.9, 0.1", "0.33, 0.66"))
    np.testing.assert_allclose(bn.params(bn.read_bif(path, "ill"))["ill"], [1 / 3, 2 / 3], rtol=1e-15)


CLINIC = """network clinic {
}
variable ill {
  type discrete [ 2 ] { no, yes };
}
variable test {
  type discrete [ 2 ] { neg, pos };
}
probability ( ill ) {
  table 0.9, 0.1;
}
probability ( test | ill ) {
  (no) 0.95, 0.05;
  (yes) 0.2, 0.8;
}
"""

MALFORMED = {
    "no network": ("network clinic", "nets clinic", 1, "must be network NAME {.*got 'nets clinic {'"),
    "unknown block": ("variable test", "varable test", 6, "must be variable or probability; got 'varable"),
    "not discrete": ("type discrete", "type continuous", 4, "must be type discrete"),
    "unclosed": ("  type discrete [ 2 ] { neg, pos };\n}", "", 8, "must be type discrete .*got 'probability"),
    "number of labels": ("{ neg, pos }", "{ neg, pos, none }", 6, "must be 2 labels; got 'neg, pos, none'"),
    "equal labels": ("neg, pos", "neg, neg", 6, "'test' must have labels that differ; got 'neg' twice"),
    "no labels": ("[ 2 ] { neg, pos }", "[ 0 ] { }", 6, "'test' must have at least one label; got none"),
    "twice declared": ("variable test", "variable ill", 6, "'ill' is declared twice"),
    "no such variable": ("test | ill", "test | il", 12, "must be declared .*got 'il'. Did you mean 'ill'?"),
    "parent twice": ("test | ill", "test | ill, ill", 12, "must be different variables"),
    "no parents": ("( test | ill )", "( test )", 13, r"must be no labels without parents; got \(no\)"),
    "no such label": ("(yes)", "(maybe)", 14, r"must be a label of each of 'ill'; got \(maybe\)"),
    "too many labels": ("(yes)", "(yes, no)", 14, r"must be a label of each of 'ill'; got \(yes, no\)"),
    "number of Python": ("0.95, 0.05", "0.9_5, 0.05", 13, "must be a probability; got '0.9_5'"),
    "number of another script": (
        "0.95, 0.05",
        "0.95, \u0660.05",
        13,
        "must be a probability; got '\u0660.05'",
    ),
    "sum beyond rounding": ("0.95, 0.05", "0.9615, 0.05", 12, "sum to 1; got a sum of 1.0115"),
    "number of numbers": ("0.95, 0.05", "0.95, 0.04, 0.01", 13, "must be 2 probabilities; got 3"),
    "no number": ("0.95", "O.95", 13, "must be a probability; got 'O.95'"),
    "negative": ("0.95, 0.05", "1.05, -0.05", 13, "must be a probability; got '-0.05'"),
    "not finite": ("0.95", "nan", 13, "must be a probability; got 'nan'"),
    "no semicolon": ("0.05;", "0.05", 13, r"must be \(LABEL"),
    "row missing": ("  (yes) 0.2, 0.8;\n", "", 12, r"'test' for \(yes\) that sum to 1; got none"),
    "row twice": ("(yes)", "(no)", 14, r"the probabilities for \(no\) are given twice"),
    "sum": ("0.95", "0.9", 12, r"of 'test' for \(no\) that sum to 1; got a sum of 0.95"),
    "sum without parents": ("0.9, 0.1", "0.9, 0.2", 9, "of 'ill' that sum to 1; got a sum of 1.1"),
    "end": ("(yes) 0.2, 0.8;\n}", "(yes) 0.2, 0.8;", 15, "got 'the end of the file'"),
    "header": ("( test | ill ) {", "test | ill {", 12, r"must be \( NAME \| PARENT"),
    "level count": ("[ 2 ] { no", f"[ {'9' * 5000} ] {{ no", 4, "must be type discrete"),
    "table twice": ("table 0.9, 0.1;", "table 0.9, 0.1; table 1, 0;", 10, "of 'ill' are given twice"),
    "table after a row": ("  (yes)", "  table 1, 1, 0, 0;\n  (yes)", 14, "of 'test' are given twice"),
    "row after a table": ("  (no)", "  table 1, 1, 0, 0;\n  (no)", 14, r"for \(no\) are given twice"),
    "probabilities twice": (
        "(yes) 0.2, 0.8;\n}",
        "(yes) 0.2, 0.8;\n} probability ( ill ) { table 0.5 0.5; }",
        15,
        "the probabilities of 'ill' are given twice",
    ),
    "unclosed comment": ("table 0.9", "/* table 0.9", 10, r"must be \*/ at the end of the comment"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files(case, tmp_path):
    old, new, line, message = MALFORMED[case]
    assert old in CLINIC
    path = tmp_path / "x.bif"
    path.write_text(CLINIC.replace(old, new))
    with pytest.raises(ValueError, match=rf"x\.bif, line {line}: .*({message})"):
        bn.read_bif(path, "ill")


@given(
    text=st.sampled_from([CLINIC, DOG]),
    start=st.integers(0, 1000),
    length=st.integers(0, 30),
    insert=st.text('{}()[];,|"/*\n 0.1xil-', max_size=4),
)
def test_a_damaged_file_is_read_or_refused(text, start, length, insert, tmp_path_factory):
    """Whatever is cut out or put in: a network whose tables sum to 1, or an error that names the file."""
    path = tmp_path_factory.getbasetemp() / "damaged.bif"
    path.write_text(text[:start] + insert + text[start + length :])
    message = ""
    try:
        x = bn.read_bif(path, "ill" if text == CLINIC else "family-out")
        for table in bn.params(x).values():
            np.testing.assert_allclose(table.sum(axis=0), 1)
    except (ValueError, KeyError) as error:
        message = str(error)
    assert not message or "damaged.bif" in message


def test_a_default_is_for_what_no_row_gives(tmp_path):
    path = tmp_path / "x.bif"
    for rows in ("(no) 0.95, 0.05; default 0.2, 0.8;", "default 0.2, 0.8; (no) 0.95, 0.05;"):
        path.write_text(CLINIC.replace("(no) 0.95, 0.05;\n  (yes) 0.2, 0.8;", rows))
        assert bn.params(bn.read_bif(path, "ill"))["test"].tolist() == [[0.95, 0.2], [0.05, 0.8]]


@pytest.mark.parametrize("n", [45, 700])
def test_a_table_too_large_is_refused_before_it_is_made(n, tmp_path):
    names = [f"v{i}" for i in range(n)]
    text = CLINIC + "".join(f"variable {name} {{ type discrete [ 2 ] {{ u, v }}; }}\n" for name in names)
    path = tmp_path / "x.bif"
    path.write_text(text + f"probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}")
    with pytest.raises(ValueError, match=rf"x\.bif, line {16 + n}: the table of 'v0' would have .* cells"):
        bn.read_bif(path, "ill")


SPACE = " " * 200_000


@pytest.mark.parametrize(
    "place", ["[ 2 ]", "no, yes", "( ill )", "(no)", "0.9, 0.1", "0.05;", "test | ill", "type", "clinic"]
)
@pytest.mark.parametrize("junk", [SPACE, SPACE + "x", SPACE + "{", SPACE + '"', "/*" + "/* " * 50_000])
def test_much_white_space_is_read_in_one_pass(place, junk, tmp_path):
    """What is tried again at each of the spaces would take minutes: so many that this is noticed."""
    path = tmp_path / "x.bif"
    path.write_text(CLINIC)
    usual = bn.read_bif(path, "ill")
    path.write_text(CLINIC.replace(place, place + junk))
    x, message = usual, ""
    try:
        x = bn.read_bif(path, "ill")
    except (ValueError, KeyError) as error:
        message = str(error)
    assert not message or "x.bif" in message
    assert not message or junk != SPACE
    for name, table in bn.params(usual).items():
        assert bn.params(x)[name].tolist() == table.tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("( ill ) {\n  table 0.9, 0.1;", "( ill | a ) {\n  default 0.5, 0.5;", "cycles; got .*ill -> a"),
        ("( b | ill )", "( b | a, ill )", "must not have cycles; got .*a -> b"),
        ("probability ( a | b, ill ) { default 0.5, 0.5; }", "", "every variable; got none of 'a'"),
    ],
)
def test_networks_that_cannot_be(old, new, message, tmp_path):
    text = CLINIC + "".join(f"variable {name} {{ type discrete [ 2 ] {{ u, v }}; }}\n" for name in "ab")
    text += (
        "probability ( a | b, ill ) { default 0.5, 0.5; }\nprobability ( b | ill ) { default 0.5, 0.5; }\n"
    )
    path = tmp_path / "x.bif"
    path.write_text(text)
    assert bn.families(bn.read_bif(path, "ill"))["a"] == ("a", "b", "ill")
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        bn.read_bif(path, "ill")


def test_bad_arguments(car_models, tmp_path):
    path = tmp_path / "x.bif"
    bn.write_bif(car_models["nb"], path)
    with pytest.raises(KeyError, match=r"class_var must be a variable of .*Did you mean 'class'\?"):
        bn.read_bif(path, "clas")
    with pytest.raises(FileNotFoundError):
        bn.read_bif(tmp_path / "y.bif", "class")
    for verb in (lambda: bn.read_bif(7, "class"), lambda: bn.write_bif(car_models["nb"], None)):
        with pytest.raises(TypeError, match="path must be the name of a file"):
            verb()
    for name in (["class"], None):
        with pytest.raises(TypeError, match="class_var must be the name of a column"):
            bn.read_bif(path, name)
    path.write_bytes(b"\xff\x8b\x08")
    with pytest.raises(ValueError, match=r"x.bif must be text in UTF-8; got .* Convert the file"):
        bn.read_bif(path, "class")


ODD = [
    ("", "_"), (" ", "__2"), ("a ", "a"), ("a  b", "a_b_2"), ("a b", "a b"), ("a\tb", "a_b_3"),
    ("a\nb", "a_b_4"), ("a_b", "a_b"), ("a,b", "a_b_5"), ("(0, 1]", "from_0_to_1"),
    ("(-inf, -1.5]", "from_minus_inf_to_minus_1_5"), ("(2e-05, inf)", "from_2e_05_to_inf"), ("{", "__3"),
    ('"a"', "a_2"), ("http://a", "http_a"), ("/*", "__4"), ("é\xa0è", "é_è"), ("b\ud800", "b"), (1, "1"),
    ("1", "1_2"), (1.5, "1.5"), ("\\", "\\"), ('\\"', "__5"), ("a//b", "a_b_6"), ("<=50K", "<=50K"),
    (pd.Interval(0, 2), "from_0_to_2"), (None, "None"),
]  # fmt: skip


def test_odd_names_and_labels_are_written_in_words(tmp_path):
    path = tmp_path / "odd.bif"
    odd = tuple(label for label, _ in ODD)
    x = replace(
        bn.nb("c d", features=odd),
        levels=(*[("u", "v")] * (len(odd) - 1), odd, ("u", True)),
        cpts=(
            *[np.full((2, 2), 0.5)] * (len(odd) - 1),
            np.full((len(odd), 2), 1 / len(odd)),
            np.array([0.5, 0.5]),
        ),
    )
    bn.write_bif(x, path)
    back = bn.read_bif(path, "c_d")
    assert_same_tables(x, back)
    assert x.levels[-2] == odd
    assert back.levels[-2] == tuple(word for _, word in ODD)
    assert back.levels[-1] == ("u", "True")


@given(
    x=models(st.text(max_size=5), some(st.one_of(st.text(max_size=5), st.integers(), st.floats(0, 9), texts)))
)
def test_any_table_is_read_back_as_it_was_written(x, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.bif"
    bn.write_bif(x, path)
    class_word = path.read_text(encoding="utf-8").split("variable ")[-1].split(" {")[0]
    assert_same_tables(x, bn.read_bif(path, class_word))


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pgmpy", "pyagrum"])
def test_models_of_numbers_are_read_elsewhere(library, tmp_path):
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"body mass (kg)": rng.normal(size=300), "n/a": rng.normal(size=300)})
    numbers["kind of it"] = np.where(numbers["body mass (kg)"] + numbers["n/a"] > 0, "A; b", 'c "d"')
    frame, _ = bn.discretize(numbers, class_var="kind of it")
    x = bn.lp(bn.tan_cl("kind of it", frame), frame, smooth=1)
    path = str(tmp_path / "numbers.bif")
    bn.write_bif(x, path)
    back = bn.read_bif(path, "kind_of_it")
    assert_same_tables(x, back)
    assert all(label.startswith("from_") for label in bn.values(back)["n_a"])
    names = {"body_mass_kg", "n_a", "kind_of_it"}
    if library == "pgmpy":
        pytest.importorskip(
            "pgmpy", minversion="1.1", reason="needs pgmpy 1.1, whose reader knows more than words"
        )
        network = load_pgmpy("pgmpy.readwrite").BIFReader(path).get_model()
        assert set(network.nodes) == names
        assert network.get_cpds("kind_of_it").state_names == {"kind_of_it": ["A_b", "c_d"]}
        table = np.asarray(network.get_cpds("kind_of_it").get_values()).ravel()
    else:
        network = load_pyagrum().loadBN(path)
        assert set(network.names()) == names
        assert network.variable("kind_of_it").labels() == ("A_b", "c_d")
        table = network.cpt("kind_of_it").toarray()
    np.testing.assert_allclose(table, bn.params(x)["kind of it"], rtol=1e-6)


def test_a_model_from_a_file_goes_on(car, car_models, tmp_path):
    path = tmp_path / "car.bif"
    x = car_models["tan_cl"]
    bn.write_bif(x, path)
    back = bn.read_bif(path, "class")
    assert all(table.base is None and table.flags.c_contiguous for table in back.cpts)  # not views
    pd.testing.assert_frame_equal(bn.predict(back, car, prob=True), bn.predict(x, car, prob=True))
    assert_same(x, pickle.loads(pickle.dumps(back)))
    assert "parameters:         read_bif()" in repr(back)
    again = bn.lp(back, car.sample(frac=1, random_state=0), smooth=1)
    assert_same(x, again)
    folds = bn.stratified_folds(car["class"], 5, rng=0)
    kept = bn.anb("class", {f: above[1:-1] for f, above in bn.feature_families(x).items()}, car)
    expected = bn.cv(bn.lp(kept, car, smooth=1), car, folds=folds)
    assert bn.cv(back, car, folds=folds) == expected
    # Arcs are not learned again, nor are columns looked at that the file does not have.
    assert bn.cv(back, car.assign(more=1.5), folds=folds) == expected


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.95, 0.05", f"0.95, {LONG}"),
        ("no, yes", f"no, yes, {LONG}"),
        ("(yes) 0.2", f"({LONG}) 0.2"),
        ("test | ill", f"test | {LONG}"),
        ("test", LONG),
        ("network clinic {", LONG),
        ("  (yes) 0.2, 0.8;\n", ""),
    ],
)
def test_messages_repeat_little_of_what_they_complain_of(old, new, tmp_path):
    assert old in CLINIC
    path = tmp_path / "x.bif"
    path.write_text(CLINIC.replace(old, new))
    with pytest.raises((ValueError, KeyError), match=r"x\.bif") as caught:
        bn.read_bif(path, "ill" if old != "test" else LONG + "y")
    assert len(str(caught.value)) < 200 + len(str(path))


@pytest.mark.parametrize("ending", ["bifxml", "dsl", "net"])
def test_files_of_other_formats_are_converted_as_advised(ending, tmp_path, monkeypatch):
    pyagrum = load_pyagrum()
    monkeypatch.chdir(tmp_path)
    network = pyagrum.fastBN("a{x|y}->b{u|v|w}<-c{p|q}")
    pyagrum.saveBN(network, f"network.{ending}")
    text = Path(f"network.{ending}").read_text()
    Path("other.bif").write_text(text)
    with pytest.raises(ValueError, match=rf"a file in the format {ending.upper()}\. Convert it") as raised:
        bn.read_bif("other.bif", "b")
    code = str(raised.value).partition("with ")[2].partition(". ")[0].removesuffix(".")
    eval(code, {"pyagrum": pyagrum})
    model = bn.read_bif("network.bif", "b")
    assert {name: tuple(labels) for name, labels in bn.values(model).items()} == {
        "a": ("x", "y"),
        "b": ("u", "v", "w"),
        "c": ("p", "q"),
    }
    np.testing.assert_allclose(bn.params(model)["a"], network.cpt("a").toarray(), atol=1e-5)


def test_files_for_which_another_program_is_needed_are_named(tmp_path):
    path = tmp_path / "x.bif"
    path.write_text('belief network "clinic"\nnode ill {\n}\n')
    with pytest.raises(ValueError, match=r"in the format DSC\. .* read\.dsc\('network\.dsc'\)\) of"):
        bn.read_bif(path, "ill")
    for function in ("function max", '"function = noisyMax"'):
        path.write_text(CLINIC.replace("  (no) 0.95", f"  property {function};\n  (no) 0.95"))
        with pytest.raises(ValueError, match=r"line 13: .* got a function of the parents .*Write the whole"):
            bn.read_bif(path, "ill")
    path.write_text(CLINIC.replace("  (no) 0.95", "  property function table;\n  (no) 0.95"))
    assert bn.classes(bn.read_bif(path, "ill")) == ("no", "yes")
