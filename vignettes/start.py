# %% [markdown]
# # Your table in ten minutes
#
# On this page you take a table through a whole job: read it, check it, fit a classifier, evaluate it, predict and explain,
# decide, turn the model into a table and a card of points, hand it over, and watch it later. You should know pandas; you need
# not know Bayesian networks. You need the extra `plot` (see [Installation](installation.md)) and ten minutes. Replace the file
# by yours, and `"cancelled"` by the name of your class.
#
# The table has 1,500 members of a gym, some of whom cancelled their contract. It is simulated, so that it can have the faults
# of a real file.
#
# ```{index} ! csv, ! CSV file, ! read_csv, ! tutorial, ! quickstart, ! cheat sheet
# ```

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show how the file is made"}
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
n = 1500
made = pd.DataFrame(
    {
        "member": [f"M{i:04}" for i in range(n)],
        "age": rng.integers(18, 76, n),
        "contract": rng.choice(["month", "year"], n, p=[0.6, 0.4]),
        "fee": rng.choice([19.9, 24.9, 29.9, 39.9], n),
        "visits": rng.gamma(2, 0.8, n).round(1),  # per week
        "course": rng.choice(
            ["no", "yoga", "strength", "swimming"], n, p=[0.5, 0.2, 0.2, 0.1]
        ),
        "distance": rng.gamma(2, 2, n).round(1),  # km
    }
)
score = 0.6 - 1.1 * made["visits"] + 0.04 * made["fee"] + 0.15 * made["distance"]
score -= 1.6 * (made["contract"] == "year") + 0.6 * (made["course"] != "no")
score += 3.0 * ((made["contract"] == "month") & (made["age"] < 30)) - 0.5
left = rng.random(n) < 1 / (1 + np.exp(-score))
made["visits"] = made["visits"].mask(rng.random(n) < 0.1)  # no card at the door
made["reason"] = np.where(left, rng.choice(["price", "moved", "time"], n), None)
made["cancelled"] = np.where(left, "yes", "no")
made.to_csv("gym.csv", index=False, sep=";", decimal=",")

# %% [markdown]
# ## 1. Read and check

# %%
import bnclassify as bn
import pandas as pd

pd.options.display.max_colwidth = None
table = pd.read_csv("gym.csv", sep=";")
print(table.head(3).to_string())
bn.check_data(table, "cancelled")

# %% [markdown]
# `check_data` lists what is odd, each with the code that mends it. Here the numbers were read as text, because the file has
# decimal commas; `member` identifies a row; and `reason` is known only if a member cancelled, so it would give the answer away.
# Three more things are yours to decide:
#
# - Read codes, such as a postcode, as text (`dtype={"postcode": str}`), or they are numbers.
# - Turn dates into numbers, such as days since a fixed day.
# - pandas reads the texts "None" and "NA" as missing values. If one of them is a category, use
#   `read_csv(path, keep_default_na=False, na_values=[""])`.

# %%
table = pd.read_csv("gym.csv", sep=";", decimal=",")
table = table.drop(columns=["member", "reason"])
print(bn.check_data(table, "cancelled"))
print(table.isna().sum().loc[lambda count: count > 0].to_dict())
print(table["cancelled"].value_counts(normalize=True).round(3).to_dict())

# %% [markdown]
# `check_data` finds nothing odd now. Some visits are missing, and can stay missing. 59.2 % of the members stayed, so a model
# that always predicts "no" has an accuracy of 0.592. This is the *baseline*: a model is useful only if it does better.
#
# ## 2. Fit

# %%
model = bn.bnc(class_var="cancelled", dataset=table)
print(model)

# %% [markdown]
# The model is a sum: each feature adds an effect to the log odds of "yes", and so do those pairs of features that help to
# predict rows that were held out of the fit. [How it works](how_it_works.py) explains it in a minute, and [The default
# classifier](accuracy.py) in full. In scikit-learn, `BNCClassifier()` is the same model.
#
# ## 3. Evaluate
#
# `summary` puts the facts, the cross-validated performance and the strongest features into one table, which you can paste
# into a report. It fits the model again in each training fold:

# %%
bn.summary(model, table, k=3, rng=0)

# %% [markdown]
# Accuracy is the proportion of correct labels. Log-loss is the mean of −ln P(actual class); lower is better. Both have their
# baseline beside them, the value for predicting the class proportions for everybody. The calibration error says how far
# probabilities are from observed proportions. Its baseline is 0, because the class proportions are calibrated, although they do
# not distinguish between members. `cv_predict` returns the probability of each member by a model that was fitted without this
# member:

