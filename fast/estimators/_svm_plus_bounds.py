"""What an SVM+ or SVM-2K may claim: bounds on P and D at its attributes that no rounding undercuts.

P is that of the model made feasible: rho is raised by what a margin lacks (own slacks one by one;
signed functions are multiplied instead) and by what rounding may hide. D is that of the multipliers
made feasible. Where D needs

1/2 gamma'Q gamma = max_g sum_i gamma_i g(z_i) - 1/2 <g, M g>,   M = lam I + sum_i c_i zt_i zt_i'

the maximiser is computed in float64 and not trusted: missing M g = sum gamma_i zt_i by r costs
||r||^2/(2 lam), since M >= lam I.

A kernel matrix K is positive semidefinite up to the rounding of its entries. For a model with the
coefficients p and multipliers whose own model has the coefficients a, P >= D + 1/2 (p - a)'K(p - a)
holds for any symmetric K: D is lowered where that last term is negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from fast.solvers.kernel_rows import KernelRows, RowGram
from fast.solvers.ridge import cholesky
from fast.solvers.rounding import Gram, Rows, confirmed, down, precisions, up
from fast.solvers.rows import dense, is_sparse
from fast.solvers.two_views import repaired

FLOAT = 2.3e-16  # multipliers given in float64 satisfy equations up to this
LARGEST_FACTOR = 3000  # unknowns of g up to which its equation is solved once more
REFINED = 3
PRODUCTS = 20  # with a kernel matrix, and as long as everything else
Q_ERROR = 1e-12  # relative error of a deformed kernel in float64, beyond that


class Claims:
    """Bounds for the binary problems of one fit; what they share is computed once.

    Parameters
    ----------
    problem : fast.estimators._svm_plus_training.Problem
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        matrices = [m for m in (problem.X, problem.K, problem.Z, problem.Kz) if m is not None]
        times = 1 if problem.K is None and problem.Kz is None else PRODUCTS
        self.levels = precisions(max(m.shape[0] * m.shape[1] for m in matrices), times)
        self.made: dict[Any, Level] = {}

    def finalize(self, solution: Any, y: np.ndarray) -> None:
        """Let the result of a solution claim no more than its attributes are worth."""
        solution.result.claim(*self.of(solution, y))

    def of(self, solution: Any, y: np.ndarray) -> tuple[float, float]:
        """(P, D) of one solution."""

        def bounds(real: Any) -> tuple[float, float]:
            kind = TwoViewLevel if self.problem.tie and not self.problem.plain else Level
            level = self.made.setdefault(real, kind(self.problem, real))
            return level.primal(solution, y), level.dual(solution, y)

        claimed = solution.result.primal, solution.result.dual
        return confirmed(self.levels, bounds, claimed, self.problem.tol)


