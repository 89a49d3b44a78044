"""What a cone has to know of itself to be judged, beyond those that `program` has built in."""

from __future__ import annotations

from typing import Any, Protocol

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic


class Block(Protocol):
    """A cone K of a product of cones, on ``size`` rows of its own."""

    @property
    def size(self) -> int:
        """Number of rows."""

    def clarabel(self) -> list[Any]:
        """The cones as Clarabel takes them."""

    def inwards(self, dual: bool) -> Array:
        """A step of about 1 into the cone (or into its dual)."""

    def violation(self, s: Dyadic, reach: Array) -> float:
        """At least the distance from K of every point within ``reach`` of ``s``, entry by entry.

        0 only if all of them are proven inside.
        """

    def into_dual(self, z: Array) -> Array:
        """A point near ``z`` that is proven in the dual cone, nan where none is."""

    def room(self, z: Array, eta: Array) -> bool:
        """Whether every point within ``eta`` of ``z`` is proven in the dual cone."""

    def freedom(self, z: Array) -> float:
        """About how far ``z`` may move (a proposal)."""

    @property
    def scale(self) -> Array | None:
        """What Clarabel's rows are multiplied by, if not by 1."""

    def narrow(self, lo: Array, hi: Array) -> None:
        """Ranges of slacks that follow from others, in place."""

    def slope(self, s: Array) -> Array:
        """About how the depth of ``s`` inside the cone grows with each entry (a proposal)."""
