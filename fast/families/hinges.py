"""Top-k hinges and their smoothings: support functions of a top-k simplex."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fast._docs import Entry
from fast._validation import divisor, number
from fast.families.base import Loss, named
from fast.kernels import hinges
from fast.kernels.hinges import ALPHA
from fast.kernels.rows import compiled

if TYPE_CHECKING:
    from fast.solvers.smooth_rows import SmoothRows

Array = NDArray[Any]


@dataclass(frozen=True)
class Hinge(Loss):
    """A top-k hinge: ``variant`` ALPHA or BETA, k, and the smoothing gamma (0: none)."""

    kernels = compiled(vars(hinges), hinges.__file__)
    variant: ClassVar[int] = ALPHA
    k = 1
    gamma = 0.0
    den: ClassVar[str] = ""
    unit: ClassVar[str] = ""
    radius: ClassVar[str] = ""
    domain: ClassVar[str] = ""
    says: ClassVar[Mapping[str, str]] = {
        "conjugate": "L*(x) = -<c,x> on $domain.",
        "prox": "It is v - t x with x the projection of (v + costs)/(t) on $unit.",
        "sdca_update": """
With r = w C, den = k_ii and b = (q_j - q_y + c_j)/den over the others,
x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over $radius.
For k_ii = 0 all mass that is allowed goes to the largest costs.
""",
    }

    @classmethod
    def named(cls, variant: str, k: int, gamma: float) -> Hinge:
        """The loss of these parameters, gamma = 0 without smoothing."""
        smooth = {"gamma": float(gamma)} if gamma else {}
        found = named(f"{'smooth_' if smooth else ''}topk_hinge_{variant}", k=int(k), **smooth)
        assert isinstance(found, Hinge)
        return found

    @classmethod
    def describe(cls, operation: str) -> tuple[dict[str, Entry], Entry]:
        """Blocks hold r x, not x."""
        about, (kind, text) = super().describe(operation)
        return about, (kind, text.replace("-w C x at", "-x at").replace("w C <1,x>", "<1,x>"))

    def parameters(self, others: int, *, given: bool = True) -> tuple[int, int, float]:
        """(variant, k, gamma)."""
        k = self._checked("k", self.k, others) if self.k != 1 else 1
        return self.variant, int(k), 0.0

    def structure(self, others: int) -> tuple[int, int, float, float]:
        """(variant, k, gamma, price) for class lists; price 1: half the square of the hinge."""
        return *self.parameters(others), 0.0

    def weight(self, C: Any) -> float:
        """C of a dual update, not subnormal where gamma is divided by it."""
        return divisor("C", C) if self.smooth else number("C", C, positive=True)

    @property
    def capabilities(self) -> frozenset[str]:
        """What solvers may need of it; nothing where its margins are not the family's, which they take."""
        if self.cost != Hinge.cost:
            return frozenset()
        return super().capabilities | (
            {"lists", "simplex", "curvature"} if self.smooth else {"lists", "simplex"}
        )

    @property
    def formula(self) -> str:
        """A mean of the k largest."""
        return "hinge" if self.variant == ALPHA else "hinge+beta"

    def rows(self, y: Array, r: Array, m: int) -> SmoothRows:
        """Losses, gradients and Hessian products of all examples, of a smooth loss."""
        from fast.solvers.smooth_rows import SmoothRows

        return SmoothRows(self, y, r, m)

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, where all margins are 1."""
        width = m - 1
        if self.gamma == 0.0:
            return min(self.k, width) / self.k
        # p = q*1 with <1,p> <= gamma and, for beta, p <= gamma/k; z = 1
        q = min(1.0, self.gamma / max(width, self.k if self.variant else 0))
        return width * q * (1.0 - 0.5 * q) / self.gamma

    def values(self, f: Array, y: Array) -> Array:
        """Loss of each row of scores."""
        if self.smooth:
            return super().values(f, y)
        # not by the kernels of the loss, which training does without, and which take long to compile
        own, others = (np.arange(len(y)), y), f.shape[1] - 1
        z = f - (f[own] - 1.0)[:, None]
        z[own] = -np.inf
        k = min(self.k, others)
        if k == 1:  # a maximum takes a fifth of the time
            return np.maximum(z.max(axis=1), 0.0)
        top = np.partition(z, others - k, axis=1)[:, others + 1 - k :]
        if self.variant != ALPHA:
            top = np.maximum(top, 0.0)
        return np.asarray(np.maximum(top.sum(axis=1) / self.k, 0.0))

    def conjugates(self, dual_variables: Any, r: Array) -> Array:
        """gamma/(2 r_i) ||x_i||^2 - <1,x_i>."""
        values: Array = -np.asarray(dual_variables.sum(axis=1)).ravel()
        if self.gamma > 0.0:
            x = (
                dual_variables
                if isinstance(dual_variables, np.ndarray)
                else dual_variables.power(2)
            )
            squares = (
                np.einsum("ij,ij->i", x, x)
                if x is dual_variables
                else np.asarray(x.sum(axis=1)).ravel()
            )
            safe = np.where(r > 0.0, r, 1.0)
            values += 0.5 * self.gamma * np.where(r > 0.0, squares / safe, 0.0)
        return values


@dataclass(frozen=True)
class SmoothHinge(Hinge):
    """The Moreau envelope of a top-k hinge."""

    smooth = True
    says: ClassVar[Mapping[str, str]] = {
        "gradient": "x = p/gamma over the other classes; it is 1/gamma-Lipschitz in z.",
        "conjugate": "L*(x) = gamma/2 ||x||^2 - <c,x> on $domain.",
        "prox": "It is v - t x with x the projection of (v + costs)/(gamma + t) on $unit.",
        "sdca_update": """
With r = w C, den = k_ii + gamma/r and b = (q_j - q_y + c_j)/den over the others,
x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over $radius.
""",
    }

    @property
    def formula(self) -> str:
        """Its envelope: the square of a norm in the conjugate."""
        return super().formula.replace("hinge", "quadratic")

    def parameters(self, others: int, *, given: bool = True) -> tuple[int, int, float]:
        """(variant, k, gamma)."""
        gamma = divisor("gamma", self.gamma, ", or use the hinge itself")
        return self.variant, int(self._checked("k", self.k, others)), gamma
