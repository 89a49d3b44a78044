"""A trained model with what it must be fed: scaling, and the names and order of the features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.report.environment import version

#: Fitted attributes of scikit-learn's scalers, an entry per feature.
SCALINGS: dict[str, tuple[str, ...]] = {
    "none": (),
    "minmax": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "standard": ("mean_", "var_", "scale_"),
    "maxabs": ("scale_", "max_abs_"),
}


@dataclass(frozen=True)
class Model:
    """A trained model.

    Attributes
    ----------
    estimator : the classifier, or the pipeline of a scaler and the classifier
    scale : name of the scaling: none, minmax, standard or maxabs
    columns : names of the features, if the training data had any
    written_by : version of refsolve that wrote the file
    """

    estimator: Any
    scale: str = "none"
    columns: tuple[str, ...] | None = None
    written_by: str = version("refsolve") or ""

    @property
    def classifier(self) -> Any:
        """The `fast.TopKSVC` or `fast.TopKLogisticRegression`, with its certificate."""
        return self.estimator if self.scale == "none" else self.estimator[-1]

    @property
    def certified(self) -> bool:
        """Whether training reached the gap that was asked for."""
        return bool(self.classifier.dual_gap_ <= self.classifier.tol)

    def predict(self, X: Any, columns: Sequence[str] | None = None) -> np.ndarray:
        """The class with the largest score of each row.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features), or a data frame
        columns : names of its columns, if they may stand in another order than in training; those of
            a data frame are its own

        Raises
        ------
        InvalidArgumentError
            Columns that are not those of the training data.
        """
        named = getattr(X, "columns", None) if columns is None else columns
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
        return np.asarray(self.estimator.predict(in_order(X, named, self.columns)))


def in_order(
    X: Any, columns: Sequence[str] | None, wanted: Sequence[str] | None, where: str = "X"
) -> Any:
    """X with its columns in the order of training; without names on both sides they are left alone.

    Raises
    ------
    InvalidArgumentError
        If the names are not the same, or do not tell the columns apart.
    """
    if columns is None or wanted is None or list(columns) == list(wanted):
        return X
    if set(columns) != set(wanted) or not len(columns) == len(wanted) == len(set(wanted)):
        lost = [name for name in wanted if name not in columns]
        odd = [name for name in columns if name not in wanted]
        raise InvalidArgumentError(
            f"{where}: its columns are not those of the training data: {lost!r:.200} lack, "
            f"{odd!r:.200} are unknown; expected {list(wanted)!r:.400}, in any order if no name occurs "
            "twice"
        )
    X = X if hasattr(X, "shape") else np.asarray(X)
    return X[:, [list(columns).index(name) for name in wanted]]


def scaler(name: str, sparse: bool) -> Any:
    """Return the scikit-learn transformer of that name, None for ``none``."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if name not in SCALINGS:
        raise InvalidArgumentError(f"scale is {name!r}; expected one of {', '.join(SCALINGS)}")
    if sparse and name == "minmax":
        raise InvalidArgumentError(
            "scale='minmax' would make sparse features dense; use 'maxabs' for svm files"
        )
    if name == "minmax":
        return MinMaxScaler((-1.0, 1.0))
    if name == "standard":
        return StandardScaler(with_mean=not sparse)
    return MaxAbsScaler() if name == "maxabs" else None
