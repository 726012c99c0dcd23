"""Discrete Bayesian network classifiers: a functional port of the R package bnclassify.

A data frame goes in at the top, and each stage hands on to the next::

    dataset         data frames become integer codes; input is checked  encode
    matching        codes in terms of what a model knows, by label
    counts          contingency tables and mutual information
    cuts            where to cut a column of numbers
    discretization  numbers become intervals                            discretize
    model           the values BNC and AODE, and their parts            params families values ...
    questions       what else one may ask of a model                    cpt modelstring is_nb ...
    structure       learners of structure that look at counts alone     nb aode anb tan_cl ...
    inference       the log joint of rows and classes
    parameters      from structure and data to tables                   lp min_testing_depths
    folds           what cross-validation tests                         stratified_folds
    search          learners of structure guided by accuracy            fssj bsej tan_hc tan_hcsp kdb
    recipes         structure and parameters in one call                bnc
    evaluation      views of the log joint, and cross-validation        predict accuracy loglik cv ...
    explanation     what each feature of a row says about its class     explain
    sklearn         an estimator for scikit-learn (import it from here) BNCClassifier
    plotting        pictures: networks, charts                          plot plot_cpt plot_cv ...
    exchange        objects and files of other libraries                to_pgmpy write_bif read_bif ...
    datasets        data to try all this on                             load_car load_voting

Verbs take a model, or to learn one the name of the class, and then the data; the rest goes by
keyword. ``help(verb)`` has the formula, the errors, the source and an example of each.

>>> from bnclassify import accuracy, load_car, lp, predict, tan_cl
>>> car = load_car()
>>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
>>> round(accuracy(predict(model, car), car["class"]), 3)
0.942
"""

from .dataset import Dataset, encode
from .datasets import load_car, load_voting
from .discretization import Discretizer, discretize
from .evaluation.crossval import cv
from .evaluation.prediction import accuracy, predict
from .evaluation.scores import AIC, BIC, cloglik, cmi, loglik
from .exchange.bif import read_bif, write_bif
from .exchange.libraries import to_networkx, to_pgmpy, to_pyagrum
from .explanation import explain
from .folds import stratified_folds
from .model import (
    AODE,
    BNC,
    class_var,
    classes,
    families,
    features,
    members,
    narcs,
    nparams,
    params,
    values,
    vars,
)
from .parameters.estimation import lp
from .parameters.tree import min_testing_depths
from .plotting.charts import plot_cpt, plot_cv, plot_explanation, plot_scores, plot_weights
from .plotting.network import plot
from .questions import (
    cpt,
    em_objectives,
    feature_families,
    feature_weights,
    greedy_scores,
    is_anb,
    is_aode,
    is_nb,
    is_ode,
    is_semi_naive,
    manb_arc_posterior,
    modelstring,
)
from .recipes import bnc
from .search.learners import bsej, fssj, kdb, tan_hc, tan_hcsp
from .structure.chow_liu import tan_cl
from .structure.fixed import anb, aode, from_modelstring, nb

__all__ = [
    "AIC",
    "AODE",
    "BIC",
    "BNC",
    "Dataset",
    "Discretizer",
    "accuracy",
    "anb",
    "aode",
    "bnc",
    "bsej",
    "class_var",
    "classes",
    "cloglik",
    "cmi",
    "cpt",
    "cv",
    "discretize",
    "em_objectives",
    "encode",
    "explain",
    "families",
    "feature_families",
    "feature_weights",
    "features",
    "from_modelstring",
    "fssj",
    "greedy_scores",
    "is_anb",
    "is_aode",
    "is_nb",
    "is_ode",
    "is_semi_naive",
    "kdb",
    "load_car",
    "load_voting",
    "loglik",
    "lp",
    "manb_arc_posterior",
    "members",
    "min_testing_depths",
    "modelstring",
    "narcs",
    "nb",
    "nparams",
    "params",
    "plot",
    "plot_cpt",
    "plot_cv",
    "plot_explanation",
    "plot_scores",
    "plot_weights",
    "predict",
    "read_bif",
    "stratified_folds",
    "tan_cl",
    "tan_hc",
    "tan_hcsp",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "values",
    "vars",
    "write_bif",
]
