"""The dual of the SVM as a quadratic program, by the solvers that ``qpsolvers`` knows, in their default settings."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

#: For REPRODUCE: a small SVM, posed to one solver; ``solver`` and ``options`` are set before it.
POSED = """
import numpy as np
from qpsolvers import solve_qp


def dual(X, y, C, **options):
    H = (X @ X.T) * np.outer(y, y)
    zero, box = np.zeros(len(y)), np.full(len(y), C)
    alpha = solve_qp(H, -np.ones(len(y)), A=y[None, :], b=np.zeros(1), lb=zero, ub=box, **options)
    return alpha, alpha.sum() - alpha @ H @ alpha / 2

"""


def svm_dual(solver: str, **options: Any) -> Callable[..., Any]:
    """Min 1/2 <a, (K * yy') a> - <1, a>, 0 <= a <= C, <y, a> = 0; an error or no answer is not a number."""

    def candidate(X: Any = None, *, y: Any, C: float, K: Any = None) -> dict[str, Any]:
        from qpsolvers import Problem, solve_problem

        gram = X @ X.T if K is None else K
        n = len(y)
        sign = np.asarray(y, dtype=float)
        posed = Problem(
            gram * np.outer(sign, sign), -np.ones(n), A=sign[None, :], b=np.zeros(1),
            lb=np.zeros(n), ub=np.full(n, C),
        )  # fmt: skip
        with warnings.catch_warnings(action="ignore"):  # matrices are made sparse; statuses
            found = solve_problem(posed, solver=solver, **options).x
        return {"alpha": np.full(n, np.nan) if found is None else found}

    candidate.__module__ = sys._getframe(1).f_globals["__name__"]
    candidate.__qualname__ = "candidate"
    return candidate
