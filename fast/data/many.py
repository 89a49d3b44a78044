"""Several sources, one after the other: the shards of a folder."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from fast.data.source import Source
from fast.errors import InvalidParameterError


class Many(Source):
    """The rows of some sources of equal width, in their order; the groups are theirs."""

    def __init__(self, parts: Sequence[Source]) -> None:
        if not parts:
            fix = "check the pattern that files are looked for by"
            raise InvalidParameterError("source", "an empty list", "at least one file", fix)
        first = parts[0]
        named = next((part for part in parts if part.columns), first)
        sparse = [hasattr(getattr(part, "X", None), "tocsr") for part in parts]
        if any(sparse) and not all(sparse):
            part, fix = parts[sparse.index(True)], "pass X.toarray(), or CSR only"
            raise InvalidParameterError(part.name, "CSR beside dense rows", "one of them", fix)
        for part in parts:
            if part.shape[1] != first.shape[1]:
                given = f"{part.shape[1]} features, where {first.name} has {first.shape[1]}"
                fix = "leave it out, or extract its features again"
                raise InvalidParameterError(part.name, given, "files of equal width", fix)
            if part.columns and {*part.columns} != {*(named.columns or ())}:
                given = f"columns {', '.join(part.columns)}"[:300]
                expected = f"{', '.join(named.columns or ())}, as {named.name} has"
                fix = "name them: fast.data.rows(paths, features=[...])"
                raise InvalidParameterError(part.name, given, expected, fix)
            if (part.labels is None) != (first.labels is None):
                given = "labels in some of the files only"
                fix = "pass label= for all of them, or for none"
                raise InvalidParameterError(part.name, given, "labels in all or none", fix)
        self.columns, self.left_out = named.columns, named.left_out
        self.parts = tuple(
            part.select(self.columns) if part.columns and self.columns else part for part in parts
        )  # the same names in another order are put right
        self.name = f"{first.name} ... {parts[-1].name} ({len(parts)} files)"
        self.starts = [0, *np.cumsum([len(part) for part in parts]).tolist()]
        self.shape = (self.starts[-1], first.shape[1])
        self.dtype = np.result_type(*(part.dtype for part in parts))
        self.groups = tuple(
            slice(start + group.start, start + group.stop)
            for start, part in zip(self.starts, parts, strict=False)
            for group in part.groups
        )
        if first.labels is not None:
            self.labels = np.concatenate([part.labels for part in parts])

    def select(self, columns: list[str]) -> Source:
        """Of every part."""
        if columns == self.columns or not all(part.columns for part in self.parts):
            return super().select(columns)
        return Many([part.select(columns) for part in self.parts])

    def read(self, rows: slice) -> Any:
        """Rows of one part."""
        i, start = self._part(rows.start)
        block = self.parts[i].read(slice(rows.start - start, rows.stop - start))
        return block.astype(self.dtype, copy=False)

    def place(self, row: int) -> tuple[str, int]:
        """The part's name, and the row's number in it."""
        i, start = self._part(row)
        return self.parts[i].place(row - start)

    def _part(self, row: int) -> tuple[int, int]:
        i = min(bisect_right(self.starts, row), len(self.parts)) - 1
        return i, self.starts[i]
