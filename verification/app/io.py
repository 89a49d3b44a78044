"""One reader of data for every command: examples out of tables, arrays, matrices, svm files and folders of parts.

Every complaint names the file, the place, what was expected and the fix; what was taken for what is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fast.data import COLUMNS, MATRICES, parts, rows
from fast.data.constant import with_room
from fast.errors import InvalidParameterError
from verification.app import mat_file
from verification.app.csv_file import SEPARATED
from verification.app.dataset import Examples, Known, Roles, infinite
from verification.app.label_files import read_labels, typed_labels, with_indicator
from verification.app.labels import MISSING, classes_of, unlabelled
from verification.app.multilabel import indicator, with_csr
from verification.app.preprocessing import numbers
from verification.app.svm_file import read_svm
from verification.app.tables import (
    LEFT_OUT,
    SEPARATORS,
    Table,
    as_csv,
    kind_of,
    read_columns,
    read_csv,
)
from verification.errors import DataFileError, InvalidArgumentError
from verification.instances import npz
from verification.instances.files import check_regular

if TYPE_CHECKING:
    import pandas as pd

    from fast.data import Source

ARRAYS = (".npz", ".mat")
TOGETHER, ROWS = 8, 4096  # columns that are written at once, float64 of a cache line, and rows, which stay in the cache
SVM = (".svm", ".svmlight", ".libsvm", ".txt")
SUFFIXES = (*SEPARATORS, *COLUMNS, *ARRAYS, ".npy", *MATRICES, *SVM)
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
    path : ``.csv`` (comma separated), ``.tsv``, both also compressed, a Parquet or Arrow file, ``.npz`` or ``.mat``
        (arrays ``X`` and ``y``; or .npz by `scipy.sparse.save_npz`), ``.npy``, ``.safetensors``, ``.h5`` (a matrix of
        features), ``.svm`` / ``.svmlight`` / ``.libsvm``, ``.txt`` (svm after a line with the numbers of rows, features
        and labels), or a folder of parts. Several labels of an example: columns of 0 and 1, an array ``Y`` of them or
        in .npz the parts of a CSR matrix (``Y_data``, ``Y_indices``, ``Y_indptr``, ``Y_shape``), 1,4 in an svm file.
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
    suffix, own = kind_of(source), roles
    if labels is not None:
        own = replace(roles, label=None, labels=None, labelled=False)
    try:
        if source.is_dir():
            tables = suffix_of(source) in COLUMNS
            found = (_table_file if tables else _matrix_file)(source, own, known)
        elif suffix not in SUFFIXES:
            raise DataFileError(
                f"cannot read {source}: the suffix {suffix!r} is not one of {', '.join(SUFFIXES)}; pandas reads many "
                "others, and DataFrame.to_parquet writes what is read here"
            )
        else:
            check_regular(source)
            found = _file(source, suffix, own, known)
        plain = labels is None and roles.labels is None
        if roles.drop_unlabelled and not (plain and suffix_of(source) in (*SEPARATORS, *COLUMNS)):
            raise _not_dropped(source)
        if labels is None:
            return found
        if roles.labels is not None:
            return with_indicator(found, labels, roles)
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


def _not_dropped(source: Path) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{source}: --drop-unlabelled goes with tables that are read into memory, one label in a column; expected "
        "labels for all examples: leave those without one out of the file"
    )


def suffix_of(path: Path) -> str:
    """The suffix of a file, or of the parts in a folder."""
    return kind_of(Path(parts(path)[0] if path.is_dir() else path))


def read_rows(
    path: Path,
    roles: Roles,
    labels: Path | None,
    option: str = "LABELS",
    known: Known | None = None,
) -> tuple[Source, np.ndarray, Examples | None]:
    """Features in blocks, where the format has them, and labels; the examples, where they are in memory."""
    if suffix_of(path) not in (".npy", *MATRICES, *COLUMNS):
        found = read(path, roles, known, labels)
        assert found.y is not None
        X = rows(found.X if found.sparse else numbers(found))
        X.columns = None if found.columns is None else list(found.columns)
        return X, found.y, found
    if roles.drop_unlabelled:
        raise _not_dropped(path)
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
    if suffix in SEPARATORS:
        source = as_csv(source, roles.separator)
        label = None if roles.labels is not None or not roles.labelled else roles.label or "-1"
        return _examples(read_csv(source, label, roles.header, known.columns), roles, known)
    if suffix in COLUMNS:
        return _table_file(source, roles, known)
    if suffix in SVM:
        return read_svm(source, roles, known)
    if suffix == ".npy" or suffix in MATRICES:
        return _matrix_file(source, roles, known)
    return _from_arrays(source, roles, known)


def _table_file(source: Path, roles: Roles, known: Known) -> Examples:
    found = _examples(read_columns(source, (*roles.named, *roles.features, *roles.keep)), roles, known)
    import pyarrow as pa  # which is there: columns were read

    pa.default_memory_pool().release_unused()
    return found


# -- tables ---------------------------------------------------------------------------------------


def _examples(table: Table, roles: Roles, known: Known) -> Examples:
    names = list(table.columns)
    if len(names) < 2 and roles.labelled:
        raise DataFileError(
            f"{table.source} has one column; expected features and a label in {SEPARATED}; "
            "--separator ';' names another one"
        )
    several = [table.find(c) for c in roles.labels or ()] if roles.labelled else []
    last = names[-1] if roles.labelled and roles.labels is None else None
    label = last if roles.label is None else table.find(roles.label)
    optional = not roles.labelled and roles.group in roles.spare and roles.group not in names
    asked = (roles.weight, None if optional else roles.group)
    weight, group = (None if c is None else table.find(c) for c in asked)
    privileged, ignored, chosen = (
        [table.find(c) for c in many] for many in (roles.privileged, roles.ignore, roles.features)
    )
    apart = [c for c in (label, *several, weight, group, *privileged, *ignored) if c is not None]
    if twice := [name for name in [*apart, *chosen] if [*apart, *chosen].count(name) > 1]:
        raise DataFileError(f"{table.source}: column {twice[0]!r} has two roles; expected one each")
    spare = [c for c in roles.spare if c in names and c not in apart]
    if table.named or len(names) - len(apart) - len(spare) == known.n_features:
        apart += spare
    stored = [name for name in table.stored if name not in (*apart, *chosen, *roles.keep)]
    kept = chosen or [name for name in names if name not in (*apart, *stored)]
    if not kept:
        raise DataFileError(f"{table.source} has no features; expected a column that has no role")
    y, kept_rows = None, None
    if label is not None:
        y, kept_rows = _classes(table, label, roles.drop_unlabelled, known)
    elif roles.labels is not None and roles.labelled:
        held = np.column_stack([table.values(c) for c in several]) if several else np.empty((0, 0))
        y = indicator(table.source, held, several, table.place)
    listed_column = len(kept) == 1 and _is_listed(table.columns[kept[0]])
    X: pd.DataFrame
    named, place, notes = table.named, table.place, [*table.notes, *map(LEFT_OUT.format, stored)]
    if listed_column:
        found = _matrix_file(table.source, Roles(features=(kept[0],), labelled=False), known)
        X, named, place = found.X, False, found.place
    else:
        X = _features(table, kept, roles, known, notes)
    if y is not None and kept_rows is not None:
        notes.append(f"{len(y) - len(kept_rows)} rows without a label left out")
    found = Examples(
        table.source,
        X,
        y,
        named,
        place,
        None if weight is None else _weights(table, weight),
        None if group is None else _groups(table, group),
        _features(table, privileged, replace(roles, room=False), Known(), notes) if privileged else None,
        tuple(apart),
        grouped=roles.group,
        labels=tuple(several),
        features=tuple(kept) if listed_column else roles.features,
        notes=tuple(notes),
        counts=table.counts,
        booleans=tuple(c for c in kept if c in table.booleans and X[c].dtype != object),
    )
    return found if kept_rows is None else found.part(kept_rows)


def _classes(
    table: Table, label: str, drop: bool, known: Known
) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels, and the rows that have one where the others are to be dropped and there are any."""
    column = table.text(label)
    rows = np.flatnonzero(~unlabelled(column, table.typed)) if drop else np.arange(len(column))
    if not len(rows):
        raise DataFileError(f"{table.source}: no row has a label; name the column of labels with --label")
    whole = len(rows) == len(column)
    given = typed_labels(table, label) if whole else typed_labels(table, label, rows)
    y = classes_of(
        table.source, given, lambda i: table.place(int(rows[i]), label).rpartition(", column")[0], known.classes
    )
    if whole:
        return y, None
    full = np.empty(len(column), y.dtype)
    full[rows] = y
    return full, rows


