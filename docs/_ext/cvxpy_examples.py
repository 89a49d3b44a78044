"""The problems of the examples in CVXPY's documentation, written anew with small random data.

Each function is named after its example (https://www.cvxpy.org/examples). Left out: what is not convex
or needs several solves.
"""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

Array = np.ndarray[Any, Any]
EXAMPLES: dict[str, Callable[[], cp.Problem]] = {}


def example(make: Callable[[np.random.Generator], cp.Problem]) -> Any:
    """Register an example under its function's name."""
    EXAMPLES[make.__name__.replace("_", " ")] = lambda: make(np.random.default_rng(1))
    return make


def _normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape)


@example
def least_squares(rng: np.random.Generator) -> cp.Problem:
    x = cp.Variable(15)
    return cp.Problem(cp.Minimize(cp.sum_squares(_normal(rng, 20, 15) @ x - _normal(rng, 20))))


@example
def linear_program(rng: np.random.Generator) -> cp.Problem:
    A, v = _normal(rng, 15, 10), _normal(rng, 15)
    lam, s = np.maximum(-v, 0), np.maximum(v, 0)
    x = cp.Variable(10)
    return cp.Problem(cp.Minimize((-A.T @ lam) @ x), [A @ x <= A @ _normal(rng, 10) + s])


@example
def quadratic_program(rng: np.random.Generator) -> cp.Problem:
    P, A, x = _normal(rng, 10, 10), _normal(rng, 5, 10), cp.Variable(10)
    G, h = _normal(rng, 15, 10), rng.random(15)
    objective = cp.quad_form(x, P.T @ P) / 2 + _normal(rng, 10) @ x
    return cp.Problem(cp.Minimize(objective), [G @ x <= h, A @ x == 0])


@example
def second_order_cone_program(rng: np.random.Generator) -> cp.Problem:
    x, x0, rows = cp.Variable(10), _normal(rng, 10), []
    for _ in range(3):
        A, b, c = _normal(rng, 5, 10), _normal(rng, 5), _normal(rng, 10)
        d = float(np.linalg.norm(A @ x0 + b) - c @ x0)
        rows.append(cp.SOC(c @ x + d, A @ x + b))
    F = _normal(rng, 5, 10)
    return cp.Problem(cp.Minimize(_normal(rng, 10) @ x + cp.norm(x)), [*rows, F @ x == F @ x0])


@example
def semidefinite_program(rng: np.random.Generator) -> cp.Problem:
    X, R = cp.Variable((3, 3), symmetric=True), _normal(rng, 3, 3)
    A = [_normal(rng, 3, 3) for _ in range(3)]
    rows = [cp.trace(a @ X) == np.trace(a @ (R @ R.T)) for a in A]
    return cp.Problem(cp.Minimize(cp.trace((np.eye(3) + R.T @ R) @ X)), [X >> 0, *rows])


@example
def portfolio_optimization(rng: np.random.Generator) -> cp.Problem:
    F, d, w = _normal(rng, 20, 5), rng.random(20), cp.Variable(20)
    risk = cp.sum_squares(F.T @ w) + cp.sum_squares(cp.multiply(np.sqrt(d), w))
    return cp.Problem(cp.Maximize(rng.random(20) @ w - 0.5 * risk), [cp.sum(w) == 1, w >= 0])


@example
def portfolio_with_leverage(rng: np.random.Generator) -> cp.Problem:
    R, w = _normal(rng, 10, 10) / 3, cp.Variable(10)
    return cp.Problem(
        cp.Maximize(rng.random(10) @ w - cp.quad_form(w, R.T @ R)),
        [cp.sum(w) == 1, cp.norm(w, 1) <= 2],
    )


@example
def worst_case_risk(rng: np.random.Generator) -> cp.Problem:
    R, w = _normal(rng, 5, 5), np.array([0.3, 0.2, 0.1, 0.2, 0.2])
    S, D = cp.Variable((5, 5), PSD=True), cp.Variable((5, 5), symmetric=True)
    rows = [S == R.T @ R / 16 + D, cp.diag(D) == 0, cp.abs(D) <= 0.2]
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(np.outer(w, w), S))), rows)


@example
def huber_regression(rng: np.random.Generator) -> cp.Problem:
    X, b = _normal(rng, 5, 40), cp.Variable(5)
    y = X.T @ _normal(rng, 5) * np.where(rng.random(40) < 0.2, -1, 1)
    return cp.Problem(cp.Minimize(5 * cp.norm(b) ** 2 + cp.sum(cp.huber(X.T @ b - y, 1))))


