# %% [markdown]
# # Exercises
#
# Eight exercises for a class, or for yourself, on the car data and the votes of the US House of Representatives in 1984.
# Each takes five to ten minutes. Think first, then show the answer, which is code with a comment.

# %%
import bnclassify as bn
import numpy as np
import pandas as pd

car = bn.load_car()
votes = bn.load_voting()
print(car.head(3).to_string())
print(votes.shape, votes.columns[:4].tolist())

# %% [markdown]
# ## 1. A prediction by hand
#
# Fit naive Bayes with `smooth=0` to `safety` and `persons` only. From the printed tables, compute by hand the probability
# that a car for four persons with high safety is "unacc". Check it with `predict`.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
two = car[["safety", "persons", "class"]]
naive = bn.bnc("nb", "class", two, smooth=0)
print(bn.cpt(naive, "safety").loc["high"].round(3).to_dict())
print(bn.cpt(naive, "persons").loc["4"].round(3).to_dict())
print(car["class"].value_counts(normalize=True).round(3).to_dict())
products = (
    bn.cpt(naive, "safety").loc["high"]
    * bn.cpt(naive, "persons").loc["4"]
    * car["class"].value_counts(normalize=True)
)
print("by hand:   ", (products / products.sum()).round(3).to_dict())
found = bn.predict(naive, {"safety": "high", "persons": "4"}, prob=True)
print("by predict:", found.iloc[0].round(3).to_dict())
# Multiply the prior by both likelihoods for each class, and divide by the sum.

# %% [markdown]
# ## 2. What independence costs
#
# In the data, how many cars for four persons with high safety are "unacc"? Why is naive Bayes wrong, and which arc
# fixes it?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
chosen = car[(car["safety"] == "high") & (car["persons"] == "4")]
print("in the data:", round((chosen["class"] == "unacc").mean(), 3))
tree = bn.bnc("tan_cl", "class", two, smooth=0)
found = bn.predict(tree, {"safety": "high", "persons": "4"}, prob=True)
print("tree:       ", found.iloc[0].round(3).to_dict())
# An unacceptable car is unsafe or for two persons, rarely both for the same reason: within the class, the two depend on
# each other. With an arc from persons to safety, two features and a class have an unrestricted table, so the tree
# agrees with the data exactly.

# %% [markdown]
# ## 3. A count of zero
#
# Which cell of `cpt(naive, "safety")` is 0, and what follows for a car with low safety? What changes with `smooth=1`?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
smoothed = bn.bnc("nb", "class", two, smooth=1)
for model in (naive, smoothed):
    print(bn.predict(model, {"safety": "low"}, prob=True).round(4).to_string())
# No car with low safety is acceptable, good or very good, so "unacc" has probability 1, and no other evidence can change
# it. With smooth=1 it is improbable, not impossible.

# %% [markdown]
# ## 4. Odds
#
# The model in `smoothed` explains a car for four persons with high safety. Which feature is the stronger evidence for "acc"
# against "unacc", and by which factor does it multiply the odds?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
row = {"safety": "high", "persons": "4"}
print(bn.explain(smoothed, row, target="acc", against="unacc").round(2).to_string())
# persons = 4 and safety = high: compare the column odds_ratio. The prior is against "acc", because 70 % of all cars are
# unacceptable.

# %% [markdown]
# ## 5. Too good to be true
#
# A colleague reports an accuracy of 0.99 for `kdb_mi` with five parents on the votes without missing values. She evaluated
# it on the rows to which she fitted it. What is the accuracy on new rows?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
complete = votes.dropna()
large = bn.bnc("kdb_mi", "Class", complete, smooth=0.01, dag_args={"kdbk": 5})
fitted = bn.accuracy(bn.predict(large, complete), complete["Class"])
print("on the training rows:", round(fitted, 3))
print("cross-validated:     ", round(bn.cv(large, complete, rng=0), 3))
# Its tables have more cells than there are rows, so they describe the training rows. Cross-validation shows it.

# %% [markdown]
# ## 6. A costly error
#
# Of 1,066 active regions of the sun, 182 produced a small flare within a day. Missing one costs five times as much as a
# false alarm. Which metric and which labels should you use? How many flares do you find, and how many alarms are false?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
flares = bn.load_solar_flare()
sun = flares.iloc[:, :10].assign(
    flare=np.where(flares["c-class-flares"] == "0", "no", "yes")
)
model = bn.bnc(class_var="flare", dataset=sun)
costs = pd.DataFrame([[0, 1], [5, 0]], ["no", "yes"], ["no", "yes"])
posteriors = bn.cv_predict(model, sun, rng=0)
for name, labels in {
    "most probable": posteriors.idxmax(axis=1),
    "lowest expected cost": (posteriors @ costs).idxmin(axis=1),
}.items():
    table = bn.confusion(labels, sun["flare"])
    total = (table * costs).to_numpy().sum()
    print(f"{name}: cost {total}\n{table.to_string()}\n")
# Accuracy is useless here (0.829 without features). Use the expected cost as the metric, and `costs=` in `predict`.

# %% [markdown]
# ## 7. What a missing vote tells
#
# Fit a tree to all votes, once ignoring missing values and once with "missing" as a level. Which is more accurate, and
# what must be true of new data for this to hold?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
folds = bn.stratified_folds(votes["Class"], 10, rng=0)
for level in (False, True):
    fitted = bn.bnc("tan_cl", "Class", votes, smooth=1, missing_level=level)
    found = bn.cv(fitted, votes, folds=folds, metric=["accuracy", "log_loss"])
    print(f"missing_level={level}:", found.droplevel(0).round(3).to_dict())
# Ignoring them is more accurate here, by five members of 435: whether a vote is missing says little about the party, and
# each additional level has parameters to estimate. If the level did help, members would have to be absent for the same
# reasons in new data.

# %% [markdown]
# ## 8. Arcs and causes
#
# Learn a tree with two different roots. Which arcs change their direction? What do you conclude about causes?

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Show the answer"}
for root in ("buying", "safety"):
    found = bn.tan_cl("class", car, score="aic", root=root)
    score = bn.network_score(found, car, score="aic")
    print(root, bn.modelstring(found), round(score, 6))
# Both trees have the same score: data without interventions cannot tell the direction of an arc of a tree. An arc means
# that two features depend on each other within the classes, and nothing about causes.

# %% [markdown]
# ## Summary
#
# If you solved the first four, you know how a prediction is computed. Exercises 5 to 8 are the mistakes that are made
# most often in practice: see [Common pitfalls](pitfalls.py).
