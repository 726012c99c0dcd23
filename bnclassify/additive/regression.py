"""Penalized multinomial regression on contrasts, by a quasi-Newton method.

The score of class c in a row is a constant plus Σ_t table_t[cell_t, c], and a
table is a linear function of weights, table_t = B_t W_t. The weights W maximize

    Σ_rows w log P(class | row) − ½ Σ λ |W|²,

where λ is the precision (one over the prior variance) of each weight. No
design matrix is made: the scores of rows are sums of entries of tables, and
slopes are sums of residuals by cell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..tools.arrays import BLOCK_ROWS, Array, Codes, Positions, log_normalize, slices
from ..tools.immutable import cached_property
from .variances import OF_CONSTANT, posteriors_of, sum_of_products

_LEAST_CURVATURE = 1e-4
_MEMORY = 20  # steps that L-BFGS remembers
_MOST_STEPS = 500
_REFRESHED = (0, 4, 10)  # steps with new curvatures


class Term(NamedTuple):
    """A table of the groups of a feature, or of the cells of two, as contrasts times weights.

    ``groups`` has the group of each row, one array per side, and ``contrasts``
    are (groups, k). The weights are those of the products of contrasts of both
    sides. ``precision`` is one over their prior variance, of a feature 1.
    """

    groups: tuple[Codes, ...]
    contrasts: tuple[Array, ...]
    precision: float

    @property
    def n_cells(self) -> int:
        return int(np.prod([len(z) for z in self.contrasts]))

    @property
    def n_weights(self) -> int:
        return int(np.prod([z.shape[1] for z in self.contrasts]))

    def cells(self, rows: Positions | slice) -> Codes:
        """Return the cells of rows."""
        first, *others = [groups[rows].astype(np.int32) for groups in self.groups]
        return first if not others else first * len(self.contrasts[1]) + others[0]

    def at(self, rows: Positions) -> Term:
        """Return the term of some rows."""
        return self._replace(groups=tuple([groups[rows] for groups in self.groups]))

    def table(self, weights: Array) -> Array:
        """Return the table of weights, (weights, classes) -> (cells, classes).

        With the contrasts A and B of the sides, and the weights W of a class, it is A W Bᵀ.
        """
        return _along_sides(self.contrasts, weights)

    def sums(self, of_cells: Array) -> Array:
        """Return Bᵀ times sums of cells, (cells, classes) -> (weights, classes)."""
        return _along_sides([z.T for z in self.contrasts], of_cells)


def _along_sides(matrices: Sequence[Array], values: Array) -> Array:
    """Return the Kronecker product of one or two matrices, times values."""
    if len(matrices) == 1:
        return np.asarray(matrices[0] @ values)
    (first, second), n = matrices, values.shape[1]
    values = first @ values.reshape(first.shape[1], second.shape[1] * n)
    values = second @ values.reshape(len(first), second.shape[1], n)
    return np.asarray(values.reshape(len(first) * len(second), n))


@dataclass(frozen=True, eq=False)
class Regression:
    """The terms of the scores, the (rows,) classes and weights of rows, and a first constant.

    ``base`` are the rows by which curvatures are approximated.
    """

    terms: Sequence[Term]
    classes: Positions
    weights: Array
    constant: Array
    base: Positions

    @cached_property
    def class_contrasts(self) -> Array:
        """Orthonormal contrasts V of the classes, (classes, classes − 1), so that none is special.

        Weights are those of contrasts. Their squares sum to the same as those
        of the scores, W Vᵀ.
        """
        n = len(self.constant)
        return np.asarray(np.linalg.qr(np.hstack([np.ones((n, 1)), np.eye(n)[:, 1:]]))[0][:, 1:])

    @cached_property
    def _ends(self) -> Positions:
        return np.cumsum([1, *[term.n_weights for term in self.terms]])

    @cached_property
    def _cell_ends(self) -> Positions:
        return np.cumsum([0, *[term.n_cells for term in self.terms]])

    @cached_property
    def _precisions(self) -> Array:
        """λ of the constant, which is nearly free, and of all other weights, (weights, 1)."""
        return np.repeat(
            [1 / OF_CONSTANT, *[term.precision for term in self.terms]],
            [1, *[term.n_weights for term in self.terms]],
        )[:, None]

    def tables(self, weights: Array) -> list[Array]:
        """Return the table of each term, (cells, classes − 1), by contrasts of classes."""
        pairs = zip(self.terms, self._ends[:-1], self._ends[1:], strict=True)
        return [term.table(weights[start:end]) for term, start, end in pairs]

    @cached_property
    def _blocks(self) -> list[tuple[slice, Any]]:
        """Which cells of all terms blocks of rows have, (rows, cells), sparse."""
        from scipy.sparse import csr_array  # slow to import

        n_terms, starts, blocks = len(self.terms), self._cell_ends, list[tuple[slice, Any]]()
        ones = np.ones(min(len(self.classes), BLOCK_ROWS) * n_terms)  # the same in all blocks
        for rows in slices(len(self.classes), most=BLOCK_ROWS):
            n = len(self.classes[rows])
            cells = np.empty((n, n_terms), dtype=np.int32)
            for k, term in enumerate(self.terms):
                cells[:, k] = term.cells(rows) + starts[k]
            ends = np.arange(n + 1, dtype=np.int32) * n_terms
            marks = csr_array((ones[: cells.size], cells.ravel(), ends), shape=(n, starts[-1]))
            blocks.append((rows, marks))
        return blocks

    def changes(self, weights: Array) -> Array:
        """Return X W: what the terms add to the scores of rows, (rows, classes − 1)."""
        entries = np.concatenate([np.zeros((0, weights.shape[1])), *self.tables(weights)])
        return np.asarray(np.vstack([marks @ entries for _, marks in self._blocks]) + weights[0])

    def slopes(self, residuals: Array) -> Array:
        """Return Xᵀ R for (rows, classes − 1) residuals, (weights, classes − 1)."""
        sums: Any = sum(marks.T @ residuals[rows] for rows, marks in self._blocks)
        parts = [residuals.sum(axis=0, keepdims=True)]
        for term, start, end in zip(
            self.terms, self._cell_ends[:-1], self._cell_ends[1:], strict=True
        ):
            parts.append(term.sums(sums[start:end]))
        return np.vstack(parts)

    def scores(self, weights: Array) -> Array:
        """Return the log posteriors of rows, (rows, classes)."""
        return log_normalize(self.constant + self.changes(weights) @ self.class_contrasts.T)

    def fit(self, tolerance: float = 1e-5) -> Array:
        """Return the weights with the largest penalized likelihood, (weights, classes − 1).

        L-BFGS, whose first guess of the inverse curvature is that of one
        curvature per class. Scores are linear in a step, so that its length is
        found without the design. It ends if the slope times the step, twice the
        distance from the maximum, is below ``tolerance`` nats per row, of the
        training rows and 100 others.
        """
        contrasts = self.class_contrasts
        weights = np.zeros((int(self._ends[-1]), contrasts.shape[1]))
        if not self.terms or not weights.size:  # the constant is that of the class shares
            return weights
        tolerance *= 100 + float(self.weights.sum())
        scores = np.repeat(self.constant[:, None], len(self.classes), axis=1)  # (classes, rows)
        posteriors = posteriors_of(scores, axis=0)
        step = slope = np.zeros(weights.shape)
        past = deque[tuple[Array, Array, float]](maxlen=_MEMORY)  # steps, bends, their products
        for turn in range(_MOST_STEPS):
            residuals = (contrasts.T @ self._residuals(posteriors)).T
            new_slope = self._precisions * weights - self.slopes(residuals)
            if turn:
                bend = new_slope - slope
                past.append((step, bend, float((step * bend).sum())))
            slope = new_slope
            if turn in _REFRESHED:
                precondition = self._preconditioner(posteriors.T, by_class=turn > 0)
            direction = -_inverse_curvature_times(slope, past, precondition)
            gain = -float((slope * direction).sum())
            if gain < tolerance:
                break
            along = contrasts @ self.changes(direction).T
            bend_of_prior = float((self._precisions * direction**2).sum())
            length, posteriors = self._step_length(scores, posteriors, along, gain, bend_of_prior)
            scores += length * along
            step = length * direction
            weights = weights + step
        return weights

    def _residuals(self, posteriors: Array) -> Array:
        """Return w (y − p), (classes, rows)."""
        residuals = posteriors * -self.weights
        residuals[self.classes, np.arange(len(self.classes))] += self.weights
        return residuals

    def _step_length(
        self, scores: Array, posteriors: Array, along: Array, gain: float, bend_of_prior: float
    ) -> tuple[float, Array]:
        """Return the length at which the loss stops to fall, to a third, and the posteriors there.

        The slope of the convex loss along a step rises from −``gain``, so that
        regula falsi encloses its root. ``along`` is what the step adds to the
        scores, (classes, rows).
        """
        expected = (posteriors * along).sum(axis=0) @ self.weights
        low, below, high, above, t = 0.0, -gain, np.inf, np.inf, 1.0
        for _ in range(20):
            posteriors = posteriors_of(scores + t * along, axis=0)
            rise = (posteriors * along).sum(axis=0) @ self.weights - expected
            now = float(rise) + t * bend_of_prior - gain
            if abs(now) <= 0.3 * gain:
                break
            if now < 0:
                low, below = t, now
            else:
                high, above = t, now
            if high == np.inf:
                t *= 4
            else:
                share = float(np.clip(below / (below - above), 0.1, 0.9))
                t = low + (high - low) * share
        else:
            posteriors = posteriors_of(scores + t * along, axis=0)
        return t, posteriors

    def draw(self, weights: Array, n: int) -> list[Array]:
        """Return draws from the normal approximation of the posterior, N(weights, H⁻¹).

        If F Fᵀ is the curvature of a row, the solution of H δ = Xᵀ F ε₁ + √λ ε₂
        for standard normal ε has the covariance H⁻¹. The curvature diag(p) − p
        pᵀ has F = diag(√p) − p √pᵀ.
        """
        from scipy.sparse.linalg import LinearOperator, cg  # slow to import

        if not self.terms or not weights.size:
            return [weights] * n
        posteriors = np.exp(self.scores(weights))
        roots, rng = np.sqrt(posteriors), np.random.default_rng(0)
        precondition, shape = self._preconditioner(posteriors), weights.shape

        def operator(function: Callable[[Array], Array]) -> Any:
            def on_vector(flat: Array) -> Array:
                return function(flat.reshape(shape)).ravel()

            return LinearOperator((weights.size, weights.size), matvec=on_vector, dtype=np.float64)

        curvature = operator(lambda direction: self._curvature_times(posteriors, direction))
        drawn = list[Array]()
        for _ in range(n):
            noise = roots * rng.standard_normal(posteriors.shape)
            noise -= posteriors * noise.sum(axis=1, keepdims=True)
            slope = self.slopes((np.sqrt(self.weights)[:, None] * noise) @ self.class_contrasts)
            slope += np.sqrt(self._precisions) * rng.standard_normal(shape)
            found, _ = cg(
                curvature, slope.ravel(), rtol=1e-3, maxiter=200, M=operator(precondition)
            )
            drawn.append(weights + found.reshape(shape))
        return drawn

    def _curvature_times(self, posteriors: Array, direction: Array) -> Array:
        """Return the Hessian of the loss times a direction, both (weights, classes − 1)."""
        contrasts = self.class_contrasts
        change = self.changes(direction) @ contrasts.T
        change -= (posteriors * change).sum(axis=1, keepdims=True)
        curved = (posteriors * change * self.weights[:, None]) @ contrasts
        return self.slopes(curved) + self._precisions * direction

    @cached_property
    def _share_of_base(self) -> float:
        """The share of the curvature of all rows that is that of the base; the rest is diagonal."""
        return 0.8 + 0.2 * len(self.base) / len(self.classes)

    @cached_property
    def _scaled(self) -> tuple[list[Term], Array]:
        """Terms whose precisions are those of the prior and the diagonal rest, and their scales.

        With the rest c of the curvature, a weight of a contrast z has the
        precision λ + c mean(z²), about that of z √(λ / (λ + c mean(z²))) with the
        precision λ. In a pair, both sides are scaled, by the root of c / λ.
        """
        n, shares = float(self.weights.sum()), np.exp(self.constant)
        rest = (1 - self._share_of_base) * n * float(shares @ (1 - shares)) / (len(shares) - 1)
        of_pairs = [t.precision for t in self.terms if len(t.contrasts) == 2]
        of_pair = float(np.median(of_pairs)) if of_pairs else 1.0  # one, as pairs share sides
        found, terms, scales = dict[int, tuple[Array, Array]](), [], [np.ones(1)]
        for term in self.terms:
            ratio = np.sqrt(rest / of_pair) if len(term.contrasts) == 2 else rest
            for groups, z in zip(term.groups, term.contrasts, strict=True):
                if id(z) not in found:
                    squares = np.bincount(groups, self.weights, len(z)) @ z**2 / n
                    scale = 1 / np.sqrt(1 + ratio * squares)
                    found[id(z)] = scale, z * scale
            own, contrasts = zip(*[found[id(z)] for z in term.contrasts], strict=True)
            scales.append(own[0] if len(own) == 1 else np.outer(*own).ravel())
            terms.append(term._replace(contrasts=contrasts))
        return terms, np.concatenate(scales)[:, None]

    @cached_property
    def _of_base(self) -> Regression:
        """The regression of the rows of the base, with scaled terms."""
        terms = [term.at(self.base) for term in self._scaled[0]]
        rows = np.arange(len(self.base))
        return Regression(
            terms, self.classes[self.base], self.weights[self.base], self.constant, rows
        )

    @cached_property
    def _kernel(self) -> Array:
        """The prior covariances of the scores of the base, (rows, rows)."""
        return OF_CONSTANT + covariances(self._of_base.terms, len(self.base))

    def _mean_curvatures(self, posteriors: Array) -> Array:
        """Return the curvature of rows along a difference of two scores, the mean over classes."""
        d = (1 - (posteriors**2).sum(axis=1)) / (posteriors.shape[1] - 1)
        return np.asarray(np.maximum(d, _LEAST_CURVATURE) * self.weights)

    def _preconditioner(self, posteriors: Array, by_class: bool = True) -> Callable[[Array], Array]:
        """Return a function that solves (Xᵀ D X + Λ) z = r, with a curvature D for each class.

        X has the rows of the base whose curvature is largest, scaled, and D
        their share of the curvature of all rows: z = Λ⁻¹ (r − Xᵀ (D⁻¹ + X Λ⁻¹
        Xᵀ)⁻¹ X Λ⁻¹ r). Two classes have equal curvatures; ``by_class`` is False
        at the start, where those of each class are the same in all rows.
        """
        from scipy.linalg.lapack import dpotrf, dpotrs  # slow to import

        n, scales, factors = posteriors.shape[1], self._scaled[1], list[Any]()
        if n > 2 and by_class:
            contrasts, most = self.class_contrasts, int(len(self.base) * (2 / n) ** 0.5)
            curvatures = n / (n - 1) * posteriors * (1 - posteriors)
            curvatures = np.maximum(curvatures, _LEAST_CURVATURE / n) * self.weights[:, None]
        else:
            contrasts, most = np.eye(n - 1), len(self.base)
            curvatures = self._mean_curvatures(posteriors)[:, None]
        for d in curvatures.T:
            sizes = np.round(d[self.base] / d.max(), 9)
            rows = np.flatnonzero(sizes >= np.sort(sizes)[-most])
            own = d[self.base[rows]]
            root = np.sqrt(own * (self._share_of_base * float(d.sum()) / float(own.sum())))[:, None]
            system = root * self._kernel[np.ix_(rows, rows)] * root.T
            system[np.diag_indices(len(rows))] += 1
            factors.append((rows[:, None], root, dpotrf(system, lower=1, overwrite_a=1)[0]))

        def solve(r: Array) -> Array:
            found = scales * r / self._precisions
            changes = self._of_base.changes(found) @ contrasts.T
            inner, columns = np.zeros(changes.shape), np.arange(changes.shape[1])
            for c, (rows, root, factor) in enumerate(factors):
                at = rows, columns if len(factors) == 1 else columns[c : c + 1]
                inner[at] = root * dpotrs(factor, root * changes[at], lower=1)[0]
            return scales * (found - self._of_base.slopes(inner @ contrasts) / self._precisions)

        return solve

    def left_out_posteriors(
        self, weights: Array, power: float, rows: Positions
    ) -> tuple[Array, tuple[Any, Array]]:
        """Return the posteriors of some rows, each without the row, by one step of Newton.

        The weights were multiplied by a power, and so are their changes. Also
        return z and d of the rows, of which d_j z_i · z_j is the share of the
        residual of row i that the fit adds to the posterior of row j.

        With the leverage h = xᵀ (Xᵀ D X + Λ)⁻¹ x and the curvature d of a row,
        the mean over classes, its scores change by (p − y) h / (1 − d h). With
        the kernel K = L Lᵀ of the base and the kernel k of a row with it, h =
        zᵀ (1 + Lᵀ D L)⁻¹ z, z = L⁻¹ k.
        """
        from scipy.linalg import solve_triangular  # slow to import

        posteriors = np.exp(self.scores(weights))
        d, n = self._mean_curvatures(posteriors), len(self.base)
        of_base = d[self.base] * (self._share_of_base * float(d.sum()) / float(d[self.base].sum()))
        kernel = self._kernel.copy()
        kernel[np.diag_indices(n)] *= 1 + 1e-6
        lower = np.linalg.cholesky(kernel)
        system = lower.T @ (of_base[:, None] * lower)
        system[np.diag_indices(n)] += 1
        inner = lower @ np.linalg.cholesky(system)  # K + K D K = inner innerᵀ
        vectors = np.empty((len(rows), n), dtype="f")
        for block in slices(len(rows), most=4000):
            terms = [t.at(np.append(self.base, rows[block])) for t in self._scaled[0]]
            k = OF_CONSTANT + covariances(terms, n, "f")[n:]
            vectors[block] = solve_triangular(inner, k.T, lower=True, check_finite=False).T
        vectors *= np.float32(power**0.5)
        leverages = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
        of_rows, one = posteriors[rows], np.minimum(self.weights, 1.0)
        bends = (d * one / np.maximum(self.weights, 1e-300))[rows]
        change = one[rows] * leverages / np.maximum(1 - bends * leverages, 0.05)
        residuals = of_rows.copy()
        residuals[np.arange(len(rows)), self.classes[rows]] -= 1
        scores = np.log(np.maximum(of_rows, 1e-300)) + residuals * change[:, None]
        return posteriors_of(scores, axis=1), (vectors, bends)


def covariances(terms: Sequence[Term], n: int, dtype: str = "d") -> Array:
    """Return Σ products of contrasts / λ of rows with the first n of them, (rows, n)."""
    of_rows = {
        id(z): z.astype(dtype)[groups]
        for term in terms
        for groups, z in zip(term.groups, term.contrasts, strict=True)
    }
    keys = [[id(z) for z in term.contrasts] for term in terms]
    total: Array = np.zeros((len(terms[0].groups[0]), n), dtype=dtype)
    if single := [of_rows[key[0]] for key in keys if len(key) == 1]:
        z = np.hstack(single)
        total += z @ z[:n].T
    sides = [*dict.fromkeys([side for key in keys if len(key) == 2 for side in key])]
    variances = np.zeros((len(sides), len(sides)))
    for key, term in zip(keys, terms, strict=True):
        if len(key) == 2:
            variances[sides.index(key[0]), sides.index(key[1])] = 1 / term.precision
    for rows in slices(len(total) if sides else 0, most=100):
        kernels = np.array([of_rows[side][rows] @ of_rows[side][:n].T for side in sides])
        total[rows] += sum_of_products(kernels, variances)
    return total


def _inverse_curvature_times(
    slope: Array,
    past: Sequence[tuple[Array, Array, float]],
    precondition: Callable[[Array], Array],
) -> Array:
    """Return the inverse curvature of L-BFGS times a slope (Nocedal and Wright, algorithm 7.4)."""
    found, shares = slope.copy(), []
    for step, bend, product in reversed(past):
        shares.append(float((step * found).sum()) / product)
        found -= shares[-1] * bend
    found = precondition(found)
    for (step, bend, product), share in zip(past, reversed(shares), strict=True):
        found = found + (share - float((bend * found).sum()) / product) * step
    return found
