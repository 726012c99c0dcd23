# %% [markdown]
# # Ten-minute tutorial
#
# In this tutorial you fit a classifier to a table with numeric columns and missing values, read the model, predict new
# rows, explain a prediction, and find out how good the model is. You should know pandas; you need not know Bayesian
# networks. You need the extra `plot` (see [Installation](installation.md)) and ten minutes.
#
# The data set *Pima Indians Diabetes* contains eight measurements of 768 women and the result of a test for diabetes
# (Smith et al., 1988; public domain). The model is an illustration and not a medical instrument.
#
# ## Load the data

# %%
import pandas as pd
from bnclassify import (
    bnc,
    confusion,
    cpt,
    cv,
    cv_predict,
    explain,
    load,
    load_pima,
    plot,
    plot_explanation,
    plot_importance,
    predict,
    save,
    summary,
)

women = load_pima()
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
# With your own data, read a file with `pandas.read_csv` and drop identifiers, such as a customer number. Text, booleans
# and integers can stay as they are. By default, pandas reads the texts "None" and "NA" as missing values. If one of them
# is a category, use `read_csv(path, keep_default_na=False, na_values=[""])`.
#
# ## Fit a model
#
# `bnc` learns a structure and estimates its parameters. The simplest structure is *naive Bayes*: it assumes that the
# features are independent of each other among the women of one class. `"tan_cl"` is *tree-augmented naive Bayes* (TAN),
# which relaxes this: each feature may also depend on one other feature, its *parent*. With the score AIC, `tan_cl` adds
# such an arc only if it improves the log-likelihood by more than its number of parameters.
#
# `discretize="mdlp"` divides each numeric column into intervals within which the class proportions hardly change, and
# stops when another cut point would not pay for its own description (Fayyad and Irani's minimum description length
# principle, MDLP). `smooth=1` adds 1 to every count in the tables that you will see below, so that a combination that
# never occurred is improbable, not impossible. `missing_level=False` ignores whether a value is missing; without it,
# `bnc` warns you if missingness depends on the class (see [Missing values](incomplete.py)).

# %%
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
model = bnc("tan_cl", "diabetes", women, dag_args={"score": "aic"}, **options)
print(model)

# %% [markdown]
# All eight features were discretized, and five of them have missing values. If `model` is the last line of a cell, a
# notebook shows these facts with a picture of the network.
#
# ## Read the model
#
# The network shows the structure. The class is a parent of all features. An arc between two features means that they
# depend on each other within the classes. It is not a causal effect, and its direction is arbitrary.

# %%
plot(model)

# %% [markdown]
# The parameters of the model are *conditional probability tables*, one per variable. This is the table of the body mass
# index, whose parents are the blood pressure and the class:

# %%
cpt(model, "bmi").round(2)

# %% [markdown]
# Each column shows how the body mass index is distributed among the women with the pressure and class in the header, so
# it sums to 1. Of the women with low pressure, 88 % of those with diabetes have an index above 27.35, and 57 % of those
# without. Each of these probabilities is a count divided by a count, after 1 was added to every cell: this is all that
# *smoothing* does, and it matters only where counts are small.
#
# ## Predict new rows
#
# Pass new rows as they are, with their measurements and missing values. The model averages over the values that a
# missing feature could have (it *marginalizes* over them), so an unknown value is never filled in. ([Missing
# values](incomplete.py) describes what other models do.)

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
predict(model, new, prob=True).round(3)

# %% [markdown]
# These are *posterior* probabilities: of a class, given what is known about the woman. Diabetes has probability 0.064
# for Ada and 0.877 for Bea. Before anything is known, it is 0.349, the proportion in the data (the *prior*).
#
# ## Explain a prediction
#
# The *odds* of a class are its probability divided by that of the other class: Bea's are 0.877 / 0.123 = 7.1, seven to
# one. The *log odds* are their logarithm, ln 7.1 = 1.96. They are useful because evidence adds up on this scale: the
# model starts from the log odds of the prior (the row of the class), each known feature adds its contribution, and the
# sum is exactly the log odds of the posterior. The column `parents` states what a contribution was computed for, such
# as the glucose of a woman whose insulin is missing.

