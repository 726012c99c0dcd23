"""Classifiers for tables that explain themselves: a sum of effects, and Bayesian networks.

``bnc(class_var="y", dataset=df)`` fits the default model to a DataFrame, and
``predict(model, df, prob=True)`` and ``explain(model, row)`` use it. The first
two arguments are a model (or, to learn one, the name of the class) and the
data; all others are keywords. ``help`` of a function shows its formula, errors,
source and an example.

A complete job needs these 24 functions, in the order of work:

- checks and the fit: check_data, bnc (in scikit-learn, bnclassify.sklearn.BNCClassifier)
- predictions: predict, explain, counterfactual
- evaluation: cv, cv_predict, summary, confusion, compare
- charts: plot_importance, plot_effect, plot_explanation, plot_calibration
- the model as a table: effects, monotonize, from_effects, scorecard, with_prior
- handing over: save, load, write_page, to_sql, drift

Then there are

- networks: a learner such as nb, tan_cl, kdb_mi, aode or hc returns a structure,
  and lp estimates its tables, which cpt, query, sample and plot read;
- several classes at once: mbc, maode, chain;
- names of R: all functions of the R package bnclassify.

>>> from bnclassify import bnc, cv, explain, load_car
>>> car = load_car()
>>> model = bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})
>>> explain(model, car.iloc[-1], sentences=True)[0]
"maint = low: the odds of 'vgood' against 'acc' are 2.8 times as high"
>>> round(cv(model, car, k=10, rng=0), 3)  # cross-validated accuracy
0.939

The page For users of R (``vignettes/coming_from_r.py`` in the sources) lists
all differences from the R package, and what users of e1071, klaR, caret and
bnlearn call. In short: loglik, cloglik for logLik, cLogLik; feature_weights
for awnb_weights; to_networkx for as_igraph; to_pgmpy, to_pyagrum for as_grain;
BNCClassifier for as_mlr; load_car(), load_voting() for data; save, load for
saveRDS, readRDS.

For developers: the package is a book, about the way from a table to a
cross-validated prediction. Its chapters are modules, to be read in this order,
and each imports only ``tools`` and earlier chapters::

    tools            immutable values, checks and messages, arrays, graphs, jobs
    dataset          codes, levels, numbers and weights                      Dataset
    frames           any table is opened, checked and encoded, once          encode
    counts           codes become counts of families and pairs; scores of arcs
    numbers          cut points, rare levels, preparation of new rows        discretize merge_rare
    elimination      terms of a network, and sums over unknown variables
    scores           a model is a formula, which is evaluated
    model            what a model is, and the recipe that learned it
    classifiers      families, priors, networks and their averages           BNC Ensemble
    accessors        what functions ask of a model                           families cpt is_nb ...
    structure        counts become families                                  nb tan_cl kdb_mi ...
    parameters       counts and a prior become tables                        lp
    prediction       scores become labels, posteriors, decisions             predict
    metrics          from predictions to a number
    folds            rows in folds, and models refitted without each        stratified_folds
    validation       what is measured in folds                               cv cv_predict
    search           greedy search by cross-validation                       fssj tan_hc kdb ...

The annexes are packages that stand on the chapters. No chapter imports an
annex: methods, priors, learners and warnings add themselves. An annex imports
no other annex, unless its docstring names it::

    check            what is odd about data                                  check_data
    parts            chunks, Dask and databases: read, or counted where they are
    networks         general networks, EM, weights, back-off                 hc ban chisq_dn lca ...
    superparents     averaged one- and n-dependence estimators               aode ande
    several          several class variables                                 mbc maode chain
    explanations     why, what to ask next, what would change it             explain ...
    questions        questions to a fitted model                             query sample impute ...
    additive         the default: sums of effects as tables, scorecards      effects scorecard ...
    fitting          one call that learns and fits; changes of a model       bnc update pool ...
    judge            evaluation, comparison, drift, strength of arcs         compare loglik ...
    draw             pictures: networks, charts                              plot plot_cpt ...
    files            files of models, of other programs                      save load read_bif ...
    export           SQL, a page, objects of other libraries                 to_sql write_page ...
    examples         example data sets                                       load_car load_pima ...
    models           types of models, data and preparations                  AODE MBC Scorecard ...
    sklearn          estimators for scikit-learn, which is optional          BNCClassifier
"""

