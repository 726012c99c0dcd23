# %% [markdown]
# # For users of R
#
# The functions and their results agree with the R package [bnclassify](https://cran.r-project.org/package=bnclassify) 0.4.8.
# This page lists all differences, and repeats the usage section of the paper on the R package. If you use another package,
# begin with [e1071, klaR, naivebayes and caret](#other-packages) or [bnlearn](#from-bnlearn).
#
# ```{index} ! R, ! e1071, ! klaR, ! naivebayes, ! caret, ! bnlearn, ! laplace, ! usekernel, ! fL
# ```
#
# ## A session
#
# | R | Python |
# |---|---|
# | `library(bnclassify); data(car)` | `from bnclassify import load_car, lp, predict, tan_cl, …`; `car = load_car()` |
# | `t <- tan_cl('class', car, score = 'aic')` | `t = tan_cl("class", car, score="aic")` |
# | `cv(list(t, nb), car, k = 10)` | `cv({"tan": t, "nb": naive}, car, k=10, rng=0)` |
# | `params(t)$buying` | `cpt(t, "buying")`, a labelled table; `params(t)["buying"]`, an array |
# | `plot(t)` | `plot(t)` in a notebook; `plot(t).view()` in a script |
#
# Three things are different in Python:
#
# - **The first two arguments are positional, the others need their name.** `lp(t, car, 1)` raises an error.
# - **Assigning to the name of a function hides the function.** After `nb = nb("class", car)`, `nb` is a model: call it `naive`.
# - **Randomness is an argument.** Pass `rng=0` to `cv`, the greedy learners and all other functions that use random numbers. To
#   repeat a cross-validation of R, pass its folds: `cv(t, car, folds=r_folds(car["class"], 10, seed=0))`.
#
# (names)=
# ## Names
#
# All functions that the R package exports are available under the same name, apart from these:
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
# | `print` of a model | `print(x)`, the function of Python; `summary(x)` |
# | `is_aode` | `isinstance(x, AODE)`, with `AODE` from `bnclassify.models` |
# | `is_tan`, which R does not export | `is_ode`, which is also True for naive Bayes; `is_anb` |
#
# If you use or import a name of R, the error message names the equivalent function:

# %%
import bnclassify as bn

try:
    bn.awnb_weights
except AttributeError as answer:
    print(answer)

# %% [markdown]
# These functions have the same name and the same meaning: `accuracy`, `AIC`, `BIC`, `aode`, `bnc`, `bsej`, `class_var`,
# `classes`, `cmi`, `cv`, `families`, `feature_families`, `features`, `fssj`, `is_anb`, `is_nb`, `is_ode`, `is_semi_naive`,
# `kdb`, `lp`, `manb_arc_posterior`, `modelstring`, `narcs`, `nb`, `nparams`, `params`, `plot`, `predict`, `tan_cl`, `tan_hc`,
# `tan_hcsp`, `values`, `vars`.
#
# (other-packages)=
# ## From e1071, klaR, naivebayes and caret
#
# Formulas are not used: name the class, and all other columns are features. For `Class ~ V1 + V2`, pass the columns:
# `df[["V1", "V2", "Class"]]`.
#
# | there | here | what differs |
# |---|---|---|
# | `naiveBayes(Class ~ ., df)` (e1071), `NaiveBayes(…)` (klaR), `naive_bayes(…)` (naivebayes) | `bnc("nb", "Class", df, smooth=0, numbers="gaussian")` | omit `numbers` if all columns are categorical. A probability of 0 stays 0 here; e1071 and klaR predict with 0.001 (`threshold`) |
# | `laplace = 1`, in klaR `fL = 1` | `smooth=1` | `laplace` leaves the class unsmoothed: with 3, P(democrat) is 267/435 = 0.614 there and 270/441 = 0.612 here. `with_prior(x, {"democrat": 267 / 435, …})` gives their posteriors |
# | numeric columns | `numbers="gaussian"`; without it, `bnc` requires cut points, which `discretize="mdlp"` finds | the standard deviation divides by n here, by n − 1 there |
# | `usekernel = TRUE` | `numbers="kernel"` | the bandwidth is 1.06 s n^(−1/5) here, `bw.nrd0` of R there |
# | `adjust =` | not available | |
# | `usepoisson = TRUE` | not available | |
# | `prior = c(.9, .1)` | `predict(x, df, prior={"no": 0.9, "yes": 0.1})`, `with_prior` | named, so the order of levels does not matter |
# | `naiveBayes(Survived ~ ., Titanic)`, a table of frequencies | `data = encode(df, weights="Freq", weights_are="frequencies")`, then `lp(nb("Survived", data), data, smooth=0)` | `df` is `as.data.frame(Titanic)` |
# | `predict(m, df, type = "raw")`, in naivebayes `"prob"` | `predict(x, df, prob=True)` | a missing value is ignored in both |
# | `m$tables$V1` | `cpt(x, "V1")` | classes are columns here, rows there |
# | `table(predict(m, df), df$Class)` | `confusion(predict(x, df), df["Class"])` | actual classes are rows here |
# | `train(x, y, method = "nb", trControl = trainControl("cv"))` (caret) | `cv(x, df, k=10, rng=0)`; to tune, `GridSearchCV` with `BNCClassifier("nb")` | caret compares `usekernel = TRUE` and `FALSE` by default; nothing is tuned here unless you ask |
#
# The examples of e1071's help page give the same numbers. This is the second one, `laplace = 3`; R prints 237, 12, 30
# and 156:

