"""The hard constraints y_i (<x_i,w> + b) >= 1 of the easy examples: repairs, and infeasibility.

Farkas: if mu >= 0 sums to 1, balances the classes (for a free b), and r = sum mu_i y_i x_i, then
1 <= sum mu_i y_i (<x_i,w> + b) = <r,w> for every feasible w, so that ||w|| >= 1/||r||.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array, Real
from refsolve.errors import InfeasibleError
from refsolve.oracle import SOLVERS
from refsolve.proofs.ranking_model import Easy

#: Of the largest ||x_i||: hulls closer than this count as touching.
TOUCHING = 1e-9


def separator(X: Array, easy: Easy) -> Array:
    """A feasible w near the shortest one, or `InfeasibleError` with a Farkas vector."""
    d = X.shape[1]
    if not easy.binding:
        return np.zeros(d, Real)
    reach = float(np.sqrt((X**2).sum(axis=1).max())) or 1.0
    mu = _closest(X, easy, reach, cp.sum_squares)
    r = _pull(X, easy, mu)
    if (r * r).sum() > 0:
        w = r / (r * r).sum()
        t, _, violation = easy.repair(X @ w, None)
        if np.isfinite(violation):
            return t * w
    mu = _closest(X, easy, reach, cp.norm1)  # a linear program is more exact where hulls touch
    distance = float(np.sqrt((_pull(X, easy, mu) ** 2).sum()))
    if distance <= TOUCHING * reach:
        least = "any" if distance == 0 else f"||w|| < {1 / distance:.3g}"
        raise InfeasibleError(
            "easy", f"{easy.signs.size} examples", "classes that a hyperplane separates; "
            f"the multipliers in .farkas prove that no w ({least}) gives them margins >= 1",
            "move examples with margin below 1 to the difficult ones", mu.astype(float),
        )  # fmt: skip
    return r / np.maximum((r * r).sum(), Real(1e-300))  # open: the certificate will tell


def _pull(X: Array, easy: Easy, mu: Array) -> Array:
    """The vector sum mu_i y_i x_i."""
    return np.asarray(X.T @ (mu * easy.signs).astype(Real))


def _closest(
    X: Array, easy: Easy, reach: float, norm: Callable[[cp.Expression], cp.Expression]
) -> Array:
    """Multipliers of sum 1 for which sum mu_i y_i x_i is shortest."""
    mu = cp.Variable(easy.signs.size, nonneg=True)
    constraints = [cp.sum(mu) == 1] + ([easy.signs @ mu == 0] if easy.free else [])
    E = (X * easy.signs[:, None]).T / reach
    problem = cp.Problem(cp.Minimize(norm(E @ mu)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result is judged by formula
        problem.solve(solver="CLARABEL", **SOLVERS["CLARABEL"])
    found = easy.balanced(np.asarray(mu.value, Real))
    return found / found.sum()
