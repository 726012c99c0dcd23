# %% [markdown]
# # Case study: diabetes
#
# A clinic wants to decide, from measurements that it has anyway, which women it should reassure, test or treat at once.
# This page goes all the way from a raw file to that decision, and to a sentence that a woman can understand. You should
# have read the [tutorial](start.py). Reading it takes twenty minutes. The data are real (768 women, 1988); the costs are
# invented, and the result is not a medical instrument.
#
# ```{index} threshold, decision, nomogram
# ```

# %%
from io import StringIO

import pandas as pd
from bnclassify import (
    bnc,
    calibration,
    cv,
    cv_predict,
    explain,
    load_pima,
    plot_calibration,
    plot_effect,
    plot_importance,
    plot_nomogram,
    predict,
    save,
    scorecard,
    stratified_folds,
    summary,
    value_of_information,
    write_page,
)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Make the raw file"}
raw = load_pima().astype({"diabetes": str}).fillna(0)
raw.insert(0, "patient", [f"P{1000 + i}" for i in range(len(raw))])
raw = pd.concat([raw, raw.iloc[100:112]])  # the last page of a list, copied twice
FILE = StringIO(raw.to_csv(index=False))

# %% [markdown]
# ## 1. Look at the raw file
#
# Never fit a model before you have looked at the ranges of all columns.

# %%
table = pd.read_csv(FILE)
print(table.head(3).to_string())
print(table.describe().loc[["min", "50%", "max"]].to_string())
print("rows:", len(table), " patients:", table["patient"].nunique())

# %% [markdown]
# Three things are wrong. Nobody alive has a glucose or a blood pressure of 0, so 0 stands for "not measured". Twelve
# patients are in the file twice. And `patient` identifies a row, so it must not be a feature.
#
# ## 2. Clean it
#
# You need not impute the missing values, but you have to mark them. Copies of rows would be in training and test sets at
# the same time, so remove them before you split.

# %%
measured = ["glucose", "pressure", "skin", "insulin", "bmi"]
women = table.drop_duplicates("patient").drop(columns="patient")
women[measured] = women[measured].mask(women[measured] == 0)
women["diabetes"] = women["diabetes"].astype("category")
print(women.isna().sum().loc[lambda n: n > 0].to_dict())
print(women["diabetes"].value_counts(normalize=True).round(3).to_dict())

# %% [markdown]
# ## 3. Put rows aside
#
# One third of the women is put aside until the end. All choices below are made with the others. The file has no dates; if
# yours has, put aside the latest rows, as in [the other case study](case_credit.py).

# %%
third = stratified_folds(women["diabetes"], 3, rng=0)
train, test = women[third > 0], women[third == 0]
print(len(train), "women for choices,", len(test), "put aside")

# %% [markdown]
# ## 4. Fit and compare
#
# There are three candidates: naive Bayes, a tree, and naive Bayes with averaged cut points and weights, so that
# dependent measurements are not counted twice. `missing_level=False` ignores whether a value was measured, because
# the clinic will not measure for the same reasons as the study of 1988. We compare by log-loss, because we need
# probabilities; the baseline is 0.647.