@example
def quantile_regression(rng: np.random.Generator) -> cp.Problem:
    X, y, b = _normal(rng, 40, 3), _normal(rng, 40), cp.Variable(3)
    r = y - X @ b
    return cp.Problem(cp.Minimize(cp.sum(0.5 * cp.abs(r) + 0.4 * r)))


@example
def ridge_regression(rng: np.random.Generator) -> cp.Problem:
    X, y, b = _normal(rng, 50, 20), _normal(rng, 50), cp.Variable(20)
    return cp.Problem(cp.Minimize(cp.pnorm(X @ b - y, p=2) ** 2 / 50 + cp.pnorm(b, p=2) ** 2))


@example
def lasso_regression(rng: np.random.Generator) -> cp.Problem:
    X, y, b = _normal(rng, 50, 20), _normal(rng, 50), cp.Variable(20)
    return cp.Problem(cp.Minimize(cp.norm2(X @ b - y) ** 2 + 4 * cp.norm1(b)))


@example
def logistic_regression(rng: np.random.Generator) -> cp.Problem:
    X, b = _normal(rng, 50, 10), cp.Variable(10)
    y = (X[:, 0] + _normal(rng, 50) > 0) * 1.0
    likelihood = cp.sum(cp.multiply(y, X @ b) - cp.logistic(X @ b))
    return cp.Problem(cp.Maximize(likelihood / 50 - 0.05 * cp.norm(b, 1)))


@example
def svm_classifier(rng: np.random.Generator) -> cp.Problem:
    X, b, v = _normal(rng, 40, 10), cp.Variable((10, 1)), cp.Variable()
    y = np.sign(X[:, :1] + _normal(rng, 40, 1))
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ b - v)))
    return cp.Problem(cp.Minimize(loss / 40 + 0.1 * cp.norm(b, 1)))


@example
def l1_trend_filtering(rng: np.random.Generator) -> cp.Problem:
    y, x = np.cumsum(_normal(rng, 60)), cp.Variable(60)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - x) + 5 * cp.norm(cp.diff(x, 2), 1)))


@example
def total_variation_inpainting(rng: np.random.Generator) -> cp.Problem:
    U, known = rng.integers(0, 256, (7, 7)) / 1.0, (rng.random((7, 7)) < 0.6) * 1.0
    V = cp.Variable((7, 7))
    return cp.Problem(cp.Minimize(cp.tv(V)), [cp.multiply(known, V) == cp.multiply(known, U)])


@example
def sparse_covariance_estimation(rng: np.random.Generator) -> cp.Problem:
    R, S = _normal(rng, 30, 4), cp.Variable((4, 4), PSD=True)
    Y = np.cov(R.T)
    return cp.Problem(cp.Maximize(cp.log_det(S) - cp.trace(S @ Y)), [cp.sum(cp.abs(S)) <= 5])


@example
def control_of_a_linear_system(rng: np.random.Generator) -> cp.Problem:
    A, B = np.eye(4) + 0.2 * rng.random((4, 4)), _normal(rng, 4, 2)
    x, u = cp.Variable((4, 11)), cp.Variable((2, 10))
    cost, rows = 0, [x[:, 10] == 0, x[:, 0] == rng.standard_normal(4)]
    for t in range(10):
        cost += cp.sum_squares(x[:, t + 1]) + cp.sum_squares(u[:, t])
        rows += [x[:, t + 1] == A @ x[:, t] + B @ u[:, t], cp.norm(u[:, t], "inf") <= 5]
    return cp.Problem(cp.Minimize(cost), rows)


@example
def water_filling(rng: np.random.Generator) -> cp.Problem:
    a, x = rng.random(5), cp.Variable(5)
    return cp.Problem(cp.Maximize(cp.sum(cp.log(a + x))), [x >= 0, cp.sum(x) - 1 == 0])


@example
def maximum_entropy(rng: np.random.Generator) -> cp.Problem:
    A, x0, x = _normal(rng, 5, 15), rng.random(15), cp.Variable(15)
    F = _normal(rng, 3, 15)
    rows = [A @ x == A @ x0, F @ x <= F @ x0 + rng.random(3)]
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows)


@example
def optimal_advertising(rng: np.random.Generator) -> cp.Problem:
    R, D = cp.Variable((4, 6)), cp.Variable((4, 6))
    P, T, c = rng.random((4, 6)), rng.integers(5, 20, 6) * 1.0, rng.integers(5, 20, 4) * 1.0
    B = rng.integers(10, 30, 4) * 1.0
    income = [cp.minimum(cp.sum(cp.multiply(P[i], D[i])) * 2, B[i]) for i in range(4)]
    return cp.Problem(
        cp.Maximize(cp.sum(cp.hstack(income))),
        [D >= 0, cp.sum(D, axis=0) <= T, cp.sum(D, axis=1) >= c / 4, R == D],
    )


