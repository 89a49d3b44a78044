"""SVM2+ as the paper trains it: the deformed kernel handed to a solver of the ordinary SVM."""

from typing import Any, NamedTuple

import numpy as np

from fast._validation import number, per_row
from fast.svm_plus.deformed_kernel import check_definite, check_kernel_matrix, deformed_kernel
from fast.svm_plus.problem import check_labels, check_two_classes


class DeformedProblem(NamedTuple):
    """Kernel (n, n) and box, an upper bound that no multiplier of the solution reaches."""

    kernel: np.ndarray
    box: float


def bent(Q: np.ndarray, labels: np.ndarray, K: np.ndarray) -> np.ndarray:
    """K + Q . yy', in the place of Q."""
    Q *= labels
    Q *= labels[:, None]
    Q += K
    return Q


def checked(K: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """A positive semidefinite kernel matrix, and labels of both classes."""
    K = check_kernel_matrix("K", K)
    check_definite("K", K)
    labels = check_labels(y, len(K))
    check_two_classes(labels, False)
    return K, labels


def deformed_problem(
    K: Any,
    y: Any,
    C: float,
    lam: float,
    *,
    Z: Any = None,
    Kz: Any = None,
    sample_weight: Any = None,
    free_slack: float = 0.0,
) -> DeformedProblem:
    """Dual (4) of SVM2+ in the form of ``SVC(kernel="precomputed")``: K + Q . yy' and its C.

    LIBSVM multiplies its kernel by yy' once more: so its dual has K . yy' + Q. Its box must not bind:
    the optimum is sum(alpha)/2 <= (C sum omega + lam)/2, what the slack 1 for everybody costs, and
    each class holds half of sum(alpha), so that (C sum omega + lam)/2 bounds every multiplier. C
    itself as the box is another problem. The slacks are Q alpha, w = sum_i alpha_i y_i x_i; LIBSVM
    computes in float32, production trainers do not.

    Parameters
    ----------
    K : (n, n) array
        Kernel between the examples, positive semidefinite.
    y : (n,) labels -1 and 1
    C, lam : float
        As for ``train``.
    Z, Kz
        Privileged features (n, s), or the kernel (n, n) between them without the 1 of Kt.
    sample_weight, free_slack
        As for ``train``; weights must be positive.

    Returns
    -------
    DeformedProblem

    Raises
    ------
    InvalidParameterError
        As ``train_kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fast.models.svm_plus_squared_hinge import deformed_problem, train
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.standard_normal((40, 2)), rng.standard_normal((40, 1))
    >>> y = np.where(X[:, 0] + Z[:, 0] > 0, 1, -1)
    >>> kernel, box = deformed_problem(X @ X.T, y, C=1.0, lam=1.0, Z=Z)
    >>> svc = SVC(C=box, kernel="precomputed", tol=1e-6).fit(kernel, y)
    >>> w = svc.dual_coef_[0] @ X[svc.support_]
    >>> bool(np.allclose(w, train(X, y, Z, 1.0, 1.0, tol=1e-8).w, atol=1e-3))
    True
    """
    K, labels = checked(K, y)
    C, lam = number("C", C, positive=True), number("lam", lam, positive=True)
    weight = 1.0 if sample_weight is None else sample_weight
    weight = per_row("sample_weight", weight, len(K), positive=True)
    Q = deformed_kernel(C, lam, Z=Z, Kz=Kz, sample_weight=weight, free_slack=free_slack)
    return DeformedProblem(bent(Q, labels, K), 0.5 * (C * float(weight.sum()) + lam))
