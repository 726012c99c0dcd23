"""The verb lp: learn the parameters of a structure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from ..base.messages import plain
from ..base.randomness import Seed, check_rng
from ..frames.counting import check_all_pairs
from ..frames.encoding import Dataset, Levels, check_levels, training_data
from ..frames.matching import match
from ..model.networks import AODE, Model, check_model, vars
from ..model.questions import is_nb
from .arcs import average_arcs
from .depths import weigh_by_depth
from .discrimination import weigh_by_likelihood
from .maximisation import maximise
from .stacking import estimate_ensemble, stack_estimators
from .tables import estimate_cpts


def lp(
    x: Model,
    dataset: pd.DataFrame | Dataset,
    *,
    smooth: float,
    awnb_trees: int | None = None,
    awnb_bootstrap: float | None = None,
    manb_prior: float | None = None,
    wanbia: bool = False,
    missing: str = "available",
    em_iterations: int = 200,
    em_tolerance: float = 1e-6,
    rng: Seed = None,
) -> Model:
    """Learn the parameters of a structure: its conditional probability tables.

    Parameters
    ----------
    x : BNC or AODE
        A structure. Parameters that it has already are learned again.
    dataset : pandas.DataFrame or Dataset
        Has a column for each variable of ``x``; others are ignored.
    smooth : float
        Dirichlet hyperparameter added to every count, 0 or more. 0 gives maximum-likelihood
        estimates, 1 the Laplace correction.
    awnb_trees : int, optional
        AWNB: weight each feature by how deep this many unpruned trees test it; 10 if only
        ``awnb_bootstrap`` is given.
    awnb_bootstrap : float, optional
        The share of the rows in each tree's bootstrap sample, above 0 and up to 1; a half if only
        ``awnb_trees`` is given.
    manb_prior : float, optional
        MANB: average a naive Bayes over the presence of each arc from the class, with this
        prior probability of an arc, between 0 and 1.
    wanbia : bool, default False
        WANBIA: weight features so that the conditional log-likelihood is as high as can be.
    missing : {"available", "em"}, default "available"
        What to learn from incomplete rows: each table from the rows in which its family is
        observed, or all tables from all rows by expectation maximisation, rows without a
        class included.
    em_iterations : int, default 200
        The most iterations of EM.
    em_tolerance : float, default 1e-6
        EM has converged when an iteration gains no more than this a row, in nats.
    rng : int or numpy.random.Generator, optional
        Seed of the bootstrap samples.

    Returns
    -------
    BNC or AODE
        Like ``x``, with parameters. `manb_arc_posterior` and `feature_weights` tell what
        MANB, AWNB and WANBIA found, `em_objectives` how EM went.

    Raises
    ------
    KeyError
        If a variable of ``x`` is not a column of ``dataset``.
    TypeError
        If AWNB, MANB or WANBIA is asked for on an ensemble.
    ValueError
        If ``smooth`` is negative or not finite, the data has no rows, a value is not among the
        levels of the structure, more than one of AWNB, MANB and WANBIA is asked for, an option is
        out of range, MANB is asked for on another structure than naive Bayes, MANB or WANBIA
        without smoothing, or no tree of AWNB has a split.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out, but not by EM. If EM did not converge.

    Notes
    -----
    θ_ijk = (N_ijk + smooth) / (N_ij· + r_i smooth) for level i of a variable with r_i levels. A
    configuration of parents without mass gives the uniform distribution. With missing values,
    each table is counted over the rows in which its whole family is observed. Levels are those
    that the structure knows, else those of the data.

    MANB returns θ·P(arc|D) + θ₀·(1 − P(arc|D)), with θ₀ estimated without the class [2]_. AWNB and WANBIA
    return θ^w, renormalised; AWNB takes w as the mean over trees of 1/√depth [3]_, WANBIA maximises
    Σ ln P(class | features) over w in [0, 1] [4]_.

    EM maximises Σ ln P(what the row shows) + smooth Σ ln θ, over rows and over all entries of the tables
    [5]_. On complete data that gives the estimates above.

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

    Examples
    --------
    >>> from bnclassify import load_car, lp, tan_cl
    >>> car = load_car()
    >>> lp(tan_cl("class", car, score="aic"), car, smooth=1)
    <BLANKLINE>
      Bayesian network classifier
    <BLANKLINE>
      class variable:     class
      num. features:      6
      num. arcs:          9
      free parameters:    131
      learning algorithm: tan_cl
      parameters:         lp(smooth=1)
    """
    model = check_model(x)
    smooth = check_smooth(smooth)
    awnb = None
    if awnb_trees is not None or awnb_bootstrap is not None:
        awnb = _check_awnb(awnb_trees, awnb_bootstrap)
    generator = check_rng(rng)
    _check_method(model, smooth, awnb, manb_prior, wanbia)
    em = _check_em(missing, em_iterations, em_tolerance)
    if em and (awnb is not None or manb_prior is not None or wanbia):
        raise ValueError('missing: "em" goes with plain estimates only; drop AWNB, MANB and WANBIA')
    data = training_data(dataset, model.class_var, vars(model), without_class="keep" if em else "drop")
    data = _matched(data, model)
    settings = {"awnb_trees": awnb_trees, "awnb_bootstrap": awnb_bootstrap, "manb_prior": manb_prior}
    chosen: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if awnb is not None:
        chosen["rng"] = None if isinstance(rng, np.random.Generator) else rng
    if wanbia:
        chosen["wanbia"] = True
    if em:
        chosen |= {"missing": missing, "em_iterations": em_iterations, "em_tolerance": em_tolerance}
    recipe = model.recipe and replace(model.recipe, parameters=partial(lp, smooth=smooth, **chosen))
    if isinstance(model, AODE):
        structure = AODE(model.class_var, model.features, model.levels, recipe=recipe)
        *columns, class_column = range(len(data.columns))
        check_all_pairs(data, columns, class_column)
        if not em:
            return estimate_ensemble(structure, data, smooth)
        estimators = [maximise(m, data, smooth, em_iterations, em_tolerance) for m in structure.members]
        return stack_estimators(structure, data, estimators)
    plain = replace(model, recipe=recipe, weights=None, arc_posteriors=None, em=None)
    if em:
        return maximise(plain, data, smooth, em_iterations, em_tolerance)
    tables = estimate_cpts(data, model.families, smooth)
    fitted = replace(plain, levels=data.levels, cpts=tuple(tables[family] for family in model.families))
    if manb_prior is not None:
        return average_arcs(fitted, data, smooth, manb_prior)
    if awnb is not None:
        return weigh_by_depth(fitted, data, *awnb, generator)
    return weigh_by_likelihood(fitted, data) if wanbia else fitted


def _check_em(missing: object, iterations: object, tolerance: object) -> bool:
    """Tell whether EM is asked for, its options checked."""
    if missing not in ("available", "em"):
        raise ValueError(f"missing: expected 'available' or 'em', got {missing!r}")
    if isinstance(iterations, bool) or not isinstance(iterations, Integral):
        raise TypeError(f"em_iterations: expected a whole number, got {iterations!r}")
    if int(iterations) < 1:
        raise ValueError(f"em_iterations: expected at least 1, got {iterations}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real):
        raise TypeError(f"em_tolerance: expected a number, got {tolerance!r}")
    if not float(tolerance) >= 0:
        raise ValueError(f"em_tolerance: expected 0 or more, got {tolerance}")
    return missing == "em"


def _check_awnb(trees: object, fraction: object) -> tuple[int, float]:
    """Return the number of trees and the share of rows, defaults filled in."""
    trees = 10 if trees is None else trees
    fraction = 0.5 if fraction is None else fraction
    if isinstance(trees, bool) or not isinstance(trees, Integral):
        raise TypeError(f"awnb_trees: expected a whole number of trees, got {trees!r}")
    if int(trees) < 1:
        raise ValueError(f"awnb_trees: expected at least 1 tree, got {trees}")
    if isinstance(fraction, bool) or not isinstance(fraction, Real):
        raise TypeError(f"awnb_bootstrap: expected a number, got {fraction!r}")
    if not 0 < float(fraction) <= 1:
        raise ValueError(f"awnb_bootstrap: expected a share of the rows above 0 and up to 1, got {fraction}")
    return int(trees), float(fraction)


def _check_method(model: Model, smooth: float, awnb: object, manb_prior: object, wanbia: object) -> None:
    """Raise where AWNB, MANB and WANBIA are asked for together, or are not defined."""
    if not isinstance(wanbia, bool):
        raise TypeError(f"wanbia: expected True or False, got {wanbia!r}")
    asked = {"awnb_trees": awnb is not None, "manb_prior": manb_prior is not None, "wanbia": wanbia}
    names = [name for name, is_asked in asked.items() if is_asked]
    if len(names) > 1:
        raise ValueError(f"{', '.join(names)}: only one of them can change the tables; drop the others")
    if names and isinstance(model, AODE):
        raise TypeError(f"{names[0]}: is defined for a single network, not for an ensemble")
    if manb_prior is not None:
        if isinstance(manb_prior, bool) or not isinstance(manb_prior, Real):
            raise TypeError(f"manb_prior: expected a probability, got {manb_prior!r}")
        if not 0 < float(manb_prior) < 1:
            raise ValueError(f"manb_prior: expected a probability strictly between 0 and 1, got {manb_prior}")
        if not is_nb(model):
            raise ValueError("manb_prior: MANB is defined for a naive Bayes; learn the structure with nb")
    if (manb_prior is not None or wanbia) and smooth == 0:
        raise ValueError(f"{names[0]}: needs smooth above 0, so that no probability is 0")


def check_smooth(smooth: object) -> float:
    """Return ``smooth`` as a number of Python's; raise if it is not a finite number of 0 or more."""
    smooth = plain(smooth)
    if isinstance(smooth, bool) or not isinstance(smooth, Real):
        raise TypeError(f"smooth: expected a number, got {smooth!r}")
    if not (smooth == 0 or 1e-100 <= smooth <= 1e100):  # type: ignore[operator]
        raise ValueError(f"smooth: expected a finite number, 0 or more (1e-100 to 1e100), got {smooth!r}")
    return smooth  # type: ignore[return-value]


def _matched(data: Dataset, model: Model) -> Dataset:
    """Return the model's columns of the data, coded by the model's levels where it has them."""
    variables = vars(model)
    levels: Levels | None = model.levels
    if levels is None:
        levels = tuple(data.levels[data.positions[v]] for v in variables)
    matched = Dataset(variables, levels, match(data, variables, levels), data.index)
    check_levels(matched, variables)
    return matched
