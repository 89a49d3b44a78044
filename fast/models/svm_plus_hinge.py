"""SVM1+: the SVM with privileged information and hinge loss, trained to a certified gap.

P(w, b, v, rho) = 1/2 ||w||^2 + C sum_i omega_i xi_i + lam/2 ||v||^2
    xi_i = v'z_i + rho >= 0,   y_i (w'x_i + b) >= 1 - xi_i,   rho free
D(alpha, beta) = 1'alpha - 1/2 ||X'(alpha y)||^2 - 1/(2 lam) ||Z'(alpha + beta - C omega)||^2
    alpha, beta >= 0,   alpha'y = 0,   sum_i (alpha_i + beta_i - C omega_i) = 0

(Xu et al. 2016, problems (1) and (2)). With Z centred by the weighted mean the loss costs
C sum(omega) rho alone, and the rows (y_i x_i, z_i) and (0, z_i) are all there is.

``nonneg_slack=False`` drops xi >= 0 (beta = 0). Own slacks, ``free_slack`` = delta:
xi_i = v'z_i + rho + eta_i at lam/(2 delta) sum omega_i eta_i^2, that is Kz + delta/Omega in the dual.
``label_signed``: y_i (v'z_i + rho) in their place, beside own slacks, and sum_i y_i (beta_i - C omega_i) = 0.
"""

from collections.abc import Callable
from typing import Any

from fast.svm_plus import kernel_trainer
from fast.svm_plus.hinge import HingeData, solve
from fast.svm_plus.problem import SVMPlusResult, check_input, check_signed, finished

__all__ = ["train", "train_kernel"]  # the results are listed beside SVM2+


def train(
    X: Any,
    y: Any,
    Z: Any,
    C: float,
    lam: float,
    *,
    sample_weight: Any = None,
    nonneg_slack: bool = True,
    free_slack: float = 0.0,
    label_signed: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
) -> SVMPlusResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    nonneg_slack : bool
        Keep xi >= 0, as the paper does for this loss.
    X, y, Z, C, lam, sample_weight, free_slack, label_signed, tol, max_iter, report
        As in :func:`fast.models.svm_plus_squared_hinge.train`.

    Returns
    -------
    SVMPlusResult
        The best model met, with its certificate; also after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        If only one class is there, or shapes and ranges do not fit.
    """
    given = check_input(X, y, Z, C, lam, sample_weight, free_slack, tol, max_iter)
    signed = check_signed(label_signed, False, nonneg_slack, given.free_slack)
    data = HingeData(
        given.X, given.y, given.Z, given.omega, given.C, given.lam, nonneg_slack,
        given.free_slack / given.omega, signed,
    )  # fmt: skip
    return finished(data, given, *solve(data, given.tol, given.max_iter, report))


def train_kernel(
    K: Any,
    y: Any,
    C: float,
    lam: float,
    *,
    Kz: Any = None,
    Z: Any = None,
    sample_weight: Any = None,
    nonneg_slack: bool = True,
    free_slack: float = 0.0,
    label_signed: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
    check_definite: bool = True,
) -> Any:
    """``train`` on kernel matrices; for labels (n, m) one result per column, matrices shared.

    Parameters
    ----------
    Kz : (n, n) array
        Kernel between the privileged features.
    nonneg_slack
        As for ``train``.
    K, y, C, lam, Z, sample_weight, free_slack, label_signed, tol, max_iter, report, check_definite
        As in :func:`fast.models.svm_plus_squared_hinge.train_kernel`.

    Returns
    -------
    SVMPlusKernelResult, or a list of them
        f(x) = sum_i coef_i k(x_i, x) + b, g(z) = sum_i correction_coef_i kz(z_i, z) + rho.

    Raises
    ------
    InvalidParameterError
        Also for matrices that are not positive semidefinite.
    """
    return kernel_trainer.train_kernel(
        False, K, y, C, lam, Kz=Kz, Z=Z, Q=None, sample_weight=sample_weight,
        nonneg_slack=nonneg_slack, free_slack=free_slack, label_signed=label_signed, tol=tol,
        max_iter=max_iter, report=report, definite=check_definite,
    )  # fmt: skip