# %%
explain(model, new.loc["Bea"]).round(2)

# %%
plot_explanation(model, new.loc["Bea"])

# %% [markdown]
# Adding c to the log odds multiplies the odds by e^c, which is the column `odds_ratio`. For example, Bea's glucose
# above 154.5 contributes 1.93, so it multiplies the odds of "yes" by e^1.93 = 6.9. The prior, −0.62, is negative
# because most women do not have diabetes, and missing features contribute 0. [How it works](how_it_works.py) computes
# such a sum by hand. If your readers do not know log odds, `sentences=True` returns the strongest reasons in words:

# %%
print(*explain(model, new.loc["Bea"], sentences=True), sep="\n")

# %% [markdown]
# These are the odds ratios of the table, rounded.
#
# Which features matter most in general? The mean absolute contribution over all women answers that. It is measured in
# *nats*, the unit of natural logarithms; 0.69 nats double or halve the odds.

# %%
plot_importance(model, women)

# %% [markdown]
# Glucose has the largest importance. This describes the model, not the causes of diabetes: see [Interpreting a
# model](interpreting.py).
#
# ## Evaluate the model
#
# `cv` repeats the whole fit in each training fold, including the cut points, and evaluates the held-out rows. Accuracy
# is the proportion of correct labels. AUC is the probability that a woman with diabetes gets a higher probability than
# a woman without. Log-loss is the mean of −ln P(actual class); lower is better, and the baseline is 0.647.

# %%
models = {"tan_cl": model, "nb": bnc("nb", "diabetes", women, **options)}
metrics = ["accuracy", "auc", "log_loss"]
cv(models, women, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# Both models are better than the baselines of 0.651 and 0.647. Naive Bayes has the higher accuracy and AUC, and the
# tree has the lower log-loss, because it does not count dependent features as independent evidence. [Comparing
# classifiers](compare.py) shows how to test such differences.
#
# `summary` reports the main facts about a model, its cross-validated performance and its strongest features in one
# table, which you can paste into a report:

# %%
pd.options.display.max_colwidth = None
summary(model, women, rng=0)

# %% [markdown]
# Next to each metric is its baseline: the value you would get by predicting the class proportions for every row. Do not
# be surprised that the baseline of the calibration error is 0.000. Whoever gives every woman the probability 0.349 is
# perfectly calibrated, and useless: calibration counts only together with the log-loss, where the model is better.
#
# `cv_predict` predicts each woman with a model that was fitted without her. This is the confusion matrix of these
# out-of-fold predictions, with actual classes as rows:

# %%
out_of_fold = cv_predict(model, women, rng=0, prob=False)
confusion(out_of_fold, women["diabetes"])

# %% [markdown]
# The model misses 122 of the 268 women with diabetes. If that error is more serious than a false alarm, say so by
# misclassification costs: [Evaluating a classifier](judging.py) shows how.
#
# ## Save the model
#
# `save` writes a readable JSON file with the model, its cut points and how it was fitted. Unlike a pickle file, it
# contains no code that could run on your machine.

# %%
save(model, "diabetes.json")
print(predict(load("diabetes.json"), new).equals(predict(model, new)))

# %% [markdown]
# ## Summary and next steps
#
# You fitted a tree-augmented naive Bayes with `bnc`, read it with `plot` and `cpt`, predicted with `predict`, explained
# with `explain`, and evaluated with `cv`.
#
# - [How it works](how_it_works.py) computes a prediction by hand.
# - [Choosing a classifier](overview.py) introduces all learners, and [The default classifier](accuracy.py) the one with
#   the lowest mean log-loss over 29 data sets, of the six models compared there.
# - [Common pitfalls](pitfalls.py) shows mistakes that lead to wrong conclusions.
# - If you use scikit-learn or R, start from [For users of scikit-learn](coming_from_sklearn.py) or [For users of
#   R](coming_from_r.py).
#
# Next: [How it works](how_it_works.py).
#
# ## Reference
#
# - Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C., Johannes, R. S. (1988). Using the ADAP learning
#   algorithm to forecast the onset of diabetes mellitus. Proceedings of the Symposium on Computer Applications and
#   Medical Care.
