"""Estimation of the parameters of a structure, and updates with more rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from ..base.calls import guided
from ..base.checks import Flag, Names, OneOf, Seed, Whole, check_rng
from ..base.immutable import record
from ..base.messages import listed, plain, shown, warn
from ..base.progress import progress_bar
from ..feature_weights.awnb import AWNB
from ..feature_weights.manb import MANB
from ..feature_weights.wanbia import WANBIA
from ..frames.encoding import check_levels
from ..frames.opening import InFull, InParts, group_labels, open_columns
from ..frames.schema import Dataset, Learnable, Schema
from ..frames.sources import in_pandas
from ..frames.training import TrainingData, prepare
from ..model.arguments import check_model
from ..model.model import Model, renewed
from ..model.recipes import Rows, Step, Tally
from ..network.em import EM
from ..network.number_families import Densities, Numbers
from ..network.priors import PLAIN, Method, Prior, is_nested
from ..network.subsumption import Subsumption
from ..recipe.leave_one_out import LeaveOneOut, LeaveOneOutPower
from ..recipe.prior import find_prior
from ..several.multidimensional import MultiModel
from .parts import fit_by_parts

M = TypeVar("M", bound=Model)
OneOrSeveral = TypeVar("OneOrSeveral", MultiModel, Model)  # leave-one-out returns another model type


@record
@guided("Pass the prior by name: lp(x, dataset, smooth=1).")
def lp(
    x: OneOrSeveral,
    dataset: InFull | InParts,
    *,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    backoff: bool = False,
    awnb_trees: int | None = None,
    awnb_bootstrap: float | None = None,
    manb_prior: float | None = None,
    wanbia: bool = False,
    loo_weights: bool = False,
    loo_parents: bool = False,
    loo_terms: Sequence[str] = (),
    loo_power: bool = False,
    honest_power: int | None = None,
    parts: int | None = None,
    numbers: Numbers = None,
    subsumption: int | None = None,
    missing: Literal["available", "em"] = "available",
    em_iterations: int = 200,
    em_tolerance: float = 1e-6,
    groups: Any = None,
    progress: bool | None = None,
    rng: Seed = None,
) -> OneOrSeveral:
    r"""Estimate the parameters of a structure: its conditional probability tables.

    The arguments are grouped by method. A prior is required: `smooth`, `ess`, `m` or `backoff`. At most one
    method is used: AWNB, MANB, WANBIA, leave-one-out (`loo_weights`, `loo_parents` and `loo_terms`, or
    `loo_power`), `numbers`, `subsumption` or EM.

    Parameters
    ----------
    x : BNC, AODE or another model
        A structure. Existing parameters are replaced.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Contains all variables of ``x``; other columns are ignored. Raw data if the model
        prepares raw data.
    smooth : float
        Pseudo-count added to every count, 0 or more: 0 gives maximum-likelihood estimates, and 1 is the
        Laplace correction.
    ess : float
        Equivalent sample size of the prior of each table, spread evenly over its cells (BDeu).
    m : float
        Equivalent sample size of the prior of each distribution in a table, spread evenly over the levels
        (m-estimate).
    backoff : bool, default False
        If True, shrink each table towards the table with one parent fewer, recursively, by the amount that
        maximizes the marginal likelihood (hierarchical smoothing). `concentrations` returns the amounts.
    awnb_trees : int, optional
        AWNB: number of unpruned trees. The weight of a feature depends on the minimum depth at which they
        test it. 10 if only ``awnb_bootstrap`` is given.
    awnb_bootstrap : float, optional
        AWNB: proportion of the rows in the bootstrap sample of each tree, above 0 and up to 1. 0.5 if only
        ``awnb_trees`` is given.
    manb_prior : float, optional
        MANB: prior probability of each arc from the class, between 0 and 1. The naive Bayes is averaged over
        the presence of the arcs.
    wanbia : bool, default False
        WANBIA: if True, weight the features to maximize the conditional log-likelihood. If features have
        feature parents, the data must be complete.
    loo_weights : bool, default False
        If True, raise the table of the class and of each feature to a power, its weight, that maximizes the
        leave-one-out likelihood. The model then provides posteriors, P(c | x) ∝ P(c)^w₀ Π P(x_i | parents,
        c)^w_i, but does not define a joint distribution. For incomplete rows, the posterior is a blend with a
        tree; see Notes. `feature_weights` and `loo_summary` describe the result.
    loo_parents : bool, default False
        If True, keep only the first feature parents of each family; leave-one-out chooses their number. For
        structures that list the best parents first, as from `kdb_mi`.
    loo_terms : list of str, optional
        Additional terms of each feature in the scores of the classes. Requires ``loo_weights``. Leave-one-out
        estimates their weights, and the weights of each type of term are shrunk by the amount that maximizes
        the marginal likelihood. Any of

        - "gaussians", "zscores": the log density of a number given the class and up to eight other numbers,
          on the scale of normal scores (quantiles of ranks), or in standard deviations from the mean, bounded
          by 5
        - "slopes": the score of a number, on the first of these scales that is used, times a coefficient for
          each class
        - "shifts": a constant for each class and level of a categorical feature
        - "levels": the tables of the feature given fewer parents, each with a separate weight

        Numbers are the columns that the model discretizes itself, as with ``discretize=`` in `bnc`. A term
        without suitable columns is skipped.
    loo_power : bool, default False
        If True, raise the posterior to the power that maximizes the leave-one-out likelihood. Ensembles are
        supported, too. The superparents of `ande` are selected without the row, and its member weights from
        all rows.
    honest_power : int, optional
        Number of parts, usually 5, for a power of the posterior that is best for held-out rows. The recipe of
        ``x`` with its cut points, structure, concentrations and weights is repeated without each part.
        Leave-one-out evaluates weights on rows from which structure and cut points were learned, and is
        overconfident for few rows or many features. `loo_summary` reports the power.
    parts : int, optional
        Number of parts, usually 5, in which a model with ``loo_weights`` is predicted by models for which
        everything was learned from the other parts. They choose the power of the model and, if ``loo_terms``
        contains "slopes" and "shifts", the power of a ridge logistic regression on the same features, whose
        scores are added. With ``loo_parents``, they choose the number of feature parents among 0, 1, 2 and 4.
        With 100 rows per feature or more, a penalized leave-one-out likelihood chooses it, and the powers are
        1 and 0. See Notes.
    numbers : {"gaussian", "kernel"} or dict, optional
        Density of numeric features given their parents: a normal distribution for each configuration, or a
        normal density around each training value. A dict maps the names of columns to one of these; text
        applies to the columns that `discretize` discretizes by default. The other arguments apply to tables
        only. Not with AWNB, MANB, WANBIA, leave-one-out or EM.
    subsumption : int, optional
        Minimum number of training rows by which a value implies another: all training rows with the former
        have the latter, too. Implied values of new rows are marginalized over as if they were missing
        (subsumption resolution [10]_). For augmented naive Bayes.
    missing : {"available", "em"}, default "available"
        Estimation from incomplete rows: each table from the rows in which its family is observed, or all
        tables from all rows, including those without a class, by expectation maximization.
    em_iterations : int, default 200
        Maximum number of iterations of EM.
    em_tolerance : float, default 1e-6
        Maximum gain per row, in nats, of an iteration at convergence of EM.
    groups : str or array-like, optional
        Name of a column, which is then not a feature, or one label per row. The rows of a group, such as the
        visits of a patient, are one case: they are held out together by leave-one-out and parts.
        Only with these methods.
    progress : bool, optional
        If True, show a bar with the number of steps, such as tables or iterations of EM; if False, none. By
        default, a bar appears after 3 seconds in an interactive session.
    rng : int or numpy.random.Generator, optional
        Seed of the bootstrap samples.

    Returns
    -------
    BNC, AODE or another model
        The model ``x`` with parameters. `manb_arc_posterior`, `feature_weights`, `em_objectives` and
        `loo_summary` describe the results of these methods.

    Raises
    ------
    KeyError
        If a variable of ``x`` is not a column of ``dataset``.
    TypeError
        If no prior is given, or AWNB, MANB, WANBIA, ``loo_weights`` or ``loo_parents`` is used on an
        ensemble.
    ValueError
        If an argument is out of range, ``loo_terms`` contains another name or is used without
        ``loo_weights``, ``honest_power`` is used with ``loo_power``, more than one method is used, MANB is
        used on a structure other than naive Bayes, MANB, WANBIA or leave-one-out without smoothing, the data
        have no rows, a value is not among the levels of the structure, or no tree of AWNB has a split.

    Warns
    -----
    UserWarning
        If rows without a class are ignored, all rows have the same class, or EM did not converge.

    Notes
    -----
    **Priors.** The probability of level k of variable i, which has r_i levels, given configuration j of its
    parents is, with α for ``smooth``,

    .. math:: θ_{ijk} = (N_{ijk} + α) / (N_{ij·} + r_i α).

    A configuration without rows and pseudo-counts has the uniform distribution. Levels are those of the
    structure, if it has levels, or of the data.

    With ``ess``, the pseudo-count is ess / (r_i q_i), where q_i is the number of configurations of all
    parents, including the class [1]_; with ``m``, it is m / r_i. A sample size α within each class, as in
    (N_ijk + α / (r_i p_i)) / (N_ij· + α / p_i) with p_i configurations of the feature parents alone, is
    an ``ess`` of α times the number of classes, except for the table of the class.

    **MANB, AWNB, WANBIA.** MANB returns θ·P(arc|D) + θ₀·(1 − P(arc|D)), where θ₀ is estimated without the
    class [2]_. AWNB and WANBIA return θ^w, normalized; AWNB estimates w as the mean over trees of 1/√depth
    [3]_, WANBIA maximizes Σ ln P(class | features) over w in [0, 1] [4]_, from two starts, because there may
    be local maxima. In the papers, θ^w is not normalized, which gives a different classifier; the R package
    bnclassify normalizes.

    **Back-off.** ``backoff`` estimates recursively, from the uniform distribution to x alone, x given the
    class, and then one more feature parent at a time,

    .. math:: P_l(x | u) = (N(u, x) + m_l P_{l-1}(x | u')) / (N(u) + m_l).

    One m per recursion level maximizes the marginal likelihood over 0.5 to 5000; the class itself has
    (n_y + 1/C) / (n + 1). Hierarchical Dirichlet processes [6]_ smooth in the same order, by sampling.

    **Leave-one-out.** ``loo_weights`` first estimates the common power τ, and then the weights w around it,

    .. math:: τ = argmax Σ_i ln P_{-i}(y_i | x_i; τ) − ½ (τ − 1)^2

    .. math:: w = argmax Σ_i ln P_{-i}(y_i | x_i; w) − 3/2 Σ_j (w_j − τ)^2

    where the tables of P₋ᵢ are estimated from the counts of all rows except i. Both functions are concave.
    Each excluded row subtracts 1 from a few counts, so all n models need about 20 times as long as one model.
    ``loo_parents`` compares the second maximum over numbers of parents, or, with ``loo_terms`` or without
    weights, Σ ln P₋ᵢ; ``loo_power`` is the first step alone. If all rows would need more than 256 MiB, an
    evenly spread selection of rows is used. The structure, cut points and concentrations are learned from all
    rows, so the log-likelihood of held-out rows is too high as an estimate for new rows; use `cv` to estimate
    it.

    **Additional terms.** With ``loo_terms``, feature f with parents p_1, p_2, … and, if it is a number, score
    z_f contributes

    .. math:: T_f(x, c) = Σ_l a_{fl} \ln P_l(x_f | c, p_1 \ldots p_l) + Σ_s g_{fs} \ln p_s(z_f | c, z_{pa})
       + β_{fc} z_f + γ_{fc}(x_f),

    and ln P(c | x) is w₀ ln P(c) + Σ_f T_f(x, c) up to a constant. p_s is the predictive density of a
    Bayesian linear regression within each class, a Student distribution. Its regressors are at most eight
    numbers with a higher I(X; C), chosen by the largest I(X; Y | C). Its prior is β ~ N(0, σ² diag(100,
    1, …)) and σ² ~ InvGamma(2, ½), and a row is excluded in closed form. All weights maximize

    .. math:: Σ_i \ln P_{-i}(y_i | x_i; w) − ½ Σ_b λ_b |w_b − μ_b|^2

    where block 0 contains the weights of ``loo_weights``, with λ = 3 and μ as above, and each type of term is
    another block, with μ = 0. Four rounds of λ_b = γ_b / w_b², with γ_b = p_b − λ_b tr_b (H + Λ)⁻¹,
    the negative Hessian H of the first sum and the number p_b of weights in block b, estimate the other λ,
    between 1 and 3000 [7]_. A missing number has Gaussian term and slope 0, and the score 0 as a regressor.
    At most 1,024 levels, the most frequent ones of all features, have shifts. If H would need more than
    3·10⁹ multiplications, it is estimated from evenly spread rows.

    **Honest power.** ``honest_power`` is argmax Σ_i ln P(y_i | x_i; τ) − ½ (τ − 1)² over the rows of all V
    parts, where row number i of class c is in part (i + c) mod V, and P is the model of the other parts,
    raised to τ. It is at least 0.01.

    **Parts.** With ``parts``, rows and classes are numbered by their contents, so the result does not depend
    on their order. The scores of the model and of logistic regression have powers τ₁ and τ₂ that maximize Σ_i
    ln P(y_i | x_i; τ) − 5 ((τ₁ − ¾)² + (τ₂ − ¼)²). The regression has the z-scores of numbers and indicators
    of levels, with the penalty ½ Σ β². One feature parent is tried if L − 0.1 √(a / n) is larger than without
    parents, where L is the leave-one-out log-likelihood per row, of n rows, of a model with a arcs between
    features. It is used if it predicts the parts better by more than a standard error, and then two parents
    are tried, and then four.

    A case is held out as a whole. A factor that all weights share is divided out first. Equal rows, where a
    row of whole weight w is w equal rows, are natural repetitions, and each is a case, unless S·d/N is above
    13, where S pairs of rows are equal and N pairs differ in one of d columns. Then all equal rows are one
    case, as are rows whose weights are fractions, and weights are scaled to sum to (Σw)²/Σw².

    **Missing values at prediction.** The weights are best for complete rows. If a share h of the features is
    missing, the score of a class c is

    .. math:: λ (w_0 \ln P(c) + Σ_f T_f(x, c)) + (1 − λ) (\ln P(c) + (b_0 + b_1 h) M(c)), λ = (1 − h)^q

    where missing features are ignored in T, and a table with a missing parent backs off to the previous
    parents. M(c) = ln P(observed features | c) of the network of the first feature parents only, a tree, with
    missing features marginalized over; it is a mean over three discretizations if there are several. q in 1,
    2, 4, 8 and 16 and b, with a prior N((1, 0), I), maximize the leave-one-out likelihood of the classes of
    at most 200 training rows, each three times with a random share of its features hidden. Therefore, the
    posterior of a row without features is the class distribution. With ``loo_power``, the power is τ + (1 −
    τ) h.

    **EM.** EM finds a local maximum of Σ ln P(observed values) + smooth Σ ln θ, over rows and over all
    entries of the tables [5]_; with ``ess`` or ``m``, their pseudo-counts replace smooth. On complete data,
    it gives the estimates above. It is consistent if values are missing at random, that is, depending on
    observed values only; available cases require that they are missing completely at random.

    **Numbers.** With ``numbers``, the density of a number is estimated for each configuration of its parents
    from the rows in which these and the number are observed. "gaussian" is a normal distribution with their
    mean and variance, with 1/n. "kernel" is the mean of normal densities around their values [8]_, with the
    standard deviation 1.06 s n^(-1/5) (Silverman's rule [9]_), where s is their standard deviation, with n −
    1. A configuration without variance has the density of the class, and a class without values has the
    density of all rows. A variance, and the square of a bandwidth, is at least 1e-9 times the largest
    variance of the number within a class. With ``smooth=0`` and all features normal, the result is
    scikit-learn's ``GaussianNB(var_smoothing=0)``.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the
       combination of knowledge and statistical data. Machine Learning 20.
    .. [2] Dash, D., Cooper, G. F. (2002). Exact model averaging with naive Bayesian
       classifiers. ICML 2002.
    .. [3] Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes.
       Knowledge-Based Systems 20.
    .. [4] Zaidi, N. A., Cerquides, J., Carman, M. J., Webb, G. I. (2013). Alleviating naive
       Bayes attribute independence assumption by attribute weighting. JMLR 14.
    .. [5] Lauritzen, S. L. (1995). The EM algorithm for graphical association models with missing
       data. Computational Statistics & Data Analysis 19.
    .. [6] Petitjean, F., Buntine, W., Webb, G. I., Zaidi, N. (2018). Accurate parameter estimation for
       Bayesian network classifiers using hierarchical Dirichlet processes. Machine Learning 107.
    .. [7] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4.
    .. [8] John, G. H., Langley, P. (1995). Estimating continuous distributions in Bayesian classifiers.
       UAI 1995.
    .. [9] Silverman, B. W. (1986). Density Estimation for Statistics and Data Analysis. Chapman and Hall.
    .. [10] Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption resolution: an efficient and
        effective technique for semi-naive Bayesian learning. Machine Learning 87.

    Examples
    --------
    >>> from bnclassify import load_car, lp, tan_cl
    >>> car = load_car()
    >>> lp(tan_cl("class", car, score="aic"), car, smooth=1)
    <BLANKLINE>
      Bayesian network classifier
    <BLANKLINE>
      class variable:     class
      rows:               1,728
      class proportions:  unacc 0.700, acc 0.222, good 0.040, vgood 0.038
      num. features:      6
      num. arcs:          9
      free parameters:    131
      learning algorithm: tan_cl
      parameters:         lp(smooth=1)
      missing values:     none in training; in new rows marginalized over
      joint distribution: yes
    """
    amounts = {"smooth": smooth, "ess": ess, "m": m, "backoff": None if backoff is False else backoff}
    prior = find_prior(**amounts)
    methods: list[Method] = []
    if awnb_trees is not None or awnb_bootstrap is not None:
        default = AWNB()
        trees = default.trees if awnb_trees is None else awnb_trees
        methods.append(AWNB(trees, default.share if awnb_bootstrap is None else awnb_bootstrap))
    if manb_prior is not None:
        methods.append(MANB(manb_prior))
    if Flag().check("wanbia", wanbia):
        methods.append(WANBIA())
    terms: Any = Names().check("loo_terms", loo_terms)
    if Flag().check("loo_weights", loo_weights) | Flag().check("loo_parents", loo_parents) | bool(terms):
        methods.append(LeaveOneOut(loo_weights, loo_parents, terms))
    if Flag().check("loo_power", loo_power):
        methods.append(LeaveOneOutPower())
    if subsumption is not None:
        methods.append(Subsumption(subsumption))
    em = EM(em_iterations, em_tolerance)
    if OneOf(("available", "em")).check("missing", missing) == "em":
        methods.append(em)
    if numbers is not None:
        methods.append(Densities(numbers))
    if len(methods) > 1:
        names = ", ".join(method.argument for method in methods)
        raise ValueError(f"Only one of {names} must be given, because each defines the tables.")
    method = methods[0] if methods else PLAIN
    if honest_power is not None:
        honest_power = Whole(least=2).check("honest_power", honest_power)
        if loo_power:
            raise ValueError("honest_power must be None if loo_power is True; got both. Drop loo_power.")
    if parts is not None:
        parts = Whole(least=2).check("parts", parts)
        if honest_power is not None or not loo_weights:
            raise ValueError(
                "parts must be None unless loo_weights is True and honest_power is None. For other methods, "
                "use honest_power."
            )
    if groups is not None:
        dataset = _grouped(x, dataset, groups, method if honest_power is None else None)
    settings: dict[str, Any] = {name: plain(value) for name, value in amounts.items() if value is not None}
    settings |= method.settings()
    if honest_power is not None:
        settings["honest_power"] = honest_power
    if parts is not None:
        settings["parts"] = parts
    if method.draws and not isinstance(rng, np.random.Generator | None):
        settings["rng"] = rng
    step = Step("lp", lp, settings, draws=True)
    desc, unit = ("EM", " iterations") if method is em else ("lp", " steps")
    with progress_bar(progress, by_steps=True, desc=desc, unit=unit):
        options = {"honest_power": honest_power, "parts": parts}
        fitted: Any = fit(x, dataset, prior, method, **options, rng=rng, step=step)
    return fitted


def _grouped(x: Model, dataset: Any, groups: Any, method: Method | None) -> Dataset:
    """Return encoded data with the groups as cases, or raise if the method holds out no rows."""
    if method is not None and not isinstance(method, LeaveOneOut):
        raise ValueError(
            "groups must be None unless loo_weights, loo_parents or honest_power is given. Tables do not "
            "depend on groups."
        )
    frame, cases = group_labels(in_pandas(dataset), groups)
    if isinstance(frame, pd.DataFrame):
        known = {} if x.levels is None else x.levels_by_name
        preparation = x.preparation
        frame = (
            open_columns(frame, x.variables, known=known, rows_needed=True)
            if preparation is None
            else preparation.read(frame[list(frame.columns)], known, "dataset")
        )
    return replace(frame, cases=cases)


@record
def fit(
    x: Model,
    dataset: InFull | InParts,
    prior: Prior,
    method: Method = PLAIN,
    *,
    honest_power: int | None = None,
    parts: int | None = None,
    rng: Seed = None,
    step: Step | None = None,
) -> Model:
    """Estimate the parameters of a structure under any prior and by any method, for `lp`."""
    model = check_model(x)
    # a seed from the system is slow
    generator = check_rng(rng) if method.draws or rng is not None else None
    step = step or Step("fit", fit, {"prior": prior, "method": method}, draws=True)
    alone = partial(
        _fit_alone, prior=prior, method=method, parts=parts or honest_power, chooses=bool(parts),
        rng=generator, step=step,
    )  # fmt: skip
    fitted: Model = model._fit(in_pandas(dataset), step, alone)
    return fitted


def _fit_alone(
    x: Model,
    dataset: Any,
    *,
    prior: Prior,
    method: Method,
    parts: int | None,
    chooses: bool,
    rng: Any,
    step: Step,
) -> Any:
    """Fit a model whose members share their rows."""
    if not x.one_class and (method is not PLAIN or is_nested(prior) or parts):
        name = "backoff" if method is PLAIN else method.argument or type(method).__name__
        raise TypeError(
            f"{name} must be used with one class variable; got several. The models of chain(class_vars, "
            "dataset) accept it."
        )
    method.check(x, prior)
    x, dataset = method.prepare(x, dataset)
    rows = rows_to_learn_from(x, dataset, method)
    recipe = x.recipe and replace(x.recipe, parameters=step)
    structure = renewed(x, recipe=recipe, learned={})
    if parts is None:
        fitted = method(structure, rows, prior, rng)
    else:
        learn = partial(_members, method=method, prior=prior, rng=rng, chooses=chooses)
        fitted = fit_by_parts(structure, dataset, rows, method, parts, learn, chooses=chooses)
    tally = fitted.learned.get("counts")
    if not method.keeps_counts and isinstance(tally, Tally):
        # tables that do not follow from the prior alone cannot be updated
        fitted = renewed(fitted, learned={**fitted.learned, "counts": replace(tally, prior=None)})
    if fitted.recipe is not None:
        fitted = renewed(fitted, recipe=replace(fitted.recipe, rows=Rows.of(rows, x.targets)))
    if not (isinstance(dataset, Learnable) and dataset.targets):  # the caller has issued warnings
        warn_of_rows(fitted, len(rows))
    return fitted


def _members(x: Any, data: Any, *, method: Any, prior: Prior, rng: Any, chooses: bool) -> tuple[Any, ...]:
    """Return the models that are weighed by parts: the model and, if ``chooses``, logistic regression."""
    rows = rows_to_learn_from(x, data, method)
    if not isinstance(method, LeaveOneOut):
        return (method(x, rows, prior, rng),)
    if chooses and method.parents:
        method = replace(method, parents=False)
    return method.members(x, rows, prior, regression=chooses)


def warn_of_rows(x: Model, rows: int) -> None:
    """Warn if the rows of a fitted model have one class, or are few for its number of parameters."""
    trained = x._trained_on
    for name, weights in zip(x.targets, () if trained is None else trained.classes, strict=False):
        present = [label for label, weight in weights if weight]
        if len(present) == 1:
            warn(
                f"all rows have the class {shown(present[0])} of {shown(name)}, so it is always predicted. "
                "Check whether a previous step dropped the rows of other classes."
            )
    x._warn_of_size(rows)


def rows_to_learn_from(model: Model, dataset: InFull | InParts, method: Method = PLAIN) -> Any:
    """Return the model's columns of data, coded by its levels if it has them, as `Countable`."""
    undefined = [name for name in model.numeric if name not in model.densities]
    if undefined:
        raise ValueError(
            f"numbers must be given, because {listed(undefined)} are numbers; got None. Use "
            "numbers='gaussian', for example, or learn the model with bnc(..., discretize='averaged')."
        )
    levels = None if model.levels is None else model.levels_by_name
    takes_all = method.takes_rows_without_class
    data = prepare(
        dataset, model.targets, model.features, known=levels, preparation=model.preparation,
        numeric=tuple(model.densities), rows_needed=not method.counts_alone, warns=not takes_all,
    )  # fmt: skip
    schema = Schema(model.variables, model.levels or data.schema.select(model.variables).levels)
    check_levels(schema, [name for name in schema.columns if name not in model.densities])
    # methods that use rows can skip rows of weight 0
    rows = data.all_rows if takes_all and isinstance(data, TrainingData) else data
    return rows.coded(schema).counting()
