# %% [markdown]
# # Gallery
#
# Every picture that the package draws, with the line that draws it. Networks are drawn by Graphviz, or by what the
# extra `plot` installs where there is none; charts by matplotlib, whose axes are returned, so that all of it can be
# changed: `plot_cpt(x, "safety").set_title("...")`. To a file they go by `plot(x).render(outfile="car.svg",
# cleanup=True)` and `plot_cpt(x, "safety").figure.savefig("safety.png")`. At a prompt, `plot(x).view()` opens one.

# %%
import pandas as pd

from bnclassify import (
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
    plot_ranks,
    plot_scores,
    plot_weights,
)

# %%
car, voting = load_car(), load_voting()
tan = bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})

# %% [markdown]
# ## A network
#
# The class is dark, its arcs pale, arcs between features strong: `plot`.

# %%
plot(tan)

# %% [markdown]
# Where features are many, without the arcs of the class, which lead to all of them:

# %%
plot(
    bnc("tan_cl", "Class", voting, smooth=1, missing_level=False, dag_args={"score": "bic"}), class_arcs=False
)

# %% [markdown]
# ## A prediction, on the network
#
# Blue speaks for the class that is predicted, orange against it.

# %%
plot(tan, row=car.iloc[1700])

# %% [markdown]
# ## Distributions, given what is known of a row

# %%
plot(tan, distributions=True, row=pd.Series({"safety": "high", "persons": "4"}).reindex(car.columns[:-1]))

# %% [markdown]
# ## A prediction, as bars: `plot_explanation`

# %%
plot_explanation(tan, car.iloc[1700])

# %% [markdown]
# ## What counts on average: `plot_importance`

# %%
plot_importance(tan, car)

# %% [markdown]
# ## A table: `plot_cpt`

# %%
plot_cpt(tan, "safety", dataset=car)

# %% [markdown]
# ## The effect of a number: `plot_effect`

# %%
women = load_pima()
smoothed = bnc("nb", "diabetes", women, backoff=True, discretize="averaged")
plot_effect(smoothed, "glucose", target="yes")

# %% [markdown]
# ## Weights of features: `plot_weights`

# %%
plot_weights(bnc("nb", "Class", voting.dropna(), smooth=1, wanbia=True))

# %% [markdown]
# ## How a search went: `plot_scores`

# %%
plot_scores(bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 5, "epsilon": 0.001, "rng": 0}))

# %% [markdown]
# ## Models fold by fold: `plot_cv`

# %%
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False) for name in ("nb", "tan_cl", "aode")
}
plot_cv(cv(models, voting, rng=0, mean=False))

# %% [markdown]
# ## Which classes are taken for which: `plot_confusion`

# %%
plot_confusion(confusion(cv_predict(tan, car, rng=0, prob=False), car["class"]))

# %% [markdown]
# ## Whether probabilities come true: `plot_calibration`

# %%
plot_calibration(cv_predict(models["nb"], voting, rng=0), voting["Class"], bins=5)

# %% [markdown]
# ## Which of several learners differ, over several data sets: `plot_ranks`
#
# (The figures are invented.)

# %%
table = pd.DataFrame(
    {
        "nb": [0.85, 0.90, 0.71, 0.62, 0.93, 0.80],
        "tan_cl": [0.94, 0.94, 0.74, 0.66, 0.93, 0.84],
        "aode": [0.91, 0.95, 0.75, 0.65, 0.95, 0.85],
    }
)
plot_ranks(compare_ranks(table))
