"""SVM1+ on data: the rows of its hard-margin form, feasible models, bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast._interrupts import let_through
from fast.solvers.state import TrainingRun
from fast.svm_plus import working_set
from fast.svm_plus.data import Bound, Model, SVMPlusData, View
from fast.svm_plus.formulas import HingeExamples
from fast.svm_plus.interior_point_qp import Rows, minimise

MOST = 500  # examples and features z up to which own slacks are tried as features


class HingeData(HingeExamples, SVMPlusData):
    """Rows (y_i x_i, z_i/sqrt(lam)) and (0, z_i/sqrt(lam)) with the free variables b and rho.

    Signed they are y_i times that. Then centring does not make the price of v vanish, and the unknown
    is sqrt(lam) v + ``pull``, which has none.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.root = float(np.sqrt(self.lam))
        self.mean_z = self.products_z.gradients(self.cost / self.total)
        self.k = np.zeros(self.n) + self.kappa
        self.c, self.h1, self.h2 = np.array([0.0, self.total]), 1.0 + self.own, self.own
        self.p_slack = self.Z.shape[1]
        self.size = self.d + self.p_slack + 2
        self.pull = np.zeros(self.p_slack)
        self.relabel(self.y)

    def relabel(self, y: np.ndarray) -> None:
        """Take other labels, on which the price of signed functions depends."""
        super().relabel(y)
        if not self.signed:
            return
        prices = y * self.cost
        self.c = np.array([0.0, prices.sum()])
        pull = self.products_z.gradients(prices) - self.c[1] * self.mean_z
        self.pull = pull / self.root
        shift = y * (self.products_z.scores(pull) - float(self.mean_z @ pull)) / self.lam
        self.h1, self.h2 = 1.0 + self.own + shift, self.own + shift

    def slack_rows(self, which: np.ndarray) -> np.ndarray:
        """(z_i - mean)/sqrt(lam), and y_i times that."""
        rows = (self.dense_rows(self.Z, which) - self.mean_z) / self.root
        return rows * self.y[which, None] if self.signed else rows

    def view(self, u: np.ndarray, free: np.ndarray) -> View:
        """(w, sqrt(lam) v) and (b, rho) at all rows."""
        w, v = u[: self.d], (u[self.d :] - self.pull) / self.root
        b, rho = (float(x) for x in free)
        f = self.scores(w)
        g = self.products_z.scores(v) - float(self.mean_z @ v)
        slack = self.sign * (g + rho)
        violation = 1.0 + self.own - self.y * (f + b) - slack
        model = self.feasible(w, b, v, rho, f, g)
        model.b -= float(self.mean_x @ model.w)
        model.rho -= float(self.mean_z @ model.v)
        return View(violation, self.own - slack if self.nonneg else None, model)

    def feasible(
        self, w: np.ndarray, b: float, v: np.ndarray, rho: float, f: np.ndarray, g: np.ndarray
    ) -> Model:
        """The best multiple of (w, v) with its best b and rho; f = Xw + const, g = Zv - mean."""
        if self.signed:
            b, rho = self.offsets(f, g)
            square = float(w @ w), float(v @ v)
            P = self.objective(*square, self.y * (f + b), self.y * (g + rho))
            return min(Model(w, b, v, rho, P), self.constant(), key=lambda found: found.primal)
        model = self._rescaled(w, v, f, g)
        if self.nonneg:  # separable data need no slack, and noise in v costs C sum(omega) times it
            plain = self._rescaled(w, np.zeros_like(v), f, np.zeros_like(g))
            model = min(model, plain, key=lambda found: found.primal)
        if self.soft:
            raw = self.objective(float(w @ w), float(v @ v), self.y * (f + b), g + rho)
            if not raw > model.primal:
                return Model(w, b, v, rho, raw)
        return model

    def _rescaled(self, w: np.ndarray, v: np.ndarray, f: np.ndarray, g: np.ndarray) -> Model:
        """The best multiple without own slacks."""
        m, b = self.lowest(self.y * f + g)
        q = float(w @ w) + self.lam * float(v @ v)
        t, rho = self.multiple(m, q, -float(g.min()))
        return Model(t * w, t * b, t * v, rho, 0.5 * t * t * q + self.total * rho)

    def without_slack(
        self, first: np.ndarray, primal: float, dual: float
    ) -> tuple[Model | None, Bound | None]:
        """Separable data and a large C: v, rho = 0, and C sum(omega) dwarfs the optimum.

        The interior point on both families of rows then loses alpha in the rounding of beta.
        """
        if not self.nonneg:
            return None, None
        ones = np.ones(len(first))
        rows = Rows(self.margin_rows(first), self.y[first, None], ones, np.zeros(1))
        price = 2.0 * np.sqrt(primal * max(dual, 1e-3 * primal)) / len(first)
        found = minimise(rows, 1e-12, price=float(price))
        alpha = np.zeros(self.n)
        alpha[first] = found.mu
        u = np.concatenate([found.u, self.pull])  # v = 0
        view = self.view(u, np.append(found.v, 0.0))
        return view.model, self.bound(alpha, np.zeros(self.n))

    def constant(self) -> Model:
        """W = 0 and the slack 1 for everybody."""
        if self.signed:  # own slacks
            none = np.zeros(self.d), 0.0, np.zeros(self.Z.shape[1]), 0.0
            return Model(*none, self.total + 0.5 * float(self.k.sum()))
        return Model(np.zeros(self.d), 0.0, np.zeros(self.Z.shape[1]), 1.0, self.total)

    def trivial(self) -> tuple[Model, Bound]:
        """What is known before the first round."""
        none = np.zeros(self.n)
        if self.nonneg:
            return self.constant(), Bound(none, self.cost.copy(), 0.0)
        return self.constant(), self.bound(self.uniform(self.total), none)

    def certified(self, model: Model) -> Model:
        """P and feasibility once more, from (w, b, v, rho) alone."""
        shift = float(self.mean_z @ model.v)
        f = self.products_x.scores(model.w)
        g = self.products_z.scores(model.v) - shift
        found = self.feasible(model.w, model.b, model.v, model.rho + shift, f, g)
        found.rho -= float(self.mean_z @ found.v)
        return found

    def bound(self, alpha: np.ndarray, beta: np.ndarray) -> Bound:
        """D at the multipliers, made feasible."""
        general = self._general_bound(alpha, beta)
        return max(general, self._plain_bound(alpha), key=lambda found: found.dual)

    def _plain_bound(self, alpha: np.ndarray) -> Bound:
        """The best multiple of alpha with beta = C omega - alpha, exact where v = 0 is best."""
        none = Bound(alpha, alpha, -np.inf)
        if not self.nonneg:
            return none
        alpha = self.balanced(np.minimum(alpha, self.cost))
        back = self.back_x(alpha)
        square, total = float(back @ back), float(alpha.sum())
        if not square > 0.0:
            return none
        scale = min(total / square, 1.0 / float((alpha / self.cost).max()))
        alpha = np.minimum(scale * alpha, self.cost)
        alpha = self.balanced(alpha)
        total, square = scale * total, scale * scale * square
        return Bound(alpha, self.cost - alpha, total - 0.5 * square)

    def _general_bound(self, alpha: np.ndarray, beta: np.ndarray) -> Bound:
        alpha, beta = self.balanced(alpha), np.maximum(beta, 0.0)
        beta = beta if self.nonneg else np.zeros(self.n)
        total = float(alpha.sum() + beta.sum())
        if not total > 0.0:
            return self.trivial()[1]
        if self.signed:
            beta = self.shared(beta)
        else:
            scale = self.total / total
            alpha, beta = scale * alpha, scale * beta
        gamma = alpha + beta
        back_x = self.back_x(alpha)
        if self.signed:
            back_z = self.transposed(self.products_z, self.y * (gamma - self.cost))
        else:
            back_z = self.transposed(self.products_z, gamma) - self.total * self.mean_z
        square = float(back_x @ back_x) + float(back_z @ back_z) / self.lam
        square += float(((gamma - self.cost) ** 2 / self.kappa).sum()) if self.soft else 0.0
        return Bound(alpha, beta, float(alpha.sum()) - 0.5 * square)


