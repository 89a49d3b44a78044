"""Examples with the roles of their columns, wherever they are from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fast.data.constant import whole
from verification.app.labels import UNKNOWN
from verification.errors import DataFileError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Roles:
    """Which columns (names or positions), or arrays of .npz and .mat, are no features.

    ``label``: default the last column, the array ``y``. ``privileged``: features of training alone;
    one array in .npz and .mat. ``ignore`` has to be there, ``spare`` may be; ``keep`` are features even if a data frame
    stored them as its index. ``labelled``: whether examples
    without a label are wrong. ``labels``, where an example has several: their columns, or the array of the
    indicator (default ``Y``). ``features``: the columns, or the array, tensor or dataset, of features; default
    all that have no other role, ``X``. ``header``: whether the first row of a CSV file has names, ``index_base``:
    at which index svm files begin; None where the file has to tell. ``separator``: between the fields of a table in
    text; None: by the suffix. ``drop_unlabelled``: rows of a table without a label are left out, not refused.
    ``room``: numbers are held with room for a constant feature (`fast.data.constant.with_room`).
    ``categories``: features that are names, also where these are numbers; ``("auto",)``: of these, numbers with zeros
    before their digits.
    """

    label: str | None = None
    weight: str | None = None
    group: str | None = None
    privileged: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    labelled: bool = True
    labels: tuple[str, ...] | None = None
    features: tuple[str, ...] = ()
    header: bool | None = None
    index_base: int | None = None
    separator: str | None = None
    drop_unlabelled: bool = False
    categories: tuple[str, ...] = ()
    room: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """All that were given."""
        single = (self.label, self.weight, self.group)
        return (
            *(name for name in single if name is not None),
            *self.privileged,
            *self.ignore,
            *(self.labels or ()),
        )


@dataclass(frozen=True)
class Known:
    """What a model, or the file that is trained on, says of other files.

    ``n_features`` and ``index_base`` of svm files; the classes; the names of the features; values of those that are
    text, by name, or where the file names none by their place among the features.
    """

    n_features: int | None = None
    classes: np.ndarray | None = None
    columns: tuple[str, ...] = ()
    index_base: int | None = None
    categories: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def trained(self) -> bool:
        """Whether it says anything."""
        return self.classes is not None or bool(self.columns or self.n_features)

    @classmethod
    def of(cls, examples: Examples) -> Known:
        """Of the file that is trained on."""
        y, d = examples.y, examples.X.shape[1]
        classes = None if y is None or examples.labels else np.unique(y)
        n_features = d if examples.sparse else None
        texts = {} if examples.sparse else {
            name if examples.named else str(j): {UNKNOWN if v is None else v for v in examples.X[name]}
            for j, name in enumerate(examples.X) if examples.X[name].dtype == object
        }  # fmt: skip
        return cls(n_features, classes, examples.columns or (), examples.index_base, texts)


@dataclass(frozen=True)
class Examples:
    """What a file holds.

    Attributes
    ----------
    source : its path
    X : data frame, a column of float64 or of text (object) per feature, nan or None where a value is
        missing; or CSR (svm)
    y : (n,) classes, (n, m) booleans where an example has several labels, or None
    named : whether the file names the features
    weight, group : (n,) or None
    Z : data frame of privileged features, or None
    apart : names of the columns that are no features, the label first
    place : where entry (i, feature) stands
    positive : of two classes made by ``--positive``, the name of the one
    grouped : name of the column or array of groups
    labels : names of the columns of an indicator y
    features : names under which the features were asked for, or the column of lists that they are
    index_base : of an svm file, the index of its first feature
    notes : what was taken for what
    counts : the parts of a folder, and their numbers of rows
    booleans : features that are written as True and False
    """

    source: Path
    X: Any
    y: np.ndarray | None
    named: bool
    place: Callable[[int, str], str]
    weight: np.ndarray | None = None
    group: np.ndarray | None = None
    Z: pd.DataFrame | None = None
    apart: tuple[str, ...] = ()
    positive: str | None = None
    grouped: str | None = None
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    index_base: int | None = None
    notes: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    booleans: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, y: np.ndarray, columns: Sequence[str] | None = None) -> Examples:
        """Examples that are arrays already."""
        import pandas as pd

        if not hasattr(X, "indptr"):
            X = pd.DataFrame(X, columns=list(map(str, columns or range(X.shape[1]))))
        return cls(
            Path("the examples"), X, y, columns is not None, lambda i, name: f"row {i}, {name}"
        )

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the features, if the file has any."""
        return tuple(self.X.columns) if self.named else None

    @property
    def taken(self) -> str:
        """One line: what the file's columns were taken for."""
        n, d = self.X.shape
        if self.sparse:
            features = [f"{d} features (sparse)"]
        else:
            texts = [str(name) for name in self.X if self.X[name].dtype == object]
            names = [str(name) for name in self.X if str(name) not in texts]
            kinds = [(names, "numbers"), (texts, "text")]
            features = [_few(them, kind, self.named) for them, kind in kinds if them]
        parts = [f"{n} rows", *features]
        if self.labels:
            parts.append(f"{len(self.labels)} labels")
        elif self.y is not None:
            m, kind = (
                len(np.unique(self.y)),
                {"U": "text", "b": "booleans"}.get(self.y.dtype.kind, "integers"),
            )
            name = f"label {self.apart[0]}: " if self.apart else "label: "
            parts.append(f"{name}{m} classes ({kind})")
        parts += ["weights"] * (self.weight is not None)
        if self.group is not None:
            parts.append(f"{len(np.unique(self.group))} queries ({self.grouped})")
        if self.Z is not None:
            parts.append(f"privileged: {_shown(list(map(str, self.Z)))}")
        return f"{self.source.name}: {'; '.join([*parts, *self.notes])}"

    @property
    def sparse(self) -> bool:
        """Whether X is CSR."""
        return hasattr(self.X, "indptr")

    def part(self, rows: np.ndarray) -> Examples:
        """Some of the examples."""
        return replace(
            self,
            X=self.X[rows] if self.sparse else _rows(self.X, rows),
            y=None if self.y is None else self.y[rows],
            place=lambda i, name, place=self.place: place(int(rows[i]), name),  # type: ignore[misc]
            weight=None if self.weight is None else self.weight[rows],
            group=None if self.group is None else self.group[rows],
            Z=None if self.Z is None else self.Z.iloc[rows].reset_index(drop=True),
        )


def _rows(frame: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Some rows, with room for a constant feature where there was."""
    held = whole(frame.to_numpy()) if (frame.dtypes == np.float64).all() else None
    if held is None:
        return frame.iloc[rows].reset_index(drop=True)
    return type(frame)(held[rows][:, :-1], columns=frame.columns, copy=False)


def _few(names: Sequence[str], kind: str, named: bool) -> str:
    plural = "s" * (len(names) != 1)
    return f"{len(names)} feature{plural} ({kind})" + (f": {_shown(names)}" if named else "")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])


def infinite(source: Path, place: str, value: float = np.inf) -> DataFileError:
    """The complaint about a feature that is inf, or nan where nothing fills missing values."""
    return DataFileError(
        f"{source}, {place}: the feature is {value:g}; expected a finite number: leave the example out"
    )
