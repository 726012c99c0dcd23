"""Weights of a model's terms that maximize the likelihood of the classes of held-out rows.

The score of a class is linear in the weights, and ln P(y) = score(y) − ln Σ_k exp score(k), so the
problems are concave and have one optimum each. Scores are given as log odds, called odds in the
text below: the scores of the other classes minus that of the first, which give the posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, cycle

import numpy as np

from ..base.arrays import BLOCK_CELLS, Array, Codes, Mask, Positions, log_sum_exp, slices
from ..base.immutable import cached_property
from .design_matrix import DesignMatrix

COMMON_PRECISION = 1.0
"""Precision of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Precision of the normal priors of the powers of single terms, whose mean is the common power."""

_CLOSE = 1e-14  # tolerance of the value: twice the gain of the last step of Newton's method
CLOSE_ENOUGH = 1e-10  # tolerance during the search for ridges
# number of steps of conjugate gradients after which the Hessian is computed again
_MOST_ROUNDS = 10
# maximum number of multiplications for a Hessian; beyond it, a subset of rows is used
_PRODUCTS = 3e9
_MOST_CELLS = 2**22  # maximum number of cells of a Hessian; beyond it, its diagonal is used
_LEAST, _MOST, _FACTOR = 1.0, 3000.0, 5.0  # bounds of a ridge, and of its change in a round

Solve = Callable[[Array], Array]


def log_odds_of_scores(logs: Array) -> Array:
    """Return the scores of the other classes minus that of the first, (…, classes − 1, rows).

    ``logs`` are (…, rows, classes).
    """
    by_class = logs.swapaxes(-1, -2)
    return np.subtract(by_class[..., 1:, :], by_class[..., :1, :], order="C")


def log_likelihood(total: Array, classes: Codes, weights: Array) -> float:
    """Return Σ v ln P(y) for the odds of rows, (classes − 1, rows), and their classes."""
    return float(weights @ (log_odds_of_own_class(total, classes) - _log_sum_of_odds(total)))


def log_odds_of_own_class(total: Array, classes: Codes) -> Array:
    """Return the odds of the class of each row, which are 0 for the first class."""
    if not len(total):
        return np.zeros(len(classes))
    own: Array = total[np.maximum(classes, 1) - 1, np.arange(len(classes))]
    return np.where(classes == 0, 0.0, own)


def _log_sum_of_odds(total: Array) -> Array:
    """Return ln(1 + Σ exp log odds) of each row."""
    return log_sum_exp(np.concatenate([np.zeros((1, total.shape[1])), total]), axis=0)


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """The terms of a problem at rows with observed classes and weights ``counts``.

    ``shared`` are arrays of (terms, classes − 1, rows) odds, with one weight per term. ``columns``
    have one weight per column and class, which sum to 0 over the classes; they follow from
    classes − 1 parameters, see `column_weights_by_class`. ``offset`` are odds without a weight.
    """

    shared: Sequence[Array]
    classes: Codes
    counts: Array
    columns: DesignMatrix | None = None
    offset: Array | float = 0.0

    @cached_property
    def ends_of_shared_arrays(self) -> list[int]:
        return list(accumulate(map(len, self.shared)))

    @cached_property
    def n_other_classes(self) -> int:
        return self.shared[0].shape[1]

    @cached_property
    def n_weights(self) -> int:
        of_columns = 0 if self.columns is None else self.columns.shape[1] * self.n_other_classes
        return self.ends_of_shared_arrays[-1] + of_columns

    @property
    def has_small_information(self) -> bool:
        """Whether H, or A with A Aᵀ = H, is small enough for `information_or_factor`."""
        n_log_odds = len(self.classes) * self.n_other_classes
        return self.n_weights * min(self.n_weights, n_log_odds) <= _MOST_CELLS

    def log_odds_at_weights(self, weights: Array) -> Array:
        """Return the odds for weights, (classes − 1, rows)."""
        total = np.zeros((self.n_other_classes, len(self.classes)))
        flat = total.reshape(-1)
        for end, terms in zip(self.ends_of_shared_arrays, self.shared, strict=True):
            flat += weights[end - len(terms) : end] @ terms.reshape(len(terms), flat.size)
        if self.columns is not None:
            of_columns = weights[self.ends_of_shared_arrays[-1] :].reshape(-1, self.n_other_classes)
            total += self.columns.times_weights(
                of_columns @ _log_odds_of_basis(self.n_other_classes + 1)
            ).T
        return total

    def sums_of_residuals(self, residuals: Array) -> Array:
        """Return the sums over rows of residuals times each weight's odds, (weights,)."""
        sums = []
        for terms in self.shared:
            sums.append(terms.reshape(len(terms), residuals.size) @ residuals.ravel())
        if self.columns is not None:
            of_columns = self.columns.sums_over_rows(residuals.T)  # (columns, classes − 1)
            sums.append((of_columns @ _log_odds_of_basis(self.n_other_classes + 1).T).ravel())
        return np.concatenate(sums)

    def gradient(self, posteriors: Array) -> Array:
        """Return the derivative of the log-likelihood; posteriors exclude the first class."""
        is_own: Mask = self.classes == np.arange(1, self.n_other_classes + 1)[:, None]
        return self.sums_of_residuals((is_own - posteriors) * self.counts)

    def penalized_information_times(
        self, posteriors: Array, ridges: Array, weights: Array
    ) -> Array:
        """Return H + Λ times weights, H being minus the Hessian of the log-likelihood."""
        spread = self.log_odds_at_weights(weights)
        spread -= (posteriors * spread).sum(axis=0)
        return self.sums_of_residuals(spread * posteriors * self.counts) + ridges * weights

    def newton_solver(self, posteriors: Array, ridges: Array) -> Solve:
        """Return a function that solves (H + Λ) x = slope, if necessary by parts."""
        if not self.has_small_information or (
            self.columns is not None and not self.ends_of_shared_arrays[-1]
        ):
            return self.solver_and_variances_by_parts(posteriors, ridges)[0]
        # 500: number of rows up to which a factor is always fast
        if 2 * self.n_weights > len(self.classes) > 500:  # more steps are faster
            diagonal = self.information_diagonal(posteriors) + ridges
            return lambda slope: slope / diagonal
        return solver_and_variances(self.information_or_factor(posteriors), ridges)[0]

    def solver_and_variances_by_parts(
        self, posteriors: Array, ridges: Array
    ) -> tuple[Solve, Callable[[], Array]]:
        """Return functions that solve (H + Λ) x = slope, and return diag (H + Λ)⁻¹, approximately.

        H is divided into the part of shared terms and that of columns, which is the sum over rows
        of x xᵀ ⊗ V, with V = diag(p) − p pᵀ for vectors that sum to 0. With two classes V is a
        number; with more, the parts of the classes are taken apart, with C/(C − 1) of the diagonal
        of V. The ridges of a column must be equal.
        """
        end, k = self.ends_of_shared_arrays[-1], self.n_other_classes
        shared = replace(self, columns=None)
        if shared.has_small_information:
            information = shared.information_or_factor(posteriors)
            solve_shared, of_shared = solver_and_variances(information, ridges[:end])
        else:
            diagonal = shared.information_diagonal(posteriors) + ridges[:end]
            solve_shared, of_shared = (lambda slope: slope / diagonal), (lambda: 1 / diagonal)
        if self.columns is None:
            return solve_shared, of_shared
        basis, solvers = _orthonormal_basis(k + 1), self._solvers_by_class(posteriors, ridges[end:])

        def solve(slope: Array) -> Array:
            by_class = slope[end:].reshape(-1, k) @ basis.T  # (columns, classes)
            solved = []
            for (solve_class, _), of_class in zip(cycle(solvers), by_class.T, strict=False):
                solved.append(solve_class(of_class))
            of_columns = np.stack(solved, axis=1) @ basis
            return np.concatenate([solve_shared(slope[:end]), of_columns.ravel()])

        def variances() -> Array:
            mean = np.mean([variances_of_class() for _, variances_of_class in solvers], axis=0)
            return np.concatenate([of_shared(), np.repeat(mean, k)])

        return solve, variances

    def _solvers_by_class(
        self, posteriors: Array, ridges: Array
    ) -> list[tuple[Solve, Callable[[], Array]]]:
        """Return `solver_and_variances` of the columns in each class; two classes share one."""
        assert self.columns is not None
        width, k = self.columns.shape[1], self.n_other_classes
        step = -(-len(self.classes) // max(2 * width, int(_PRODUCTS / width**2 / (k + 1))))
        columns, counts = self.columns[::step], self.counts[::step] * step
        of_first = 1 - posteriors.sum(axis=0, keepdims=True)
        shares = np.concatenate([of_first, posteriors])[:, ::step].clip(0)  # (classes, some rows)
        solvers = []
        share: Array
        for share in shares if k > 1 else shares[:1]:
            root = columns.with_scaled_rows(np.sqrt(counts * share * (1 - share) * (k + 1) / k))
            is_wide = root.shape[0] < width
            part = root.dense_array().T if is_wide else root.gram_matrix()
            solvers.append(solver_and_variances(part, ridges[::k]))  # equal in all classes
        return solvers

    def information_diagonal(self, posteriors: Array) -> Array:
        """Return the diagonal of H; for columns, approximately."""
        parts = []
        for terms in self.shared:  # Σ over rows of the variance of a term over the classes
            mean: Array = np.einsum("tkr,kr->tr", terms, posteriors)
            square: Array = np.einsum("tkr,tkr,kr->tr", terms, terms, posteriors)
            parts.append((square - mean**2) @ self.counts)
        if self.columns is not None:
            spread: Array = self.counts * (posteriors * (1 - posteriors)).mean(axis=0)
            parts.append(
                np.repeat(self.columns.square_sums_over_rows(spread), self.n_other_classes)
            )
        return np.concatenate(parts)

    def column_weights_by_class(self, weights: Array) -> Array:
        """Return the weights of columns for each class, (columns, classes)."""
        of_columns = weights[self.ends_of_shared_arrays[-1] :].reshape(-1, self.n_other_classes)
        return of_columns @ _orthonormal_basis(self.n_other_classes + 1).T

    def information_or_factor(self, posteriors: Array) -> Array:
        """Return A with A Aᵀ = H, minus the Hessian, or H if A is wider; maybe by spread rows."""
        n, size, end = len(self.classes), self.n_weights, self.ends_of_shared_arrays[-1]
        per_row = self.n_other_classes * end**2 + (size - end) ** 2
        step = -(-n // max(2 * size, int(_PRODUCTS / max(1, per_row))))
        terms = [array[..., ::step] for array in self.shared]
        columns = None if self.columns is None else self.columns[::step]
        shares, some = posteriors[:, ::step], self.counts[::step]
        counts = some * float(self.counts.sum() / max(some.sum(), 1e-300))
        if size > counts.size * self.n_other_classes:
            design = np.concatenate([*terms, *self._log_odds_of_columns(columns)])
            return _information_factor(design, counts, shares)
        result = np.zeros((size, size))  # of the terms, then of the columns, on both axes
        for block in slices(len(counts), end * self.n_other_classes, max(BLOCK_CELLS, end * end)):
            design = np.concatenate([array[..., block] for array in terms])
            of_block = counts[block], shares[:, block]
            root = _information_factor(design, *of_block)
            result[:end, :end] += root @ root.T
            if columns is not None and end:
                result[:end, end:] += self._information_of_terms_and_columns(
                    design, columns[block], *of_block
                )
        if columns is not None:
            result[end:, :end] = result[:end, end:].T
            result[end:, end:] = self._information_of_columns(columns, counts, shares)
        return result

    def _log_odds_of_columns(self, columns: DesignMatrix | None) -> list[Array]:
        """Return the odds by each weight of the columns, (weights, classes − 1, rows)."""
        if columns is None:
            return []
        full = columns.dense_array()
        design: Array = np.einsum("rj,ak->jakr", full, _log_odds_of_basis(self.n_other_classes + 1))
        return [design.reshape(-1, self.n_other_classes, len(full))]

    def _information_of_terms_and_columns(
        self, design: Array, columns: DesignMatrix, counts: Array, shares: Array
    ) -> Array:
        """Return the part of H of shared terms and columns, (terms, weights of columns)."""
        terms, others, rows = design.shape
        spread: Array = design - np.einsum("tkr,kr->tr", design, shares)[:, None]
        spread *= shares * counts
        sums = columns.sums_over_rows(spread.reshape(-1, rows).T)  # (columns, terms · others)
        by_class = sums.T.reshape(terms, others, columns.shape[1])
        crossed = np.tensordot(by_class, _log_odds_of_basis(others + 1), (1, 1))
        return crossed.reshape(terms, columns.shape[1] * others)

    def _information_of_columns(self, columns: DesignMatrix, counts: Array, shares: Array) -> Array:
        n, k = columns.shape[1], self.n_other_classes
        # Σ v x xᵀ ⊗ (diag(p) − p pᵀ): first minus the products p_k p_l, then the diagonal p_k
        by_class = [columns.with_scaled_rows(factors) for factors in shares * np.sqrt(counts)]
        table = -DesignMatrix.side_by_side(by_class).gram_matrix().reshape(k, n, k, n)
        for c in range(k):
            table[c, :, c] += columns.gram_matrix(shares[c] * counts)
        basis = _log_odds_of_basis(k + 1)
        curved: Array = np.einsum("ak,kjlh,bl->jahb", basis, table, basis, optimize=True)
        return np.reshape(curved, (n * k, n * k))


@cache
def _log_odds_of_basis(n: int) -> Array:
    """Return the odds by each vector of `_orthonormal_basis`, (n − 1, n − 1)."""
    return np.ascontiguousarray(log_odds_of_scores(_orthonormal_basis(n).T).T)


@cache
def _orthonormal_basis(n: int) -> Array:
    """Return an orthonormal basis of the vectors that sum to 0, (n, n − 1).

    Example: for n = 3, its columns are (1, −1, 0) / √2 and (1, 1, −2) / √6.
    """
    basis = np.triu(np.ones((n, n - 1)))
    basis[np.arange(1, n), np.arange(n - 1)] = -np.arange(1.0, n)
    return np.asarray(basis / np.linalg.norm(basis, axis=0))


@dataclass(frozen=True)
class Powers:
    """The best powers of terms: a common one, one per term, (terms,), and the objective."""

    common: float
    single: Array
    objective: float
    log_likelihood: float


def best_powers(
    terms: Array,
    classes: Codes,
    weights: Array,
    start: Powers | None = None,
    offset: Array | float = 0.0,
) -> Powers:
    """Return the best common power of terms, and the best powers around it.

    The common power τ maximizes Σ v ln P(y) − ½ (τ − 1)², with all powers τ. The powers w of single
    terms maximize Σ v ln P(y) − (3/2) Σ (w − τ)². ``terms`` are (terms, classes − 1, rows) odds,
    and ``weights`` count the rows. The search may start from the powers of similar terms.
    """
    begin = 1.0 if start is None else start.common
    common = best_common_power(terms.sum(axis=0), classes, weights, begin, offset)
    mean = np.full(len(terms), common)
    problem = LogisticProblem([terms], classes, weights, offset=offset)
    ridges, begin_single = np.full(len(terms), PRECISION), mean if start is None else start.single
    single, total, _ = best_weights(problem, mean, ridges, begin_single)
    likelihood = log_likelihood(total, classes, weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def best_common_power(
    total: Array, classes: Codes, weights: Array, start: float = 1.0, offset: Array | float = 0.0
) -> float:
    """Return the best power of the sum of all terms, (classes − 1, rows) odds."""
    problem = LogisticProblem([total[None]], classes, weights, offset=offset)
    ridge = np.full(1, COMMON_PRECISION)
    [power], _, _ = best_weights(problem, np.ones(1), ridge, np.array([start]))
    return float(power)


def best_weights(
    x: LogisticProblem,
    mean: Array,
    ridges: Array,
    start: Array,
    close: float = _CLOSE,
    curvature: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return weights w that maximize Σ v ln P(y) − ½ Σ λ (w − mean)², odds and posteriors of rows.

    Newton's method with steps halved until the objective increases. Conjugate gradients find the
    steps, with an earlier Hessian, possibly of a subset of rows, as preconditioner; see
    `LogisticProblem.information_or_factor`.
    """
    weights, total = start, x.offset + x.log_odds_at_weights(start)

    def objective(weights: Array, total: Array) -> tuple[float, Array]:
        logs = _log_sum_of_odds(total)
        likelihood = x.counts @ (log_odds_of_own_class(total, x.classes) - logs)
        return float(likelihood - 0.5 * (ridges @ (weights - mean) ** 2)), logs

    solve = None if curvature is None else solver_and_variances(curvature, ridges)[0]
    value, logs = objective(weights, total)
    size = float(x.counts.sum())  # rounding errors of the value grow with it
    for _ in range(200):
        posteriors = np.exp(total - logs)
        slope = x.gradient(posteriors) - ridges * (weights - mean)
        if solve is None:
            solve = x.newton_solver(posteriors, ridges)
        times_information = partial(x.penalized_information_times, posteriors, ridges)
        step, rounds = _conjugate_gradients(times_information, slope, solve)
        move, gain, length = x.log_odds_at_weights(step), float(slope @ step), 1.0
        for _ in range(40):
            reached, logs = objective(weights + length * step, total + length * move)
            if reached >= value - 1e-13 * max(abs(value), size):
                break
            length /= 2
        else:
            break
        weights, total, value = weights + length * step, total + length * move, reached
        if gain <= close * max(1.0, abs(value)):
            break
        if length < 1 or rounds > _MOST_ROUNDS:
            solve = None
    return weights, total, np.exp(total - _log_sum_of_odds(total))


def _conjugate_gradients(times: Solve, slope: Array, precondition: Solve) -> tuple[Array, int]:
    """Return the solution of a linear system by conjugate gradients, and the number of steps."""
    residual, step = slope, precondition(slope)
    direction, result, size = step, np.zeros_like(slope), float(slope @ step)
    first, rounds = size, 0
    # 1e-2: reduction of the squared error of a step by conjugate gradients
    while rounds <= len(slope) and size > 1e-2 * first:
        rounds += 1
        product = times(direction)
        height = float(direction @ product)
        if height <= 1e-200:  # the slope is a rounding error
            break
        length = size / height
        result, residual = result + length * direction, residual - length * product
        step = precondition(residual)
        size, before = float(residual @ step), size
        direction = step + size / before * direction
    return result, rounds


def _cholesky(table: Array) -> Array:
    """Return the lower factor of a matrix that is positive definite up to rounding."""
    for jitter in (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0):
        with suppress(np.linalg.LinAlgError):
            if jitter:
                size: float = np.abs(np.diagonal(table)).max()
                return np.asarray(np.linalg.cholesky(table + jitter * size * np.eye(len(table))))
            return np.asarray(np.linalg.cholesky(table))
    raise ValueError(
        "the weights of the rows differ too much for leave-one-out; use smaller weights"
    )


def solver_and_variances(curvature: Array, ridges: Array) -> tuple[Solve, Callable[[], Array]]:
    """Return functions that solve (H + Λ) x = slope, and diag (H + Λ)⁻¹, from H or A, A Aᵀ = H."""
    from scipy.linalg import lapack, solve_triangular  # slow to import

    size, width = curvature.shape
    if not width:  # old versions of SciPy do not solve empty systems
        return (lambda slope: (slope.T / ridges).T), (lambda: 1 / ridges)
    if size == width:
        upper = _cholesky(curvature + np.diag(ridges)).T
        return (
            lambda slope: lapack.dpotrs(upper, slope)[0],
            lambda: np.square(lapack.dtrtri(upper)[0]).sum(axis=1),
        )
    scaled = curvature / ridges[:, None]
    inner = np.linalg.cholesky(np.eye(width) + curvature.T @ scaled).T

    def solve(slope: Array) -> Array:
        return np.asarray((slope.T / ridges).T - scaled @ lapack.dpotrs(inner, scaled.T @ slope)[0])

    def variances() -> Array:
        half = solve_triangular(inner, scaled.T, trans=1, check_finite=False)
        return np.asarray(1 / ridges - np.einsum("wp,wp->p", half, half))

    return solve, variances


def _information_factor(terms: Array, weights: Array, posteriors: Array) -> Array:
    """Return A with A Aᵀ = Σ v (Σ_k p_k x_k x_kᵀ − x̄ x̄ᵀ), (terms, (classes − 1) · rows).

    A row has the columns √(v p_k) (x_k − α x̄) with x̄ = Σ p_k x_k, s = Σ p_k, α s = 1 − √(1 − s).
    """
    total: Array = posteriors.sum(axis=0)
    share: Array = (1 - np.sqrt(np.maximum(1 - total, 0.0))) / np.where(total > 0, total, 1.0)
    root: Array = terms - np.einsum("tkr,kr->tr", terms, posteriors * share)[:, None]
    root *= np.sqrt(posteriors * weights)
    return root.reshape(len(terms), posteriors.size)


def fit_weights_and_ridges(
    x: LogisticProblem,
    mean: Array,
    blocks: Positions,
    ridges: Sequence[float],
    *,
    search: bool = True,
) -> tuple[Array, Array, Array]:
    """Return the best weights around their means, the odds of rows, and the ridges of blocks.

    ``blocks`` has the number of the block of each weight. In a ``search``, all ridges except the
    first maximize the evidence: λ_b ← γ_b / |w_b|², where γ_b = p_b − λ_b tr_b (H + Λ)⁻¹ is the
    effective number of weights. If H is large, its diagonal stands for it. With one block or one
    class, the means are kept.
    """
    amounts, weights = np.array(ridges, dtype=np.float64), mean
    if len(amounts) == 1 or not x.n_other_classes:
        return mean, x.offset + x.log_odds_at_weights(mean), amounts
    curvature = None
    for _ in range(4 if search else 0):
        full = amounts[blocks]
        weights, _, posteriors = best_weights(x, mean, full, weights, CLOSE_ENOUGH, curvature)
        if x.has_small_information:
            curvature = x.information_or_factor(posteriors)
            effective = 1 - full * solver_and_variances(curvature, full)[1]()
        else:
            effective = 1 - full * x.solver_and_variances_by_parts(posteriors, full)[1]()
        effective_by_block = np.bincount(blocks, effective, len(amounts))
        squares_by_block = np.bincount(blocks, (weights - mean) ** 2, len(amounts))
        wanted = effective_by_block / np.maximum(squares_by_block, 1e-9)
        wanted = np.clip(wanted, amounts / _FACTOR, amounts * _FACTOR)
        amounts[1:] = np.clip(wanted, _LEAST, _MOST)[1:]
    close = _CLOSE if search else CLOSE_ENOUGH
    weights, total, _ = best_weights(x, mean, amounts[blocks], weights, close, curvature)
    return weights, total, amounts