def solve(
    data: HingeData, tol: float, max_iter: int, report: Callable[[Any], bool] | None
) -> tuple[working_set.WorkingSetState, TrainingRun]:
    """As `fast.svm_plus.working_set.train`."""
    state, run = working_set.train(data, tol, max_iter, report)
    rounded = state.gap > tol and state.n_iter < max_iter and not run.stopped
    if data.soft and rounded and not data.signed and data.n <= MOST and data.Z.shape[1] <= MOST:
        with run:  # an interrupt leaves the model before
            let_through()
            run = own_as_features(data, state, tol, max_iter - state.n_iter)
    return state, run


def own_as_features(
    data: HingeData, state: working_set.WorkingSetState, tol: float, rounds: int
) -> TrainingRun:
    """Own slacks as n more features sqrt(delta) e_i of Z; the run.

    With kappa = lam/delta tiny the multipliers C omega/kappa of own slacks dwarf P, to which the interior
    point's accuracy is relative.
    """
    Z = np.hstack([data.dense_rows(data.Z, np.arange(data.n)), np.eye(data.n)])
    Z[:, -data.n :] *= np.sqrt(data.lam / data.kappa)
    wide = HingeData(data.X, data.y, Z, data.omega, data.C, data.lam, data.nonneg, 0.0)
    found, run = working_set.train(wide, tol, rounds)
    model = found.model
    v = model.v[: -data.n]
    model = data.certified(Model(model.w, model.b, v, model.rho, np.inf))
    state.take(model, data.bound(found.bound.alpha, found.bound.beta))
    return run
