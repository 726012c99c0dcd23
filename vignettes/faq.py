# %% [markdown]
# # Common questions and errors
#
# This page answers the most common questions, and shows the fifteen messages that new users meet most often. Search it for a
# word of your message.
#
# ```{index} ! error, ! errors, ! warning, ! GPU, ! dates, ! FAQ
# ```
#
# ## Questions
#
# | question | answer |
# |---|---|
# | How do I predict, explain, evaluate, compare, save …? | One line for each: [Your table in ten minutes](start.py#in-one-table) |
# | Which classifier should I use? | Start with `BNCClassifier()`; [Choosing a classifier](overview.py#default-sum-or-network) says when to use a sum or a network |
# | How does the default differ from naive Bayes and TAN? | They count each table on its own. The default estimates the effects of all features and pairs together, so that dependent features do not count twice: [How it works](how_it_works.py#the-default-in-one-minute) |
# | May I trust the probabilities? | See whether the points of `plot_calibration(cv_predict(x, df, rng=0), df[y])` are on the diagonal: [Evaluating a classifier](judging.py#calibration) |
# | Why is a probability not the share among similar training rows? | Because few rows are similar. Effects are estimated from all rows together, and are shrunk towards 0 if few rows support them: [The default classifier](accuracy.py#how-it-is-fitted). Without any known value, it is the share of the class |
# | How do I draw a ROC curve? | With `p = cv_predict(x, df, rng=0)`, by `RocCurveDisplay.from_predictions` of scikit-learn, of `df[y] == "yes"` and `p["yes"]` |
# | Why is the rare class never predicted? | Because another class is more probable in every row. State `costs`; resampling and class weights would change the probabilities: [Evaluating a classifier](judging.py#misclassification-costs) |
# | How do I set the costs of errors? | `predict(x, df, costs=costs)` or `BNCClassifier(costs=costs)`, with a DataFrame that has one row per actual class and one column per label (in `predict`, also per decision such as "refer"): [Evaluating a classifier](judging.py#misclassification-costs) |
# | Why does scikit-learn report an accuracy below the baseline? | `cv=5` does not shuffle, and the rows are sorted: [For users of scikit-learn](coming_from_sklearn.py#differences) |
# | Can I get the model as a table, or as points? | `pairs=0`, then `effects` or `scorecard`: [Your table in ten minutes](start.py#the-model-as-a-table-and-as-a-card) |
# | What do the reasons in a letter of rejection say (adverse action)? | Where points were lost: `explain(card, row)`: [Case study: credit](case_credit.py) |
# | Is the model as accurate for each group of people? | `summary(x, df, by="sex", k=5, rng=0)`: [Saving and deploying models](deploying.py#after-deployment-drift-and-audit) |
# | Have the data changed since the fit (drift)? | `drift(x, new, df)`: [Saving and deploying models](deploying.py#after-deployment-drift-and-audit) |
# | What do the lines of `print(model)` mean? | [The default classifier](accuracy.py#on-data) explains them |
# | Why has my model no arcs? | The default is a sum of effects, not a network: [The default classifier](accuracy.py) |
# | Would other data give the same arcs? | `arc_strength`: [Uncertainty](uncertainty.py) |
# | What does `smooth` do? | In one sentence: {term}`smoothing`. By hand: [How it works](how_it_works.py) |
# | Why is a category "None" missing? | `pandas.read_csv` reads "None" and "NA" as missing values. Use `read_csv(path, keep_default_na=False, na_values=[""])` |
# | How are missing values handled? | They stay missing. In the default, a *missing* value has an effect of its own, if training rows lack it, too; a feature that a record leaves out is *unknown*, which is not evidence: [Missing values](incomplete.py#unknown-or-missing) |
# | What about dates? | Make features of them: days since a fixed day, month, weekday. The error for a column of dates, and `check_data`, show the two lines of pandas |
# | Does it predict numbers (regression), or survival times? | No. Whether something happens within a year is a class, if all rows were observed for a year |
# | What if the data do not fit in memory, or grow? | [Large data](scale.py) |
# | Does a GPU help? | No, it is not used. Models are small, and most fits take seconds |
# | How do I save a model, or deploy it without Python? | `save(x, "model.json")`; `to_sql` for a database, `write_page` for a browser, `effects` for a table: [Saving and deploying models](deploying.py) |
#
# ## Messages
#
# The function `show` runs a call and prints its error or warning.

# %% tags=["hide-input"]
import warnings

import bnclassify as bn

car, women, voting = bn.load_car(), bn.load_pima(), bn.load_voting()
tree = bn.bnc("tan_cl", "class", car, smooth=1)


