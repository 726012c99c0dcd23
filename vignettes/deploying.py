# %% [markdown]
# # Saving and deploying models
#
# This page deploys the model of the [first page](start.py): as a file, as a web service, in a database, as a table and as a
# page for browsers. Last, it passes a network to other programs. It takes five minutes.
#
# ```{index} ! deploy, ! deployment, ! production, ! web service, ! SQL, ! save, ! pickle, ! drift, ! audit, ! fairness
# ```

# %%
import html
import json
import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pandas as pd
from bnclassify import (
    bnc,
    drift,
    effects,
    explain,
    from_effects,
    load,
    load_car,
    load_pima,
    lp,
    modelstring,
    monotonize,
    predict,
    read_bif,
    save,
    scorecard,
    summary,
    tan_cl,
    to_sql,
    write_bif,
    write_page,
)

# %% [markdown]
# ## Save and load
#
# `save` writes any model to a JSON file that you can read, with its levels, its cut points and the calls by which it was made.
# It contains no code that could run, and a loaded model makes the same predictions to the last bit.

# %%
women = load_pima()
model = bnc(class_var="diabetes", dataset=women)
save(model, "diabetes.json")
again = load("diabetes.json")
print(predict(again, women, prob=True).equals(predict(model, women, prob=True)))

# %% [markdown]
# `load` checks every field. A pickle file, in contrast, can run any code when it is loaded. If your service expects an
# estimator of scikit-learn, `BNCClassifier.from_model(again)` is a fitted one. If the classes are more or less frequent in
# production, export `with_prior(model, {"no": 0.9, "yes": 0.1})`.
#
# ## Predict one record
#
# A web service receives a record as JSON, and returns the probabilities and the reasons. A key that is absent is unknown and
# not evidence; null is missing, and evidence as far as it was in training.


# %%
def answer(model, body):
    """Return probabilities and contributions as JSON, for a record as JSON."""
    record = json.loads(body)
    posterior = predict(model, record, prob=True, unseen="missing").iloc[0]
    reasons = explain(model, record, unseen="missing")["log_odds"]
    return json.dumps(
        {
            "probabilities": posterior.round(4).to_dict(),
            "reasons": reasons[reasons != 0].round(3).to_dict(),
        }
    )


print(answer(again, '{"glucose": 171, "age": 51, "bmi": 34.2}'))

# %% [markdown]
# The reasons are contributions to the log odds of "yes", the last of the two classes; with the prior (the entry of the
# class), they sum to its log odds.
#
# ## Serve a model
#
# Models never change after they are made, so any number of threads can predict with the same one. To serve a new model, assign
# it to the variable that requests read, here `current["model"]`. This application follows WSGI, the interface of Python servers
# such as Gunicorn and mod_wsgi:

# %%
current = {"model": again}


