# %% [markdown]
# # Formulas
#
# This page is a reference of exact definitions. Most formulas are also computed by hand, in NumPy and pandas; `check` prints
# the result beside that of the package, and stops if they differ.

# %%
from itertools import combinations

import numpy as np
import pandas as pd
from bnclassify import (
    AIC,
    BIC,
    anb,
    class_var,
    cloglik,
    cmi,
    concentrations,
    families,
    feature_families,
    features,
    load_car,
    load_voting,
    loglik,
    lp,
    nb,
    network_score,
    nparams,
    params,
    predict,
    tan_cl,
    values,
)
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

car = load_car()  # 1,728 rows, 6 features, 4 classes
voting = load_voting()  # 435 rows, 16 votes, 2 parties, with missing values


# %% tags=["hide-input"]
def check(what, by_hand, by_call, tolerance=1e-9):
    """Print the results by hand and by call, and raise an error if they differ."""
    hand, call = (np.asarray(result, dtype=float) for result in (by_hand, by_call))
    assert hand.shape == call.shape, (
        f"{what}: {hand.shape} by hand, {call.shape} by call"
    )
    assert np.allclose(hand, call, rtol=tolerance, atol=tolerance), (
        f"{what}: {hand} by hand, {call} by call"
    )
    if hand.ndim:
        largest = np.abs(hand - call).max()
        found = f"{hand.size} values, largest difference {largest:.0e} "
    else:
        found = f"{hand:.6f} by hand, {call:.6f} by call"
    print(f"{what}\n    {found}")


def count(frame, *names):
    """Count complete rows in an array with one axis per column."""
    sizes = [len(frame[name].cat.categories) for name in names]
    return (
        frame.groupby(list(names), observed=False).size().to_numpy().reshape(sizes)
    )


# %% [markdown]
# (tables)=
# ## Tables and smoothing
#
# The estimate of $θ_{ijk}$, the probability of level $k$ of variable $i$ given configuration $j$ of its
# parents, is
#
# $$
# θ_{ijk} = \frac{N_{ijk} + α}{N_{ij·} + r_i α}
# $$
#
# where $N$ are the counts, $r_i$ is the number of levels, and $α$ is the argument `smooth`: 0 gives maximum-likelihood
# estimates, 1 the Laplace correction. A configuration without rows gets the uniform distribution. With `ess=s`, the
# pseudo-count is $s / (r_i q_i)$, with $q_i$ configurations of all parents, including the class; with `m`, it is $m / r_i$.
# (Heckerman, Geiger, Chickering 1995)

# %%
structure = anb("class", {"maint": ["buying"]}, car)
counts = count(car, "maint", "buying", "class")
check(
    "P(maint | buying, class), smooth=1",
    (counts + 1) / (counts.sum(0) + 4),
    params(lp(structure, car, smooth=1))["maint"],
)

sums = counts.sum(0)
estimate = np.where(sums > 0, counts / np.maximum(sums, 1), 1 / 4)
check("the same, smooth=0", estimate, params(lp(structure, car, smooth=0))["maint"])
print((sums == 0).sum(), "configurations of buying and class have no rows")

# %% [markdown]
# The axes of the array are the variable, its feature parents and the class. If values are missing, a table is estimated from
# the rows in which its whole family is observed (available cases):

# %%
counts = count(voting, "crime", "Class")
print(int(counts.sum()), "of", len(voting), "rows")
check(
    "P(crime | Class)",
    (counts + 1) / (counts.sum(0) + 2),
    params(lp(nb("Class", voting), voting, smooth=1))["crime"],
)

# %% [markdown]
# ## Conditional mutual information
#
# $$
# I(X;Y \mid Z) = \sum_{x,y,z} p(x,y,z) \ln \frac{p(x,y \mid z)}{p(x \mid z)\, p(y \mid z)}
# $$
#
# is the dependence of X and Y given Z, in nats. (Cover, Thomas 2006)


# %%
def information(frame, x, y, z):
    """Compute I(X;Y|Z) from counts."""
    p = count(frame, x, y, z) / len(frame)
    independent = p.sum(1, keepdims=True) * p.sum(0, keepdims=True) / p.sum((0, 1))
    return (p[p > 0] * np.log(p[p > 0] / independent[p > 0])).sum()


check(
    "I(persons; safety | class)",
    information(car, "persons", "safety", "class"),
    cmi("persons", "safety", car, z="class"),
)

# %% [markdown]
# ## Chow-Liu algorithm
#
# In a tree with maximum-likelihood tables, an arc between features $X$ and $Y$ contributes to the score
#
# $$
# \begin{aligned}
# \text{loglik} &: & N · I(X;Y \mid C) \\
# \text{AIC} &: & N · I(X;Y \mid C) - (r_x - 1)(r_y - 1)\, r_c \\
# \text{BIC} &: & N · I(X;Y \mid C) - \frac{1}{2} \ln N · (r_x - 1)(r_y - 1)\, r_c
# \end{aligned}
# $$
#
# regardless of the other arcs, so the best tree is a maximum spanning tree. With AIC and BIC, arcs with negative weights are
# left out, which gives a forest. (Chow, Liu 1968; Friedman, Geiger, Goldszmidt 1997)

