"""One reader of data for every command: examples out of tables, arrays, matrices, svm files and folders of parts.

Every complaint names the file, the place, what was expected and the fix; what was taken for what is noted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fast.data import COLUMNS, MATRICES, parts, rows
from fast.errors import InvalidParameterError
from verification.app import mat_file
from verification.app.examples import Examples, Known, Roles, infinite
from verification.app.labels import MISSING, classes_of, listed
from verification.app.multilabel import indicator, with_csr
from verification.app.preparation import numbers
from verification.app.tables import LEFT_OUT, SEPARATED, Table, read_columns, read_csv
from verification.errors import DataFileError
from verification.instances import npz
from verification.instances.files import check_regular

if TYPE_CHECKING:
    import pandas as pd

    from fast.data import Source

ARRAYS = (".npz", ".mat")
SVM = (".svm", ".svmlight", ".libsvm", ".txt")
SUFFIXES = (".csv", *COLUMNS, *ARRAYS, ".npy", *MATRICES, *SVM)
#: Parts of a matrix that scipy.sparse.save_npz wrote.
SPARSE = ("data", "indices", "indptr", "shape", "format")


def read(
    path: str | Path,
    roles: Roles | None = None,
    known: Known | None = None,
    labels: Path | None = None,
) -> Examples:
    """Read the examples of a file.

    Parameters
    ----------
    path : ``.csv`` (comma separated), a Parquet or Arrow file, ``.npz`` or ``.mat`` (arrays ``X`` and ``y``; or
        .npz by `scipy.sparse.save_npz`), ``.npy``, ``.safetensors``, ``.h5`` (a matrix of features), ``.svm`` /
        ``.svmlight`` / ``.libsvm``, ``.txt`` (svm after a line with the numbers of rows, features and labels),
        or a folder of parts. Several labels of an example: columns of 0 and 1, an array ``Y`` of them or in
        .npz the parts of a CSR matrix (``Y_data``, ``Y_indices``, ``Y_indptr``, ``Y_shape``), 1,4 in an svm
        file.
    roles : of its columns or arrays.
    known : what a model, or the file that it is trained on, says of this one.
    labels : a file of labels, one per row; `Roles.label` is then a column of it.

    Raises
    ------
    DataFileError
        Unknown suffix, missing file or column, a label that is missing or no class, a feature that is
        infinite, a weight that is negative.
    """
    source, roles, known = Path(path), roles or Roles(), known or Known()
    suffix, own = source.suffix.lower(), roles
    if labels is not None:
        own = replace(roles, label=None, labels=None, labelled=False)
    try:
        if source.is_dir():
            tables = suffix_of(source) in COLUMNS
            found = (_table_file if tables else _matrix_file)(source, own, known)
        elif suffix not in SUFFIXES:
            raise DataFileError(
                f"cannot read {source}: the suffix {source.suffix!r} is not one of {', '.join(SUFFIXES)}"
            )
        else:
            check_regular(source)
            found = _file(source, suffix, own, known)
        if labels is None:
            return found
        if roles.labels is not None:
            return _with_indicator(found, labels, roles)
        counts = found.counts or [(str(source), found.X.shape[0])]
        return replace(found, y=read_labels(labels, roles, counts, known.classes))
    except InvalidParameterError as error:
        raise DataFileError(str(error)) from error
    except OSError as error:
        raise DataFileError(
            f"cannot read {source}: {error.strerror or error}; expected a file that may be read"
        ) from error
    except MemoryError:
        raise DataFileError(
            f"{source} holds more than the memory of this machine; train on a part of it"
        ) from None


def suffix_of(path: Path) -> str:
    """The suffix of a file, or of the parts in a folder."""
    return Path(parts(path)[0] if path.is_dir() else path).suffix.lower()


def read_rows(
    path: Path, roles: Roles, labels: Path | None, option: str = "LABELS", known: Known | None = None
) -> tuple[Source, np.ndarray, Examples | None]:
    """Features in blocks, where the format has them, and labels; the examples, where they are in memory."""
    if suffix_of(path) not in (".npy", *MATRICES, *COLUMNS):
        found = read(path, roles, known, labels)
        assert found.y is not None
        X = rows(found.X if found.sparse else numbers(found))
        X.columns = None if found.columns is None else list(found.columns)
        return X, found.y, found
    X = _source(path, roles if labels is None else replace(roles, label=None, labelled=False))
    if not len(X):
        raise DataFileError(f"{path} has no examples; expected at least one row")
    classes = None if known is None else known.classes
    if labels is not None:
        return X, read_labels(labels, roles, _counts(X), classes), None
    if X.labels is None:
        raise DataFileError(
            f"{option}: expected labels in a file of their own, or --label COLUMN: {path} has features only"
        )
    return X, classes_of(path, X.labels, "row {}".format, classes), None


def read_examples(
    path: str | Path, label: str | None = None, n_features: int | None = None
) -> tuple[Any, np.ndarray]:
    """X, (n, d) float64 or CSR, and the labels of a file in which every feature is a number."""
    found = read(path, Roles(label), Known(n_features))
    assert found.y is not None
    return found.X if found.sparse else numbers(found), found.y


def _file(source: Path, suffix: str, roles: Roles, known: Known) -> Examples:
    if suffix == ".csv":
        label = None if roles.labels is not None or not roles.labelled else roles.label or "-1"
        return _examples(read_csv(source, label, roles.header, known.columns), roles, known)
    if suffix in COLUMNS:
        return _table_file(source, roles, known)
    if suffix in SVM:
        return _read_svm(source, roles, known)
    if suffix == ".npy" or suffix in MATRICES:
        return _matrix_file(source, roles, known)
    return _from_arrays(source, roles, known)


def _table_file(source: Path, roles: Roles, known: Known) -> Examples:
    return _examples(read_columns(source, (*roles.named, *roles.features)), roles, known)


# -- labels in a file of their own ----------------------------------------------------------------


def read_labels(
    source: Path, roles: Roles, counts: Sequence[tuple[str, int]],
    known: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Labels of rows of features: an .npy file, a column of a table, or a folder of such, part by part.

    Parameters
    ----------
    source : of the labels.
    roles : the column of a table, which may be left out where there is only one; whether CSV has a header.
    counts : names and numbers of rows of the files, or parts, of features.
    known : see `classes_of`.
    """
    files = [Path(part) for part in parts(source)] if source.is_dir() else [source]
    found = [_label_array(file, roles.label, roles.header) for file in files]
    if len(files) > 1 and len(counts) > 1 and len(files) != len(counts):
        raise DataFileError(
            f"{source} has {len(files)} parts, the features have {len(counts)}; expected a part of labels for "
            "each part of features"
        )
    if len(files) == len(counts):
        for (name, n), file, part in zip(counts, files, found, strict=True):
            _check_length(file, part, name, n)
            ours, theirs = (re.findall(r"\d+", Path(each).stem)[-1:] for each in (name, file))
            if len(files) > 1 and ours and theirs and int(ours[0]) != int(theirs[0]):
                raise DataFileError(
                    f"{file} would be the labels of {name}; expected parts of the same numbers: a part is missing"
                )
    whole = found[0] if len(found) == 1 else np.concatenate(found)
    _check_length(source, whole, counts[0][0], sum(n for _, n in counts))
    return classes_of(source, whole, "row {}".format, known)


