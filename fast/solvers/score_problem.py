"""Regularised convex functions of scores: the problem, its cuts, and what is certified so far.

P(w) = 1/2 ||w||^2 + C F(Xw),   F convex with F(0) >= 0, known through an oracle that returns, for
scores s (n,), F(s) and a cut F(.) >= offset + <a, .> that is tight at s. With cuts t and lambda in the
unit simplex,

D(lambda) = C sum_t lambda_t offset_t - 1/2 ||C sum_t lambda_t X'a_t||^2 <= min_w P(w),

and w = -C sum_t lambda_t X'a_t minimises the model max_t (offset_t + <a_t, Xw>) where D is largest.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fast.errors import InvalidParameterError
from fast.solvers import simplex_qp
from fast.solvers.cuts import Cuts, Product
from fast.solvers.metric import Metric
from fast.solvers.rows import is_sparse
from fast.solvers.state import TrainingState

SINGLE_GAP = 1e-5  # relative gap that products in float32 are trusted with
IDLE, CROWDED = 20, 100  # cuts are dropped after IDLE iterations without weight, if there are many
WEIGHTLESS = 1e-9  # lambda_t below which a cut carries no weight
NARROW = 256  # columns up to which a metric is made of the whole curvature
PAIRS, FEW = 400, 5  # pairs of rows that make one where columns are more, and pairs for each direction
SPREAD = 2.0  # half the width of kinks in the whole curvature, in changes of scores
RECENT = 5  # iterations without weight after which a cut is not made exact
SINGLE, NOISE = 6e-8, 30.0  # unit roundoff of float32, and the gap in errors that is worth a step
SHARP = 1e-12  # accuracy of the first bound, relative: a warm start may need no other
SLACK = 1e-3  # part of the gap that the quadratic programs leave


class ScoreCut(NamedTuple):
    """F(s), and the cut offset + <coefficients, .> that is tight at s; active: nonzero negatives."""

    value: float
    offset: float
    coefficients: np.ndarray
    active: int


class Oracle(Protocol):
    """F, given by its cuts."""

    def __call__(self, scores: np.ndarray) -> ScoreCut:
        """F and a cut at these scores (n,)."""


@dataclass
class ScoreState(TrainingState):
    """The best certified w so far, what it cost, and the last cut."""

    n_oracle: int = 0
    cut: Any = None
    inversions: Any = None  # of the last ranking, where the model has any

    @property
    def w(self) -> np.ndarray:
        """Best weights (d,)."""
        return np.asarray(self.W)

    def note(self, iteration: int, cut: ScoreCut, n_oracle: int) -> None:
        """Add a line to the history."""
        self.cut, self.n_oracle = cut, n_oracle
        self.record(iteration, self.primal, self.dual, self.W)
        self.history[-1] |= {"oracle_calls": n_oracle, "active": cut.active}


class ScoreProblem:
    """P(w) with everything that has been learnt about it.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64, or a Product
    oracle : callable
        scores (n,) to ScoreCut.
    C : float
    """

    def __init__(self, X: Any, oracle: Oracle, C: float) -> None:
        self.product, self.oracle, self.C = X if isinstance(X, Product) else Product(X), oracle, C
        self.n, self.d = self.product.shape
        self.cuts = Cuts(self.n, self.d)
        self.exact = not self.product.rounded()
        self.rounding, self.reach = 0.0, 0.0 if self.exact else self.product.reach
        self.state = ScoreState()
        self.weights = np.zeros(0)  # lambda of the best bound
        self.mixed = np.zeros((2, 0))  # lambda of the last programs, without and with a centre

    def at(self, w: np.ndarray, scores: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """P(w) and a subgradient; the cut is kept, and w if it is the best."""
        if scores is None:
            scores = self.product.scores(w, self.exact)
        cut = self.oracle(scores)
        gradient = self.product.gradients(cut.coefficients, self.exact)
        if self.cuts.add(cut.offset, cut.coefficients, gradient):
            self.weights = np.append(self.weights, 0.0)
            self.mixed = np.hstack([self.mixed, np.full((2, 1), float(not self.mixed.size))])
        self.state.n_oracle += 1
        self.state.cut = cut
        if not self.exact:  # of scores, whose errors are independent
            size = float(np.linalg.norm(w)) * float(np.linalg.norm(cut.coefficients))
            self.rounding = SINGLE * self.C * self.reach * size
        primal = 0.5 * float(w @ w) + self.C * cut.value
        if primal < self.state.primal:
            self.state.primal, self.state.W = primal, w.copy()
        return primal, w + self.C * gradient

    def begin(self, start: np.ndarray | None, cuts: Any = ()) -> None:
        """Take in known cuts (offset, coefficients), evaluate at ``start``, and bound P from below."""
        if start is not None and np.shape(start) != (self.d,):
            raise InvalidParameterError(
                "start",
                f"shape {np.shape(start)}",
                f"shape ({self.d},): one weight per column of X",
                "match start to X",
            )
        for offset, coefficients in cuts:
            gradient = self.product.gradients(coefficients, self.exact)
            self.cuts.add(offset, coefficients, gradient)
        self.weights = np.zeros(self.cuts.m)
        self.mixed = np.tile(np.eye(1, self.cuts.m), (2, 1))
        if self.cuts.m:
            self._raise_bound(np.eye(1, self.cuts.m)[0], self.C * self.cuts.G[0])
        self.state.primal = np.inf
        self.at(np.zeros(self.d) if start is None else np.array(start, dtype=np.float64))
        self.proximal_point(np.zeros(self.d), 0.0, SHARP * abs(self.state.primal))

    def aim(self, tol: float) -> float:
        """The relative gap to go for in the present precision."""
        if self.exact:
            return tol
        return max(tol, SINGLE_GAP, NOISE * self.rounding / max(abs(self.state.primal), 1e-300))

    def tolerance(self, tol: float) -> float:
        """Accuracy of the next quadratic program."""
        state = self.state
        wanted = tol * max(abs(state.primal), abs(state.dual)) if state.dual > -np.inf else 0.0
        return SLACK * max(wanted, 0.1 * min(state.absolute_gap, state.primal))

    def model(self, w: np.ndarray) -> float:
        """1/2 ||w||^2 + C max over the cuts: a lower bound on P(w)."""
        return 0.5 * float(w @ w) + self.C * float((self.cuts.b + self.cuts.G @ w).max())

    @property
    def metric_cost(self) -> float:
        """Operations that a metric takes; infinite where none is worth its price."""
        k = min(PAIRS, self.d)
        if self.d <= NARROW:
            return 10.0 * self.d**3 + 0.2 * self.n * self.d**2
        return np.inf if is_sparse(self.product.X) else 10.0 * k**3 + 2.0 * PAIRS * self.d * k

    def curved(self, centre: np.ndarray, width: float) -> Metric | None:
        """The curvature of C F, over changes of scores by ``width``, at a centre whose cut was the last.

        None if F tells none, or if it lies in too many directions for so many pairs.
        """
        hessian, pairs = (getattr(self.oracle, name, None) for name in ("hessian", "pairs"))
        if hessian is None or pairs is None:
            return None
        X, scores = self.product.rough, self.product.scores(centre, self.exact)
        if self.d <= NARROW:
            H = hessian(X, scores, SPREAD * width)
            return None if H is None else Metric(self.C * H)
        if self.state.cut.active < self.d:
            return None
        found = pairs(scores, self.state.cut.coefficients, PAIRS, width)
        if not found:
            return None
        i, j, weight = found
        D = X[i] - X[j]
        D = D.toarray() if is_sparse(D) else D
        metric = Metric(R=np.asarray(D, np.float64) * np.sqrt(self.C * weight)[:, None])
        return metric if metric.directions <= PAIRS / FEW else None

    def proximal_point(self, centre: np.ndarray, rho: float, tol: float) -> np.ndarray:
        """Minimiser of the model plus rho/2 ||w - centre||^2; rho = 0: of the model."""
        cuts, scale = self.cuts, self.C / np.sqrt(1.0 + rho)
        shift = (rho / (1.0 + rho)) * (cuts.G @ centre) if rho else 0.0
        found = simplex_qp.minimise(
            scale * cuts.G, -self.C * (cuts.b + shift), tol, scale * scale * cuts.gram,
            self.mixed[int(rho > 0.0)],
        )  # fmt: skip
        direction = self._taken(found.x, int(rho > 0.0))
        return np.asarray((rho * centre - direction) / (1.0 + rho))

    def in_metric(self, centre: np.ndarray, rho: float, tol: float, metric: Metric) -> np.ndarray:
        """Minimiser of the model plus rho/2 <w - centre, B (w - centre)>."""
        cuts, C, V, rows = self.cuts, self.C, metric.V, metric.of(self.cuts)
        a = 1.0 + rho * metric.ridge
        f = rho * metric.size / (a + rho * metric.size)  # (I + rho B)^-1 = (I - V diag(f) V')/a
        pull = centre - (centre - V @ (f * (centre @ V))) / a
        outside = 0.0 if metric.complete else cuts.gram - rows @ rows.T
        gram = C * C / a * ((rows * (a / (a + rho * metric.size))) @ rows.T + outside)
        found = simplex_qp.minimise(None, -C * (cuts.b + cuts.G @ pull), tol, gram, self.mixed[1])
        direction = self._taken(found.x, 1)
        return np.asarray(pull - (direction - V @ (f * (direction @ V))) / a)

    def _taken(self, x: np.ndarray, which: int) -> np.ndarray:
        """C G'x of the solution of a program, which may raise the bound."""
        cuts, direction = self.cuts, self.C * (x @ self.cuts.G)
        self.mixed[which] = x
        self._raise_bound(x, direction)
        cuts.idle = np.maximum(cuts.idle, 0)
        cuts.idle[x > WEIGHTLESS] = -1
        return np.asarray(direction)

    def _raise_bound(self, weights: np.ndarray, direction: np.ndarray) -> None:
        dual = self.C * float(weights @ self.cuts.b) - 0.5 * float(direction @ direction)
        if dual > self.state.dual:
            self.state.dual, self.weights = dual, weights

    def dual_of(self, weights: np.ndarray, offsets: np.ndarray, coefficients: Any) -> float:
        """D of weights C lambda (m,) on cuts, from the formula."""
        pull = self.product.gradients(coefficients.T @ weights)
        return float(weights @ offsets) - 0.5 * float(pull @ pull)

    def tidy(self) -> None:
        """Forget cuts that have long carried no weight."""
        cuts = self.cuts
        cuts.idle += 1
        if cuts.m > CROWDED:
            kept = np.flatnonzero((cuts.idle <= IDLE) | (self.weights > 0.0))
            if len(kept) < cuts.m:
                self._keep(kept)

    def _keep(self, kept: np.ndarray) -> None:
        self.weights, self.mixed = self.weights[kept], self.mixed[:, kept]
        self.cuts.keep(kept)

    def make_exact(self, tol: float = 0.0) -> None:
        """Restart the certificate in float64: best point and bound and, above ``tol``, gradients."""
        cuts, state = self.cuts, self.state
        self.exact, self.product.rough = True, self.product.X
        w, state.primal = state.W, np.inf
        self.at(w)
        state.dual = self.dual_of(self.C * self.weights, cuts.b, cuts.coefficients())
        if state.gap <= tol:
            return
        self._keep(np.flatnonzero((cuts.idle <= RECENT) | (self.weights > 0.0)))
        cuts.recompute(self.product)
        state.dual = -np.inf
        self.proximal_point(w, 0.0, self.tolerance(0.0))