# %%
size = {name: len(car[name].cat.categories) for name in car.columns}
pairs = list(combinations(car.columns[:-1], 2))
gain = pd.Series(
    {(x, y): len(car) * information(car, x, y, "class") for x, y in pairs}
)
parameters = pd.Series(
    {(x, y): (size[x] - 1) * (size[y] - 1) * size["class"] for x, y in pairs}
)
weights = pd.DataFrame(
    {
        "loglik": gain,
        "aic": gain - parameters,
        "bic": gain - 0.5 * np.log(len(car)) * parameters,
    }
)
print(weights.sort_values("loglik", ascending=False).head(6).round(2))


for score in weights:
    found = feature_families(tan_cl("class", car, score=score)).values()
    print(f"{score}: {[family[:-1] for family in found if len(family) > 2]}")

# %% [markdown]
# ## k-dependence
#
# `kdb_mi` ranks the features by $I(X;C)$. The parents of each feature are the k higher-ranked features with the
# largest $I(X;Y \mid C)$. (Sahami 1996)

# %% [markdown]
# ## Tests of dependency networks
#
# In `chisq_dn`, a feature X with the parents Z gets the parent Y with the largest value above 1e-8 of (Gámez, Mateo, Puerta
# 2006)
#
# $$
# \sum_c \left[ 2 N_c I(X;Y \mid Z, c) - χ^2_{1 - α}(d_c) \right]
# $$
#
# and so on. With `df="class"`, $d_c = (r_X - 1)(r_Y - 1) \prod_{z \in Z} r_z$, where levels count that occur in the data. With
# `df="deterministic"`, as in the paper, $d_c$ sums (rows − 1)(columns − 1) over the configurations of Z, where rows and columns
# count that are not all 0 (Yilmaz, Alpaydın, Akın, Bilgiç 2002).
#
# `predict` normalizes $P(c) \prod_i P(x_i \mid \text{parents}, c)$. `sample`, `impute` with `draws` and `query` draw the class
# from this posterior, and then missing features in 1 + `burn_in` sweeps (ordered Gibbs sampling, Heckerman and others 2000),
# feature i from $P(x_i \mid \text{parents}, c) \prod_j P(x_j \mid \text{parents}, c)$ up to a factor, where j are the children
# of i that are not its parents.
#
# ## Log joint and posterior
#
# $$
# \ln P(c, x) = \ln θ_c + \sum_i \ln θ(x_i \mid \text{parents of } i, c)
# $$
#
# $$
# P(c \mid x) = \frac{P(c, x)}{\sum_{c'} P(c', x)}
# $$
#
# All computations use logarithms.


# %%
def log_joint(model, frame):
    """Compute ln P(c, x) with one row per row and one column per class."""
    tables, labels = params(model), values(model)
    codes = {
        name: pd.Categorical(frame[name], labels[name]).codes
        for name in features(model)
    }
    logs = np.tile(np.log(tables[class_var(model)]), (len(frame), 1))
    for family in feature_families(model).values():
        logs += np.log(tables[family[0]])[
            tuple(codes[name] for name in family[:-1])
        ]
    return logs


tan = lp(tan_cl("class", car, score="aic"), car, smooth=1)
joint = log_joint(tan, car)
posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
check("P(class | car)", posterior, predict(tan, car, prob=True))

# %% [markdown]
# ## AODE
#
# The joint probability is the mean over members, in each of which another feature is a parent of all others. (Webb,
# Boughton, Wang 2005)
#
# $$
# P(c, x) = \frac{1}{n} \sum_i P_i(c, x)
# $$

# %% [markdown]
# ## AnDE
#
# `ande` computes the same average from ratios of joint counts N(·), with s = `smooth`, C classes and r levels of a feature
# (Webb, Boughton, Wang 2005; Webb and others 2012):
#
# $$
# P(c \mid x) \propto \sum_i P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i)
# $$
#
# $$
# P(c, x_i) = \frac{N(c, x_i) + s}{N + C\, r_i\, s} \qquad P(x_j \mid c, x_i) = \frac{N(c, x_i, x_j) + s}{N(c, x_i) + r_j\, s}
# $$
#
# For n = 2, i stands for a pair of features, whose weight is the sum of their weights. With missing values, N counts the rows
# in which i is observed, and N(c, x_i) of the second ratio those in which j is, too. With `m`, $m / (C r_i)$ and $m / r_j$
# replace s.

# %% [markdown]
# ## Scores
#
# The sums are over the rows, $c$ is the class of the row and $k$ the number of free parameters:
#
# $$
# \begin{aligned}
# \text{loglik} &= \sum \ln P(c, x) & \text{AIC} &= \text{loglik} - k \\
# \text{cloglik} &= \sum \ln P(c \mid x) & \text{BIC} &= \text{loglik} - \frac{1}{2} \ln N · k
# \end{aligned}
# $$
#
# where $k = \sum_i (r_i - 1)\, q_i$ and $q_i$ is the number of configurations of the parents of $i$. As in the R
# package, larger AIC and BIC are better: they are −½ times those of most textbooks. (Akaike 1974; Schwarz 1978)

