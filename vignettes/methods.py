# %% [markdown]
# # Formulas
#
# This page states the computations of the package as formulas and, for most of them, by hand in NumPy and pandas and by
# a call. It is a reference for readers who need exact definitions. `check` prints both results and stops if they differ.

# %%
from itertools import combinations, product

import numpy as np
import pandas as pd
from bnclassify import (
    AIC,
    BIC,
    anb,
    aode,
    class_var,
    cloglik,
    cmi,
    concentrations,
    explain,
    families,
    feature_families,
    feature_weights,
    features,
    kdb_mi,
    load_car,
    load_voting,
    loglik,
    lp,
    manb_arc_posterior,
    members,
    nb,
    network_score,
    nparams,
    params,
    predict,
    tan_cl,
    values,
)
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, gammaln, logit, logsumexp

car = load_car()  # 1,728 rows, 6 features, 4 classes
voting = load_voting()  # 435 rows, 16 votes, 2 parties, with missing values
votes = voting.dropna().reset_index(drop=True)


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
# where $N$ are the counts, $r_i$ is the number of levels, and $α$ is the argument `smooth`. With 0, it is the
# maximum-likelihood estimate, and an unseen combination has probability zero; 1 is the Laplace correction. A
# configuration without rows gets the uniform distribution. (Heckerman, Geiger, Chickering 1995) With `ess`, the
# pseudo-count is $s / (r_i q_i)$, where $q_i$ is the number of configurations of all parents, including the class; with
# `m`, it is $m / r_i$. A sample size α within each class, as in $(N_{ijk} + α / (r_i p_i)) / (N_{ij·} + α / p_i)$ with
# $p_i$ configurations of the feature parents alone, is an `ess` of α times the number of classes, except for the
# table of the class.

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
# The axes of the array are the variable, its feature parents and the class. If values are missing, each table is estimated from the rows in which its whole family is observed (available
# cases), here from all rows in which `crime` and the party are observed.

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
# If each feature has at most one feature parent and the tables are maximum-likelihood estimates, an arc between
# features $X$ and $Y$ contributes to the score, independently of the other arcs,
#
# $$
# \begin{aligned}
# \text{loglik} &: & N · I(X;Y \mid C) \\
# \text{AIC} &: & N · I(X;Y \mid C) - (r_x - 1)(r_y - 1)\, r_c \\
# \text{BIC} &: & N · I(X;Y \mid C) - \frac{1}{2} \ln N · (r_x - 1)(r_y - 1)\, r_c
# \end{aligned}
# $$
#
# The best tree is therefore a maximum spanning tree with these weights. With AIC and BIC, weights can be
# negative, and the best structure is a forest. (Chow, Liu 1968; Friedman, Geiger, Goldszmidt 1997)

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


def maximum_forest(weight):
    """Return the maximum-weight forest of edges with positive weights (Kruskal)."""
    tree_of = {name: {name} for pair in weight.index for name in pair}
    edges = []
    for x, y in weight[weight > 0].sort_values(ascending=False).index:
        if y not in tree_of[x]:
            edges.append((x, y))
            merged = tree_of[x] | tree_of[y]
            tree_of |= dict.fromkeys(merged, merged)
    return edges


def arcs(model):
    """Return the pairs of features that are joined by an arc."""
    return {
        frozenset((v, parent))
        for v, *parents, _ in feature_families(model).values()
        for parent in parents
    }


for score in weights:
    forest = maximum_forest(weights[score])
    assert {frozenset(edge) for edge in forest} == arcs(
        tan_cl("class", car, score=score)
    )
    print(f"{score}: {forest}")

# %% [markdown]
# ## k-dependence
#
# `kdb_mi` ranks the features by $I(X;C)$. The parents of each feature are the k higher-ranked features with the
# largest $I(X;Y \mid C)$. (Sahami 1996)

# %%
ranked = sorted(votes.columns.drop("Class"), key=lambda x: -cmi(x, "Class", votes))
dependent = kdb_mi("Class", votes, kdbk=2)
for place, feature in enumerate(ranked):
    best = sorted(ranked[:place], key=lambda y: -cmi(feature, y, votes, z="Class"))
    assert feature_families(dependent)[feature] == (feature, *best[:2], "Class")
print(
    "same parents by hand and by call for 16 features; highest ranks:", ranked[:3]
)