# %%
votes = bn.load_voting()
laplace = bn.bnc("nb", "Class", votes, smooth=3)
print(bn.confusion(bn.predict(laplace, votes), votes["Class"]).T)

# %% [markdown]
# The counts are those of R, with predicted labels as rows.
#
# ## From bnlearn
#
# | there | here | what differs |
# |---|---|---|
# | `naive.bayes(df, "class")`, `tree.bayes(df, "class")` | `nb("class", df)`, `tan_cl("class", df)` | |
# | `hc(df)`, `tabu(df)` | `hc("class", df, score="bic")`, with `tabu=10` | the class is named, but has no special role |
# | `chow.liu(df)`, `learn.mb(df, "class", "iamb")` | `chow_liu("class", df)`, `learn_blanket("class", df)` | |
# | `whitelist =`, `blacklist =` | `required=`, `forbidden=`: lists of pairs | in a tree, a pair has no direction |
# | `bn.fit(x, df, method = "mle")`; `"bayes", iss = 1` | `lp(x, df, smooth=0)`; `lp(x, df, ess=1)` | parents that never occur: uniform here, NaN there |
# | `predict(x, df, prob = TRUE)` | `predict(x, df, prob=True)` | incomplete rows are predicted exactly |
# | `cpquery`, `cpdist` | `query(x, "a", {"b": "yes"})`, `sample(x, 1000, evidence={"b": "yes"})` | exact here, by simulation there |
# | `score(x, df, type = "bic")` | `network_score(x, df, score="bic")` | |
# | `boot.strength`, `averaged.network` | `arc_strength`, `averaged_network` | |
# | `ci.test`, `dsep`, `shd`, `KL` | `ci_test`, `d_separated`, `shd`, `kl_divergence` | |
# | `modelstring`, `model2network`, `read.bif` | `modelstring`, `from_modelstring`, `read_bif` | the class is named when a network is read |
# | `pc.stable`, `gs`, `mmhc`; Gaussian networks | not available | |
#
# ## Arguments
#
# | R | Python |
# |---|---|
# | `cv(x, dataset, k, dag = TRUE, mean = TRUE)` | the default of `k` is 10; `folds=`, `repeats=` and `metric=` are new |
# | `tan_cl(..., root = )` | has an effect; R 0.4.8 ignores it |
# | `nb(class, features = )`, with data or without | the same; with data, `features` selects columns, where R ignores it |
# | `plot(x, layoutType = "twopi")` | `plot(x, engine="twopi")` |
# | `cmi(x, y, dataset, z = )` | the same; `unit="log"` is in nats, as in R |
#
# (differences)=
# ## Differences in results
#
# These differences are deliberate:
#
# - **Ties.** R chooses at random among several most probable classes, or several best steps of a search. Here, the first class
#   in the order of levels and the first candidate are chosen; a learner with `rng=` chooses at random.
# - **Levels of `car`.** Here they are in their order of meaning (low, med, high), in R mostly in alphabetical order, which
#   changes the order of rows in tables.
# - **Order.** `features(x)` and `families(x)` follow the columns, in R the structure.
# - **Questions that do not apply**, such as `manb_arc_posterior` of a model without MANB, raise an error; in R the answer is
#   `NULL`.
# - **Incomplete rows** are predicted exactly, as by R with gRain, but many at once. EM (`lp(..., missing="em")`) is new:
#   see [Missing values](incomplete.py).
# - **`bnc("tan_hc", ..., smooth=1)`** passes `smooth` on to the search unless `dag_args` contains it. In R, and here with
#   `tan_hc` alone, the search evaluates models with `smooth=0`.
# - **WANBIA** uses the given structure and smoothing. R always optimizes the weights of a naive Bayes with `smooth = 1`, and
#   can stop at a lower conditional log-likelihood, because its optimizer gets the gradient of another objective.
#
# In these respects, both packages agree and differ from the papers or from textbooks:
#
# - **AODE** averages joint probabilities. The paper on the R package describes an average of posteriors, but its code does the
#   same.
# - **AWNB and WANBIA** normalize the weighted tables, unlike the papers, which gives different classifiers: see
#   [Formulas](methods.py#awnb).
# - **`tan_cl` with incomplete data** counts each pair of features in the rows in which both are observed. With
#   `score="loglik"`, pairs are ranked by information per row; with `score="aic"`, by information times rows.
# - **Missing values in training**: each table is estimated from the rows in which its whole family is observed.
# - **AIC and BIC**: larger is better. They are −½ times the values that most textbooks define.
#
# (paper)=
# ## The R paper, line by line
#
# The R code above each line is from Mihaljević, Bielza and Larrañaga (2018). `r_folds` draws the folds that R draws after
# `set.seed`.

