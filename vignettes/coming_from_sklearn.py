# %% [markdown]
# # For users of scikit-learn
#
# `BNCClassifier` follows the conventions of scikit-learn: pipelines, grid searches and calibration work. You can pass it a
# DataFrame with numeric columns, text and missing values, without one-hot encoding and without imputation. This page shows it
# in use, and then lists all differences. It takes ten minutes and needs the extra `sklearn`.
#
# ```{index} ! pipeline, ! grid search, ! scikit-learn, ! sklearn, ! cross_val_score
# ```

# %%
from bnclassify import (
    explain,
    load_car,
    load_voting,
    lp,
    modelstring,
    nb,
    plot,
    predict,
)
from bnclassify.sklearn import BNCClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OrdinalEncoder,
)

# %%
wines, cultivar = load_wine(return_X_y=True, as_frame=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_score(BNCClassifier(), wines, cultivar, cv=folds)
print("accuracy:", scores.mean().round(3))
print("baseline:", cultivar.value_counts(normalize=True).max().round(3))

# %% [markdown]
# With default settings, the classifier identifies the cultivar of nearly all wines; the most frequent cultivar accounts
# for 40 % of them.
#
# ## Grid search
#
# The learner and the method of discretization are parameters. Cut points are learned in `fit`, so a grid search learns
# them from the training folds only.

# %%
grid = {
    "learner": ["nb", "aode"],
    "discretize": ["mdlp", "quantile"],
    "smooth": [0.1, 1],
}
search = GridSearchCV(BNCClassifier(), grid, cv=folds).fit(wines, cultivar)
print(search.best_params_, round(search.best_score_, 3))

# %% [markdown]
# Arguments of the learner are passed in `dag_args`, arguments of `lp` in `lp_args`. In a grid, `dag_args__score` is the
# argument `score` in `dag_args`. If only one learner has an argument, use a list of grids:

# %%
grids = [
    {"learner": ["nb"]},
    {"learner": ["tan_cl"], "dag_args__score": ["aic", "bic"]},
]
car = load_car()
X, y = car.drop(columns="class"), car["class"]
search = GridSearchCV(BNCClassifier(smooth=1), grids, cv=folds).fit(X, y)
print(search.best_params_)

# %% [markdown]
# ## The fitted model
#
# All functions of the package accept a fitted estimator in place of a model, which its attribute `model_` holds. If the
# estimator has a `prior`, they use it. If it has `costs`, only `to_sql` accepts it and adds a column `decision`:

# %%
classifier = search.best_estimator_
print(modelstring(classifier))
plot(classifier)

# %%
explain(classifier, X.iloc[-1]).round(2)

# %% [markdown]
# The contributions sum to the log odds of the predicted class against the second most probable class.
# [Interpreting a model](interpreting.py) explains how to read them.
#
# ## Feature selection, importance and calibration
#
# For example, this selects four features by cross-validation. (Text columns must be categorical for
# `SequentialFeatureSelector`.)

# %%
tree = BNCClassifier("tan_cl", smooth=1, dag_args={"score": "aic"})
selector = SequentialFeatureSelector(tree, n_features_to_select=4, cv=folds)
print(list(X.columns[selector.fit(X, y).get_support()]))

# %% [markdown]
# `feature_importances_` has the mean absolute contributions to the log odds, as proportions. `permutation_importance` of
# scikit-learn measures performance instead.
#
# Naive Bayes is overconfident if features are correlated. `CalibratedClassifierCV` recalibrates its probabilities:

# %%
voting = load_voting()
votes, party = voting.drop(columns="Class"), voting["Class"]
naive = BNCClassifier("nb", smooth=1, missing_level=False)
for name, model in {
    "nb": naive,
    "nb, recalibrated": CalibratedClassifierCV(naive, cv=5),
}.items():
    loss = -cross_val_score(
        model, votes, party, cv=folds, scoring="neg_log_loss"
    ).mean()
    print(f"{name}: log-loss {loss:.3f}")

# %% [markdown]
# Lower is better: recalibration halves the log-loss.

# %% [markdown]
# ## Pipelines
#
# Steps before the classifier should return DataFrames, because arrays lose the types of columns:
# `pipeline.set_output(transform="pandas")`.

# %%
doors = FunctionTransformer(
    lambda frame: frame.replace("5more", "5"), feature_names_out="one-to-one"
)
prepare = make_column_transformer(
    (doors, ["doors"]), remainder="passthrough", verbose_feature_names_out=False
)
pipeline = make_pipeline(prepare, tree).set_output(transform="pandas")
print(cross_val_score(pipeline, X.astype(str), y, cv=folds).mean().round(3))

# %% [markdown]
# `MDLPDiscretizer` and `RareLevelMerger` are transformers that you can put before other classifiers.
#
# ## Groups and time series
#
# `folds=` of `cv` accepts the splits of scikit-learn's `GroupKFold` and `TimeSeriesSplit`.
#
# ## Comparison with `CategoricalNB`
#
# `nb` with `smooth=1` is `CategoricalNB(alpha=1)` with one difference: scikit-learn does not smooth the class
# proportions, while this package smooths them like every other table.

# %%
encoded = make_pipeline(OrdinalEncoder(), CategoricalNB(alpha=1)).fit(X, y)
ours = predict(lp(nb("class", car), car, smooth=1), car, prob=True)
difference = encoded.predict_proba(X) - ours[encoded.classes_].to_numpy()
print("largest difference of a probability:", abs(difference).max().round(6))

# %% [markdown]
# ## Differences
#
# | scikit-learn | bnclassify |
# |---|---|
# | `CategoricalNB` requires codes from 0 | any labels: text, categories, booleans, integers; encoding is part of `fit` |
# | missing values raise an error or are imputed before | they stay missing: see [Missing values](incomplete.py) |
# | a category that did not occur in `fit` raises an error | it is treated as missing; `handle_unknown="error"` raises an error |
# | numeric columns are discretized by `KBinsDiscretizer` in a pipeline | `discretize=` discretizes them in `fit`, for example by the class (MDLP); with `None`, numbers with fractions raise an error |
# | whole numbers are numbers | the default reads numbers that repeat as numbers and as labels. With a prior, those with at most ten values are categories. Convert codes such as postcodes by `.astype("category")` or to text |
# | `alpha` | `smooth`; other priors are `lp_args={"ess": 1}` and `lp_args={"m": 1}` |
# | `class_prior`, `class_weight` | `prior=` states the class proportions of new rows, `costs=` the misclassification costs |
# | `sample_weight` in `fit` | importance weights, if a weight has a fraction or a feature is numeric; if not, numbers of equal rows. `weights_are="frequencies"` or `"cases"` decides. The functions use `encode(df, weights=...)` |
# | `partial_fit` | `update(model, more)`; data that do not fit in memory can be [passed to `bnc`](scale.py) |
# | `predict` returns an array | the same; the function `predict` returns a Series |
# | `classes_` is sorted | the same; the functions of the package keep the order of the levels |
# | `score` is accuracy | the same; `scoring=` accepts the scorers of scikit-learn, and `cv(metric=)` the metrics of the package |
# | `cross_val_score(..., cv=5)` does not shuffle, so sorted data give far too low scores: pass `StratifiedKFold(5, shuffle=True, random_state=0)` | `cv` shuffles |
# | log-loss is negated: `neg_log_loss` | `cv(metric="log_loss")` is positive, and lower is better |
# | `random_state` | `random_state` in the estimator, `rng` in the functions |
# | pickle, joblib, skops | the same; `save(classifier, path)` writes a readable JSON file without executable code, and `BNCClassifier.from_model(load(path))` predicts by it |
# | `predict_joint_log_proba` | the same, if the model has a joint distribution, as with `smooth=1` |
#
# ## Pitfalls
#
# - **Rare categories.** A category that a training fold does not contain is treated as missing in the test rows. Convert the
#   column to a categorical one *before* you split the data, and all its levels are known in every fold.
# - **Greedy learners** (`fssj`, `bsej`, `tan_hc`, `tan_hcsp`, `kdb`) run cross-validation within `fit` and need the number
#   of folds: `dag_args={"k": 5}`.
