"""Regularised functions of scores under hard constraints y_i (<x_i, w> + b) >= 1, b free.

D(lambda, mu) = C sum_t lambda_t offset_t + sum_i mu_i - 1/2 ||C sum_t lambda_t X'a_t - sum_i mu_i y_i x_i||^2
with lambda in the simplex, mu >= 0 and sum_i mu_i y_i = 0. The quadratic programs hold the constraints
of a working set; a point that violates others a little is scaled up until it does not.
"""

from typing import Any

import numpy as np

from fast.solvers import hard_margin, interior_point
from fast.solvers.box_interior_point import balanced
from fast.solvers.hard_margin import Margins
from fast.solvers.score_problem import WEIGHTLESS, Oracle, ScoreProblem

ROUNDS = 20  # times that constraints are added before a point is taken as it is
CLOSE = 1e-9  # violation of the margin 1 that scaling may always repair
CROWDED = 150  # constraints from which on those that do not bind are forgotten


class EasyProblem(ScoreProblem):
    """A ScoreProblem with constraints; w always satisfies them.

    Parameters
    ----------
    X : (n, d) array or CSR
        Examples of the loss.
    oracle : callable
    C : float
    margins : Margins
        The constraints.

    Raises
    ------
    InseparableError
        No w satisfies the constraints.
    """

    def __init__(self, X: Any, oracle: Oracle, C: float, margins: Margins) -> None:
        super().__init__(X, oracle, C)
        self.margins = margins
        found = hard_margin.separate(margins)
        self.feasible, self.members = found.w, found.members
        self.state.W = found.w.copy()
        self.rows = margins.rows(found.members)
        self.unit = max(float(found.w @ found.w), np.finfo(float).tiny)  # least size of sum mu
        self.mu = np.zeros(len(margins.signs))  # of the best bound

    def begin(self, start: np.ndarray | None, cuts: Any = ()) -> None:
        """As in `ScoreProblem`, from a feasible point."""
        start = self.feasible if start is None else self.repaired(np.asarray(start, float))
        super().begin(start, cuts)

    def repaired(self, w: np.ndarray) -> np.ndarray:
        """The multiple of w, or the point between w and a feasible one, with margins >= 1."""
        margins, _ = self.margins.of(w)
        least = float(margins.min())
        if least >= 0.5:
            return w / min(least, 1.0)
        far, _ = self.margins.of(2.0 * self.feasible)
        short = margins < 1.0
        part = float(((1.0 - margins[short]) / (far[short] - margins[short])).max())
        w = (1.0 - part) * w + part * 2.0 * self.feasible
        return w / min(float(self.margins.of(w)[0].min()), 1.0)

    def curved(self, centre: np.ndarray, width: float) -> None:
        """No metric: it would have to know the constraints."""

    def proximal_point(self, centre: np.ndarray, rho: float, tol: float) -> np.ndarray:
        """As in `ScoreProblem`, among feasible points."""
        for _ in range(ROUNDS):
            w = self._solve(centre, rho, tol)
            margins, _ = self.margins.of(w)
            close = max(0.1 * tol / max(abs(self.state.primal), 1e-300), CLOSE)
            if self.state.primal < np.inf and margins.min() >= 1.0 - close:
                break
            new = self.margins.worst(margins, self.members, 1.0 - CLOSE)
            if not len(new):
                break
            self._collect(margins, new)
        return self.repaired(w)

    def _solve(self, centre: np.ndarray, rho: float, tol: float) -> np.ndarray:
        """Minimiser under the constraints of the working set."""
        cuts, m, scale = self.cuts, self.cuts.m, 1.0 / np.sqrt(1.0 + rho)
        unit = self.unit  # a loss far above ||w||^2 is held by multipliers of its own size
        if self.state.primal < np.inf:
            unit = max(unit, self.state.primal)
        rows = np.concatenate([self.C * cuts.G, -unit * self.rows])
        c = -np.concatenate([self.C * cuts.b, np.full(len(self.rows), unit)])
        if rho:
            c -= (rho / (1.0 + rho)) * (rows @ centre)
        signs = self.margins.signs[self.members]
        sums = np.zeros((2, len(c)))
        sums[0, :m], sums[1, m:] = 1.0, signs
        start = np.concatenate([np.full(m, 1.0 / m), np.full(len(signs), 1.0 / len(signs))])
        x = interior_point.minimise(scale * rows, c, sums, np.array([1.0, 0.0]), start, tol)
        weights, mu = x[:m] / x[:m].sum(), balanced(unit * x[m:], signs)
        direction = self.C * (weights @ cuts.G) - mu @ self.rows
        dual = self.C * float(weights @ cuts.b) + float(mu.sum())
        dual -= 0.5 * float(direction @ direction)
        if dual > self.state.dual:
            self.state.dual, self.weights = dual, weights
            self.mu[:] = 0.0
            self.mu[self.members] = mu
        cuts.idle = np.maximum(cuts.idle, 0)
        cuts.idle[weights > WEIGHTLESS] = -1
        self.last_mu = mu
        return np.asarray((rho * centre - direction) / (1.0 + rho))

    def _collect(self, margins: np.ndarray, new: np.ndarray) -> None:
        """Add constraints to the working set; drop some that do not bind, if there are many."""
        if len(self.members) > CROWDED:
            bind = self.last_mu > WEIGHTLESS * self.last_mu.max()
            bind |= self.mu[self.members] > WEIGHTLESS * self.mu.max()
            near = np.argsort(margins[self.members])[: CROWDED // 2]
            bind[near] = True
            self.members, self.rows = self.members[bind], self.rows[bind]
        self.members = np.concatenate([self.members, new])
        self.rows = np.concatenate([self.rows, self.margins.rows(new)])

    def dual_of(self, weights: np.ndarray, offsets: np.ndarray, coefficients: Any) -> float:
        """D of weights C lambda on cuts and of mu, from the formula."""
        pull = self.product.gradients(coefficients.T @ weights)
        pull -= self.margins.product.gradients(self.margins.signs * self.mu)
        dual = float(weights @ offsets) + float(self.mu.sum())
        return dual - 0.5 * float(pull @ pull)
