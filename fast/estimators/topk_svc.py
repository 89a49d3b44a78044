"""Multiclass support vector machine for the top-k error."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._validation import MAGNITUDE, number
from fast.errors import InvalidParameterError
from fast.estimators.multiclass import MulticlassLinearModel
from fast.families import Loss
from fast.losses.consistent_topk_hinge import ConsistentTopKHinge
from fast.losses.ordered_weighted_hinge import OrderedWeightedHinge
from fast.losses.smooth_consistent_topk_hinge import SmoothConsistentTopKHinge
from fast.models.multiclass_erm import VARIANTS, TopKHinge


@dataclass(eq=False, repr=False)
class TopKSVC(MulticlassLinearModel):
    """Linear classifier that minimises a top-k hinge loss, with a certified duality gap.

    Minimises P(W) = 1/2 ||W||_F^2 + C sum_i w_i L(y_i, W x_i), not divided by n: the scaling of
    scikit-learn's ``LinearSVC``; C = 1/(lambda n) gives Lapin et al. With z_j = f_j - f_y + 1 over
    the other classes and z_[1] >= z_[2] >= ... the loss L is

    * ``variant="alpha"``: max(0, (z_[1] + ... + z_[k])/k);
    * ``variant="beta"``: (max(0, z_[1]) + ... + max(0, z_[k]))/k;
    * ``variant="consistent"``: 1 + max(f_[1] - 1, tau) - f_y, sum_j max(0, f_j - tau) = k over all classes,
      with top-k optimal minimisers of the risk; no upper bound of the top-k error;
    * ``gamma > 0``: its smoothing max_p <z,p> - gamma/2 ||p||^2 over the top-k simplex, and for "consistent"
      gamma/2 (||p||^2 - 1) added to the conjugate, p the probabilities of all classes;
    * ``beta``: beta_1 max(0, z_[1]) + beta_2 max(0, z_[2]) + ..., in the place of the others.

    k = 1 is the multiclass SVM of Crammer and Singer.

    Parameters
    ----------
    k : int, default=1
        Number of guesses the loss allows, 1 <= k <= n_classes - 1; with ``beta`` only those of
        ``predict_topk``.
    variant : {"alpha", "beta", "consistent"}, default="alpha"
        Which of the losses; "consistent" is trained by solver "sdca", with Newton steps on faces of the dual.
    gamma : float, default=0.0
        Smoothing, >= 0; 0 is the hinge itself.
    C : float, default=1.0
        Weight of the losses against the regulariser, > 0.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol. Small problems,
        n * n_classes * n_features <= 20 000, go on to rounding (at most 100 iterations): it costs
        nothing, and weights then equal repetitions to 7 digits.
    max_iter : int, default=1000
        Bound on iterations; each ends with a certificate.
    fit_intercept : bool, default=False
        Add a constant feature 1; its weights are regularised like the others.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    warm_start : bool, default=False
        Begin at the last dual if the labels are the same and ``k`` and ``variant`` too; C and the
        weights may change.
    kernel : str or callable, default="linear"
        As in scikit-learn's ``pairwise_kernels``, or "precomputed". Costs n^2 memory and n^3 time,
        but for two classes with "rbf", "poly", "laplacian" or "cosine" and ``solver="auto"``, where
        rows of the matrix are computed when they are needed and 256 MB of them kept.
    kernel_params : dict or None, default=None
        Arguments of the kernel, e.g. ``{"gamma": 0.1}`` for "rbf".
    solver : {"auto", "active", "interior", "newton", "lbfgs", "sdca", "fista"}, default="auto"
        See :mod:`fast.models.multiclass_erm`; all reach the same certificate. "newton", "lbfgs" and
        "fista" need ``gamma`` > 0.
    random_state : int, RandomState instance or None, default=None
        Order of the examples; None is 0, so that two fits give the same bits.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.
    n_jobs : int or None, default=None
        Threads of passes over blocks of rows (solver "lbfgs"), each with one thread of BLAS; models
        do not depend on their number. -1: all cores. None: one, and BLAS as it is.
    beta : float, array-like (n_classes - 1,) or None, default=None
        Weights beta_1 >= beta_2 >= ... >= 0 of the ordered margin violations, the largest first, of
        Usunier, Buffoni and Gallinari; one number for all: Weston and Watkins. (1/k, ..., 1/k, 0, ...)
        is ``variant="beta"``. Trained by solver "sdca", without smoothing.

    Attributes
    ----------
    coef_ : ndarray (n_classes, n_features)
        W, row j for ``classes_[j]``; also for two classes. Not there with a kernel.
    intercept_ : ndarray (n_classes,)
    classes_ : ndarray (n_classes,)
    dual_coef_ : CSR array (n_samples, n_classes)
        A; its rows sum to 0. A'X is the dual's own W, equal to ``coef_`` up to the gap; with a
        kernel it is the model, and scores are K(x, X) A.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded
        outwards: no claim is better than the truth (for a kernel, the kernel matrix as computed).
    n_iter_ : int
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap" after each check. With a kernel,
        of the problem in the coordinates of a factor of K (but solver "smo").
    evals_result_ : dict
        Measurements on ``eval_set``, if one was given.
    solver_ : str
        The algorithm that ran; "smo" for two classes with a kernel.

    References
    ----------
    Lapin, Hein, Schiele, "Top-k Multiclass SVM", NIPS 2015 (alpha, beta); "Loss Functions for
    Top-k Error", CVPR 2016 (smoothing). The alpha loss sums over the other classes, which is what
    the published dual and update belong to. "consistent" for k = 1: Duchi, Khosravi, Ruan 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import TopKSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = TopKSVC(k=3, C=0.1, tol=1e-4, random_state=0).fit(X / 16, y)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> model.predict_topk(X[:2] / 16, k=3).shape
    (2, 3)
    """

    k: int = 1
    variant: str = "alpha"
    gamma: float = 0.0
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    fit_intercept: bool = False
    class_weight: Any = None
    warm_start: bool = False
    kernel: Any = "linear"
    kernel_params: dict[str, Any] | None = None
    solver: str = "auto"
    random_state: Any = None
    verbose: int = 0
    n_jobs: int | None = None
    beta: Any = None

    def _dual_kind(self) -> tuple:
        return (*super()._dual_kind(), None if self.beta is None else tuple(np.ravel(self.beta)))

    def _loss(self, n_classes: int) -> Loss:
        if self.beta is not None:
            if self.gamma != 0.0:
                raise InvalidParameterError(
                    "gamma", f"{self.gamma} with beta", "0", "leave beta or gamma out"
                )
            self._check_k(n_classes)
            loss = OrderedWeightedHinge(self.beta)
            loss.weights(n_classes - 1)
            return loss
        if not isinstance(self.variant, str) or self.variant not in (*VARIANTS, "consistent"):
            raise InvalidParameterError(
                "variant",
                repr(self.variant),
                "'alpha', 'beta' or 'consistent'",
                "choose one of the losses",
            )
        gamma = number("gamma", self.gamma)
        if gamma != 0.0 and not 1.0 / MAGNITUDE <= gamma <= MAGNITUDE:
            raise InvalidParameterError(
                "gamma",
                f"{gamma:g}",
                f"0, or a number between {1.0 / MAGNITUDE:g} and {MAGNITUDE:g}",
                "use 0 for the hinge itself",
            )
        if gamma == 0.0 and self.solver == "newton":
            raise InvalidParameterError(
                "solver",
                "'newton' with gamma = 0",
                "a smooth loss",
                "set gamma > 0 or solver='active'",
            )
        k = self._check_k(n_classes)
        if self.variant == "consistent":
            return SmoothConsistentTopKHinge(k, gamma) if gamma > 0 else ConsistentTopKHinge(k)
        return TopKHinge.named(self.variant, k, gamma)