# %%
posteriors = bn.cv_predict(model, table, k=3, rng=0)
print(bn.confusion(posteriors.idxmax(axis=1), table["cancelled"]))
bn.plot_calibration(posteriors, table["cancelled"])

# %% [markdown]
# Actual classes are rows. The dots of the chart are close to the diagonal: of the members with a predicted probability of about
# 0.3, about 30 % cancelled. [Evaluating a classifier](judging.py) shows how to compare models, and seven mistakes to avoid.
#
# ## 4. Predict and explain
#
# A new member may have unknown values. A dict leaves them out:

# %%
eva = {"age": 24, "contract": "month", "visits": 0.5, "distance": 7.5}
print(bn.predict(model, eva, prob=True).round(2))
print(*bn.explain(model, eva, sentences=True), sep="\n")

# %%
bn.plot_explanation(model, eva, top=8)

# %% [markdown]
# The *odds* of a class are its probability divided by that of the other class. Their logarithm, the *log odds*, is a sum: the
# bar *start* depends on the class proportions and on which features are unknown, each value adds its bar (+0.69 doubles the
# odds, −0.69 halves them), and the total is exactly the log odds of the predicted probability. What a record leaves out is
# *unknown*, and no evidence. `None` or NaN is *missing*, as in some training rows, and counts as much as it did there:

# %%
for visits in ({}, {"visits": None}):
    record = {"age": 24, "contract": "month", "distance": 7.5} | visits
    print(visits, bn.predict(model, record, prob=True)["yes"].round(3).item())

# %% [markdown]
# In a DataFrame, name the unknown columns by `unknown=["visits"]`. [Missing values](incomplete.py) has the details.
#
# Which features matter, and how?

# %%
bn.plot_importance(model, table)

# %%
bn.plot_effect(model, "visits", dataset=table)

# %% [markdown]
# Visits and the contract matter most, in nats (units of the natural logarithm). The more visits, the lower the odds. This
# describes the model and not causes: see [Interpreting a model](interpreting.py).
#
# ## 5. Decide
#
# A voucher costs 10 and keeps a member, and a lost member costs 30. With `costs`, `predict` returns the decision with the
# lowest expected cost, and `counterfactual` the smallest change that leads to another prediction:

# %%
costs = pd.DataFrame({"voucher": [10, 10], "nothing": [0, 30]}, index=["no", "yes"])
print(bn.predict(model, table, costs=costs).value_counts().to_dict())
print(bn.counterfactual(model, eva, "no", fixed=["age"]).round(2).to_string())

# %% [markdown]
# A voucher has the lower expected cost if 10 < 30 · P(yes), that is, if a member cancels with a probability above one third.
# `fixed=["age"]` excludes another age. The smallest change for Eva is to come 2.9 times per week: then, the model predicts "no",
# with a probability just above one half.
#
# If the proportion of "yes" differs where the model is used, `with_prior(model, {"no": 0.9, "yes": 0.1})` returns a model with
# the new proportions.
#
# ## 6. The model as a table, and as a card
#
# With `pairs=0`, the model has one effect per feature, and `effects` writes it as a table in which you look up each value and
# add the numbers. If you know that an effect must fall, `monotonize` returns the closest model in which it does, and its
# printout says what that costs:

# %%
total = bn.bnc(class_var="cancelled", dataset=table, pairs=0)
falling = bn.monotonize(total, {"visits": "decreasing"}, table)
effects = bn.effects(falling)
print(effects[effects["feature"].isin(["contract", "course"])].round(2).to_string())

# %% [markdown]
# The table is a DataFrame, which you can edit. `from_effects` makes a model of it, and learns the effects of unknown values from
# the data; here nobody shall be judged by age. `scorecard` rounds a model to whole points, for people without a computer:

# %%
effects.loc[effects["feature"] == "age", "yes"] = 0
fair = bn.from_effects(effects, class_var="cancelled", dataset=table)
card = bn.scorecard(fair, most_intervals=4)
print(card)

# %% [markdown]
# Add up the points of a member, and look up the probability of the total. How much less accurate are the simpler models? `cv`
# fits them again in each fold, the card included. (An edited table cannot be fitted again, and `cv` warns of it.)

