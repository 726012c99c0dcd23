"""The measured jobs: each function on one data set, and its equivalent in another library.

This package starts from a DataFrame of categorical columns. scikit-learn gets integer codes, or encodes
itself for some jobs, and pyAgrum gets the DataFrame.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import bnclassify as bn

from .data import with_missing

SEARCHED = 250_000  # cells of data up to which greedy learners and WANBIA are measured
FEW_ROWS = 1_000  # that pyAgrum predicts; its time is by row


@dataclass(frozen=True)
class Job:
    """A job: ``ours``, and its equivalent in another library.

    ``same`` describes the agreement of the results, and raises an error if they do not. If ``apart``, the
    other library is slow and runs in a separate process.
    """

    name: str
    ours: Callable[[], Any]
    peer: str = ""
    theirs: Callable[[], Any] | None = None
    same: Callable[[Any, Any], str] | None = None
    apart: bool = False


def jobs(frame: pd.DataFrame) -> Iterator[Job]:
    """Yield the jobs for a data set."""
    naive = bn.lp(bn.nb("class", frame), frame, smooth=1)
    tan = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    incomplete = with_missing(frame, 0.1)
    yield Job("encode", partial(bn.encode, frame))
    yield from scikit_jobs(frame, naive)
    yield from agrum_jobs(frame, tan, incomplete)
    yield Job("predict nb, 10 % missing", partial(bn.predict, naive, incomplete))
    yield Job("10 iterations of EM, tan_cl, 10 % missing", partial(iterate, tan, incomplete))
    yield Job("aode + lp", partial(learn, bn.aode, frame))
    ensemble = learn(bn.aode, frame)
    yield Job("predict aode", partial(bn.predict, ensemble, frame))
    del ensemble
    yield Job("ande + lp", partial(learn, bn.ande, frame))
    averaged = learn(bn.ande, frame)
    yield Job("predict ande", partial(bn.predict, averaged, frame))
    yield Job("predict ande, 10 % missing", partial(bn.predict, averaged, incomplete))
    del averaged
    yield Job("update nb", partial(bn.update, naive, frame))
    yield Job("mbc of 3 classes + lp", partial(learn_several, frame))
    yield Job("predict mbc", partial(bn.predict, learn_several(frame), frame))
    yield Job("AIC of nb", partial(bn.AIC, naive, frame))
    yield Job("AIC of tan_cl", partial(bn.AIC, tan, frame))
    yield Job("cv of tan_cl, k=10", partial(bn.cv, tan, frame, k=10, rng=0))
    yield from network_jobs(frame)
    yield Job("lp, manb_prior=0.5", partial(bn.lp, naive, frame, smooth=1, manb_prior=0.5))
    yield Job("lp, awnb_trees=10", partial(bn.lp, naive, frame, smooth=1, awnb_trees=10, rng=0))
    if frame.size <= SEARCHED:
        yield Job("ande n=2 + lp", partial(learn, partial(bn.ande, n=2), frame))
        pairs = learn(partial(bn.ande, n=2), frame)
        yield Job("predict ande n=2", partial(bn.predict, pairs, frame))
        del pairs
        yield Job("lp, wanbia=True", partial(bn.lp, naive, frame, smooth=1, wanbia=True))
        for learner in (bn.fssj, bn.bsej, bn.tan_hc, bn.tan_hcsp, bn.kdb):
            yield Job(f"{learner.__name__}, k=5", partial(learner, "class", frame, k=5, smooth=1, rng=0))


def learn(learner: Callable[..., Any], frame: pd.DataFrame) -> Any:
    return bn.lp(learner("class", frame), frame, smooth=1)


def learn_several(frame: pd.DataFrame) -> Any:
    return bn.lp(bn.mbc(["x0", "x1", "class"], frame), frame, smooth=1)


def iterate(x: bn.BNC, incomplete: pd.DataFrame) -> Any:
    """Run ten iterations of EM."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bn.lp(x, incomplete, smooth=1, missing={"iterations": 10, "tolerance": 0})


