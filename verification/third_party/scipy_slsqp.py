"""``scipy.optimize.minimize(method="SLSQP")`` on the projection, as one writes it down."""

from typing import Any

import numpy as np

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("scipy",)
BATCH = False
CHECKS = ("certified_gap", "ties")
DEFECT = 'SLSQP: "Inequality constraints incompatible", at a point that satisfies them.'
FOUND = """530 of 550 answers are right to rounding, more than its ``ftol`` of 1e-6 promises: a
step of SLSQP solves a quadratic program, and this is one. Of the others most are off by 1e-5 to
4e-4 with success=True, which is what it promises for the objective; the code below is off by
4.5e-5 with every kernel of OpenBLAS. One, a = (0, 1, -1), stops at the origin with the message
"Inequality constraints incompatible", which is not so: the origin satisfies them all, and so does
the solution. The constraints x_i <= s/k are redundant for k = 1, and the subproblem degenerate.
That one depends on the machine: the kernels for AVX-512 (OPENBLAS_CORETYPE=SkylakeX) solve it."""
REPRODUCE = """
import numpy as np
from scipy.optimize import LinearConstraint, minimize

a = np.array([0.1, 0.9, -1.0])  # k = r = rho = 1
rows = np.vstack([np.ones((3, 3)) - np.eye(3), -np.ones((1, 3))])
result = minimize(
    lambda x: ((x - a) ** 2).sum() / 2 + x.sum() ** 2 / 2,
    np.zeros(3),
    jac=lambda x: x - a + x.sum(),
    method="SLSQP",
    bounds=[(0, None)] * 3,
    constraints=LinearConstraint(rows, [0, 0, 0, -1], np.inf),
)
returned = result.x
right = np.array([0.0, 0.45, 0.0])
"""


def candidate(a: Any, k: int = 1, r: float = 1.0, rho: float = 0.0) -> Any:
    """From the origin, with derivatives and the default tolerance; whatever the status."""
    from scipy.optimize import LinearConstraint, minimize

    d = len(a)
    rows = np.vstack([np.full((d, d), 1 / k) - np.eye(d), -np.ones((1, d))])

    def objective(x: Any) -> float:
        return float(((x - a) ** 2).sum() + rho * x.sum() ** 2) / 2

    def gradient(x: Any) -> Any:
        return x - a + rho * x.sum()

    result = minimize(
        objective,
        np.zeros(d),
        jac=gradient,
        method="SLSQP",
        bounds=[(0, None)] * d,
        constraints=LinearConstraint(rows, np.append(np.zeros(d), -r), np.inf),
    )
    return result.x