def show(action):
    """Print the error or the warning that a call causes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action()
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
            return
    for warning in caught:
        print(f"{warning.category.__name__}: {warning.message}")


# %% [markdown]
# ### Fitting
#
# **1. A learner gets numeric columns.** `bnc` and `BNCClassifier` discretize for you, `tan_cl` alone does not:

# %%
show(lambda: bn.tan_cl("diabetes", women))

# %% [markdown]
# Use `bnc("tan_cl", "diabetes", women, smooth=1, discretize="mdlp")`. See [Numeric features](numeric.py).
#
# **2. No prior.** `lp` does not choose a prior for you:

# %%
show(lambda: bn.lp(bn.nb("class", car), car))

# %% [markdown]
# `smooth=1` is a good start. See [Choosing a classifier](overview.py#arguments).
#
# **3. The third argument has no name.** Only the model and the data go without their names, because 1 could be any of 16
# arguments:

# %%
show(lambda: bn.lp(tree, car, 1))

# %% [markdown]
# **4. An argument is misspelled, or belongs elsewhere.** Arguments of the learner go in `dag_args`:

# %%
show(lambda: bn.bnc("tan_cl", "class", car, smooth=1, score="aic"))

# %% [markdown]
# Write `bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})`.
#
# **5. The class is missing in some rows.** These rows are ignored, with a warning:

# %%
unlabeled = car.assign(**{"class": car["class"].mask(car.index < 3)})
show(lambda: bn.bnc("nb", "class", unlabeled, smooth=1))

# %% [markdown]
# Drop them yourself, and the warning disappears. EM (`missing="em"`) can use them: see [Missing values](incomplete.py).
#
# **6. A column identifies the rows.** It cannot help to predict new ones:

# %%
numbered = car.assign(id=[f"car {i}" for i in range(len(car))])
numbered = numbered[["id", *car.columns]]
show(lambda: bn.bnc("nb", "class", numbered, smooth=1))

# %% [markdown]
# **7. Weights can mean two things.** A table of frequencies has one row per combination; a survey has one row per person:

# %%
table = car.groupby(["safety", "class"], observed=True).size()
show(lambda: bn.encode(table.rename("n").reset_index(), weights="n"))

# %% [markdown]
# For a table of frequencies, say `weights_are="frequencies"`; for a survey, `weights_are="cases"`. See [Large
# data](scale.py).
#
# **8. `hc` and missing values.** General networks compare families on the same rows:

# %%
show(lambda: bn.hc("Class", voting))

# %% [markdown]
# ### Predicting
#
# **9. A value was not in the training data.** Most often it is a typing error or another spelling:

# %%
new = car.head(1).astype(str).assign(doors="6")
show(lambda: bn.predict(tree, new))

# %% [markdown]
# `unseen="missing"` treats it as missing, as `BNCClassifier` does by default.
#
# **10. A column is absent or has another type.** A DataFrame must have all features; pass a dict if you know only some.

# %%
show(lambda: bn.predict(tree, car.drop(columns="safety")))
print(bn.predict(tree, {"persons": "4", "doors": "3"}, prob=True).round(2))

# %% [markdown]
# **11. The model does not define a joint distribution.** `query`, `sample`, `loglik`, `AIC` and `BIC` need one. The
# default and models with weights have none:

# %%
weighted = bn.bnc("nb", "class", car, smooth=1, held_out="weights")
show(lambda: bn.query(weighted, "class", {"safety": "high"}))

# %% [markdown]
# ### Evaluating
#
# **12. `cv` gets a structure.** It repeats the whole fit, so it needs a model that was fitted with `lp` or `bnc`:

# %%
show(lambda: bn.cv(bn.nb("class", car), car))

# %% [markdown]
# **13. A class has fewer rows than there are folds.** Some folds then have no row of it to test or to learn from:

# %%
few = car[(car["class"] != "vgood") | (car["class"] == "vgood").cumsum().le(4)]
show(lambda: bn.cv(tree, few, rng=0))

# %% [markdown]
# Use a smaller `k`, or merge the class with another.
#
# **14. Results change from run to run.** This is not an error: folds are drawn at random. Pass `rng=0` to `cv` and to all
# functions that use random numbers, or pass `folds=`.
#
# ### Drawing and installing
#
# **15. Graphviz or matplotlib is not installed.** `pip install matplotlib graphviz-pure` installs what `plot` and the charts
# need. In scripts, use `plot(x).view()`, or `plot_cpt(x, "safety").figure.savefig("safety.png")`.
#
# ## Summary
#
# A message names the argument, what it must be, what it got, and a remedy. If a message does not help you, that is an
# error of the package: please report it.
