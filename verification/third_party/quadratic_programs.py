"""The dual of the SVM as a quadratic program, by the solvers that ``qpsolvers`` knows, in their default settings."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def svm_dual(solver: str, **options: Any) -> Callable[..., Any]:
    """Min 1/2 <a, (K * yy') a> - <1, a>, 0 <= a <= C, <y, a> = 0; an error or no answer is not a number."""

    def candidate(X: Any = None, *, y: Any, C: float, K: Any = None) -> dict[str, Any]:
        from qpsolvers import Problem, solve_problem

        gram = X @ X.T if K is None else K
        n = len(y)
        sign = np.asarray(y, dtype=float)
        canonicalized = Problem(
            gram * np.outer(sign, sign), -np.ones(n), A=sign[None, :], b=np.zeros(1),
            lb=np.zeros(n), ub=np.full(n, C),
        )  # fmt: skip
        with warnings.catch_warnings(action="ignore"):  # matrices are made sparse; statuses
            found = solve_problem(canonicalized, solver=solver, **options).x
        return {"alpha": np.full(n, np.nan) if found is None else found}

    candidate.__name__ = candidate.__qualname__ = f"qp_{solver}_svm_dual"
    return candidate


qp_clarabel_svm_dual = svm_dual("clarabel")
qp_cvxopt_svm_dual = svm_dual("cvxopt")
qp_daqp_svm_dual = svm_dual("daqp")
qp_highs_svm_dual = svm_dual("highs", time_limit=2.0)
qp_osqp_svm_dual = svm_dual("osqp")
qp_piqp_svm_dual = svm_dual("piqp")
qp_proxqp_svm_dual = svm_dual("proxqp")
qp_qpalm_svm_dual = svm_dual("qpalm")
qp_scs_svm_dual = svm_dual("scs")