# %%
# library(bnclassify)
# data(car)
car = bn.load_car()

# nb <- nb('class', car)
# nb <- lp(nb, car, smooth = 0.01)
naive = bn.nb("class", car)
naive = bn.lp(naive, car, smooth=0.01)

# narcs(nb)
print(bn.narcs(naive))

# p <- predict(nb, car); head(p)
print(bn.predict(naive, car).head().tolist())

# %% [markdown]
# R prints 6 arcs, too, and predicts "unacc" for the first cars.
#
# ### Learning

# %%
# ode_cl_aic <- tan_cl('class', car, score = 'aic')
structure = bn.tan_cl("class", car, score="aic")

# set.seed(3)
# fssj <- fssj('class', car, k = 5, epsilon = 0)
folds = bn.r_folds(car["class"], 5, seed=3, sample_kind="rounding")
semi_naive = bn.fssj("class", car, k=5, epsilon=0, folds=folds)

# ode_cl_aic <- bnc('tan_cl', 'class', car, smooth = 1, dag_args = list(score = 'aic'))
tan = bn.bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})

# %% [markdown]
# The paper was made with `RNGversion("3.5.0")`, hence `sample_kind="rounding"`. Omit it for seeds of R 3.6 and later.
#
# ### Analyzing

# %%
# modelstring(ode_cl_aic)
print(bn.modelstring(tan))

# is_ode(ode_cl_aic)
print(bn.is_ode(tan))

# length(features(fssj))
print(len(bn.features(semi_naive)))

# %% [markdown]
# Both have 9 arcs and 131 free parameters, and the same model string. `fssj` selects five of the six features, as in the
# paper.

# %%
# params(nb)$buying
bn.cpt(naive, "buying").round(7)

# %% [markdown]
# The highest price comes first here, and last in R.

# %% [markdown]
# ### Evaluating

# %%
# logLik(ode_cl_aic, car); AIC(ode_cl_aic, car); BIC(ode_cl_aic, car)
print(round(bn.loglik(tan, car), 2))
print(round(bn.AIC(tan, car), 2))
print(round(bn.BIC(tan, car), 2))

# set.seed(0)
# cv(list(nb = nb, ode_cl_aic = ode_cl_aic), car, k = 5, dag = TRUE)
folds = bn.r_folds(car["class"], 5, seed=0, sample_kind="rounding")
print(bn.cv({"nb": naive, "ode_cl_aic": tan}, car, folds=folds).round(7).to_dict())

# %% [markdown]
# The paper prints −13307.59 and −13438.59, and the accuracies 0.8582303 and 0.9345913. They agree to the last digit.
#
# [Formulas](methods.py#founding) lists the algorithms of other papers.
#
# ## From R, through reticulate
#
# You can call this package from R (run with R 4.2.2, reticulate 1.28 and pandas 2.2; this reticulate does not convert
# DataFrames of pandas 3):
#
# ```r
# library(reticulate)                       # Debian: apt install r-cran-reticulate
# use_virtualenv("~/bnclassify")            # where pip installed pybnclassify
# bn <- import("bnclassify")
# car <- bn$load_car()                      # a data.frame with factors
# tan <- bn$bnc("tan_cl", "class", car, smooth = 1, dag_args = list(score = "aic"))
# head(bn$predict(tan, car, prob = TRUE), 2)
# bn$cv(tan, car, k = 10L, rng = 0L)        # 0.9386712; whole numbers need the L
# bn$explain(tan, lapply(car[1728, -7], as.character))
# ```
#
# Factors become categorical columns, and results become data frames. Pass a single row as a named list.
#
# ## Reference
#
# - Mihaljević, B., Bielza, C., Larrañaga, P. (2018). bnclassify: Learning Bayesian network classifiers. The R Journal
#   10(2), 455–468.
