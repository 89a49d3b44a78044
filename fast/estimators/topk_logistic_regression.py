"""Softmax regression and its versions for the top-k error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from fast.data import Source
from fast.errors import InvalidParameterError
from fast.estimators._blocks import row_by_row
from fast.estimators._progress import Monitor
from fast.estimators._truncated import TruncatedResult, train_truncated
from fast.estimators.multiclass import MulticlassLinearModel, Problem
from fast.models.multiclass_erm import (
    VARIANTS,
    TopKEntropy,
    TrainingResult,
    TruncatedEntropy,
)


def _has_probabilities(self: TopKLogisticRegression) -> bool:
    if self.k == 1:
        return True
    raise AttributeError(
        f"predict_proba needs k = 1, here k = {self.k}: the scores of a top-k entropy do not "
        "determine class probabilities (at the optimum classes at the cap 1/k keep any larger score, "
        "and the truncated loss ignores the largest ones); use k=1 or sklearn's CalibratedClassifierCV"
    )


@dataclass(eq=False, repr=False)
class TopKLogisticRegression(MulticlassLinearModel):
    """Linear classifier that minimises a top-k entropy loss, with a certified duality gap.

    Minimises P(W) = 1/2 ||W||_F^2 + C sum_i w_i L(y_i, W x_i), not divided by n: the scaling of
    scikit-learn's ``LogisticRegression``; C = 1/(lambda n) gives Lapin et al. With u_j = f_j - f_y
    over the other classes the loss L is

    * k = 1: softmax, log(1 + sum_j e^{u_j}), multinomial logistic regression;
    * ``variant="alpha"`` or ``"beta"``: the top-k entropy, whose conjugate is that of softmax
      restricted to the top-k simplex Delta_k of that kind;
    * ``truncated=True``: log(1 + sum e^{u_j}) without the k - 1 largest u_j, not convex.

    Parameters
    ----------
    k : int, default=1
        Number of guesses the loss allows, 1 <= k <= n_classes - 1.
    variant : {"alpha", "beta"}, default="alpha"
        Which top-k simplex; for k = 1 they are the same. The truncated loss has no variants.
    truncated : bool, default=False
        Use the truncated loss: majorise-minimise from the softmax solution, each convex step
        certified. What it finds is a stationary point that depends on this start.
    C : float, default=1.0
        Weight of the losses against the regulariser, > 0.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol. Small problems,
        n * n_classes * n_features <= 20 000, go on to rounding (at most 100 iterations).
    max_iter : int, default=1000
        Bound on Newton steps.
    fit_intercept : bool, default=False
        Add a constant feature 1; its weights are regularised like the others.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    warm_start : bool, default=False
        Begin at the last weights (with a kernel: at the last dual) where they fit the data;
        ``truncated`` then begins at the softmax solution all the same, found sooner.
    kernel : str or callable, default="linear"
        As in scikit-learn's ``pairwise_kernels``, or "precomputed". Costs n^2 memory and n^3 time.
    kernel_params : dict or None, default=None
        Arguments of the kernel, e.g. ``{"gamma": 0.1}`` for "rbf".
    solver : {"auto", "newton", "lbfgs", "interior", "sdca", "fista"}, default="auto"
        Newton's method with conjugate gradients; quasi-Newton steps with a homotopy in C for 100
        dense features or more; an interior point of the dual where the features are badly scaled or
        separate classes. "sdca" is the papers' method
        (not for ``truncated``) and "fista" what they compare it with: for comparison only.
    random_state : int, RandomState instance or None, default=None
        Order of the examples of solver "sdca", None is 0; no other one draws anything that matters.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.
    n_jobs : int or None, default=None
        Threads of passes over blocks of rows (solver "lbfgs"), each with one thread of BLAS; models
        do not depend on their number. -1: all cores. None: one, and BLAS as it is.

    Attributes
    ----------
    coef_ : ndarray (n_classes, n_features)
        W, row j for ``classes_[j]``; also for two classes. Not there with a kernel.
    intercept_ : ndarray (n_classes,)
    classes_ : ndarray (n_classes,)
    dual_coef_ : ndarray (n_samples, n_classes)
        A; its rows sum to 0. With a kernel, scores are K(x, X) A.
    primal_objective_, dual_objective_, dual_gap_ : float
        P, D, and their relative difference, rounded outwards: no claim is better than the truth
        (for a kernel, the kernel matrix as computed). For ``truncated`` they belong to the last
        convex step.
    n_iter_ : int
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap" at each certificate; for
        ``truncated`` those of the last convex step, with iterations counted from the first step on.
        With a kernel, of the problem in the coordinates of a factor of K.
    evals_result_ : dict
        Measurements on ``eval_set``, if one was given.
    solver_ : str
    kept_ : ndarray of bool (n_samples, n_classes)
        For ``truncated``: the classes that count in each example's loss, the true one included;
        all of them if it was stopped before the first convex step.
    truncated_objectives_ : ndarray
        For ``truncated``: the truncated risk at the softmax solution and after each convex step;
        it never increases.

    References
    ----------
    Lapin, Hein, Schiele, "Loss Functions for Top-k Error", CVPR 2016, section 3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import TopKLogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> model = TopKLogisticRegression(C=0.1, tol=1e-6).fit(X / 16, y)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> model.predict_proba(X[:2] / 16).shape
    (2, 10)
    """

    k: int = 1
    variant: str = "alpha"
    truncated: bool = False
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

    def _loss(self, n_classes: int) -> Any:
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise InvalidParameterError(
                "variant", repr(self.variant), "'alpha' or 'beta'", "choose one of the two losses"
            )
        if not isinstance(self.truncated, bool | np.bool_):
            raise InvalidParameterError(
                "truncated", repr(self.truncated), "True or False", "choose one of the two losses"
            )
        k = self._check_k(n_classes)
        if self.truncated and self.variant != "alpha":
            raise InvalidParameterError(
                "variant",
                f"{self.variant!r} with truncated=True",
                "'alpha'",
                "leave it out: the truncated loss has no variants",
            )
        if self.truncated and self.solver == "sdca":  # which softmax alone would not notice
            raise InvalidParameterError(
                "solver",
                "'sdca' with truncated=True",
                "a method in the primal, or 'interior'",
                "use 'auto': the truncated loss is not convex, and has no dual to ascend",
            )
        if self.truncated:
            return TruncatedEntropy(k)
        return TopKEntropy.named(self.variant, k)

    def _train(self, problem: Problem, options: dict[str, Any]) -> TrainingResult:
        if not self.truncated:
            return super()._train(problem, options)
        features, encoded, r, loss, tol = problem
        if isinstance(features, Source):
            given, fix = "True for rows in blocks", "load the rows: X[:]"
            raise InvalidParameterError("truncated", given, "False", fix)
        if "checkpoint" in options:
            given, fix = (
                "a file, and truncated=True",
                "leave it out: each step is a problem of its own",
            )
            raise InvalidParameterError("checkpoint", given, "truncated=False", fix)
        options.pop("seed")
        inner = tol if self._map is None else tol / 100.0
        found = train_truncated(
            features,
            encoded,
            r,
            len(self.classes_),
            loss.k,
            tol=inner,
            weights=self._starting_weights(features),
            solver=self.solver,
            **options,
        )
        self._truncated = found
        return found.result

    def _store(self, result: TrainingResult, problem: Problem, monitor: Monitor) -> None:
        super()._store(result, problem, monitor)
        if not self.truncated:
            return
        found: TruncatedResult = self._truncated
        if self.warm_start:
            self._last_weights = (found.softmax, self.classes_, self.fit_intercept)
        self.truncated_objectives_ = np.array(found.objectives)
        self.kept_ = np.ones((len(problem.encoded), len(self.classes_)), bool)
        if found.loss.dropped is not None:
            np.put_along_axis(self.kept_, found.loss.dropped, False, axis=1)

    def _concerns(self, tol: float, result: TrainingResult, X: Any = None) -> list[Warning]:
        """Also if the kept sets of ``truncated`` did not settle."""
        concerns, found = super()._concerns(tol, result, X), self.__dict__.pop("_truncated", None)
        if found is None or found.converged or concerns:
            return concerns
        message = (
            f"{type(self).__name__} was stopped after {self.n_iter_} iterations, before its "
            "kept sets settled; the last convex step is certified. Raise max_iter."
        )
        return [ConvergenceWarning(message)]

    def _fitted_loss(self) -> Any:
        return self._truncated.loss if self.truncated else super()._fitted_loss()

    @available_if(_has_probabilities)
    @row_by_row
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities softmax(W x), (n, n_classes); for k = 1 only."""
        return np.asarray(softmax(self._scores(X), axis=1))

    @available_if(_has_probabilities)
    @row_by_row
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`, without underflow."""
        return np.asarray(log_softmax(self._scores(X), axis=1))
