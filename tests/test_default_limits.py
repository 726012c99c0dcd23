"""The default at its limits: unequal classes, few rows, rows without a class, rare values and levels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.additive.contrasts import _line_and_cosines, read_feature

from .strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(rng, n, columns):
    return pd.DataFrame(rng.normal(size=(n, columns))).add_prefix("x")


def posteriors(frame, new, **options):
    return bn.predict(bn.bnc(class_var="y", dataset=frame, **options), new, prob=True)


@pytest.mark.slow
@given(share=st.sampled_from([0.05, 0.1, 0.3]), columns=st.integers(1, 6), seed=st.integers(0, 1000))
@examples(8)
def test_the_mean_posterior_is_the_share_of_a_class_if_features_say_nothing(share, columns, seed):
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(200) < 200 * share, "rare", "usual")
    p = posteriors(numbers(rng, 200, columns).assign(y=labels), numbers(rng, 500, columns))
    assert p["rare"].mean() == pytest.approx(share, rel=0.25)


def test_classes_of_one_row_each_do_not_gain_much():
    rng = np.random.default_rng(3)
    labels = np.array(["usual"] * 150 + [f"once {i}" for i in range(50)])
    p = posteriors(numbers(rng, 200, 2).assign(y=labels), numbers(rng, 200, 2))
    assert 1 - p["usual"].mean() < 0.4  # their share is 1/4


@pytest.mark.slow
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_row_without_class_changes_nothing(far):
    women = bn.load_pima()
    row = women.head(1).assign(diabetes=None)
    row.iloc[:, :8] = far
    more = pd.concat([women, row], ignore_index=True)
    more["diabetes"] = pd.Categorical(more["diabetes"], categories=["no", "yes"])
    first, second = (
        bn.predict(bn.bnc(class_var="diabetes", dataset=rows), women, prob=True) for rows in (women, more)
    )
    pd.testing.assert_frame_equal(first, second, check_exact=True)


def test_one_missing_value_is_hardly_evidence():
    rng = np.random.default_rng(5)
    frame = numbers(rng, 200, 2)
    labels = np.where(rng.random(200) < 1 / (1 + np.exp(-2 * frame["x0"])), "u", "v")
    frame.loc[0, "x0"] = np.nan
    model = bn.bnc(class_var="y", dataset=frame.assign(y=labels))
    with_value, without = (
        bn.predict(model, {"x0": value, "x1": 0.0}, prob=True)["v"].item() for value in (0.0, None)
    )
    assert abs(np.log(with_value / (1 - with_value)) - np.log(without / (1 - without))) < 0.4


def test_noise_leaves_the_default_uncertain_of_many_classes():
    """Variances are chosen by the 20 most frequent classes, here 200 of 1,000 rows, which count once."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 3))).add_prefix("x")
    frame["y"] = [f"c{i}" for i in rng.permutation(np.arange(2000) % 100)]
    m = bn.bnc(class_var="y", dataset=frame.iloc[:1000])
    assert -bn.cloglik(m, frame.iloc[1000:]) / 1000 < np.log(100) + 0.11


def test_levels_without_rows_have_no_contrasts():
    """A part of the rows of a column of postal codes declares all of them."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"code": rng.integers(0, 40, 300).astype(str), "x": rng.normal(size=300)})
    frame["y"] = np.where(frame["code"].str.endswith("1"), rng.random(300) < 0.8, rng.random(300) < 0.4)
    codes = [*sorted(frame["code"].unique()), *[f"none {i}" for i in range(3000)]]
    declared = frame.assign(code=pd.Categorical(frame["code"], categories=codes))
    feature = read_feature(bn.encode(declared[["code", "y"]]), "code", counts_missing=True, min_count=None)
    assert feature.contrasts.shape == (3041, 40)
    np.testing.assert_allclose(posteriors(declared, declared), posteriors(frame, frame), atol=1e-6)


@pytest.mark.slow
def test_ten_rows_of_noise_leave_the_default_uncertain():
    losses = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = posteriors(numbers(rng, 10, 2).assign(y=["u", "v"] * 5), numbers(rng, 500, 2))
        losses.append(-np.log(p.to_numpy()).mean() - np.log(2))
    assert np.mean(losses) < 0.08


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("n", "d"),
    [(200, 30), *[pytest.param(*size, marks=pytest.mark.slow) for size in ((150, 80), (3000, 10))]],
)
def test_noise_leaves_the_default_uncertain(n, d, whole):
    losses = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 4, (n + 2000, d)).astype(str) if whole else rng.normal(size=(n + 2000, d))
        frame = pd.DataFrame(values).add_prefix("x").assign(y=rng.choice(["a", "b"], n + 2000))
        model = bn.bnc(class_var="y", dataset=frame.iloc[:n])
        losses.append(-bn.cloglik(model, frame.iloc[n:]) / 2000)
    assert np.mean(losses) < (0.71 if n > 150 else 0.73)


def parity(n, seed=0):
    """Two flags whose equality is the class, one useful feature, and noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (n, 4)), columns=list("abcd"))
    same = frame["a"] == frame["b"]
    frame["c"] = np.where(rng.random(n) < 0.3, frame["c"], same)
    return frame.assign(y=np.where(rng.random(n) < 0.9, same, ~same)).astype(int).astype(str)


@pytest.mark.parametrize("n", [150, 1000])
def test_an_interaction_is_a_pair(n):
    model = bn.bnc(class_var="y", dataset=parity(n))
    names = [{model.features[i] for i in pair.features} for pair in model.pairs]
    assert {"a", "b"} in names
    test = parity(1000, seed=1)
    assert (bn.predict(model, test) == test["y"]).mean() > 0.85


