"""Notebooks: every chart appears, and so does a chart of the user's own afterwards."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytest.importorskip("ipykernel", reason="ipykernel is not installed; the extra docs has it")
pytest.importorskip("matplotlib", reason="matplotlib is not installed; the extra plot has it")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; the extra docs has it")
nbformat = pytest.importorskip("nbformat")

OWN = "import matplotlib.pyplot as plt\nplt.plot([1, 2])"

CHARTS = """
from bnclassify import bnc, load_car, plot_cpt, plot_effect, plot_importance
car = load_car()
model = bnc("nb", "class", car, smooth=1)
---
plot_cpt(model, "safety")
---
plot_effect(model, "safety")
---
plot_importance(model, car)
"""


def pictures(cells, folder, monkeypatch):
    """Run cells in a kernel without settings of matplotlib, and count the pictures of each."""
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    return [sum("image/png" in output.get("data", {}) for output in each) for each in outputs]


@pytest.mark.slow
def test_every_chart_of_a_notebook_appears(tmp_path, monkeypatch):
    cells = [*CHARTS.split("---"), OWN]
    assert pictures(cells, tmp_path, monkeypatch) == [0, 1, 1, 1, 1]


def test_every_chart_of_the_first_page_appears(tmp_path, monkeypatch):
    cells = (ROOT / "vignettes" / "start.py").read_text().split("# %%")
    code = ["\n" + cell.partition("\n")[2] for cell in cells if not cell.startswith(" [markdown]")]
    charts = [int("\nbn.plot_" in cell) for cell in code]
    found = pictures([*code, OWN], tmp_path, monkeypatch)
    assert sum(charts) > 1
    assert found == [*charts, 1]
