"""Regularisation paths: a whole grid of C, each model certified, each begun at the one before."""

import copy
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from fast._validation import number
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.estimators.multiclass import MulticlassLinearModel
from fast.metrics import score_columns, topk_accuracy

#: Powers of ten, the range of Lapin et al. 2016, section 5.
PAPER_GRID = tuple(10.0**e for e in range(-5, 4))


@dataclass(frozen=True)
class RegularizationPath:
    """Fitted models in the order of increasing C; every one carries its own ``dual_gap_``."""

    Cs: np.ndarray
    models: list[Any]
    seconds: np.ndarray

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def best(self, X: Any, y: Any, k: int | None = None) -> Any:
        """The model with the largest top-k accuracy on (X, y); among equals the smallest C.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            Validation data.
        y : array (n_samples,)
        k : int, optional
            Default: the k of the models.
        """
        chosen = int(self.models[0].k if k is None else k)
        return self.models[int(np.argmax(self.accuracies(X, y, [chosen])[0]))]

    def accuracies(self, X: Any, y: Any, ks: Sequence[int]) -> np.ndarray:
        """Top-k accuracy of every model on (X, y), a row per k."""
        rows = []
        for model in self.models:
            f = score_columns(model.decision_function(X))
            rows.append([topk_accuracy(y, f, k, classes=model.classes_) for k in ks])
        return np.transpose(rows)


def regularization_path(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: Sequence[float] = PAPER_GRID,
    *,
    sample_weight: Any = None,
    eval_set: Any = None,
) -> RegularizationPath:
    """Fit ``estimator`` for every C, from the smallest on, each begun at the solution before.

    Parameters
    ----------
    estimator : TopKSVC or TopKLogisticRegression
        Its own C is ignored, and it is not changed.
    X, y, sample_weight, eval_set
        As in ``fit``.
    Cs : sequence of float, default 1e-5, 1e-4, ..., 1e3
        Values of C > 0, in any order.

    Returns
    -------
    RegularizationPath

    Raises
    ------
    InvalidTypeError
        The estimator is another one, or ``Cs`` not a sequence.
    InvalidParameterError
        No C, or one that is not positive; else as ``fit``.
    """
    if not isinstance(estimator, MulticlassLinearModel):
        raise InvalidTypeError(
            "estimator",
            repr(estimator),
            "a TopKSVC or TopKLogisticRegression",
            "pass, for example, TopKLogisticRegression()",
        )
    if not isinstance(Cs, Iterable):
        raise InvalidTypeError("Cs", repr(Cs), "a sequence of numbers > 0", "pass Cs=[1.0]")
    grid = sorted(number("Cs", C, positive=True) for C in Cs)
    if not grid:
        raise InvalidParameterError("Cs", "an empty sequence", "at least one C", "pass Cs=[1.0]")
    worker = clone(estimator).set_params(warm_start=True)
    models, seconds = [], []
    for C in grid:
        start = time.perf_counter()
        worker.set_params(C=C).fit(X, y, sample_weight, eval_set=eval_set)
        seconds.append(time.perf_counter() - start)
        model = copy.copy(worker)  # a fit replaces attributes, it never changes them in place
        model.set_params(warm_start=estimator.warm_start)
        for name in ("_last_dual", "_last_weights"):
            model.__dict__.pop(name, None)
        models.append(model)
    return RegularizationPath(np.array(grid), models, np.array(seconds))
