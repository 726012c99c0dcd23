"""Files of GeNIe (XDSL), packed files, and limits of files that describe tables in a few words."""

import gzip
import time

import numpy as np
import pytest

import bnclassify as bn
from bnclassify.files import bif

# P(low | worn, open) is 0.6: the last of the parents pump and valve changes fastest
PLANT = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="n" numsamples="1000"><nodes>
<cpt id="pump"><state id="ok"/><state id="worn"/><state id="dead"/>
  <property id="note">checked</property><probabilities>0.9 0.08 0.02</probabilities></cpt>
<submodel id="pipe"><cpt id="valve"><state id="open"/><state id="stuck"/>
  <probabilities>0.95 0.05</probabilities></cpt></submodel>
<cpt id="flow"><state id="low"/><state id="high"/><parents>pump valve</parents>
  <probabilities>0.1 0.9 0.7 0.3 0.6 0.4 0.9 0.1 0.99 0.01 1 0</probabilities></cpt>
<deterministic id="alarm"><state id="off"/><state id="on"/><parents>flow</parents>
  <resultingstates>on off</resultingstates></deterministic>
</nodes><extensions><genie version="1.0" name="Pl\u00e4n"><node id="pump"><name>The pump</name></node></genie>
</extensions></smile>"""


@pytest.fixture
def plant(tmp_path):
    path = tmp_path / "plant.xdsl"
    path.write_bytes(PLANT.encode("latin-1"))
    return path


def test_tables_of_genie_are_read_with_the_last_parent_changing_fastest(plant):
    x = bn.read_bif(plant, "pump")
    assert bn.families(x)["flow"] == ("flow", "valve", "pump")
    flow = bn.cpt(x, "flow").loc["low"].unstack("valve")
    assert flow.loc[["ok", "worn", "dead"]].to_numpy().tolist() == [[0.1, 0.7], [0.6, 0.9], [0.99, 1]]
    assert bn.cpt(x, "alarm").to_numpy().tolist() == [[0, 1], [1, 0]]  # on if the flow is low
    assert bn.query(x, "flow", {"pump": "worn", "valve": "open"})["low"] == pytest.approx(0.6)
    low = 0.9 * (0.95 * 0.1 + 0.05 * 0.7) + 0.08 * (0.95 * 0.6 + 0.05 * 0.9) + 0.02 * (0.95 * 0.99 + 0.05)
    assert bn.query(x, "alarm")["on"] == pytest.approx(low)


def test_packed_files_are_read(plant, tmp_path):
    packed = tmp_path / "plant.xdsl.gz"
    packed.write_bytes(gzip.compress(plant.read_bytes()))
    expected = bn.params(bn.read_bif(plant, "pump"))
    for name, table in bn.params(bn.read_bif(packed, "pump")).items():
        np.testing.assert_array_equal(table, expected[name])
    bif = tmp_path / "plant.bif"
    bn.write_bif(bn.read_bif(plant, "pump"), bif)
    (tmp_path / "plant.bif.gz").write_bytes(gzip.compress(bif.read_bytes()))
    back = bn.read_bif(tmp_path / "plant.bif.gz", "pump")
    assert bn.modelstring(back) == bn.modelstring(bn.read_bif(bif, "pump"))
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ValueError, match="must be a complete file of gzip"):
        bn.read_bif(packed, "pump")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<cpt id="flow">', '<noisymax id="flow">', r"node 'flow': must be a table .*; got a noisy maximum"),
        ('<cpt id="pump">', '<decision id="pump">', r"node 'pump': .*; got a decision\. Remove decisions"),
        ('<cpt id="pump">', '<equation id="pump">', r"node 'pump': .*; got an equation"),
        ("0.9 0.08 0.02", "0.9 0.08", r"node 'pump': must have 3 probabilities; got 2 words"),
        ("0.9 0.08 0.02", "0.9 0.08 -0.02", "node 'pump': must have 3 probabilities"),
        ("0.9 0.08 0.02", "0.9 0.08 x", "node 'pump': must have 3 probabilities"),
        ("0.9 0.08 0.02", "0.9 0.08 0.12", "of 'pump' that sum to 1; got a sum of 1.1"),
        ("0.6 0.4", "0.6 0.6", r"must be probabilities of 'flow' for \(worn, open\) that sum to 1"),
        ("on off", "on of", r"node 'alarm': must have 2 resulting states .*; got 'of'"),
        ("on off", "on", "node 'alarm': must have 2 resulting states .*; got 1 states"),
        ("<parents>flow", "<parents>flo", "have chance nodes as parents; got 'flo'. Did you mean 'flow'"),
        ("<parents>flow", "<parents>alarm", "node 'alarm': must have different parents, and not itself"),
        ('<state id="worn"/>', '<state id="ok"/>', "node 'pump': must have labels that all differ"),
        ('<cpt id="valve">', '<cpt id="pump">', "node 'pump': is declared twice"),
        ("</smile>", "", "must be a complete XML file; got"),
        ("<smile", "<!DOCTYPE smile><smile", "got one with a document type"),
        ("<genie ", '<genie app="aGrUM 3" ', "must be written by GeNIe; got a file of pyAgrum"),
    ],
)
def test_files_of_genie_that_cannot_be_read_name_the_node(plant, old, new, message):
    text = PLANT.replace(old, new)
    for tag in ("noisymax", "decision", "equation"):
        if f"<{tag}" in text:
            start = text.index(f"<{tag}")
            text = text[:start] + text[start:].replace("</cpt>", f"</{tag}>", 1)
    plant.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        bn.read_bif(plant, "pump")


def test_all_tables_of_a_file_together_are_limited(tmp_path):
    names = [f"v{i}" for i in range(23)]
    lines = ["network n { }"]
    lines += [f"variable {v} {{ type discrete [ 2 ] {{ a, b }}; }}" for v in [*names, "y", "z"]]
    lines += [f"probability ( {v} ) {{ table 0.5, 0.5; }}" for v in names]
    lines += [f"probability ( {v} | {', '.join(names)} ) {{ default 0.5, 0.5; }}" for v in ("y", "z")]
    path = tmp_path / "large.bif"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"\d+: the table of .* would have 16,777,216 cells\. All tables"):
        bn.read_bif(path, "y")


def test_files_of_netica_are_named(tmp_path):
    path = tmp_path / "clinic.dne"
    path.write_text("// ~->[DNET-1]->~\n\nbnet Clinic {\nnode ill { kind = NATURE; };\n};\n")
    with pytest.raises(ValueError, match=r"in the format DNE\. Save it in Netica as a file of Hugin \(NET\)"):
        bn.read_bif(path, "ill")


def test_labels_are_found_by_position_and_submodels_without_recursion(tmp_path):
    """Files of which each label was once compared with all others, for minutes."""
    path, labels = tmp_path / "x.bif", [f"s{i}" for i in range(15_000)]
    rows = "\n".join(f"({label}) 0.25, 0.75;" for label in labels[-1500:])
    path.write_text(
        f"network n {{ }} variable c {{ type discrete [ 2 ] {{ a, b }}; }} variable p {{ type discrete "
        f"[ 15000 ] {{ {', '.join(labels)} }}; }} probability ( p ) {{ table 1 {'0 ' * 14_999}; }} "
        f"probability ( c | p ) {{ default 0.5, 0.5; {rows} }}"
    )
    start = time.process_time()
    assert bn.cpt(bn.read_bif(path, "c"), "c").loc["b", "s14999"] == 0.75
    assert time.process_time() - start < 0.7
    states, last = "".join(f'<state id="s{i}"/>' for i in range(20_000)), "s19999 "
    node = f'<deterministic id="d">{states}<resultingstates>{last * 20_000}</resultingstates></deterministic>'
    path.write_text(f"<smile><nodes>{node}</nodes></smile>")
    with pytest.raises(ValueError, match=r"must have 1 resulting states .*; got 20,000 states"):
        bn.read_bif(path, "d")
    node = PLANT[PLANT.index('<cpt id="pump"') : PLANT.index('<submodel id="pipe"')]
    inner = "<submodel>" * 5000 + node + "</submodel>" * 5000 + node.replace("pump", "next")
    path.write_text(f"<smile><nodes>{inner}</nodes></smile>")
    assert bn.vars(bn.read_bif(path, "next")) == ("pump", "next")


def test_files_that_unpack_to_much_and_tables_of_many_axes_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.bif"
    path.write_bytes(gzip.compress(b" " * 1001))
    assert bif._MOST_BYTES == 100_000_000
    monkeypatch.setattr(bif, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="with at most 1,000 bytes of text"):
        bn.read_bif(path, "y")
    names = [f"v{i}" for i in range(40)]  # each with a single label
    lines = [f"variable {v} {{ type discrete [ 1 ] {{ a }}; }}" for v in [*names, "y"]]
    lines += [f"probability ( {v} ) {{ table 1; }}" for v in names]
    path.write_text("\n".join(["network n { }", *lines, f"probability ( y | {', '.join(names)} ) {{ }}"]))
    with pytest.raises(ValueError, match="'y' must have at most 31 parents; got 40"):
        bn.read_bif(path, "y")
