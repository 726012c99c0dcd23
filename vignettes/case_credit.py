# %% [markdown]
# # Case study: credit
#
# A lender wants to decide which applications to accept, and must tell every rejected applicant why. This page goes from a raw
# file to that decision. The file is simulated, because real ones are confidential. It takes twenty minutes.
#
# ```{index} ! scorecard, ! credit scoring, ! counterfactual, ! adverse, ! adverse action, ! points, ! monotone
# ```

# %%
from io import StringIO

import numpy as np
import pandas as pd
from bnclassify import (
    bnc,
    counterfactual,
    cv,
    cv_predict,
    drift,
    effects,
    explain,
    monotonize,
    plot_calibration,
    plot_effect,
    plot_explanation,
    plot_importance,
    predict,
    scorecard,
    summary,
    to_sql,
)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Make the raw file"}
rng = np.random.default_rng(7)
n = 3000
person = rng.integers(0, 2300, n)
of_person = np.random.default_rng(8)
age = of_person.integers(19, 70, 2300)[person]
steady = of_person.normal(size=2300)[person]
income = np.exp(7.6 + 0.25 * steady + 0.006 * (age - 19) + rng.normal(0, 0.25, n))
amount = np.exp(rng.normal(8.1, 0.7, n))
months = rng.choice([12, 24, 36, 48, 60], n, p=[0.2, 0.3, 0.25, 0.15, 0.1])
earlier = rng.choice([0, 1, 2], n, p=[0.82, 0.14, 0.04])
housing = rng.choice(["own", "rent", "family"], n, p=[0.4, 0.5, 0.1])
purpose = rng.choice(
    ["car", "furniture", "education", "repair", "Car ", "other", "boat"],
    n,
    p=[0.3, 0.25, 0.1, 0.12, 0.1, 0.12, 0.01],
)
burden = amount / months / income
score = -3.3 + 9 * burden + 1.1 * earlier - 0.55 * steady
score = score - 0.5 * (housing == "own") + 0.012 * np.maximum(0, 35 - age) * 3
bad = rng.random(n) < 1 / (1 + np.exp(-score))
dates = pd.Timestamp("2023-01-01") + pd.to_timedelta(
    np.sort(rng.integers(0, 540, n)), "D"
)
raw = pd.DataFrame(
    {
        "application": np.arange(50_000, 50_000 + n),
        "date": dates.strftime("%d.%m.%Y"),
        "customer": person + 7000,
        "age": age,
        "income": [f"{x:,.0f}" for x in income.round(-1)],
        "amount": amount.round(-2),
        "months": months,
        "earlier_defaults": earlier,
        "housing": housing,
        "purpose": purpose,
        "reminders": np.where(bad, rng.poisson(2.5, n), rng.poisson(0.3, n)),
        "loan": np.where(bad, "bad", "good"),
    }
)
raw.loc[rng.random(n) < 0.12 - 0.05 * (steady > 0), "income"] = "n/a"
FILE = StringIO(raw.to_csv(index=False))

# %% [markdown]
# ## 1. Look at the raw file

# %%
table = pd.read_csv(FILE, keep_default_na=False)
print(table.head(3).T.to_string())
print(table["purpose"].value_counts().to_dict())
print("applications:", len(table), " customers:", table["customer"].nunique())
print(table["loan"].value_counts(normalize=True).round(3).to_dict())

# %% [markdown]
# One loan in eight was not repaid. Before you clean anything, ask of each column: *was this known when the decision was
# made?* `reminders` are sent after the loan was paid out. A model with this column looks excellent and is useless:

# %%
leaking = table[["age", "months", "reminders", "loan"]]
honest = leaking.drop(columns="reminders")
for name, frame in (("with reminders", leaking), ("without", honest)):
    naive = bnc("nb", "loan", frame, smooth=1, discretize="mdlp")
    print(f"{name}: AUC {cv(naive, frame, rng=0, metric='auc'):.3f}")

