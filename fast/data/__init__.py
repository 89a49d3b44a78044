"""Rows in blocks, wherever they are: `rows` of arrays, files and clusters; see `fast.data.source`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fast.data.files import parts
from fast.data.in_memory import InMemory
from fast.data.io import Examined, examine, fingerprint, groups_ahead
from fast.data.source import Source
from fast.errors import InvalidParameterError

#: Suffixes of files of named columns, of named arrays, and of all that `rows` reads.
COLUMNS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
MATRICES = (".safetensors", ".h5", ".hdf5")
SUFFIXES = (".npy", *MATRICES, *COLUMNS)
READ = f"pass a file that ends in {', '.join(SUFFIXES)}, a folder of such, or a list in the order of rows"

__all__ = [
    "COLUMNS",
    "MATRICES",
    "SUFFIXES",
    "Examined",
    "Source",
    "examine",
    "fingerprint",
    "groups_ahead",
    "parts",
    "rows",
]


def rows(
    source: Any, *, label: str | None = None, features: str | Sequence[str] | None = None
) -> Source:
    """Examples to train on, whose rows are read in blocks.

    Parameters
    ----------
    source : array (n, d), sparse matrix, path, `numpy.memmap`, `dask.array.Array`, `Source`, or a list
        A path ends in ``.npy`` (numbers in C order, bfloat16 of ml_dtypes too), ``.safetensors``,
        ``.parquet`` or ``.pq``, ``.arrow``, ``.feather`` or ``.ipc``, ``.h5`` or ``.hdf5``, or is a folder of
        parts, taken in the order of the numbers in their names. A map of a file is read, not mapped. The
        rows of a list of these follow one another.
    label : str, optional
        The column, tensor or dataset of labels, which becomes `Source.labels`.
    features : str or list of str, optional
        Parquet and Arrow: the column of lists, or those of numbers; default: all but ``label`` and what
        pandas stored as the index. safetensors and HDF5: the tensor or dataset (n, d); default "X", else the
        only matrix.

    Raises
    ------
    fast.errors.InvalidParameterError
        A file that is not there, truncated, or something else; names the file and the fix.
    """
    kind, suffix = type(source), ""
    if isinstance(source, str | os.PathLike):
        source = os.fspath(source)
        suffix = Path(source).suffix.lower()
        if os.path.isdir(source):
            source = parts(source)
            suffix = Path(source[0]).suffix.lower()
        if suffix not in SUFFIXES:
            raise InvalidParameterError("source", repr(source)[:300], "rows of features", READ)
        if isinstance(source, list):
            suffix = ""
        elif suffix in COLUMNS:
            from fast.data.arrow import Arrow

            return Arrow(source, label, features)
        elif suffix in MATRICES:
            return _matrix(source, suffix, label, features)
    if isinstance(source, list | tuple) and all(_is_part(part) for part in source):
        from fast.data.many import Many

        many = Many([rows(part, label=label, features=features) for part in source])
        whole = all(isinstance(part, InMemory) for part in many.parts)
        return InMemory(many[:], many.labels, columns=many.columns) if whole else many
    if label is not None or features is not None:
        given = f"label={label!r}, features={features!r} for {suffix or kind.__name__}"
        fix = "pass labels to fit, and all columns"
        raise InvalidParameterError("source", given, "names for files that have names", fix)
    if isinstance(source, Source):
        return source
    if suffix == ".npy" or (isinstance(source, np.memmap) and source.filename is not None):
        from fast.data.npy import Npy

        return Npy.file(source) if suffix else Npy.mapped(source)
    if source is None or isinstance(source, str) or hasattr(source, "__next__"):
        raise InvalidParameterError("source", repr(source), "rows of features", READ)
    if hasattr(source, "__dask_graph__"):
        from fast.data.dask_rows import DaskRows

        return DaskRows(source)
    return InMemory(source)


def _matrix(
    source: str, suffix: str, label: str | None, features: str | Sequence[str] | None
) -> Source:
    """Of a file of named arrays one."""
    chosen = [features] if isinstance(features, str) else list(features or ())
    if len(chosen) > 1:
        given, fix = f"features={features!r}", "name one"
        raise InvalidParameterError("features", given, f"one array of {source}", fix)
    feature = chosen[0] if chosen else None
    if suffix == ".safetensors":
        from fast.data.npy import Npy

        found: Source = Npy.tensor(source, label, feature)
    else:
        from fast.data.hdf5 import Hdf5

        found = Hdf5(source, label, feature)
    if (y := found.labels) is not None:
        found.labels = y = y.reshape(-1) if y.ndim == 2 and 1 in y.shape else y
        if y.shape != (len(found),):
            given = f"labels {label!r} of shape {y.shape}"
            expected = f"({len(found)},): one for each row of features"
            raise InvalidParameterError(
                source, given, expected, "name other labels, or other features"
            )
    return found


def _is_part(value: Any) -> bool:
    matrix = len(getattr(value, "shape", ())) == 2
    return matrix or isinstance(value, str | os.PathLike | Source | np.memmap)
