"""A convex cone program, as solvers see it.

    minimise  1/2 x'Px + q'x   subject to   Ax + s = b,  s in K,

K a product of blocks in this order: ``zero`` rows {0}, ``nonneg`` rows >= 0, second-order cones
{(t, v): ||v|| <= t} of the sizes ``soc``, and ``exp`` cones closure{(x, y, z): y > 0, y e^(x/y) <= z}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve._types import Array
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

    def __post_init__(self) -> None:
        m, n = len(self.b), len(self.q)
        for name, shape in (("A", (m, n)), ("P", (n, n))):
            if getattr(self, name).shape != shape:
                raise InvalidParameterError(
                    name, getattr(self, name), f"shape {shape}", "transpose or cut it"
                )
        rows = self.zero + self.nonneg + sum(self.soc) + 3 * self.exp
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
        return len(self.b) - 3 * self.exp + 3 * np.arange(self.exp)

    def inwards(self, dual: bool = False) -> Array:
        """A step into the cones (or into their duals), of about 1; 0 in zero rows.

        For the exponential cone it leaves y as it is, which may be a constant of the problem.
        """
        step = np.zeros(len(self.b))
        step[self.zero : self.zero + self.nonneg] = 1.0
        step[self.heads] = 1.0
        for start in self.exponential:
            step[start : start + 3] = (-1.0, 1.0, 2.0) if dual else (-1.0, 0.0, 1.0)
        return step