def _with_indicator(examples: Examples, source: Path, roles: Roles) -> Examples:
    """Several labels of an example: a matrix (n, m) of 0 and 1 in a .npy file, or columns of a table."""
    if source.suffix.lower() == ".npy":
        held = npy_file(source)
        names = tuple(map(str, range(held.shape[-1])))
    else:
        csv = source.suffix.lower() == ".csv"
        table = read_csv(source, None, roles.header) if csv else read_columns(source)
        names = roles.labels or ()
        names = tuple(map(table.find, names or table.own))
        held = np.column_stack([table.values(name) for name in names])
    y = indicator(source, held, names, lambda i, name: f"row {i}, {name}")
    _check_length(source, y[:, 0], str(examples.source), examples.X.shape[0])
    return replace(examples, y=y, labels=names)


def _check_length(source: Path, y: np.ndarray, name: str, n: int) -> None:
    if y.ndim != 1 or len(y) != n:
        raise DataFileError(
            f"{source} holds labels of shape {y.shape}; expected {n}, one for each row of {name}"
            f"{'; --header or --no-header says whether its first row has a name' * (source.suffix == '.csv')}"
        )


def _label_array(source: Path, column: str | None, header: bool | None) -> np.ndarray:
    suffix = source.suffix.lower()
    if suffix == ".npy":
        if column is not None:
            raise DataFileError(f"--label {column} names a column; expected a table of labels, not {source}")
        y = npy_file(source)
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if suffix not in (".csv", *COLUMNS):
        raise DataFileError(
            f"cannot read labels from {source}; expected .npy, or a table (.csv, {', '.join(COLUMNS)}) of them"
        )
    csv = suffix == ".csv"
    table = read_csv(source, column or "-1", header) if csv else read_columns(source, [column])
    if column is None and len(table.own) > 1:
        raise DataFileError(
            f"{source} has the columns {listed(table.own)}; expected --label with the one of labels"
        )
    return _typed(table, table.find(column or "-1"))


