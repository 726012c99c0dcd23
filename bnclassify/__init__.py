"""Bayesian network classifiers for tables, with the functions of the R package bnclassify.

Data flow downwards through this list. Each package imports only from those above it::

    base             immutable values, checks and messages, arrays, graphs, randomness
    frames           DataFrames, chunks and Dask become encoded data               encode Dataset ...
    counts           contingency tables, tables of pairs, information
    numbers          intervals of numeric columns, rare levels                     discretize merge_rare
    model            the base class of models, and accessors                       families cpt is_nb ...
    network          Bayesian networks: values, inference, priors, tables, methods  BNC Ensemble
    recipe           back-off tables, leave-one-out weights, averaged cut points
    superparents     averaged one- and n-dependence estimators                     aode ande
    metrics          metrics of predictions, folds, the scoring loop
    learners         learners of structure, from counts or by greedy search        nb tan_cl hc kdb ...
    several          several class variables                                       mbc maode chain ...
    fitting          parameters, recipes, updates, refits in rounds                 lp bnc update pool
    inference        predictions, explanations, queries                            predict explain query ...
    evaluation       cross-validation, comparison, scores, uncertainty of arcs     cv compare loglik ...
    plotting         pictures: networks, charts                                    plot plot_cpt plot_cv ...
    exchange         files of models, objects and files of other libraries         save load write_page ...
    examples         example data sets                                              load_car load_pima ...
    sklearn          an estimator for scikit-learn (import it from here)           BNCClassifier

The functions have the names of the R package. The page For users of R (``vignettes/coming_from_r.py``
in the sources) lists all differences. In short: loglik, cloglik for logLik, cLogLik; feature_weights for
awnb_weights; to_networkx for as_igraph; to_pgmpy, to_pyagrum for as_grain; BNCClassifier for as_mlr;
load_car(), load_voting() for data; save, load for saveRDS, readRDS.

The first two arguments are a model (or, to learn one, the name of the class) and the data; all others are
keywords. ``help`` of a function shows its formula, errors, source and an example.

>>> from bnclassify import cv, explain, load_car, lp, tan_cl
>>> car = load_car()
>>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
>>> explain(model, car.iloc[-1], sentences=True)[0]
"maint = low: the odds of 'vgood' against 'acc' are 2.8 times as high"
>>> round(cv(model, car, k=10, rng=0), 3)  # cross-validated accuracy
0.939
"""

from importlib.metadata import version
from typing import Any

