"""Other class proportions: the same model for a population in which the classes differ."""

from __future__ import annotations

from typing import TypeVar, cast

from ..accessors import check_fitted, replace_class_prior
from ..model import ClassPrior, Model
from ..tools.calls import with_call_advice

X = TypeVar("X", bound=Model)


@with_call_advice("Give a proportion of each class: with_prior(x, {'yes': 0.02, 'no': 0.98}).")
def with_prior(x: X, prior: ClassPrior) -> X:
    """Replace the class proportions of a model by those of another population.

    If the classes are more or less frequent in production than in the training
    data, for example because rare cases were sampled more often, the
    probabilities of the model are wrong there. The returned model has the right
    ones everywhere: in `predict`, `explain`, `to_sql`, `write_page`, files,
    scorecards and tables of effects.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model of one class variable, of any type.
    prior : dict or pandas.Series
        Proportion of each class, greater than 0; they sum to 1.

    Returns
    -------
    BNC, AODE or another model
        A model of the same type, whose `predict` is that of `x` with this
        ``prior``. If no feature is known, it predicts these proportions. `cv`
        and `update` keep them, and `with_prior` replaces them.

    Raises
    ------
    TypeError, ValueError
        If `x` has several class variables, whose joint distribution a
        proportion of each class does not determine, or `prior` is not a
        distribution of the classes.

    See Also
    --------
    predict : Its argument ``prior`` does the same for a single call.
    scorecard : Call it after `with_prior` if ``pdo`` is given, so that its scale fits.

    Notes
    -----
    With the learned proportions P(c) and the given ones Q(c), ln Q(c) / P(c) is
    added to the score of each class. By Bayes' rule, this is exact if the
    features of a class are distributed as in training [1]_. In a network, the
    class has a table with the given proportions; if it has parents, no table
    contains them, so functions that need the joint distribution raise an error.
    `loglik`, `AIC` and `BIC` are those of the changed model, with as many
    parameters as before. `cv` of rows in which the classes have the old
    proportions finds a larger log-loss, as it should.

    For an estimator with ``prior``, functions use its model with this prior.
    A model of ``from_effects(effects(x), dataset=...)`` has the proportions in
    complete rows, and those of the dataset if nothing is known, so call
    `with_prior` after it.

    References
    ----------
    .. [1] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the
       outputs of a classifier to new a priori probabilities: a simple
       procedure. Neural Computation 14.

    Examples
    --------
    Half of the sampled claims are frauds, but 2 % of all claims:

    >>> import pandas as pd
    >>> from bnclassify import bnc, predict, with_prior
    >>> night = ["yes"] * 40 + ["no"] * 10 + ["yes"] * 15 + ["no"] * 35
    >>> claims = pd.DataFrame({"night": night, "claim": ["fraud"] * 50 + ["honest"] * 50})
    >>> model = bnc("nb", "claim", claims, smooth=1)
    >>> predict(model, {"night": "yes"}, prob=True).round(3)
    claim  fraud  honest
    0      0.719   0.281
    >>> real = with_prior(model, {"fraud": 0.02, "honest": 0.98})
    >>> predict(real, {"night": "yes"}, prob=True).round(3)
    claim  fraud  honest
    0       0.05    0.95
    """
    return cast("X", replace_class_prior(check_fitted(x), prior))
