"""`refsolve compare`: the papers' protocol on a user's data, a row of the table at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fast.data import parts
from verification.app.column_checks import doubts, without, without_identifiers
from verification.app.console import Task, say
from verification.app.data_options import common_classes, one_against_rest
from verification.app.dataset import Examples, Known, Roles
from verification.app.io import read
from verification.app.preprocessing import numbers, transformer
from verification.app.rows import Kept
from verification.app.rows import run as rows_run
from verification.app.training import unfitted
from verification.benchmarks.binary import binary_rows
from verification.benchmarks.protocol import (
    Parts,
    Row,
    RowResult,
    compile_trainers,
    loss_of,
    methods_for,
    run_row,
)
from verification.errors import DataFileError, InvalidArgumentError
from verification.instances import npz

#: Parts of one file: of all examples, what is tested on; of the others, what chooses C.
TEST, VALIDATION = 0.25, 1 / 3
#: Eigenvalues of a Gram matrix below minus this, times the largest, are no rounding.
INDEFINITE = 1e-8


@dataclass(frozen=True)
class Settings:
    """What decides the numbers: files by their content, methods, values of C, and how parts are made."""

    files: tuple[str, ...]
    methods: tuple[str, ...]
    guesses: tuple[int, ...]
    grid: tuple[float, ...]
    extend_grid: int
    tol: float
    scale: str
    fit_intercept: bool
    splits: int
    seed: int
    label: str | None
    gram: str | None
    impute: str | None = None
    categories: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    positive: str | None = None
    privileged: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    header: bool | None = None
    index_base: int | None = None
    separator: str | None = None
    rare_classes: str | None = None
    drop_unlabelled: bool = False


@dataclass(frozen=True)
class Data:
    """Features and labels 0..m-1 of the three parts of every split; ``classes`` are their names."""

    splits: Sequence[Parts]
    classes: np.ndarray


# -- data -----------------------------------------------------------------------------------------


def load(
    files: tuple[Path, Path | None, Path | None], labels: Sequence[Path | None], settings: Settings
) -> Data:
    """Read the files to train, validate and test on; labels may be in files of their own.

    Of what is missing a part is drawn from the first, of every class the same share.

    Raises
    ------
    DataFileError
        A file that cannot be read, a label that the training file has not, a Gram matrix that is none.
    InvalidArgumentError
        More than one split of files that are parts already, fewer than two classes.
    """
    train, validation, test = files
    if settings.splits > 1 and not validation is test is None:
        raise InvalidArgumentError(
            f"splits={settings.splits} goes with one file, of which parts are drawn; leave --splits out"
        )
    roles = Roles(settings.label, ignore=settings.ignore, keep=settings.keep, privileged=settings.privileged,
                  header=settings.header, features=settings.features, index_base=settings.index_base,
                  separator=settings.separator, drop_unlabelled=settings.drop_unlabelled,
                  categories=tuple(settings.categories))  # fmt: skip
    bare = replace(roles, privileged=(), spare=settings.privileged)  # of the test part
    if settings.gram is not None:
        if not validation is test is None:
            raise InvalidArgumentError("--gram goes with one file, of which parts are drawn")
        whole = _of_gram(train, settings.gram, settings.label or "y")
    else:
        whole = read(train, roles, None, labels[0])
    say(whole.taken)
    known, others = Known.of(whole), list[Examples | None]()
    for file, own, its_labels in zip((validation, test), (roles, bare), labels[1:], strict=True):
        part = None if file is None else read(file, own, known, its_labels)
        if part is not None:
            say(part.taken)
            part = one_against_rest(part, settings.positive)
        others.append(part)
    given = len(whole.apart)
    whole = without_identifiers(one_against_rest(whole, settings.positive), settings.categories, settings.keep)
    others = [None if other is None else without(other, whole.apart[given:]) for other in others]
    say(*doubts(whole))
    missing = sum(other is None for other in others)
    if settings.rare_classes is not None and missing < 2:
        raise InvalidArgumentError("--rare-classes goes with one file, of which parts are drawn; leave it out")
    whole = common_classes(whole, settings.rare_classes, missing + 2)
    assert whole.y is not None
    classes, counts = np.unique(whole.y, return_counts=True)
    if len(classes) < 2:
        raise InvalidArgumentError(
            f"{train}: one class, {str(classes[0])!r}; expected at least two"
        )
    short = min(counts.tolist())
    if missing and short < missing + 2:
        raise InvalidArgumentError(
            f"{train}: class {str(classes[int(np.argmin(counts))])!r} has {short} examples; expected {missing + 2} "
            "of every class to draw parts; --rare-classes drop or merge, or --validation and --test"
        )
    return Data(
        [_parts(whole, others, classes, settings, s) for s in range(settings.splits)], classes
    )


def _of_gram(file: Path, name: str, label: str) -> Examples:
    """Features F with K = F F': what is trained on them, with no bias, is trained with the kernel."""
    from verification.app import mat_file

    reader = mat_file if file.suffix.lower() == ".mat" else npz
    arrays = reader.read(file, [name, label])
    K = np.asarray(arrays[name])
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(arrays[label]) != len(K):
        raise DataFileError(
            f"{file}: expected {name} (n, n) and {label} (n,), got {K.shape} and {arrays[label].shape}"
        )
    K = K.astype(np.float64)
    if not np.isfinite(K).all() or np.abs(K - K.T).max() > INDEFINITE * np.abs(K).max():
        raise DataFileError(f"{file}: {name} is not symmetric and finite; expected a Gram matrix")
    values, vectors = np.linalg.eigh(K)
    if values[0] < -INDEFINITE * abs(values[-1]):
        raise DataFileError(
            f"{file}: {name} has the eigenvalue {values[0]:.3g}; expected a positive semidefinite matrix: "
            "add a multiple of the identity, or take another kernel"
        )
    kept = values > INDEFINITE**2 * values[-1]
    return Examples.of(vectors[:, kept] * np.sqrt(values[kept]), arrays[label])