# The public names are those that are imported "as" themselves, so that type checkers know them.

from sys import _getframe
from typing import Any

from . import (
    models as models,
    parts as parts,  # which opens chunks, Dask and tables of databases
    structure,
)
from .accessors import (
    class_var as class_var,
    classes as classes,
    cpt as cpt,
    families as families,
    feature_families as feature_families,
    features as features,
    is_anb as is_anb,
    is_nb as is_nb,
    is_ode as is_ode,
    is_semi_naive as is_semi_naive,
    markov_blanket as markov_blanket,
    members as members,
    modelstring as modelstring,
    narcs as narcs,
    nparams as nparams,
    params as params,
    preparation as preparation,
    values as values,
    vars as vars,
)
from .additive.effects import (
    effects as effects,
    from_effects as from_effects,
    monotonize as monotonize,
)
from .additive.scorecard import scorecard as scorecard
from .check import written as written  # hooks
from .check.check_data import check_data as check_data
from .classifiers import BNC as BNC, Ensemble as Ensemble
from .dataset import Dataset as Dataset
from .draw.charts import (
    plot_calibration as plot_calibration,
    plot_confusion as plot_confusion,
    plot_cpt as plot_cpt,
    plot_cv as plot_cv,
    plot_effect as plot_effect,
    plot_explanation as plot_explanation,
    plot_importance as plot_importance,
    plot_nomogram as plot_nomogram,
    plot_ranks as plot_ranks,
    plot_scores as plot_scores,
    plot_strength as plot_strength,
    plot_weights as plot_weights,
)
from .draw.networks import plot as plot
from .examples import (
    load_car as load_car,
    load_pima as load_pima,
    load_solar_flare as load_solar_flare,
    load_voting as load_voting,
)
from .explanations.counterfactual import counterfactual as counterfactual
from .explanations.explain import (
    explain as explain,
    value_of_information as value_of_information,
)
from .export.libraries import (
    to_networkx as to_networkx,
    to_pgmpy as to_pgmpy,
    to_pyagrum as to_pyagrum,
)
from .export.page import write_page as write_page
from .export.sql import to_sql as to_sql
from .files.bif import read_bif as read_bif, write_bif as write_bif
from .files.storage import load as load, save as save
from .fitting.bnc import bnc as bnc
from .fitting.update import pool as pool, update as update
from .fitting.with_table import with_prior as with_prior
from .fitting.with_table import from_tables as from_tables, with_table as with_table
from .folds import r_folds as r_folds, stratified_folds as stratified_folds
from .frames import encode as encode
from .judge.agreement import (
    accuracy as accuracy,
    calibration as calibration,
    confusion as confusion,
    exact_match as exact_match,
    hamming as hamming,
)
from .judge.ci_test import ci_test as ci_test, cmi as cmi
from .judge.compare import compare as compare
from .judge.compare import compare_ranks as compare_ranks
from .judge.structures import (
    arc_strength as arc_strength,
    averaged_network as averaged_network,
    kl_divergence as kl_divergence,
    shd as shd,
)
from .judge.drift import drift as drift
from .judge.loglik import AIC as AIC, BIC as BIC, cloglik as cloglik, loglik as loglik
from .judge.summary import summary as summary
from .networks import (  # methods and priors of lp
    backoff_prior as backoff_prior,
    densities as densities,
    em as em,
    weighted as weighted,
    weighting as weighting,
)
from .networks.chi_square import chisq_dn as chisq_dn, learn_blanket as learn_blanket
from .networks.em import lca as lca
from .networks.hill_climbing import ban as ban, hc as hc
from .numbers import discretize as discretize, merge_rare as merge_rare
from .parameters import lp as lp
from .prediction import predict as predict
from .questions.d_separated import d_separated as d_separated
from .questions.learned import (
    concentrations as concentrations,
    em_objectives as em_objectives,
    feature_weights as feature_weights,
    loo_summary as loo_summary,
    manb_arc_posterior as manb_arc_posterior,
    search_steps as search_steps,
)
from .questions.query import impute as impute, query as query, sample as sample
from .search import bsej as bsej, fssj as fssj, kdb as kdb, tan_hc as tan_hc, tan_hcsp as tan_hcsp
from .several.multidimensional import chain as chain, maode as maode, mbc as mbc
from .structure import (
    anb as anb,
    chow_liu as chow_liu,
    from_modelstring as from_modelstring,
    kdb_mi as kdb_mi,
    nb as nb,
    network_score as network_score,
    spode as spode,
    tan_cl as tan_cl,
)
from .superparents.n_dependence import ande as ande, aode as aode
from .tools import messages, signatures
from .validation import cv as cv, cv_predict as cv_predict