# %% [markdown]
# ## 2. Clean it
#
# The income is text with commas, "n/a" is a missing value, "Car " is a car, and there are few boats, which join the other
# purposes. The monthly rate as a share of the income says more than amount, months and income alone, so we add it.

# %%
loans = table.drop(columns=["application", "reminders"])
loans["date"] = pd.to_datetime(loans["date"], format="%d.%m.%Y")
loans["income"] = pd.to_numeric(
    loans["income"].str.replace(",", ""), errors="coerce"
)
purpose = loans["purpose"].str.strip().str.lower()
loans["purpose"] = purpose.replace("boat", "other")
loans["burden"] = loans["amount"] / loans["months"] / loans["income"]
loans["loan"] = loans["loan"].astype("category")
print("income unknown:", round(loans["income"].isna().mean(), 3))

# %% [markdown]
# ## 3. Split by date, and keep customers together
#
# The model will be used on future applications, so we put aside the latest ones. Within the rest, a customer who applied
# twice must not be in a training and a test fold at the same time: `groups` keeps all rows of a customer in the same fold.

# %%
last = loans["date"] >= "2024-01-01"
columns = ["date", "customer"]
train, test = loans[~last].drop(columns=columns), loans[last].drop(columns=columns)
customers = loans.loc[~last, "customer"].to_numpy()
print(len(train), "applications of 2023,", len(test), "of 2024 put aside")

# %% [markdown]
# ## 4. Fit and compare
#
# Three models: naive Bayes as a baseline, the default, and a sum of one effect per feature (`pairs=0`), which becomes a
# table that people can read and sign. `groups=customers` also keeps customers together when the fit holds out rows.