def _is_listed(column: np.ndarray) -> bool:
    return column.dtype == object and isinstance(
        next((e for e in column if e is not None), None), list
    )


def _features(
    table: Table, names: Sequence[str], roles: Roles, known: Known, notes: list[str]
) -> pd.DataFrame:
    """Numbers, or text; what loses zeros as a number is noted, where no model knows better."""
    import pandas as pd

    held, texts = np.empty((0, 0)), {}
    for first in range(0, len(names), TOGETHER):
        group: dict[int, np.ndarray] = {}
        for j, name in enumerate(names[first : first + TOGETHER], first):
            own = name if table.named else str(j)
            if own in known.categories or name in roles.categories:
                texts[name] = table.words(name, known.categories.get(own))
                continue
            column = table.values(name)
            if column.dtype == object:
                texts[name] = column
                continue
            if not known.trained and (zero := table.padded(name, column)) is not None:
                if roles.categories == ("auto",):
                    texts[name] = table.words(name)
                    continue
                said = f"{zero.strip()} is taken for {float(zero):.17g}"
                notes.append(f"{name}: {said} (--categories {name} keeps its zeros)")
            if (bad := np.flatnonzero(np.isinf(column))).size:
                raise infinite(table.source, table.place(int(bad[0]), name))
            group[j] = column
            shape = len(column), len(names)
            held = held if len(held) else with_room(*shape) if roles.room else np.empty(shape)
        for start in range(0, len(held), ROWS):
            for j, column in group.items():
                held[start : start + ROWS, j] = column[start : start + ROWS]
    if not texts:  # nothing is copied when the rows are wanted
        return pd.DataFrame(held, columns=list(names), copy=False)
    columns = {name: texts[name] if name in texts else held[:, j] for j, name in enumerate(names)}
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