# %% [markdown]
# ## Tests of dependency networks
#
# In `chisq_dn`, each feature X selects its own parents. The value of Y as an additional parent, with current parents Z, is
# (Gámez, Mateo, Puerta 2006)
#
# $$
# \sum_c \left[ 2 N_c I(X;Y \mid Z, c) - χ^2_{1 - α}(d_c) \right]
# $$
#
# Candidates with a value of at most 1e-8 are dropped, the best becomes a parent, and this is repeated. With `df="class"`,
# $d_c = (r_X - 1)(r_Y - 1) \prod_{z \in Z} r_z$ for every class, where levels count that occur in the data. With
# `df="deterministic"`, as in the paper, $d_c$ is the sum over the configurations of Z of (rows − 1)(columns − 1), where
# rows and columns of the table of X and Y in the configuration and class count that are not all 0 (Yilmaz, Alpaydın, Akın,
# Bilgiç 2002); a quantile with $d_c = 0$ is 0.
#
# `predict` of a dependency network normalizes $P(c) \prod_i P(x_i \mid \text{parents}, c)$. `sample`, `impute` with `draws`
# and `query` draw the class from this posterior, and then the missing features in 1 + `burn_in` sweeps (ordered Gibbs
# sampling, Heckerman and others 2000). In a sweep, feature i is drawn from
#
# $$
# P(x_i \mid \text{parents}, c) \prod_j P(x_j \mid \text{parents}, c)
# $$
#
# up to a factor, where j are the children of i that are not parents of i. Without cycles, this is the distribution of
# feature i given all others in a network with the same families. If all arcs have both directions, it is the table of i.
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
# All computations use logarithms and are normalized by log-sum-exp, so that a thousand features do not underflow.


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
# The ensemble has one member per feature, in which this feature is a parent of all others. Its joint probability
# is the mean over the members. (Webb, Boughton, Wang 2005)
#
# $$
# P(c, x) = \frac{1}{n} \sum_i P_i(c, x)
# $$

# %%
ensemble = lp(aode("class", car), car, smooth=1)
mean = np.mean(
    [np.exp(log_joint(member, car)) for member in members(ensemble)], axis=0
)
check(
    "P(class | car)",
    mean / mean.sum(1, keepdims=True),
    predict(ensemble, car, prob=True),
)
check(
    "ln P(D)",
    np.log(mean[np.arange(len(car)), car["class"].cat.codes]).sum(),
    loglik(ensemble, car),
)

# %% [markdown]
# ## AnDE
#
# `ande` computes the same average from estimates that are ratios of joint counts N(·). In the formulas, s is
# `smooth`, C is the number of classes and r the number of levels of a feature. (Webb, Boughton, Wang 2005; Webb and
# others 2012)
#
# $$
# P(c \mid x) \propto \sum_i P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i)
# $$
#
# $$
# P(c, x_i) = \frac{N(c, x_i) + s}{N + C\, r_i\, s} \qquad P(x_j \mid c, x_i) = \frac{N(c, x_i, x_j) + s}{N(c, x_i) + r_j\, s}
# $$
#
# For n = 2, i stands for a pair of features, whose weight is the sum of their weights. With missing values, N is the number of
# rows in which i is observed, and N(c, x_i) of the second ratio counts those in which j is observed, too. `lp(..., m=m)` has
# $m / (C r_i)$ and $m / r_j$ in place of s. With `weights="mi"`, cells with a probability below 1e-6 are excluded from the
# information. With fewer than n features, all of them are superparents.

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
# package, larger AIC and BIC are better; they are −½ times the values that most textbooks define. (Akaike 1974;
# Schwarz 1978)

# %%
own = np.arange(len(car)), car["class"].cat.codes
k = sum((table.shape[0] - 1) * table[0].size for table in params(tan).values())
check("nparams", k, nparams(tan))
check("loglik", joint[own].sum(), loglik(tan, car))
check("cloglik", np.log(posterior[own]).sum(), cloglik(tan, car))
check("AIC", joint[own].sum() - k, AIC(tan, car))
check("BIC", joint[own].sum() - 0.5 * np.log(len(car)) * k, BIC(tan, car))

# %% [markdown]
# `network_score` computes these scores of a structure with maximum-likelihood tables, and the logarithms of two
# marginal likelihoods, in which the tables are integrated over their prior. With $s$ = `ess`, $r$ levels and $q$
# configurations of the parents, the contribution of each variable to BDeu is (Heckerman, Geiger, Chickering 1995)
#
# $$
# \sum_j \left[ \ln \frac{Γ(s/q)}{Γ(s/q + N_j)} + \sum_k \ln \frac{Γ(s/rq + N_{jk})}{Γ(s/rq)} \right]
# $$
#
# In `hc` and `ban`, gains within max(1e-9, 1e-12 · |score|) of each other are tied, and a change must gain more than that. With
# `tabu`, changes that gain at most 1.5e-8 count as losses. In `kdb_mi` and `tan_cl`, values within 1e-9 are tied.


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
# With two classes, the Brier score is the term of one of them, which is half the sum, as in scikit-learn. Balanced
# accuracy is the mean over the classes of the proportion of correct labels. AUC is the proportion of
# pairs of a row of a class and a row of another class in which the former has the larger posterior probability of
# the class; ties count one half. (Brier 1950; Hanley, McNeil 1982)
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
# Balanced accuracy and AUC omit classes without tested rows; AUC is NaN if only one class is tested, and averages over the
# classes by their frequency. AUC and calibration errors treat posteriors that differ by rounding as equal. −ln p is at
# most −ln of the spacing of floats above 1. The standard error of a metric is the standard deviation over folds divided
# by √k or, for calibration errors, the jackknife over folds, a mean over repeats. If calibration errors were computed,
# `attrs["calibrated"]` is the expected calibration error of calibrated posteriors with the same number of rows, which is
# not 0, because proportions in small intervals vary.
#
# Metrics are means by weight. If all weights are whole numbers, as in a table of frequencies, a row of weight 5 counts as
# five rows: its units are split over the folds at random, so that results equal the results of repeated rows. If a weight
# is fractional, or `folds` are given, each row belongs to one fold, because it is one case, such as a respondent of a
# survey. With several class variables, folds are not stratified.

