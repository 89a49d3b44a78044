"""h(x) = 2/3 delta sum x^(3/2) on nonnegative points: the entropy of Tsallis, order 3/2."""

from typing import Any

from refsolve.formulas import Array
from refsolve.generators.separable import Separable, sqrt


class Bent(Separable):
    """Three formulas, and how convex it is on [0, 1]."""

    @property
    def modulus(self) -> float:  # type: ignore[override]
        """Least delta/(2 sqrt(x))."""
        return float(self.params["delta"]) / 2

    def value(self, x: Array, rest: Any = None) -> Array:
        """2/3 delta sum x sqrt(x)."""
        return 2 * self.params["delta"] * (abs(x) * sqrt(abs(x))).sum(axis=-1) / 3

    def slope(self, x: Array) -> Array:
        """Delta sqrt(x)."""
        return self.params["delta"] * sqrt(x)

    def curvature(self, x: Array) -> Array:
        """delta/(2 sqrt(x))."""
        return self.params["delta"] / (2 * sqrt(x))
