"""The figures of the R package, data set by data set."""

import pytest

import bnclassify as bn

from .conftest import read_reference, reference_frame
from .oracles import as_array, close

NAMES = ["car", "voting_complete", "voting"]
STRUCTURES = ["nb", "tan_cl_loglik", "tan_cl_aic", "tan_cl_bic"]


def structure(name, learner):
    frame, class_var = reference_frame(name), read_reference(name)["class"]
    if learner == "nb":
        return bn.nb(class_var, frame)
    return bn.tan_cl(class_var, frame, score=learner.removeprefix("tan_cl_"))


@pytest.mark.parametrize("name", NAMES)
def test_mutual_information(name):
    frame, class_var = reference_frame(name), read_reference(name)["class"]
    for pair in read_reference(name)["cmi"]:
        close(bn.cmi(pair["x"], pair["y"], frame), pair["mi"])
        close(bn.cmi(pair["x"], pair["y"], frame, z=class_var), pair["cmi"])


@pytest.mark.parametrize("learner", STRUCTURES)
@pytest.mark.parametrize("name", NAMES)
def test_structures(name, learner):
    expected = read_reference(name)["structures"][learner]
    x = structure(name, learner)
    assert bn.families(x) == {v: tuple(f) for v, f in expected["families"].items()}
    assert bn.narcs(x) == expected["narcs"]
    assert bn.modelstring(x) == expected["modelstring"]
    for question in (bn.is_nb, bn.is_ode, bn.is_semi_naive, bn.is_anb):
        assert question(x) == expected[question.__name__]


FITS = [(name, i) for name in NAMES for i in range(len(read_reference(name)["fits"]))]


@pytest.mark.parametrize(("name", "i"), FITS)
def test_fits(name, i):
    expected, frame = read_reference(name)["fits"][i], reference_frame(name)
    x = bn.lp(structure(name, expected["structure"]), frame, smooth=expected["smooth"])
    assert bn.nparams(x) == expected["nparams"]
    for variable, table in expected["cpts"].items():
        assert bn.families(x)[variable] == tuple(table["family"])
        close(bn.params(x)[variable], as_array(table))
    if "loglik" in expected:
        class_var = bn.class_var(x)
        close(bn.loglik(x, frame), expected["loglik"])
        close(bn.AIC(x, frame), expected["aic"])
        close(bn.BIC(x, frame), expected["bic"])
        close(bn.cloglik(x, frame), expected["cloglik"])
        close(bn.accuracy(bn.predict(x, frame), frame[class_var]), expected["accuracy"])
        close(bn.predict(x, frame.head(12), prob=True), expected["posterior_head"])


@pytest.mark.parametrize("name", ["car", "voting_complete"])
def test_aode(name):
    expected, frame = read_reference(name)["aode"], reference_frame(name)
    class_var = read_reference(name)["class"]
    x = bn.lp(bn.aode(class_var, frame), frame, smooth=expected["smooth"])
    close(bn.accuracy(bn.predict(x, frame), frame[class_var]), expected["accuracy"])
    close(bn.predict(x, frame.head(12), prob=True), expected["posterior_head"])
