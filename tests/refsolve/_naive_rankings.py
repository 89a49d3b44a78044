"""Rankings as the paper writes them: orders of the examples, matrices R, AP by its definition."""

import itertools

import cvxpy as cp
import numpy as np


def rankings(y):
    """Delta and R (n, n) restricted to pairs of a positive and a negative, for every order."""
    n, found = len(y), {}
    for order in itertools.permutations(range(n)):
        place = np.argsort(order)
        R = np.sign(place[None, :] - place[:, None])
        R = R * (np.asarray(y)[:, None] & (1 - np.asarray(y))[None, :])
        found[R.tobytes()] = (1 - precision(order, y), R)
    return list(found.values())


def precision(order, y):
    """Average precision of an order: mean over positives of the precision at their place."""
    hits, total = 0, 0.0
    for k, i in enumerate(order, start=1):
        if y[i]:
            hits += 1
            total += hits / k
    return total / hits


def feature(X, y, R):
    """Psi(X, R), equation (1)."""
    P, N = sum(y), len(y) - sum(y)
    terms = [
        R[i, j] * (X[i] - X[j]) for i in range(len(y)) for j in range(len(y)) if y[i] and not y[j]
    ]
    return np.sum(terms, axis=0) / (P * N)


def cuts(X, y):
    """Delta(R) and Psi(R) - Psi(R*) of every ranking."""
    best = np.array([[int(a and not b) for b in y] for a in y])
    star = feature(X, y, best)
    return [(delta, feature(X, y, R) - star) for delta, R in rankings(y)]


def inversions(R, y):
    """For a positive the negatives above it, for a negative the positives below it."""
    return np.array([(R[i] < 0).sum() if y[i] else (R[:, i] < 0).sum() for i in range(len(y))])


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
