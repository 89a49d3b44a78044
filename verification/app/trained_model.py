"""A trained model with what it must be fed: preparation, and the names and order of the features."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fast.data.columns import data_frame
from verification.app.console import LOG
from verification.app.dataset import Examples, Known
from verification.app.labels import listed
from verification.app.preprocessing import check, frame_for, numbers
from verification.errors import DataFileError, InvalidArgumentError
from verification.fitted_loss import loss_of
from verification.report.environment import version


@dataclass(frozen=True)
class Model:
    """A trained model.

    Attributes
    ----------
    estimator : the classifier, or the pipeline of what prepares the features and the classifier
    scale : name of the scaling of numbers: none, minmax, standard or maxabs
    columns : names of the features, if the training data had any
    impute : what fills missing values: mean, median, most_frequent or None
    categories : values of each feature that is a category
    apart : columns of the training data that are no features; the first is the label
    positive : where it tells one class from the rest, that class's name
    group : name of the column or array of queries
    written_by : version of refsolve that wrote the file
    labels : names of the labels, where an example has several
    features : the column of lists, array, tensor or dataset that the features are
    index_base : the index of the first feature in svm files
    trained_on : SHA-256 of the files of the training data
    booleans : features that were written as True and False; as categories, by place where they have no names
    """

    estimator: Any
    scale: str = "none"
    columns: tuple[str, ...] | None = None
    impute: str | None = None
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    positive: str | None = None
    group: str | None = None
    written_by: str = version("refsolve") or ""
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    index_base: int | None = None
    trained_on: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()

    @property
    def known(self) -> Known:
        """What it says of files with examples."""
        n_features = None if self.columns is not None else self.estimator.n_features_in_
        classes = self.classifier.classes_
        if (one := self.positive) is not None:  # a number, where it is written as one
            classes = np.array(
                [int(one) if re.fullmatch("0|-?[1-9][0-9]*", one, re.ASCII) else one]
            )
        return Known(n_features, classes, self.columns or (), self.index_base, self.categories)

    @property
    def classifier(self) -> Any:
        """The estimator of `fast`, with its certificate."""
        return self.estimator[-1] if hasattr(self.estimator, "steps") else self.estimator

    @property
    def names(self) -> np.ndarray:
        """The classes as they are shown."""
        if self.positive is None:
            return np.asarray(self.labels or self.classifier.classes_)
        return np.array([f"not {self.positive}", self.positive])

    @property
    def certified(self) -> bool:
        """Whether training reached the gap that was asked for."""
        return bool(self.classifier.dual_gap_ <= self.classifier.tol)

    @property
    def audited(self) -> bool:
        """Whether the loss has a convex bound per example, so that `refsolve audit` takes the model."""
        settings = self.classifier.get_params()
        known = type(self.classifier).__name__ in ("TopKSVC", "TopKLogisticRegression")
        plain = settings.get("beta") is None and settings.get("variant") != "consistent"
        return known and plain and not settings.get("truncated")

    @property
    def loss(self) -> str:
        """The object in `refsolve.losses` that the losses are."""
        if hasattr(self.classifier, "object_name"):
            return str(self.classifier.object_name)
        truncated = getattr(self.classifier, "truncated", False)  # certified as a convex step
        return "truncated_topk_entropy" if truncated else loss_of(self.classifier)[0]

    @property
    def framed(self) -> bool:
        """Whether the estimator takes a data frame: features that are no numbers, or are missing."""
        return self.impute is not None or bool(self.categories)

    def predict(self, X: object, columns: Sequence[str] | None = None) -> np.ndarray:
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
        return np.asarray(self.estimator.predict(self.arranged(X, columns)))

    def arranged(self, X: Any, columns: Sequence[str] | None = None) -> Any:
        """X as the estimator takes it; the parameters are those of `predict`."""
        frame = data_frame("X", X)
        if frame is None and not self.framed:
            return in_order(X, columns, self.columns)
        import pandas as pd

        from verification.app.tables import of_frame

        if frame is None:
            wanted = self.columns or tuple(str(j) for j in range(np.shape(X)[1]))
            frame = pd.DataFrame(
                np.asarray(X, object), columns=list(wanted if columns is None else columns)
            )
        elif columns is not None:
            frame = pd.DataFrame(frame).set_axis(list(columns), axis=1)
        table = of_frame(frame)
        names = list(table.columns)
        wanted = self.columns or tuple(names)
        if lost := [name for name in wanted if name not in names]:
            raise InvalidArgumentError(
                f"X lacks the columns {listed(lost)} of the training data; it has {listed(names)}"
            )
        if more := [name for name in names if name not in (*wanted, *self.apart)]:
            LOG.warning("X: columns that the model does not know are left out: %s", listed(more))
        found = {
            name: table.words(name, self.categories[name]) if name in self.categories else table.values(name)
            for name in wanted
        }
        X = pd.DataFrame({name: pd.Series(c, dtype=c.dtype) for name, c in found.items()})
        booleans = tuple(table.booleans)
        return self.fed(Examples(Path("X"), X, None, True, table.place, booleans=booleans))

    def fed(self, examples: Examples) -> Any:
        """The features of a file as the estimator takes them, in the order of training.

        Raises
        ------
        DataFileError, InvalidArgumentError
            Other features than in training, text or missing values where training had none.
        """
        if examples.sparse:
            if self.framed or examples.X.shape[1] != self.estimator.n_features_in_:
                raise DataFileError(
                    f"{examples.source} has {examples.X.shape[1]} features, without names; the model expects "
                    f"{self.estimator.n_features_in_}"
                )
            dense = getattr(self.estimator, "steps", None) and not _keeps_zeros(self.estimator[0])
            return examples.X.toarray() if dense else examples.X
        examples = self._ordered(examples)
        self._check_booleans(examples)
        if not self.framed:
            return numbers(examples)
        check(examples, tuple(self.categories), self.impute is not None)
        return frame_for(examples, self.categories)

    def _check_booleans(self, examples: Examples) -> None:
        """Refuse what is neither True nor False (nor 1 nor 0) where training had nothing else."""
        for name in self.booleans:
            at = examples.X.columns[int(name) if self.columns is None else self.columns.index(name)]
            column = examples.X[at]
            if column.dtype == object:
                good = [v is None or v.lower() in ("true", "false") for v in column]
            else:
                good = np.isin(column, (0.0, 1.0)) | np.isnan(column)
            if not np.all(good):
                i = int(np.argmin(good))
                raise DataFileError(
                    f"{examples.source}, {examples.place(i, at)}: expected True or False, as in training, or 1 or 0; "
                    f"got {column[i]!s:.80}"
                )

    def unknown_values(self, examples: Examples) -> list[str]:
        """A line for each feature with categories that training did not see, or True and False where it had numbers."""
        numbers = {*(self.columns or ())} - {*self.booleans, *self.categories}
        odd = [name for name in examples.booleans if name in numbers]
        said = [f"{name}: True and False are taken as 1 and 0; training had numbers" for name in odd]
        if examples.sparse or not self.categories:
            return said
        frame, lines = frame_for(self._ordered(examples), self.categories), []
        for name, known in self.categories.items():
            new = frame[name][~frame[name].isin(known)]
            if len(new):
                lines.append(
                    f"{name}: {len(new)} of {len(frame)} values are none that training saw, such as {new.iloc[0]!r}; "
                    "they count as none of its categories"
                )
        return [*said, *lines]

    def _ordered(self, examples: Examples) -> Examples:
        names = list(examples.X.columns)
        if self.columns is None or not examples.named:
            wanted = (
                self.classifier.n_features_in_ if not self.framed else self.estimator.n_features_in_
            )
            if len(names) != wanted:
                raise DataFileError(
                    f"{examples.source} has {len(names)} features; the model expects {wanted}, in the order "
                    "of its training data"
                )
            if not self.framed:
                return examples
            there = dict(zip(self.columns or map(str, range(wanted)), names, strict=True))
            place = examples.place
            return replace(examples, X=examples.X.set_axis(list(there), axis=1),
                           place=lambda i, name: place(i, there[name]))  # fmt: skip
        if lost := [name for name in self.columns if name not in names]:
            raise InvalidArgumentError(
                f"{examples.source} lacks the features {listed(lost)} of the model; it has {listed(names)}"
            )
        return replace(examples, X=examples.X[list(self.columns)])

    def additional(self, examples: Examples) -> list[str]:
        """Columns that training did not have, which are left out."""
        if self.columns is None or not examples.named:
            return []
        return [name for name in examples.X.columns if name not in {*self.columns, *self.apart}]


def _keeps_zeros(scaling: object) -> bool:
    return hasattr(scaling, "max_abs_") or getattr(scaling, "with_mean", None) is False


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
            f"{where}: its columns are not those of the training data: {listed(lost)} lack, "
            f"{listed(odd)} are unknown; expected {listed(wanted)}, in any order if no name occurs "
            "twice"
        )
    X = X if hasattr(X, "shape") else np.asarray(X)
    return X[:, [list(columns).index(name) for name in wanted]]