# %% [markdown]
# ## Missing values at prediction
#
# A network, an average of networks and a model of several class variables marginalize over missing features exactly. If
# all are missing, the posterior is the prior. `ande` uses a missing feature neither as a superparent nor as a child. A
# dependency network sums the product of its tables, which is not a distribution if its arcs form cycles, so if all
# features are missing, its posterior can differ from the prior. By hand, this is a sum over all completions of a row:
#
# $$
# P(c, \text{observed}) = \sum_h P(c, \text{observed}, \text{hidden} = h)
# $$

# %%
forest = lp(tan_cl("Class", voting, score="bic"), voting, smooth=1)
n_missing = voting[voting.columns[:-1]].isna().sum(axis=1)
row = voting[n_missing == 4].head(1)
hidden = [name for name in features(forest) if row[name].isna().item()]
ways = pd.DataFrame(
    list(product(*(values(forest)[name] for name in hidden))), columns=hidden
)
filled = pd.concat([row] * len(ways), ignore_index=True).assign(**ways)
print(f"missing: {', '.join(hidden)}; {len(filled)} completions")
total = np.exp(log_joint(forest, filled)).sum(0)
check(
    "P(Class | 12 of 16 votes)",
    total / total.sum(),
    predict(forest, row, prob=True).to_numpy()[0],
)

# %% [markdown]
# ## Expectation maximization
#
# `missing="em"` maximizes the log-likelihood of all observed values, including rows without a class, with the
# prior,
#
# $$
# \sum \ln P(\text{observed values of the row}) + α \sum \ln θ
# $$
#
# over rows and over all entries of the tables; with `ess` or `m`, their pseudo-counts replace α. On complete data, it
# gives the estimates of complete counts. It is consistent if values are missing at random, that is, depending on observed
# values only; available cases require that they are missing completely at random.
#
# (Dempster, Laird, Rubin 1977; Lauritzen 1995)

# %% [markdown]
# ## MANB
#
# MANB averages over all 2ⁿ naive Bayes structures in which each arc is present or absent. Prior and likelihood
# are products over the features, so the average needs only the posterior probability of each arc,
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


# %%
def log_evidence(counts):
    """Compute ln P(D) of a (levels, classes) table with α = 1."""
    r = len(counts)
    columns = gammaln(r) - gammaln(counts.sum(0) + r) + gammaln(counts + 1).sum(0)
    return columns.sum()


manb = lp(nb("class", car), car, smooth=1, manb_prior=0.1)
arc_posteriors = []
for feature in features(manb):
    counts = count(car, feature, "class")
    evidence = log_evidence(counts) - log_evidence(counts.sum(1, keepdims=True))
    arc_posteriors.append(expit(evidence + logit(0.1)))
check("P(arc | D)", arc_posteriors, manb_arc_posterior(manb))
print(manb_arc_posterior(manb).round(9).to_dict())


# %% [markdown]
# ## AWNB
#
# AWNB and WANBIA raise each table to a power, the weight, and normalize it,
#
# $$
# \frac{θ_{ijk}^w}{\sum_k θ_{ijk}^w}
# $$
#
# With $w = 1$, the table is unchanged; with $w = 0$, the feature has no influence. The R package does the same.
# In the papers, the tables are not normalized: $P(c \mid x) \propto P(c) \prod_i P(x_i \mid c)^{w_i}$. The
# normalizing constant depends on the class and does not cancel, so the two versions are different classifiers
# with the same weights.
#
# The weight of AWNB is the mean over trees of $1/\sqrt{\text{depth}}$, where depth is the minimum depth at which
# a tree tests the feature (1 at the root). A tree that does not test the feature counts as 0. Each tree is grown
# on a bootstrap sample until its leaves are pure. Then, as in R, splits that do not improve the training accuracy
# are removed from below. (Hall 2007)

# %% [markdown]
# ## WANBIA
#
# WANBIA chooses all weights jointly, each between 0 and 1, by maximizing the conditional log-likelihood of the
# weighted model:
#
# $$
# w = \arg\max_w \sum \ln P(\text{class} \mid \text{features}; w)
# $$
#
# With normalized tables, this function of the weights is not concave, so the result can be a local maximum; the
# optimizer starts from several points. The package uses the exact gradient, and the computation by hand uses
# finite differences. (Zaidi, Cerquides, Carman, Webb 2013)

# %%
plain = lp(nb("Class", votes), votes, smooth=1)
wanbia = lp(nb("Class", votes), votes, smooth=1, wanbia=True)
codes = {name: votes[name].cat.codes for name in votes.columns}


def minus_cloglik(weights):
    """Compute −Σ ln P(class | features; w)."""
    logs = np.log(params(plain)["Class"])
    for name, w in zip(features(plain), weights, strict=True):
        powered = params(plain)[name] ** w
        logs = logs + np.log(powered / powered.sum(0))[codes[name]]
    own = logs[np.arange(len(votes)), codes["Class"]]
    return (logsumexp(logs, axis=1) - own).sum()


