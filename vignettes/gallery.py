# %% [markdown]
# # Gallery
#
# This page shows every chart of the package with the code that draws it, and [three live pages](#live-pages) that predict and
# explain in your browser. Networks are drawn by Graphviz or, if it is not
# installed, by graphviz-pure (extra `plot`). Charts are drawn by matplotlib and return its axes, so that you can change
# everything: `plot_cpt(x, "safety").set_title("...", loc="left")` replaces the title. To write a file, use
# `plot(x).render(outfile="car.svg", cleanup=True)` or `plot_cpt(x, "safety").figure.savefig("safety.pdf")`. In a script,
# `plot(x).view()` opens a window.
#
# All labels have 8 points, so charts can be printed without scaling. For a column of 3.3 inches (84 mm), draw into axes
# of this width; labels are then broken into shorter lines:
#
# ```python
# figure, ax = plt.subplots(figsize=(3.3, 2.5), layout="constrained")
# plot_importance(tan, car, ax=ax)
# figure.savefig("importance.pdf")
# ```

# %%
import html
from pathlib import Path

import numpy as np
import pandas as pd
from bnclassify import (
    arc_strength,
    bnc,
    compare_ranks,
    confusion,
    cv,
    cv_predict,
    load_car,
    load_pima,
    load_voting,
    plot,
    plot_calibration,
    plot_confusion,
    plot_cpt,
    plot_cv,
    plot_effect,
    plot_explanation,
    plot_importance,
    plot_nomogram,
    plot_ranks,
    plot_scores,
    plot_strength,
    plot_weights,
    scorecard,
    write_page,
)

# %%
car, voting = load_car(), load_voting()
tan = bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})

# %% [markdown]
# ## A network: `plot`
#
# The class is dark, arcs from the class are pale, and arcs between features are strong. A color means the same in all
# pictures: blue is evidence for the class, orange against it.

# %%
plot(tan)

# %% [markdown]
# With many features, omit the arcs from the class. Its dashed box shows that it is a parent of all features.

# %%
plot(
    bnc(
        "tan_cl",
        "Class",
        voting,
        smooth=1,
        missing_level=False,
        dag_args={"score": "bic"},
    ),
    class_arcs=False,
)

# %% [markdown]
# ## An explained prediction on the network: `plot(x, row=...)`
#
# Blue features increase the log odds of the explained class, orange features decrease them. With more than two classes, as
# here, it is the predicted one. The box of the class contains its probability and the prior log odds.

# %%
plot(tan, row=car.iloc[1700])

# %% [markdown]
# ## Distributions given the observed features: `plot(x, distributions=True)`

# %%
plot(
    tan,
    distributions=True,
    row=pd.Series({"safety": "high", "persons": "4"}).reindex(car.columns[:-1]),
)

# %% [markdown]
# ## An explained prediction as bars: `plot_explanation`
#
# The gray bar is the sum, the log odds of the class in the title against the most probable other class.

# %%
plot_explanation(tan, car.iloc[1700])

# %% [markdown]
# ## Mean importance of features: `plot_importance`
#
# The black lines span the middle half of the rows.

# %%
plot_importance(tan, car)

# %% [markdown]
# ## A conditional probability table: `plot_cpt`

# %%
plot_cpt(tan, "safety", dataset=car)

# %% [markdown]
# ## Effect of a numeric feature: `plot_effect`
#
# Marks at the top are the cut points of all discretizations, and those at the bottom the values in the data.

# %%
women = load_pima()
smoothed = bnc("nb", "diabetes", women, backoff=True, discretize="averaged")
plot_effect(smoothed, "glucose", dataset=women)

# %% [markdown]
# If the feature has a feature parent, there is a line for each of its levels:

# %%
plot_effect(
    bnc("tan_cl", "diabetes", women, smooth=1, discretize="mdlp"),
    "glucose",
    dataset=women,
)

# %% [markdown]
# ## Weights of features: `plot_weights`
#
# Features whose weight rounds to 0 are counted below the axis.

# %%
plot_weights(bnc("nb", "Class", voting.dropna(), smooth=1, wanbia=True))

# %% [markdown]
# ## A scorecard: `plot_nomogram`
#
# Add up the points of the first scale, and read the probability below the total. Dots mark one woman.

# %%
card = scorecard(
    bnc("nb", "diabetes", women, smooth=1, discretize="mdlp", missing_level=False)
)
plot_nomogram(card, row={"age": 51, "glucose": 171, "bmi": 34.2})

# %% [markdown]
# ## Strength of arcs: `plot(x, strength=...)` and `plot_strength`
#
# Strengths are proportions of bootstrap samples. Strong arcs are wide and dark; in the chart, the dashed line is the
# threshold above which arcs are kept (blue). [Uncertainty](uncertainty.py) explains both.

