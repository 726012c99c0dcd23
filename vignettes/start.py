# %% [markdown]
# # Ten-minute tutorial
#
# This tutorial fits a classifier to a table with numbers and missing values, reads the model, predicts new rows,
# explains a prediction, and evaluates the model. It is written for readers who know pandas and have not used Bayesian
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
# the baseline. Insulin was measured for only half of the women; nothing needs to be imputed.
#
# With your own data, read a file with `pandas.read_csv` and drop identifiers, such as a customer number. Text, booleans
# and integers can stay as they are. By default, pandas reads the texts "None" and "NA" as missing values. If one of them
# is a category, use `read_csv(path, keep_default_na=False, na_values=[""])`.
#
# ## Fit a model
#
# `bnc` learns a structure and estimates its parameters. `"tan_cl"` is tree-augmented naive Bayes: each feature depends
# on the class and on at most one other feature. The score AIC keeps an arc between features only if it improves the
# likelihood by more than its number of parameters. `discretize="mdlp"` divides each numeric column into intervals
# within which the proportions of the classes are similar (Fayyad and Irani's minimum description length principle).
# `smooth=1` adds one pseudo-count to every cell (Laplace smoothing), so that an unseen combination does not get
# probability zero. `missing_level=False` states that missing values carry no information about the class.

# %%
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
model = bnc("tan_cl", "diabetes", women, dag_args={"score": "aic"}, **options)
print(model)

# %% [markdown]
# All eight features were discretized, and five of them have missing values. A notebook shows these facts with a picture
# of the network if `model` is the last line of a cell.
#
# ## Read the model
#
# The network shows the structure. The class is a parent of all features. An arc between two features means that they
# depend on each other within the classes. It is not a causal effect, and its direction is arbitrary.

# %%
plot(model)

# %% [markdown]
# The parameters of the model are conditional probability tables. This is the table of glucose:

# %%
cpt(model, "glucose").round(2)

# %% [markdown]
# Read each column from top to bottom. It is the distribution of glucose among women with the values in its header.
# High glucose is much more frequent among women with diabetes.
#
# ## Predict new rows
#
# Pass new rows in their original form, including numbers and missing values. This model marginalizes over missing
# features exactly. (How other models treat them is described in [Missing values](incomplete.py).)

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
# The model predicts diabetes with probability 0.064 for Ada and 0.877 for Bea; the proportion in the data is 0.349.
#
# ## Explain a prediction
#
# Each feature adds a contribution to the log odds of the predicted class against the other class. The contributions and
# the prior (the row of the class) sum to the log odds of the posterior exactly.

# %%
explain(model, new.loc["Bea"]).round(2)

# %%
plot_explanation(model, new.loc["Bea"])

# %% [markdown]
# A contribution c multiplies the odds by e^c, which is the column `odds_ratio`. A contribution of 1 multiplies them by
# 2.7, a contribution of 2 by 7.4. Bea's glucose above 154.5 multiplies the odds of "yes" by e^1.93 = 6.9. The prior,
# −0.62, is negative because most women do not have diabetes. Missing features contribute 0. With `sentences=True`,
# `explain` returns the strongest reasons in words:

# %%
print(*explain(model, new.loc["Bea"], sentences=True), sep="\n")

# %% [markdown]
# These are the odds ratios of the table, rounded.
#
# The mean absolute contribution over all women shows which features matter most in general:

# %%
plot_importance(model, women)

# %% [markdown]
# Glucose has the largest importance. This describes the model, and not the causes of diabetes. [Interpreting a
# model](interpreting.py) discusses the meaning of importance.
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
# `summary` collects the facts of a model, its cross-validated performance and its strongest features in one table, which
# you can paste into a report:

# %%
pd.options.display.max_colwidth = None
summary(model, women, rng=0)

# %% [markdown]
# The baseline beside each metric is that of the class proportions alone. The strongest features are those with the
# largest mean absolute contributions, here in log odds.
#
# `cv_predict` predicts each woman with a model that was fitted without her. This is the confusion matrix of these
# out-of-fold predictions, with actual classes as rows:

# %%
out_of_fold = cv_predict(model, women, rng=0, prob=False)
confusion(out_of_fold, women["diabetes"])

# %% [markdown]
# The model misses 122 of the 268 women with diabetes. If that error is more serious than a false alarm, use
# misclassification costs: see [Evaluating a classifier](judging.py).
#
# ## Save the model
#
# `save` writes a readable JSON file that contains the model, its cut points and how it was fitted. Unlike a pickle file,
# it contains no executable code.

# %%
save(model, "diabetes.json")
print(predict(load("diabetes.json"), new).equals(predict(model, new)))

# %% [markdown]
# ## Summary and next steps
#
# You fitted a tree-augmented naive Bayes with `bnc`, read it with `plot` and `cpt`, predicted with `predict`, explained
# with `explain`, and evaluated with `cv`.
#
# - [Choosing a classifier](overview.py) introduces all learners, and [The default classifier](accuracy.py) the one with
#   the lowest log-loss on 29 data sets.
# - [Numeric features](numeric.py) explains discretization.
# - [Common pitfalls](pitfalls.py) shows mistakes that lead to wrong conclusions.
# - [For users of scikit-learn](coming_from_sklearn.py) shows pipelines and grid searches; [For users of
#   R](coming_from_r.py) lists the differences from the R package.
#
# ## Reference
#
# - Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C., Johannes, R. S. (1988). Using the ADAP learning
#   algorithm to forecast the onset of diabetes mellitus. Proceedings of the Symposium on Computer Applications and
#   Medical Care.
