"""A convex cone program, as solvers see it.

    minimise  1/2 x'Px + q'x   subject to   Ax + s = b,  s in K,

K a product of blocks in this order: ``zero`` rows {0}, ``nonneg`` rows >= 0, second-order cones
{(t, v): ||v|| <= t} of the sizes ``soc``, ``exp`` cones closure{(x, y, z): y > 0, y e^(x/y) <= z}, and
``other`` cones that bring their own arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.blocks import Block
from refsolve.cones.dyadic import entries
from refsolve.errors import InvalidParameterError


@dataclass(frozen=True)
class ConeProgram:
    """The data of a cone program.

    Attributes
    ----------
    P, A : sparse or dense matrices, (n, n) and (m, n)
        ``P`` symmetric and whole, not a triangle of it.
    q, b : (n,) and (m,) arrays
    zero, nonneg, exp : int
        Rows of the first two blocks, number of exponential cones.
    soc : tuple of int
        Sizes of the second-order cones, head included.
    other : tuple of Block

    Raises
    ------
    InvalidParameterError
        Shapes that do not fit, a number that is not finite, an unsymmetric ``P``.
    """

    P: Any
    q: Array
    A: Any
    b: Array
    zero: int = 0
    nonneg: int = 0
    soc: tuple[int, ...] = ()
    exp: int = 0
    other: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        m, n = len(self.b), len(self.q)
        for name, shape in (("A", (m, n)), ("P", (n, n))):
            if getattr(self, name).shape != shape:
                raise InvalidParameterError(
                    name, getattr(self, name), f"shape {shape}", "transpose or cut it"
                )
        rows = self.zero + self.nonneg + sum(self.soc) + 3 * self.exp + self._others
        if rows != m:
            raise InvalidParameterError("cones", rows, f"as many rows as A has, {m}", "count again")
        for name in ("P", "q", "A", "b"):
            given = getattr(self, name)
            data = given.data if hasattr(given, "tocoo") else np.asarray(given)
            if not np.all(np.isfinite(data)):
                raise InvalidParameterError(name, "nan or inf", "finite numbers", "clean the data")
        if np.any(entries(self.P - self.P.T)[2]):
            raise InvalidParameterError("P", "unsymmetric", "a symmetric matrix", "(P + P.T) / 2")

    @property
    def _others(self) -> int:
        return sum(block.size for block in self.other)

    @property
    def more(self) -> Iterator[tuple[Block, slice]]:
        """The other cones and their rows."""
        start = len(self.b) - self._others
        for block in self.other:
            yield block, slice(start, start + block.size)
            start += block.size

    @cached_property
    def rows(self) -> Any:
        """``A`` by rows, without the zeros that it stores."""
        rows = sp.csr_array(self.A, copy=True)
        rows.eliminate_zeros()
        return rows

    @cached_property
    def columns(self) -> Any:
        """``A`` by columns, without the zeros that it stores."""
        return self.rows.tocsc()

    @cached_property
    def constant(self) -> Array:
        """Which rows no variable is in."""
        return np.diff(self.rows.indptr) == 0

    @property
    def heads(self) -> Array:
        """First row of each second-order cone."""
        start = self.zero + self.nonneg
        return start + np.cumsum((0, *self.soc))[:-1]

    @property
    def second_order(self) -> Iterator[slice]:
        """Rows of each second-order cone."""
        for head, size in zip(self.heads.tolist(), self.soc, strict=True):
            yield slice(head, head + size)

    @property
    def exponential(self) -> Array:
        """First row of each exponential cone."""
        return len(self.b) - self._others - 3 * self.exp + 3 * np.arange(self.exp)

    @property
    def tails(self) -> tuple[Array, Array]:
        """Rows of the second-order cones below their heads, and the number of the cone of each."""
        sizes = np.array(self.soc, dtype=int)
        cone = np.repeat(np.arange(len(sizes)), sizes)
        rows = self.zero + self.nonneg + np.arange(len(cone))
        below = ~np.isin(rows, self.heads)
        return rows[below], cone[below]

    def inwards(self, dual: bool = False) -> Array:
        """A step into the cones (or into their duals), of about 1; 0 in zero rows.

        For the exponential cone it leaves y as it is, which may be a constant of the problem.
        """
        step = np.zeros(len(self.b))
        step[self.zero : self.zero + self.nonneg] = 1.0
        step[self.heads] = 1.0
        threes = self.exponential[:, None] + np.arange(3)
        step[threes] = (-1.0, 1.0, 2.0) if dual else (-1.0, 0.0, 1.0)
        for block, rows in self.more:
            step[rows] = block.inwards(dual)
        return step