def test_few_rows_of_an_interaction_say_little():
    train, test = parity(8), parity(500, seed=1)
    assert -bn.cloglik(bn.bnc(class_var="y", dataset=train), test) / 500 < 0.8


def test_a_class_that_was_seen_becomes_less_probable_where_each_person_has_one_row_of_each():
    """Each of 150 persons has a row of each of four classes, and the noise says nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"person": np.repeat(np.arange(150), 4) + 1000, "y": list("abcd") * 150})
    frame["noise"] = rng.normal(size=len(frame))
    frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    train, test = frame.iloc[:300], frame.iloc[300:]
    model = bn.bnc(class_var="y", dataset=train)
    seen = train.groupby("person")["y"].agg(set)
    own = test["person"].map(seen)
    possible = [4 - len(s) if isinstance(s, set) else 4 for s in own]  # by elimination
    assert -bn.cloglik(model, test) / len(test) < np.log(possible).mean() + 0.15 < np.log(4) - 0.1


@pytest.mark.slow
def test_pairs_that_the_fit_knows_have_no_effects_of_their_cells():
    # The posteriors of a cell sum to its classes, so that those of the other rows tell that of a row.
    rng, grades = np.random.default_rng(0), np.linspace(-2, 2, 8)

    def survey(n):
        z = rng.normal(size=n)
        x = np.clip(np.rint(2.5 + 0.7 * z[:, None] + rng.normal(size=(n, 6))), 1, 6)
        score = z + 0.5 * np.where(x[:, 0] > 3, x[:, 1] - 3, 3 - x[:, 1]) + 0.7 * rng.normal(size=n)
        return pd.DataFrame(x.astype(str)).add_prefix("x").assign(y=np.digitize(score, grades).astype(str))

    frame, new = survey(1500), survey(4000)
    p = posteriors(frame, new).to_numpy()[np.arange(4000), new["y"].astype(int)]
    assert -np.log(p).mean() < 1.92  # 1.902; 1.935 with effects of the cells of two pairs


def test_steps_of_a_number_have_effects_of_groups():
    """The class changes 19 times along a number without repeated values."""
    rng = np.random.default_rng(0)
    x = rng.random(2000)
    frame = pd.DataFrame({"x": x, "y": np.where(np.floor(x * 20) % 2 == 0, "a", "b")})
    model = bn.bnc(class_var="y", dataset=frame.iloc[:1000])
    assert (bn.predict(model, frame.iloc[1000:]) == frame["y"].iloc[1000:]).mean() > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 24])
def test_names_of_many_classes_do_not_matter(n):
    """Some classes, or all, have the same number of rows; variances are chosen by rows of 20 classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, n, 360) if n == 12 else np.arange(360) % n
    frame = pd.DataFrame(rng.normal(size=(n, 2))[classes] + 0.5 * rng.normal(size=(360, 2))).add_prefix("x")
    names = np.array([f"c{i:02}" for i in range(n)])
    expected = posteriors(frame.assign(y=names[classes]), frame)
    others = names[rng.permutation(n)]
    found = posteriors(frame.assign(y=others[classes]), frame)
    np.testing.assert_allclose(found[others], expected[names], atol=1e-6)


def test_more_levels_than_fit_into_memory_are_joined_from_the_rarest():
    """Of 40,001 names, one has 300 rows of "b", and each of the others a row of each class."""
    names = np.append(np.repeat(np.arange(40_000), 2), np.full(300, 40_000)).astype(str)
    frame = pd.DataFrame({"name": names, "y": [*"ab" * 40_000, *"b" * 300]})
    p = posteriors(frame, pd.DataFrame({"name": ["40000", "0"]}))["b"]
    assert p[0] > 0.98
    assert p[1] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("size", [127, 128, 254, 255, 256, 257, 300])
@pytest.mark.parametrize("settings", [{}, {"min_count": 3}], ids=str)
def test_declared_levels_without_rows_change_nothing(size, settings):
    """Groups of levels take a byte if they can."""
    rng = np.random.default_rng(0)
    labels = [f"k{k:03}" for k in range(size)]
    codes = np.append(np.arange(200) % 30, [30, 31])
    frame = pd.DataFrame({"a": pd.Categorical.from_codes(codes, labels[:32]), "x": rng.normal(size=202)})
    frame["y"] = np.where(codes % 3 + frame["x"] > 1, "u", "v")
    if size % 2:
        frame.loc[::9, "a"] = None
    declared = frame.assign(a=frame["a"].cat.set_categories(labels))
    first, second = [bn.bnc(class_var="y", dataset=own, **settings) for own in (frame, declared)]
    expected = bn.predict(first, frame, prob=True)
    pd.testing.assert_frame_equal(bn.predict(second, declared, prob=True), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.97, 0.999, 1 - 1e-9])
def test_cosines_of_a_column_of_zeros_are_no_rounding_errors(share):
    """Those of mirrored numbers are mirrored."""
    mass = np.append(share, (1 - share) * np.random.default_rng(0).dirichlet(np.ones(39)))
    _, cosines = _line_and_cosines(np.arange(40.0), mass)
    _, mirrored = _line_and_cosines(np.arange(-39.0, 1.0), mass[::-1])
    variances = np.diag(1 / np.arange(1, 13) ** 2)[: cosines.shape[1], : cosines.shape[1]]
    weighted = mass[:, None] * cosines
    np.testing.assert_allclose(cosines.T @ weighted, variances, atol=1e-9)
    np.testing.assert_allclose(np.abs(mirrored[::-1].T @ weighted), variances, atol=1e-4)
