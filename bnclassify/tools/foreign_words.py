"""Words of other libraries and of R: the names that they have here, or a sentence on what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping


def letters_and_digits(name: str) -> str:
    """Return a name as the tables below have it: in small letters, without other characters.

    >>> letters_and_digits("na.action"), letters_and_digits("F1_score")
    ('naaction', 'f1score')
    """
    return re.sub(r"[\W_]+", "", name).casefold()


MEANT: Mapping[str, tuple[str, ...]] = {
    # learners and options
    "naivebayes": ("nb",),
    "a2de": ("ande",),
    "equal": ("width",),
    "uniform": ("width",),
    "frequency": ("quantile",),
    "bits": ("log2",),
    "nats": ("log",),
    # metrics
    "ece": ("calibration_error",),
    "f1score": ("f1",),
    "f1macro": ("f1",),
    "fmeas": ("f1",),
    "recallscore": ("recall",),
    "precisionscore": ("precision",),
    "accuracyscore": ("accuracy",),
    "matthewscorrcoef": ("mcc",),
    "cohenkappascore": ("kappa",),
    "balaccuracy": ("balanced_accuracy",),
    "bacc": ("balanced_accuracy",),
    "crossentropy": ("log_loss",),
    "loglossscore": ("log_loss",),
    "mnlogloss": ("log_loss",),
    "nll": ("log_loss",),
    "brierscore": ("brier",),
    "brierscoreloss": ("brier",),
    "negbrierscore": ("brier",),
    "rocauc": ("auc",),
    "rocaucscore": ("auc",),
    "rocaucovr": ("auc",),
    "auroc": ("auc",),
    "aucroc": ("auc",),
    "roc": ("auc",),
    "loglikelihood": ("loglik",),
    # arguments
    "proba": ("prob",),
    "probability": ("prob",),
    "probabilities": ("prob",),
    "nsplits": ("k",),
    "cv": ("folds",),
    "dataset": ("newdata",),
    "grouping": ("groups",),
    "scoring": ("metric",),
    "sampleweight": ("weights",),
    "randomstate": ("rng",),
    "seed": ("rng", "random_state"),
    "alpha": ("smooth",),
    "pseudocount": ("smooth",),
    "iss": ("ess",),
    "equivalentsamplesize": ("ess",),
    "whitelist": ("required",),
    "blacklist": ("forbidden",),
    "maxp": ("max_parents",),
    "verbose": ("progress",),
    "handleunknown": ("unseen",),
    "classprior": ("prior",),
    "classpriors": ("prior",),
    "layouttype": ("engine",),
    "classweight": ("prior", "costs"),
}
"""Names in other libraries, and those in this package, which mean the same."""

_OF_ONE_CLASS = (
    "'{0}' is a mean over the classes. For that of one class, such as 'yes', pass a function: "
    "metric=lambda p, y: {1}."
)
_SENSITIVITY = _OF_ONE_CLASS.format("recall", "(p.idxmax(axis=1)[y == 'yes'] == 'yes').mean()")
_SPECIFICITY = _OF_ONE_CLASS.format("recall", "(p.idxmax(axis=1)[y != 'yes'] != 'yes').mean()")
_PREDICTIVE = _OF_ONE_CLASS.format("precision", "(y[p.idxmax(axis=1) == 'yes'] == 'yes').mean()")
_NEGATIVE = _OF_ONE_CLASS.format("precision", "(y[p.idxmax(axis=1) != 'yes'] != 'yes').mean()")
_AVERAGE_PRECISION = (
    "Average precision is neither 'precision' nor 'auc', the area under the ROC curve. For that "
    "of a class such as 'yes', pass a function: metric=lambda p, y: "
    "sklearn.metrics.average_precision_score(y == 'yes', p['yes'])."
)
_GINI = "The Gini coefficient, Somers' D, is 2 * auc - 1, so use metric='auc'."
_KS = (
    "For the statistic of Kolmogorov and Smirnov, and a class such as 'yes', pass a function: "
    "metric=lambda p, y: scipy.stats.ks_2samp(p['yes'][y == 'yes'], p['yes'][y != 'yes'])"
    ".statistic."
)
_ERROR = "The error rate is 1 - accuracy, so use metric='accuracy'."
_CRITERION = "Use AIC(x, dataset) or BIC(x, dataset), which need no folds, or metric='log_loss'."

METRICS_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("sensitivity", "sens", "tpr", "truepositiverate", "hitrate"), _SENSITIVITY),
    **dict.fromkeys(("specificity", "spec", "tnr", "truenegativerate"), _SPECIFICITY),
    **dict.fromkeys(("ppv", "pospredvalue", "positivepredictivevalue"), _PREDICTIVE),
    **dict.fromkeys(("npv", "negpredvalue", "negativepredictivevalue"), _NEGATIVE),
    **dict.fromkeys(
        ("averageprecision", "averageprecisionscore", "prauc", "aucpr", "auprc", "aupr", "ap"),
        _AVERAGE_PRECISION,
    ),
    **dict.fromkeys(("gini", "somersd", "dxy"), _GINI),
    **dict.fromkeys(("ks", "ksstat", "ksstatistic", "kolmogorovsmirnov"), _KS),
    **dict.fromkeys(("cindex", "concordance"), "With two classes, the c-index is metric='auc'."),
    **dict.fromkeys(
        ("youden", "jindex", "informedness"),
        "With two classes, it is 2 * balanced_accuracy - 1, so use that metric.",
    ),
    **dict.fromkeys(
        ("error", "errorrate", "misclassification", "classificationerror", "ce", "zerooneloss"),
        _ERROR,
    ),
    **dict.fromkeys(("aic", "bic", "waic", "loo"), _CRITERION),
    "deviance": "The deviance is twice the sum of the log-losses, so use metric='log_loss'.",
    "mse": "The mean squared error of probabilities is metric='brier'.",
    "mae": "For classes in order, use metric='mean_absolute_error', in steps between classes.",
    "crps": "For classes in order, use metric='rps', the ranked probability score.",
    "f1micro": "With one label per row, the micro average is metric='accuracy'.",
    "psi": "The population stability index is a column of drift(x, newdata, dataset).",
    **dict.fromkeys(
        ("cost", "totalcost", "profit"),
        "Decide with predict(x, newdata, costs=...), and pass a function (posteriors, actual) -> "
        "number as the metric.",
    ),
}
"""What to do about metrics of other libraries that have no name here."""

_THRESHOLD = (
    "A threshold t of the probability of 'yes' is costs of t for a false 'yes' and of 1 - t for a "
    "missed one, in predict(x, newdata, costs=...). Or compare "
    "predict(x, newdata, prob=True)['yes'] with it."
)
_SMOOTH = "Use smooth=... of lp or bnc, which also adds to the counts of the class."
_DENSITY = "Use numbers='kernel' or numbers='gaussian' of lp or bnc."
_BY_CLASS = (
    "Metrics of labels are means over the classes. For another average, pass a function "
    "(posteriors, actual) -> number as the metric."
)
_TYPE_OF_COLUMN = (
    "The columns of dataset state it: text is categorical, and so are numbers after "
    "dataset[name].astype(str)."
)
_MISSING = "Missing values need no argument: rows with None or NaN are used as they are."
_MONOTONE = "Use monotonize(x, directions, dataset) after the fit."
_FOLDS = "Folds are drawn at random and stratified by the class; rng=... or folds=... changes them."
_SHARES = "Class proportions are learned; predict(x, newdata, prior=...) replaces them."

ARGUMENTS_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("threshold", "thresholds", "cutoff", "cutpoint"), _THRESHOLD),
    **dict.fromkeys(("laplace", "fl", "laplacesmoothing"), _SMOOTH),
    "usekernel": _DENSITY,
    "usepoisson": f"Poisson densities are not available. {_DENSITY}",
    **dict.fromkeys(
        ("adjust", "bw", "bandwidth"),
        "The bandwidth of numbers='kernel' is Silverman's and has no argument.",
    ),
    "varsmoothing": "Variances have a floor of 1e-9 times the largest, without an argument.",
    "fitprior": _SHARES,
    **dict.fromkeys(("average", "poslabel", "positive", "eventlevel", "zerodivision"), _BY_CLASS),
    **dict.fromkeys(("naaction", "narm", "skipna", "usena", "handlemissing"), _MISSING),
    "type": "By default, predict returns labels, and with prob=True it returns probabilities.",
    "formula": "Name the class instead, as in bnc('nb', 'Class', dataset).",
    **dict.fromkeys(("shuffle", "stratify", "stratified"), _FOLDS),
    **dict.fromkeys(
        ("catfeatures", "categoricalfeatures", "categorical", "featuretypes", "dtype"),
        _TYPE_OF_COLUMN,
    ),
    **dict.fromkeys(("monotonecst", "monotoniccst", "monotoneconstraints"), _MONOTONE),
}
"""What to do about arguments of other libraries that have no name here."""
