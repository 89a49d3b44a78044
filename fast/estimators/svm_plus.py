"""Support vector machine with privileged information."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import moderate, number
from fast.errors import InvalidTypeError
from fast.estimators._settings import check_settings
from fast.estimators._svm_plus_model import PrivilegedModel
from fast.svm_plus.problem import check_signed

LOSSES = ("squared_hinge", "hinge")


@dataclass(eq=False, repr=False)
class SVMPlusClassifier(PrivilegedModel):
    """SVM that learns its slacks from privileged features Z, with a certified duality gap.

    Z is known for the training data only; prediction takes X alone. For labels y_i = +-1 minimises

    * ``loss="squared_hinge"`` (SVM2+): 1/2 ||w||^2 + C/2 sum_i w_i xi_i^2 + lam/2 (||v||^2 + rho^2),
    * ``loss="hinge"`` (SVM1+): 1/2 ||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2, all xi_i >= 0,

    with y_i (w'x_i + b) >= 1 - xi_i and the slacks xi_i = v'z_i + rho + eta_i: a function of Z, and a
    slack of its own that costs lam/(2 free_slack) w_i eta_i^2; w_i are weights of examples. The paper
    has no eta (``free_slack=0``). Sums are not divided by n. Each class is separated from the rest; the
    kernel matrices and factors that do not depend on labels are shared.

    Without Z it is the ordinary SVM with that loss (and free b). Where privileged features say
    nothing about difficulty, the optimum of the paper's problem is often w = 0, which a warning points
    out; own slacks lead back to the ordinary SVM there.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    C : float, default=1.0
        Weight of the losses against the regulariser, > 0.
    lam : float, default=1.0
        Weight of the norm of the correcting function, > 0.
    kernel : str or callable, default="linear"
        Of X: "linear", "rbf", "poly", "sigmoid", "precomputed" or a function of two rows. Costs
        n^2 memory and up to n^3 time unless linear; without Z, "rbf" and "poly" with
        ``coef0 >= 0`` compute rows of the matrix when they are needed and keep 256 MB of them.
    kernel_z : str or callable, default="linear"
        Of Z, likewise; without the constant that the squared hinge adds to it.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid"; "scale" is 1/(n_features Var X), "auto" 1/n_features.
    gamma_z : {"scale", "auto"} or float, default="scale"
        The same for ``kernel_z``, of Z as scaled.
    degree : int, default=3
        Of both kernels, for "poly".
    coef0 : float, default=0.0
        Of both kernels, for "poly" and "sigmoid".
    standardize_z : bool, default=True
        Scale the columns of Z to mean 0 and variance 1 (weighted; sparse Z keeps its mean). lam is
        hard to choose otherwise, and a pipeline does not transform Z.
    nonneg_slack : bool or None, default=None
        Whether xi_i >= 0 is required. None: for the hinge only, as in the paper.
    free_slack : float, default=1.0
        How far slacks may leave the function of Z: the ordinary SVM for infinity, eta = 0 for 0,
        which is the paper's problem.
    label_signed : bool, default=False
        Slacks xi_i = y_i (v'z_i + rho) + eta_i, the correcting function with the label's sign. It needs
        ``free_slack > 0`` where xi_i >= 0 is required; for 0, examples that (x, z) separates. Without Z
        it changes nothing.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol, for each class.
    max_iter : int, default=1000
        Bound on iterations per class; each ends with a certificate.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
        m = n_classes problems below, class j against the rest; one for two classes, where
        ``classes_[1]`` is positive.
    coef_ : ndarray (m, n_features)
        w. Not there with a kernel on X.
    kernel_coef_ : ndarray (m, n_samples)
        With a kernel on X: f(x) = sum_i kernel_coef_i k(x_i, x) + b.
    intercept_ : ndarray (m,)
        b.
    odds_ : ndarray (m, 2)
        Slope >= 0 and offset of the lines that ``log_odds`` puts through the scores.
    correction_coef_, correction_intercept_ : ndarray (m, n_privileged_features), (m,)
        v and rho, of Z as scaled; v is not there with a kernel on Z, neither is without Z.
    correction_kernel_coef_ : ndarray (m, n_samples)
        With a kernel on Z: v = sum_i correction_kernel_coef_i phi(z_i).
    privileged_feature_names_in_ : ndarray (n_privileged_features,) of str
        Where Z was a data frame.
    z_scaler_ : object or None
        What Z went through: ``transform(Z)`` subtracts ``mean_`` (None for sparse Z) and divides by
        ``scale_``.
    dual_coef_ : ndarray (m, n_samples)
        alpha_i y_i; 0 for examples of weight zero.
    slack_dual_coef_ : ndarray (m, n_samples)
        Multipliers of xi_i >= 0; zeros if that is not required. Not there without Z.
    primal_objective_, dual_objective_, dual_gaps_ : ndarray (m,)
        P at the model, D at the multipliers, and their relative difference, rounded
        outwards: no claim is better than the truth (for a kernel, the kernel matrix as computed).
    dual_gap_ : float
        The largest of them.
    collapsed_ : ndarray of bool (m,)
        Whether the certificate shows that w = 0 is as good as any w.
    n_iter_ : int
        Iterations, of all problems.
    history_ : dict of ndarray
        "class" (which problem), "iteration", "time" (seconds), "primal", "dual", "gap" after each
        check.
    solver_ : str
        The algorithm that came to the end, comma-separated if classes differ.

    References
    ----------
    Xu, Zhou, Tsang, Qin, Goh, Liu, "Simple and Efficient Learning using Privileged Information",
    2016 (SVM2+); Vapnik, Vashist, "A new learning paradigm: Learning using privileged information",
    Neural Networks 2009 (SVM1+).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import SVMPlusClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> Z = X[:200] / 16  # in training the whole image is known, else its quarters' means
    >>> X = (X / 16).reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    >>> model = SVMPlusClassifier(C=10.0, tol=1e-4).fit(X[:200], y[:200], Z)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> model.predict(X[:3])
    array([0, 1, 2])
    """

    loss: str = "squared_hinge"
    C: float = 1.0
    lam: float = 1.0
    kernel: Any = "linear"
    kernel_z: Any = "linear"
    gamma: Any = "scale"
    gamma_z: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    standardize_z: bool = True
    nonneg_slack: bool | None = None
    free_slack: float = 1.0
    label_signed: bool = False
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = None
    verbose: int = 0

    def _check_settings(self) -> dict[str, Any]:
        C, tol, max_iter = check_settings(self, ("standardize_z", "label_signed"), {"loss": LOSSES})
        moderate("C", C)
        lam = moderate("lam", number("lam", self.lam, positive=True))
        delta = number("free_slack", self.free_slack)
        if delta > 0.0:
            moderate("free_slack", delta)
        nonneg = self.nonneg_slack
        if not (nonneg is None or isinstance(nonneg, bool | np.bool_)):
            raise InvalidTypeError(
                "nonneg_slack", repr(nonneg), "True, False or None", "leave it at None"
            )
        self._check_kernels()
        squared = self.loss == "squared_hinge"
        nonneg = not squared if nonneg is None else bool(nonneg)
        return {
            "squared": squared,
            "C": C,
            "lam": lam,
            "nonneg": nonneg,
            "free_slack": delta,
            "signed": check_signed(self.label_signed, squared, nonneg, delta),
            "tol": tol,
            "max_iter": max_iter,
        }
