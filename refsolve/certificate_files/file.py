"""The file of a certificate: a line, a header in JSON, arrays."""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from refsolve._types import Array

_ALIGNED, _HASHES, _FILLED = 64, 16, 1024


def written(
    path: str | PathLike[str],
    problem: str,
    data: dict[str, Any],
    solution: dict[str, Any],
    **said: Any,
) -> None:
    """Write a certificate.

    Parameters
    ----------
    path : path-like
    problem : str
        Kind and parameters.
    data, solution : dict of arrays or sparse matrices
        What the problem is made of, in the order in which it is hashed; what proves the claim.
    **said
        The rest of the header: ``bound`` and what else is claimed.
    """
    data, arrays = _flat(data), {}
    every, at = {**data, **_flat(solution)}, 0
    for name, values in every.items():
        arrays[name] = {"dtype": values.dtype.str, "shape": list(values.shape), "offset": at}
        at += -(-values.nbytes // _ALIGNED) * _ALIGNED
    header = {"problem": problem, **said, "sha256": _hash(problem, data)}
    header |= {"arithmetic": "float64", "writer": "refsolve", "arrays": arrays}
    text = json.dumps(header, allow_nan=False)
    size = -(-(len(text) + 33) // _ALIGNED) * _ALIGNED - 32
    with Path(path).open("wb") as file:
        file.write(f"refsolve-cert 1 {size:015d}\n{text:<{size - 1}}\n".encode("ascii"))
        for values in every.values():
            file.write(values.tobytes())
            file.write(bytes(-values.nbytes % _ALIGNED))


def _flat(arrays: dict[str, Any]) -> dict[str, Array]:
    """Floats and integers of eight bytes, little-endian; a sparse matrix as the three arrays of its rows."""
    found: dict[str, Array] = {}
    for name, values in arrays.items():
        if hasattr(values, "tocsr"):  # sparse, without importing scipy to ask
            rows = values.tocsr(copy=True)
            rows.sum_duplicates()
            parts = {
                f"{name}.{part}": getattr(rows, part) for part in ("indptr", "indices", "data")
            }
        else:
            parts = {name: np.asarray(values)}
        for part, given in parts.items():
            kind = "<i8" if given.dtype.kind in "iub" else "<f8"
            found[part] = np.ascontiguousarray(given, dtype=kind)
    return found


def _hash(problem: str, data: dict[str, Array]) -> str:
    """Of the problem's text and of the names, dtypes, shapes and bytes of its data."""
    parts = [problem.encode()]
    for name, values in data.items():
        rows, columns = (*values.shape, 1)[:2]
        parts += [f"{name} {values.dtype.str} {rows} {columns}".encode(), values.tobytes()]
    filled = b"".join(part + bytes(-len(part) % _FILLED) for part in parts)
    words = np.frombuffer(filled, "<u4").reshape(-1, _HASHES).T
    digests = b"".join(hashlib.sha256(column.tobytes()).digest() for column in words)
    return hashlib.sha256(digests).hexdigest()