# %%
models = {
    "pairs": model,
    "sum": total,
    "card": bn.scorecard(total, most_intervals=4),
}
metrics = ["accuracy", "auc", "log_loss"]
bn.cv(models, table, k=3, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# In log-loss, each simplification costs a little: the sum does without the joint effect of age and contract, and the card
# rounds. Whether a table that fits on one page is worth that is for you to decide.
#
# ## 7. Hand it over, and watch it
#
# `save` writes a readable JSON file that contains no code, `to_sql` a query for SQLite, DuckDB and PostgreSQL, and `write_page`
# a page that predicts and explains in any browser, offline. `drift` compares new rows with those of training:

# %%
bn.save(model, "gym.json")
print(bn.predict(bn.load("gym.json"), table).equals(bn.predict(model, table)))
bn.write_page(model, "gym.html", title="Will this member cancel?")
print(bn.to_sql(card, table="members")[:200], "...")
older = table[table["age"] > 40]
print(bn.drift(model, older, table).head(3).round(2).to_string())

# %% [markdown]
# The file predicts what the model predicts. Age is first in the list of changes, because we chose rows by age. [Saving and
# deploying models](deploying.py) has the details.
#
# ## If you want a network
#
# The sum predicts one class. A Bayesian network has a graph and a table of probabilities per variable, and answers questions
# about any of them. `tan_cl` learns a tree-augmented naive Bayes, in which each feature may depend on one other feature:

# %%
tree = bn.bnc(
    "tan_cl",
    "cancelled",
    table,
    smooth=1,
    discretize="mdlp",
    dag_args={"score": "aic"},
)
print(bn.cpt(tree, "contract").round(2))
print(bn.query(tree, "visits", {"contract": "year"}).round(2).to_string())

# %% [markdown]
# `discretize="mdlp"` divides numeric columns into intervals, and `smooth=1` adds 1 to every count, so that a combination that
# never occurred is improbable, not impossible. [Choosing a classifier](overview.py) introduces the networks.
#
# ## In one table
#
# `x` is any model. The last column says which models a line works with, if not all.
#
# | I want to … | call | model |
# |---|---|---|
# | find what is odd about a table | `check_data(df, y)` | |
# | fit the default; a sum; a network | `bnc(class_var=y, dataset=df)`; with `pairs=0`; `bnc("tan_cl", y, df, smooth=1, discretize="mdlp")` | |
# | keep rows together, such as visits of a patient | `bnc(…, groups="patient")`, `cv(x, df, groups="patient")` | |
# | use frequencies or survey weights | `encode(df, weights="n", weights_are="frequencies")`, `weights_are="cases"` | |
# | get labels, probabilities, decisions | `predict(x, df)`, `prob=True`, `costs=costs` | |
# | know how sure a prediction is | `bnc(…, interval=True)`, then `predict(x, df, prob=True, interval=0.9)` | |
# | explain a row; find what would change it, or what to ask next | `explain(x, row)`, `counterfactual(x, row, "no")`, `value_of_information(x, row)` | |
# | see importance, and effects | `plot_importance(x, df)`, `plot_effect(x, "age")` | |
# | evaluate; compare two models | `summary(x, df, rng=0)`, `cv(x, df, rng=0, metric="auc")`, `compare(cv({"a": x, "b": z}, df, repeats=5, rng=0, mean=False))` | |
# | write a table; make it rise; edit it; round it to points | `effects(x)`, `monotonize(x, {"age": "increasing"}, df)`, `from_effects(table, class_var=y, dataset=df)`, `scorecard(x)` | sums |
# | read a table of probabilities; ask; sample; impute | `cpt(x, "age")`, `query(x, "age", {y: "yes"})`, `sample(x, 1000, rng=0)`, `impute(x, df)` | networks |
# | keep it; hand it over | `save(x, "model.json")`, `load("model.json")`, `write_page(x, "model.html")`, `to_sql(x, table="t", key="id")` | |
# | watch it; evaluate groups of people | `drift(x, new, df)`, `summary(x, df, by="sex", rng=0)` | |
# | add rows; combine sites | `update(x, more)`, `pool([x, z])` | networks |
#
# Never discretize, select features or merge levels before you split: name them in `bnc`, and `cv` repeats them in each training
# fold.
#
# ## Summary and next steps
#
# You took a file to a model that people can read, check and use. [How it works](how_it_works.py) computes a prediction by hand
# and has exercises. [Uncertainty](uncertainty.py) answers how sure a prediction is. If you use scikit-learn or R, continue with
# [For users of scikit-learn](coming_from_sklearn.py) or [For users of R](coming_from_r.py).
