"""Rows in blocks, wherever they are: `rows` of arrays, files and clusters; see `fast.data.source`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fast.data.in_memory import InMemory
from fast.data.reading import Examined, examine, fingerprint, groups_ahead
from fast.data.source import Source
from fast.errors import InvalidParameterError

__all__ = ["Examined", "Source", "examine", "fingerprint", "groups_ahead", "rows"]


def rows(
    source: Any, *, label: str | None = None, features: str | Sequence[str] | None = None
) -> Source:
    """Examples to train on, whose rows are read in blocks.

    Parameters
    ----------
    source : array (n, d), sparse matrix, path, `numpy.memmap`, `dask.array.Array`, `Source`, or a list
        A path ends in ``.npy`` (float16, float32 or float64 in C order) or ``.parquet``. A map of a file
        is read, not mapped. The rows of a list of these follow one another.
    label : str, optional
        Parquet: the column of labels, which becomes `Source.labels`.
    features : str or list of str, optional
        Parquet: the column of lists, or those of numbers. Default: all but ``label``.

    Raises
    ------
    fast.errors.InvalidParameterError
        A file that is not there, truncated, or something else; names the file and the fix.
    """
    kind, suffix = type(source), ""
    if isinstance(source, str | os.PathLike):
        source = os.fspath(source)
        suffix = Path(source).suffix.lower()
        if suffix in (".parquet", ".pq"):
            from fast.data.parquet import Parquet

            return Parquet(source, label, features)
    if isinstance(source, list | tuple) and all(_is_part(part) for part in source):
        from fast.data.many import Many

        many = Many([rows(part, label=label, features=features) for part in source])
        whole = all(isinstance(part, InMemory) for part in many.parts)
        return InMemory(many[:], many.labels, columns=many.columns) if whole else many
    if label is not None or features is not None:
        given = f"label={label!r}, features={features!r} for {suffix or kind.__name__}"
        fix = "pass labels to fit, and all columns"
        raise InvalidParameterError("source", given, "names of columns for Parquet only", fix)
    if isinstance(source, Source):
        return source
    if suffix == ".npy" or (isinstance(source, np.memmap) and source.filename is not None):
        from fast.data.npy import Npy

        return Npy.file(source) if suffix else Npy.mapped(source)
    if source is None or isinstance(source, str) or hasattr(source, "__next__"):
        fix = "pass files in the order of their rows: sorted(Path(...).glob('*.npy'))"
        raise InvalidParameterError("source", repr(source), "a .npy or .parquet file", fix)
    if hasattr(source, "__dask_graph__"):
        from fast.data.dask_rows import DaskRows

        return DaskRows(source)
    return InMemory(source)


def _is_part(value: Any) -> bool:
    matrix = len(getattr(value, "shape", ())) == 2
    return matrix or isinstance(value, str | os.PathLike | Source | np.memmap)
