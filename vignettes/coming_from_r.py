# %% [markdown]
# # Coming from R
#
# The verbs are those of the R package [bnclassify](https://cran.r-project.org/package=bnclassify), and so are the
# figures: structures, tables, posteriors, scores and weights are tested against version 0.4.8, the greedy searches
# step by step. This page has what is written otherwise, what is called otherwise, and what is computed otherwise.
#
# ## A session
#
# | R | here |
# |---|---|
# | `library(bnclassify); data(car)` | `from bnclassify import *`; `car = load_car()` |
# | `t <- tan_cl('class', car, score = 'aic')` | `t = tan_cl("class", car, score="aic")` |
# | `t <- lp(t, car, smooth = 1)` | `t = lp(t, car, smooth=1)` |
# | `nb <- bnc('nb', 'class', car, smooth = 1)` | `naive = bnc("nb", "class", car, smooth=1)` |
# | `p <- predict(t, car, prob = TRUE)` | `p = predict(t, car, prob=True)` |
# | `cv(list(t, nb), car, k = 10)` | `cv({"tan": t, "nb": naive}, car, k=10, rng=0)` |
# | `params(t)$buying` | `cpt(t, "buying")`, a labelled table; `params(t)["buying"]`, an array |
# | `plot(t)` | `plot(t)` shows itself in a notebook; in a script `plot(t).view()` |

# %%
from bnclassify import accuracy, bnc, cpt, cv, load_car, lp, predict, tan_cl

car = load_car()
t = lp(tan_cl("class", car, score="aic"), car, smooth=1)
naive = bnc("nb", "class", car, smooth=1)
print("accuracy:", round(accuracy(predict(t, car), car["class"]), 4))
print(cv({"tan": t, "nb": naive}, car, k=10, rng=0).round(3))

# %%
cpt(t, "maint").xs("vgood", axis="columns", level="class").round(3)

# %% [markdown]
# Three habits of Python take the place of R's:
#
# - **The first two arguments go by position, the rest by name.** `lp(t, car, 1)` is an error, which is as well: no
#   one remembers whether 1 is `smooth` or `awnb_trees`.
# - **A name that you give away is gone.** After `nb = nb("class", car)` the function `nb` can no longer be called,
#   which R allows. Call the model `naive`.
# - **Chance is an argument.** There is no `set.seed`: pass `rng=0` to `cv`, the greedy learners, `stratified_folds`
#   and whatever else draws. Without it results vary, as in R.
#
# (names)=
# ## Names
#
# All that R exports is here, mostly under the same name. What has another one:
#
# | R | here |
# |---|---|
# | `logLik`, `cLogLik` | `loglik`, `cloglik` |
# | `awnb_weights` | `feature_weights`, of WANBIA too |
# | `as_igraph` | `to_networkx` |
# | `as_grain` | `to_pgmpy`, `to_pyagrum`; `predict` needs neither |
# | `as_mlr` and its learners | `BNCClassifier`, from `bnclassify.sklearn`: see [Coming from scikit-learn](coming_from_sklearn.py) |
# | `data(car)`, `data(voting)` | `load_car()`, `load_voting()` |
# | `saveRDS`, `readRDS` | `save`, `load` |
# | `bnclassify:::is_tan`, `compute_joint` | not there; `is_ode` and `is_anb` ask for kinds, `loglik` sums |
#
# The package answers to R's names, so guessing costs nothing:

# %%
import bnclassify

try:
    bnclassify.awnb_weights
except AttributeError as answer:
    print(answer)

