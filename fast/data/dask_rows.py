"""Dask arrays as sources: their chunks of rows are the groups."""

import sys
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError


class DaskRows(Source):
    """A `dask.array.Array` (n, d), chunked along its rows only.

    `read` computes what it returns: on the workers of ``client``, or with the scheduler in use. Whoever
    trains on the workers takes the chunks of ``array`` itself: block i of it is ``groups[i]``.
    """

    def __init__(self, array: Any, name: str = "X") -> None:
        if getattr(array, "ndim", 2) != 2 or not hasattr(array, "chunks"):
            given = f"a {type(array).__module__}.{type(array).__name__}"
            fix = "for a DataFrame frame[features].to_dask_array(lengths=True)"
            raise InvalidParameterError(name, given, "a dask.array.Array (n, d)", fix)
        if np.isnan(array.shape).any():
            fix = f"call {name}.compute_chunk_sizes(), which reads {name} once"
            raise InvalidParameterError(name, "chunks of unknown size", "known sizes", fix)
        if array.numblocks[1] != 1:
            given = f"{array.numblocks[1]} chunks along the features"
            raise InvalidParameterError(
                name, given, "chunks of whole rows", f"{name}.rechunk({{1: -1}})"
            )
        if array.dtype not in (np.float16, np.float32, np.float64):
            fix = f"{name}.astype(np.float32)"
            raise InvalidTypeError(name, f"dtype {array.dtype}", "float16, float32 or float64", fix)
        self.array, self.name, self.shape = array, name, array.shape
        self.dtype = np.result_type(array.dtype, np.float32)
        ends = np.cumsum([0, *array.chunks[0]]).tolist()
        self.groups = tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def client(self) -> Any:
        """The `distributed.Client` of this process, on whose workers passes run; None: they run here."""
        if "distributed" in sys.modules:
            with suppress(ValueError):  # there is none
                return sys.modules["distributed"].get_client()
        return None

    def read(self, rows: slice) -> Any:
        """Rows of one chunk, computed."""
        part, client = self.array[rows], self.client
        block = part.compute() if client is None else client.compute(part, sync=True)
        expected = (rows.stop - rows.start, self.shape[1])
        if block.shape != expected:
            given = f"rows {rows.start}:{rows.stop} of shape {block.shape}"
            raise InvalidParameterError(
                self.name, given, f"shape {expected}, as its chunks say", "mend what computes them"
            )
        return np.ascontiguousarray(block, dtype=self.dtype)
