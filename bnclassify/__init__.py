"""Discrete Bayesian network classifiers: a functional port of the R package bnclassify.

A data frame goes in at the top. Each package hands on to those below it, and imports from none of them::

    base        immutable values, checks and messages, arrays, graphs, randomness
    frames      data frames become codes, numbers intervals, codes counts     encode discretize ...
    model       the values that learners return, and questions to them        BNC families cpt is_nb ...
    inference   the log joint probability of rows and classes, and metrics of it
    parameters  from structure and data to probability tables                 lp min_testing_depths
    structure   learners of structure, from counts or by search               nb tan_cl aode hc kdb ...
    learning    structure and parameters in one call, and again               bnc
    evaluation  prediction, cross-validation, comparison, any question        predict cv compare query ...
    multi       several class variables at once                               mbc maode chain hamming ...
    plotting    pictures: networks, charts                                    plot plot_cpt plot_cv ...
    exchange    files of models, objects and files of other libraries         save load write_bif to_pgmpy ...
    examples    data to try all this on                                       load_car load_voting
    sklearn     an estimator for scikit-learn (import it from here)           BNCClassifier

Coming from R? The verbs are the same, and what the package lacks of R's names it answers with its own:
``bnclassify.logLik`` says `loglik`. Every difference, in names and in what is computed, is on the page
Coming from R of the site, ``vignettes/coming_from_r.py`` in the sources. In short: loglik, cloglik for
logLik, cLogLik; feature_weights for awnb_weights; to_networkx for as_igraph; to_pgmpy, to_pyagrum for
as_grain; BNCClassifier for as_mlr; load_car(), load_voting() for data; save, load for saveRDS, readRDS.

Verbs take a model, or to learn one the name of the class, and then the data; the rest goes by
keyword. ``help(verb)`` has the formula, the errors, the source and an example of each.

>>> from bnclassify import accuracy, load_car, lp, predict, tan_cl
>>> car = load_car()
>>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
>>> round(accuracy(predict(model, car), car["class"]), 3)
0.942
"""

from importlib.metadata import version
from typing import Any

from .evaluation.agreement import accuracy, confusion
from .evaluation.explanation import explain
from .evaluation.inferences import impute, query, sample
from .evaluation.pairs import compare
from .evaluation.prediction import predict
from .evaluation.ranking import compare_ranks
from .evaluation.scores import AIC, BIC, cloglik, cmi, loglik
from .evaluation.validation import cv, cv_predict
from .examples.loading import load_car, load_voting
from .exchange.bif import read_bif, write_bif
from .exchange.libraries import to_networkx, to_pgmpy, to_pyagrum
from .exchange.storage import load, save
from .frames.discretization import Discretizer, discretize
from .frames.folding import stratified_folds
from .frames.intake import encode
from .frames.merging import Merger, merge_rare
from .frames.partitions import Partitions
from .frames.preparation import Preparation
from .frames.schema import Dataset
from .learning.calls import bnc
from .learning.updates import update
from .model.ensembles import AODE, Ensemble
from .model.forms import is_anb, is_aode, is_nb, is_ode, is_semi_naive
from .model.networks import BNC, DN
from .model.questions import (
    class_var,
    class_vars,
    classes,
    families,
    feature_families,
    features,
    markov_blanket,
    members,
    modelstring,
    narcs,
    nparams,
    values,
    vars,
)
from .model.superparents import ANDE
from .model.tables import cpt, params
from .model.traces import (
    concentrations,
    em_objectives,
    feature_weights,
    greedy_scores,
    loo_summary,
    manb_arc_posterior,
    search_steps,
)
from .multi.agreement import exact_match, hamming
from .multi.averages import MAODE
from .multi.chains import Chain
from .multi.kinds import MBC
from .multi.learners import chain, maode, mbc
from .parameters.estimation import lp
from .parameters.trees import min_testing_depths
from .plotting.bars import plot_explanation, plot_importance, plot_weights
from .plotting.charts import plot_cv, plot_scores
from .plotting.effects import plot_effect
from .plotting.heatmaps import plot_cpt
from .plotting.networks import plot
from .plotting.verdicts import plot_calibration, plot_confusion, plot_ranks
from .structure.climbing import ban, hc
from .structure.dependence import kdb_mi
from .structure.fixed import anb, aode, from_modelstring, nb
from .structure.independence import chisq_dn
from .structure.local_scores import network_score
from .structure.search.learners import bsej, fssj, kdb, tan_hc, tan_hcsp
from .structure.superparents import ande
from .structure.trees import chow_liu, tan_cl

__all__ = [
    "AIC",
    "ANDE",
    "AODE",
    "BIC",
    "BNC",
    "DN",
    "MAODE",
    "MBC",
    "Chain",
    "Dataset",
    "Discretizer",
    "Ensemble",
    "Merger",
    "Partitions",
    "Preparation",
    "accuracy",
    "anb",
    "ande",
    "aode",
    "ban",
    "bnc",
    "bsej",
    "chain",
    "chisq_dn",
    "chow_liu",
    "class_var",
    "class_vars",
    "classes",
    "cloglik",
    "cmi",
    "compare",
    "compare_ranks",
    "concentrations",
    "confusion",
    "cpt",
    "cv",
    "cv_predict",
    "discretize",
    "em_objectives",
    "encode",
    "exact_match",
    "explain",
    "families",
    "feature_families",
    "feature_weights",
    "features",
    "from_modelstring",
    "fssj",
    "greedy_scores",
    "hamming",
    "hc",
    "impute",
    "is_anb",
    "is_aode",
    "is_nb",
    "is_ode",
    "is_semi_naive",
    "kdb",
    "kdb_mi",
    "load",
    "load_car",
    "load_voting",
    "loglik",
    "loo_summary",
    "lp",
    "manb_arc_posterior",
    "maode",
    "markov_blanket",
    "mbc",
    "members",
    "merge_rare",
    "min_testing_depths",
    "modelstring",
    "narcs",
    "nb",
    "network_score",
    "nparams",
    "params",
    "plot",
    "plot_calibration",
    "plot_confusion",
    "plot_cpt",
    "plot_cv",
    "plot_effect",
    "plot_explanation",
    "plot_importance",
    "plot_ranks",
    "plot_scores",
    "plot_weights",
    "predict",
    "query",
    "read_bif",
    "sample",
    "save",
    "search_steps",
    "stratified_folds",
    "tan_cl",
    "tan_hc",
    "tan_hcsp",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "update",
    "values",
    "vars",
    "write_bif",
]

__version__ = version("pybnclassify")

_IN_R = {
    "logLik": "loglik(x, dataset)",
    "cLogLik": "cloglik(x, dataset)",
    "awnb_weights": "feature_weights(x)",
    "as_igraph": "to_networkx(x)",
    "as_grain": "to_pgmpy(x) or to_pyagrum(x); predict and explain need neither",
    "as_mlr": "BNCClassifier, imported from bnclassify.sklearn",
    "data": "load_car() or load_voting()",
}


def __getattr__(name: str) -> Any:
    """Say what a name of the R package is called here."""
    if name in _IN_R:
        raise AttributeError(f"bnclassify has no {name!r}: what R calls so is here {_IN_R[name]}")
    if name == "BNCClassifier":
        raise AttributeError("BNCClassifier is imported from bnclassify.sklearn, as scikit-learn is optional")
    raise AttributeError(f"module 'bnclassify' has no attribute {name!r}")
