# %% [markdown]
# # Coming from scikit-learn
#
# `BNCClassifier` is an estimator like any other: `fit`, `predict`, `predict_proba`, pipelines, grid searches,
# calibration. Without arguments it is the most accurate that the package has, and takes a DataFrame as it comes, with
# numbers, text and holes. This page shows it at work, then has every difference from what you may expect.

# %%
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from bnclassify import explain, load_car, lp, modelstring, nb, plot, predict
from bnclassify.sklearn import BNCClassifier

# %%
wines, cultivar = load_wine(return_X_y=True, as_frame=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
print(cross_val_score(BNCClassifier(), wines, cultivar, cv=folds).mean().round(3))

# %% [markdown]
# ## A grid over learners
#
# The learner is an option, and so is how numbers are cut. Cut points are learned from what `fit` sees: in a search
# from the training parts alone. `smooth` can be searched too.

# %%
grid = {"learner": ["nb", "aode"], "discretize": ["mdlp", "quantile"], "smooth": [0.1, 1]}
search = GridSearchCV(BNCClassifier(), grid, cv=folds).fit(wines, cultivar)
print(search.best_params_, round(search.best_score_, 3))

# %% [markdown]
# Options of one learner go into `dag_args`, those of `lp` into `lp_args`. A grid with options of one learner is one of
# a list, since another learner would refuse them:

# %%
grids = [
    {"learner": ["nb"]},
    {"learner": ["tan_cl"], "dag_args": [{"score": "aic"}, {"score": "bic"}]},
]
car = load_car()
X, y = car.drop(columns="class"), car["class"]
search = GridSearchCV(BNCClassifier(smooth=1), grids, cv=folds).fit(X, y)
print(search.best_params_)

# %% [markdown]
# ## What is inside
#
# `model_` is a model like any other of the package, so all of it goes on from there:

# %%
classifier = search.best_estimator_
print(modelstring(classifier.model_))
plot(classifier.model_)

# %%
explain(classifier.model_, X.iloc[-1]).round(2)

# %% [markdown]
# ## Out-of-fold probabilities
#
# scikit-learn's way, and the package's, which keeps the names of classes and rows:

# %%
scikit = cross_val_predict(classifier, X, y, cv=folds, method="predict_proba")
pd.DataFrame(scikit, columns=classifier.classes_).tail(2).round(3)

# %% [markdown]
# `cv_predict(classifier.model_, car, rng=0)` gives the same kind of table, and `cv` takes several models and several
# metrics at once, on the same folds: see [judging a classifier](judging.py).
#
# ## Selecting features

# %%
selector = SequentialFeatureSelector(
    BNCClassifier("tan_cl", smooth=1, dag_args={"score": "aic"}), n_features_to_select=4, cv=folds
)
list(X.columns[selector.fit(X, y).get_support()])

# %% [markdown]
# ## `CategoricalNB`, and the same here
#
# `nb` with `smooth=1` is `CategoricalNB(alpha=1)`, but for one thing: scikit-learn never smooths the classes
# themselves, which here are smoothed like every other table.

# %%
theirs = make_pipeline(OrdinalEncoder(), CategoricalNB(alpha=1)).fit(X, y).predict_proba(X)
ours = predict(lp(nb("class", car), car, smooth=1), car, prob=True)[sorted(car["class"].unique())]
print("largest difference of a probability:", abs(theirs - ours.to_numpy()).max().round(6))

# %% [markdown]
# ## Every difference
#
# | in scikit-learn | here |
# |---|---|
# | `CategoricalNB` takes codes from 0 | any labels: text, categories, flags, integers. Encoding is part of `fit` |
# | missing values are refused, or imputed before | tables are estimated from available cases, or by EM with `lp_args={"missing": "em"}`; at prediction, networks marginalize over missing features exactly, and weighted models such as the default ignore them |
# | a category that `fit` did not see is an error | it is taken as missing; `handle_unknown="error"` raises |
# | numbers are cut by `KBinsDiscretizer`, before | `discretize=` cuts them within `fit`, by the class (MDLP) if you like; `None` refuses numbers with fractions |
# | whole numbers are numbers | those with at most ten values are categories. Make a code of more values, such as a postcode, `.astype("category")`, or text |
# | `alpha` | `smooth`; other priors are `lp_args={"ess": 1}` or `lp_args={"m": 1}` |
# | `class_prior`, `class_weight` | `prior=` says how common classes are where new rows come from, `costs=` what mistakes cost |
# | `sample_weight` in `fit` | the same; for the functional verbs, `encode(df, weights=...)` |
# | `partial_fit` | `update(model, more)`, a function, gives back a model with more rows, where parameters are counts; data that does not fit into memory goes to `bnc` [as it is](scale.py) |
# | `predict` gives an array | so it does here; the function `predict` gives a Series on the index of the frame |
# | `classes_` are sorted | so they are here; the functional verbs keep the order of levels |
# | `score` is accuracy | so it is; `scoring=` takes scikit-learn's scorers, and `cv(metric=)` those of the package |
# | larger log-loss is written negative, `neg_log_loss` | `cv(metric="log_loss")` is positive, less is better |
# | `random_state` | `random_state` here, `rng` in the functional verbs |
# | an estimator is changed by `fit` | a `BNCClassifier` too; models of the package never change: each verb returns a new one |
# | `clone`, `get_params`, `set_params`, pickling | the same. `save(classifier.model_, path)` writes readable JSON that holds no code |
#
# Arrays lose the types of columns, so steps before the classifier do best to hand on DataFrames:
# `pipeline.set_output(transform="pandas")`.
#
# ## Traps
#
# - **Rare categories.** A fold may lack one. It is then taken as missing where it is predicted, which is nearly always
#   what you want. A column that is made a category *before* the data is split keeps all its levels in every fold.
# - **Cutting before splitting** lets the test rows have a say in the cut points. Leave it to `discretize=`, or see
#   [how much it matters](numeric.py#the-leak).
# - **The greedy learners** (`fssj`, `bsej`, `tan_hc`, `tan_hcsp`, `kdb`) cross-validate within `fit`, and need the number of
#   folds: `dag_args={"k": 5}`.