def application(environ, start_response):
    """Answer a record, or say what is wrong with it."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        status, text = "200 OK", answer(current["model"], body)
    except (KeyError, TypeError, ValueError) as error:
        status, text = "400 Bad Request", json.dumps({"error": str(error)})
    start_response(status, [("Content-Type", "application/json")])
    return [text.encode()]


for body in (b'{"glucose": 171, "age": 51}', b'{"glucose": [171]}'):
    request = {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    print(application(request, lambda status, headers: print(status)))

# %% [markdown]
# A record that a model cannot read is answered by status 400 and the message of the error.
#
# ## Predict in a database
#
# `to_sql` writes a model as one SELECT statement for SQLite, DuckDB and PostgreSQL, which selects the key, the label and the
# probabilities:

# %%
statement = to_sql(model, table="women", key="id")
with closing(sqlite3.connect(":memory:")) as database:
    women.to_sql("women", database, index_label="id")
    scored = pd.read_sql_query(statement, database, index_col="id")
print(f"{len(statement):,} characters")
scored.tail(3).round(3)

# %% [markdown]
# The statement treats NULL and unseen values as missing. Its probabilities equal those of `predict`:

# %%
posteriors = predict(model, women, prob=True)
apart = (scored["prob_yes"] - posteriors["yes"]).abs()
assert apart.notna().all()
print("largest difference:", f"{apart.max():.0e}")

# %% [markdown]
# For some incomplete rows, the answer is `NULL`: see [Missing values](incomplete.py#unknown-or-missing).
#
# Store the statement as a view, and write it again when the model is updated. Its length is limited to one million characters,
# the limit of SQLite. For a short query, fit a sum of single effects, as in the next section. If the columns are numbers in the
# database, `to_sql(..., numbers="typed")` leaves out the checks whether text represents a number.
#
# ## A model as a table
#
# In a sum of one effect per feature, the log odds of a row are a sum of entries of a table. `effects` returns this table, one
# row per feature and interval. You can save it as a CSV file, change an entry, and make a model of it with `from_effects`. (A
# CSV file does not keep types; read it with `keep_default_na=False, na_values=[""]` if "NA" is a label.)

# %%
sums = bnc(class_var="diabetes", dataset=women, pairs=0)
table = effects(sums, women, steps=5)
print(table[table["feature"] == "age"].round(2).to_string(index=False))
rising = monotonize(sums, {"age": "increasing", "glucose": "increasing"}, women)
before, after = rising.learned["log_loss"]
print(f"log-loss {before:.4f} before, {after:.4f} if both effects rise")
card = scorecard(rising, most_intervals=3)
print(len(to_sql(card, table="women", numbers="typed")), "characters of SQL")
print(predict(card, women.head(3), points=True).tolist())
print(*explain(card, women.iloc[0], sentences=True), sep="\n")
table.loc[table["value"] == "(missing)", "yes"] = 0
edited = from_effects(table, dataset=women)
print(len(to_sql(edited, table="women")), "characters of SQL")

# %% [markdown]
# `monotonize` finds the closest effects that never fall, and the log-loss hardly changes. `predict(card, women, points=True)`
# returns totals, and the query has a column `points`. The reasons compare each value with the average woman. The last lines set
# the effect of missing values to 0. All of these are models: you can predict, explain, evaluate, save and export them.
#
# An interaction is the effect of a pair. Each pair is a table with the mean 0 along each side: rows of `effects` with the
# columns `given` and `given_value`, a row such as "lug_boot × safety" in `explain`, and a heat map, `plot_effect(model,
# ("lug_boot", "safety"))`. `scorecard` does not accept pairs.

# %%
car = load_car()
crossed = bnc(class_var="class", dataset=car, pairs=[("lug_boot", "safety")])
pair = effects(crossed)
print(pair[pair["given"] != ""].head(3).round(2).to_string())

# %% [markdown]
# Beyond the effects of the boot and of safety alone, a small boot adds 2.51 to the score of "unacc" if safety is medium, but
# −1.90 if it is low and −0.61 if it is high.
#
# ## After deployment: drift and audit
#
# `drift` compares new rows with the training data: it returns, per feature, the population stability index (below 0.1 is
# little, above 0.25 much), the shares of missing and unseen values and of numbers outside the range of the training data, and
# the change of the mean log odds; the last row is the score. Here the new rows are women over 30:

# %%
older = women[women["age"] > 30]
print(drift(card, older, women)[["psi", "log_odds"]].round(2).to_string())
print(
    summary(card, women.assign(over_30=women["age"] > 30), by="over_30", k=3, rng=0)
    .round(3)
    .T.to_string()
)

# %% [markdown]
# The age has changed most, of course. (The index of a feature with many rare values is large by chance if there are few new
# rows.) `summary(..., by=...)` shows results by group: the shares of a class that occur and that are predicted, the error, the
# log-loss and the calibration. With `k=0`, the model is evaluated as it is, on rows that it has not seen.
#
# ## A page for web browsers
#
# `write_page` writes one HTML file that predicts and explains without Python, for example for a clinician or a class of
# students. It works offline and sends no data. Readers fill in what they know and see the answer, its reasons, and which single
# changes would alter it. `labels=` gives the fields titles with units, `note=` says what the data are, and `order=` puts fields
# first.

# %%
write_page(model, "diabetes.html", title="Does she have diabetes?")


# %% tags=["remove-input"]
class Framed:
    """A page that is shown within this one."""

    def _repr_html_(self):
        page = html.escape(Path("diabetes.html").read_text(encoding="utf-8"))
        return f'<iframe class="live" title="The page" srcdoc="{page}"></iframe>'


Framed()

# %% [markdown]
# This is the page itself. Programs can call its JavaScript functions `model.predict(record)` and `model.explain(record)`, which
# return the results of `predict` and `explain`.
#
# ## BIF files and other libraries
#
# `write_bif` writes a network to a file that bnlearn, pgmpy and pyAgrum can read, and `read_bif` reads such files, and those of
# GeNIe (`.xdsl`). `to_networkx`, `to_pgmpy` and `to_pyagrum` (extra `exchange`) convert a model to objects of these libraries.

# %%
car = load_car()
tree = lp(tan_cl("class", car, score="aic"), car, smooth=1)
write_bif(tree, "car.bif")
returned = read_bif("car.bif", "class")
print(
    modelstring(returned) == modelstring(tree),
    predict(returned, car).equals(predict(tree, car)),
)

# %% [markdown]
# ## Summary
#
# A model is a readable file, a query, a page, or a table that you can edit, and predicts the same in each form. [Large
# data](scale.py) shows how `update` adds new rows to a model.