# %%
models = {
    "nb": bnc("nb", "loan", train, smooth=1, discretize="mdlp"),
    "default": bnc(class_var="loan", dataset=train, groups=customers),
    "sum": bnc(class_var="loan", dataset=train, groups=customers, pairs=0),
}
metrics = ["log_loss", "auc"]
cv(models, train, k=3, groups=customers, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# The baseline of the log-loss is 0.364. The sum is about as good as the default, so we use it, because a table shows all of it.
#
# ## 5. Read the model, and say what must hold
#
# `effects` returns the table of the model, here of the contributions to the log odds of "bad":

# %%
table = effects(models["sum"], train, target="bad", steps=6)
shown = table["feature"].isin(["income", "burden"])
print(table[shown].round(2).to_string(index=False))

# %% [markdown]
# The column `observed` has the share of loans that were not repaid. The effect falls with the income and rises with the burden,
# as it should, at least in these steps. The supervisor wants a guarantee: nobody may get a worse decision *because* of a higher
# income, or *because* of fewer defaults. `monotonize` returns the closest table for which this holds at every value:

# %%
directions = {
    "burden": "increasing",
    "earlier_defaults": "increasing",
    "income": "decreasing",
}
model = monotonize(models["sum"], directions, train, target="bad")
before, after = model.learned["log_loss"]
print(f"log-loss on the training rows: {before:.4f} before, {after:.4f} after")
plot_effect(model, "burden", target="bad", dataset=train)

# %%
plot_importance(model, train)

# %% [markdown]
# The guarantee costs next to nothing. Age matters little: it may be illegal to use it, and if so, drop the column and compare.
#
# ## 6. Check the probabilities

# %%
posteriors = cv_predict(model, train, k=3, groups=customers, rng=0)
plot_calibration(posteriors, train["loan"], target="bad", strategy="quantile")

# %% [markdown]
# With bins of equal size, the shares are close to the diagonal up to the highest probabilities.
#
# ## 7. Decide by cost
#
# Accepting a loan that is not repaid costs 6, and rejecting one that would be repaid costs the interest, 1. A clerk
# who looks into an application costs 0.6 and, we assume, finds out. So you should accept if "bad" has a probability
# below 0.1, reject above 0.4, and refer the applications in between:

# %%
costs = pd.DataFrame(
    {"accept": [6, 0], "refer": [0.6, 0.6], "reject": [0, 1]}, index=["bad", "good"]
)
print(costs)
decision = predict(model, test, costs=costs)
print(pd.crosstab(test["loan"], decision))
paid = costs.stack()  # noqa: PD013
pairs = list(zip(test["loan"], decision, strict=True))
print("mean cost by the model:", round(paid[pairs].mean(), 3))
for everyone in costs:
    pairs = [(label, everyone) for label in test["loan"]]
    print(f"{everyone} everyone: {paid[pairs].mean():.3f}")

# %% [markdown]
# The model costs less per application than any decision for everyone. It refers many applications and rejects few.
#
# ## 8. Explain a rejection to its subject

# %%
rejected = test.loc[[2289]]
print(rejected.T.to_string())
plot_explanation(model, rejected, target="bad")

# %% [markdown]
# Applicants ask: *what would have to be different?* `counterfactual` finds the smallest number of features to change so
# that the model predicts "good". We fix what the applicant cannot change.

# %%
fixed = ["age", "earlier_defaults", "housing", "income", "purpose"]
counterfactual(model, rejected, "good", fixed=fixed, alternatives=2).round(3)

# %% [markdown]
# The model does not know that the burden is computed from the amount: compute it for a smaller loan, and ask the model again,
# before you write a letter. The letter must not say that a smaller loan *causes* anybody to repay.
#
# ## 9. A card of points, and the reasons in a letter
#
# Lenders often want points that a clerk can add up. `scorecard` rounds a model to whole points. With `pdo=20`, 20 points double
# the odds of repayment, and 600 points mean odds of 50 to 1.

# %%
card = scorecard(model, most_intervals=4, target="good", pdo=20, score=600, odds=50)
print("start with", card.start, "points")
print(card.points[1:].to_string(index=False))

# %%
cards = {"sum": model, "card": card}
cv(cards, train, k=3, groups=customers, rng=0, metric=metrics).unstack().round(3)  # noqa: PD010

# %% [markdown]
# The few intervals and whole points cost little. So use the card where people add up points, and the sum where a computer does.
#
# A letter of rejection must name the main reasons (in the United States, an *adverse action* notice). These are the features on
# which the applicant lost most points: the column `lost` has the points below the best value of each feature.

# %%
reasons = explain(card, rejected)[["value", "points", "lost"]]
print("total:", predict(card, rejected, points=True).item())
print(reasons[1:].sort_values("lost", ascending=False).head(4).to_string())
print(*explain(card, rejected, target="bad", sentences=True), sep="\n")

# %% [markdown]
# Most points were lost by the burden, then by the income: these are the reasons in the letter. The sentences compare with the
# average applicant, so their order can differ. State one of the two rules, and keep to it.
#
# ## 10. Hand over, and watch
#
# A scorecard is a model, so `to_sql` writes it as a query for the database of the lender, with a column `points`.
# `numbers="typed"` says that the columns are numbers there.

# %%
query = to_sql(card, table="applications", key="application", numbers="typed")
print(len(query), "characters:", query[:520], "…")

# %% [markdown]
# Every month, compare the new applications with those of the fit by `drift`. `summary(..., by=)` audits the card by group, here
# on the applications that were put aside (`k=0`):

# %%
print(drift(card, test, train)[["psi", "missing_now", "log_odds"]].round(3))
grouped = test.assign(over_35=np.where(test["age"] > 35, "yes", "no"))
print(summary(card, grouped, by="over_35", k=0).round(3).T.to_string())

# %% [markdown]
# No index is above 0.1. Younger applicants repay less often, and the card errs more often among them. Whether that is
# acceptable is a question for people; the table makes it visible.
#
# ## Summary
#
# Ask of every column when it was known, split by date, keep the rows of a customer together, state costs and what must hold,
# and check what you tell a rejected applicant.