# %%
own = np.arange(len(car)), car["class"].cat.codes
k = sum((table.shape[0] - 1) * table[0].size for table in params(tan).values())
check("nparams", k, nparams(tan))
check("loglik", joint[own].sum(), loglik(tan, car))
check("cloglik", np.log(posterior[own]).sum(), cloglik(tan, car))
check("AIC", joint[own].sum() - k, AIC(tan, car))
check("BIC", joint[own].sum() - 0.5 * np.log(len(car)) * k, BIC(tan, car))

# %% [markdown]
# `network_score` computes these scores with maximum-likelihood tables, and two marginal likelihoods. With $s$ = `ess`, $r$
# levels and $q$ configurations of the parents, a variable contributes to BDeu (Heckerman, Geiger, Chickering 1995)
#
# $$
# \sum_j \left[ \ln \frac{Γ(s/q)}{Γ(s/q + N_j)} + \sum_k \ln \frac{Γ(s/rq + N_{jk})}{Γ(s/rq)} \right]
# $$
#
# In `hc` and `ban`, gains within max(1e-9, 1e-12 · |score|) of each other are tied; in `kdb_mi` and `tan_cl`, values within
# 1e-9.


# %%
def marginal_likelihood(n, size):
    """Compute the log marginal likelihood of a table from its counts."""
    q, each = n[0].size, size / n.size
    rows = gammaln(size / q) - gammaln(size / q + n.sum(0))
    return rows.sum() + (gammaln(each + n) - gammaln(each)).sum()


by_family = sum(
    marginal_likelihood(count(car, *family), 1.0)
    for family in families(tan).values()
)
check(
    "BDeu of the tree, ess=1",
    by_family,
    network_score(tan, car, score="bde", ess=1),
)

# %% [markdown]
# ## Metrics
#
# In each fold, with N test rows and $y_i$ the class of row i, the metrics are
#
# $$
# \begin{aligned}
# \text{log-loss} &= -\frac{1}{N} \sum_i \ln P(y_i \mid x_i) \\
# \text{Brier} &= \frac{1}{N} \sum_i \sum_c \left( P(c \mid x_i) - [c = y_i] \right)^2 \\
# \text{RMSE} &= \sqrt{\frac{1}{N} \sum_i (1 - P(y_i \mid x_i))^2}
# \end{aligned}
# $$
#
# With two classes, the Brier score is half the sum, as in scikit-learn. AUC is the proportion of pairs of a row of a class and
# a row of another class in which the former has the larger probability of the class; ties count one half, and classes are
# averaged by frequency. Balanced accuracy is the mean over the classes of the proportion of correct labels. Both omit classes
# without tested rows. (Brier 1950; Hanley, McNeil 1982)
#
# | Metric | Definition |
# |---|---|
# | `calibration_error` | mean over 15 equal intervals of the most probable class's p, weighted by the rows in them, of the difference between mean p and the proportion that is correct |
# | `f1`, `precision`, `recall` | means over the classes that occur as actual or predicted labels, where 0 / 0 is 0, of 2 tp / (actual + predicted), tp / predicted and tp / actual, with tp the correctly predicted rows |
# | `kappa` | (accuracy − a) / (1 − a), with a the accuracy of independent labels of the same frequencies; 0 for 0 / 0 |
# | `mcc` | the correlation of actual and predicted classes; 0 for 0 / 0 |
# | `rps` | for a class with an order: mean of Σ (P(class ≤ k) − [actual ≤ k])² / (K − 1), summed over k = 1 … K − 1 of K classes (Epstein 1969) |
# | `mean_absolute_error` | for a class with an order: mean of the difference between the ranks of the predicted and the actual class |
# | `loglik` | mean of ln P(features, actual class), for models with a joint distribution |
#
# The standard error is the standard deviation over folds divided by √k or, for calibration errors, the jackknife over folds.
# `attrs["calibrated"]` is the expected calibration error of calibrated probabilities with the same number of rows. Metrics are
# means by weight. If all weights are whole numbers, a row of weight 5 counts as five rows, which are split over the folds; if
# one is fractional, or `folds` are given, a row belongs to one fold.

# %% [markdown]
# ## Missing values at prediction
#
# Networks, their averages and models of several class variables sum over all completions of a row. `ande` uses a missing
# feature neither as a superparent nor as a child. A dependency network sums the product of its tables; with cycles of arcs this
# is not a distribution, so its posterior can differ from the prior if all features are missing.
#
# %% [markdown]
# ## Expectation maximization
#
# `missing="em"` maximizes, over all rows, also those without a class,
#
# $$
# \sum \ln P(\text{observed values of the row}) + α \sum \ln θ
# $$
#
# where the second sum is over all entries of the tables (`ess` and `m` replace α). (Dempster, Laird, Rubin 1977; Lauritzen
# 1995)

# %% [markdown]
# ## MANB
#
# MANB averages over all 2ⁿ naive Bayes structures in which each arc is present or absent. The average needs only the posterior
# probability of each arc,
#
# $$
# P(\text{arc} \mid D) = \frac{P(D \mid \text{arc})\, p}{P(D \mid \text{arc})\, p + P(D \mid \text{no arc})\, (1 - p)}
# $$
#
# where p is the argument `manb_prior`, and ln P(D | ·), with the parameters integrated out, is
#
# $$
# \sum_j \left[ \ln Γ(rα) - \ln Γ(N_j + rα) + \sum_k \bigl( \ln Γ(N_{jk} + α) - \ln Γ(α) \bigr) \right]
# $$
#
# over the classes j or, without an arc, over one column of totals. The table of the feature is $θ · P(\text{arc}
# \mid D) + θ_0 · (1 - P(\text{arc} \mid D))$, where $θ_0$ is estimated without the class. (Dash, Cooper 2002)

