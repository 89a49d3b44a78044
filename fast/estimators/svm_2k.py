"""Two SVMs on two views of the same examples."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import moderate, number
from fast.estimators._settings import check_settings
from fast.estimators._svm_plus_model import PrivilegedModel


@dataclass(eq=False, repr=False)
class SVM2KClassifier(PrivilegedModel):
    """SVM-2K: an SVM on X and one on a second view Z, held together where they disagree, certified.

    For labels y_i = +-1, f(x) = w'x + b and g(z) = v'z + rho minimises 1/2 ||w||^2 + 1/2 ||v||^2
    + sum_i w_i (C h(y_i f(x_i)) + C_z h(y_i g(z_i)) + D max(0, |f(x_i) - g(z_i)| - eps)), with
    h(m) = max(0, 1 - m) and weights of examples w_i. Sums are not divided by n. Each class is separated
    from the rest. ``predict(X)`` goes by f alone, as where Z is privileged (known for the training data
    only), ``predict(X, Z)`` by (f + g)/2, as its authors do. Without Z, ``fit`` trains the ordinary SVM.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the hinges of X, > 0.
    C_z : float, default=1.0
        Weight of the hinges of Z, > 0.
    D : float, default=1.0
        Weight of the disagreement, >= 0; for 0 there are two SVMs.
    eps : float, default=0.0
        Disagreement that is free, >= 0.
    kernel : str or callable, default="linear"
        Of X: "linear", "rbf", "poly", "sigmoid", "precomputed" or a function of two rows. Costs
        n^2 memory and n^3 time unless linear.
    kernel_z : str or callable, default="linear"
        Of Z, likewise.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid"; "scale" is 1/(n_features Var X), "auto" 1/n_features.
    gamma_z : {"scale", "auto"} or float, default="scale"
        The same for ``kernel_z``, of Z as scaled.
    degree : int, default=3
        Of both kernels, for "poly".
    coef0 : float, default=0.0
        Of both kernels, for "poly" and "sigmoid".
    standardize_z : bool, default=True
        Scale the columns of Z to mean 0 and variance 1 (weighted; sparse Z keeps its mean).
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol, for each class.
    max_iter : int, default=1000
        Bound on iterations per class; each ends with a certificate. 10 to 30 are usual.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
        m = n_classes problems below, class j against the rest; one for two classes, where
        ``classes_[1]`` is positive.
    coef_, kernel_coef_, intercept_ : ndarray (m, n_features), (m, n_samples), (m,)
        w, or with a kernel on X coefficients of the training examples; b.
    correction_coef_, correction_kernel_coef_, correction_intercept_ : ndarray
        The same of the view Z as scaled: v and rho, named as in ``SVMPlusClassifier``.
    dual_coef_, correction_dual_coef_, tie_dual_coef_ : ndarray (m, n_samples)
        alpha_i y_i of both hinges, and beta_i of the disagreement: w is X' (dual_coef_ - tie_dual_coef_)
        and v is Z' (correction_dual_coef_ + tie_dual_coef_) at the optimum. Without Z the first alone.
    odds_, z_scaler_, primal_objective_, dual_objective_, dual_gaps_, dual_gap_, n_iter_, history_, solver_
        As of ``SVMPlusClassifier``; gaps are rounded outwards: no claim is better than the truth.

    References
    ----------
    Farquhar, Hardoon, Meng, Shawe-Taylor, Szedmak, "Two view learning: SVM-2K, theory and practice",
    NIPS 2005; a baseline of Xu et al. 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import SVM2KClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> Z = X / 16
    >>> X = Z.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    >>> model = SVM2KClassifier(D=0.1, tol=1e-4).fit(X[:200], y[:200], Z[:200])
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> alone, both = model.predict(X[200:]), model.predict(X[200:], Z[200:])
    >>> bool((alone == y[200:]).mean() < (both == y[200:]).mean())
    True
    """

    C: float = 1.0
    C_z: float = 1.0
    D: float = 1.0
    eps: float = 0.0
    kernel: Any = "linear"
    kernel_z: Any = "linear"
    gamma: Any = "scale"
    gamma_z: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    standardize_z: bool = True
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = None
    verbose: int = 0

    def _check_settings(self) -> dict[str, Any]:
        C, tol, max_iter = check_settings(self, ("standardize_z",), {})
        prices = [moderate("C", C), moderate("C_z", number("C_z", self.C_z, positive=True))]
        D, eps = number("D", self.D), number("eps", self.eps)
        prices.append(moderate("D", D) if D > 0.0 else 0.0)
        self._check_kernels()
        return {
            "squared": False, "C": C, "lam": 1.0, "nonneg": False, "free_slack": 0.0, "tol": tol,
            "max_iter": max_iter, "tie": (prices[1], prices[2], eps),
        }  # fmt: skip

    def _store_other(self, beta: np.ndarray, kept: np.ndarray, labels: np.ndarray) -> None:
        self.correction_dual_coef_, self.tie_dual_coef_ = beta[:, 0], beta[:, 1]
        self.correction_dual_coef_[:, kept] *= labels.T

    def decision_function(self, X: Any, Z: Any = None) -> np.ndarray:
        """Scores of each class against the rest, (n, n_classes), (n,) for two: f, with Z (f + g)/2."""
        f = super().decision_function(X)
        return f if Z is None else 0.5 * (f + self.correction_function(Z))

    def predict(self, X: Any, Z: Any = None) -> np.ndarray:
        """The class with the largest score; for two classes ``classes_[1]`` where it is positive."""
        return self._named(self.decision_function(X, Z))
