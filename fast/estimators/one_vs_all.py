"""One-vs-all classifier: all binary problems in one go over shared rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from fast.estimators._blocks import row_by_row
from fast.estimators._signed import SignedLinearModel


def _has_probabilities(self: OneVsAllClassifier) -> bool:
    if self.loss == "logistic":
        return True
    raise AttributeError(f"predict_proba needs loss='logistic', here loss={self.loss!r}")


@dataclass(eq=False, repr=False)
class OneVsAllClassifier(SignedLinearModel):
    """One linear classifier for each class against the rest, trained together, with a certified gap.

    Minimises P(W) = 1/2 ||W||_F^2 + C sum_i w_i sum_j l(z_ij), not divided by n, with z_ij = f_j at the
    wrong classes j and -f_j at the right one: the m binary problems of scikit-learn's
    ``OneVsRestClassifier`` of ``LinearSVC(loss="hinge", C=C)`` or ``LogisticRegression(C=C)``.

    * ``loss="hinge"``: l(z) = max(0, 1 + z);
    * ``loss="smooth_hinge"``: max over 0 <= x <= 1 of x (1 + z) - gamma/2 x^2;
    * ``loss="logistic"``: log(1 + e^z).

    Parameters
    ----------
    loss : {"hinge", "smooth_hinge", "logistic"}, default="hinge"
    gamma : float, default=1.0
        Smoothing of "smooth_hinge", > 0.
    C : float, default=1.0
        Weight of the losses against the regulariser, > 0.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol, of all classes together.
        Small problems, n * n_classes * n_features <= 20 000, go on to rounding.
    max_iter : int, default=1000
        Bound on iterations; each ends with a certificate.
    fit_intercept : bool, default=False
        Add a constant feature 1; its weights are regularised like the others.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class: of an example's losses in all its binary problems.
    warm_start : bool, default=False
        Begin at the last weights and dual, if they fit the data; C and the weights may change.
    solver : {"auto", "lbfgs", "newton", "proximal", "sdca"}, default="auto"
        Newton's method (of hinges up to 400 features, inside the proximal point method), the proximal
        point method around quasi-Newton steps, or coordinate ascent (hinges), quasi-Newton steps
        (smooth losses).
    random_state : int, RandomState instance or None, default=None
        Order of the examples; None is 0, so that two fits give the same bits.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.
    n_jobs : int or None, default=None
        Threads of passes over blocks of rows (solver "lbfgs"). -1: all cores. None: one.

    Attributes
    ----------
    coef_ : ndarray (n_classes, n_features)
        Row j for ``classes_[j]`` against the rest; also for two classes.
    intercept_ : ndarray (n_classes,)
    classes_ : ndarray (n_classes,)
    dual_coef_ : ndarray or CSR array (n_samples, n_classes)
        A, with the sign of each side; A'X is ``coef_`` up to the gap.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded outwards.
    n_iter_ : int
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap" at each certificate.
    evals_result_ : dict
        Measurements on ``eval_set``, if one was given.
    solver_ : str
        The algorithm that ran.

    References
    ----------
    Lapin, Hein, Schiele, "Loss Functions for Top-k Error", CVPR 2016, equations (2) and (3).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import OneVsAllClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OneVsAllClassifier(C=0.1, tol=1e-4, random_state=0).fit(X / 16, y)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    object_names: ClassVar[dict[str, str]] = {
        "hinge": "ova_hinge",
        "smooth_hinge": "ova_smooth_hinge",
        "logistic": "ova_logistic",
    }

    loss: str = "hinge"
    gamma: float = 1.0
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    fit_intercept: bool = False
    class_weight: Any = None
    warm_start: bool = False
    solver: str = "auto"
    random_state: Any = None
    verbose: int = 0
    n_jobs: int | None = None

    @available_if(_has_probabilities)
    @row_by_row
    def predict_proba(self, X: Any) -> np.ndarray:
        """1/(1 + e^-f) of every class, divided by their sum: (n, n_classes); loss="logistic" only."""
        p = np.maximum(expit(self._scores(X)), np.finfo(np.float64).tiny)
        return np.asarray(p / p.sum(axis=1, keepdims=True))
