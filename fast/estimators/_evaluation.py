"""Data sets watched while training: loss and accuracy at every certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import label_ranking_average_precision_score

from fast.data.columns import aligned
from fast.errors import InvalidParameterError
from fast.estimators._settings import check_data
from fast.metrics import topk_accuracy
from fast.solvers.state import TrainingState


class Evaluation:
    """Measures the best model so far on every watched data set.

    ``result()`` maps the name of a set ("eval_0", ... for a list) to arrays "iteration", "loss"
    (mean of the training loss, unweighted), "accuracy" and "topk_accuracy" (at the model's k); of rows of
    labels "top_label" (how often the best label is a right one) and "average_precision" (of the ranking).
    """

    def __init__(self, sets: dict[str, tuple[Any, np.ndarray]], estimator: Any, loss: Any) -> None:
        self.sets, self.loss = sets, loss
        self.k, self.classes = int(estimator.k), np.arange(len(estimator.classes_))
        self.values: dict[str, list[tuple[float, ...]]] = {name: [] for name in sets}

    @classmethod
    def of(cls, given: Any, estimator: Any, loss: Any) -> Evaluation | None:
        """Check ``eval_set`` and bring it into the coordinates that are trained in."""
        if given is None:
            return None
        named = given if isinstance(given, dict) else _numbered(given)
        sets = {}
        for name, pair in named.items():
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise InvalidParameterError(
                    "eval_set", f"{type(pair).__name__} as {name}", "pairs (X, y)", "pass [(X, y)]"
                )
            X, y = pair
            X = aligned(X, getattr(estimator, "feature_names_in_", None), f"eval_set {name}")
            X, encoded = estimator._watched(name, X, y)
            kernel = estimator._map
            if kernel is None:
                features = estimator._with_constant(X)
            else:
                features = kernel.transform(kernel.between(X, estimator.X_fit_))
            sets[str(name)] = features, encoded
        return cls(sets, estimator, loss)

    def add(self, state: TrainingState) -> None:
        """Measure at a certificate."""
        for name, (X, y) in self.sets.items():
            f = np.ascontiguousarray(X @ state.W.T, np.float64)
            values = self.loss.values(f, y)
            if y.ndim == 2:
                some = y.any(axis=1)
                top = [float(y[np.arange(len(y)), f.argmax(axis=1)].mean())]
                top += [float(label_ranking_average_precision_score(y[some], f[some]))]
            else:
                top = [float(topk_accuracy(y, f, k, classes=self.classes)) for k in (1, self.k)]
            self.values[name].append((state.n_iter, float(np.mean(values)), *top))

    def result(self) -> dict[str, dict[str, np.ndarray]]:
        """All measurements, per data set."""
        found = {}
        for name, rows in self.values.items():
            last = ("accuracy", "topk_accuracy")
            last = ("top_label", "average_precision") if self.sets[name][1].ndim == 2 else last
            names = ("iteration", "loss", *last)
            found[name] = dict(zip(names, np.array(rows).reshape(-1, 4).T, strict=True))
        return found


def watched(estimator: Any, name: str, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Features and class numbers of a set that is watched."""
    X, y = check_data(estimator, X, y, reset=False)
    unknown = np.setdiff1d(y, estimator.classes_)
    if unknown.size:
        raise InvalidParameterError(
            "eval_set",
            f"labels {unknown[:5].tolist()} in {name}",
            "labels of the training data",
            "leave these examples out",
        )
    return X, np.searchsorted(estimator.classes_, np.asarray(y)).astype(np.int64)


def _numbered(given: Any) -> dict[str, Any]:
    if not isinstance(given, list | tuple) or (
        len(given) == 2 and not isinstance(given[0], list | tuple)
    ):
        raise InvalidParameterError(
            "eval_set", type(given).__name__, "a list of pairs (X, y)", "pass [(X, y)]"
        )
    return {f"eval_{i}": pair for i, pair in enumerate(given)}