class Level:
    """The problem in one arithmetic."""

    def __init__(self, problem: Any, real: Any) -> None:
        self.problem, self.real = problem, real
        self.eps = float(np.finfo(real).eps)
        self.x = self._space(problem.X, problem.K)
        self.z = None if problem.plain else self._space(problem.Z, problem.Kz)
        self.cost = np.asarray(problem.omega, dtype=real) * real(problem.C)
        self.lam, own = real(problem.lam), 0.0 if problem.plain else problem.free_slack
        self.delta = real(own) / np.asarray(problem.omega, dtype=real)
        self._solver: Any = None

    def _space(self, rows: Any, K: Any) -> Any:
        if isinstance(K, KernelRows):
            return RowGram(K, self.real)
        return Gram(K, self.real) if rows is None else Rows(rows, self.real)

    def _vector(self, given: Any, coefficients: Any) -> Any:
        return np.asarray(coefficients if given is None else given, dtype=self.real)

    # ---- the model

    def _scores(self, space: Any, given: Any, coefficients: Any, offset: float) -> Any:
        """Scores, their rounding, and the squared norm with its own."""
        w, b = self._vector(given, coefficients), self.real(offset)
        f = space.values(w) + b
        return f, space.slip(w) + 4 * self.eps * (1 + abs(b) + abs(f)), space.square(w)

    def primal(self, solution: Any, y: np.ndarray) -> float:
        """Upper bound on P."""
        problem, eps, cost = self.problem, self.eps, self.cost
        f, slip_f, (square, slip) = self._scores(self.x, solution.w, solution.coef, solution.b)
        total, sizes, stretch = (square + slip) / 2, (square + slip) / 2, self.real(1)
        need = 1 - y * f + slip_f
        if self.z is None:
            xi = np.maximum(need, 0)
        else:
            v, rho = self._vector(solution.v, solution.correction_coef), self.real(solution.rho)
            least = np.maximum(need, 0) if problem.nonneg else need
            values = self.z.values(v)
            slip_g = self.z.slip(v) + 4 * eps * (abs(rho) + abs(values))
            sign = y if problem.signed else self.real(1)
            if problem.free_slack == 0 and problem.signed:
                xi, own = y * (values + rho), self.real(0)
                margin = (y * f + xi - slip_f - slip_g).min()
                if not margin > 0:
                    return np.inf
                stretch = 1 / min(margin, self.real(1)) ** 2  # of P, for what makes it feasible
            elif problem.free_slack == 0:
                rho += max(self.real(0), (least + slip_g - values - rho).max())
                xi = values + rho
                own = self.real(0)
            else:
                kappa, g = self.lam / self.delta, sign * (values + rho)
                xi = kappa * g / (cost + kappa) if problem.squared else g - cost / kappa
                xi = np.maximum(xi, least)
                own = abs(xi - g) + slip_g + 4 * eps * (abs(xi) + abs(g))
                own = (kappa / 2 * own**2).sum()
                slip_g = 0 * slip_g
            xi = abs(xi) + slip_g if problem.squared else xi + slip_g
            square, slip = self.z.square(v)
            part = self.lam / 2 * (square + slip) + own
            part += self.lam / 2 * rho * rho if problem.squared else 0
            total, sizes = total + part, sizes + part
        losses = cost * (xi * xi / 2 if problem.squared else xi)
        total, sizes = total + losses.sum(), sizes + abs(losses).sum()
        total += (len(y) + 16) * eps * sizes
        return up(total if stretch == 1 else stretch * total * (1 + 8 * eps))

    # ---- the multipliers

    def dual(self, solution: Any, y: np.ndarray) -> float:
        """Lower bound on D."""
        problem, n, eps, cost = self.problem, len(y), self.eps, self.cost
        alpha = np.maximum(np.asarray(solution.alpha, dtype=self.real), 0)
        if problem.plain and not problem.squared:
            alpha = np.minimum(alpha, cost)
        alpha = self._balanced(alpha, y)
        beta = np.zeros(n, dtype=self.real)
        if problem.nonneg and not problem.plain:
            beta = np.maximum(np.asarray(solution.beta, dtype=self.real), 0)
        if not (problem.squared or problem.plain):
            alpha, beta = self._of_mass(alpha, beta, y)
        gamma = alpha + beta
        sign = y if problem.signed else self.real(1)
        square = self.x.pulled_square(alpha * y, alpha)
        square += self.x.negative(self._vector(solution.w, solution.coef), alpha * y, alpha)
        if self.z is None:
            part = (alpha * alpha / cost).sum() if problem.squared else self.real(0)
        elif not problem.squared:
            off = sign * (gamma - cost)
            part = self.z.pulled_square(off, gamma + cost) / self.lam
            part += self._negative(solution, off, gamma + cost)
            off = abs(off) + (n + 8) * eps * (gamma + cost)
            part += (self.delta / self.lam * off**2).sum()
        else:
            if min(self.z.n, self.z.width + 1) > LARGEST_FACTOR:
                return self._believed(solution, gamma)
            part = self._deformed_square(sign * gamma, solution)
        gain = alpha.sum()
        return down(gain - (square + part) / 2 - (n + 16) * eps * (gain + square + part))

    def _balanced(self, alpha: Any, y: np.ndarray) -> Any:
        """The heavier class scaled down to the sum of the other."""
        sums = alpha[y > 0].sum(), alpha[y < 0].sum()
        least = min(sums)
        if not least > 0:
            return 0 * alpha
        return alpha * np.where(y > 0, least / sums[0], least / sums[1])

    def _of_mass(self, alpha: Any, beta: Any, y: np.ndarray) -> tuple[Any, Any]:
        """Multipliers of the hinge, whose sum is that of the costs."""
        total, mass = self.cost.sum(), alpha.sum()
        if self.problem.signed:  # y'beta = y'cost
            side = y > 0 if (y * (self.cost - beta)).sum() > 0 else y < 0
            lacking = abs((y * (self.cost - beta)).sum())
            return alpha, np.where(side, beta + lacking * self.cost / self.cost[side].sum(), beta)
        if self.problem.nonneg and mass <= total:
            rest = beta if beta.any() else self.cost
            return alpha, rest * ((total - mass) / rest.sum())
        if not mass > 0:
            alpha = self._balanced(np.ones_like(alpha), y)
        return alpha * (total / alpha.sum()), 0 * beta

    def _believed(self, solution: Any, gamma: Any) -> float:
        """D as the trainer has it, less Q_ERROR of the largest entry of Q, which one knows."""
        assert self.z is not None
        diagonal = (self.z.norms**2 + 1 + self.delta.astype(np.float64)) / float(self.lam)
        largest = float(np.minimum(diagonal, 1 / np.asarray(self.cost, np.float64)).max())
        return down(solution.result.dual - Q_ERROR / 2 * largest * float(gamma.sum()) ** 2)

    def _negative(self, solution: Any, pull: Any, size: Any) -> Any:
        """Upper bound on -lam ||v - sum pull_i z_i / lam||^2, but at least 0."""
        assert self.z is not None
        v = self._vector(solution.v, solution.correction_coef)
        return self.lam * self.z.negative(v, pull / self.lam, 2 * size / self.lam)

    def _deformed_square(self, gamma: Any, solution: Any) -> Any:
        """Upper bound on gamma'Q gamma, for the model of a solution."""
        assert self.z is not None
        n, eps, cost, lam, delta = len(gamma), self.eps, self.cost, self.lam, self.delta
        theta = lam / (lam + delta * cost)
        root = np.sqrt(delta)
        v, rho = self._solve(theta * gamma)
        for _ in range(REFINED):
            g = self.z.values(v) + rho
            dv, drho = self._solve(theta * (gamma - cost * g), v, rho)
            size, step = max(abs(v).max(), abs(rho)), max(abs(dv).max(), abs(drho))
            v, rho = v + dv, rho + drho
            if step <= np.sqrt(eps) * size:  # the next one would be below eps
                break
        g = self.z.values(v) + rho
        h = root * theta * (gamma - cost * g) / lam
        xi = g + root * h
        pull = gamma - cost * xi
        size = abs(gamma) + cost * abs(xi)
        slip = self.z.slip(v) + 8 * eps * (abs(rho) + abs(g) + abs(root * h))
        # of every part of r by what it was computed from
        r_v = self._missed(pull, size + cost * slip / ((n + 8) * eps), lam, v)
        r_rho = abs(pull.sum() - lam * rho) + (cost * slip).sum()
        r_rho += (n + 8) * eps * (size.sum() + lam * abs(rho))
        r_h = (
            abs(root * pull - lam * h) + root * cost * slip + 8 * eps * (root * size + lam * abs(h))
        )
        square, off = self.z.square(v)
        norm = square + rho * rho + (h * h).sum()
        value = 2 * (gamma * xi).sum() - (cost * xi * xi).sum() - lam * norm
        value += (r_v + r_rho**2 + (r_h * r_h).sum()) / lam
        value += self._negative(solution, pull, size + cost * slip / ((n + 8) * eps))
        value += lam * off + (2 * abs(pull) * slip).sum() + (cost * slip * slip).sum()
        sizes = 2 * (abs(gamma) * abs(xi)).sum() + (cost * xi * xi).sum() + lam * norm
        return value + (n + 16) * eps * sizes

    def _missed(self, pull: Any, size: Any, lam: Any, v: Any) -> Any:
        """Upper bound on ||sum pull_i z_i - lam v||^2."""
        assert self.z is not None
        if isinstance(self.z, Gram):
            return self.z.pulled_square(pull - lam * v, size + lam * abs(v))
        r = self.z.pull(pull) - lam * v
        length = np.sqrt((r * r).sum()) + 4 * self.eps * lam * np.sqrt((v * v).sum())
        return (length + (self.z.n + 8) * self.eps * (size * self.z.norms).sum()) ** 2

    def _solve(self, a: Any, v: Any = None, rho: Any = 0) -> tuple[Any, Any]:
        """About the (v, rho) with M (v, rho) = sum a_i zt_i - lam (v, rho given), own slacks gone."""
        assert self.z is not None
        if self._solver is None:
            self._solver = self._factor()
        direct, pull, weights, solve = self._solver
        given = None if v is None else np.asarray(v, dtype=np.float64)
        short = np.asarray(a, dtype=np.float64)
        if direct:
            right = pull(short)
            if given is not None:
                right -= float(self.lam) * np.append(given, float(rho))
            x = solve(right)
            return x[:-1].astype(self.real), self.real(x[-1])
        # v = sum_i c_i z_i has the coefficients c, and rho = sum c
        right = short if given is None else short - float(self.lam) * given
        c = weights * solve(right / weights)
        shift = 0.0 if given is None else float(given.sum()) - float(rho)
        return c.astype(self.real), self.real(float(c.sum()) + shift)

    def _factor(self) -> tuple[Any, ...]:
        """Cholesky factor in float64 of the smaller of lam I + Zt'diag(c theta)Zt and its dual."""
        assert self.z is not None
        lam = float(self.lam)
        reduced = np.asarray(self.cost * self.lam / (self.lam + self.delta * self.cost), np.float64)
        if isinstance(self.z, Gram):
            root = np.sqrt(reduced)
            matrix = root[:, None] * (np.asarray(self.z.K, np.float64) + 1.0) * root
            return False, None, root, _cholesky(matrix, lam)
        Z, root = self.problem.Z.astype(np.float64, copy=False), np.sqrt(reduced)
        scaled = Z.multiply(root[:, None]).tocsr() if is_sparse(Z) else root[:, None] * Z

        def pull(a: np.ndarray) -> np.ndarray:
            return np.append(Z.T @ a, a.sum())

        if Z.shape[1] < Z.shape[0]:
            edge, corner = Z.T @ reduced, np.array([[reduced.sum()]])
            blocks = [[dense(scaled.T @ scaled), edge[:, None]], [edge[None], corner]]
            return True, pull, None, _cholesky(np.block(blocks), lam)
        inner = _cholesky(dense(scaled @ scaled.T) + np.outer(root, root), lam)

        def woodbury(right: np.ndarray) -> np.ndarray:
            seen = Z @ right[:-1] + right[-1]
            return np.asarray((right - pull(root * inner(root * seen))) / lam)

        return True, pull, None, woodbury