from .base.messages import add_see_also
from .evaluation.accuracy import accuracy, confusion, exact_match, hamming
from .evaluation.arc_strength import arc_strength, averaged_network
from .evaluation.calibration import calibration
from .evaluation.ci_test import ci_test, cmi
from .evaluation.compare import compare
from .evaluation.compare_ranks import compare_ranks
from .evaluation.cv import cv
from .evaluation.cv_predict import cv_predict
from .evaluation.distances import kl_divergence, shd
from .evaluation.loglik import AIC, BIC, cloglik, loglik
from .evaluation.summary import summary
from .examples import load_car, load_pima, load_solar_flare, load_voting
from .exchange.bif import read_bif, write_bif
from .exchange.libraries import to_networkx, to_pgmpy, to_pyagrum
from .exchange.page import write_page
from .exchange.sql import to_sql
from .exchange.storage import load, save
from .fitting.bnc import bnc
from .fitting.lp import lp
from .fitting.pool import pool
from .fitting.update import update
from .fitting.with_table import from_tables, with_table
from .frames.opening import encode
from .frames.partitions import Partitions
from .frames.schema import Dataset
from .inference.counterfactual import counterfactual
from .inference.explain import explain
from .inference.impute import impute
from .inference.predict import predict
from .inference.query import query
from .inference.sample import sample
from .inference.scorecard import Scorecard, scorecard
from .inference.value_of_information import value_of_information
from .learners.fixed import anb, aode, from_modelstring, nb
from .learners.hill_climbing import ban, hc
from .learners.independence import chisq_dn, learn_blanket
from .learners.k_dependence import kdb_gain, kdb_mi, spode
from .learners.latent_classes import lca
from .learners.local_scores import network_score
from .learners.trees import chow_liu, tan_cl
from .learners.wrappers import bsej, fssj, kdb, tan_hc, tan_hcsp
from .metrics.folds import stratified_folds
from .metrics.r_folds import r_folds
from .model.questions import (
    class_var,
    class_vars,
    classes,
    families,
    feature_families,
    features,
    is_anb,
    is_aode,
    is_nb,
    is_ode,
    is_semi_naive,
    markov_blanket,
    members,
    modelstring,
    narcs,
    nparams,
    preparation,
    values,
    vars,
)
from .model.traces import (
    concentrations,
    cpt,
    em_objectives,
    feature_weights,
    greedy_scores,
    loo_summary,
    manb_arc_posterior,
    params,
    search_steps,
)
from .network.awnb import min_testing_depths
from .network.classifiers import BNC, DN
from .network.ensemble import Ensemble
from .numbers.discretization import Discretizer, discretize
from .numbers.preparation import Preparation
from .numbers.rare_levels import Merger, merge_rare
from .plotting.bars import plot_explanation, plot_importance, plot_strength, plot_weights
from .plotting.effects import plot_effect
from .plotting.heatmaps import plot_cpt
from .plotting.networks import plot
from .plotting.nomogram import plot_nomogram
from .plotting.performance import plot_calibration, plot_confusion, plot_cv, plot_ranks, plot_scores
from .several.mbc import MAODE, MBC
from .several.multi_learners import chain, maode, mbc
from .several.multidimensional import Chain
from .superparents.n_dependence import ANDE, ande
from .superparents.one_dependence import AODE

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
    "Scorecard",
    "accuracy",
    "anb",
    "ande",
    "aode",
    "arc_strength",
    "averaged_network",
    "ban",
    "bnc",
    "bsej",
    "calibration",
    "chain",
    "chisq_dn",
    "chow_liu",
    "ci_test",
    "class_var",
    "class_vars",
    "classes",
    "cloglik",
    "cmi",
    "compare",
    "compare_ranks",
    "concentrations",
    "confusion",
    "counterfactual",
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
    "from_tables",
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
    "kdb_gain",
    "kdb_mi",
    "kl_divergence",
    "lca",
    "learn_blanket",
    "load",
    "load_car",
    "load_pima",
    "load_solar_flare",
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
    "plot_nomogram",
    "plot_ranks",
    "plot_scores",
    "plot_strength",
    "plot_weights",
    "pool",
    "predict",
    "preparation",
    "query",
    "r_folds",
    "read_bif",
    "sample",
    "save",
    "scorecard",
    "search_steps",
    "shd",
    "spode",
    "stratified_folds",
    "summary",
    "tan_cl",
    "tan_hc",
    "tan_hcsp",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "to_sql",
    "update",
    "value_of_information",
    "values",
    "vars",
    "with_table",
    "write_bif",
    "write_page",
]

__version__ = version("pybnclassify")

add_see_also(globals())

_IN_R = {
    "logLik": "loglik(x, dataset)",
    "cLogLik": "cloglik(x, dataset)",
    "clogLik": "cloglik(x, dataset)",
    "compute_joint": "loglik(x, dataset, by_row=True), the log joint probability of each row",
    "weights": "feature_weights(x)",
    "awnb_weights": "feature_weights(x)",
    "as_igraph": "to_networkx(x)",
    "as_graphNEL": "to_networkx(x)",
    "as_grain": "to_pgmpy(x) or to_pyagrum(x); predict and explain need neither",
    "as_mlr": "BNCClassifier, imported from bnclassify.sklearn",
    "data": "load_car() or load_voting()",
    "saveRDS": "save(x, path)",
    "readRDS": "load(path)",
}


def __getattr__(name: str) -> Any:
    """Raise an error that names the equivalent of a name of the R package."""
    if name in _IN_R:
        raise AttributeError(
            f"bnclassify has no {name!r}. The equivalent of this R function is {_IN_R[name]}."
        )
    if name == "BNCClassifier":
        raise AttributeError("BNCClassifier is imported from bnclassify.sklearn, as scikit-learn is optional")
    raise AttributeError(f"module 'bnclassify' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only, as an editor shows them after ``bnclassify.``."""
    return __all__
