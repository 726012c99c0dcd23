# %% [markdown]
# # Case study: diabetes
#
# A clinic wants to decide, from measurements that it has anyway, which women it should reassure, test or treat at once. This
# page goes from a raw file to that decision, and to a sentence that a woman can understand. You should have read the [first
# page](start.py). It takes twenty minutes. The data are real (768 women, 1988); the costs are invented, and the result is not a
# medical instrument.
#
# ```{index} ! decision, ! nomogram
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
    monotonize,
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
# There are three candidates: naive Bayes, a tree, and a sum of one effect per measurement (`pairs=0`). `missing_level=False`
# says that a missing value is not evidence, because the clinic will not measure for the same reasons as the study of 1988. We
# compare by log-loss, because we need probabilities; the baseline is 0.647.

# %%
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
bic = {"score": "bic"}
models = {
    "nb": bnc("nb", "diabetes", train, **options),
    "tan_cl": bnc("tan_cl", "diabetes", train, dag_args=bic, **options),
    "sum": bnc(
        class_var="diabetes",
        dataset=train,
        pairs=0,
        missing_level=False,
        interval=True,
    ),
}
metrics = ["log_loss", "auc", "accuracy"]
cv(models, train, k=3, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# The sum has the lowest log-loss and the highest AUC. It is also the easiest to explain, because each measurement contributes
# on its own. So we use it. (`interval=True` keeps draws of its effects, for step 9.)
#
# ## 5. Read the model
#
# Show the model to somebody who knows the field, and ask what looks wrong.

# %%
model = models["sum"]
plot_importance(model, train)

# %%
plot_effect(model, "glucose", target="yes", dataset=train)

# %%
plot_effect(model, "age", target="yes", dataset=train)

# %% [markdown]
# Glucose matters most, and its contribution rises over its whole range. That of age rises to about 50 years and falls after;
# the band, a 90 % interval, is wide there, because few women are that old. Show both curves to a physician. If a curve bends
# where it should not, look for the reason before you go on.
#
# ## 6. Check the probabilities
#
# We are going to act on probabilities, so they must be calibrated. `cv_predict` gives each woman a probability by a model
# that was fitted without her.

# %%
posteriors = cv_predict(model, train, k=3, rng=0)
plot_calibration(posteriors, train["diabetes"], bins=5)

# %%
columns = ["intercept", "slope", "calibration_error", "expected_error"]
calibration(posteriors, train["diabetes"])[columns].round(3)

# %% [markdown]
# A slope of 1 is perfect; below 1, probabilities are too extreme. The calibration error is compared with that of perfectly
# calibrated probabilities on as many rows (`expected_error`). The tree, for comparison, is overconfident.
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
# The decisions of the model cost less than a test for everyone, the best decision without a model. If you change the costs, the
# decisions change, and the model stays.
#
# ## 8. Evaluate once, on the rows put aside

# %%
for name in ("sum", "tan_cl"):
    decision = predict(models[name], test, costs=costs)
    pairs = list(zip(test["diabetes"], decision, strict=True))
    print(f"{name}: mean cost {paid[pairs].mean():.3f}")
decision = predict(model, test, costs=costs)
print(pd.crosstab(test["diabetes"], decision))

# %% [markdown]
# Few women with diabetes are reassured. With the tree, the cost would be higher, although its accuracy is nearly the same: if
# you decide by cost, you need calibrated probabilities.
#
# ## 9. Explain it to one woman
#
# Cleo is 37, with a glucose of 118; nothing else has been measured. The record leaves the other measurements out, so they are
# *unknown*: the model expects of them what it saw in women like her. With `interval=0.9`, `predict` returns an interval, too.

# %%
cleo = {"age": 37, "glucose": 118, "pregnancies": 2}
print(predict(model, cleo, prob=True, interval=0.9)["yes"].round(3).to_string())
print("decision:", predict(model, cleo, costs=costs).item())
print(*explain(model, cleo, sentences=True), sep="\n")

# %% [markdown]
# A test is the best decision for all probabilities from 0.125 to 0.667. If the interval lies within, the decision does not
# depend on which women were in the study.
#
# What should be measured next? `value_of_information` computes by how much each unknown value is expected to reduce the
# cost of the decision:

# %%
value_of_information(model, cleo, costs=costs).round(3)

# %% [markdown]
# The first measurement is worth most, as a share of the price of a test: measure it if it costs less.
#
# ## 10. A card for the pocket
#
# `scorecard` rounds a model to whole points that can be added up without a computer, and `plot_nomogram` draws them. A
# physician asks that the points rise with glucose, body mass index and age (`monotonize`), and for at most three intervals
# each:

# %%
rising = dict.fromkeys(["glucose", "bmi", "age"], "increasing")
card = scorecard(monotonize(model, rising, train), most_intervals=3)
print(card.points.to_string(index=False))
total = predict(card, cleo, points=True).item()
of_total = card.probabilities.set_index("total")["probability"]
print("Cleo:", total, "points; by the table of totals:", of_total[total].round(3))
print("by predict:", predict(card, cleo, prob=True)["yes"].round(3).item())
plot_nomogram(card, row=cleo)

# %%
cv({"card": card}, train, k=3, rng=0, metric=["auc", "log_loss"]).round(3)

# %% [markdown]
# The table of totals counts an unknown measurement with its mean points; `predict` also allows for the uncertainty of unknown
# values, so the two differ. The lower AUC of the card is the price of three intervals per measurement.
#
# ## 11. Report and hand over
#
# `summary` is the table of the report, `save` keeps the model with its cut points, and `write_page` gives the clinic a page
# that works offline.

# %%
pd.options.display.max_colwidth = None
summary(model, train, k=3, rng=0)

# %%
save(model, "diabetes.json")
labels = {"glucose": "Glucose, mg/dl", "pressure": "Blood pressure, mmHg"}
write_page(model, "diabetes.html", title="Reassure, test or treat?", labels=labels)

# %% [markdown]
# ## Summary
#
# The order matters: look, clean, put rows aside, choose by cross-validation, read, check calibration, decide by cost,
# evaluate once, explain. The most accurate model need not decide best: the tree lost, because it was overconfident.