@example
def minimum_fuel_control(rng: np.random.Generator) -> cp.Problem:
    A = np.array([[-1, 0.4, 0.8], [1, 0, 0], [0, 1, 0]])
    b, x, u = np.array([1, 0, 0.3]), cp.Variable((3, 31)), cp.Variable(30)
    fuel = cp.sum(cp.maximum(cp.abs(u), 2 * cp.abs(u) - 1))
    rows = [
        x[:, 1:] == A @ x[:, :-1] + cp.outer(b, u),
        x[:, 0] == 0,
        x[:, 30] == np.array([7, 2, -6]),
    ]
    return cp.Problem(cp.Minimize(fuel), rows)


@example
def chebyshev_center(rng: np.random.Generator) -> cp.Problem:
    A, r, x = _normal(rng, 8, 2), cp.Variable(), cp.Variable(2)
    rows = [A @ x + r * np.linalg.norm(A, axis=1) <= 1]
    return cp.Problem(cp.Maximize(r), rows)


@example
def smallest_enclosing_ellipsoid(rng: np.random.Generator) -> cp.Problem:
    X, A, b = _normal(rng, 12, 2), cp.Variable((2, 2), PSD=True), cp.Variable(2)
    rows = [cp.norm(A @ x + b) <= 1 for x in X]
    return cp.Problem(cp.Maximize(cp.log_det(A)), rows)


@example
def geometric_mean(rng: np.random.Generator) -> cp.Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [cp.sum(x) <= 3, x[0] <= 0.5])


@example
def robust_kalman_filter(rng: np.random.Generator) -> cp.Problem:
    n, A = 20, np.array([[1, 0.1], [0, 0.9]])
    B, y = np.array([0.005, 0.1]), np.cumsum(_normal(rng, n))
    y[::7] += 10
    x, w, v = cp.Variable((2, n + 1)), cp.Variable(n), cp.Variable(n)
    objective = cp.sum_squares(w) + cp.sum([2 * cp.huber(v[t], 1) for t in range(n)])
    rows = [x[:, 1:] == A @ x[:, :-1] + cp.outer(B, w), y == x[0, :-1] + v]
    return cp.Problem(cp.Minimize(objective), rows)


@example
def fault_detection(rng: np.random.Generator) -> cp.Problem:
    A, x = _normal(rng, 15, 30), (rng.random(30) < 0.1) * 1.0
    y, z = A @ x + 0.1 * _normal(rng, 15), cp.Variable(30)
    cost = cp.sum_squares(A @ z - y) + 2 * 0.01 * np.log(9) * cp.sum(z)
    return cp.Problem(cp.Minimize(cost), [z >= 0, z <= 1])


@example
def fir_chebyshev_design(rng: np.random.Generator) -> cp.Problem:
    w, h, t = np.linspace(0, np.pi, 30), cp.Variable(8), cp.Variable()
    C, S = np.cos(np.outer(w, np.arange(8))), np.sin(np.outer(w, np.arange(8)))
    target = np.exp(-1j * 3.5 * w)
    rows = [
        cp.norm(cp.hstack([C[i] @ h - target[i].real, -(S[i] @ h) - target[i].imag])) <= t
        for i in range(30)
    ]
    return cp.Problem(cp.Minimize(t), rows)


@example
def sparse_solution(rng: np.random.Generator) -> cp.Problem:
    A, x = _normal(rng, 20, 10), cp.Variable(10)
    return cp.Problem(cp.Minimize(cp.norm(x, 1)), [A @ x <= A @ _normal(rng, 10) + rng.random(20)])


@example
def radiation_therapy(rng: np.random.Generator) -> cp.Problem:
    A, x = rng.random((30, 8)), cp.Variable(8, nonneg=True)
    dose = A @ x
    under, over = cp.sum(cp.pos(1 - dose[:10])), cp.sum(cp.pos(dose[10:] - 0.3))
    return cp.Problem(cp.Minimize(10 * under + over), [x <= 2])


@example
def facility_power_assignment(rng: np.random.Generator) -> cp.Problem:
    G, p = 0.1 * rng.random((5, 5)) + np.eye(5), cp.Variable(5)
    need = 2 * (
        cp.sum(
            cp.multiply(
                G - np.diag(np.diag(G)), np.ones((5, 1)) @ cp.reshape(p, (1, 5), order="C")
            ),
            axis=1,
        )
        + 0.1
    )
    return cp.Problem(cp.Minimize(cp.sum(p)), [p >= 0, p <= 3, p >= need])


