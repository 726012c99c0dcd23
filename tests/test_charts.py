"""Charts by matplotlib: what they show, and that nothing of it is cut off or overlaps."""

import re
import sys
import time
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import bnclassify as bn
from bnclassify.draw.canvas import BLUE, GREY, LINES, ORANGE, label_in_lines, probability_text

from .benchmarks.data import tree_augmented
from .conftest import scores_of

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed; the extra plot has it")
plt = pytest.importorskip("matplotlib.pyplot")


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


def long_names(car):
    return car.assign(**{"class": car["class"].cat.rename_categories(LONG_CLASSES)}).rename(columns=LONG)


@pytest.fixture(params=[pytest.param("car", marks=pytest.mark.slow), "long", "voting", "synthetic"])
def case(request, car, voting):
    """A tree over data of another kind, and the data."""
    frame = {
        "car": lambda: car,
        "long": lambda: long_names(car),
        "voting": lambda: voting,
        "synthetic": lambda: tree_augmented(300, 36, 4, 5),
    }[request.param]()
    target = frame.columns[[str(c).lower() in ("class", "_class") for c in frame.columns]][0]
    return bn.lp(bn.tan_cl(target, frame), frame, smooth=1), frame


def texts(ax):
    """All texts in axes, except ticks beyond their limits."""
    beyond = [
        label
        for axis in (ax.xaxis, ax.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]
    written = ax.findobj(matplotlib.text.Text)
    return [text for text in written if text not in beyond and text.get_visible() and text.get_text()]


def check_readable(ax):
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


def lengths(ax):
    return [bar.get_width() for bar in ax.patches]


def legend(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def blocks_of(ax):
    return [label.get_text() for label in ax.get_yticklabels(minor=True)]


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_explanation_is_readable_and_whole(case):
    x, frame = case
    found = bn.explain(x, frame.iloc[0])["log_odds"]
    for top in (5, None):
        ax = bn.plot_explanation(x, frame.iloc[0], top=top)
        check_readable(ax)
        *bars, total = lengths(ax)
        assert sum(bars) == pytest.approx(found.sum())
        assert total == pytest.approx(found.sum(), rel=1e-9) or abs(total) < abs(found.sum())  # cut
        assert len(bars) == min(len(found), (top or len(found)) + 1)
        colours = [matplotlib.colors.to_hex(bar.get_facecolor()) for bar in ax.patches]
        assert colours == [*(ORANGE if length < 0 else BLUE for length in bars), GREY]
    assert np.allclose(np.sort(np.abs(found))[::-1], np.abs(bars))


def test_explanation_says_what_it_shows(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    ax = bn.plot_explanation(x, {**car.iloc[1727], "doors": None}, target="good", against="acc", top=6)
    assert ax.get_xlabel() == "log odds: pushes towards acc ← → good"
    posterior = bn.predict(x, {**car.iloc[1727], "doors": None}, prob=True)["good"].item()
    first, second = ax.get_title("left").split("\n")
    assert first == f"class = good: probability {posterior:.2f}"
    assert second.startswith("log odds of good against acc: ")
    assert legend(ax) == ["evidence for good", "evidence for acc"]
    assert labels(ax)[0] == "prior of good"
    assert "safety = high" in labels(ax)
    assert labels(ax)[-2:] == ["doors missing", "sum"]
    ax = bn.plot_explanation(x, car.iloc[1727], top=2, against=bn.classes(x))
    assert labels(ax)[-2:] == ["the 5 others", "sum"]
    assert "against the others" in ax.get_title("left")


def test_explanation_of_the_impossible_and_of_nothing(car):
    x = bn.lp(bn.nb("class", car), car, smooth=0)
    ax = bn.plot_explanation(x, car.iloc[0], target="acc")
    check_readable(ax)
    assert "\N{MINUS SIGN}∞" in {text.get_text() for text in texts(ax)}
    assert np.isfinite(lengths(ax)).all()
    even = pd.DataFrame({"f": list("aabb"), "k": list("cdcd")})
    check_readable(bn.plot_explanation(bn.lp(bn.nb("k", even), even, smooth=1), {"f": None}))


def test_cpt_shows_every_number(case):
    x, frame = case
    for variable in (x.variables[-2], bn.class_var(x)):
        ax = bn.plot_cpt(x, variable, dataset=frame)
        check_readable(ax)
        table = bn.cpt(x, variable)
        shown = np.asarray(ax.images[0].get_array())
        n_classes = shown.shape[1]
        blocks = [table.iloc[:, i : i + n_classes] for i in range(0, table.shape[1], n_classes)]
        assert np.allclose(shown, np.vstack(blocks))
        written = [text.get_text() for text in ax.texts][: shown.size]
        assert written == [probability_text(number) for number in shown.ravel()]


def test_cpt_says_what_is_given(car):
    x = bn.lp(bn.anb("class", {"safety": ["persons"]}, car), car, smooth=1)
    ax = bn.plot_cpt(x, "safety")
    check_readable(ax)
    assert ax.get_title("left") == "P(safety | persons, class)"
    assert [label.get_text() for label in ax.get_xticklabels()] == list(bn.classes(x))
    assert ax.get_xlabel() == "rows: safety; columns: class"
    assert labels(ax) == ["low", "med", "high"] * 3
    assert blocks_of(ax) == ["persons = 2", "persons = 4", "persons = more"]
    alone = bn.plot_cpt(x, "class")
    assert (alone.get_title("left"), alone.get_xlabel()) == ("P(class)", "rows: class")
    long = pd.DataFrame({"a": [*range(400)] * 2, "k": [0, 1] * 200 + [1, 0] * 200})
    with pytest.raises(ValueError, match=r"got 'a' with 400 rows and 2 columns. Use cpt"):
        bn.plot_cpt(bn.lp(bn.nb("k", long), long, smooth=1), "a")
    with pytest.raises(KeyError, match="Did you mean 'safety'"):
        bn.plot_cpt(x, "safty")


@pytest.mark.slow
@pytest.mark.parametrize("parents", [["buying", "persons"], ["buying", "maint", "persons"]])
def test_cpt_of_several_parents_is_a_grid(car, parents):
    x = bn.lp(bn.anb("class", {"safety": parents}, car), car, smooth=1)
    ax = bn.plot_cpt(x, "safety")
    check_readable(ax)
    above = [label.get_text() for label in ax.get_xticklabels(minor=True)]
    assert above == ["persons = 2", "persons = 4", "persons = more"]
    assert [label.get_text() for label in ax.get_xticklabels()] == [*bn.classes(x)] * 3
    shown = np.asarray(ax.images[0].get_array())
    blocks = len(shown) // 3
    beside = [text.replace("\n", " ") for text in blocks_of(ax)]
    assert beside[1] == ("buying = high" if blocks == 4 else "buying = vhigh, maint = high")
    table = bn.params(x)["safety"].reshape(3, blocks, 3, 4)  # safety, those beside, persons, class
    for i, j, k, c in np.ndindex(table.shape):
        assert shown[3 * j + i, 4 * k + c] == table[i, j, k, c]
    width, height = ax.figure.get_size_inches()
    assert max(width, height) < 20


@pytest.mark.slow
def test_cpt_hatches_what_never_occurred(car):
    x = bn.lp(bn.anb("class", {"safety": ["buying", "persons"]}, car), car, smooth=1)
    ax = bn.plot_cpt(x, "safety", dataset=car)
    check_readable(ax)
    seen = set(car[["buying", "persons", "class"]].astype(str).itertuples(index=False, name=None))
    values = bn.values(x)
    cells = product(*(enumerate(values[v]) for v in ("buying", "persons", "class")), range(3))
    never = {(4 * k + c, 3 * j + i) for (j, b), (k, p), (c, label), i in cells if (b, p, label) not in seen}
    assert {(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in ax.patches} == never
    assert all(patch.get_hatch() for patch in ax.patches)
    assert legend(ax) == ["no row has these parents' values"]
    assert bn.plot_cpt(x, "doors", dataset=car).get_legend() is None
    assert not bn.plot_cpt(x, "safety").patches
    for wrong, error in (
        (car.drop(columns="persons"), KeyError),
        (car.assign(persons="nine"), ValueError),
        ("car", TypeError),
    ):
        with pytest.raises(error, match=r"persons|dataset"):
            bn.plot_cpt(x, "safety", dataset=wrong)


def test_raw_rows_are_cut_as_the_model_cuts_them():
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"size": rng.normal(size=200), "kind": list("ab") * 100})
    raw["class"] = np.where(raw["size"] + (raw["kind"] == "a") > 0.5, "yes", "no")
    x = bn.bnc("tan_cl", "class", raw, smooth=1, discretize="mdlp")
    check_readable(bn.plot_importance(x, raw))
    ax = bn.plot_cpt(x, "kind", dataset=raw)
    check_readable(ax)
    rows = bn.preparation(x)(raw).groupby(["size", "class"], observed=False).size()
    assert len(ax.patches) == 2 * (rows == 0).sum() > 0  # both kinds of sizes that decide the class


def test_cpt_of_a_class_with_parents(car):
    x = bn.lp(bn.from_modelstring("[safety][class|safety][doors]", "class"), car, smooth=1)
    ax = bn.plot_cpt(x, "class", dataset=car)
    check_readable(ax)
    assert ax.get_title("left") == "P(class | safety)"
    assert ax.get_xlabel().replace("\n", " ") == "rows: class; columns: safety"
    assert labels(ax) == list(bn.classes(x))
    assert bn.plot_cpt(x, "doors").get_title("left") == "P(doors)"


@pytest.mark.parametrize("top", [None, 3])
def test_importance_is_the_mean_of_absolute_weights(case, top):
    x, frame = case
    frame = frame.iloc[::9]
    ax = bn.plot_importance(x, frame, top=top)
    check_readable(ax)
    sizes = bn.explain(x, frame)["log_odds"].abs()
    weights = sizes.groupby("variable", sort=False).mean()
    expected = weights.drop(bn.class_var(x)).sort_values(ascending=False, kind="stable")
    assert lengths(ax) == pytest.approx(expected.head(top or len(expected)).tolist())
    if frame.columns[0] == "buying":
        assert labels(ax) == expected.index[: top or len(expected)].tolist()
    told = ax.get_title("left").replace("\n", " ")
    assert told.startswith(f"Importance in {len(frame):,} rows")
    two = "for republican against democrat"
    more = "for the predicted class against the second most probable class"
    assert told.endswith(two if len(bn.classes(x)) == 2 else more)
    below = ax.get_xlabel().replace("\n", " ")
    assert below.startswith("absolute weight of evidence (nats)")
    rest = sorted(expected)[::-1][3:]
    assert (f"; {len(rest)} more, at most {rest[0]:.2f}" in below) == (top == 3)
    assert legend(ax) == ["mean", "middle half of the rows"]
    sizes = sizes.xs(expected.index[0], level="variable")
    low, high = ax.collections[0].get_segments()[0][:, 0]
    assert [low, high] == np.quantile(sizes, [0.25, 0.75], method="nearest").tolist()


def test_importance_of_one_class_and_of_the_impossible(car):
    x = bn.lp(bn.aode("class", car), car, smooth=1)
    ax = bn.plot_importance(x, car, target="acc", against=["good", "vgood"])
    assert ax.get_title("left").endswith("for acc against good or vgood")
    ax = bn.plot_importance(x, bn.encode(car), target="acc", against=bn.classes(x))
    assert ax.get_title("left").endswith("for acc against the others")
    certain = bn.plot_importance(
        bn.lp(bn.nb("class", car), car, smooth=0), car, target="unacc", against="acc"
    )
    check_readable(certain)
    assert {"∞"} <= {text.get_text() for text in certain.texts}


@pytest.mark.slow
def test_charts_are_readable_in_a_column_and_on_a_phone(car, voting):
    """All texts have at least 8 points, also in axes that are given, and 3.3 inches have room for them."""
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    votes = bn.lp(bn.tan_cl("Class", voting), voting, smooth=1)
    posteriors = bn.predict(x, car, prob=True)
    for draw in (
        lambda ax: bn.plot_cpt(x, "safety", dataset=car, ax=ax),
        lambda ax: bn.plot_importance(x, car, ax=ax),
        lambda ax: bn.plot_explanation(x, car.iloc[0], ax=ax),
        lambda ax: bn.plot_importance(votes, voting, top=10, ax=ax),
        lambda ax: bn.plot_explanation(votes, voting.iloc[0], top=10, ax=ax),
        lambda ax: bn.plot_effect(x, "safety", dataset=car, ax=ax),
        lambda ax: bn.plot_strength(bn.arc_strength(x, car, replicates=3, rng=0), ax=ax),
        lambda ax: bn.plot_weights(bn.lp(bn.nb("class", car), car, smooth=1, manb_prior=0.5), ax=ax),
        lambda ax: bn.plot_cv(bn.cv({"nb": x, "k": x}, car, k=3, rng=0, mean=False), interval=0.95, ax=ax),
        lambda ax: bn.plot_confusion(bn.confusion(bn.predict(x, car), car["class"]), ax=ax),
        lambda ax: bn.plot_calibration(posteriors, car["class"], ax=ax),
    ):
        drawn = draw(plt.subplots(figsize=(3.3, 8), layout="constrained")[1])
        check_readable(drawn)
        large = [text.get_text() for text in texts(drawn) if text.get_fontsize() != 8]
        assert large == [drawn.get_title("left")]


def test_effects_of_numbers_show_cut_points_and_values():
    women = bn.load_pima()
    x = bn.bnc("tan_cl", "diabetes", women, smooth=1, discretize="mdlp")
    cuts = x.preparation.discretizer.cuts["glucose"]
    ax = bn.plot_effect(x, "glucose", dataset=women)
    check_readable(ax)
    assert ax.get_title("left") == "Effect of glucose on diabetes = yes"  # the last class
    assert ax.get_ylabel().replace("\n", " ") == "log odds: away from yes ↓ ↑ towards it"
    *_, first, second = legend(ax)
    assert (first, second) == ("cut points", "values in the data")
    marks = {line.get_color(): np.asarray(line.get_xdata()) for line in ax.lines[-2:]}
    assert marks[GREY].tolist() == list(cuts)
    assert set(marks["black"]) <= set(women["glucose"])
    assert len(marks["black"]) > 300
    lines = ax.lines[1:-2]
    assert len(lines) == len(legend(ax)) - 2
    for line in lines:  # as far as the data
        assert {women["glucose"].min(), women["glucose"].max()} <= set(np.asarray(line.get_xdata()))
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == len(lines)
    with pytest.raises(KeyError, match="dataset: no column 'glucose'"):
        bn.plot_effect(x, "glucose", dataset=women.drop(columns="glucose"))


def test_effects_of_levels_count_rows(car):
    x = bn.lp(bn.anb("class", {"safety": ["persons"]}, car), car, smooth=1)
    ax = bn.plot_effect(x, "safety", target="vgood", dataset=car)
    check_readable(ax)
    assert labels(ax) == [f"{level} (576 rows)" for level in ("low", "med", "high")]
    assert legend(ax) == [f"persons = {level}" for level in ("2", "4", "more")]
    assert ax.get_title("left") == "Effect of safety on class = vgood"
    assert {matplotlib.colors.to_hex(bar.get_facecolor()) for bar in ax.patches} == {c for c, _ in LINES[:3]}
    assert labels(bn.plot_effect(x, "safety")) == ["low", "med", "high"]


def test_the_style_of_the_user_stays(car):
    with plt.rc_context({"font.size": 20, "axes.spines.top": True}):
        ax = bn.plot_cpt(bn.lp(bn.nb("class", car), car, smooth=1), "safety")
        assert plt.rcParams["font.size"] == 20
        assert {text.get_fontsize() for text in texts(ax)} == {8, 9}


@pytest.mark.parametrize("name", [name for name in bn.__all__ if name.startswith("plot_")])
def test_docstrings_of_charts_are_whole(name):
    text = getattr(bn, name).__doc__
    assert "ax : matplotlib.axes.Axes, optional" in text
    assert "matplotlib, which must be installed" in text
    assert not re.search(r"^\s*\{", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("method", "label", "question"),
    [
        ({"manb_prior": 0.5}, "posterior of the arc from Class", bn.manb_arc_posterior),
        ({"awnb_trees": 2, "rng": 0}, "weight", bn.feature_weights),
    ],
)
def test_weights(votes, method, label, question):
    x = bn.lp(bn.nb("Class", votes), votes, smooth=1, **method)
    ax = bn.plot_weights(x, top=None)
    check_readable(ax)
    assert ax.get_xlabel().replace("\n", " ") == label
    expected = question(x).sort_values(ascending=False, kind="stable")
    assert lengths(ax) == expected.tolist()
    assert [name.replace("\n", "") for name in labels(ax)] == expected.index.tolist()
    ax = bn.plot_weights(x)
    drawn = expected[expected >= 0.005]
    assert lengths(ax) == drawn.tolist()
    more = "" if len(drawn) == len(expected) else f"; {len(expected) - len(drawn)} more, at most 0.00"
    assert ax.get_xlabel().replace("\n", " ") == label + more
    ax = bn.plot_weights(x, top=2)
    assert lengths(ax) == expected.head(2).tolist()
    below = f"{label}; {len(expected) - 2} more, at most {expected.iloc[2]:.2f}"
    assert ax.get_xlabel().replace("\n", " ") == below
    with pytest.raises(ValueError, match="x: has no weights; lp"):
        bn.plot_weights(bn.nb("Class", votes))


@pytest.mark.parametrize(("epsilon", "steps"), [(0.01, 2), (0.9, 0)])
@pytest.mark.filterwarnings("ignore:No step improves")
def test_scores(car, epsilon, steps):
    x = bn.tan_hc("class", car, k=3, smooth=1, rng=0, epsilon=epsilon)
    ax = bn.plot_scores(x)
    check_readable(ax)
    assert ax.lines[0].get_xdata().tolist() == list(scores_of(x))
    arcs = [f"+ {tail} → {head}" for tail, head in bn.search_steps(x)[["from", "to"]].to_numpy()]
    assert [label.replace("\n", " ") for label in labels(ax)] == ["initial structure", *arcs]
    assert len(arcs) == steps
    assert (ax.get_title("left"), ax.get_xlabel()) == ("Search by tan_hc", "cross-validated accuracy")
    for other in (bn.nb("class", car), bn.hc("class", car)):
        with pytest.raises(ValueError, match=r"found by a search|must be found by greedy search"):
            bn.plot_scores(other)


def test_explanation_of_a_row_with_unseen_values(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[5].to_dict()
    seven, missing = ({**row, "doors": doors} for doors in ("seven", None))
    drawn = lengths(bn.plot_explanation(x, seven, unseen="missing"))
    assert drawn == lengths(bn.plot_explanation(x, missing))
    with pytest.raises(ValueError, match="'seven' not among the levels"):
        bn.plot_explanation(x, row | {"doors": "seven"})


def test_cv_shows_folds_and_means():
    names = ["nb", "$tan$", "_hidden", "a model with quite a long name that says what it is, more or less"]
    table = pd.DataFrame(np.random.default_rng(0).uniform(0.8, 1, (10, 4)), columns=names)
    ax = bn.plot_cv(table)
    check_readable(ax)
    *folds, means = [line.get_xdata().tolist() for line in ax.lines]
    assert folds == table.T.to_numpy().tolist()
    assert means == table.mean().tolist()
    assert legend(ax) == ["fold", "mean"]
    assert ax.get_title("left") == "Cross-validation, 10 folds"
    assert {f"{mean:.3f}" for mean in table.mean()} <= {text.get_text() for text in ax.texts}
    check_readable(bn.plot_cv(table.iloc[:1, :1]))


@pytest.fixture(scope="module")
def judged(car):
    models = {
        "nb": bn.lp(bn.nb("class", car), car, smooth=1),
        "a model with quite a long name": bn.lp(bn.aode("class", car), car, smooth=1),
    }
    return bn.cv(models, car, k=4, metric=["accuracy", "log_loss"], mean=False, rng=0)


@pytest.mark.parametrize(
    ("metric", "label"),
    [("accuracy", "accuracy in the fold"), ("log_loss", "log loss in the fold, lower is better")],
)
def test_cv_shows_what_the_largest_class_alone_scores(judged, metric, label):
    alone = judged.attrs["cv"]["baselines"][metric]
    narrow = plt.subplots(figsize=(3.5, 3), layout="constrained")[1]
    short = judged.rename(columns={"a model with quite a long name": "aode"})
    for ax, results in ((None, judged), (narrow, short)):
        drawn = bn.plot_cv(results, metric=metric, ax=ax)
        check_readable(drawn)
        assert drawn.get_xlabel().replace("\n", " ") == label
        assert drawn.lines[-1].get_xdata() == [alone, alone]
        assert legend(drawn)[-1] == "majority class"
        assert drawn.get_title("left") == "Cross-validation, 4 folds"
    assert bn.plot_cv(judged.xs(metric, axis=1, level=1)).get_xlabel() == "figure in the fold"
    with pytest.raises(ValueError, match="metric must be given, because the results have several"):
        bn.plot_cv(judged)


def test_confusion_shows_every_count(car):
    frame = long_names(car)
    target = frame.columns[-1]
    labels = bn.predict(bn.lp(bn.nb(target, frame), frame, smooth=1), frame)
    counts = bn.confusion(labels, frame[target])
    narrow = plt.subplots(figsize=(3.4, 3), layout="constrained")[1]
    short = counts.set_axis(list("abcd"), axis=0).set_axis(list("abcd"), axis=1)
    for ax, table in ((None, counts), (narrow, short)):
        drawn = bn.plot_confusion(table, ax=ax)
        check_readable(drawn)
        of_rows = counts.div(counts.sum(axis=1), axis=0).to_numpy().ravel()
        cells = [f"{n:,}\n{share:.0%}" for n, share in zip(counts.to_numpy().ravel(), of_rows, strict=True)]
        assert [text.get_text() for text in drawn.texts] == cells
        correct = np.trace(counts) / len(car)
        title = f"1,728 rows, {correct:.1%} correct % and shade: share of the actual class"
        assert drawn.get_title("left").replace("\n", " ") == title
        shares = np.asarray(drawn.images[0].get_array())
        assert np.allclose(shares, counts.div(counts.sum(axis=1), axis=0))
        assert (drawn.get_ylabel(), drawn.get_xlabel()) == ("actual", "predicted")
    empty = bn.plot_confusion(pd.DataFrame([[0, 0], [1, 2]], list("ab"), list("ab")))
    assert np.allclose(empty.images[0].get_array(), [[0, 0], [1 / 3, 2 / 3]])
    with pytest.raises(TypeError, match="counts must be a result of confusion; got "):
        bn.plot_confusion(counts.to_numpy())
    with pytest.raises(ValueError, match="counts must be a table with the same classes as rows and columns"):
        bn.plot_confusion(counts.iloc[:3])
    with pytest.raises(TypeError, match="counts must be a table of numbers of rows"):
        bn.plot_confusion(-counts)


def test_calibration_shows_what_came_true():
    said = np.array([0.05] * 20 + [0.55] * 10 + [0.95] * 20)
    actual = pd.Series(["yes"] + ["no"] * 19 + ["yes"] * 8 + ["no"] * 2 + ["yes"] * 20)
    posteriors = pd.DataFrame({"no": 1 - said, "yes": said})
    narrow = plt.subplots(figsize=(2.8, 2.6), layout="constrained")[1]
    for ax in (None, narrow):
        drawn = bn.plot_calibration(posteriors, actual, target="yes", ax=ax)
        check_readable(drawn)
        assert np.allclose(drawn.collections[0].get_offsets(), [[0.05, 1 / 20], [0.55, 0.8], [0.95, 1]])
    low, high = drawn.collections[1].get_segments()[1][:, 1]
    assert [low, high] == pytest.approx([0.4901625, 0.9433178], abs=1e-6)  # Wilson's interval of 8 of 10
    low, high = drawn.collections[2].get_segments()[1][:, 1]  # 10 rows with probability .55
    half = 1.959964 * (0.55 * 0.45 / 10) ** 0.5
    assert [low, high] == pytest.approx([0.55 - half, 0.55 + half], abs=1e-6)
    marks = ["share in 10 to 20 rows (area)", "95 % interval of the share", "95 % of calibrated models"]
    assert legend(drawn) == [*marks, "perfect calibration"]
    assert drawn.get_title("left").replace("\n", " ") == "50 rows, calibration error 0.070"
    assert drawn.get_xlabel() == "probability given to yes"
    assert bn.plot_calibration(posteriors, actual).get_xlabel() == "probability given to yes"
    other = bn.plot_calibration(posteriors, actual, target="no")
    assert other.get_xlabel() == "probability given to no"
    assert np.allclose(other.collections[0].get_offsets(), [[0.05, 0], [0.45, 0.2], [0.95, 19 / 20]])
    two = bn.plot_calibration(posteriors, actual.to_numpy(), bins=2, target="no")
    assert np.allclose(two.collections[0].get_offsets(), [[11 / 60, 2 / 30], [0.95, 19 / 20]])


def test_calibration_of_several_classes_is_that_of_the_likeliest(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    posteriors = bn.predict(x, car, prob=True)
    drawn = bn.plot_calibration(posteriors, car["class"], bins=15)
    check_readable(drawn)
    assert drawn.get_xlabel().replace("\n", " ") == "probability given to the most probable class"
    said, was = np.asarray(drawn.collections[0].get_offsets()).T
    top = posteriors.max(axis=1)
    rows = np.histogram(np.ceil(top * 15 - 1e-12), np.arange(0.5, 16))[0]
    error = np.average(np.abs(said - was), weights=rows[rows > 0])
    assert drawn.get_title("left").replace("\n", " ") == f"1,728 rows, calibration error {error:.3f}"


@pytest.mark.parametrize("size", [None, (3.4, 3.4)])
def test_ranks_show_models_groups_and_the_critical_difference(size):
    names = ["nb", "$x$", "_k", "tan", "a long name"]
    table = pd.DataFrame(np.tile([5.0, 4, 3, 2, 1], (9, 1)), columns=names)
    comparison = bn.compare_ranks(table)  # critical difference 2.03: three in a row belong together
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    drawn = bn.plot_ranks(comparison, ax=ax)
    check_readable(drawn)
    written = [text.get_text() for text in drawn.texts]
    assert written[:5] == ["nb  1.00", r"\$x\$  2.00", "_k  3.00", "tan  4.00", "a long name  5.00"]
    assert written[5] == f"critical difference {comparison.critical_difference:.2f} at 0.05"
    thick = [line.get_xdata() for line in drawn.lines if line.get_linewidth() == 4]
    assert [np.round(ends).tolist() for ends in thick] == [[1, 3], [2, 4], [3, 5]]
    assert list(drawn.lines[-1].get_xdata()) == [1, 1 + comparison.critical_difference]  # from rank 1
    assert drawn.get_xlabel() == "average rank on 9 data sets, 1 is best"
    with pytest.raises(TypeError, match="comparison must be a result of compare_ranks; got "):
        bn.plot_ranks(table)


def test_ranks_that_differ_have_no_bar():
    table = pd.DataFrame(np.tile([2.0, 1.0], (9, 1)), columns=["a", "b"])
    for ranked, n_bars in ((table, 0), (table.assign(b=table["a"]), 1)):
        drawn = bn.plot_ranks(bn.compare_ranks(ranked))
        check_readable(drawn)
        assert len([line for line in drawn.lines if line.get_linewidth() == 4]) == n_bars


@pytest.mark.slow
def test_many_classes_are_drawn_without_numbers():
    names = [f"class {i}" for i in range(1000)]
    counts = pd.DataFrame(np.eye(1000, dtype=int), index=names, columns=names)
    start = time.process_time()
    ax = bn.plot_confusion(counts)
    ax.figure.canvas.draw()
    assert time.process_time() - start < 10
    assert not ax.texts
    assert [label.get_text() for label in ax.get_yticklabels()][::14] == ["class 0", "class 999"]
    assert len(bn.plot_confusion(counts.iloc[:30, :30]).texts) == 900
    assert not bn.plot_confusion(counts.iloc[:31, :31]).texts


def test_intervals_have_few_digits_in_pictures():
    rng = np.random.default_rng(0)
    mass = rng.normal(size=300)
    frame = pd.DataFrame({"mass": mass, "class": np.where(mass + rng.normal(size=300) > 0, "u", "v")})
    x = bn.bnc("nb", "class", frame, smooth=1, discretize="quantile")
    exact, short = bn.values(x)["mass"], x.preparation.discretizer.short_interval_labels["mass"]
    assert max(map(len, exact)) > 25 > max(map(len, short))
    assert labels(bn.plot_cpt(x, "mass", dataset=frame)) == list(short)
    for picture in (bn.plot(x, distributions=True), bn.plot(x, distributions=True, row={"mass": 0.1})):
        assert all(label not in picture.source for label in exact)


def test_effects_of_many_levels_are_refused():
    frame = pd.DataFrame({"town": [f"t{i}" for i in range(301)] * 2, "c": ["u", "v"] * 301})
    frame["town"] = frame["town"].astype("category")
    x = bn.lp(bn.nb("c", frame), frame, smooth=1)
    with pytest.raises(ValueError, match="must be a feature with at most 300 levels; got 'town' with 301"):
        bn.plot_effect(x, "town")


def test_dollars_are_no_mathematics(car):
    for label in ("$x^2$", r"\$5", r"a$b$c$", "100$", "$"):
        ax = plt.subplots()[1]
        text = ax.text(0, 0, label_in_lines(label))
        plain, mathematics = text._preprocess_math(text.get_text())
        assert (plain, mathematics) == (label, False)


def test_labels_are_broken_between_words():
    name = "export_administration_act_south_africa"
    assert label_in_lines(f"{name} = n") == f"{name}\n= n"
    assert label_in_lines("persons = 2, doors = 5more, lug_boot = small").count("\n") == 1
    assert label_in_lines("x = (0.079005, inf]", 12) == "x =\n(0.079005, inf]"
    assert label_in_lines(name, 20) == "export_\nadministration_act_\nsouth_africa"
    assert label_in_lines("a" * 50, 20) == "a" * 29 + "…"
    assert label_in_lines("P(x = y | class, other)", 12) == "P(x = y |\nclass,\nother)"
    assert label_in_lines("word " * 50, 20).endswith("…")
    assert label_in_lines("größe\n(€)") == "größe (€)"
    assert label_in_lines("") == ""


@pytest.mark.slow
def test_drawing_into_given_axes(car):
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
    with pytest.raises(TypeError, match="ax must be axes of matplotlib; got "):
        bn.plot_cpt(x, "safety", ax=figure)


def test_without_matplotlib_an_error_says_what_to_install(car, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        bn.plot_cpt(bn.lp(bn.nb("class", car), car, smooth=1), "safety")


def test_the_largest_negative_weight_is_drawn(voting):
    options = {"backoff": True, "held_out": "weights", "missing_level": False}
    x = bn.bnc("kdb_mi", "Class", voting, **options)
    weights = bn.feature_weights(x)
    lowest = weights.idxmin()
    assert weights[lowest] < -0.005
    ax = bn.plot_weights(x, top=int((weights.abs() >= -weights[lowest]).sum()))
    assert lowest in [label.get_text().replace("\n", "") for label in ax.get_yticklabels()]


def test_equal_lines_of_an_effect_are_one(car):
    """In a cross of all values, counted once, maint says the same of the class at each level of buying."""
    frame = car.drop_duplicates(["buying", "maint", "doors"]).assign(**{"class": lambda t: t["doors"]})
    x = bn.lp(bn.anb("class", {"maint": ["buying"]}, frame), frame, smooth=1)
    ax = bn.plot_effect(x, "maint", target=frame["class"].iloc[0])
    assert ax.get_legend() is None
    assert len(ax.containers) == 1


def test_the_last_of_two_classes_is_drawn_and_all_of_three():
    two = pd.DataFrame({"x": list("uvuvuv"), "y": list("aabbbb")})
    axes = bn.plot_effect(bn.lp(bn.nb("y", two), two, smooth=1), "x")
    assert axes.get_title(loc="left") == "Effect of x on y = b"
    three = pd.DataFrame({"x": list("uvuvuv"), "y": list("aabbbc")})
    x = bn.lp(bn.nb("y", three), three, smooth=1)
    axes = bn.plot_effect(x, "x")
    assert axes.get_title(loc="left") == "Effect of x on y"
    assert legend(axes) == ["y = a", "y = b", "y = c"]
    for bars, label in zip(axes.containers, "abc", strict=True):
        [alone] = bn.plot_effect(x, "x", target=label).containers
        np.testing.assert_allclose([b.get_width() for b in bars], [b.get_width() for b in alone])


@pytest.fixture(scope="module")
def banded():
    data = bn.load_pima()[["glucose", "age", "diabetes"]].head(300)
    return bn.bnc(class_var="diabetes", dataset=data, pairs=0, interval=True)


@pytest.mark.slow
def test_effects_with_intervals_have_a_band_within_the_training_data(banded):
    """The band is the interval of draws, and the curve ends where the values of training end."""
    ax = bn.plot_effect(banded, "glucose")
    assert legend(ax)[0] == "90 % interval"
    (points, effect) = ax.lines[1].get_data()
    assert (points.min(), points.max()) == (44, 199)
    [band] = ax.collections
    corners = band.get_paths()[0].vertices
    draws = banded.learned["draws"]
    first = []
    for draw in draws:
        first.append(bn.plot_effect(draw, "glucose").lines[1].get_ydata()[0])
        plt.close()
    half = scipy.stats.t.ppf(0.95, len(draws) - 1) * np.std(first, ddof=1)
    low, high = np.unique(corners[corners[:, 0] == 44, 1])
    assert [low, high] == pytest.approx([effect[0] - half, effect[0] + half], rel=1e-9)
    assert "90 % interval" not in legend(bn.plot_effect(bn.from_effects(bn.effects(banded)), "glucose"))


@pytest.mark.slow
def test_nomograms_write_short_intervals_that_do_not_overlap(banded):
    ax = bn.plot_nomogram(bn.scorecard(banded, most_intervals=5))
    texts = [text.get_text() for text in ax.texts]
    assert any(text.startswith("≤ ") for text in texts)
    assert any(text.startswith("> ") for text in texts)
    assert not any("inf" in text for text in texts)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent().padded(-1) for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.slow
def test_nomograms_translate_totals_into_probabilities(banded):
    card = bn.scorecard(banded, pdo=20, score=600, odds=1, most_intervals=5)
    [half] = [text for text in bn.plot_nomogram(card).texts if text.get_text() == "0.5"]
    low, high = card.probabilities["total"].iloc[[0, -1]]
    assert half.get_position()[0] == pytest.approx((600 - low) / (high - low))


def test_explanations_draw_known_and_missing_values_but_not_unknown_ones():
    women = bn.load_pima().head(300)
    x = bn.bnc(class_var="diabetes", dataset=women, pairs=[("glucose", "age")])
    axes = bn.plot_explanation(x, {"glucose": 171, "insulin": None})
    labels = {text.get_text() for text in axes.get_yticklabels()}
    assert labels == {"start", "glucose = 171", "insulin missing", "sum"}


ANSWERS = [
    "ja, auf jeden Fall und ohne jede Einschränkung",
    "eher ja als nein, wenn es sein muss",
    "weiß nicht / keine Angabe",
    "nein",
]


def survey(n=400):
    rng = np.random.default_rng(0)
    name = "How satisfied are you with the way in which your last complaint was handled by our staff"
    frame = pd.DataFrame({name: rng.choice(ANSWERS, n), "x": rng.choice(list("abcdefg"), n)})
    frame["income"] = rng.normal(0, 1e6, n)
    labels = [f"class {i}" for i in range(11)] + ["a class with a long name (other, please specify)"]
    return frame.assign(y=rng.choice(labels, n))


def check_words(ax):
    """Check that no line of a label of the survey begins or ends within a word."""
    frame = survey()
    known = [frame.columns[0], f"P({frame.columns[0]} | y)", *ANSWERS, *frame["y"].unique()]
    for text in texts(ax):
        joined = text.get_text().replace("\n", " ")
        if alike := [name for name in known if name[:12] == joined[:12]]:
            assert any(name == joined or name.startswith(joined.removesuffix("…")) for name in alike)


@pytest.mark.slow
def test_long_labels_keep_their_words_in_pictures_of_a_bounded_size():
    frame = survey()
    name = frame.columns[0]
    x = bn.bnc("nb", "y", frame[[name, "x", "y"]], smooth=1)
    counts = bn.confusion(bn.predict(x, frame), frame["y"])
    for ax in (bn.plot_confusion(counts), bn.plot_cpt(x, name), bn.plot_cpt(x, "x")):
        assert max(ax.figure.get_size_inches()) < 10.5
        check_words(ax)
    two = frame.assign(y=np.where((frame[name] == ANSWERS[0]) ^ (frame["x"] == "a"), "g", "h"))
    card = bn.scorecard(bn.bnc("nb", "y", two[[name, "x", "y"]], smooth=1))
    ax = bn.plot_nomogram(card)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
    overlaps = [(i, j) for i, j in combinations(range(len(boxes)), 2) if boxes[i].overlaps(boxes[j])]
    assert not overlaps
    check_words(ax)
    found = " ".join(text.get_text().replace("\n", " ") for text in ax.texts)
    assert all(label in found for label in ANSWERS)
    ax = bn.plot_explanation(bn.bnc("nb", "y", two, smooth=1, discretize="mdlp"), two.iloc[0])
    assert "←\n" not in ax.get_xlabel()
    assert ax.get_xlabel().endswith("→ h")


def test_numbers_in_explanations_have_a_sensible_number_of_digits():
    frame = pd.DataFrame({"income": [-1578391.4031016368, 12.5, 0.000123456789] * 10, "y": list("aab") * 10})
    x = bn.bnc("nb", "y", frame, smooth=1, numbers="gaussian")
    for row, text in enumerate(["-1578391", "12.5", "0.000123457"]):
        ax = bn.plot_explanation(x, frame.iloc[row])
        assert f"income = {text}" in [label.get_text() for label in ax.get_yticklabels()]


def test_effects_say_how_many_classes_and_levels_of_parents_are_not_drawn():
    frame = survey()
    x = bn.bnc("nb", "y", frame[["x", "y"]], smooth=1)
    names = [text.get_text() for text in bn.plot_effect(x, "x").get_legend().get_texts()]
    assert names[5:] == ["7 more classes are not drawn"]
    two = frame[["x"]].assign(z=frame["x"], y=frame["y"] < "class 5")
    tree = bn.lp(bn.tan_cl("y", two, root="x"), two, smooth=1)
    names = [text.get_text() for text in bn.plot_effect(tree, "z").get_legend().get_texts()]
    assert names[5:] == ["2 more levels are not drawn"]
    car = bn.load_car()
    ax = bn.plot_effect(bn.bnc("nb", "class", car, smooth=1), "safety")  # four classes, all drawn
    assert len(ax.get_legend().get_texts()) == 4


def test_legends_and_marks_are_seen_on_a_dark_background():
    pima = bn.load_pima()[["glucose", "age", "diabetes"]]
    x = bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")
    with plt.style.context("dark_background"):
        importance = bn.plot_importance(x, pima)
        effect, nomogram = bn.plot_effect(x, "glucose", dataset=pima), bn.plot_nomogram(bn.scorecard(x))
        for ax in (importance, effect):
            for handle in ax.get_legend().legend_handles:
                color = handle.get_color() if hasattr(handle, "get_color") else handle.get_facecolor()
                assert not matplotlib.colors.same_color(color, "black")
        for line in (importance.get_legend().legend_handles[1], *nomogram.lines):
            assert matplotlib.colors.same_color(line.get_color(), "white")


def test_rounding_errors_are_not_drawn():
    """Bars of 1e-16 filled the axis."""
    frame = pd.DataFrame({"a": [*"uv"] * 20, "y": [*"nnyy"] * 10})
    table = bn.effects(bn.bnc("nb", "y", frame, smooth=1))
    table["y"] = [0, 1e-16, -2e-16, 0]
    x = bn.from_effects(table)
    assert [bar.get_width() for bar in bn.plot_effect(x, "a").patches] == [0, 0]
    assert bn.plot_importance(x, frame).get_xlim()[1] > 0.1


def test_ranks_of_many_models_have_room_for_their_numbers():
    table = pd.DataFrame(np.random.default_rng(0).random((6, 25))).add_prefix("m")
    assert bn.plot_ranks(bn.compare_ranks(table)).get_xticks().tolist() == [1, 4, 7, 10, 13, 16, 19, 22, 25]


def test_one_row_is_not_called_rows():
    axes = bn.plot_confusion(bn.confusion(["a"], ["a"]))
    assert axes.get_title(loc="left").startswith("1 row, 100.0%")
