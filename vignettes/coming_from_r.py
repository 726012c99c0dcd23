# %% [markdown]
# # For users of R
#
# If you know the R package, you know this one. The functions and their results agree with the R package
# [bnclassify](https://cran.r-project.org/package=bnclassify): structures, tables, posteriors, scores and weights are
# tested against version 0.4.8, and the greedy searches step by step. This page lists all differences in syntax, names
# and results, and takes ten minutes. [The R paper in Python](r_paper.py) shows both languages side by side.
#
# ```{index} R
# ```
#
# ## A session
#
# | R | Python |
# |---|---|
# | `library(bnclassify); data(car)` | `from bnclassify import load_car, lp, predict, tan_cl, …`; `car = load_car()` |
# | `t <- tan_cl('class', car, score = 'aic')` | `t = tan_cl("class", car, score="aic")` |
# | `t <- lp(t, car, smooth = 1)` | `t = lp(t, car, smooth=1)` |
# | `nb <- bnc('nb', 'class', car, smooth = 1)` | `naive = bnc("nb", "class", car, smooth=1)` |
# | `p <- predict(t, car, prob = TRUE)` | `p = predict(t, car, prob=True)` |
# | `cv(list(t, nb), car, k = 10)` | `cv({"tan": t, "nb": naive}, car, k=10, rng=0)` |
# | `params(t)$buying` | `cpt(t, "buying")`, a labelled table; `params(t)["buying"]`, an array |
# | `plot(t)` | `plot(t)` in a notebook; `plot(t).view()` in a script |

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
# Three things are different in Python:
#
# - **The first two arguments are positional, the others need their name.** `lp(t, car, 1)` raises an error, because 1 could
#   be `smooth` or `awnb_trees`.
# - **Assigning to the name of a function hides the function.** After `nb = nb("class", car)`, `nb` is a model and can no
#   longer be called, unlike in R. Call the model `naive`.
# - **Randomness is an argument.** `set.seed` does not exist. Pass `rng=0` to `cv`, to the greedy learners, to
#   `stratified_folds` and to all other functions that use random numbers. Without it, results vary, as in R. To repeat
#   a cross-validation of R, pass its folds: `cv(t, car, folds=r_folds(car["class"], 10, seed=0))`. [The R paper in
#   Python](r_paper.py) does so.
#
# (names)=
# ## Names
#
# All functions that the R package exports are available, most of them under the same name. These are the exceptions:
#
# | R | Python |
# |---|---|
# | `logLik`, `cLogLik` (also written `clogLik`) | `loglik`, `cloglik` |
# | `awnb_weights`, `weights` | `feature_weights`, also for WANBIA |
# | `as_igraph`, `as_graphNEL` | `to_networkx` |
# | `as_grain` | `to_pgmpy`, `to_pyagrum`; `predict` needs neither |
# | `as_mlr` and its learners | `BNCClassifier`, from `bnclassify.sklearn`: see [For users of scikit-learn](coming_from_sklearn.py) |
# | `data(car)`, `data(voting)`; `car`, `voting` | `load_car()`, `load_voting()` |
# | `saveRDS`, `readRDS` | `save`, `load` |
# | `set.seed` before `cv` | `rng=`; `r_folds(y, k, seed=0)` draws the folds of R |
# | `compute_joint` | `loglik(x, df, by_row=True)`, for the actual class of each row |
# | `vars` | `features(x)`, and `class_var(x)` |
# | `is_aode` | `isinstance(x, AODE)`, with `AODE` from `bnclassify.models` |
# | `is_tan`, which R does not export | `is_ode`, which is also True for naive Bayes; `is_anb` |
#
# If you use or import a name of R, the error message names the equivalent function:

# %%
import bnclassify

try:
    bnclassify.awnb_weights
except AttributeError as answer:
    print(answer)