@example
def conditional_value_at_risk(rng: np.random.Generator) -> cp.Problem:
    R, w = 0.02 * _normal(rng, 60, 5) + 0.01, cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.cvar(-R @ w, 0.9)), [cp.sum(w) == 1, w >= 0])


@example
def kelly_gambling(rng: np.random.Generator) -> cp.Problem:
    R, b = rng.uniform(0.5, 1.6, (20, 5)), cp.Variable(5)
    R[:, 4], p = 1.0, np.full(20, 1 / 20)
    return cp.Problem(cp.Maximize(p @ cp.log(R @ b)), [cp.sum(b) == 1, b >= 0])


@example
def risk_constrained_kelly(rng: np.random.Generator) -> cp.Problem:
    R, b = rng.uniform(0.5, 1.6, (20, 5)), cp.Variable(5)
    R[:, 4], p = 1.0, np.full(20, 1 / 20)
    drawdown = cp.log_sum_exp(np.log(p) - 2 * cp.log(R @ b))
    return cp.Problem(cp.Maximize(p @ cp.log(R @ b)), [cp.sum(b) == 1, b >= 0, drawdown <= 0])


@example
def isotonic_regression(rng: np.random.Generator) -> cp.Problem:
    y, x = np.arange(30) / 5 + _normal(rng, 30), cp.Variable(30)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - y)), [cp.diff(x) >= 0])


@example
def nonnegative_least_squares(rng: np.random.Generator) -> cp.Problem:
    x = cp.Variable(10, nonneg=True)
    return cp.Problem(cp.Minimize(cp.norm(_normal(rng, 20, 10) @ x - _normal(rng, 20))))


@example
def matrix_completion(rng: np.random.Generator) -> cp.Problem:
    M, known = _normal(rng, 5, 2) @ _normal(rng, 2, 4), (rng.random((5, 4)) < 0.7) * 1.0
    X = cp.Variable((5, 4))
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.multiply(known, X - M) == 0])


@example
def fastest_mixing_markov_chain(rng: np.random.Generator) -> cp.Problem:
    P, n = cp.Variable((5, 5), symmetric=True), 5
    rows = [P >= 0, cp.sum(P, axis=1) == 1, P[0, 3] == 0, P[1, 4] == 0]
    return cp.Problem(cp.Minimize(cp.sigma_max(P - np.ones((n, n)) / n)), rows)


@example
def complex_least_squares(rng: np.random.Generator) -> cp.Problem:
    A, x = _normal(rng, 8, 3) + 1j * _normal(rng, 8, 3), cp.Variable(3, complex=True)
    return cp.Problem(cp.Minimize(cp.norm(A @ x - _normal(rng, 8))), [cp.abs(x) <= 1])


@example
def hermitian_trace_norm(rng: np.random.Generator) -> cp.Problem:
    R, X = _normal(rng, 3, 3) + 1j * _normal(rng, 3, 3), cp.Variable((3, 3), hermitian=True)
    rows = [X >> 0, cp.real(cp.trace(X)) == 1]
    return cp.Problem(cp.Minimize(cp.real(cp.trace((R + R.conj().T) @ X))), rows)


@example
def maximum_volume_box(rng: np.random.Generator) -> cp.Problem:
    h, w, d = (cp.Variable(pos=True) for _ in range(3))
    rows = [2 * (h * w + h * d) <= 100, w * d <= 10, h / w >= 0.5, h / w <= 2, d / w >= 0.5]
    return cp.Problem(cp.Maximize(h * w * d), rows)


@example
def power_control(rng: np.random.Generator) -> cp.Problem:
    p = cp.Variable(3, pos=True)
    G = np.array([[1, 0.1, 0.2], [0.1, 1, 0.1], [0.3, 0.1, 1]])
    rows = [p >= 0.1, p <= 5]
    for i in range(3):
        noise = 0.5 + cp.sum([G[i, j] * p[j] for j in range(3) if j != i])
        rows.append(noise / (G[i, i] * p[i]) <= 2)
    return cp.Problem(cp.Minimize(cp.sum(p)), rows)


@example
def perron_frobenius_completion(rng: np.random.Generator) -> cp.Problem:
    X = cp.Variable((3, 3), pos=True)
    rows = [X[0, 0] == 1, X[0, 2] == 1.9, X[1, 1] == 0.8, X[2, 0] == 3.2, X[2, 1] == 5.9,
            X[0, 1] * X[1, 0] * X[1, 2] * X[2, 2] == 1]  # fmt: skip
    return cp.Problem(cp.Minimize(cp.pf_eigenvalue(X)), rows)
