"""Charts by matplotlib: what they show, and that nothing of it is cut off or overlaps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.plotting.charts import _text
from bnclassify.plotting.marks import BLUE, ORANGE

from .benchmarks.data import tree_augmented

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed; the extra plot has it")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


LONG = {
    "safety": "estimated safety of the car as tested by an independent body, in $ and ¥ per "
    + "something_long_" * 6,
    "doors": "$x_1$",
    "buying": "größe\n(€)",
    "class": "_class",
}
LONG_CLASSES = {
    "unacc": "completely unacceptable to any buyer whatsoever",
    "acc": "$a$cceptable",
    "good": "_good",
    "vgood": "überaus gut, man kann es nicht anders sagen",
}


def long_names(car: pd.DataFrame) -> pd.DataFrame:
    return car.assign(**{"class": car["class"].cat.rename_categories(LONG_CLASSES)}).rename(columns=LONG)


@pytest.fixture(params=["car", "long", "voting", "synthetic"])
def case(request: Any, car: pd.DataFrame, voting: pd.DataFrame) -> tuple[bn.BNC, pd.DataFrame]:
    """A tree over data of another kind, and the data."""
    frame = {
        "car": lambda: car,
        "long": lambda: long_names(car),
        "voting": lambda: voting,
        "synthetic": lambda: tree_augmented(300, 36, 4, 5),
    }[request.param]()
    target = frame.columns[[str(c).lower() in ("class", "_class") for c in frame.columns]][0]
    return bn.lp(bn.tan_cl(target, frame), frame, smooth=1), frame


def texts(ax: Any) -> list[Any]:
    """All that is written in axes, ticks beyond their limits left out."""
    beyond = [
        label
        for axis in (ax.xaxis, ax.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]
    written = ax.findobj(matplotlib.text.Text)
    return [text for text in written if text not in beyond and text.get_visible() and text.get_text()]


def check_readable(ax: Any) -> None:
    """Nothing written is cut off by the edge of the figure, and labels of rows do not overlap."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    for text in texts(ax):
        box = text.get_window_extent(renderer)
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    boxes = [label.get_window_extent(renderer) for label in ax.get_yticklabels() if label.get_text()]
    for above, below in pairwise(boxes):
        assert above.y0 >= below.y1 - 1 or below.y0 >= above.y1 - 1


