"""Examples in svmlight files, and in those of extreme classification, which begin with a line of sizes."""

import os
import re
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from verification.app.dataset import Examples, Known, Roles, infinite
from verification.app.labels import classes_of
from verification.app.multilabel import indicator
from verification.errors import DataFileError


def read_svm(source: Path, roles: Roles, known: Known) -> Examples:
    """The examples of a file, as CSR; the parameters are those of `verification.app.io.read`."""
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
    X, y, *query = _loaded(source, several, roles.group is not None, sizes is not None)
    X, base, notes = _columns_of(source, X, roles, known, sizes)
    if sizes is not None and (most := max(map(np.max, filter(np.size, y)), default=0)) >= int(
        sizes[3]
    ):
        raise DataFileError(
            f"{source}, line 1: {int(sizes[3])} labels are announced, where there is {most:g}; expected labels "
            "from 0 on: write it again"
        )
    labels: tuple[str, ...] = ()
    if several:
        y, labels = _indicator(source, y, known)
        if roles.labelled:
            indicator(source, y, labels, lambda i, name: _place(i))
    elif roles.labelled:
        y = classes_of(source, y, _place, known.classes)
    _check_sizes(source, X, len(labels) or len(np.unique(y)))
    group = query[0].astype(str) if query else None
    if group is not None and len(group) != X.shape[0]:
        lines = [
            line for line in source.read_bytes().split(b"\n") if line.partition(b"#")[0].strip()
        ]
        i = next(i for i, line in enumerate(lines) if b"qid:" not in line)
        raise DataFileError(
            f"{source}, {_place(i)}: the query is missing; expected qid:NUMBER in every line, or in none"
        )
    return Examples(source, X, y if roles.labelled else None, False, lambda i, name: _place(i, int(name)),
                    group=group, grouped=roles.group, labels=labels if roles.labelled else (), index_base=base,
                    notes=notes)  # fmt: skip


def _place(i: int, j: int = -1) -> str:
    return f"example {i + 1}" + f", feature {j + 1}" * (j >= 0)


def _loaded(source: Path, several: bool, query: bool, sizes: bool) -> list[Any]:
    """X with raw indices, labels and, if asked for, queries; ``sizes``: whether a line of them comes first."""
    from sklearn.datasets import load_svmlight_file

    load = partial(load_svmlight_file, multilabel=several, zero_based=True)
    try:
        with source.open("rb") as stream:
            if sizes:
                stream.readline()
            found = list(load(stream, query_id=query))
    except (ValueError, OverflowError) as error:
        lines = source.read_bytes().split(b"\n")[sizes:]
        line, said = _first_wrong_line(lines, load)
        if b"," in lines[line - 1].partition(b":")[0] and not several:
            raise DataFileError(
                f"{source}, line {line + sizes}: several labels; expected one, or --model "
                "multilabel, which trains on them"
            ) from None
        raise DataFileError(
            f"{source}, line {line + sizes}: not in svmlight format: {said or error}; expected a "
            f"class and then INDEX:VALUE with growing indices up to {2**31 - 1}"
        ) from error
    if found[0].shape[0] == 0:
        raise DataFileError(f"{source} holds no examples; expected one per line: 3 1:0.5 7:-2")
    return found


def _indicator(source: Path, y: Any, known: Known) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels of rows that have several as (n, m) booleans, and their names."""
    row = np.repeat(np.arange(len(y)), [len(each) for each in y])
    flat = classes_of(
        source, np.array([c for each in y for c in each], np.float64), lambda i: _place(row[i]), known.classes
    )  # fmt: skip
    classes, at = np.unique(flat, return_inverse=True)
    if len(y) * len(classes) > 2**32:
        raise DataFileError(
            f"{source}: {len(y)} rows with {len(classes)} labels are a table of more than 4 GB; expected "
            "fewer labels: take a part of them"
        )
    found = np.zeros((len(y), len(classes)), bool)
    found[row, at] = True
    return found, tuple(map(str, classes))


def _check_sizes(source: Path, X: Any, classes: int) -> None:
    """Refuse features that are infinite, and weights that this machine cannot hold."""
    if (bad := np.flatnonzero(~np.isfinite(X.data))).size:
        i, j = int(np.searchsorted(X.indptr, bad[0], "right")) - 1, int(X.indices[bad[0]])
        raise infinite(source, _place(i, j), X.data[bad[0]])
    need = 8 * X.shape[1] * classes
    if need > (memory := _memory()) // 2:
        i = int(np.searchsorted(X.indptr, int(np.argmax(X.indices)), "right")) - 1
        raise DataFileError(
            f"{source}, {_place(i, X.shape[1] - 1)}: that many features make weights of {need} bytes, "
            f"where this machine has a memory of {memory}; number the features that occur from 1 on"
        )


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
