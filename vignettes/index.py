# %% [markdown]
# # bnclassify
#
# **Classifiers for tables. Every prediction comes with its reasons, and missing values can stay missing.** bnclassify fits two
# kinds of models to a pandas DataFrame with categories, numeric columns and missing values: by default, a sum of effects of
# features and pairs, which is a table that you can read, edit and export; and the Bayesian network classifiers of the
# literature.
#
# [Your table in ten minutes](start.py) · [How it works](how_it_works.py) · [Choosing a classifier](overview.py) ·
# [Reference](reference/index.md) · [For users of R](coming_from_r.py) · [Cite](about.md#citation)
#
# Run this in a copy of the repository (Python 3.11 or later, MIT license):
#
# ```sh
# python -m pip install '.[plot,sklearn]'
# ```

# %%
from bnclassify import explain, load_pima
from bnclassify.sklearn import BNCClassifier

women = load_pima()  # 768 women, eight measurements, 652 values missing
X, y = women.drop(columns="diabetes"), women["diabetes"]
classifier = BNCClassifier().fit(X, y)

# %%
bea = {"age": 51, "glucose": 171, "bmi": 34.2, "pregnancies": 4}
print(*explain(classifier, bea, sentences=True), sep="\n")

# %% [markdown]
# **Accurate.** Means over 29 public data sets with default settings, fitted to one half and evaluated on the other
# (lower is better, except for the area under the ROC curve, AUC):
#
# <!-- means -->
#
# | model | error | log-loss | AUC | calibration error |
# |---|---:|---:|---:|---:|
# | **`BNCClassifier()`** | **0.120** | **0.297** | **0.943** | **0.023** |
# | CatBoost | 0.128 | 0.337 | 0.939 | 0.047 |
# | random forest, calibrated | 0.133 | 0.329 | 0.937 | 0.028 |
# | gradient boosting, early stopping | 0.131 | 0.347 | 0.937 | 0.035 |
# | LightGBM | 0.132 | 0.364 | 0.936 | 0.051 |
# | logistic regression | 0.162 | 0.411 | 0.921 | 0.041 |
#
# <!-- end -->
#
# The default settings were developed on public data sets that include these, so expect slightly worse results on yours. Large
# pretrained models such as TabPFN, and ensembles such as AutoGluon, which are not in the table, lead public benchmarks; use
# them if only accuracy counts. [Benchmarks](project/benchmarks.md#accuracy) has the details.
#
# ## Try it
#
# `write_page(model, "diabetes.html")` writes a model as one page that predicts and explains in any browser, offline. This
# is such a page, of the model above. Choose a few values. (It is an illustration,
# not a medical instrument.)

# %% tags=["remove-input"]
import html
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from bnclassify import plot_explanation, plot_importance, predict, write_page

model = classifier.model_


class Framed:
    """A page that is shown within this one."""

    def __init__(self, path):
        self.page = Path(path).read_text(encoding="utf-8")

    def _repr_html_(self):
        page = html.escape(self.page)
        return f'<iframe class="live" title="The page" srcdoc="{page}"></iframe>'


write_page(model, "diabetes.html", title="Does she have diabetes?")
Framed("diabetes.html")


# %% tags=["remove-input"]
def as_svg(figure, name):
    """Return a figure as SVG with a name, within a page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        figure.savefig(path, bbox_inches="tight", transparent=True)
        plt.close(figure)
        text = path.read_text(encoding="utf-8")
    return text[text.find("<svg") :].replace(
        "<svg", f'<svg role="img" aria-label="{name}"', 1
    )


def draw_knowledge():
    """Draw the probability for Bea as more is known about her."""
    figure, axes = plt.subplots(figsize=(4.6, 2.2), layout="constrained")
    names = ["nothing known", "age", "+ pregnancies", "+ bmi", "+ glucose"]
    known = [list(bea)[:0], ["age"], ["age", "pregnancies"]]
    known += [["age", "pregnancies", "bmi"], list(bea)]
    shares = []
    for keys in known:
        row = {key: bea[key] for key in keys} or {"age": None}
        unknown = [] if keys else ["age"]
        answer = predict(model, row, prob=True, unknown=unknown)
        shares.append(answer["yes"].item())
    axes.barh(names[::-1], shares[::-1], color="#1f4e79", height=0.7)
    for i, share in enumerate(shares[::-1]):
        axes.annotate(f"{share:.2f}", (share, i), (4, 0), va="center", fontsize=9,
                      textcoords="offset points")  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_title("Probability of diabetes", loc="left", fontsize=9)
    axes.tick_params(labelsize=9, left=False)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


class Tiles:
    """Pictures side by side, each with a sentence."""

    def _repr_html_(self):
        reasons = as_svg(
            plot_explanation(model, bea, top=6).figure,
            "Contributions of the values of Bea",
        )
        knowledge = as_svg(draw_knowledge(), "Probability as more is known")
        important = as_svg(
            plot_importance(model, women).figure, "Mean size of the contributions"
        )
        return f"""<div class="tiles">
<figure><figcaption><strong>Explained.</strong> The contributions add up to the log odds of the prediction,
exactly. Her high glucose counts most.</figcaption>{reasons}</figure>
<figure><figcaption><strong>Unknown and missing values.</strong> Predict with what you know. Four of the eight
measurements of Bea are unknown, and none is filled in.</figcaption>{knowledge}</figure>
<figure><figcaption><strong>Important features.</strong> The mean size of the contributions of each feature for all
women.</figcaption>{important}</figure>
</div>"""


Tiles()

# %% [markdown]
# ## When to use bnclassify
#
# - Your table has **categories** or **numbers**, or both.
# - You have to **explain** predictions: to a patient, a customer, an auditor or a colleague.
# - Some values are **missing**, in the training data or in new rows: see [Missing values](incomplete.py).
# - Misclassification costs are unequal, or you need [calibrated probabilities](judging.py).
# - You use **scikit-learn**: [`BNCClassifier`](coming_from_sklearn.py) is a scikit-learn estimator.
# - You know the **R package bnclassify**, or e1071, klaR, caret or bnlearn: see [For users of R](coming_from_r.py).
#
# ## When to use another library
#
# - You have many rows and care only about accuracy: gradient boosting is often ahead; the
#   [benchmarks](project/benchmarks.md#accuracy) list the data sets.
# - You need causal effects or time-series (dynamic) models. pgmpy and pyAgrum have causal and dynamic networks, and
#   `to_pgmpy` and `to_pyagrum` convert a model.
# - The inputs are texts, images or long sequences.
#
# ```{toctree}
# :hidden:
# :caption: Start
#
# installation
# start
# how_it_works
# coming_from_sklearn
# coming_from_r
# ```
#
# ```{toctree}
# :hidden:
# :caption: Guide
#
# accuracy
# overview
# numeric
# incomplete
# judging
# compare
# interpreting
# uncertainty
# deploying
# case_medical
# case_credit
# ```
#
# ```{toctree}
# :hidden:
# :caption: More
#
# networks
# several
# scale
# faq
# glossary
# ```
#
# ```{toctree}
# :hidden:
# :caption: Reference
#
# reference/index
# methods
# ```
#
# ```{toctree}
# :hidden:
# :caption: About
#
# about
# project/benchmarks
# project/contributing
# ```
