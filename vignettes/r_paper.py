# %% [markdown]
# # The R paper in Python
#
# This page repeats the usage section of the paper on the R package (Mihaljević, Bielza and Larrañaga, 2018) line by
# line, and the parts of its introductory vignette that the paper leaves out. Above each cell you see the R code as a
# comment, so if you know the paper, you know this package. The results agree with the printed ones, including the
# cross-validation, because `r_folds` draws the folds that R draws after `set.seed`. It takes ten minutes.

# %%
import bnclassify as bn
import numpy as np

# library(bnclassify)
# data(car)
car = bn.load_car()

# %% [markdown]
# ## A first model

# %%
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
# ## Learning

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
# The paper was made with `RNGversion("3.5.0")`, hence `sample_kind="rounding"`. Leave it out for seeds of R 3.6 and later.
#
# ## Analyzing

# %%
# ode_cl_aic
print(tan)

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
# `params(naive)["buying"]` is the same table as an array. The rows have another order than in R, because the levels of
# the column have: the highest price comes first here and last in R.

# %%
# manb <- lp(nb, car, smooth = 0.01, manb_prior = 0.5)
manb = bn.lp(naive, car, smooth=0.01, manb_prior=0.5)

# round(manb_arc_posterior(manb))
print(bn.manb_arc_posterior(manb).round().to_dict())

# params(manb)$doors
print(bn.cpt(manb, "doors").round(3).iloc[0].to_dict())

# all.equal(params(manb)$buying, params(nb)$buying)
print(np.allclose(bn.params(manb)["buying"], bn.params(naive)["buying"]))

# %% [markdown]
# The arc from the class to `doors` has probability 0, so `doors` has the same distribution in each class, and the other
# tables do not change.
#
# ## Evaluating

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
# The paper prints −13307.59 for the log-likelihood and −13438.59 for AIC, and the accuracies 0.8582303 and 0.9345913,
# which it rounds to 86 % and 93 %. They agree to the last digit, because the folds are those of R.

# %%
# cv(ode_cl_aic, car, k = 10, dag = FALSE, mean = FALSE), for a structure that is kept
kept = bn.r_folds(car["class"], 10, seed=0)
print(bn.cv(tan, car, folds=kept, dag=False, mean=False).round(3).T.to_string())

# p <- predict(nb, car); accuracy(p, car$class)
print(round(bn.accuracy(bn.predict(naive, car), car["class"]), 4))

# cmi('maint', 'buying', car); cmi('maint', 'buying', car, 'class')
print(round(bn.cmi("maint", "buying", car), 4))
print(round(bn.cmi("maint", "buying", car, z="class"), 4))

# %% [markdown]
# ## Predicting

# %%
# pp <- predict(nb, car, prob = TRUE); head(pp)
bn.predict(naive, car, prob=True).head()

# %% [markdown]
# In the first row, the paper has 1.0000000, 2.171346e-10, 8.267214e-16 and 3.536615e-19, in the second 0.9999937 and
# 6.306269e-06. The tests of the package compare many more posteriors with those of R, to 15 digits.
#
# ## What else is different
#
# | | R | Python |
# |---|---|---|
# | rows and columns of a table | the levels of R's `car`: `buying` begins with low | `load_car()`: it begins with vhigh. The classes have the same order: unacc, acc, good, vgood |
# | order of `features(x)` and `families(x)` | of the structure | of the columns |
# | a question that does not apply, such as `manb_arc_posterior` of a model without MANB | `NULL` | an error that says what is missing |
# | `cv` of one model | a number | a number; of a dict, a Series with its names |
# | ties in a prediction or a search | at random | the first, so that results repeat |
#
# ## Where each algorithm of the paper is
#
# | algorithm in the paper and its vignettes | here | difference |
# |---|---|---|
# | naive Bayes | `nb` | none |
# | Chow-Liu for one-dependence estimators, with log-likelihood, AIC or BIC | `tan_cl` | `root` has an effect; also `score="bde"` |
# | forward and backward sequential joining | `fssj`, `bsej` | the first of tied steps is chosen, where R draws one |
# | hill climbing for TAN, by arcs or superparents | `tan_hc`, `tan_hcsp` | the same |
# | k-dependence by hill climbing | `kdb` | the same; `kdb_mi` is Sahami's algorithm |
# | averaged one-dependence estimators | `aode` | averages joint probabilities, as the code of R does; the paper describes an average of posteriors |
# | Bayesian estimation | `lp(smooth=...)` | none; also `ess`, `m` and `backoff` |
# | MANB | `lp(manb_prior=...)` | none |
# | AWNB | `lp(awnb_trees=...)` | none; both normalize the weighted tables, which Hall (2007) does not |
# | WANBIA | `lp(wanbia=True)` | weights of the given structure and smoothing; R optimizes those of a naive Bayes with `smooth = 1` |
# | cross-validation | `cv` | none with the folds of `r_folds`; other metrics |
# | inference with incomplete rows, through gRain | `predict` | none; all rows at once |
#
# [Formulas](methods.py#founding) has the same table for the other documents on which the package is based: the survey of
# Bayesian network classifiers, the papers on TAN and on dependency networks, and those on several class variables.
#
# ## From R, through reticulate
#
# If you work in R, you can call this package there. The code was run with R 4.2.2, reticulate 1.28, pandas 2.2 and NumPy
# 1.26; this version of reticulate does not convert DataFrames of pandas 3.
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
# Factors become categorical columns with the same levels, and results become data frames. Pass a single row as a named
# list, as in the last line, because reticulate turns a factor of length one into a text.
#
# ## Summary
#
# The functions have the names of the R package, arguments after the data need their names, and `r_folds` repeats the
# folds of R. [For users of R](coming_from_r.py) lists all names that differ.
#
# Next: [Choosing a classifier](overview.py).
#
# ## Reference
#
# - Mihaljević, B., Bielza, C., Larrañaga, P. (2018). bnclassify: Learning Bayesian network classifiers. The R Journal
#   10(2), 455–468.
