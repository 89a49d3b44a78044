"""SVM1+: 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2, xi_i = <v,z_i> + rho >= 0, rho free.

Unknowns: w (d,) and v (s,), or coefficients (n,) with Gram matrices K and Kz (which has no 1), b, rho;
alpha (n,) >= 0 without labels and beta (n,) >= 0 of xi >= 0, zeros without ``nonneg_slack``.
``free_slack`` = delta: own slacks eta_i at lam/(2 delta) sum w_i eta_i^2.
"""

from verification.models import _plus, _plus_families


class SvmPlusHinge(_plus.PlusTask):
    """The task; see the module."""

    object_name, loss = "svm_plus_hinge", "hinge"
    simplest = _plus.simplest(nonneg=True)
    families = _plus_families.plus(squared=False)


TASK = SvmPlusHinge()