def lengths(ax: Any) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def labels(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_explanation_is_readable_and_whole(case: tuple[bn.BNC, pd.DataFrame]) -> None:
    x, frame = case
    found = bn.explain(x, frame.iloc[0])["log_odds"]
    for top in (None, 5):
        ax = bn.plot_explanation(x, frame.iloc[0], top=top)
        check_readable(ax)
        assert sum(lengths(ax)) == pytest.approx(found.sum())
        assert len(lengths(ax)) == min(len(found), (top or len(found)) + 1)
        colours = [matplotlib.colors.to_hex(bar.get_facecolor()) for bar in ax.patches]
        assert colours == [ORANGE if length < 0 else BLUE for length in lengths(ax)]
    assert np.allclose(
        np.sort(np.abs(found))[::-1], np.abs(lengths(bn.plot_explanation(x, frame.iloc[0], top=None)))
    )


def test_explanation_says_what_it_shows(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    ax = bn.plot_explanation(x, {**car.iloc[1727], "doors": None}, target="good", against="acc", top=6)
    assert ax.get_xlabel().startswith("log odds of good against acc: ")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["speaks for good", "for acc"]
    assert labels(ax)[0] == "prior of good"
    assert "safety = high" in labels(ax)
    assert labels(ax)[-1] == "doors missing"
    ax = bn.plot_explanation(x, car.iloc[1727], top=2, against=bn.classes(x))
    assert labels(ax)[-1] == "the 5 others"
    assert "against the others" in ax.get_xlabel()


def test_explanation_of_the_impossible_and_of_nothing(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=0)
    ax = bn.plot_explanation(x, car.iloc[0], target="acc")
    check_readable(ax)
    assert "\N{MINUS SIGN}∞" in {text.get_text() for text in texts(ax)}
    assert np.isfinite(lengths(ax)).all()
    even = pd.DataFrame({"f": list("aabb"), "k": list("cdcd")})
    check_readable(bn.plot_explanation(bn.lp(bn.nb("k", even), even, smooth=1), {"f": None}))


def test_cpt_shows_every_number(case: tuple[bn.BNC, pd.DataFrame]) -> None:
    x, _ = case
    for variable in (bn.vars(x)[-2], bn.class_var(x)):
        ax = bn.plot_cpt(x, variable)
        check_readable(ax)
        table = bn.cpt(x, variable)
        shown = np.asarray(ax.images[0].get_array())
        n_classes = shown.shape[1]
        blocks = [table.iloc[:, i : i + n_classes] for i in range(0, table.shape[1], n_classes)]
        assert np.allclose(shown, np.vstack(blocks))
        written = [text.get_text() for text in ax.texts][: shown.size]
        assert written == [f"{number:.2f}" for number in shown.ravel()]


def test_cpt_says_what_is_given(car: pd.DataFrame) -> None:
    x = bn.lp(bn.anb("class", {"safety": ["persons", "doors"]}, car), car, smooth=1)
    ax = bn.plot_cpt(x, "safety")
    check_readable(ax)
    assert ax.get_title("left") == "P(safety | persons, doors, class)"
    assert [label.get_text() for label in ax.get_xticklabels()] == list(bn.classes(x))
    assert labels(ax) == ["low", "med", "high"] * 12
    assert [text.get_text() for text in ax.texts][-12:][1] == "persons = 2, doors = 3"
    assert bn.plot_cpt(x, "class").get_title("left") == "P(class)"
    long = pd.DataFrame({"a": [*range(40)] * 2, "b": [*range(40)] * 2, "k": [0, 1] * 40})
    with pytest.raises(ValueError, match="table of 'a' has 1,600 rows, more than the 300"):
        bn.plot_cpt(bn.lp(bn.anb("k", {"a": ["b"]}, long), long, smooth=1), "a")
    with pytest.raises(KeyError, match="did you mean 'safety'"):
        bn.plot_cpt(x, "safty")


@pytest.mark.parametrize(
    ("method", "label", "question"),
    [
        ({"manb_prior": 0.5}, "posterior of the arc from Class", bn.manb_arc_posterior),
        ({"awnb_trees": 2, "rng": 0}, "weight", bn.feature_weights),
    ],
)
def test_weights(votes: pd.DataFrame, method: dict[str, Any], label: str, question: Any) -> None:
    x = bn.lp(bn.nb("Class", votes), votes, smooth=1, **method)
    ax = bn.plot_weights(x)
    check_readable(ax)
    assert ax.get_xlabel() == label
    expected = question(x).sort_values(ascending=False, kind="stable")
    assert lengths(ax) == expected.tolist()
    assert [name.replace("\n", "") for name in labels(ax)] == expected.index.tolist()
    ax = bn.plot_weights(x, top=3)
    assert lengths(ax) == expected.head(3).tolist()
    assert ax.get_xlabel() == f"{label}, the 3 largest"
    with pytest.raises(ValueError, match="x: has neither weights nor arc posteriors"):
        bn.plot_weights(bn.nb("Class", votes))


@pytest.mark.parametrize(("epsilon", "steps"), [(0.01, 2), (0.9, 0)])
def test_scores(car: pd.DataFrame, epsilon: float, steps: int) -> None:
    x = bn.tan_hc("class", car, k=3, smooth=1, rng=0, epsilon=epsilon)
    ax = bn.plot_scores(x)
    check_readable(ax)
    assert ax.lines[0].get_ydata().tolist() == list(bn.greedy_scores(x))
    assert ax.get_xticks().tolist() == list(range(steps + 1))
    with pytest.raises(ValueError, match="was not found by greedy search"):
        bn.plot_scores(bn.nb("class", car))


def test_explanation_of_a_row_with_unseen_values(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[5].to_dict()
    bars = [
        bn.plot_explanation(x, row | {"doors": doors}, unseen="missing").patches for doors in ("seven", None)
    ]
    assert [bar.get_width() for bar in bars[0]] == [bar.get_width() for bar in bars[1]]
    with pytest.raises(ValueError, match="'seven' not among the levels"):
        bn.plot_explanation(x, row | {"doors": "seven"})


def test_cv_shows_folds_and_means() -> None:
    names = ["nb", "$tan$", "_hidden", "a model with quite a long name that says what it is, more or less"]
    table = pd.DataFrame(np.random.default_rng(0).uniform(0.8, 1, (10, 4)), columns=names)
    ax = bn.plot_cv(table)
    check_readable(ax)
    assert [line.get_xdata().tolist() for line in ax.lines] == table.T.to_numpy().tolist()
    for line in ax.lines:  # the first fold at the top
        assert (np.diff(ax.transData.transform(line.get_xydata())[:, 1]) < 0).all()
    assert {f"{mean:.3f}" for mean in table.mean()} <= {text.get_text() for text in ax.texts}
    check_readable(bn.plot_cv(table.iloc[:1, :1]))
    with pytest.raises(
        TypeError, match=r"accuracies: expected what cv\(..., mean=False\) returns, got Series"
    ):
        bn.plot_cv(table.mean())
    for wrong in (table.iloc[:0], table.astype(str)):
        with pytest.raises(TypeError, match="accuracies: expected numbers"):
            bn.plot_cv(wrong)


def test_dollars_are_no_mathematics(car: pd.DataFrame) -> None:
    for label in ("$x^2$", r"\$5", r"a$b$c$", "100$", "$"):
        ax = plt.subplots()[1]
        text = ax.text(0, 0, _text(label))
        plain, mathematics = text._preprocess_math(text.get_text())
        assert (plain, mathematics) == (label, False)


def test_labels_are_broken_between_words() -> None:
    assert (
        _text("export_administration_act_south_africa = n") == "export_administration_act_south_\nafrica = n"
    )
    assert _text("a" * 50, 20) == "\n".join(["a" * 20, "a" * 20, "a" * 10])
    assert _text("word " * 50, 20).endswith("…")
    assert _text("") == ""


def test_drawing_into_given_axes(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1, manb_prior=0.5)
    figure, grid = plt.subplots(2, 2, figsize=(14, 9), layout="constrained")
    drawn = [
        bn.plot_explanation(x, car.iloc[0], ax=grid[0, 0]),
        bn.plot_cpt(x, "safety", ax=grid[0, 1]),
        bn.plot_weights(x, ax=grid[1, 0]),
        bn.plot_cv(pd.DataFrame({"nb": [0.8, 0.9]}), ax=grid[1, 1]),
    ]
    assert drawn == list(grid.ravel())
    assert plt.get_fignums() == [figure.number]
    for ax in drawn:
        check_readable(ax)
    with pytest.raises(TypeError, match="ax: expected matplotlib axes, got Figure"):
        bn.plot_cpt(x, "safety", ax=figure)


@pytest.mark.parametrize("top", [0, -1, 2.5, True, "all"])
def test_bad_top(car: pd.DataFrame, top: Any) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1, manb_prior=0.5)
    with pytest.raises(ValueError, match="top: expected a number of bars"):
        bn.plot_explanation(x, car.iloc[0], top=top)
    with pytest.raises(ValueError, match="top: expected a number of bars"):
        bn.plot_weights(x, top=top)


def test_without_matplotlib_an_error_says_what_to_install(
    car: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'pybnclassify\[plot\]'"):
        bn.plot_cpt(bn.lp(bn.nb("class", car), car, smooth=1), "safety")