# %%
options = {"smooth": 1, "missing_level": False}
models = {
    "nb": bnc("nb", "diabetes", train, discretize="mdlp", **options),
    "tan_cl": bnc(
        "tan_cl",
        "diabetes",
        train,
        dag_args={"score": "bic"},
        discretize="mdlp",
        **options,
    ),
    "weighted nb": bnc(
        "nb",
        "diabetes",
        train,
        discretize="averaged",
        held_out="weights",
        **options,
    ),
}
metrics = ["log_loss", "auc", "accuracy"]
cv(models, train, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# The weighted naive Bayes has the lowest log-loss, 0.466, and the highest AUC, although it has no arcs between
# features: here more cut points help more than arcs. So we use it. It is also the easiest to explain, because each
# measurement contributes on its own.
#
# ## 5. Read the model
#
# Show the model to somebody who knows the field, and ask what looks wrong.

# %%
model = models["weighted nb"]
plot_importance(model, train)

# %%
plot_effect(model, "glucose", target="yes", dataset=train)

# %%
plot_effect(model, "age", target="yes", dataset=train)

# %% [markdown]
# Glucose matters most, and its contribution rises over its whole range: from about 127 on, it is evidence for diabetes. The
# contribution of age rises until about 43, and falls a little for the few older women. Show both curves to a
# physician. If a curve bends where it should not, look for the reason before you go on.
#
# ## 6. Check the probabilities
#
# We are going to act on probabilities, so they must be calibrated. `cv_predict` gives each woman a probability by a model
# that was fitted without her.

# %%
posteriors = cv_predict(model, train, rng=0)
plot_calibration(posteriors, train["diabetes"], bins=5)

# %%
columns = ["intercept", "slope", "calibration_error", "expected_error"]
calibration(posteriors, train["diabetes"])[columns].round(3)

# %% [markdown]
# The slope is 0.97, close to 1: the probabilities are hardly too extreme. The calibration error is not larger than what
# perfectly calibrated probabilities would show on as many rows (`expected_error`). For comparison, the slope of the tree
# is 0.74, so it is overconfident.
#
# ## 7. Decide by cost
#
# There are three decisions, and they are not classes: reassure, test (which finds out), and treat at once. Ask the
# clinic what each costs. Here a test costs 1, reassuring a woman with diabetes costs 8, and treating a woman without
# it costs 3.

# %%
costs = pd.DataFrame(
    {"reassure": [0, 8], "test": [1, 1], "treat": [3, 0]}, index=["no", "yes"]
)
costs

# %% [markdown]
# With `costs`, `predict` returns the decision with the lowest expected cost, Σ P(class) · cost. For two classes, this is a
# pair of thresholds: to reassure costs less than a test if 8 P(yes) < 1, so below 0.125, and to treat costs less if
# 3 (1 − P(yes)) < 1, so above 0.667.

# %%
decided = (posteriors @ costs).idxmin(axis=1)
print(pd.crosstab(train["diabetes"], decided))
paid = costs.stack()  # noqa: PD013
by_model = paid[list(zip(train["diabetes"], decided, strict=True))].mean()
print("mean cost by the model:", round(by_model, 3))
for decision in costs:
    always = paid[[(label, decision) for label in train["diabetes"]]].mean()
    print(f"mean cost of {decision} for everyone: {always:.3f}")

# %% [markdown]
# With these decisions, a woman costs 0.777 on average, 22 % less than a test for everyone, the best decision without
# a model. If you change the costs, the decisions change, and the model stays.
#
# ## 8. Evaluate once, on the rows put aside

# %%
for name in ("weighted nb", "tan_cl"):
    decision = predict(models[name], test, costs=costs)
    pairs = list(zip(test["diabetes"], decision, strict=True))
    print(f"{name}: mean cost {paid[pairs].mean():.3f}")
decision = predict(model, test, costs=costs)
print(pd.crosstab(test["diabetes"], decision))

# %% [markdown]
# The women put aside cost 0.703 each. Two of the 89 women with diabetes are reassured. With the tree, it would be
# 1.102, more than a test for everyone, although its accuracy is nearly the same: if you decide by cost, you need
# calibrated probabilities.
#
# ## 9. Explain it to one woman
#
# Cleo is 37, with a glucose of 118; nothing else has been measured.

# %%
cleo = {"age": 37, "glucose": 118, "pregnancies": 2}
print(predict(model, cleo, prob=True).round(3).to_string(index=False))
print("decision:", predict(model, cleo, costs=costs).item())
print(*explain(model, cleo, sentences=True), sep="\n")

# %% [markdown]
# What should be measured next? `value_of_information` computes by how much each unknown value is expected to reduce the
# cost of the decision:

# %%
value_of_information(model, cleo, costs=costs).round(3)

# %% [markdown]
# The body mass index is worth most: knowing it is expected to save 0.036 of the price of a test, and scales cost next
# to nothing. Insulin is more informative about the class, but does not change the decision. (For a model with
# weights, these gains are approximate, and can be slightly negative.)
#
# ## 10. A card for the pocket
#
# `scorecard` rounds a model to whole points that can be added up without a computer, and `plot_nomogram` draws them. For a
# short card, we start from naive Bayes with the few intervals of MDLP and with weights:

# %%
short = bnc(
    "nb", "diabetes", train, discretize="mdlp", held_out="weights", **options
)
card = scorecard(short)
print(card.points.to_string(index=False))
plot_nomogram(card, row=cleo)

# %%
cards = {"model": model, "short": short, "card": card}
cv(cards, train, rng=0, metric=["auc", "log_loss"]).unstack().round(3)  # noqa: PD010

# %% [markdown]
# Cleo's 9 points mean a probability of 0.21. On held-out women, the card has an AUC of 0.812, and the model of step 4,
# which needs a computer, 0.846; rounding itself costs nothing.
#
# ## 11. Report and hand over
#
# `summary` is the table of the report, `save` keeps the model with its cut points, and `write_page` gives the clinic a page
# that works offline.

# %%
pd.options.display.max_colwidth = None
summary(model, train, rng=0)

# %%
save(model, "diabetes.json")
write_page(model, "diabetes.html", title="Diabetes: reassure, test or treat?")

# %% [markdown]
# ## Summary
#
# The order matters: look, clean, put rows aside, choose by cross-validation, read, check calibration, decide by cost,
# evaluate once, explain. The most accurate model need not decide best: the tree lost, because it was overconfident.
