# %% [markdown]
# # Ten-minute tutorial
#
# In this tutorial you fit a classifier to a table with numeric columns and missing values, predict new rows, explain a
# prediction, and find out how good the model is. Then you turn it into a table that you can edit and publish, and into a
# network that you can show. You should know pandas; you need not know Bayesian networks. You need the extra `plot` (see
# [Installation](installation.md)) and ten minutes.
#
# The data set *Pima Indians Diabetes* contains eight measurements of 768 women and the result of a test for diabetes
# (Smith et al., 1988; public domain). The models are illustrations and not medical instruments.
#
# ```{index} ! csv, ! CSV file, ! read_csv, ! tutorial, ! quickstart
# ```
#
# ## Load the data

# %%
import bnclassify as bn
import pandas as pd

women = bn.load_pima()
print(women.head(4).to_string())
print("\nproportion missing:")
print(women.isna().mean().loc[lambda share: share > 0].round(3).to_string())
print("\nclasses:")
print(women["diabetes"].value_counts(normalize=True).round(3).to_string())

# %% [markdown]
# 65.1 % of the women do not have diabetes, so a classifier that always predicts "no" has an accuracy of 0.651. This is
# the baseline: a model is useful only if it does better. Insulin was measured for only half of the women, but you need
# not impute anything.
#
# With your own data, read a file with `pandas.read_csv`, and let `bn.check_data(table, "name of the class")` list what is
# odd about it.
#
# - Drop identifiers, such as a customer number. Text, booleans and integers can stay as they are.
# - Drop dates, or turn them into numbers, such as an age in days.
# - By default, pandas reads the texts "None" and "NA" as missing values. If one of them is a category, use
#   `read_csv(path, keep_default_na=False, na_values=[""])`.
#
# ## Fit a model
#
# Name the class, and `bnc` does the rest. It divides numeric columns into intervals, estimates how each feature (and, if
# useful, pairs of features) changes the probability of the class, and uses held-out rows to decide how far to trust this. In
# scikit-learn, `BNCClassifier()` is the same model.

# %%
model = bn.bnc(class_var="diabetes", dataset=women)
print(model)

# %% [markdown]
# All eight features were discretized, and five of them have missing values. The line *arcs* says that no feature depends on
# another one in this model, and *confidence* that its log odds were shrunk by 5 %, because it was slightly too sure on held-out
# rows. [The default classifier](accuracy.py) explains each step.
#
# ## Predict new rows
#
# Pass new rows as they are, with their measurements and missing values. `reindex` adds the columns that were not measured:

# %%
new = pd.DataFrame(
    {
        "age": [24, 51],
        "glucose": [98, 171],
        "bmi": [None, 34.2],
        "pregnancies": [1, 4],
    },
    index=["Ada", "Bea"],
).reindex(columns=women.columns[:-1])
bn.predict(model, new, prob=True).round(3)

# %% [markdown]
# These are *posterior* probabilities: of a class, given what is known about the woman. Diabetes has probability 0.072
# for Ada and 0.860 for Bea. Before anything is known, it is 0.349, the proportion in the data (the *prior*). An unknown
# value is never filled in.
#
# ## Explain a prediction

# %%
print(*bn.explain(model, new.loc["Bea"], sentences=True), sep="\n")

# %% [markdown]
# The *odds* of a class are its probability divided by that of the other class: Bea's are 0.860 / 0.140 = 6.1. Her glucose
# multiplies them by 5.2. Here is the whole calculation:

# %%
bn.explain(model, new.loc["Bea"]).round(2)

# %%
bn.plot_explanation(model, new.loc["Bea"])

# %% [markdown]
# The *log odds* are the logarithm of the odds, and on this scale evidence adds up: +0.69 doubles the odds, −0.69 halves
# them. The model starts from the prior (the row of the class), each feature adds its contribution, and the sum, 1.82, is
# exactly the log odds of the posterior. A missing value contributes as far as it was evidence in the training data, which is
# hardly the case here: the missing insulin adds 0.01. [How it works](how_it_works.py) computes such a sum by hand.
#
# ## Which features matter?
#
# The mean size of the contributions over all women answers that. It is measured in *nats*, the unit of natural logarithms.

# %%
bn.plot_importance(model, women)

# %% [markdown]
# Glucose has the largest importance. This describes the model, not the causes of diabetes: see [Interpreting a
# model](interpreting.py).
#
# ## Evaluate the model
#
# `summary` reports the main facts about a model, its cross-validated performance and its strongest features in one
# table, which you can paste into a report. It repeats the whole fit in each training fold:

# %%
pd.options.display.max_colwidth = None
bn.summary(model, women, rng=0)

# %% [markdown]
# Accuracy is the proportion of correct labels. Log-loss is the mean of −ln P(actual class); lower is better. Next to each
# metric is its baseline: the value you would get by predicting the class proportions for every row. The calibration error
# of this baseline is 0.000, because a model that gives every woman 0.349 is perfectly calibrated and useless: calibration
# counts only together with the log-loss.
#
# `cv_predict` predicts each woman with a model that was fitted without her. This is the confusion matrix of these
# out-of-fold predictions, with actual classes as rows:

# %%
out_of_fold = bn.cv_predict(model, women, rng=0, prob=False)
bn.confusion(out_of_fold, women["diabetes"])

# %% [markdown]
# The model misses 112 of the 268 women with diabetes. If missing a case is worse than a false alarm, pass `costs` to
# `predict`: [Evaluating a classifier](judging.py) shows how.
#
# ## If you want a table
#
# `additive=True` fits a sum of one effect per feature. `effects` returns it as a table, in which you look up each value and
# add the numbers:

