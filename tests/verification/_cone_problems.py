"""CVXPY problems with semidefinite or power cones: an objective, and constraints."""

import cvxpy as cp
import numpy as np


def _eigenvalue(rng):
    A, x = rng.normal(size=(5, 5)), cp.Variable(5)
    return cp.Minimize(cp.lambda_max(A + A.T + cp.diag(x)) + cp.sum_squares(x)), []


def _cut(rng):
    W, X = rng.random((6, 6)), cp.Variable((6, 6), PSD=True)
    laplacian = np.diag((W + W.T).sum(axis=1)) - W - W.T
    return cp.Maximize(cp.trace(laplacian @ X)), [cp.diag(X) == 1]


def _nuclear(rng):
    X = cp.Variable((3, 4))
    return cp.Minimize(cp.normNuc(X) + cp.sum_squares(X - rng.normal(size=(3, 4)))), []


def _correlation(rng):
    C, X = rng.normal(size=(5, 5)), cp.Variable((5, 5), symmetric=True)
    return cp.Minimize(cp.sum_squares(X - C - C.T)), [X >> 0, cp.diag(X) == 1]


def _theta(rng):
    X = cp.Variable((5, 5), PSD=True)
    return cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, *[X[i, (i + 1) % 5] == 0 for i in range(5)]]


def _determinant(rng):
    X = cp.Variable((3, 3), symmetric=True)
    return cp.Minimize(cp.trace(X) - cp.log_det(X)), [X << 2 * np.eye(3)]


def _mean(rng):
    x = cp.Variable(3)
    mean = cp.geo_mean(x, [0.2, 0.3, 0.5], approx=False)
    return cp.Maximize(mean), [x <= np.array([1.0, 2, 3]), cp.sum(x) <= 4]


def _convex_power(rng):
    x = cp.Variable(2)
    return cp.Minimize(cp.sum(cp.power(x, 2.7, approx=False)) - x[0] - 2 * x[1]), []


def _concave_power(rng):
    x = cp.Variable(2)
    return cp.Maximize(cp.sum(cp.power(x, 0.3, approx=False))), [cp.sum(x) <= 2]


def _norm(rng):
    x, a = cp.Variable(3), np.array([1, -2, 0.5])
    return cp.Minimize(cp.pnorm(x - a, 3.3, approx=False) + 0.3 * cp.norm1(x)), [cp.abs(x) <= 3]


def _three(rng):
    x, y, z = (cp.Variable(2) for _ in range(3))
    return cp.Maximize(cp.sum(z)), [cp.PowCone3D(x, y, z, [0.25, 0.6]), x + 2 * y <= 3]


def _more(rng):
    x, z = cp.Variable(3), cp.Variable()
    cone = cp.PowConeND(x, z, np.array([0.2, 0.3, 0.5]))
    return cp.Maximize(z), [cone, cp.sum(x) <= 3, x[0] <= 0.1]


def _dual_power(rng):
    u, v, w = (cp.Variable(2) for _ in range(3))
    cone = cp.PowCone3D(*(cp.Variable(2) for _ in range(3)), np.array([0.25, 0.6]))
    return cp.Minimize(cp.sum(u + 2 * v) + cp.sum_squares(w - 1)), [cone._dual_cone(u, v, w)]


def _mixed(rng):
    X, x = cp.Variable((3, 3), symmetric=True), cp.Variable(2)
    means = cp.power(x[0], 0.4, approx=False) + cp.entr(x[1])
    return cp.Maximize(means - cp.lambda_max(X)), [
        cp.diag(X) >= x[0],
        X[0, 1] == 1,
        cp.norm(x) <= 2,
    ]


def _no_matrix(rng):
    X = cp.Variable((3, 3), symmetric=True)
    return cp.Minimize(cp.trace(X)), [X >> np.eye(3), cp.trace(X) <= 2.9]


def _no_power(rng):
    x = cp.Variable(2)
    return cp.Minimize(x[0]), [cp.power(x[0], 0.4, approx=False) >= 2, x <= 1]


OTHER_CONES = (_eigenvalue, _cut, _nuclear, _correlation, _theta, _determinant, _mean, _convex_power,
               _concave_power, _norm, _three, _more, _dual_power, _mixed, _no_matrix, _no_power)  # fmt: skip