check(
    "cloglik at the weights",
    -minus_cloglik(feature_weights(wanbia)),
    cloglik(wanbia, votes),
)
best = minimize(minus_cloglik, np.ones(16), bounds=[(0, 1)] * 16, method="L-BFGS-B")
check("maximum of cloglik", -best.fun, cloglik(wanbia, votes), tolerance=1e-4)
print(f"without weights: {cloglik(plain, votes):.3f}")

# %% [markdown]
# ## Hierarchical smoothing (back-off)
#
# A table with many parents has few rows per entry. `backoff=True` shrinks each table towards the table with one
# parent fewer, recursively: the distribution of the variable alone is shrunk towards the uniform distribution,
# the next level is given the class, and the following levels add the feature parents in order. With $u$ the
# configuration of the parents at level $l$ and $u'$ the configuration at the level before,
#
# $$
# P_l(x \mid u) = \frac{N_{ux} + m_l\, P_{l-1}(x \mid u')}{N_u + m_l}
# $$
#
# Each level has one concentration $m_l$, the value between 0.5 and 5000 that maximizes the likelihood of the
# data,
#
# $$
# \sum_u \left[ \ln \frac{Γ(m_l)}{Γ(m_l + N_u)} + \sum_x \ln \frac{Γ(m_l P_{l-1}(x \mid u') + N_{ux})}{Γ(m_l P_{l-1}(x \mid u'))} \right]
# $$
#
# The class itself has the probability $(n_y + 1/C) / (n + 1)$. (Petitjean, Buntine, Webb and Zaidi 2018 use sampling for
# a model with more levels of uncertainty.)


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
# Leave-one-out evaluates each row with tables from which the row has been removed, by subtracting 1 from its
# counts. This is exact for the tables, given the structure, cut points and concentrations, which are learned from
# all rows. The leave-one-out log-likelihood is therefore not an estimate of the performance on new rows. With
# $P_{-i}$ the model without row i, `held_out="power"` raises posteriors to the power
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
# Unlike those of AWNB and WANBIA, the weighted tables are *not* normalized, so the function is concave and has a
# single maximum.

