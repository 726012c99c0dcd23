# %% [markdown]
# # How it works
#
# This page answers four questions: what a Bayesian network classifier is, why its tables are arrays, how a prediction is
# computed, and what the default does, in one minute. You need nothing but fractions and a logarithm. It takes ten minutes, and
# has five exercises.
#
# ```{index} ! Bayesian network classifier, ! exercises
# ```
#
# ## What is a Bayesian network classifier?
#
# We ask whether a woman has diabetes, and know whether her glucose is above 127 and whether she is older than 28. A *Bayesian
# network* is a graph with one node per variable and one table per node. An arc says on which variables a table depends: its
# *parents*. Multiply one entry of each table, and you have the probability of a whole row. A *Bayesian network classifier* uses
# this to predict one variable, the class: it computes the probability of the row with each class, and compares them.

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    aode,
    bnc,
    bsej,
    cpt,
    explain,
    hc,
    kdb_mi,
    load_car,
    load_pima,
    members,
    nb,
    params,
    plot,
    predict,
    tan_cl,
)

women = load_pima().dropna(subset="glucose")
known = pd.DataFrame(
    {
        "high_glucose": np.where(women["glucose"] > 127, "yes", "no"),
        "over_28": np.where(women["age"] > 28, "yes", "no"),
        "diabetes": women["diabetes"],
    }
)
model = bnc("nb", "diabetes", known, smooth=0)
plot(model)

# %% [markdown]
# In this graph, the class has an arc to both features: their tables depend on it. This is the simplest classifier, *naive
# Bayes*.
#
# ## Why tables are arrays
#
# Count the women, and divide each column by its sum:

# %%
for feature in ("high_glucose", "over_28"):
    print(pd.crosstab(known[feature], known["diabetes"]), "\n")
    print(cpt(model, feature).round(3), "\n")
print(known["diabetes"].value_counts().to_string())

# %% [markdown]
# 174 of the 266 women with diabetes have high glucose, but only 109 of the 497 women without it. These proportions are the
# *likelihood* of each value in each class. With two parents, a table has a column for each combination of their values, so it
# is an array: each parent is an axis. `params` returns the array, `cpt` the same numbers with labels:

# %%
tree = bnc("tan_cl", "diabetes", known, smooth=0)
print(cpt(tree, "over_28").round(3))
print(params(tree)["over_28"].shape)

# %% [markdown]
# The array has 2 × 2 × 2 entries. Each further parent multiplies its size, and divides the rows among more columns: this is why
# classifiers allow few parents.
#
# ## One prediction by hand
#
# Consider a woman of 51 with high glucose. Before you know anything about her, the probability of diabetes is 266 / 763 =
# 0.349: this is the *prior*. For each class, multiply the prior by the likelihoods of the known values:
#
# - yes: 0.349 × 0.654 × 0.733 = 0.167
# - no: 0.651 × 0.219 × 0.410 = 0.059
#
# The two products do not sum to 1, because few women have both properties. Divide each by their sum, and you have the
# *posterior*: P(yes) = 0.167 / (0.167 + 0.059) = 0.74. `predict` does exactly this:

# %%
woman = pd.DataFrame({"high_glucose": ["yes"], "over_28": ["yes"]})
predict(model, woman, prob=True).round(3)

# %% [markdown]
# Naive Bayes is called naive because it multiplies the two likelihoods, which is correct only if glucose and age are
# independent among the women of a class.
#
# ## The same as a sum
#
# The *odds* of a class are its probability divided by that of the other class. For the odds, you need not divide by the
# sum, and each feature becomes one factor:
#
# - prior odds: 0.349 / 0.651 = 0.535
# - high glucose: 0.654 / 0.219 = 2.98. It is three times as frequent among women with diabetes.
# - over 28: 0.733 / 0.410 = 1.79
# - posterior odds: 0.535 × 2.98 × 1.79 = 2.85, about three to one
#
# Logarithms turn the product into a sum, so that you can compare evidence for and against on one scale: ln 0.535 = −0.63, ln
# 2.98 = 1.09 and ln 1.79 = 0.58 add up to 1.05 (with all digits), the *log odds*. This is the column `log_odds` of `explain`:

# %%
explain(model, woman).round(2)

# %% [markdown]
# An explanation is therefore not an approximation of the model. It is the model. If a feature is missing, its factor is
# omitted, so its contribution is 0.
#
# ## Three problems, and their solutions in the package
#
# **A count of zero.** If none of ten women with diabetes is under 21, the likelihood is 0, the product is 0, and no
# other evidence can outweigh it. So we add 1 to every count (`smooth=1`): 0 / 10 becomes 1 / 12. With 266 women, it
# changes little: 174 / 266 = 0.654 becomes 175 / 268 = 0.653.
#
# **Dependent features.** Among the women with high glucose who are older than 28, how many have diabetes? And what
# happens if a column is in the table twice, for example in two units?

# %%
both = known[(known["high_glucose"] == "yes") & (known["over_28"] == "yes")]
print("in the data:", round((both["diabetes"] == "yes").mean(), 3))
twice = known.assign(glucose_again=known["high_glucose"])
twice = twice[["high_glucose", "glucose_again", "over_28", "diabetes"]]
answers = {}
for learner in ("nb", "tan_cl"):
    for name, table in (("two columns", known), ("with a copy", twice)):
        fitted = bnc(learner, "diabetes", table, smooth=1)
        row = woman.assign(glucose_again="yes")[table.columns[:-1]]
        answers[learner, name] = predict(fitted, row, prob=True)["yes"].item()
print(pd.Series(answers).unstack().round(3))  # noqa: PD010

