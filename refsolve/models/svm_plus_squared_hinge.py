"""SVM2+: privileged features z model the slacks of an SVM with squared hinge.

P = 1/2||w||^2 + C/2 sum_i w_i xi_i^2 + lam/2 (||v||^2 + rho^2) with y_i (<w,x_i> + b) >= 1 - xi_i,
xi_i = <v,z_i> + rho of either sign. D(alpha) = sum alpha - 1/2 <alpha, (K yy' + Q) alpha> over
alpha >= 0, <alpha,y> = 0. X (n, d) and Z (n, s), or Gram matrices K and Kz (n, n).
"""

import numpy as np
from numpy.typing import ArrayLike

from refsolve._types import Array
from refsolve.models._svm_plus import OPTIONS, WEIGHING, arguments
from refsolve.models._svm_plus_program import Offered, declared
from refsolve.proofs.space import Rows
from refsolve.spec import Spec

SPEC = Spec(
    title="SVM with privileged information, squared hinge (SVM2+)",
    kind="models",
    formulas={
        "primal": (
            "P = 1/2||w||^2 + C/2 sum_i w_i xi_i^2 + lam/2 (||v||^2 + rho^2),\n"
            "xi_i = <v,z_i> + rho, y_i (<w,x_i> + b) >= 1 - xi_i"
        ),
        "dual": (
            "D(alpha) = sum_i alpha_i - 1/2 <alpha, (K * yy' + Q) alpha>, alpha >= 0, <alpha,y> = 0"
        ),
        "kernel": "Q = Zt (lam I + C Zt' diag(w_i) Zt)^-1 Zt', Zt = [Z 1];  Kt = Kz + 1 = Zt Zt'",
        "maps": (
            "w = sum_i alpha_i y_i x_i, xi = Q alpha, (v, rho) = Zt'(alpha - C w_i xi)/lam,\n"
            "b = y_i (1 - xi_i) - <w,x_i> for every support vector; the optimum is sum(alpha)/2"
        ),
        "gap": (
            "sum_i alpha_i (y_i f_i - 1 + xi_i) + 1/2||w - X'(alpha y)||^2\n"
            "+ C/2 sum_i w_i (xi_i - (Q alpha)_i)^2 + lam/2 ||vt - vt(alpha)||^2 = P - D"
        ),
        "scale-free gap": (
            "1 - (S m/q)^2, g = (K * yy' + Q) alpha, S = sum alpha, q = <alpha,g>,\n"
            "m = mean of the least g of the positives and of the negatives, m > 0"
        ),
    },
    symbols=WEIGHING,
    arguments=arguments(nonneg=False),
    options=OPTIONS,
    scaling="C and lam multiply sums, without 1/n; rho is penalised with v",
    source="Xu et al. 2016, problems (3), (4), (6), (7), Proposition 1",
    notes=(
        "X1: xi >= 0 is not implied; nonneg_slack=True keeps it, with multipliers beta in Q only",
        "X3: label_signed=True has g = y (<v,z> + rho), Q * yy' for Q; it can be infeasible",
        "X4: uninformative z can make w = 0 the optimum (collapsed); free_slack=delta > 0 adds own",
        "slacks at lam/(2 delta) sum w_i eta_i^2, that is Kt + delta diag(1/w)",
        "X6: the 1 belongs to Kt with every kernel",
        "X8: rows of weight zero are dropped; one class alone is refused",
        "penalize_bias=True adds 1/2 b^2, and <alpha,y> is free",
        "alpha need not be unique; w, b, v, rho, xi are",
    ),
)
_offered = Offered(squared=True)
check_data, recover, certificate = _offered.check_data, _offered.recover, _offered.certificate
primal, dual, declaration = _offered.primal, _offered.dual, _offered.declaration
canonicalize_primal, canonicalize_dual = _offered.canonicalize_primal, _offered.canonicalize_dual
problem_primal, problem_dual = _offered.problem_primal, _offered.problem_dual
relative_gap = _offered.relative_gap


def deformed_kernel(
    *,
    Z: Rows = None,
    Kz: ArrayLike | None = None,
    C: float,
    lam: float,
    sample_weight: ArrayLike | None = None,
    free_slack: float = 0.0,
) -> Array:
    """Q (n, n) from singular values, without the cancellation of (5).

    Rows and columns of weight zero are 0.
    """
    shape = getattr(Z if Kz is None else Kz, "shape", None) or np.shape(np.asarray(Z))
    n = shape[0] if len(shape) == 2 else 2
    y = np.where(np.arange(n) % 2, 1, -1)
    if sample_weight is not None and np.shape(sample_weight) == (n,):  # both labels are needed
        y = np.where(np.cumsum(np.asarray(sample_weight) > 0) % 2, 1, -1)
    given = {"X": np.zeros((n, 1)), "y": y, "Z": Z, "Kz": Kz, "C": C, "lam": lam}
    data = check_data(**given, sample_weight=sample_weight, free_slack=free_slack)
    F = np.asarray(declared(data).absorbed("paid", "tie").terms["alpha"].maps["absorbed"])
    Q = np.zeros((n, n))
    Q[np.ix_(data.x.kept, data.x.kept)] = F @ F.T
    return Q
