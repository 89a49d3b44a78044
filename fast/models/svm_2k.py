"""SVM-2K: two SVMs on two views of the same examples, held together where they disagree.

P = 1/2||w_A||^2 + 1/2||w_B||^2 + CA sum_i w_i h(y_i f_A) + CB sum_i w_i h(y_i f_B)
    + D sum_i w_i max(0, |f_A(x_i) - f_B(z_i)| - eps),   h(m) = max(0, 1 - m),
D = sum_i (alpha_Ai + alpha_Bi - eps |beta_i|) - 1/2 <g_A, K g_A> - 1/2 <g_B, Kz g_B>,
    g_A = alpha_A y - beta, g_B = alpha_B y + beta, sum g_A = sum g_B = 0,
    0 <= alpha_V <= CV w_i, |beta_i| <= D w_i;   w_A = X'g_A, w_B = Z'g_B

(Farquhar et al. 2005; a baseline of Xu et al. 2016, section 4, where f_A alone predicts.) The prices
multiply sums, not means; both biases are free. An interior point method goes through the boxes, with
systems of all features where these are fewer than examples, else of n examples, once per view.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fast._validation import moderate, number, per_row
from fast.errors import InvalidParameterError
from fast.models.svm import View
from fast.solvers.box_interior_point import follow
from fast.solvers.plain_svm import LOOSE
from fast.solvers.rows import expanded
from fast.solvers.state import Solution
from fast.solvers.two_views import TwoViews, TwoViewState
from fast.svm_plus.data import Model
from fast.svm_plus.deformed_kernel import check_definite, check_kernel_matrix
from fast.svm_plus.problem import check_labels, check_matrix, check_rounds, check_two_classes

__all__ = ["TwoViewMachine", "TwoViewResult", "train"]


@dataclass
class TwoViewResult(Solution):
    """coef, correction_coef (n,): w = sum_i coef_i x_i, v = sum_i correction_coef_i z_i; w, v themselves
    where X, Z were given; b, rho; alpha (3, n) = (alpha_A, alpha_B, beta); primal and dual objective at
    these very points, relative gap, rounds and their history.
    """

    coef: np.ndarray
    w: np.ndarray | None
    b: float
    correction_coef: np.ndarray
    v: np.ndarray | None
    rho: float
    alpha: np.ndarray


class TwoViewMachine:
    """Trains any labels of the same examples; bounds (3, n) are CA w_i, CB w_i > 0 and D w_i."""

    def __init__(self, X: Any, K: Any, Z: Any, Kz: Any, bounds: np.ndarray, eps: float) -> None:
        self.x, self.z, self.bounds, self.eps = View(X, K), View(Z, Kz), bounds, eps

    def train(
        self, y: np.ndarray, tol: float, max_iter: int, report: Callable[[Any], bool] | None
    ) -> TwoViewResult:
        """The result for labels (n,)."""
        state = TwoViewState()
        program = TwoViews(self.x.gram, self.z.gram, y, self.bounds, self.eps)

        def take(a: np.ndarray, b: np.ndarray) -> None:
            state.take(program, a, b)
            if self.x.mean is not None:
                w, b_A = self.x.model(state.coef[0], state.b[0])
                assert w is not None
                state.model = Model(w, b_A, w[:0], 0.0, state.primal)

        goal = min(0.1 * tol, LOOSE)
        run = follow(program, state, take, goal=goal, tol=tol, max_iter=max_iter, report=report)
        w, b = self.x.model(state.coef[0], state.b[0])
        v, rho = self.z.model(state.coef[1], state.b[1])
        found = state.coef[0], w, b, state.coef[1], v, rho, state.alpha
        return TwoViewResult(*found, **run.outcome(state, "interior_point"))


def train(
    X: Any,
    y: ArrayLike,
    Z: Any,
    CA: float,
    CB: float,
    D: float,
    *,
    eps: float = 0.0,
    K: ArrayLike | None = None,
    Kz: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
    definite: bool = False,
) -> TwoViewResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X, Z : (n, d), (n, s) arrays or CSR, float32 or float64
        The views A, which predicts, and B; None where a kernel matrix is given.
    y : (n,) labels -1 and 1
        Both among the rows of positive weight.
    CA, CB : float
        Weights of the hinges (sums, not means), > 0.
    D, eps : float
        Weight of the disagreement, and disagreement that is free, >= 0. D = 0: two SVMs.
    K, Kz : (n, n) arrays, optional
        Positive semidefinite kernel matrices in the place of X and Z, one by one.
    sample_weight : (n,) array, optional
        w_i >= 0; rows of weight zero are taken out.
    tol : float
    max_iter : int
        Bound on the rounds.
    report : callable, optional
        Called after every round with the state (n_iter, primal, dual, gap, W = coef); true stops.
    definite : bool
        True where K and Kz are known to be positive semidefinite, and need not be checked.

    Returns
    -------
    TwoViewResult
        The model of both views and the multipliers, with their certificate; the best met, also
        after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        If only one class is there, shapes and ranges do not fit, or a kernel matrix is none.
    """
    X, own, n = _examples("X", X, "K", K, definite)
    Z, other, rows = _examples("Z", Z, "Kz", Kz, definite)
    if rows != n:
        name = "Z" if other is None else "Kz"
        raise InvalidParameterError(name, f"{rows} rows", f"{n} rows, as y has", f"match {name}")
    labels = check_labels(y, n)
    prices = [
        moderate(name, number(name, C, positive=True)) for name, C in (("CA", CA), ("CB", CB))
    ]
    D = number("D", D)
    prices.append(moderate("D", D) if D > 0.0 else 0.0)
    eps, tol, rounds = number("eps", eps), number("tol", tol), check_rounds(max_iter)
    weight = np.ones(n) if sample_weight is None else per_row("sample_weight", sample_weight, n)
    kept = np.flatnonzero(weight > 0.0)
    check_two_classes(labels[kept], len(kept) < n)
    if len(kept) < n:
        X, Z = (None if rows is None else rows[kept] for rows in (X, Z))
        own, other = (None if K is None else K[np.ix_(kept, kept)] for K in (own, other))
    bounds = np.outer(prices, weight[kept])
    found = TwoViewMachine(X, own, Z, other, bounds, eps).train(labels[kept], tol, rounds, report)
    for name in ("coef", "correction_coef", "alpha"):
        setattr(found, name, expanded(getattr(found, name), kept, n))
    return found


def _examples(name: str, X: Any, other: str, K: Any, definite: bool) -> tuple[Any, Any, int]:
    """Features or a kernel matrix, and how many examples there are."""
    if (X is None) == (K is None):
        given = "neither" if X is None else "both"
        raise InvalidParameterError(f"{name}, {other}", given, "one of them", f"pass {name} alone")
    if K is None:
        X = check_matrix(name, X)
        return X, None, X.shape[0]
    K = check_kernel_matrix(other, K)
    if not definite:
        check_definite(other, K)
    return None, K, len(K)