# %%
additive = bn.bnc(class_var="diabetes", dataset=women, additive=True)
table = bn.effects(additive, women, steps=12)
print(table[table["feature"].isin(["diabetes", "age"])].round(2).to_string())

# %% [markdown]
# An age of 30 adds 0.27 to the log odds of diabetes. The effect rises until 53, and then falls. The column `observed` has the share of women with diabetes in each interval, which falls there, too.
# If you know that the effect should rise, `monotonize` returns the closest table in which it does, and says what that costs:

# %%
rising = bn.monotonize(
    additive, {"age": "increasing", "glucose": "increasing"}, women
)
print(rising)

# %% [markdown]
# The log-loss on the training rows hardly changes. You can also edit the table by hand: it is a DataFrame, and `from_effects`
# makes a model of it. Here the missing insulin, which may only reflect how the data were collected, loses its effect:

# %%
edited = bn.effects(rising)
edited.loc[
    (edited["feature"] == "insulin") & (edited["value"] == "(missing)"), "yes"
] = 0
final = bn.from_effects(edited, class_var="diabetes")
bn.predict(final, new, prob=True).round(3)

# %% [markdown]
# Bea's probability is now 0.844. `final` is a model like any other. `scorecard` rounds it to points, for people without
# a computer, and `to_sql` writes it as a query for your database:

# %%
card = bn.scorecard(final, most_intervals=4)
print(card.points.set_index("variable").loc[["glucose", "age"]].to_string())
print(bn.to_sql(card, table="women")[:300], "...")

# %% [markdown]
# With the card, you add up the points of a woman and look up the probability of the total in `card.probabilities`.
#
# What does it cost? This is the performance of both models by cross-validation:

# %%
models = {"default": model, "additive": additive}
metrics = ["accuracy", "auc", "log_loss"]
bn.cv(models, women, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# On these data, the sum of effects is as good as the default. If features interact, it is not: on the car data, its accuracy is
# 0.931, and that of the default 0.971. [Choosing a classifier](overview.py#default-sum-pairs-or-network) compares them on six
# tables.
#
# ## If you want a network
#
# A learner such as `"tan_cl"` fits one network with tables of probabilities. *Naive Bayes* assumes that the features are
# independent of each other among the women of one class. *Tree-augmented naive Bayes* (TAN) relaxes this: each feature may
# also depend on one other feature, its *parent*. With the score AIC, `tan_cl` adds such an arc only if it improves the
# log-likelihood by more than its number of parameters.
#
# `discretize="mdlp"` divides each numeric column into intervals within which the class proportions hardly change, and stops
# when another cut point no longer helps enough to predict the class (Fayyad and Irani's minimum description length
# principle, MDLP). `smooth=1` adds 1 to every count in the tables that you will see below, so that a combination that
# never occurred is improbable, not impossible.

# %%
tree = bn.bnc(
    "tan_cl",
    "diabetes",
    women,
    smooth=1,
    discretize="mdlp",
    dag_args={"score": "aic"},
)
bn.plot(tree)

# %% [markdown]
# The class is a parent of all features. An arc between two features means that they depend on each other within the
# classes. It is not a causal effect, and its direction is arbitrary.
#
# The parameters are *conditional probability tables*, one per variable. This is the table of the body mass index, whose
# parents are the blood pressure and the class:

# %%
bn.cpt(tree, "bmi").round(2)

# %% [markdown]
# Each column shows how the body mass index is distributed among the women with the pressure and class in the header, so
# it sums to 1. Of the women with low pressure, 88 % of those with diabetes have an index above 27.35, and 57 % of those
# without. Each of these probabilities is a count divided by a count, after 1 was added to every cell: this is all that
# *smoothing* does, and it matters only where counts are small.
#
# A network answers questions about any variable, such as the glucose of young women with diabetes:

# %%
bn.query(tree, "glucose", {"age": 25, "diabetes": "yes"}).round(3)

# %% [markdown]
# Of the women of 25 with diabetes, 37.6 % have a glucose above 154.5, says the network. All functions that explain, evaluate and
# save models work with it, too.
#
# ## Save the model
#
# `save` writes a readable JSON file with the model, its cut points and how it was fitted. Unlike a pickle file, it
# contains no code that could run on your machine.

# %%
bn.save(model, "diabetes.json")
print(bn.predict(bn.load("diabetes.json"), new).equals(bn.predict(model, new)))

# %% [markdown]
# ## Summary and next steps
#
# You fitted the default with `bnc`, predicted with `predict`, explained with `explain`, and evaluated with `summary`. You
# made a table of it with `additive=True` and `effects`, and a network with `tan_cl`.
#
# - [How it works](how_it_works.py) computes a prediction by hand.
# - [The default classifier](accuracy.py) describes the model that you fitted first, and [Choosing a classifier](overview.py)
#   all others.
# - [Uncertainty](uncertainty.py) answers how sure a prediction is.
# - [Common pitfalls](pitfalls.py) shows mistakes that lead to wrong conclusions.
# - If you use scikit-learn or R, start from [For users of scikit-learn](coming_from_sklearn.py) or [For users of
#   R](coming_from_r.py).
#
# ## Reference
#
# - Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C., Johannes, R. S. (1988). Using the ADAP learning
#   algorithm to forecast the onset of diabetes mellitus. Proceedings of the Symposium on Computer Applications and
#   Medical Care.