# %% [markdown]
# These functions have the same name and the same meaning: `accuracy`, `AIC`, `BIC`, `aode`, `bnc`, `bsej`, `class_var`, `classes`, `cmi`,
# `cv`, `families`, `feature_families`, `features`, `fssj`, `is_anb`, `is_nb`, `is_ode`, `is_semi_naive`, `kdb`,
# `lp`, `manb_arc_posterior`, `modelstring`, `narcs`, `nb`, `nparams`, `params`, `plot`, `predict`, `tan_cl`, `tan_hc`,
# `tan_hcsp`, `values`.
#
# ## Arguments
#
# | R | Python |
# |---|---|
# | `cv(x, dataset, k, dag = TRUE, mean = TRUE)` | the default of `k` is 10; `folds=`, `repeats=` and `metric=` are new |
# | `tan_cl(..., root = )` | has an effect; R 0.4.8 ignores it |
# | `tan_hc(..., cache_reset = )` | not available, because nothing has to be reset |
# | `nb(class, features = )`, with data or without | the same; with data, `features` selects columns, where R ignores it |
# | `plot(x, layoutType = "twopi")` | `plot(x, engine="twopi")` |
# | `lp(..., wanbia = TRUE)` on an AODE | raises an error; R ignores it |
# | `cmi(x, y, dataset, z = )` | the same; `unit="log"` is in nats, as in R |
#
# (differences)=
# ## Differences in results
#
# These differences are deliberate:
#
# - **Ties.** R chooses at random among several most probable classes, or several best steps of a search. Here, the first
#   class in the order of levels and the first candidate in the order of generation are chosen; a learner with `rng=`
#   chooses at random.
# - **Levels of `car`.** Here they are in their order of meaning (low, med, high), in R mostly in alphabetical order. This
#   changes the order of rows and columns in tables, and possibly how ties are resolved.
# - **Incomplete rows** are predicted exactly, as by R with gRain, but many at once. EM (`lp(..., missing="em")`) is new:
#   see [Missing values](incomplete.py).
# - **`bnc("tan_hc", ..., smooth=1)`** passes `smooth` on to the search unless `dag_args` contains it, so that the search
#   evaluates the model that will be fitted. In R, and here with `tan_hc` alone, the search evaluates models with
#   `smooth=0`. The defaults of the learners, `epsilon=0.01` and `smooth=0`, agree with R.
# - **WANBIA** uses the given structure and smoothing. R always optimizes the weights of a naive Bayes with `smooth = 1`
#   and applies them to the given tables. R also passes its optimizer the gradient of another objective, so the
#   optimizer can stop early, at a lower conditional log-likelihood.
#
# In these respects, both packages agree and differ from the papers or from textbooks:
#
# - **AODE** averages joint probabilities, as in Webb, Boughton and Wang (2005). The paper on the R package describes an
#   average of posteriors, but its code averages joint probabilities, too.
# - **AWNB and WANBIA** normalize the weighted tables, so that they remain conditional probabilities. Hall (2007) and
#   Zaidi et al. (2013) do not normalize them. The normalizing constant depends on the class, so the two versions are
#   different classifiers: see [Formulas](methods.py#awnb).
# - **`tan_cl` with incomplete data** need not return the maximum-likelihood tree, because each pair of features is observed
#   in different rows. With `score="loglik"`, pairs are ranked by information per row; with `score="aic"`, by information
#   times rows.
# - **Missing values in training**: each table is estimated from the rows in which its whole family is observed (available
#   cases), which is consistent if values are missing completely at random.
# - **AIC and BIC**: larger is better. They are −½ times the values that most textbooks define.
#
# ## New functions
#
# The R package does not have discretization, `explain` and its charts, metrics other than accuracy, `cv_predict`,
# `compare` and `compare_ranks`, EM, general networks with `query`, `sample` and `impute`, data that do not fit in
# memory, `save` and `load`, and the estimator for scikit-learn. The [reference](reference/index.md) lists all
# functions.
#
# The wrapper for feature selection of mlr has an equivalent in scikit-learn:

# %%
from bnclassify.sklearn import BNCClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold

folds = StratifiedKFold(5, shuffle=True, random_state=0)
clf = BNCClassifier("tan_cl", smooth=1, dag_args={"score": "aic"})
selector = SequentialFeatureSelector(clf, n_features_to_select=4, cv=folds)
X = car.drop(columns="class")
print(list(X.columns[selector.fit(X, car["class"]).get_support()]))

# %% [markdown]
# Forward selection added these four features one at a time, each with the best cross-validated accuracy. Another set of
# four could be better, because the search is greedy.
#
# Next: [The R paper in Python](r_paper.py).