# %% [markdown]
# ## AWNB
#
# AWNB and WANBIA raise each table to a power, the weight, and normalize it, as the R package does:
#
# $$
# \frac{θ_{ijk}^w}{\sum_k θ_{ijk}^w}
# $$
#
# With $w = 0$, the feature has no influence. In the papers, tables are not normalized; the normalizing constant depends on the
# class, so the two versions are different classifiers with the same weights.
#
# The weight of AWNB is the mean over trees of $1/\sqrt{\text{depth}}$, where depth is the smallest at which a tree tests the
# feature (1 at the root); a tree that does not test it counts as 0. Each tree is grown on a bootstrap sample until its leaves
# are pure; then splits that do not improve the training accuracy are removed from below, as in R. (Hall 2007)

# %% [markdown]
# ## WANBIA
#
# WANBIA chooses weights between 0 and 1 that maximize the conditional log-likelihood:
#
# $$
# w = \arg\max_w \sum \ln P(\text{class} \mid \text{features}; w)
# $$
#
# This function is not concave, so the result can be a local maximum; the optimizer starts from several points. (Zaidi,
# Cerquides, Carman, Webb 2013)

# %% [markdown]
# ## Hierarchical smoothing (back-off)
#
# `backoff=True` shrinks each table towards the table with one parent fewer: the distribution of the variable alone towards the
# uniform distribution, then that given the class, and then those given the feature parents, one after another. With $u$ the
# configuration of the parents at level $l$ and $u'$ that at the level before,
#
# $$
# P_l(x \mid u) = \frac{N_{ux} + m_l\, P_{l-1}(x \mid u')}{N_u + m_l}
# $$
#
# where the concentration $m_l$ of a level, between 0.5 and 5000, maximizes the likelihood of the data,
#
# $$
# \sum_u \left[ \ln \frac{Γ(m_l)}{Γ(m_l + N_u)} + \sum_x \ln \frac{Γ(m_l P_{l-1}(x \mid u') + N_{ux})}{Γ(m_l P_{l-1}(x \mid u'))} \right]
# $$
#
# The class itself has the probability $(n_y + 1/C) / (n + 1)$. (After Petitjean, Buntine, Webb, Zaidi 2018)


# %%
def minus_marginal(log_m, n, before):
    """Compute minus the log marginal likelihood of the counts."""
    m, pseudo = np.exp(log_m), np.exp(log_m) * before + np.zeros(n.shape)
    rows = gammaln(m) - gammaln(m + n.sum(0))
    return -rows.sum() - (gammaln(pseudo + n) - gammaln(pseudo)).sum()


backed = lp(anb("class", {"maint": ["buying"]}, car), car, backoff=True)
m = concentrations(backed)["maint"]
n = count(
    car, "maint", "class", "buying"
)  # the class is the first parent that is added
table = np.full(4, 1 / 4)
for level, counts in enumerate([n.sum((1, 2)), n.sum(2), n]):
    before = table.reshape(table.shape + (1,) * (counts.ndim - table.ndim))
    best = minimize_scalar(
        minus_marginal,
        bounds=np.log([0.5, 5000]),
        args=(counts, before),
        method="bounded",
    )
    print(
        f"level {level}: m = {np.exp(best.x):.1f} by hand, {m[level]:.1f} by call"
    )
    table = (counts + m[level] * before) / (counts.sum(0) + m[level])
check("P(maint | buying, class)", table.transpose(0, 2, 1), params(backed)["maint"])

