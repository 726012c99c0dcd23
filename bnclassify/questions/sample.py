"""Samples from the joint distribution of a model, also given evidence."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_has_joint_distribution
from ..counts import flat_index
from ..elimination import BURN_IN, MOST_SWEEPS
from ..frames import is_missing
from ..model import Model
from ..tools.arrays import Array, Codes
from ..tools.calls import with_call_advice
from ..tools.checks import Seed, Whole, check_rng
from .query import EvidenceOf, draw_rows_given_evidence, encode_evidence


@with_call_advice("Pass options by name: sample(x, n, evidence=evidence, rng=seed).")
def sample(
    x: Model, n: int, *, evidence: EvidenceOf = None, rng: Seed = None, burn_in: int = BURN_IN
) -> pd.DataFrame:
    """Draw rows from the distribution of a model, given evidence if any.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution, or a dependency network.
    n : int
        The number of rows.
    evidence : dict or Series, optional
        Evidence on some variables, as in `query`.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.
    burn_in : int, default 100
        For a dependency network: number of sweeps over the features before each
        draw.

    Returns
    -------
    pandas.DataFrame
        One categorical column per feature and, at the end, one for the class,
        with the levels of the model as categories. Columns that the model
        discretizes contain numbers, drawn uniformly from the interval within
        the range of the training data; features with a density (``numbers`` in
        `lp`) contain numbers drawn from it. Numbers have fractions even if
        those of the training data are whole; round them if they must be. A
        number in `evidence` is the value of its column.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the model does not define a joint distribution, the sample would have
        more than 2³¹ values, or the evidence has probability 0.

    Notes
    -----
    Each variable is drawn given its parents, parents first. In an average of
    networks, each row is drawn from one network, chosen by its weight. With
    `evidence`, the rows are drawn exactly, without rejection.

    In a dependency network (`chisq_dn`), the class of a row is drawn from the
    posterior that `predict` returns, and then its features by ordered Gibbs
    sampling [1]_: in each sweep, each feature is drawn given all others, by its
    table and the tables of its children, unless these are also its parents.
    Without cycles, this is the distribution of a `BNC` with the same tables.

    References
    ----------
    .. [1] Heckerman, D., Chickering, D. M., Meek, C., Rounthwaite, R., Kadie,
       C. (2000). Dependency networks for inference, collaborative filtering,
       and data visualization. JMLR 1.

    Examples
    --------
    >>> from bnclassify import load_car, lp, sample, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> drawn = sample(model, 1_000, evidence={"class": "acc", "safety": ["low", "med"]}, rng=0)
    >>> drawn["safety"].value_counts().to_dict()
    {'med': 976, 'low': 24, 'high': 0}
    """
    model = check_has_joint_distribution(x, "sample", or_sampled=True)
    Whole(most=MOST_SWEEPS).check("burn_in", burn_in)
    generator = check_rng(rng)
    most = 2**31 // len(model.variables)  # maximum number of values of a sample
    Whole(least=0, most=most).check("n", n)
    if evidence is None and not model.is_sampled:
        codes = model.draw(n, generator)
    else:
        known, likelihoods = encode_evidence(model, evidence)
        codes = draw_rows_given_evidence(model, known, likelihoods, n, generator, burn_in)
    numbers, discretizer = means_or_draws_of_numbers(model, codes, generator), model.discretizer
    given: dict[Hashable, object] = {} if evidence is None else dict(evidence.items())
    for name, value in given.items():
        is_number = name in model.densities or name in model.cuts
        if is_number and isinstance(value, Real) and not is_missing(value):
            numbers[name] = np.full(n, float(value))
    columns: dict[Hashable, Array | pd.Categorical[Any]] = {}
    for i, (name, labels) in enumerate(model.levels_by_name.items()):
        if name in numbers:
            columns[name] = numbers[name]
        elif discretizer is not None and name in discretizer.cuts:
            columns[name] = discretizer.draw_numbers(name, codes[i, :], generator)
        else:
            columns[name] = pd.Categorical.from_codes(
                codes[i, :], dtype=pd.CategoricalDtype(list(labels))
            )
    return pd.DataFrame(columns)


def means_or_draws_of_numbers(
    x: Model, codes: Codes, rng: np.random.Generator | None = None
) -> dict[Hashable, Array]:
    """Return numeric features in complete rows, (rows,): conditional means, or drawn by rng."""
    numbers = {}
    for name, density in x.densities.items():
        positions = [x.variables.index(parent) for parent in x.parents[name]]
        cells = flat_index([codes[p] for p in positions], density.shape).astype(np.intp)
        means: Array = density.parameters_by_name()["mean"].ravel()
        numbers[name] = means[cells] if rng is None else density.draw(cells, rng)
    return numbers
