"""One language of data: examples out of .csv, .parquet, .npz, .mat and .svm files.

Every complaint names the file, the place, what was expected and the fix.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verification.app import mat_file
from verification.app.examples import Examples, Roles, infinite
from verification.app.labels import number_classes, text_classes
from verification.app.multilabel import indicator, with_csr
from verification.app.preparation import numbers
from verification.app.sheets import SEPARATED, Sheet, as_text, read_csv, read_parquet, values
from verification.errors import DataFileError
from verification.instances import npz
from verification.instances.files import check_regular

if TYPE_CHECKING:
    import pandas as pd

SVM = (".svm", ".svmlight", ".libsvm")
SUFFIXES = (".csv", ".parquet", ".npz", ".mat", ".npy", *SVM)


def read(path: str | Path, roles: Roles | None = None, n_features: int | None = None) -> Examples:
    """Read the examples of a file.

    Parameters
    ----------
    path : ``.csv`` (comma separated, an optional header row), ``.parquet``, ``.npz`` or ``.mat`` (arrays
        ``X`` and ``y``), ``.npy`` (X, where no labels are needed) or ``.svm`` / ``.svmlight`` / ``.libsvm``.
        Several labels of an example: columns of 0 and 1, an array ``Y`` of them or in .npz the parts of a
        CSR matrix (``Y_data``, ``Y_indices``, ``Y_indptr``, ``Y_shape``), 1,4 in an svm file.
    roles : of its columns or arrays.
    n_features : svm only: number of features, where the file may lack the last ones.

    Raises
    ------
    DataFileError
        Unknown suffix, missing file or column, a label that is missing or no class, a feature that is
        infinite, a weight that is negative.
    """
    source, roles = Path(path), roles or Roles()
    suffix = source.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataFileError(
            f"cannot read {source}: the suffix {source.suffix!r} is not one of {', '.join(SUFFIXES)}"
        )
    try:
        check_regular(source)
        if suffix == ".csv":
            special = (roles.label, *roles.named) if roles.labelled else roles.named
            return _examples(read_csv(source, special), roles)
        if suffix == ".parquet":
            return _examples(read_parquet(source), roles)
        if suffix in SVM:
            return _read_svm(source, roles, n_features)
        return _from_arrays(source, roles)
    except OSError as error:
        raise DataFileError(
            f"cannot read {source}: {error.strerror or error}; expected a file that may be read"
        ) from error
    except MemoryError:
        raise DataFileError(
            f"{source} holds more than the memory of this machine; train on a part of it"
        ) from None


def read_examples(
    path: str | Path, label: str | None = None, n_features: int | None = None
) -> tuple[Any, np.ndarray]:
    """X, (n, d) float64 or CSR, and the labels of a file in which every feature is a number."""
    found = read(path, Roles(label), n_features)
    assert found.y is not None
    return found.X if found.sparse else numbers(found), found.y


def _examples(sheet: Sheet, roles: Roles) -> Examples:
    names = list(sheet.frame.columns)
    if len(names) < 2 and roles.labelled:
        raise DataFileError(
            f"{sheet.source} has one column; expected features and a label in {SEPARATED}"
        )
    several = [sheet.find(c) for c in roles.labels or ()] if roles.labelled else []
    last = names[-1] if roles.labelled and roles.labels is None else None
    label = last if roles.label is None else sheet.find(roles.label)
    weight, group = (None if c is None else sheet.find(c) for c in (roles.weight, roles.group))
    privileged, ignored = (
        [sheet.find(c) for c in many] for many in (roles.privileged, roles.ignore)
    )
    apart = [c for c in (label, *several, weight, group, *privileged, *ignored) if c is not None]
    if twice := [name for name in apart if apart.count(name) > 1]:
        raise DataFileError(f"{sheet.source}: column {twice[0]!r} has two roles; expected one each")
    apart += [c for c in roles.spare if c in names and sheet.named and c not in apart]
    kept = [name for name in names if name not in apart]
    if not kept:
        raise DataFileError(f"{sheet.source} has no features; expected a column that has no role")
    y = None
    if label is not None:
        y = _labels(sheet, label)
    elif roles.labels is not None and roles.labelled:
        held = np.column_stack([values(sheet, c) for c in several]) if several else np.empty((0, 0))
        y = indicator(sheet.source, held, several, sheet.place)
    return Examples(
        sheet.source,
        _features(sheet, kept),
        y,
        sheet.named,
        sheet.place,
        None if weight is None else _weights(sheet, weight),
        None if group is None else np.array([str(g) for g in as_text(sheet, group)]),
        _features(sheet, privileged) if privileged else None,
        tuple(apart) if sheet.named else (),
        grouped=roles.group,
        labels=tuple(several),
    )


def _features(sheet: Sheet, names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    columns = {name: values(sheet, name) for name in names}
    for name, column in columns.items():
        if column.dtype != object and (bad := np.flatnonzero(np.isinf(column))).size:
            raise infinite(sheet.source, sheet.place(int(bad[0]), name))
    # the dtype is said: pandas 3 would make texts of another kind of it
    return pd.DataFrame({name: pd.Series(c, dtype=c.dtype) for name, c in columns.items()})


def _labels(sheet: Sheet, name: str) -> np.ndarray:
    given = as_text(sheet, name)

    def place(i: int) -> str:
        return sheet.place(i, name).partition(",")[0]

    column = np.asarray(sheet.frame[name])
    if column.dtype.kind in "iufb":
        return number_classes(sheet.source, column, place)
    texts = ["" if entry is None or entry != entry else str(entry) for entry in given]
    return text_classes(sheet.source, texts, place)


def _weights(sheet: Sheet, name: str) -> np.ndarray:
    column = values(sheet, name)
    bad = [0] if column.dtype == object else np.flatnonzero(~(column >= 0.0) | np.isinf(column))
    if len(bad):
        raise DataFileError(
            f"{sheet.source}, {sheet.place(int(bad[0]), name)}: the weight is {column[bad[0]]}; expected "
            "numbers >= 0, 0 to leave an example out"
        )
    return column


# -- files of arrays ------------------------------------------------------------------------------


def _from_arrays(source: Path, roles: Roles) -> Examples:
    import pandas as pd

    if len(roles.privileged) > 1 or roles.ignore:
        raise DataFileError(
            f"{source}: --ignore and lists of columns go with .csv and .parquet; expected the name of "
            "one array for --privileged"
        )
    several = roles.labels is not None
    label = roles.label or ("y" if roles.labelled else None)
    if several:
        label = (roles.labels or ("Y",))[0] if roles.labelled else None
    wanted = [
        n for n in ("X", label, roles.weight, roles.group, *roles.privileged) if n is not None
    ]
    if source.suffix.lower() == ".npy":
        arrays = {"X": npy_file(source)}
        if wanted[1:]:
            raise DataFileError(
                f"{source} holds features only; expected a file with {', '.join(wanted[1:])} too, or "
                f"labels in a file of their own: refsolve probe {source} LABELS"
            )
    else:
        csr = source.suffix.lower() == ".npz" and several and label is not None
        reader = mat_file if source.suffix.lower() == ".mat" else npz
        arrays = with_csr(source, wanted, str(label)) if csr else reader.read(source, wanted)
    X = _matrix(source, "X", arrays)
    for name in wanted[1:]:
        if arrays[name].shape[:1] != X.shape[:1] or (
            arrays[name].ndim > 1 and name not in (*roles.privileged, several and label)
        ):
            raise DataFileError(
                f"{source}: expected X (n, d) and {name} (n,), n and d at least 1, got {X.shape} and "
                f"{arrays[name].shape}; an indicator (n, m) of several labels goes with --model multilabel"
            )

    def entry(i: int, name: str) -> str:
        return f"X[{i}, {name}]"

    def framed(A: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(A, columns=[str(j) for j in range(A.shape[1])])

    frame = framed(X)
    sheet = Sheet(source, pd.DataFrame({n: arrays[n] for n in wanted[1:] if arrays[n].ndim == 1}), True,
                  lambda i, name: f"{name}[{i}]")  # fmt: skip
    privileged = roles.privileged[0] if roles.privileged else None
    y, labels = None, tuple[str, ...]()
    if label is not None and several:
        labels = tuple(map(str, range(arrays[label].shape[-1])))
        y = indicator(source, arrays[label], labels, lambda i, name: f"{label}[{i}, {name}]")
    elif label is not None:
        y = _array_labels(source, label, arrays[label])
    return Examples(
        source, frame, y, False, entry,
        None if roles.weight is None else _weights(sheet, roles.weight),
        None if roles.group is None else np.array([str(g) for g in arrays[roles.group]]),
        None if privileged is None else framed(_matrix(source, privileged, arrays)), grouped=roles.group,
        labels=labels,
    )  # fmt: skip


def npy_file(source: Path) -> np.ndarray:
    """The array of a .npy file; objects are refused."""
    try:
        return np.asarray(np.load(source, allow_pickle=False))
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataFileError(
            f"cannot read {source}: {why}; expected a .npy file of numbers or text, not of objects"
        ) from None


def _matrix(source: Path, name: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    X = arrays[name]
    if X.ndim != 2 or not X.size:
        raise DataFileError(f"{source}: expected {name} (n, d), n and d at least 1, got {X.shape}")
    if X.dtype.kind not in "fiub":
        raise DataFileError(f"{source}: {name} has dtype {X.dtype}; expected real numbers")
    with np.errstate(over="ignore"):
        X = X.astype(np.float64, order="C")
    if (bad := np.argwhere(np.isinf(X))).size:
        raise infinite(source, f"{name}[{bad[0][0]}, {bad[0][1]}]")
    return X


def _array_labels(source: Path, label: str, y: np.ndarray) -> np.ndarray:
    def place(i: int) -> str:
        return f"{label}[{i}]"

    if y.dtype.kind in "fiub":
        return number_classes(source, y, place)
    if y.dtype.kind == "U":
        text_classes(source, y.tolist(), place)
        return y
    raise DataFileError(
        f"{source}: {label} has dtype {y.dtype}; expected integers or text: convert with astype(str)"
    )


def _read_svm(source: Path, roles: Roles, n_features: int | None) -> Examples:
    from sklearn.datasets import load_svmlight_file

    if roles.named and roles.named != ("qid",):
        raise DataFileError(
            f"{source}: {'--label' if roles.label is not None else 'a role of a column'} does not apply to "
            "svm files, whose label comes first on each line; --group qid takes the queries there"
        )
    several = roles.labels is not None
    load = partial(load_svmlight_file, n_features=n_features, multilabel=several)
    try:
        X, y, *query = load(str(source), query_id=roles.group is not None)
    except (ValueError, OverflowError) as error:
        lines = source.read_bytes().split(b"\n")
        line, said = _first_wrong_line(lines, load)
        if b"," in lines[line - 1].partition(b":")[0] and not several:
            raise DataFileError(
                f"{source}, line {line}: several labels; expected one, or --model multilabel, which trains on them"
            ) from None
        raise DataFileError(
            f"{source}, line {line}: not in svmlight format: {said or error}; expected a class and then "
            f"INDEX:VALUE with growing indices up to {n_features or 2**31 - 1}"
        ) from error
    if X.shape[0] == 0:
        raise DataFileError(f"{source} holds no examples; expected one per line: 3 1:0.5 7:-2")

    def place(i: int, j: int = -1) -> str:
        return f"example {i + 1}" + f", feature {j + 1}" * (j >= 0)

    labels: tuple[str, ...] = ()
    if several:
        rows = np.repeat(np.arange(len(y)), [len(each) for each in y])
        flat = number_classes(
            source, np.array([c for each in y for c in each]), lambda i: place(rows[i])
        )
        classes, at = np.unique(flat, return_inverse=True)
        y, labels = np.zeros((len(y), len(classes)), bool), tuple(map(str, classes))
        y[rows, at] = True
        if roles.labelled:
            indicator(source, y, labels, lambda i, name: place(i))
    else:
        y = number_classes(source, y, place)
    if (bad := np.flatnonzero(~np.isfinite(X.data))).size:
        i, j = int(np.searchsorted(X.indptr, bad[0], "right")) - 1, int(X.indices[bad[0]])
        raise infinite(source, place(i, j), X.data[bad[0]])
    need = 8 * X.shape[1] * (len(labels) or len(np.unique(y)))
    if need > (memory := _memory()) // 2:
        i = int(np.searchsorted(X.indptr, int(np.argmax(X.indices)), "right")) - 1
        raise DataFileError(
            f"{source}, {place(i, X.shape[1] - 1)}: that many features make weights of {need} bytes, "
            f"where this machine has a memory of {memory}; number the features that occur from 1 on"
        )
    group = query[0].astype(str) if query else None
    return Examples(source, X, y, False, lambda i, name: place(i, int(name)), group=group,
                    grouped=roles.group, labels=labels)  # fmt: skip


def _first_wrong_line(lines: list[bytes], load: Callable[..., Any]) -> tuple[int, str]:
    """The first line that is refused, by bisection, and the words of scikit-learn."""
    low, high, said = 0, len(lines), ""
    while high - low > 1:
        middle = (low + high) // 2
        try:
            load(BytesIO(b"\n".join(lines[low:middle])))
            low = middle
        except (ValueError, OverflowError) as error:
            high, said = middle, str(error)
    return low + 1, said


def _memory() -> int:
    """Bytes of memory of this machine; 16 GiB where nobody says."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 2**34