def scikit_jobs(frame: pd.DataFrame, naive: bn.BNC) -> Iterator[Job]:
    """Yield naive Bayes and that of scikit-learn."""
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    features, label = frame.columns[:-1], frame["class"]
    codes = np.stack([frame[c].cat.codes.to_numpy(np.int64) for c in frame], axis=1)
    cards = [len(frame[c].cat.categories) for c in features]
    # scikit-learn does not smooth the prior of the classes, so it is given ours.
    settings = {"alpha": 1, "min_categories": cards, "class_prior": bn.params(naive)["class"]}
    fitted = CategoricalNB(**settings).fit(codes[:, :-1], codes[:, -1])
    encoder = OrdinalEncoder(categories=[frame[c].cat.categories for c in features], dtype=np.int64)

    def same_tables(ours: bn.BNC, theirs: Any) -> str:
        logs = [np.log(bn.params(ours)[v]).T for v in features]
        return _close(
            np.concatenate(logs, axis=1), np.concatenate(theirs.feature_log_prob_, axis=1), "tables"
        )

    def same_labels(ours: pd.Series, theirs: np.ndarray) -> str:
        share = float((ours.cat.codes.to_numpy() == theirs).mean())
        if share < 0.9999:
            raise ValueError(f"only {share:.2%} of the labels agree")
        return f"{share:.4%} of labels"

    ours = partial(learn, bn.nb, frame)
    peer = "CategoricalNB, given codes"
    yield Job(
        "nb + lp", ours, peer, lambda: CategoricalNB(**settings).fit(codes[:, :-1], codes[:, -1]), same_tables
    )
    yield Job(
        "nb + lp",
        ours,
        "OrdinalEncoder, CategoricalNB",
        lambda: make_pipeline(encoder, CategoricalNB(**settings)).fit(frame[features], label)[-1],
        same_tables,
    )
    yield Job(
        "predict nb",
        partial(bn.predict, naive, frame),
        peer,
        lambda: fitted.predict(codes[:, :-1]),
        same_labels,
    )
    encoded = bn.encode(frame)
    yield Job(
        "predict nb, encoded before",
        partial(bn.predict, naive, encoded),
        peer,
        lambda: fitted.predict(codes[:, :-1]),
        same_labels,
    )
    fold = bn.stratified_folds(label, k=10, rng=0)
    parts = [(np.nonzero(fold != i)[0], np.nonzero(fold == i)[0]) for i in range(10)]

    def same_accuracy(ours: float, theirs: float) -> str:
        if abs(ours - theirs) > 0.005:  # ours learns the prior of the classes in each fold
            raise ValueError(f"accuracy {ours} and {theirs}")
        return f"accuracy {ours:.4f}, {theirs:.4f}"

    yield Job(
        "cv of nb, k=10",
        partial(bn.cv, naive, frame, folds=fold),
        "cross_val_score, given codes",
        lambda: cross_val_score(CategoricalNB(**settings), codes[:, :-1], codes[:, -1], cv=parts).mean(),
        same_accuracy,
    )