def _parts(
    whole: Examples, others: Sequence[Examples | None], classes: np.ndarray, settings: Settings, s: int
) -> Parts:  # fmt: skip
    from sklearn.model_selection import train_test_split

    seed, left, parts = settings.seed + s, np.arange(len(whole.y)), list(others)  # type: ignore[arg-type]
    y = np.asarray(whole.y)
    for at, share in ((1, TEST), (0, VALIDATION)):
        if parts[at] is None:
            try:
                left, taken = train_test_split(
                    left, test_size=share, random_state=seed, stratify=y[left]
                )
            except ValueError:
                raise InvalidArgumentError(
                    f"{whole.source}: parts with every class cannot be drawn from {len(left)} examples of "
                    f"{len(np.unique(y[left]))} classes; expected more examples, or --validation and --test"
                ) from None
            parts[at] = whole.part(np.sort(taken))
    train = whole.part(np.sort(left))
    step = transformer(train, settings.scale, settings.impute, settings.categories)
    model = unfitted(train, step, settings.scale, settings.impute)
    made = []
    for part in (train, *parts):
        assert part is not None
        X = model.fed(part)  # columns by their names
        if step is not None:
            X = step.fit_transform(X) if part is train else step.transform(X)
        made.append((_with_bias(X, settings.fit_intercept), _numbered(part, classes)))
    Z = None
    if train.Z is not None and parts[0] is not None and parts[0].Z is not None:
        Z = (_privileged(train), _privileged(parts[0]))
    return Parts(made[0], made[1], made[2], Z)


def _privileged(part: Examples) -> np.ndarray:
    return numbers(replace(part, X=part.Z))


def _with_bias(X: Any, bias: bool) -> Any:
    from scipy.sparse import csr_array, hstack, issparse

    ones = np.ones((X.shape[0], int(bias)))
    if issparse(X):
        both: Any = (X, csr_array(ones))
        return csr_array(hstack(both))
    return np.ascontiguousarray(np.hstack([X, ones]))


def _numbered(part: Examples, classes: np.ndarray) -> np.ndarray:
    y = np.asarray(part.y)
    if unknown := sorted(set(y.tolist()) - set(classes.tolist())):
        raise DataFileError(
            f"{part.source}: no training example has the label {unknown[0]!r}; expected the classes of the "
            "training file"
        )
    return np.searchsorted(classes, y).astype(np.int64)


def rows_of(
    methods: Sequence[str] | None, guesses: Sequence[int], classes: int, privileged: bool
) -> list[Row]:
    """The methods asked for, by default those of Lapin et al. 2016, Table 3; of two classes their own."""
    if classes == 2:
        return binary_rows(methods, privileged)
    if privileged:
        raise InvalidArgumentError("--privileged goes with two classes; name one with --positive")
    names = list(dict.fromkeys(methods or methods_for(guesses)))
    return [Row(name, loss_of(name), top=tuple(guesses)) for name in names]


def digest(file: Path) -> str:
    """Name and content of a file, or of the parts in a folder."""
    if file.is_dir():
        return " ".join(digest(Path(part)) for part in parts(file))
    try:
        with file.open("rb") as stream:
            return f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError as error:
        raise DataFileError(f"cannot read {file}: {error.strerror}") from None


# -- the run --------------------------------------------------------------------------------------


Found = dict[tuple[int, str], RowResult]  # by split and method


def run(data: Data, rows: Sequence[Row], settings: Settings, kept: Kept, task: Task) -> Found:
    """Train what is not known yet, row by row; fewer rows than there are if Ctrl-C came first."""
    several, more = settings.splits > 1, (settings.grid, settings.tol, task.describe, settings.extend_grid)
    asked = {
        f"split {s + 1}, {row.name}" if several else row.name: (s, row)
        for s in range(settings.splits)
        for row in rows
    }
    jobs = {name: partial(run_row, data.splits[s], row, *more) for name, (s, row) in asked.items()}
    compiling = partial(compile_trainers, data.splits[0], rows)
    known = rows_run(jobs, kept, task, RowResult, lambda result: result.line, compiling)
    told = ((*asked[name], result) for name, result in known.items())
    return {(s, row.name): replace(result, row=row) for s, row, result in told}


def guesses_of(text: str | None, classes: int | None = None) -> tuple[int, ...]:
    """The numbers of ``-k 1,3,5``, by default those of 1, 3 and 5 that the classes allow."""
    if text is None:
        return tuple(k for k in (1, 3, 5) if k < (classes or 2))
    try:
        found = tuple(sorted({int(word) for word in text.split(",") if word.strip()}))
    except ValueError:
        found = ()
    if not found or found[0] < 1:
        raise InvalidArgumentError(f"k={text!r}: expected numbers of guesses: -k 1,3,5")
    if classes is not None and found[-1] >= classes:
        raise InvalidArgumentError(
            f"k = {found[-1]} with {classes} classes; expected less than {classes}"
        )
    return found