# %% [markdown]
# ## Leave-one-out: power and weights
#
# Leave-one-out evaluates each row with tables from whose counts the row is subtracted, given the structure, cut points and
# concentrations of all rows. So it is not an estimate of the performance on new rows. With $P_{-i}$ the model without row i,
# `held_out="power"` raises posteriors to the power
#
# $$
# τ = \arg\max \sum_i \ln \frac{P_{-i}(y_i \mid x_i)^τ}{\sum_c P_{-i}(c \mid x_i)^τ} - \frac{1}{2} (τ - 1)^2
# $$
#
# `held_out="weights"` estimates one weight per feature and one for the class, with a penalty for the distance from τ,
#
# $$
# \begin{aligned}
# P(c \mid x; w) &\propto P(c)^{w_0} \prod_i P(x_i \mid \text{parents}, c)^{w_i} \\
# w &= \arg\max \sum_i \ln P_{-i}(y_i \mid x_i; w) - \frac{3}{2} \sum_j (w_j - τ)^2
# \end{aligned}
# $$
#
# These tables are not normalized, so the function is concave. With `held_out_args={"parents": True}`, numbers of parents are
# compared by the maximum. With `groups`, all rows of a group are held out together.
#
# ### Missing values in weighted models
#
# Let h be the share of the features that a row lacks, each counted by the share of training rows in which it is known. The
# score of class c is
#
# $$
# (1 - h) \left(w_0 \ln P(c) + \sum_f w_f \ln P(x_f \mid c, \ldots)\right) + h \left(\ln P(c) + (p + (1 - p)\, h)\, M(c)\right)
# $$
#
# where the first sum ignores missing features, and a table with a missing parent backs off to the parents before it. $M(c) =
# \ln P(\text{observed features} \mid c)$ is that of the network of the first feature parents, with missing features
# marginalized over, and p is the power τ of the tables without feature parents. If no feature is known, the posterior is the
# class proportions. With `held_out="power"`, the power is $τ + (1 - τ) h$, with h the plain share of missing features.
#
# ## The default: a sum of effects
#
# `bnc` without a learner fits the score of class c, with class proportions π and effects of features and pairs,
#
# $$s_c(x) = \ln π_c + a_c + \sum_j f_{jc}(x_j) + \sum_{i<j} f_{ijc}(x_i, x_j),$$
#
# with $P(c \mid x) ∝ e^{s_c(x)}$. It is a smoothing-spline analysis of variance of the log odds (Wahba, Wang, Gu, Klein, Klein
# 1995). An effect is a sum of *contrasts* z times weights w, which maximize, over all rows,
#
# $$\sum_{\text{rows}} \ln P(y \mid x) - \frac{1}{2} \sum_c \left( \frac{a_c^2}{10} + \sum_k \frac{w_{kc}^2}{τ_k} \right).$$
#
# **Contrasts.** A number with at most 64 different values has one group per value. If it has more, a value with the rank r (the
# share of smaller values and half of equal ones) is in group ⌊64 r⌋. Two types of contrasts are made orthonormal over the rows,
# after a constant, by the method of Gram and Schmidt: the *line*, z and z² of the standardized means of groups, of which the
# second is then halved; and the *smooth* ones, $\cos(π k r)$ of the groups for k = 1, …, 12, which are then divided by k. A
# category has the smooth contrasts $[x = l] - p_l$, with $p_l$ the share of level l; of more than twelve levels, those that
# occur once are one, as are the rarest of more than 4,096. The contrasts of a type and feature are divided by the root of the
# sum of their variances. A missing value has 0 in all of them and, with a share m of missing values, one more smooth contrast:
# 1 − m, and −m for other values. The contrasts of a pair are the products of those of both sides, whose variances sum to 1 on
# each side. The cells of all pairs are at most 16,384, and times the number of classes at most 32,768 for 1,000 rows and 98,304
# for 3,000, so groups are coarser if there are more: all features in pairs have at most the same number of groups.
#
# **Variances.** τ is a variance of a type (line, smooth, pair) times a factor of the feature or pair. To choose them, rows are
# taken at equal distances, in an order that depends on their contents only. Of 800 rows or more, the likelihood of 400 is
# computed with the weights from 400 others; of fewer, at most 400 are divided into four folds, and the likelihood of each fold
# is computed with the weights from the others. The loss of variances is
#
# $$\min_ρ \left[ -\sum \ln P(y \mid x; ρ) + \frac{1}{2} \left( \frac{\ln ρ}{0.3} \right)^2 \right] + \frac{1}{2} \sum_{\text{types}} \left( \frac{\ln τ - \ln τ_0}{2} \right)^2,$$
#
# where ρ multiplies all effects and has 13 values from $e^{-0.8}$ to $e^{0.4}$, and $τ_0$ is 0.3, or 0.01 for pairs. A climb
# from $τ_0$ changes one τ after another by factors of ten (smooth: 0.003 to 30; lines: 0, 0.03 to 30; pairs: 0, 0.0001 to 10)
# while the loss falls by .0001 per row. The result is the mean of ln τ over what was tried since the last type or factor was
# added, with weights $e^{-\text{loss}}$, and has two digits; a τ of 0 counts as a tenth of the next value, and a mean below
# twice this is 0. A factor is a product of steps of the fixed point of MacKay (1992), $(0.3 + u) / (0.3 + v)$ with two digits,
# where u sums $w^2 / τ$, v sums $1 - σ^2 / τ$ with the posterior variance σ² of a weight, and all u are scaled to have the sum
# of all v: two steps for features and one for pairs. A fold has the factors of the rows outside it, and the model in the end
# those of all rows of the sample. They are used if the loss falls. Of 800 rows or more, three quarters of at most 1,600
# predict the others with one, ten and a hundred times the variance of pairs, and the mean of these is chosen in the same way:
# more rows often favor larger effects of pairs than 400 do.
#
# **Power.** All weights are multiplied by $\frac{n}{n + 20}\, \bar ρ^{\min(1, \sqrt{m / n})}$ for n rows, of which m chose the
# variances (also those of pairs, unless pairs were ranked), with the same mean $\bar ρ$ of ρ, because variances that few rows
# choose make effects too large.
#
# **Pairs.** At most 128 pairs, of the 64 features with the largest effects in all rows, are used. If there are more, they are
# ranked by the sum of $(G^2 - E) / (E + 100)$ over products z of three principal contrasts of each side, with $G = \sum z\,
# (y_c - P(c \mid x))$, P by single effects with their variances without pairs, and E the sum of the squares of its terms: in
# each fold by the rows outside it, and in the end by at most 65,536 rows, without those that choose their variance again.
#
# **Exact values.** The exact values of a feature with more than twelve, the cells of pairs with more than four on a side, and
# the groups of numbers can have effects
#
# $$r \ln \frac{O_c + s}{E_c + s}$$
#
# in addition, with $O_c$ the number of rows of class c in the cell, of at most 16,384 different ones, and $E_c$ the sum of
# their probabilities $P(c \mid x)$ by the weights of all other rows. With r = 1, this is the ratio of a gamma-Poisson model.
# All s of 0.03, 0.3, 3 and 30 and r of 1, ½, −½ and −1 are tried, by the likelihood of rows that are left out of O, of E and of
# the weights behind E, with their case. The sixteen tables that gain most with s = 1 are tried in this order, and each is added
# if its mean gain beside those before is above $\sqrt{2 \ln m}$ of its standard errors, about the largest of m normal numbers,
# with m = 8 p (p + 1) for p features. With r < 0, a class that was seen becomes less probable, as if each person had one row of
# each class.
#
# Effects of pairs below 0.003 nats are left out, and tables have six digits.
#
# ## Densities of numeric features
#
# With `numbers`, the density of a number is estimated for each configuration of its parents. "gaussian" is a normal
# distribution, with $1/n$ in the variance. "kernel" is the mean of normal densities around the values (John, Langley 1995),
# with the standard deviation $1.06\, s\, n^{-1/5}$ (Silverman 1986), where $s$ has $n - 1$. A configuration without variance
# has the density of the class, and a class without values that of all rows. A variance, and the square of a bandwidth, is at
# least $10^{-9}$ times the largest variance within a class.
#
# ## Subsumption resolution
#
# A value implies another if all training rows with the former, at least `subsumption` of them, have the latter, too.
# Implied values of new rows are marginalized over as if they were missing. (Zheng, Webb, Suraweera, Zhu 2012)