def agrum_jobs(frame: pd.DataFrame, tan: bn.BNC, incomplete: pd.DataFrame) -> Iterator[Job]:
    """Yield tree-augmented naive Bayes and that of pyAgrum."""
    import pyagrum
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    text = frame.astype(str)
    features = list(frame.columns[:-1])
    network = bn.to_pyagrum(tan)
    names = list(bn.classes(tan))

    def processor() -> Any:
        return DiscreteTypeProcessor(defaultDiscretizationMethod="NoDiscretization", defaultNumberOfBins=None)

    def learn_tan() -> list[tuple[str, str]]:
        classifier = BNClassifier(
            type_processor=processor(), learningMethod="TAN", prior="Smoothing", priorWeight=1
        )
        classifier.fit(text[features], text["class"])
        learned = classifier.bn_
        return [(learned.variable(a).name(), learned.variable(b).name()) for a, b in learned.arcs()]

    def same_tree(ours: bn.BNC, arcs: list[tuple[str, str]]) -> str:
        above = {b: [a] for a, b in arcs if a != "class"}
        theirs = bn.lp(bn.anb("class", above, frame), frame, smooth=1)
        own, other = bn.loglik(ours, frame), bn.loglik(theirs, frame)
        if not np.isclose(own, other, rtol=1e-3):
            raise ValueError(f"log-likelihood {own} and {other}")
        return f"log-likelihood {own:.0f}, {other:.0f}"

    def learn_tables() -> tuple[tuple[str, ...], np.ndarray]:
        learner = pyagrum.BNLearner(text, network)
        learner.useSmoothingPrior(1)
        learned = learner.learnParameters(network.dag())  # the table goes when the network goes
        table = learned.cpt(features[-1])
        return tuple(table.names), table.toarray()

    def same_table(ours: bn.BNC, theirs: tuple[tuple[str, ...], np.ndarray]) -> str:
        names, table = theirs  # the first name is of the last axis
        axes = [names[::-1].index(member) for member in bn.families(ours)[features[-1]]]
        return _close(bn.params(ours)[features[-1]], table.transpose(axes), "a table")

    def classify() -> np.ndarray:
        classifier = BNClassifier(type_processor=processor(), significant_digit=12)
        classifier.fromTrainedModel(network, "class", variableList=features)
        return classifier.predict_proba(text[features].head(FEW_ROWS))

    def infer() -> np.ndarray:
        engine = pyagrum.LazyPropagation(network)
        engine.addTarget("class")
        result = []
        for row in incomplete[features].head(FEW_ROWS).itertuples(index=False):
            engine.setEvidence(
                {v: value for v, value in zip(features, row, strict=True) if not pd.isna(value)}
            )
            engine.makeInference()
            result.append(engine.posterior("class").toarray())
        return np.array(result)

    def same_posteriors(data: pd.DataFrame, ours: pd.Series, theirs: np.ndarray) -> str:
        return _close(bn.predict(tan, data.head(FEW_ROWS), prob=True)[names], theirs, "posteriors")

    yield Job(
        "tan_cl + lp", partial(learn, bn.tan_cl, frame), "pyAgrum TAN", learn_tan, same_tree, apart=True
    )
    yield Job(
        "lp of a given tree", partial(bn.lp, tan, frame, smooth=1),
        "pyAgrum learnParameters", learn_tables, same_table, apart=True,
    )  # fmt: skip
    some, some_incomplete = frame.head(FEW_ROWS), incomplete.head(FEW_ROWS)
    yield Job(
        "predict tan_cl, 1,000 rows", partial(bn.predict, tan, some),
        "pyAgrum BNClassifier", classify, partial(same_posteriors, frame), apart=True,
    )  # fmt: skip
    yield Job(
        "predict tan_cl, 1,000 rows, 10 % missing", partial(bn.predict, tan, some_incomplete),
        "pyAgrum LazyPropagation", infer, partial(same_posteriors, incomplete), apart=True,
    )  # fmt: skip
    yield Job("predict tan_cl", partial(bn.predict, tan, frame))
    yield Job("predict tan_cl, 10 % missing", partial(bn.predict, tan, incomplete))


def network_jobs(frame: pd.DataFrame) -> Iterator[Job]:
    """Yield learners of networks from counts, and hill climbing of pyAgrum."""
    import pyagrum

    text = frame.astype(str)

    def climb() -> list[tuple[str, str]]:
        learner = pyagrum.BNLearner(text)
        learner.useGreedyHillClimbing()
        learner.useScoreBIC()
        learner.useNoPrior()
        found = learner.learnDAG()
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in found.arcs()]

    def same_score(ours: bn.BNC, arcs: list[tuple[str, str]]) -> str:
        # An arc and its reverse have the same score; the libraries choose differently and may end elsewhere.
        above = {v: tuple(a for a, b in arcs if b == v) for v in frame}
        families = [(v, *(p for p in above[v] if p != "class"), *{"class"} & {*above[v]}) for v in frame]
        own, other = (bn.network_score(x, frame) for x in (ours, bn.BNC("class", tuple(families))))
        if own < other - 5e-3 * abs(other):
            raise ValueError(f"BIC {own}, worse than {other}")
        return f"BIC {own:.0f}, {other:.0f}"

    for learner in (bn.chow_liu, bn.kdb_mi, bn.ban, bn.chisq_dn):
        yield Job(learner.__name__, partial(learner, "class", frame))
    yield Job("hc", partial(bn.hc, "class", frame), "pyAgrum hill climbing", climb, same_score, apart=True)


def _close(ours: Any, theirs: Any, what: str) -> str:
    difference = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
    if difference > 1e-6:
        raise ValueError(f"{what} differ by {difference:.1e}")
    return f"{what} to {max(difference, 1e-16):.0e}"