# %% [markdown]
# In the data it is 0.674. Naive Bayes overstates it as 0.739, because older women without diabetes have high glucose more
# often, so that age and glucose overlap. A copy makes it worse: naive Bayes counts its evidence twice. In a *tree* (`tan_cl`),
# a feature can have another feature as a parent: its table states how it is distributed *given the class and its parent*. Given
# the original, a copy adds nothing, and the tree stays at 0.67.
#
# **Interactions.** Some features are informative only together. A family car needs seats *and* safety. A table with a parent
# represents this too.
#
# ## The structures side by side
#
# More arcs mean fewer assumptions, but also larger tables with fewer rows per cell. These are six classifiers of cars:

# %%
car = load_car()
search = {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0}
graphs = {
    "naive Bayes: no arcs between features": nb("class", car),
    "a tree (TAN): at most one feature parent": tan_cl("class", car, score="aic"),
    "2-dependence: at most two": kdb_mi("class", car, kdbk=2),
    "AODE: the average of six models like this": members(aode("class", car))[5],
    "semi-naive Bayes: features joined into one": bsej("class", car, **search),
    "a general network: the class has no special role": hc("class", car),
}


# %% tags=["remove-input"]
class Graphs:
    """Several pictures side by side."""

    def _repr_html_(self):
        pictures = []
        for name, structure in graphs.items():
            picture = plot(structure, fontsize=14)
            flat = "no arcs" in name or "AODE" in name
            picture.attr("graph", label="", rankdir="LR" if flat else "TB")
            svg = picture.pipe(format="svg", encoding="utf-8")
            svg = svg[svg.find("<svg") :].replace("<svg", '<svg role="img"', 1)
            pictures.append(
                f"<figure>{svg}<figcaption>{name}</figcaption></figure>"
            )
        return f'<div class="graphs">{"".join(pictures)}</div>'


Graphs()

# %% [markdown]
# [Choosing a classifier](overview.py) introduces them.
#
# ## The default, in one minute
#
# `bnc(class_var="diabetes", dataset=df)` and `BNCClassifier()` fit another kind of sum. In a network, each table is counted on
# its own, so dependent features without an arc between them count their evidence twice. The default estimates all effects
# together, as a logistic regression does:
#
# > log odds = start + effect of each feature + effect of some pairs of features
#
# - An effect is a table: one number per level of a category, and one per interval of a numeric feature. Neighboring intervals
#   have similar numbers, because the effect is a smooth curve, with steps and peaks only if the data support them.
# - A missing value has an effect of its own.
# - How smooth and how large effects may be, and which pairs are used, is decided by rows that are held out of the fit.
#   If nothing helps to predict these, the effects are shrunk towards 0, and the probabilities towards the class proportions.
#
# So the default is a table that you can read, edit and add up, like the sum above, and `explain` shows its terms, too. It
# predicts the class alone. A network also describes the features, so it can be asked about any variable. [The default
# classifier](accuracy.py) has the details.
#
# ## Exercises
#
# The data are the cars: their price, seats and safety, and how acceptable they are. Think first, then show the answer.
#
# **1.** Fit naive Bayes with `smooth=0` to `safety` and `persons` only. From the tables, compute by hand the probability that a
# car for four persons with high safety is "unacc". Check it with `predict`.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
two = car[["safety", "persons", "class"]]
naive = bnc("nb", "class", two, smooth=0)
prior = car["class"].value_counts(normalize=True)
products = prior * cpt(naive, "safety").loc["high"] * cpt(naive, "persons").loc["4"]
print("by hand:   ", (products / products.sum()).round(3).to_dict())
found = predict(naive, {"safety": "high", "persons": "4"}, prob=True)
print("by predict:", found.iloc[0].round(3).to_dict())
# Multiply the prior by both likelihoods for each class, and divide by the sum.

# %% [markdown]
# **2.** How many cars for four persons with high safety are "unacc" in the data? Why is naive Bayes wrong, and which arc
# mends it?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
chosen = car[(car["safety"] == "high") & (car["persons"] == "4")]
print("in the data:", round((chosen["class"] == "unacc").mean(), 3))
joined = bnc("tan_cl", "class", two, smooth=0)
found = predict(joined, {"safety": "high", "persons": "4"}, prob=True)
print("tree:       ", found.iloc[0].round(3).to_dict())
# An unacceptable car is unsafe or for two persons, rarely both: within the class, the two depend on each other. With an
# arc between them, the table is unrestricted, so the tree agrees with the data.

# %% [markdown]
# **3.** Which entry of `cpt(naive, "safety")` is 0, and what follows for a car with low safety? What changes with `smooth=1`?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
smoothed = bnc("nb", "class", two, smooth=1)
for fitted in (naive, smoothed):
    print(predict(fitted, {"safety": "low"}, prob=True).round(4).to_string())
# No car with low safety is acceptable, so "unacc" has probability 1, and no other evidence can change it. With smooth=1, the
# others are improbable, not impossible.

# %% [markdown]
# **4.** Learn `tan_cl` with `score="aic"` and the roots "buying" and "safety". Which arcs change their direction? What do you
# conclude about causes?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
for root in ("buying", "safety"):
    print(root, tan_cl("class", car, score="aic", root=root).families)
# Both trees have the same score: data without interventions cannot tell the direction of an arc. It means that two features
# depend on each other within the classes, and nothing about causes.

# %% [markdown]
# **5.** A colleague reports an accuracy of 0.99 on the rows to which she fitted `kdb_mi` with five parents. What do you ask
# her? (The answer is in [Evaluating a classifier](judging.py#pitfalls).)
#
# ## Summary
#
# A prediction is the prior times one likelihood per feature. As log odds, it is a sum, and `explain` shows its terms. Smoothing
# prevents zeros; an arc lets one feature depend on another. The default is a sum, too, whose terms are estimated together.
# Next: [Choosing a classifier](overview.py).