# %% [markdown]
# If all rows would need more than 256 MiB, an evenly spread selection of rows is used. With `held_out_args={"parents": True}`,
# numbers of parents are compared by the maximum or, without weights, by $\sum \ln P_{-i}$.
#
# Every row is a case: it is held out by itself, and if two rows are equal, one of them may be used to predict the other. A row
# with a whole weight w is w equal rows. If weights have fractions, as with `weights_are="cases"`, each row is one case and weights
# are scaled to sum to $(\sum w)^2 / \sum w^2$. With `groups`, all rows of a group are held out together.
#
# ### Missing values in weighted models
#
# Let h be the share of the features that a row lacks, each feature counted by the share of the training rows in which it is
# known. The score of a class c is
#
# $$
# (1 - h) \left(w_0 \ln P(c) + \sum_f w_f \ln P(x_f \mid c, \ldots)\right) + h \left(\ln P(c) + (p + (1 - p)\, h)\, M(c)\right)
# $$
#
# where missing features are ignored in the first sum, and a table with a missing parent backs off to the previous parents.
# $M(c) = \ln P(\text{observed features} \mid c)$ is, without arcs, by the tables of the observed features. With arcs, it is that
# of the network of the first feature parents only, a tree, with missing features marginalized over, and a mean over three
# discretizations if there are several. p is the best common power τ of the tables without feature parents, as in
# `held_out="power"`. If no feature is known, the posterior is the share of the class in the training rows, because the second
# $P(c)$ is not smoothed. With `held_out="power"`, the power is $τ + (1 - τ) h$, with h the plain share of missing features.
#
# ## The default: a sum of effects
#
# `bnc` without a learner fits the score of class c, with a line, curve or table for each feature and pair:
#
# $$s_c(x) = a_c + \sum_j f_{jc}(x_j) + \sum_{i<j} f_{ijc}(x_i, x_j), \qquad P(c \mid x) ∝ e^{s_c(x)}.$$
#
# It is a smoothing-spline analysis of variance of the log odds (Wahba, Wang, Gu, Klein, Klein 1995), fitted as a penalized
# multinomial regression. Each effect is a sum of *contrasts* with weights.
#
# - A number is divided into at most 64 groups of equal weight. Its contrasts are a line and a square of the means of the
#   groups, up to four standard deviations from the mean, and the cosines $\cos(π k r) / k$ of their ranks r, k = 1, …, 12, made
#   orthogonal. A category has a contrast for each level; in a column with more than twelve levels, those that occur once
#   share one. Missing values have a contrast against all others.
# - The contrasts of a type (lines and squares; cosines, levels and missing values) are scaled so that their variances sum
#   to 1 over the rows. Those of a pair are products of the contrasts of both sides, on coarser groups: all pairs together
#   have at most 16,384 cells, fewer with few rows or many classes.
# - The weights are normal with mean 0. The variance is τ for each type, times a factor for each feature and pair. The variances
#   are the means, on the scale of logarithms, over values that a climb from two starts tries, by the likelihood of held-out
#   rows in five folds of at most 400 rows; a prior has standard deviation 2 for ln τ. The factor of a feature or pair is
#   (0.3 + u) / (0.3 + v), with u the square of its fitted effects and v what its variance expects (MacKay 1992). Factors are
#   used only if the held-out likelihood rises. All effects are multiplied by a power, which is chosen with the variances,
#   times n / (n + 20) for n rows, because variances that few rows choose make effects too large.
# - Of more than 128 pairs of at most 64 features, those are used along which the likelihood rises most steeply, in each
#   fold without its held-out rows. With 16 pairs, the held-out loss must be a tenth lower to be preferred.
# - *Exact values* of a number or category with many values (names, identifiers), the cells of two such features, and groups of
#   a number with sharp steps can have effects of their own, $\pm\ln((O_c + s) / (E_c + s))$ or half of it, with $O_c$ the number
#   of rows of class c with the value and $E_c$ the number that the other effects let one expect. The constant s and the power
#   (−1, −½, ½ or 1) maximize the likelihood of rows that are left out one by one, and a table is added only if its gain is
#   some standard errors. With a negative power, a class that was seen becomes less probable, as if each person had one row
#   of each class. A number between exact values does not have such an effect.
#
# The weights maximize the penalized likelihood of all rows, of which equal ones are one with the sum of their weights.
# Effects of pairs below 0.003 nats are left out. Given the weights, each effect is a table, with six digits.
#
# On 60 tables of R packages that were not used for development (halves, seed 0), the sum has a mean log-loss of 0.472 and
# a mean error of 0.212. A blend of weighted networks with a logistic regression, which was the default before, had 0.500 and
# 0.230, with the lower log-loss on 30 of them. The sum takes a third of the time of the blend to fit and to predict. Two
# earlier versions of the sum had a higher log-loss than the blend on 118 other tables, by 0.024 on average: in some of these, each
# person or firm has one row of each class, and effects with a negative power were added for them.
#
# ## Densities of numeric features
#
# With `numbers`, the density of a number is estimated for each configuration of its parents from the rows in which
# these and the number are observed. "gaussian" is a normal distribution with their mean and variance, with $1/n$.
# "kernel" is the mean of normal densities around their values (John, Langley 1995), with the standard deviation $1.06\,
# s\, n^{-1/5}$ (Silverman 1986), where $s$ is their standard deviation, with $n - 1$. A configuration without variance
# has the density of the class, and a class without values has the density of all rows. A variance, and the square of
# a bandwidth, is at least $10^{-9}$ times the largest variance of the number within a class. With `smooth=0` and all
# features normal, the result is scikit-learn's `GaussianNB(var_smoothing=0)`.
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
# where H is the entropy of the class in bits and k is the number of classes that occur. The subsets S₁ and S₂ are then
# divided in the same way. (Fayyad, Irani 1993)
# The smallest of tied cut points is accepted, and rows without a class or value are ignored. With weights, N is a sum of
# weights, so the cut points depend on the scale of the weights; there are none if the sum is 1 or less.

# %% [markdown]
# ## Averaged cut points
#
# With `discretize="averaged"`, numeric columns are discretized nine times with shifted cut points, and each term
# of the log joint probability is the mean of nine logarithms. Without weights, the posterior is the normalized geometric mean
# of nine posteriors.

# %% [markdown]
# ## Weights of evidence
#
# `explain` returns the contribution of each feature to the log odds of a class, given the features before it,
#
# $$
# \ln O(\text{target} : \text{against} \mid v_1, \ldots, v_i) - \ln O(\text{target} : \text{against} \mid v_1, \ldots, v_{i-1})
# $$
#
# The contributions and the logarithm of the prior odds sum to the log odds of the posterior. (Good 1985)
# Later features are treated like missing features. A model with weights by leave-one-out adds the contributions of its terms
# and of M, each times its share in the score of the row, and the shifts of missing values: terms of missing features are 0, and M
# marginalizes over later features. With additional terms, the weight of a feature is the sum of all its terms.

# %%
row = car.iloc[[1700]]
reasons = explain(tan, row)
target, against = reasons.columns.name.split(" against ")
hidden = row.astype(object)
hidden[:] = None
log_odds = []
for name in reasons.index:  # the class comes first
    if name != "class":
        hidden[name] = row[name].astype(object)
    p = predict(tan, hidden, prob=True).iloc[0]
    log_odds.append(np.log(p[target] / p[against]))
check(
    f"{target} against {against}", np.diff(log_odds, prepend=0), reasons["log_odds"]
)
check("log odds of the posterior", log_odds[-1], reasons["log_odds"].sum())
print(reasons.round(3))

# %% [markdown]
# For a complete row and a single network, the contribution is the logarithm of the ratio of two table entries, in
# any order of the features:
#
# $$
# \ln θ(v_i \mid \text{parents}, \text{target}) - \ln θ(v_i \mid \text{parents}, \text{against})
# $$

