"""SVM1+: privileged features z model the slacks of an SVM with hinge.

P = 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2 with y_i (<w,x_i> + b) >= 1 - xi_i,
xi_i = <v,z_i> + rho >= 0 and rho free. The dual has alpha and beta >= 0 with sum (alpha_i + beta_i
- C w_i) = 0 and <alpha,y> = 0. X (n, d) and Z (n, s), or Gram matrices K and Kz (n, n).
"""

from refsolve.models._svm_plus import OPTIONS, WEIGHING, arguments
from refsolve.models._svm_plus_program import Offered
from refsolve.spec import Spec

SPEC = Spec(
    title="SVM with privileged information, hinge (SVM1+)",
    kind="models",
    formulas={
        "primal": (
            "P = 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2,\n"
            "xi_i = <v,z_i> + rho >= 0, y_i (<w,x_i> + b) >= 1 - xi_i"
        ),
        "dual": (
            "D(alpha,beta) = sum_i alpha_i - 1/2 <alpha, (K * yy') alpha> - 1/(2 lam) <e, Kz e>,\n"
            "e_i = alpha_i + beta_i - C w_i, sum e = 0, <alpha,y> = 0, alpha, beta >= 0"
        ),
        "maps": "w = sum_i alpha_i y_i x_i, v = sum_i e_i z_i/lam; b and rho are the best for them",
        "gap": (
            "sum_i alpha_i (y_i f_i - 1 + xi_i) + sum_i beta_i xi_i + 1/2||w - X'(alpha y)||^2\n"
            "+ lam/2 ||v - Z'e/lam||^2 = P - D"
        ),
    },
    symbols=WEIGHING,
    arguments=arguments(nonneg=True),
    options=OPTIONS,
    scaling="C and lam multiply sums, without 1/n; rho is free, and Kz has no 1",
    source="Vapnik and Vashist 2009; Xu et al. 2016, problems (1) and (2)",
    notes=(
        "X2: without xi >= 0 (nonneg_slack=False) the dual has n variables too: beta = 0, and",
        "each class has alpha of sum C sum(w)/2, so that P is bounded below",
        "X3: label_signed=True has g = y (<v,z> + rho), which can be infeasible",
        "X4: uninformative z can make w = 0 the optimum (collapsed); free_slack=delta > 0 adds own",
        "slacks at lam/(2 delta) sum w_i eta_i^2, that is Kz + delta diag(1/w)",
        "X8: rows of weight zero are dropped; one class alone is refused",
        "penalize_bias=True adds 1/2 b^2, and <alpha,y> is free",
        "w and v are unique; alpha, beta, b and rho need not be",
    ),
)
_offered = Offered(squared=False)
check_data, recover, certificate = _offered.check_data, _offered.recover, _offered.certificate
primal, dual, declaration = _offered.primal, _offered.dual, _offered.declaration
canonicalize_primal, canonicalize_dual = _offered.canonicalize_primal, _offered.canonicalize_dual
problem_primal, problem_dual = _offered.problem_primal, _offered.problem_dual