class TwoViewLevel(Level):
    """The same of an SVM-2K."""

    def __init__(self, problem: Any, real: Any) -> None:
        super().__init__(problem, real)
        CB, D, self.free = map(real, problem.tie)
        self.bounds = np.stack(
            [self.cost, CB * (self.cost / problem.C), D * (self.cost / problem.C)]
        )

    def primal(self, solution: Any, y: np.ndarray) -> float:
        """Upper bound on P."""
        s = solution
        f, slip_f, norm = self._scores(self.x, s.w, s.coef, s.b)
        g, slip_g, other = self._scores(self.z, s.v, s.correction_coef, s.rho)
        short = [1 - y * f + slip_f, 1 - y * g + slip_g, abs(f - g) - self.free + slip_f + slip_g]
        total = (sum(norm) + sum(other)) / 2 + (self.bounds * np.maximum(short, 0)).sum()
        return up(total * (1 + (3 * len(y) + 16) * self.eps))

    def dual(self, solution: Any, y: np.ndarray) -> float:
        """Lower bound on D."""
        assert self.z is not None
        given = np.stack([solution.alpha, *solution.beta]).astype(self.real)
        alpha = repaired(given, y, self.bounds)
        tie, size = alpha[2], alpha[:2] + abs(alpha[2])
        w = self._vector(solution.w, solution.coef)
        v = self._vector(solution.v, solution.correction_coef)
        square = self.real(0)
        for space, p, a, part in (
            (self.x, w, alpha[0] * y - tie, size[0]),
            (self.z, v, alpha[1] * y + tie, size[1]),
        ):
            square += space.pulled_square(a, part) + space.negative(p, a, part)
        gain, paid = alpha[:2].sum(), self.free * abs(tie).sum() + square / 2
        return down(gain - paid - (3 * len(y) + 16) * self.eps * (gain + 2 * paid))


def _cholesky(matrix: np.ndarray, shift: float) -> Any:
    """About r -> (matrix + shift I)^-1 r."""
    matrix[np.diag_indices_from(matrix)] += shift
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= scale
    matrix *= scale[:, None]
    matrix[np.diag_indices_from(matrix)] += len(matrix) * FLOAT
    factor = cholesky(matrix.T), True
    return lambda r: scale * cho_solve(factor, scale * r, check_finite=False)
