"""Multilabel classifier: linear scores that rank the labels of each example."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fast._validation import check_indicator
from fast.errors import InvalidParameterError
from fast.estimators._blocks import row_by_row
from fast.estimators._progress import Monitor
from fast.estimators._settings import check_data, encode
from fast.estimators._signed import SignedLinearModel
from fast.estimators.multiclass import Problem
from fast.models.multiclass_erm import TrainingResult
from fast.solvers.rows import is_sparse
from fast.solvers.state import TrainingState


@dataclass(eq=False, repr=False)
class MultilabelClassifier(SignedLinearModel):
    """Linear scores that put the right labels of an example before the wrong ones, with a certified gap.

    Minimises P(W) = 1/2 ||W||_F^2 + C sum_i w_i L(y_i, W x_i), not divided by n. With P the right labels
    of an example and N the wrong ones the loss L is

    * ``loss="hinge"``: max(0, 1 + max f_N - min f_P), that of the multilabel SVM; 0 without a right or
      without a wrong label;
    * ``loss="smooth_hinge"``: its smoothing, max <z,x> - gamma/2 ||x||^2 over its dual set;
    * ``loss="entropy"``: log sum_j e^(f_j) less the mean of f_P, the cross-entropy to equal shares of the
      right labels; examples without a right label do not count.

    They rank: adding a number to all scores of an example changes no loss. `predict` says yes to labels
    whose score is above ``threshold_``, the one with the fewest wrong answers on the training data.

    Parameters
    ----------
    loss : {"hinge", "smooth_hinge", "entropy"}, default="hinge"
    gamma : float, default=1.0
        Smoothing of "smooth_hinge", > 0.
    C : float, default=1.0
        Weight of the losses against the regulariser, > 0.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol. Small problems,
        n * n_classes * n_features <= 20 000, go on to rounding.
    max_iter : int, default=1000
        Bound on iterations; each ends with a certificate.
    fit_intercept : bool, default=False
        Add a constant feature 1; its weights are regularised like the others.
    warm_start : bool, default=False
        Begin at the last weights or dual, if they fit the data; C and the weights may change.
    solver : {"auto", "lbfgs", "proximal", "sdca"}, default="auto"
        The proximal point method around quasi-Newton steps, or coordinate ascent (hinges); quasi-Newton
        steps (smooth losses).
    random_state : int, RandomState instance or None, default=None
        Order of the examples; None is 0, so that two fits give the same bits.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.
    n_jobs : int or None, default=None
        Threads of passes over blocks of rows (solver "lbfgs"). -1: all cores. None: one.

    Attributes
    ----------
    coef_ : ndarray (n_classes, n_features)
    intercept_ : ndarray (n_classes,)
    classes_ : ndarray (n_classes,)
        Numbers of the columns of ``y``, or its labels where it is a vector: one right label per example.
    multilabel_ : bool
        Whether ``y`` was an indicator.
    threshold_ : float
        Score above which a label is predicted, if it was.
    dual_coef_ : ndarray or CSR array (n_samples, n_classes)
        A; A'X is ``coef_`` up to the gap.
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
    Lapin, Hein, Schiele, "Analysis and Optimization of Loss Functions for Multiclass, Top-k, and
    Multilabel Classification", TPAMI 2018, section 2.3; Crammer and Singer 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from fast import MultilabelClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = MultilabelClassifier(C=0.1, random_state=0).fit(X / 10, Y)
    >>> model.predict(X[:2] / 10).shape
    (2, 5)
    """

    object_names: ClassVar[dict[str, str]] = {
        "hinge": "multilabel_hinge",
        "smooth_hinge": "multilabel_smooth_hinge",
        "entropy": "multilabel_entropy",
    }

    loss: str = "hinge"
    gamma: float = 1.0
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    fit_intercept: bool = False
    warm_start: bool = False
    solver: str = "auto"
    random_state: Any = None
    verbose: int = 0
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        X, y = check_data(self, X, y, multi_output=True)
        self.multilabel_ = type_of_target(y) == "multilabel-indicator"
        if not self.multilabel_:
            if np.ndim(y) == 2 and y.shape[1] > 1:
                check_indicator("y", y, y.shape)
            y = column_or_1d(y, warn=True)
            self.classes_, encoded = encode(y)
            return X, y, encoded[:, None] == np.arange(len(self.classes_))
        own = self._indicator(y)
        self.classes_ = np.arange(own.shape[1])
        return X, own, own

    @staticmethod
    def _indicator(y: Any, name: str = "y") -> np.ndarray:
        y = y.toarray() if is_sparse(y) else np.asarray(y)
        return check_indicator(name, y, y.shape)

    def _watched(self, name: str, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        if not self.multilabel_:
            X, y = super()._watched(name, X, y)
            return X, y[:, None] == np.arange(len(self.classes_))
        X, y = check_data(self, X, y, reset=False, multi_output=True)
        own = self._indicator(y)
        if own.shape[1] != len(self.classes_):
            raise InvalidParameterError(
                "eval_set",
                f"{own.shape[1]} labels in {name}",
                f"the {len(self.classes_)} of the training data",
                "pass an indicator with the same columns",
            )
        if not own.any():
            given, fix = f"no right label in {name}", "leave this set out"
            raise InvalidParameterError("eval_set", given, "an example with a right label", fix)
        some = own.any(axis=1) if self.loss == "entropy" else slice(None)
        return X[some], own[some]

    def _factors(self, y: np.ndarray, encoded: np.ndarray, weight: np.ndarray) -> np.ndarray:
        counted = encoded.any(axis=1) if self.loss == "entropy" else np.ones(len(encoded), bool)
        encoded[~counted, 0] = True  # any label: they do not count
        return np.where(counted, 1.0, 0.0)

    def _store(self, result: TrainingResult, problem: Problem, monitor: Monitor) -> None:
        super()._store(result, problem, monitor)
        if self.multilabel_:
            f = np.asarray(problem.features @ result.W.T, dtype=np.float64)
            self.threshold_ = best_threshold(f, problem.encoded, problem.r)

    def _reconstruction(self, state: TrainingState, X: Any, y: Any) -> dict[str, Any] | None:
        found = super()._reconstruction(state, X, y)
        return found if found is None or not self.multilabel_ else found | {"threshold_": 0.0}

    def _scores(self, X: Any) -> np.ndarray:
        f = super()._scores(X)
        return f - self.threshold_ if self.multilabel_ else f

    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores W x less ``threshold_``, (n, n_classes); as other classifiers for a vector ``y``."""
        check_is_fitted(self)
        found = self._scores(X) if self.multilabel_ else super().decision_function(X)
        return np.asarray(found)

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Indicator of the labels whose score is above ``threshold_``; for a vector ``y`` the best label."""
        check_is_fitted(self)
        return (self._scores(X) > 0.0).astype(np.int64) if self.multilabel_ else super().predict(X)


def best_threshold(f: np.ndarray, own: np.ndarray, weight: np.ndarray) -> float:
    """A number between scores (n, m) above which the fewest labels, by weight, are wrong."""
    order = np.argsort(-f, axis=None, kind="stable")
    scores = f.ravel()[order]
    gain = np.where(own, weight[:, None], -weight[:, None]).ravel()[order]
    right = np.append(0.0, np.cumsum(gain))
    apart = np.append(True, np.append(scores[1:] < scores[:-1], True))  # no cut through equal ones
    right[~apart] = -np.inf
    best = int(np.argmax(right >= right.max() - 1e-12 * weight.sum()))
    edges = np.concatenate([[scores[0] + 2.0], scores, [scores[-1] - 2.0]])
    return float(0.5 * (edges[best] + edges[best + 1]))
