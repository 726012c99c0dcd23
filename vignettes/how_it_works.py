# %% [markdown]
# # How it works
#
# On this page you compute a prediction by hand, from two small tables, and then see what the classifiers of the package
# add to this calculation. You need nothing but fractions and a logarithm. It takes five minutes.
#
# ## Two tables
#
# We ask whether a woman has diabetes, and know two things about her: whether her glucose is above 127, and whether she
# is older than 28.

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
for feature in ("high_glucose", "over_28"):
    print(pd.crosstab(known[feature], known["diabetes"]), "\n")
print(known["diabetes"].value_counts().to_string())

# %% [markdown]
# The first table says that 174 of the 266 women with diabetes have high glucose, but only 109 of the 497 women without
# it. Divide each column by its sum, and you have the *likelihood* of each value in each class:

# %%
model = bnc("nb", "diabetes", known, smooth=0)
print(cpt(model, "high_glucose").round(3), "\n")
print(cpt(model, "over_28").round(3))

# %% [markdown]
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
# This is *naive Bayes*. It is called naive because it multiplies the two likelihoods, which is correct only if glucose
# and age are independent among the women of a class.
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
# Logarithms turn the product into a sum, so that you can compare evidence for and against on one scale: ln 0.535 =
# −0.63, ln 2.98 = 1.09 and ln 1.79 = 0.58 add up to 1.05 (with all digits), the *log odds*. This is the column `log_odds` of `explain`:

# %%
explain(model, woman).round(2)

# %% [markdown]
# An explanation is therefore not an approximation of the model. It is the model. If a feature is missing, its factor
# is omitted from the product, so its contribution is 0. In naive Bayes, this is the same as averaging over its
# possible values. (With default settings, a missing value can be evidence, too: see
# [Missing values](incomplete.py#the-default-classifier).)
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
# often, so that age and glucose overlap. A copy makes it worse: naive Bayes counts its evidence twice, and
# the probability rises to 0.893. In a *tree* (`tan_cl`), a feature can have another feature as a parent: its table
# states how it is distributed *given the class and its parent*. Given the original, a copy adds nothing, and the tree
# stays at 0.67.
#
# **Interactions.** Some features are informative only together. A family car needs seats *and* safety. A table with a
# parent represents this too, because it has one column per value of the parent.
#
# ## The structures side by side
#
# More arcs mean fewer assumptions, but also larger tables with fewer rows per cell. The classifiers of the package
# differ in the arcs that they allow. These are six of them, for the evaluation of cars:

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
# [Choosing a classifier](overview.py) compares all of them. With default settings, `BNCClassifier()` evaluates arcs
# between features on held-out rows, and gives every feature a weight, so that dependent features are not counted
# twice: see [The default classifier](accuracy.py).
#
# ## Summary
#
# A prediction is the prior times one likelihood per feature. As log odds, it is a sum, and `explain` shows its terms.
# Smoothing prevents zeros; an arc lets one feature depend on another.