# %% [markdown]
# With `interactions=True`, the main effect of feature i is $\ln P(v_i \mid \text{target}) - \ln P(v_i \mid \text{against})$,
# with the marginal distribution of the feature given the class, and the interaction is the rest of its contribution. If
# no feature has more than one feature parent and all are observed, the interaction of a pair is the difference of its
# pointwise mutual information between the classes, so networks of the same distribution have the same explanation,
# for all directions of their arcs. In models with weights, the main effect is computed from the table without feature
# parents, raised to the power of the table with parents; other terms belong to the features on which they depend. A main
# effect that is infinite is replaced by the contribution.
#
# ## Intervals of posteriors
#
# An interval describes $P(c \mid x)$ as a function of the tables (Van Allen, Singh, Greiner, Hooper 2008). Given the
# structure, each column of a table has a Dirichlet posterior, whose parameters are counts plus pseudo-counts. All tables are
# drawn `draws` times, the posterior of every row is computed from each draw, missing features are marginalized over within
# the draw, and the bounds are quantiles of the results (equal tails). The members of an average are drawn separately.
# If pseudo-counts are small, distributions can be so skewed that the estimate is slightly outside its interval.
#
# A sum of effects that `bnc(..., interval=True)` fits keeps G = 20 draws (`draws`) of its weights, from the normal distribution
# whose mean maximizes the penalized likelihood and whose covariance is its inverse curvature (Wood 2006). With the standard
# deviation s of the log odds L in the draws, the interval is $L \pm t_{G-1}\, s$, with the quantile of Student's t. It does not
# include the uncertainty of the variances and of the choice of pairs; effects of exact values do not vary between draws.
#
# ## Structural EM
#
# The expected score replaces each incomplete row by all its completions, weighted by their probability in the current
# model. A search maximizes it, EM estimates the parameters of the result by maximum likelihood, and both are repeated until
# the expected score does not improve. The score of the observed data, $\ln P(\text{observed values})$ minus the penalty,
# never decreases. (Friedman 1997)

# %% [markdown]
# ## Comparison of models
#
# `compare_ranks`: with $\bar R_j$ the average ranks of k models over N data sets, where values that agree in ten decimals
# are tied,
#
# $$
# χ^2 = \frac{12 N}{k (k + 1)} \left[ \sum_j \bar R_j^2 - \frac{k (k + 1)^2}{4} \right], \quad F = \frac{(N - 1) χ^2}{N (k - 1) - χ^2}
# $$
#
# have $k - 1$, and $k - 1$ and $(k - 1)(N - 1)$ degrees of freedom (Friedman, without a correction for ties; Iman, Davenport
# 1980). By Nemenyi's test, two models differ if their average ranks differ by $q \sqrt{k (k + 1) / 6 N}$ or more, where
# $\sqrt{2} q$ is the quantile of the studentized range of k with infinitely many degrees of freedom (Demšar 2006).
# Wilcoxon's test drops differences of 0. With $n \le 25$ other differences, p is exact: $W_+$ is compared with its values
# under all $2^n$ assignments of signs to the ranks, also if ranks are tied, and p is twice the smaller tail, at most 1. With
# more than 25, the normal distribution is used, with
#
# $$
# z = \frac{W_+ - μ - \frac{1}{2} \text{sign}(W_+ - μ)}{σ}, \quad μ = \frac{n (n + 1)}{4}, \quad σ^2 = \frac{n (n + 1)(2 n + 1)}{24} - \sum \frac{t^3 - t}{48}
# $$
#
# over groups of t tied ranks. If all differences are 0, z is 0 and p is 1.
#
# The Bayesian signed-rank test has a Dirichlet process as the prior of the differences z, with a pseudo-observation $z_0 =
# 0$ of strength 0.5. Its posterior is approximated by 20,000 draws of weights w of $z_0$ and the observed differences from
# Dirichlet(0.5, 1, …, 1). In each draw, one of three regions has the largest $\sum_{ij} w_i w_j$ over the pairs with $(z_i +
# z_j) / 2$ in it: above `rope`, below −`rope` and between. The probabilities are the shares of draws in which each region
# is largest; ties are divided. (Benavoli, Corani, Demšar, Zaffalon 2017)
#
# `compare`: with $d_{i1}, d_{i2}$ the differences of repeat i of two folds, and $s_i^2 = (d_{i1} - \bar d_i)^2 + (d_{i2} - \bar
# d_i)^2$,
#
# $$
# t = \frac{d_{11}}{\sqrt{\sum_i s_i^2 / 5}}, \quad F = \frac{\sum_{ij} d_{ij}^2}{2 \sum_i s_i^2}
# $$
#
# for "5x2cv_t", with 5 degrees of freedom (Dietterich 1998), and "5x2cv_f", with 10 and 5 (Alpaydın 1999). The confidence
# interval contains the differences that the test does not reject at the level of 5 %, so that of "5x2cv_t" is around
# $d_{11}$, and that of "5x2cv_f" is NaN if all are rejected. For "bayes_t", the posterior of the mean difference is Student's t
# with $J - 1$ degrees of freedom, mean $\bar d$ and scale $\sqrt{(1/J + n/m) s^2}$. Two folds are assumed to have the
# correlation $ρ = n / (n + m)$, and $n/m = ρ / (1 - ρ)$. (Corani, Benavoli 2015) P-values of pairs are adjusted by
# Holm's method (1979).
#
# ## Strength of arcs
#
# With F the distribution function of all strengths, the threshold is the smallest strength at which F is at least p,
# where p minimizes $\int_0^1 |F(t) - p|\, dt$; the smallest p is used if there are several. (Scutari, Nagarajan 2013)
# Learners that score by cross-validation can have a row in a training fold and its copy in the tested one, which favors
# more arcs.
#
# For `method="exact"`, all undirected spanning trees of the features are equally probable a priori, and the posterior of a
# tree is proportional to $\exp \sum [\text{bde}(Y \mid X, \text{class}) - \text{bde}(Y \mid \text{class})]$ over its edges, with the
# `ess` of the learner. The sum over all trees is a determinant (Meilă, Jaakkola 2006), which is computed by eliminating one
# feature at a time. `tan_cl(score="bde")` may learn a forest, but the posterior is over trees, so in each of them every
# feature has an edge. Edges have no direction (0.5), arcs from the class have strength 1, and the threshold is 0.5.

