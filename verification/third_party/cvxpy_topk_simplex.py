"""A parametrised CVXPY problem, solved again for every instance, as a projection layer is."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpy",)
BATCH = False
CHECKS = ("certified_gap", "ground_truth", "ties", "scales")
FOUND = """659 of 1000 answers are right to rounding, which is more than the default solver for
quadratic problems (OSQP, tolerance 1e-5) promises: it polishes, and knows when the active
constraints are guessed right. Of the others half are within 1e-7, and the worst are not small
beside the answer, where r is small beside the entries: status "optimal", a third of the second
entry missing. Tolerances of a general solver are absolute or relative to the data; a small answer
to large data has to be scaled first."""
REPRODUCE = """
import cvxpy as cp
import numpy as np

x, a = cp.Variable(2), cp.Parameter(2)
s, k, r = cp.sum(x), 2, 1e-3
problem = cp.Problem(cp.Minimize(cp.sum_squares(x - a) / 2), [x >= 0, s <= r, x <= s / k])
a.value = np.array([100.0, 1.0])
problem.solve(solver=cp.OSQP)
assert problem.status == "optimal"
returned = x.value
right = np.array([r / 2, r / 2])  # the only point with s = r and x_i <= s/2
"""


@functools.cache
def layer(d: int, k: int) -> Any:
    """The problem of a size, with a, r and rho as parameters."""
    import cvxpy as cp

    a, r, root = cp.Parameter(d), cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
    x = cp.Variable(d)
    s = cp.sum(x)
    objective = cp.sum_squares(x - a) / 2 + cp.square(root * s) / 2
    problem = cp.Problem(cp.Minimize(objective), [x >= 0, s <= r, x <= s / k])
    return problem, x, (a, r, root)


def by(solver: str | None = None) -> Callable[..., Any]:
    """One vector; what the solver says, whatever the status."""

    def candidate(a: Any, k: int = 1, r: float = 1.0, rho: float = 0.0) -> Any:
        import cvxpy as cp

        problem, x, parameters = layer(len(a), k)
        for parameter, value in zip(parameters, (a, r, np.sqrt(rho)), strict=True):
            parameter.value = value
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": seen by the gap
                problem.solve(solver=solver, warm_start=False)
        except cp.SolverError:
            return np.full(len(a), np.nan)
        return np.full(len(a), np.nan) if x.value is None else x.value

    candidate.__module__ = sys._getframe(1).f_globals["__name__"]
    candidate.__qualname__ = "candidate"
    return candidate


candidate = by()
