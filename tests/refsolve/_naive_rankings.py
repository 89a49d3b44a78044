"""Rankings as the paper writes them: every order of the examples, and problem (3) with a constraint for each."""

import cvxpy as cp
import numpy as np

from verification.selftest.certificates.rankings import Orders


def rankings(y):
    """The orders that differ, each with Delta, the coefficients of Psi(R) - Psi(R*), and its inversions."""
    return list({order.inversions: order for order in Orders(y).all}.values())


def precision(order, y):
    """Average precision of an order: mean over positives of the precision at their place."""
    hits = np.cumsum(np.asarray(y)[list(order)])
    at = np.flatnonzero(np.asarray(y)[list(order)])
    return (hits[at] / (at + 1)).mean()


def cuts(X, y):
    """Delta(R) and Psi(R) - Psi(R*) of every ranking."""
    return [(float(r.delta), r.coefficients.astype(float) @ X) for r in rankings(y)]


def loss(X, y, w):
    """The structured hinge at w."""
    return max(delta + row @ w for delta, row in cuts(X, y))


def solve(problem_cuts, C, d, constraints=lambda w, b: []):
    """Problem (3) as printed: one constraint for each cut; w and the optimum."""
    w, b, xi = cp.Variable(d), cp.Variable(), cp.Variable()
    given = [-row @ w >= delta - xi for delta, row in problem_cuts]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * xi), [*given, *constraints(w, b)])
    problem.solve(solver="CLARABEL")
    return w.value, problem.value
