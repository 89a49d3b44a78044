"""The hard constraints y_i (<x_i,w> + b) >= 1 of the easy examples: repairs, and infeasibility.

Farkas: if mu >= 0 sums to 1, balances the classes (for a free b), and r = sum mu_i y_i x_i, then
1 <= sum mu_i y_i (<x_i,w> + b) = <r,w> for every feasible w, so that ||w|| >= 1/||r||.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array, Real
from refsolve.errors import InfeasibleError
from refsolve.oracle import SOLVERS
from refsolve.proofs import ranking_model

#: Of the largest ||x_i||: hulls closer than this count as touching.
TOUCHING = 1e-9


@dataclass(frozen=True)
class Easy:
    """Easy examples X (n_e, d), their labels -1/1, and whether b is free."""

    X: Any
    labels: Array
    bias: bool

    @property
    def limits(self) -> ranking_model.Easy:
        """What the proofs know of them."""
        return ranking_model.Easy(self.labels, self.bias)

    @property
    def binding(self) -> bool:
        """Whether the constraints say anything of w: a free b alone satisfies a single class."""
        return self.limits.binding

    def pull(self, mu: Array) -> Array:
        """The vector sum mu_i y_i x_i."""
        return np.asarray(self.X.T @ (mu * self.labels).astype(Real))

    def separator(self) -> Array:
        """A feasible w near the shortest one, or `InfeasibleError` with a Farkas vector."""
        d = self.X.shape[1]
        if not self.binding:
            return np.zeros(d, Real)
        reach = float(np.sqrt((self.X**2).sum(axis=1).max())) or 1.0
        mu = self._closest(reach, cp.sum_squares)
        r = self.pull(mu)
        if (r * r).sum() > 0:
            w = r / (r * r).sum()
            t, _, violation = self.limits.repair(self.X @ w, None)
            if np.isfinite(violation):
                return t * w
        mu = self._closest(reach, cp.norm1)  # a linear program is more exact where hulls touch
        distance = float(np.sqrt((self.pull(mu) ** 2).sum()))
        if distance <= TOUCHING * reach:
            least = "any" if distance == 0 else f"||w|| < {1 / distance:.3g}"
            raise InfeasibleError(
                "easy", f"{self.labels.size} examples", "classes that a hyperplane separates; "
                f"the multipliers in .farkas prove that no w ({least}) gives them margins >= 1",
                "move examples with margin below 1 to the difficult ones", mu.astype(float),
            )  # fmt: skip
        return r / np.maximum((r * r).sum(), Real(1e-300))  # open: the certificate will tell

    def _closest(self, reach: float, norm: Callable[[cp.Expression], cp.Expression]) -> Array:
        """Multipliers of sum 1 for which sum mu_i y_i x_i is shortest."""
        mu = cp.Variable(self.labels.size, nonneg=True)
        constraints = [cp.sum(mu) == 1] + ([self.labels @ mu == 0] if self.bias else [])
        E = (self.X * self.labels[:, None]).T / reach
        problem = cp.Problem(cp.Minimize(norm(E @ mu)), constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the result is judged by formula
            problem.solve(solver="CLARABEL", **SOLVERS["CLARABEL"])
        found = self.limits.balanced(np.asarray(mu.value, Real))
        return found / found.sum()
