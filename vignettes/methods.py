# %% [markdown]
# # Parameters beyond counting: MANB, AWNB, WANBIA
#
# A naive Bayes treats every feature as evidence of its own. Features that tell nothing add noise, and
# features that repeat each other are counted twice. Three methods change its tables to mend that. Each ends
# in an ordinary model, so everything else works on it as before.

# %%
from collections.abc import Mapping

import pandas as pd

from bnclassify import (
    cpt,
    cv,
    feature_weights,
    load_car,
    load_voting,
    lp,
    manb_arc_posterior,
    min_testing_depths,
    nb,
)

try:
    import matplotlib.pyplot as plt
except ImportError:  # the extra `plot` installs it
    plt = None


def bars(title: str, label: str, columns: Mapping[str, pd.Series]) -> None:
    """Draw bars by feature, side by side, and save them under the title."""
    frame = pd.DataFrame(columns).iloc[::-1]
    if plt is None:
        print(f"matplotlib is not installed, so there is no picture of {title}")
        return
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.32 * len(frame)), layout="constrained")
    frame.plot.barh(ax=axes, color=["#b3470f", "#1f4e79"][: frame.shape[1]], width=0.75)
    axes.set(xlabel=label, ylabel="", title=title, xlim=(0, 1))
    axes.get_legend().remove()
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(f"{title.replace(' ', '_')}.png", dpi=110)


car = load_car()
votes = load_voting().dropna()
data = {"car": ("class", car), "voting": ("Class", votes)}

# %% [markdown]
# ## MANB: is there an arc at all?
#
# MANB averages over all 2^n naive Bayes structures, those that lack some arcs included. It needs no more
# than the posterior of each arc,
#
#     P(arc | D) = P(D | arc) p / (P(D | arc) p + P(D | no arc) (1 - p)),
#
# because prior and likelihood are products over features. A feature's table becomes a mixture of its
# estimate given the class and its estimate without it. `manb_prior` is p.

# %%
for name, (class_var, frame) in data.items():
    model = lp(nb(class_var, frame), frame, smooth=1, manb_prior=0.5)
    posterior = manb_arc_posterior(model)
    print(f"{name}: arcs that the data speaks against")
    print(posterior[posterior < 0.5].round(6).to_string(), "\n")
    sceptical = manb_arc_posterior(lp(model, frame, smooth=1, manb_prior=0.01))
    bars(f"arc posteriors of {name}", "P(arc | D)", {"prior 0.5": posterior, "prior 0.01": sceptical})

# %% [markdown]
# The number of doors says nearly nothing about the class of a car, so its table is nearly the same for
# all classes, where plain naive Bayes keeps the small differences that the data has (whether they help is
# asked at the end):

# %%
plain = lp(nb("class", car), car, smooth=1)
averaged = lp(nb("class", car), car, smooth=1, manb_prior=0.5)
print(pd.concat({"plain": cpt(plain, "doors"), "MANB": cpt(averaged, "doors")}).round(3))

# %% [markdown]
# ## AWNB: how early would a tree ask?
#
# AWNB raises a table to a power, θ^w, and normalises it again: w = 1 leaves it, w = 0 makes it uniform.
# The weight of a feature is the mean over unpruned trees, each grown on a bootstrap sample, of 1/√depth,
# with the depth at which the feature is first tested. One tree on all rows shows what is meant:

# %%
print(min_testing_depths("class", car).sort_values())

# %% [markdown]
# ## WANBIA: which weights predict best?
#
# WANBIA uses weights in the same way, but chooses them all together so that the conditional log-likelihood,
# Σ ln P(class | features), is as high as can be. Features that repeat others get small weights.

# %%
for name, (class_var, frame) in data.items():
    structure = nb(class_var, frame)
    awnb = feature_weights(lp(structure, frame, smooth=1, awnb_trees=20, rng=0))
    wanbia = feature_weights(lp(structure, frame, smooth=1, wanbia=True))
    print(pd.DataFrame({"AWNB": awnb, "WANBIA": wanbia}).round(2).to_string(), "\n")
    bars(f"weights for {name}", "weight", {"AWNB": awnb, "WANBIA": wanbia})

# %% [markdown]
# ## Which one?
#
# Cross-validation repeats each method within every fold.

# %%
for name, (class_var, frame) in data.items():
    structure = nb(class_var, frame)
    models = {
        "plain": lp(structure, frame, smooth=1),
        "MANB": lp(structure, frame, smooth=1, manb_prior=0.5),
        "AWNB": lp(structure, frame, smooth=1, awnb_trees=10, rng=0),
        "WANBIA": lp(structure, frame, smooth=1, wanbia=True),
    }
    print(f"{name}: accuracy in 10-fold cross-validation")
    print(cv(models, frame, k=10, rng=1).round(3).to_string(), "\n")

# %% [markdown]
# - **MANB** when there are many features and few rows, and most features may have nothing to do with the
#   class: it drops them softly, costs milliseconds and has no tuning but the prior.
# - **WANBIA** when features repeat each other, as the votes of one party do, and there are enough rows to
#   learn a weight each. On car no weight can improve anything: all are 1, and nothing changes.
# - **AWNB** when a cheap weighting is wanted that does not optimise on the training rows: on voting it is as
#   good as WANBIA. Compare it by cross-validation first: on car it loses, because it
#   halves the weight of features that do count.
