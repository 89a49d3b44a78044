"""SVM2+: 1/2||w||^2 + C/2 sum_i w_i xi_i^2 + lam/2 (||v||^2 + rho^2), xi_i = <v,z_i> + rho of any sign.

Unknowns: w (d,) and v (s,), or coefficients (n,) with Gram matrices K and Kz (to Kz the 1 of the
correcting kernel is added), b, rho; alpha (n,) >= 0 without labels, and beta (n,) >= 0 of xi >= 0, zeros
unless ``nonneg_slack``. ``free_slack`` = delta: own slacks eta_i at lam/(2 delta) sum w_i eta_i^2.
"""

from verification.models import _plus, _plus_families


class SvmPlusSquaredHinge(_plus.PlusTask):
    """The task; see the module."""

    object_name, loss = "svm_plus_squared_hinge", "squared_hinge"
    simplest = _plus.simplest(nonneg=False)
    families = _plus_families.plus(squared=True)


TASK = SvmPlusSquaredHinge()
