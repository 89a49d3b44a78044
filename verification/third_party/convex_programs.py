"""The projection onto the top-k simplex as a convex program, given anew to a general solver for every instance."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


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

    name = "_".join(filter(None, ("cvxpy", solver and solver.lower(), "topk_simplex")))
    candidate.__name__ = candidate.__qualname__ = name
    return candidate


cvxpy_clarabel_topk_simplex = by("CLARABEL")
cvxpy_ecos_topk_simplex = by("ECOS")
cvxpy_highs_topk_simplex = by("HIGHS")
cvxpy_scs_topk_simplex = by("SCS")
cvxpy_topk_simplex = by()


@functools.cache
def torch_layer(d: int, k: int) -> Any:
    """The layer of a size."""
    from cvxpylayers.torch import CvxpyLayer

    problem, x, parameters = layer(d, k)
    return CvxpyLayer(problem, parameters=list(parameters), variables=[x])


def cvxpylayers_topk_simplex(a: Any, k: int = 1, r: float = 1.0, rho: float = 0.0) -> Any:
    """One vector, in double precision."""
    import torch

    given = [torch.tensor(v, dtype=torch.float64) for v in (a, r, np.sqrt(rho))]
    (x,) = torch_layer(len(a), k)(*given)
    return x.numpy()


def scipy_slsqp(a: Any, k: int = 1, r: float = 1.0, rho: float = 0.0) -> Any:
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