# %%
strength = arc_strength(tan, car, rng=0)
plot(tan, strength=strength)

# %%
plot_strength(strength)

# %% [markdown]
# ## Scores of a greedy search: `plot_scores`
#
# Each line is a step of the search, here an arc that was added.

# %%
plot_scores(
    bnc(
        "tan_hc",
        "class",
        car,
        smooth=1,
        dag_args={"k": 5, "epsilon": 0.001, "rng": 0},
    )
)

# %% [markdown]
# ## Cross-validation results: `plot_cv`

# %%
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False)
    for name in ("nb", "tan_cl", "aode")
}
plot_cv(cv(models, voting, rng=0, mean=False), interval=0.95)

# %% [markdown]
# ## Confusion matrix: `plot_confusion`
#
# Cells contain the number of rows, and their percentage of the rows of the actual class, which is also the shade.

# %%
plot_confusion(confusion(cv_predict(tan, car, rng=0, prob=False), car["class"]))

# %% [markdown]
# ## Calibration: `plot_calibration`
#
# About 30 % of the women to whom the model gives a probability of about 0.3 should have diabetes. Dots within the pale
# bars are compatible with calibrated probabilities.

# %%
plot_calibration(cv_predict(smoothed, women, rng=0), women["diabetes"])

# %% [markdown]
# ## Ranks of learners over several data sets: `plot_ranks`
#
# The accuracies are from [Comparing classifiers](compare.py). Orange bars join models whose ranks differ by less than
# the critical difference.

# %%
table = pd.DataFrame(
    {
        "nb": [0.849, 0.899, 0.757, 0.946, 0.933, 0.977],
        "aode": [0.903, 0.943, 0.766, 0.956, 0.920, 0.977],
        "tan_cl": [0.932, 0.943, 0.727, 0.954, 0.933, 0.972],
        "default": [0.969, 0.966, 0.766, 0.979, 0.953, 0.989],
        "forest": [0.959, 0.954, 0.767, 0.961, 0.947, 0.978],
    },
    index=["car", "voting", "pima", "breast_cancer", "iris", "wine"],
)
plot_ranks(compare_ranks(table))

# %% [markdown]
# ## Live pages
#
# `write_page` writes a model as one file that needs neither Python nor a network. Choose some values, and leave the rest
# unknown. The first page is for a credit officer; its data are simulated.

# %%
rng = np.random.default_rng(0)
loans = pd.DataFrame(
    {
        "purpose": rng.choice(["car", "furniture", "education", "repair"], 2000),
        "housing": rng.choice(["own", "rent", "family"], 2000, p=[0.4, 0.5, 0.1]),
        "earlier defaults": rng.choice(
            ["none", "one", "several"], 2000, p=[0.8, 0.15, 0.05]
        ),
        "income": np.exp(rng.normal(7.7, 0.4, 2000)).round(-1),
        "monthly rate": np.exp(rng.normal(5.2, 0.6, 2000)).round(-1),
    }
)
score = 12 * loans["monthly rate"] / loans["income"] - 3.5
score += loans["earlier defaults"].map({"none": 0, "one": 1.2, "several": 2.2})
score -= 0.6 * (loans["housing"] == "own")
loans["repaid"] = np.where(rng.random(2000) < 1 / (1 + np.exp(-score)), "no", "yes")
credit = bnc(
    "tan_cl",
    "repaid",
    loans,
    smooth=1,
    discretize="mdlp",
    dag_args={"score": "bic"},
)
write_page(credit, "credit.html", title="Will this loan be repaid?")


# %% tags=["remove-input"]
class Framed:
    """A page that is shown within this one."""

    def __init__(self, path):
        self.page = Path(path).read_text(encoding="utf-8")

    def _repr_html_(self):
        page = html.escape(self.page)
        return f'<iframe class="live" title="The page" srcdoc="{page}"></iframe>'


Framed("credit.html")

# %% [markdown]
# The second is for triage, where most values are still missing: enter what you know, and watch the probability move.

# %%
triage = bnc(
    "nb",
    "diabetes",
    women,
    smooth=1,
    discretize="averaged",
    held_out="weights",
    missing_level=False,
)
write_page(triage, "triage.html", title="Diabetes: what is known so far?")

# %% tags=["remove-input"]
Framed("triage.html")

# %% [markdown]
# The third is for readers of a survey: sixteen questions, and the party that the answers suggest.

# %%
survey = bnc(
    "tan_cl",
    "Class",
    voting,
    smooth=1,
    missing_level=False,
    dag_args={"score": "bic"},
)
write_page(survey, "survey.html", title="Which party voted like this in 1984?")

# %% tags=["remove-input"]
Framed("survey.html")

# %% [markdown]
# [Saving and deploying models](deploying.py) shows other ways to hand over a model.