# %% [markdown]
# ## MDLP discretization
#
# Among all divisions of a set S of N rows into S₁ and S₂, halfway between neighboring values, the one with the
# largest information gain is accepted if
#
# $$
# \text{Gain} > \frac{\log_2(N - 1) + \log_2(3^k - 2) - k\, H(S) + k_1 H(S_1) + k_2 H(S_2)}{N}
# $$
#
# where H is the entropy of the class in bits and k the number of classes that occur. S₁ and S₂ are then divided in the same
# way. Of tied cut points, the smallest is accepted. With weights, N is their sum. (Fayyad, Irani 1993)

# %% [markdown]
# ## Averaged cut points
#
# With `discretize="averaged"`, numeric columns are discretized nine times with shifted cut points, and the log joint
# probability is the mean of nine. The posterior is the normalized geometric mean of nine posteriors.

# %% [markdown]
# ## Weights of evidence
#
# `explain` returns the contribution of each feature to the log odds of a class, given the features before it,
#
# $$
# \ln O(\text{target} : \text{against} \mid v_1, \ldots, v_i) - \ln O(\text{target} : \text{against} \mid v_1, \ldots, v_{i-1})
# $$
#
# With the logarithm of the prior odds, the contributions sum to the log odds of the posterior; later features are treated as
# unknown. (Good 1985) In a sum of effects with all features known, the contribution is the effect of the value. In a model with
# weights by leave-one-out, contributions are those of its terms and of M, each times its share in the score.

# %% [markdown]
# For a complete row and a single network, the contribution is the logarithm of the ratio of two table entries, in
# any order of the features:
#
# $$
# \ln θ(v_i \mid \text{parents}, \text{target}) - \ln θ(v_i \mid \text{parents}, \text{against})
# $$

# %% [markdown]
# With `interactions=True`, the main effect of feature i is $\ln P(v_i \mid \text{target}) - \ln P(v_i \mid \text{against})$,
# with the distribution of the feature given the class alone, and the interaction is the rest. In a tree, without missing
# values, the interaction of a pair is the difference of its pointwise mutual information between the classes, so trees of the
# same distribution have the same explanation.
#
# ## Intervals of posteriors
#
# In a network, each column of a table has a Dirichlet posterior, whose parameters are counts plus pseudo-counts. All tables are
# drawn `draws` times, the posterior of each row is computed from each draw, and the bounds are quantiles (equal tails). (Van
# Allen, Singh, Greiner, Hooper 2008)
#
# A sum of effects with `interval=True` keeps G = 20 draws (`draws`) of its weights from the normal distribution whose mean
# maximizes the penalized likelihood and whose covariance is its inverse curvature (Wood 2006). With the standard deviation s of
# the log odds L in the draws, the interval is $L \pm t_{G-1}\, s$. It does not include the uncertainty of the variances and of
# the choice of pairs; effects of exact values do not vary.
#
# ## Structural EM
#
# A search maximizes the expected score, in which each incomplete row is replaced by its completions, weighted by their
# probability in the current model; EM estimates the parameters of the result; and both are repeated until the expected score
# does not improve. The penalized likelihood of the observed values never decreases. (Friedman 1997)