# %% [markdown]
# (founding)=
# ## Where each algorithm is
#
# These are the algorithms of the documents on which the package is based, besides [those of the paper on the R
# package](coming_from_r.py#paper).
#
# | algorithm | here | difference |
# |---|---|---|
# | **Friedman, Geiger, Goldszmidt (1997)** | | |
# | TAN | `tan_cl` | none; other scores give forests |
# | smoothing of TAN by the marginal distribution | `lp(backoff=True)` | the weights of the marginals are estimated, not fixed |
# | general networks by MDL | `hc` | MDL is −BIC; tabu search and restarts are new |
# | BAN | `ban` | hill climbing by a score |
# | Bayesian multinet, one network per class | not included | `tan_cl` and `ban` have one graph for all classes, but separate tables |
# | **Bielza, Larrañaga (2014), a survey** | | |
# | selective naive Bayes, by filter or wrapper | `learn_blanket` or `cmi`, and `nb(features=...)` | `bsej` and `fssj` also join features |
# | semi-naive Bayes | `fssj`, `bsej` | none |
# | SPODE, AODE, AnDE | `spode`, `aode`, `ande` | `aode` has all superparents; `ande(min_count=...)` requires a frequency |
# | k-dependence (Sahami 1996) | `kdb_mi` | none |
# | Markov blanket of the class | `learn_blanket`, `hc` | IAMB; any network has the blanket that `markov_blanket` returns |
# | K2 search (Cooper, Herskovits 1992) | `hc(score="k2")` | the same score; K2 needs an order of the variables, and hill climbing finds the directions, too |
# | penalized conditional likelihood (Grossman, Domingos 2004) | `tan_hc(metric="log_loss")` | it has no closed form, so each candidate needs a fit and the penalty must be chosen; held-out rows measure the conditional likelihood without a penalty |
# | discriminative weights of generative tables | `lp(wanbia=True)`, `lp(held_out="weights")` | see [WANBIA](#wanbia) |
# | **Gámez, Mateo, Puerta (2006)** | | |
# | ChiSqDN | `chisq_dn(df="deterministic")` | none; the default `df` counts levels of the data, and gives smaller tables: see [above](#tests-of-dependency-networks) |
# | BAN by BIC, to compare | `ban` | Table 3 is reproduced |
# | queries in dependency networks (Heckerman and others 2000) | `query`, `sample`, `impute` | the class is drawn from the posterior of `predict` |
# | **Several class variables** | | |
# | multidimensional classifiers (van der Gaag, de Waal 2006; Bielza, Li, Larrañaga 2011) | `mbc` | bridges by a score, without a wrapper |
# | average of networks (Antonucci, Corani, Mauá, Gabaglio 2013) | `maode` | averages joint distributions; the paper pools their logs |
# | probabilistic chain (Dembczyński, Cheng, Hüllermeier 2010) | `chain` | none |
# | ensemble of chains, ECC (Read and others 2011) | `chain(orders=10)` | averages posteriors; ECC averages labels, and draws rows for each chain |
# | label powerset, separate classifiers | [Several class variables](several.py) | a few lines each |
#
# ## References
#
# - Akaike, H. (1974). A new look at the statistical model identification. IEEE Transactions on Automatic Control
#   19.
# - Alpaydın, E. (1999). Combined 5 × 2 cv F test for comparing supervised classification learning algorithms.
#   Neural Computation 11.
# - Benavoli, A., Corani, G., Demšar, J., Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
#   classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
# - Bielza, C., Larrañaga, P. (2014). Discrete Bayesian network classifiers: a survey. ACM Computing Surveys 47.
# - Bouckaert, R. R., Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
#   algorithms. PAKDD 2004.
# - Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review 78.
# - Buntine, W. (1991). Theory refinement on Bayesian networks. UAI 1991.
# - Chow, C. K. (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information Theory
#   16.
# - Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions with dependence trees. IEEE
#   Transactions on Information Theory 14.
# - Cooper, G. F., Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from data.
#   Machine Learning 9.
# - Corani, G., Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
#   sets. Machine Learning 100.
# - Cover, T. M., Thomas, J. A. (2006). Elements of Information Theory. Wiley.
# - Dash, D., Cooper, G. F. (2002). Exact model averaging with naive Bayesian classifiers. ICML 2002.
# - Dempster, A. P., Laird, N. M., Rubin, D. B. (1977). Maximum likelihood from incomplete data via the EM
#   algorithm. Journal of the Royal Statistical Society B 39.
# - Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning
#   Research 7.
# - Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
#   algorithms. Neural Computation 10.
# - Domingos, P., Pazzani, M. (1997). On the optimality of the simple Bayesian classifier under zero-one loss.
#   Machine Learning 29.
# - Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001.
# - Fayyad, U. M., Irani, K. B. (1993). Multi-interval discretization of continuous-valued attributes for
#   classification learning. IJCAI 93.
# - Friedman, N. (1997). Learning belief networks in the presence of missing values and hidden variables. ICML 1997.
# - Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning 29.
# - Good, I. J. (1985). Weight of evidence: a brief survey. Bayesian Statistics 2.
# - Grossman, D., Domingos, P. (2004). Learning Bayesian network classifiers by maximizing conditional likelihood.
#   ICML 2004.
# - Gámez, J. A., Mateo, J. L., Puerta, J. M. (2006). Dependency networks based classifiers: learning models by
#   using independence tests. PGM 2006.
# - Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes. Knowledge-Based Systems 20.
# - Hand, D. J., Yu, K. (2001). Idiot's Bayes: not so stupid after all? International Statistical Review 69.
# - Hanley, J. A., McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic
#   (ROC) curve. Radiology 143.
# - Heckerman, D., Chickering, D. M., Meek, C., Rounthwaite, R., Kadie, C. (2000). Dependency networks for
#   inference, collaborative filtering, and data visualization. Journal of Machine Learning Research 1.
# - Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the combination of knowledge
#   and statistical data. Machine Learning 20.
# - Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.
# - Iman, R. L., Davenport, J. M. (1980). Approximations of the critical region of the Friedman statistic.
#   Communications in Statistics 9.
# - John, G. H., Langley, P. (1995). Estimating continuous distributions in Bayesian classifiers. UAI 1995.
# - Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of augmented Bayesian classifiers. International
#   Journal on Artificial Intelligence Tools 11.
# - Kononenko, I. (1991). Semi-naive Bayesian classifier. EWSL 91.
# - Lauritzen, S. L. (1995). The EM algorithm for graphical association models with missing data. Computational
#   Statistics & Data Analysis 19.
# - MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4.
# - Meilă, M., Jaakkola, T. (2006). Tractable Bayesian learning of tree belief networks. Statistics and Computing
#   16.
# - Minsky, M. (1961). Steps toward artificial intelligence. Proceedings of the IRE 49.
# - Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.
# - Niculescu-Mizil, A., Caruana, R. (2005). Predicting good probabilities with supervised learning. ICML 2005.
# - Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.
# - Petitjean, F., Buntine, W., Webb, G. I., Zaidi, N. (2018). Accurate parameter estimation for Bayesian network
#   classifiers using hierarchical Dirichlet processes. Machine Learning 107.
# - Read, J., Pfahringer, B., Holmes, G., Frank, E. (2011). Classifier chains for multi-label classification.
#   Machine Learning 85.
# - Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori
#   probabilities: a simple procedure. Neural Computation 14.
# - Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.
# - Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics 6.
# - Scutari, M., Nagarajan, R. (2013). Identifying significant edges in graphical models of molecular networks.
#   Artificial Intelligence in Medicine 57.
# - Silverman, B. W. (1986). Density Estimation for Statistics and Data Analysis. Chapman and Hall.
# - Van Allen, T., Singh, A., Greiner, R., Hooper, P. (2008). Quantifying the uncertainty of a belief net response:
#   Bayesian error-bars for belief net inference. Artificial Intelligence 172.
# - Wahba, G., Wang, Y., Gu, C., Klein, R., Klein, B. (1995). Smoothing spline ANOVA for exponential families.
#   Annals of Statistics 23.
# - Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating one-dependence estimators.
#   Machine Learning 58.
# - Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by extrapolation from marginal
#   to full-multivariate probability distributions: decreasingly naive Bayesian classification. Machine Learning 86.
# - Wei, W., Visweswaran, S., Cooper, G. F. (2011). The application of naive Bayes model averaging to predict
#   Alzheimer's disease from genome-wide data. JAMIA 18.
# - Wood, S. N. (2006). On confidence intervals for generalized additive models based on penalized regression
#   splines. Australian & New Zealand Journal of Statistics 48.
# - Wood, S. N. (2017). Generalized additive models: an introduction with R. CRC Press.
# - Yilmaz, Y. K., Alpaydın, E., Akın, H. L., Bilgiç, T. (2002). Handling of deterministic relationships in
#   constraint-based causal discovery. PGM 2002.
# - Zaidi, N. A., Cerquides, J., Carman, M. J., Webb, G. I. (2013). Alleviating naive Bayes attribute independence
#   assumption by attribute weighting. JMLR 14.
# - Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption resolution: an efficient and effective
#   technique for semi-naive Bayesian learning. Machine Learning 87.