# %% [markdown]
# The same name, and the same meaning: `accuracy`, `AIC`, `BIC`, `aode`, `bnc`, `bsej`, `class_var`, `classes`, `cmi`,
# `cv`, `families`, `feature_families`, `features`, `fssj`, `is_anb`, `is_aode`, `is_nb`, `is_ode`, `is_semi_naive`, `kdb`,
# `lp`, `manb_arc_posterior`, `modelstring`, `narcs`, `nb`, `nparams`, `params`, `plot`, `predict`, `tan_cl`, `tan_hc`,
# `tan_hcsp`, `values`, `vars`.
#
# ## Arguments
#
# | R | here |
# |---|---|
# | `cv(x, dataset, k, dag = TRUE, mean = TRUE)` | `k` is 10 unless given; `folds=`, `repeats=` and `metric=` are new |
# | `tan_cl(..., root = )` | has an effect: R 0.4.8 takes no notice of it |
# | `tan_hc(..., cache_reset = )` | not there: nothing has to be reset |
# | `nb(class, features = )`, with data or without | the same; with data, `features` selects columns, where R ignores it |
# | `plot(x, layoutType = "twopi")` | `plot(x, engine="twopi")` |
# | `lp(..., wanbia = TRUE)` on an AODE | an error; R ignores it |
# | `cmi(x, y, dataset, z = )` | the same; `unit="log"` is in nats, as in R |
#
# (differences)=
# ## Computed otherwise
#
# Where the two differ on purpose, and by how much:
#
# - **Ties.** R picks one of several likeliest classes, or of several best steps of a search, by chance. Here it is the
#   first class in the order of levels, and the first candidate in the order in which they are made; a learner
#   with `rng=` picks by chance too.
# - **Levels of `car`.** They are in their order of meaning here (low, med, high), in R mostly in that of the alphabet.
#   Nothing is computed otherwise for it, but tables are printed in another order, and ties may fall elsewhere.
# - **AODE** averages joint probabilities, as R's code and Webb, Boughton and Wang (2005)
#   have it, in logarithms throughout, so that a thousand features do not underflow.
# - **Incomplete rows** are predicted exactly, as by R with gRain, but many at once. `lp(..., missing="em")`,
#   which learns from all that such rows show, is new: see [incomplete data](incomplete.py) for when it matters.
# - **`bnc("tan_hc", ..., smooth=1)`** hands `smooth` on to the search, if `dag_args` has none of its own, so that what is
#   scored is what will be fitted. In R, and here by `tan_hc` alone, the search scores models with `smooth=0`.
#   R's defaults for `epsilon` (0.01) and `smooth` (0) of the learners themselves are kept.
# - **WANBIA** weighs the structure and smoothing that `lp` was given. R always optimises the weights of a naive Bayes
#   with `smooth = 1`, whatever `lp` gets, and puts them on the given tables. R also hands its optimiser a gradient
#   of another objective, and stops short: on the complete votes at a conditional log-likelihood of −19.359, here
#   at −19.298.
# - **AIC and BIC** are as in R, larger is better: −½ of what textbooks call so.
#
# What is the same in both, and *not* as in the papers:
#
# - **AWNB and WANBIA normalise the weighted tables again**, so that they stay tables of probabilities. In Hall (2007) and
#   Zaidi et al. (2013) they are not normalised; what is divided by depends on the class, so it does not cancel, and the two are
#   different classifiers. With the same weights, AWNB of ten trees on `car` gives 127 of 1,728 cars another label.
#   [Methods](methods.py#awnb-how-early-would-a-tree-ask) has both formulas.
# - **`tan_cl` of incomplete data** need not be the likeliest tree, whose pairs are each counted over other rows. The
#   R package says so of all its one-dependence estimators. With `score="loglik"` pairs are ranked by information
#   *per row*; `score="aic"` ranks them by information times rows.
# - **Missing values in learning** are left out table by table (available cases), which is right if they are missing
#   completely at random.
#
# ## What R does not have
#
# Numbers cut into intervals by `discretize`; `explain` and its pictures; metrics beside accuracy, `cv_predict`,
# `compare` and `compare_ranks`; EM; general networks with `query`, `sample` and `impute`; models that take raw rows; `save` and
# `load`; scikit-learn. The [reference](reference/index.md) lists all of it.
#
# mlr's wrapper selection of features is scikit-learn's:

# %%
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold

from bnclassify.sklearn import BNCClassifier

folds = StratifiedKFold(5, shuffle=True, random_state=0)
clf = BNCClassifier("tan_cl", smooth=1, dag_args={"score": "aic"})
selector = SequentialFeatureSelector(clf, n_features_to_select=4, cv=folds)
X = car.drop(columns="class")
print(list(X.columns[selector.fit(X, car["class"]).get_support()]))