# %% [markdown]
# ## Comparison of models
#
# `compare_ranks` computes the Friedman test, without a correction for ties, and that of Iman and Davenport (1980), from average
# ranks; values that agree in ten decimals are tied. By Nemenyi's test, two of k models on N data sets differ if their average
# ranks differ by $q \sqrt{k (k + 1) / 6 N}$, where $\sqrt{2} q$ is a quantile of the studentized range (Demšar 2006).
# Wilcoxon's test drops differences of 0. With at most 25 others, p is exact: twice the smaller tail of $W_+$ under all
# assignments of signs to the ranks, also if ranks are tied. With more, it is that of the normal approximation with corrections
# for continuity and ties. P-values of pairs are adjusted by Holm's method (1979).
#
# The Bayesian signed-rank test (Benavoli, Corani, Demšar, Zaffalon 2017) draws weights of the differences, and of a
# pseudo-observation 0 of strength 0.5, 20,000 times from a Dirichlet distribution. The probabilities are the shares of draws in
# which each of three regions (above `rope`, below −`rope`, between) has the largest weight of the means of pairs.
#
# `compare`: with $d_{i1}, d_{i2}$ the differences of repeat i of two folds, and $s_i^2 = (d_{i1} - \bar d_i)^2 + (d_{i2} - \bar
# d_i)^2$,
#
# $$
# t = \frac{d_{11}}{\sqrt{\sum_i s_i^2 / 5}}, \quad F = \frac{\sum_{ij} d_{ij}^2}{2 \sum_i s_i^2}
# $$
#
# for "5x2cv_t", with 5 degrees of freedom (Dietterich 1998), and "5x2cv_f", with 10 and 5 (Alpaydın 1999). The confidence
# interval contains the differences that the test does not reject at 5 %. For "bayes_t" (Corani, Benavoli 2015), the posterior
# of the mean difference is Student's t with $J - 1$ degrees of freedom, mean $\bar d$ and scale $\sqrt{(1/J + n/m) s^2}$ for J
# folds with m training and n test rows.
#
# ## Strength of arcs
#
# With F the distribution function of all strengths, the threshold is the smallest strength at which F is at least p,
# where p, the smallest if there are several, minimizes $\int_0^1 |F(t) - p|\, dt$. (Scutari, Nagarajan 2013)
#
# For `method="exact"`, all undirected spanning trees of the features are equally probable a priori, and the posterior of a tree
# is proportional to $\exp \sum [\text{bde}(Y \mid X, \text{class}) - \text{bde}(Y \mid \text{class})]$ over its edges, with the
# `ess` of the learner. The sum over all trees is a determinant (Meilă, Jaakkola 2006). Edges have no direction (0.5), arcs from
# the class have strength 1, and the threshold is 0.5.