structure.add_learners(
    nb, anb, aode, ande, spode, tan_cl, chow_liu, kdb_mi, chisq_dn,
    hc, ban, fssj, bsej, tan_hc, tan_hcsp, kdb,
)  # fmt: skip

_COMPLETE_JOB = [
    "check_data", "bnc", "predict", "explain", "counterfactual", "cv", "cv_predict",
    "summary", "confusion", "compare", "plot_importance", "plot_effect", "plot_explanation",
    "plot_calibration", "effects", "monotonize", "from_effects", "scorecard", "with_prior",
    "save", "load", "write_page", "to_sql", "drift",
]  # fmt: skip
"""The functions that a complete job needs, in the order of work: first in lists of names."""

__all__ = _COMPLETE_JOB + sorted(
    name
    for name, value in globals().items()
    if getattr(value, "__module__", "").startswith("bnclassify.") and name not in _COMPLETE_JOB
)


messages.add_see_also(models.__dict__ | globals())
signatures.show_public_types(map(globals().get, __all__))

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
    "car": "load_car()",
    "voting": "load_voting()",
    "print": "print(x), the function of Python, or summary(x)",
    "is_aode": "isinstance(x, AODE), with AODE from bnclassify.models",
    "is_tan": "is_ode(x), which is also True for naive Bayes",
    "saveRDS": "save(x, path)",
    "readRDS": "load(path)",
}

_ELSEWHERE = {
    "plot_roc": "RocCurveDisplay.from_estimator(classifier, X, y) of scikit-learn",
    "roc": "RocCurveDisplay.from_estimator(classifier, X, y) of scikit-learn",
    "fit": "bnc(class_var=..., dataset=...), or the method fit of BNCClassifier",
    "log_loss": "cv(x, dataset, metric='log_loss'), or cloglik(x, dataset) on given rows",
    "auc": "cv(x, dataset, metric='auc')",
    "roc_auc_score": "cv(x, dataset, metric='auc')",
    "predict_proba": "predict(x, newdata, prob=True)",
}
"""Names that people expect, and what they can call."""


def __getattr__(name: str) -> Any:
    """Return the version or an estimator, or raise an error that names the equivalent of a name."""
    if name == "__version__":
        from importlib.metadata import version  # slow to import

        return version("pybnclassify")
    if name in ("BNCClassifier", "BNCMultiClassifier"):
        from . import sklearn  # optional

        return getattr(sklearn, name)
    if name in _ELSEWHERE:
        advice = f"bnclassify has no {name!r}. Use {_ELSEWHERE[name]}."
    elif name in _IN_R:
        advice = f"bnclassify has no {name!r}. The equivalent of this R function is {_IN_R[name]}."
    elif name in models.__all__:
        advice = f"{name} is imported from bnclassify.models."
    else:
        raise AttributeError(f"module 'bnclassify' has no attribute {name!r}")
    # `from bnclassify import name` would replace an AttributeError by one without advice.
    imported = _getframe(1).f_code.co_name == "_handle_fromlist"
    raise ImportError(advice) if imported else AttributeError(advice)


def __dir__() -> list[str]:
    """List the public names only, as an editor shows them after ``bnclassify.``."""
    return sorted(__all__)
