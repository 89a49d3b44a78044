"""SVM2+ on data: the rows of its hard-margin form, feasible models, bounds."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from fast.solvers.ridge import cholesky
from fast.solvers.rows import is_sparse
from fast.svm_plus.data import Bound, Model, SVMPlusData, View
from fast.svm_plus.formulas import SquaredExamples

TINY = 1e-12  # margin, in shifts of rho, that is lost in rounding


class SquaredHingeData(SquaredExamples, SVMPlusData):
    """Rows (y_i x_i, F_i), signed (y_i x_i, y_i F_i), with the free variable b."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        n, s = self.Z.shape
        self.theta = self.kappa / (self.cost + self.kappa) if self.soft else np.ones(n)
        self.reduced = self.cost * self.theta
        self.k = self.cost + self.kappa
        self.c, self.h1, self.h2 = np.zeros(1), np.ones(n), np.zeros(n)
        self.basis = None
        self.Zt: Any = None
        if s + 1 > n:  # vt = basis @ r: what is orthogonal to all zt_i stays 0
            Zt = np.hstack([self.dense_rows(self.Z, np.arange(n)), np.ones((n, 1))])
            self.basis, R = np.linalg.qr(Zt.T)
            self.Zt = np.ascontiguousarray(R.T)
        self.p_slack = min(s + 1, n)
        self.size = self.d + self.p_slack + 1
        self.L = self._factor()

    def _factor(self) -> np.ndarray:
        """L with L L' = lam I + Zt' diag(C omega theta) Zt."""
        M = self._moments(self.reduced)
        M[np.diag_indices_from(M)] += self.lam
        return cholesky(M)  # with a ridge where C/lam is beyond what float64 resolves

    def _moments(self, weights: np.ndarray) -> np.ndarray:
        """Zt' diag(weights) Zt."""
        if self.Zt is not None:
            return np.asarray((self.Zt.T * weights) @ self.Zt)
        s = self.Z.shape[1]
        M = np.empty((s + 1, s + 1))
        if is_sparse(self.Z):
            Z = self.Z.astype(np.float64)
            M[:s, :s] = (Z.T @ sp.diags_array(weights) @ Z).toarray()
        else:
            M[:s, :s] = 0.0
            for rows in self.products_z._blocks():
                block = np.asarray(self.Z[rows], dtype=np.float64)
                M[:s, :s] += (block.T * weights[rows]) @ block
        M[s, :s] = M[:s, s] = self.products_z.gradients(weights)
        M[s, s] = weights.sum()
        return M

    def slack_rows(self, which: np.ndarray) -> np.ndarray:
        """theta_i F_i, and y_i times that."""
        if self.Zt is not None:
            Zt = self.Zt[which]
        else:
            Zt = np.hstack([self.dense_rows(self.Z, which), np.ones((len(which), 1))])
        F = solve_triangular(self.L, Zt.T, lower=True, check_finite=False).T
        return np.asarray(F * (self.theta * self.sign)[which, None])

    def view(self, u: np.ndarray, free: np.ndarray) -> View:
        """(w, t) and b at all rows."""
        w = u[: self.d]
        vt = solve_triangular(self.L, u[self.d :], lower=True, trans=1, check_finite=False)
        vt = vt if self.basis is None else self.basis @ vt
        f, b = self.scores(w), float(free[0])
        g = self.sign * (self.products_z.scores(vt[:-1]) + vt[-1])
        slack = self.theta * g
        violation = 1.0 - self.y * (f + b) - slack
        model = self.feasible(w, b, vt[:-1], float(vt[-1]), f, g)
        model.b -= float(self.mean_x @ model.w)
        return View(violation, -slack if self.nonneg else None, model)

    def feasible(
        self, w: np.ndarray, b: float, v: np.ndarray, rho: float, f: np.ndarray, g: np.ndarray
    ) -> Model:
        """The best of what scaling and a shift of rho make of f = Xw + const and g = sign (Zv + rho)."""
        model = self._rescaled(w, v, rho, f, g)
        if self.soft:
            raw = self.objective(float(w @ w), float(v @ v), rho, self.y * (f + b), g)
            if not raw > model.primal:
                return Model(w, b, v, rho, raw)
        return model

    def _rescaled(
        self, w: np.ndarray, v: np.ndarray, rho: float, f: np.ndarray, g: np.ndarray
    ) -> Model:
        """Smallest P over (w, v, rho + tau)/margin: no own slack is used."""
        m, b = self.lowest(self.y * f + self.theta * g)
        tau, square, mixed, total = self.shift(m, float(w @ w), float(v @ v), rho, g)
        if not np.isfinite(tau):
            return self.constant()
        margin = m + tau
        if self.soft:  # a shift counts theta_i times, which differ from row to row
            margin, b = self.lowest(self.y * f + self.theta * (g + tau))
        if not margin > TINY * abs(tau):
            return self.constant()
        primal = 0.5 * (square + tau * (2.0 * mixed + tau * total)) / margin**2
        if not primal < self.constant().primal:
            return self.constant()
        return Model(w / margin, b / margin, v / margin, (rho + tau) / margin, primal)

    def constant(self) -> Model:
        """W = 0 and the same slack for everybody, which signed functions cannot give: own ones."""
        if self.signed:
            none = np.zeros(self.d), 0.0, np.zeros(self.Z.shape[1]), 0.0
            return Model(*none, 0.5 * float(self.k.sum()))  # infinite without own slacks
        rho = 1.0 / float(self.theta.min())
        primal = 0.5 * rho * rho * (float(self.reduced.sum()) + self.lam)
        return Model(np.zeros(self.d), 0.0, np.zeros(self.Z.shape[1]), rho, primal)

    def price(self, primal: float, dual: float, m: int) -> float | None:
        """The multipliers add up to twice the optimum, which lies between the two."""
        known = dual > 0.0 and np.isfinite(primal)
        return 2.0 * float(np.sqrt(primal * dual)) / m if known else None

    def trivial(self) -> tuple[Model, Bound]:
        """What is known before the first round."""
        return self.constant(), self.bound(self.uniform(2.0), np.zeros(self.n))

    def certified(self, model: Model) -> Model:
        """P and feasibility once more, from (w, b, v, rho) alone."""
        f = self.products_x.scores(model.w)
        g = self.sign * (self.products_z.scores(model.v) + model.rho)
        return self.feasible(model.w, model.b, model.v, model.rho, f, g)

    def bound(self, alpha: np.ndarray, beta: np.ndarray) -> Bound:
        """D at the best multiple of the multipliers, made feasible."""
        alpha = self.balanced(alpha)
        beta = np.maximum(beta, 0.0)
        gamma = alpha + beta
        total = float(alpha.sum())
        back = self.back_x(alpha)
        theta = self.theta * self.sign
        right = np.append(self.transposed(self.products_z, theta * gamma), theta @ gamma)
        right = right if self.basis is None else self.basis.T @ right
        t = solve_triangular(self.L, right, lower=True, check_finite=False)
        square = float(back @ back) + float(t @ t)
        square += float((gamma * gamma / self.k).sum()) if self.soft else 0.0
        if not square > 0.0:
            return Bound(alpha, beta, 0.0)
        scale = total / square
        return Bound(scale * alpha, scale * beta, 0.5 * total * scale)