# %% [markdown]
# (founding)=
# ## Where each algorithm is
#
# Besides [those of the paper on the R package](coming_from_r.py#paper), the package has these algorithms of surveys and papers.
# TAN (`tan_cl`), the averages (`spode`, `aode`, `ande`), semi-naive Bayes (`fssj`, `bsej`), k-dependence (`kdb_mi`), ChiSqDN
# with `df="deterministic"` and probabilistic chains (`chain`) are those of their authors. The others differ:
#
# | algorithm | here | difference |
# |---|---|---|
# | smoothing of TAN by the marginals (Friedman, Geiger, Goldszmidt 1997) | `lp(backoff=True)` | the weights of the marginals are estimated |
# | general networks by MDL; BAN (same paper) | `hc`, `ban` | MDL is −BIC |
# | Bayesian multinet (same paper) | not included | graphs are the same for all classes |
# | selective naive Bayes (Bielza, Larrañaga 2014) | `nb(features=learn_blanket(...))` | a filter, by IAMB |
# | K2 search (Cooper, Herskovits 1992) | `hc(score="k2")` | without an order of the variables |
# | penalized conditional likelihood (Grossman, Domingos 2004) | `tan_hc(metric="log_loss")` | by held-out rows, without a penalty |
# | queries of dependency networks (Heckerman and others 2000) | `query`, `sample`, `impute` | the class is drawn from the posterior of `predict` |
# | multidimensional classifiers (van der Gaag, de Waal 2006; Bielza, Li, Larrañaga 2011) | `mbc` | bridges by a score |
# | average of networks (Antonucci, Corani, Mauá, Gabaglio 2013) | `maode` | averages probabilities, not logarithms |
# | ensemble of chains (Read and others 2011) | `chain(orders=10)` | averages posteriors, not labels |
#
# ## References
#
# - Akaike (1974). A new look at the statistical model identification. IEEE Transactions on Automatic Control 19.
# - Alpaydın (1999). Combined 5 × 2 cv F test for comparing supervised classification learning algorithms. Neural Computation
#   11.
# - Benavoli, Corani, Demšar, Zaffalon (2017). Time for a change. JMLR 18.
# - Bielza, Larrañaga (2014). Discrete Bayesian network classifiers. ACM Computing Surveys 47.
# - Bouckaert, Frank (2004). Evaluating the replicability of significance tests for comparing learning algorithms. PAKDD 2004.
# - Brier (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review 78.
# - Chow (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information Theory 16.
# - Chow, Liu (1968). Approximating discrete probability distributions with dependence trees. IEEE Transactions on Information
#   Theory 14.
# - Cooper, Herskovits (1992). A Bayesian method for the induction of probabilistic networks from data. Machine Learning 9.
# - Corani, Benavoli (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data sets. Machine
#   Learning 100.
# - Cover, Thomas (2006). Elements of Information Theory. Wiley.
# - Dash, Cooper (2002). Exact model averaging with naive Bayesian classifiers. ICML 2002.
# - Dempster, Laird, Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. Journal of the Royal
#   Statistical Society B 39.
# - Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.
# - Dietterich (1998). Approximate statistical tests for comparing supervised classification learning algorithms. Neural
#   Computation 10.
# - Domingos, Pazzani (1997). On the optimality of the simple Bayesian classifier under zero-one loss. Machine Learning 29.
# - Fayyad, Irani (1993). Multi-interval discretization of continuous-valued attributes for classification learning. IJCAI 93.
# - Friedman (1997). Learning belief networks in the presence of missing values and hidden variables. ICML 1997.
# - Friedman, Geiger, Goldszmidt (1997). Bayesian network classifiers. Machine Learning 29.
# - Good (1985). Weight of evidence. Bayesian Statistics 2.
# - Grossman, Domingos (2004). Learning Bayesian network classifiers by maximizing conditional likelihood. ICML 2004.
# - Gámez, Mateo, Puerta (2006). Dependency networks based classifiers. PGM 2006.
# - Hall (2007). A decision tree-based attribute weighting filter for naive Bayes. Knowledge-Based Systems 20.
# - Hand, Yu (2001). Idiot's Bayes: not so stupid after all? International Statistical Review 69.
# - Hanley, McNeil (1982). The meaning and use of the area under a receiver operating characteristic (ROC) curve. Radiology 143.
# - Heckerman, Chickering, Meek, Rounthwaite, Kadie (2000). Dependency networks for inference, collaborative filtering, and data
#   visualization. JMLR 1.
# - Heckerman, Geiger, Chickering (1995). Learning Bayesian networks. Machine Learning 20.
# - Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.
# - Iman, Davenport (1980). Approximations of the critical region of the Friedman statistic. Communications in Statistics 9.
# - John, Langley (1995). Estimating continuous distributions in Bayesian classifiers. UAI 1995.
# - Keogh, Pazzani (2002). Learning the structure of augmented Bayesian classifiers. International Journal on Artificial
#   Intelligence Tools 11.
# - Kononenko (1991). Semi-naive Bayesian classifier. EWSL 91.
# - Lauritzen (1995). The EM algorithm for graphical association models with missing data. Computational Statistics & Data
#   Analysis 19.
# - MacKay (1992). Bayesian interpolation. Neural Computation 4.
# - Meilă, Jaakkola (2006). Tractable Bayesian learning of tree belief networks. Statistics and Computing 16.
# - Minsky (1961). Steps toward artificial intelligence. Proceedings of the IRE 49.
# - Nadeau, Bengio (2003). Inference for the generalization error. Machine Learning 52.
# - Pazzani (1996). Constructive induction of Cartesian product attributes. ISIS 96.
# - Petitjean, Buntine, Webb, Zaidi (2018). Accurate parameter estimation for Bayesian network classifiers using hierarchical
#   Dirichlet processes. Machine Learning 107.
# - Read, Pfahringer, Holmes, Frank (2011). Classifier chains for multi-label classification. Machine Learning 85.
# - Saerens, Latinne, Decaestecker (2002). Adjusting the outputs of a classifier to new a priori probabilities. Neural
#   Computation 14.
# - Sahami (1996). Learning limited dependence Bayesian classifiers. KDD 96.
# - Schwarz (1978). Estimating the dimension of a model. Annals of Statistics 6.
# - Scutari, Nagarajan (2013). Identifying significant edges in graphical models of molecular networks. Artificial Intelligence
#   in Medicine 57.
# - Silverman (1986). Density Estimation for Statistics and Data Analysis. Chapman and Hall.
# - Van Allen, Singh, Greiner, Hooper (2008). Quantifying the uncertainty of a belief net response. Artificial Intelligence 172.
# - Wahba, Wang, Gu, Klein, Klein (1995). Smoothing spline ANOVA for exponential families. Annals of Statistics 23.
# - Webb, Boughton, Wang (2005). Not so naive Bayes. Machine Learning 58.
# - Webb, Boughton, Zheng, Ting, Salem (2012). Learning by extrapolation from marginal to full-multivariate probability
#   distributions. Machine Learning 86.
# - Wei, Visweswaran, Cooper (2011). The application of naive Bayes model averaging to predict Alzheimer's disease from
#   genome-wide data. JAMIA 18.
# - Wood (2006). On confidence intervals for generalized additive models based on penalized regression splines. Australian & New
#   Zealand Journal of Statistics 48.
# - Wood (2017). Generalized additive models: an introduction with R. CRC Press.
# - Yilmaz, Alpaydın, Akın, Bilgiç (2002). Handling of deterministic relationships in constraint-based causal discovery. PGM
#   2002.
# - Zaidi, Cerquides, Carman, Webb (2013). Alleviating naive Bayes attribute independence assumption by attribute weighting.
#   JMLR 14.
# - Zheng, Webb, Suraweera, Zhu (2012). Subsumption resolution. Machine Learning 87.