def _typed(table: Table, name: str) -> np.ndarray:
    """A column of labels: text that is typed as dtype U, text that is not as objects."""
    column = table.text(name)
    if not table.typed or column.dtype != object:
        return column
    if gaps := [i for i, entry in enumerate(column) if entry is None or entry == ""]:
        raise DataFileError(
            f"{table.source}, {table.place(gaps[0], name).partition(',')[0]}: the label is missing; expected "
            "the name or number of a class: leave out examples whose class is not known"
        )
    if (odd := next((e for e in column if not isinstance(e, str)), None)) is not None:
        raise DataFileError(
            f"{table.source}: the column of labels {name!r} holds {type(odd).__name__}; expected integers or "
            "text: convert it, or name another one with --label"
        )
    return column.astype(str)


# -- tables ---------------------------------------------------------------------------------------


def _examples(table: Table, roles: Roles, known: Known) -> Examples:
    names = list(table.columns)
    if len(names) < 2 and roles.labelled:
        raise DataFileError(
            f"{table.source} has one column; expected features and a label in {SEPARATED}"
        )
    several = [table.find(c) for c in roles.labels or ()] if roles.labelled else []
    last = names[-1] if roles.labelled and roles.labels is None else None
    label = last if roles.label is None else table.find(roles.label)
    weight, group = (None if c is None else table.find(c) for c in (roles.weight, roles.group))
    privileged, ignored, chosen = (
        [table.find(c) for c in many] for many in (roles.privileged, roles.ignore, roles.features)
    )
    apart = [c for c in (label, *several, weight, group, *privileged, *ignored) if c is not None]
    if twice := [name for name in [*apart, *chosen] if [*apart, *chosen].count(name) > 1]:
        raise DataFileError(f"{table.source}: column {twice[0]!r} has two roles; expected one each")
    spare = [c for c in roles.spare if c in names and c not in apart]
    if table.named or len(names) - len(apart) - len(spare) == known.n_features:
        apart += spare
    stored = [name for name in table.stored if name not in (*apart, *chosen)]
    kept = chosen or [name for name in names if name not in (*apart, *stored)]
    if not kept:
        raise DataFileError(f"{table.source} has no features; expected a column that has no role")
    y = None
    if label is not None:
        y = classes_of(
            table.source, _typed(table, label), lambda i: table.place(i, label).rpartition(", column")[0],
            known.classes,
        )  # fmt: skip
    elif roles.labels is not None and roles.labelled:
        held = np.column_stack([table.values(c) for c in several]) if several else np.empty((0, 0))
        y = indicator(table.source, held, several, table.place)
    listed_column = len(kept) == 1 and _is_listed(table.columns[kept[0]])
    X, named, place = None, table.named, table.place
    if listed_column:
        found = _matrix_file(table.source, Roles(features=(kept[0],), labelled=False), known)
        X, named, place = found.X, False, found.place
    return Examples(
        table.source,
        _features(table, kept) if X is None else X,
        y,
        named,
        place,
        None if weight is None else _weights(table, weight),
        None if group is None else _groups(table, group),
        _features(table, privileged) if privileged else None,
        tuple(apart),
        grouped=roles.group,
        labels=tuple(several),
        features=tuple(kept) if listed_column else roles.features,
        notes=(*table.notes, *map(LEFT_OUT.format, stored)),
        counts=table.counts,
    )


