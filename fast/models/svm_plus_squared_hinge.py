"""SVM2+: the SVM with privileged information and squared hinge, trained to a certified gap.

P(w, b, vt) = 1/2 ||w||^2 + C/2 sum_i omega_i xi_i^2 + lam/2 ||vt||^2,   vt = (v, rho), zt = (z, 1)
    xi_i = vt'zt_i,   y_i (w'x_i + b) >= 1 - xi_i
D(alpha) = 1'alpha - 1/2 ||X'(alpha y)||^2 - 1/2 alpha'Q alpha,   alpha >= 0, alpha'y = 0

with Q = F F', F = Zt L^-T, L L' = lam I + C Zt' Omega Zt (Xu et al. 2016, problems (3) and (4)). In
t = L'vt this is a hard-margin SVM on the rows (y_i x_i, F_i): P = 1/2 ||w||^2 + 1/2 ||t||^2.

``nonneg_slack`` keeps xi >= 0, with multipliers beta: 1/2 (alpha + beta)'Q(alpha + beta). Own slacks,
``free_slack`` = delta: xi_i = vt'zt_i + eta_i at lam/(2 delta) sum omega_i eta_i^2, so Kt + delta/Omega in Q.
``label_signed`` (footnote 1): y_i (v'z_i + rho) for v'z_i + rho, so y_i F_i for F_i and Q . yy' for Q.
"""

from collections.abc import Callable
from typing import Any

from fast.svm_plus import kernel_trainer, working_set
from fast.svm_plus.kernel_trainer import SVMPlusKernelResult
from fast.svm_plus.problem import SVMPlusResult, check_input, check_signed, finished
from fast.svm_plus.recipe import DeformedProblem, deformed_problem
from fast.svm_plus.squared_hinge import SquaredHingeData

__all__ = [
    "DeformedProblem",
    "SVMPlusKernelResult",
    "SVMPlusResult",
    "deformed_problem",
    "train",
    "train_kernel",
]


def train(
    X: Any,
    y: Any,
    Z: Any,
    C: float,
    lam: float,
    *,
    sample_weight: Any = None,
    nonneg_slack: bool = False,
    free_slack: float = 0.0,
    label_signed: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
) -> SVMPlusResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    y : (n,) labels -1 and 1
    Z : (n, s) array or CSR
        Privileged features, one row per row of X.
    C, lam : float
        Weights of the loss (a sum, not a mean) and of the correcting function; > 0.
    sample_weight : (n,) array, optional
        omega_i; rows of weight zero are taken out.
    nonneg_slack : bool
        Keep xi >= 0, which the paper drops.
    free_slack : float
        delta; 0 for no own slacks.
    label_signed : bool
        Slacks xi_i = y_i (v'z_i + rho) (+ eta_i). Without own slacks that asks for y_i (f(x_i) + g(z_i))
        >= 1, and raises where no model does it; with ``nonneg_slack`` it needs own slacks.
    tol : float
    max_iter : int
        Bound on the rounds.
    report : callable, optional
        Called after every round with the state (n_iter, primal, dual, gap, W); true stops.

    Returns
    -------
    SVMPlusResult
        The best model met, with its certificate; also after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        If only one class is there, or shapes and ranges do not fit, or signed functions are infeasible.
    """
    given = check_input(X, y, Z, C, lam, sample_weight, free_slack, tol, max_iter)
    signed = check_signed(label_signed, True, nonneg_slack, given.free_slack)
    data = SquaredHingeData(
        given.X, given.y, given.Z, given.omega, given.C, given.lam, nonneg_slack,
        given.free_slack / given.omega, signed,
    )  # fmt: skip
    return finished(data, given, *working_set.train(data, given.tol, given.max_iter, report))


def train_kernel(
    K: Any,
    y: Any,
    C: float,
    lam: float,
    *,
    Kz: Any = None,
    Z: Any = None,
    Q: Any = None,
    sample_weight: Any = None,
    nonneg_slack: bool = False,
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
    K : (n, n) array
        Kernel between the examples, positive semidefinite.
    y : (n,) or (n, m) labels -1 and 1
    C, lam : float
    Kz : (n, n) array
        Kernel between the privileged features, without the 1 of Kt.
    Z : (n, s) array or CSR
        Privileged features of a linear correcting function, instead of ``Kz``.
    Q : (n, n) array, optional
        ``deformed_kernel``, if it is known already; alone, it gives no correcting function.
    sample_weight, nonneg_slack, free_slack, label_signed, tol, max_iter, report
        As for ``train`` (``Q`` is without y); ``report`` is called after every certificate.
    check_definite : bool
        False where the kernels are known to be positive semidefinite, which no certificate shows:
        with another matrix the gap means nothing.

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
        True, K, y, C, lam, Kz=Kz, Z=Z, Q=Q, sample_weight=sample_weight,
        nonneg_slack=nonneg_slack, free_slack=free_slack, label_signed=label_signed, tol=tol,
        max_iter=max_iter, report=report, definite=check_definite,
    )  # fmt: skip