def _is_listed(column: np.ndarray) -> bool:
    return column.dtype == object and isinstance(
        next((e for e in column if e is not None), None), list
    )


def _features(table: Table, names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    columns = {name: table.values(name) for name in names}
    for name, column in columns.items():
        if column.dtype != object and (bad := np.flatnonzero(np.isinf(column))).size:
            raise infinite(table.source, table.place(int(bad[0]), name))
    # the dtype is said: pandas 3 would make texts of another kind of it
    return pd.DataFrame({name: pd.Series(c, dtype=c.dtype) for name, c in columns.items()})


def _weights(table: Table, name: str) -> np.ndarray:
    column = table.values(name)
    bad = [0] if column.dtype == object else np.flatnonzero(~(column >= 0.0) | np.isinf(column))
    if len(bad):
        raise DataFileError(
            f"{table.source}, {table.place(int(bad[0]), name)}: the weight is {column[bad[0]]}; expected "
            "numbers >= 0, 0 to leave an example out"
        )
    return column


def _groups(table: Table, name: str) -> np.ndarray:
    """Queries by their names; a missing one is no query of its own, nor one of all that are missing."""
    texts = ["" if e is None or e != e else str(e) for e in table.text(name).tolist()]
    missing = MISSING if not table.typed or table.columns[name].dtype != object else ("",)
    if gaps := [i for i, text in enumerate(texts) if text.lower() in missing]:
        raise DataFileError(
            f"{table.source}, {table.place(gaps[0], name)}: the query is missing; expected the name or number "
            "of one: leave these examples out"
        )
    return np.array(texts)


# -- files of arrays ------------------------------------------------------------------------------


def _source(source: Path, roles: Roles) -> Source:
    """The rows of a matrix file or a folder, which may hold labels."""
    if roles.weight is not None or roles.group is not None or roles.privileged or roles.ignore:
        raise DataFileError(
            f"{source}: roles of columns go with tables, .npz and .mat; expected --features and --label alone"
        )
    label = roles.label
    if label is None and roles.labelled and source.suffix.lower() in MATRICES:
        label = "y"
    features = list(roles.features) or None
    return rows(str(source), label=label if roles.labelled else None, features=features)


def _matrix_file(source: Path, roles: Roles, known: Known) -> Examples:
    import pandas as pd

    several = roles.labels is not None and roles.labelled
    X = _source(source, roles)
    if roles.labelled and (X.labels is None or several):
        raise DataFileError(
            f"{source} holds features only; expected labels in a file of their own (LABELS), or a file with "
            "both"
        )
    names = X.columns or [str(j) for j in range(X.shape[1])]
    values = _matrix(source, "X", X[:])
    y = None
    if X.labels is not None:
        y = classes_of(source, X.labels, "row {}".format, known.classes)

    def place(i: int, name: str) -> str:
        part, row = X.place(i)
        return (
            f"{part}, row {row}, column {name}"
            if part != str(source)
            else f"row {row}, column {name}"
        )

    apart = () if roles.label is None else (roles.label,)
    notes = tuple(map(LEFT_OUT.format, X.left_out))
    return Examples(source, pd.DataFrame(values, columns=names), y, X.columns is not None, place, apart=apart,
                    features=roles.features, notes=notes, counts=_counts(X))  # fmt: skip


def _counts(X: Source) -> tuple[tuple[str, int], ...]:
    return tuple((part.name, len(part)) for part in getattr(X, "parts", [X]))


def _from_arrays(source: Path, roles: Roles, known: Known) -> Examples:
    if len(roles.privileged) > 1 or roles.ignore or len(roles.features) > 1:
        raise DataFileError(
            f"{source}: --ignore and lists of columns go with tables; expected the name of one array for "
            "--privileged and --features"
        )
    several = roles.labels is not None
    label = roles.label or ("y" if roles.labelled else None)
    if several:
        label = (roles.labels or ("Y",))[0] if roles.labelled else None
    feature = (*roles.features, "X")[0]
    named = (label, roles.weight, roles.group, *roles.privileged)
    wanted = [feature, *(n for n in named if n is not None)]
    zipped = source.suffix.lower() == ".npz"
    if zipped and feature == "X" and {"data", "shape", "format"} <= set(npz.names(source)):
        return _sparse(source, roles)
    csr = zipped and several and label is not None
    reader = npz if zipped else mat_file
    arrays = with_csr(source, wanted, str(label)) if csr else reader.read(source, wanted)
    X = _matrix(source, feature, arrays[feature])
    for name in wanted[1:]:
        if arrays[name].shape[:1] != X.shape[:1] or (
            arrays[name].ndim > 1 and name not in (*roles.privileged, several and label)
        ):
            raise DataFileError(
                f"{source}: expected {feature} (n, d) and {name} (n,), n and d at least 1, got {X.shape} and "
                f"{arrays[name].shape}; an indicator (n, m) of several labels goes with --model multilabel"
            )

    def entry(i: int, name: str) -> str:
        return f"{feature}[{i}, {name}]"

    def framed(A: np.ndarray) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(A, columns=[str(j) for j in range(A.shape[1])])

    vectors = {
        n: a.astype(object) if a.dtype.kind == "U" else a
        for n, a in arrays.items()
        if n in wanted[1:] and a.ndim == 1
    }
    table = Table(source, vectors, True, lambda i, name: f"{name}[{i}]")
    privileged = roles.privileged[0] if roles.privileged else None
    y, labels = None, tuple[str, ...]()
    if label is not None and several:
        labels = tuple(map(str, range(arrays[label].shape[-1])))
        y = indicator(source, arrays[label], labels, lambda i, name: f"{label}[{i}, {name}]")
    elif label is not None:
        y = classes_of(source, arrays[label], lambda i: f"{label}[{i}]", known.classes)
    return Examples(
        source, framed(X), y, False, entry,
        None if roles.weight is None else _weights(table, roles.weight),
        None if roles.group is None else _groups(table, roles.group),
        None if privileged is None else framed(_matrix(source, privileged, arrays[privileged])),
        grouped=roles.group, labels=labels, features=roles.features,
    )  # fmt: skip


def _sparse(source: Path, roles: Roles) -> Examples:
    """A CSR matrix that `scipy.sparse.save_npz` wrote."""
    from scipy.sparse import csc_array, csr_array

    if roles.labelled or roles.named:
        raise DataFileError(
            f"{source} holds a sparse matrix of features only; expected labels in a file of their own (LABELS)"
        )
    kind = npz.read(source, SPARSE[-1:])["format"].tobytes().rstrip(b"\x00")
    make: Any = {b"csr": csr_array, b"csc": csc_array}.get(kind)
    try:
        if make is None:
            raise ValueError(f"format {kind!r}")
        held = npz.read(source, SPARSE)
        shape = tuple(held["shape"].tolist())
        X = csr_array(make(tuple(held[part].copy() for part in SPARSE[:3]), shape))
        X.check_format(full_check=True)
        X = X.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataFileError(
            f"{source} is no sparse matrix that is read ({error}); expected CSR or CSC: "
            "scipy.sparse.save_npz(path, X.tocsr())"
        ) from None
    if (bad := np.flatnonzero(~np.isfinite(X.data))).size:
        i = int(np.searchsorted(X.indptr, bad[0], "right")) - 1
        raise infinite(source, f"X[{i}, {X.indices[bad[0]]}]", X.data[bad[0]])
    return Examples(source, X, None, False, lambda i, name: f"X[{i}, {name}]")


def npy_file(source: Path) -> np.ndarray:
    """The array of a .npy file; objects are refused."""
    try:
        return np.asarray(np.load(source, allow_pickle=False))
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataFileError(
            f"cannot read {source}: {why}; expected a .npy file of numbers or text, not of objects"
        ) from None


def _matrix(source: Path, name: str, X: np.ndarray) -> np.ndarray:
    if X.ndim != 2 or not X.size:
        raise DataFileError(f"{source}: expected {name} (n, d), n and d at least 1, got {X.shape}")
    if X.dtype.kind not in "fiub":
        raise DataFileError(f"{source}: {name} has dtype {X.dtype}; expected real numbers")
    with np.errstate(over="ignore"):
        X = X.astype(np.float64, order="C")
    if (bad := np.argwhere(np.isinf(X))).size:
        raise infinite(source, f"{name}[{bad[0][0]}, {bad[0][1]}]")
    return X


# -- svm files ------------------------------------------------------------------------------------


def _read_svm(source: Path, roles: Roles, known: Known) -> Examples:
    from sklearn.datasets import load_svmlight_file

    if roles.named and roles.named != ("qid",):
        raise DataFileError(
            f"{source}: {'--label' if roles.label is not None else 'a role of a column'} does not apply to "
            "svm files, whose label comes first on each line; --group qid takes the queries there"
        )
    with source.open("rb") as stream:
        sizes = re.fullmatch(rb"(\d+) +(\d+) +(\d+)\s*", stream.readline(100))
    if source.suffix.lower() == ".txt" and sizes is None:
        raise DataFileError(
            f"{source}: the suffix '.txt' is read as svm after a line with the numbers of rows, features and "
            "labels; expected such a line, or another suffix: .svm, .csv"
        )
    several = roles.labels is not None or (sizes is not None and not roles.labelled)
    load = partial(load_svmlight_file, multilabel=several, zero_based=True)
    try:
        with source.open("rb") as stream:
            if sizes is not None:
                stream.readline()
            X, y, *query = load(stream, query_id=roles.group is not None)
    except (ValueError, OverflowError) as error:
        lines = source.read_bytes().split(b"\n")[sizes is not None :]
        line, said = _first_wrong_line(lines, load)
        if b"," in lines[line - 1].partition(b":")[0] and not several:
            raise DataFileError(
                f"{source}, line {line + (sizes is not None)}: several labels; expected one, or --model "
                "multilabel, which trains on them"
            ) from None
        raise DataFileError(
            f"{source}, line {line + (sizes is not None)}: not in svmlight format: {said or error}; expected a "
            f"class and then INDEX:VALUE with growing indices up to {2**31 - 1}"
        ) from error
    if X.shape[0] == 0:
        raise DataFileError(f"{source} holds no examples; expected one per line: 3 1:0.5 7:-2")
    X, base, notes = _columns_of(source, X, roles, known, sizes)
    if sizes is not None and (most := max(map(np.max, filter(np.size, y)), default=0)) >= int(sizes[3]):
        raise DataFileError(
            f"{source}, line 1: {int(sizes[3])} labels are announced, where there is {most:g}; expected labels "
            "from 0 on: write it again"
        )

    def place(i: int, j: int = -1) -> str:
        return f"example {i + 1}" + f", feature {j + 1}" * (j >= 0)

    labels: tuple[str, ...] = ()
    if several:
        row = np.repeat(np.arange(len(y)), [len(each) for each in y])
        flat = classes_of(
            source, np.array([c for each in y for c in each], np.float64), lambda i: place(row[i]),
            known.classes,
        )  # fmt: skip
        classes, at = np.unique(flat, return_inverse=True)
        if len(y) * len(classes) > 2**32:
            raise DataFileError(
                f"{source}: {len(y)} rows with {len(classes)} labels are a table of more than 4 GB; expected "
                "fewer labels: take a part of them"
            )
        y, labels = np.zeros((len(y), len(classes)), bool), tuple(map(str, classes))
        y[row, at] = True
        if roles.labelled:
            indicator(source, y, labels, lambda i, name: place(i))
    elif roles.labelled:
        y = classes_of(source, y, place, known.classes)
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
    if group is not None and len(group) != X.shape[0]:
        lines = [
            line for line in source.read_bytes().split(b"\n") if line.partition(b"#")[0].strip()
        ]
        i = next(i for i, line in enumerate(lines) if b"qid:" not in line)
        raise DataFileError(
            f"{source}, {place(i)}: the query is missing; expected qid:NUMBER in every line, or in none"
        )
    return Examples(source, X, y if roles.labelled else None, False, lambda i, name: place(i, int(name)),
                    group=group, grouped=roles.group, labels=labels if roles.labelled else (), index_base=base,
                    notes=notes)  # fmt: skip


def _columns_of(
    source: Path, X: Any, roles: Roles, known: Known, sizes: re.Match[bytes] | None
) -> tuple[Any, int, tuple[str, ...]]:
    """The features of raw indices: from the index where they begin, as many as are known."""
    from scipy.sparse import csr_array

    least = int(X.indices.min()) if X.nnz else 1
    base = known.index_base if roles.index_base is None else roles.index_base
    inherited = roles.index_base is None and base is not None and sizes is None
    d, notes = known.n_features, []
    if sizes is not None:
        n, features = int(sizes[1]), int(sizes[2])
        if n != X.shape[0] or X.shape[1] > features:
            raise DataFileError(
                f"{source}, line 1: {n} rows and {features} features are announced, where there are "
                f"{X.shape[0]} rows (empty lines are none) and indices up to {X.shape[1] - 1}; write it again"
            )
        base, d = (0 if base is None else base), features if d is None else d
    elif base is None:
        base = int(least > 0)
        notes.append(
            "indices begin at 0"
            if base == 0
            else "indices begin at 1, as none is 0 (else: --index-base 0)"
        )
    if base == 1 and least == 0:
        i = int(np.searchsorted(X.indptr, int(np.flatnonzero(X.indices == 0)[0]), "right")) - 1
        raise DataFileError(
            f"{source}, example {i + 1}: the index is 0, where indices begin at 1"
            f"{' in the file that was trained on' if roles.index_base is None else ''}; expected --index-base 0 "
            "in training and here, if they begin at 0"
        )
    if inherited and base == 0 and least > 0:
        if d is not None and X.shape[1] - 1 == d:  # written from 1 on
            raise DataFileError(
                f"{source}: no index is 0 and some are {d}, where training had features 0 to {d - 1}; expected "
                f"files whose indices begin alike: --index-base 1 if they do at 1 here, 0 if feature {d} is new"
            )
        notes.append("indices begin at 0 as in training, though none is 0 (else: --index-base 1)")
    X = csr_array(X)[:, base:]
    if d is not None and X.shape[1] > d:
        beyond = np.unique(X.indices[X.indices >= d])
        count = int((X.indices >= d).sum())
        notes.append(
            f"{count} entries of {len(beyond)} features beyond the {d} of training left out: their weights are 0"
        )
        X = X[:, :d]
    width = X.shape[1] if d is None else d
    parts: Any = (X.data, X.indices, X.indptr)
    return csr_array(parts, shape=(X.shape[0], max(width, 1))), base, tuple(notes)


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
