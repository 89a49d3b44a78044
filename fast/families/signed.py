"""One-vs-all and multilabel losses: one signed score per class, z_j = f_j + c_j on N, c_j - f_j on P."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._docs import Entry
from fast._numba import inlined
from fast._rows import Rows
from fast._validation import check_classes, check_indicator, divisor
from fast.errors import InvalidParameterError
from fast.families import docstrings
from fast.families.base import AT_SCORES, Loss, costs_of
from fast.kernels import signed
from fast.kernels.rows import compiled
from fast.kernels.signed import BIPARTITE, BOX, ENTROPY, LOGISTIC

Array = NDArray[Any]


@inlined
def charged(own, costs, side, cost):
    """Write the costs, those on P ``own`` times (0 or 1)."""
    for j in range(cost.shape[0]):
        cost[j] = own * costs[j] if side[j] else costs[j]


@inlined
def value_at(p, row, y, costs, space):
    """Loss of a row of scores; p is (variant, gamma, own)."""
    cost, z = space[4], space[1]
    charged(p[2], costs, y, cost)
    signed.margins(p[0], row, y, cost, z)
    return signed.value_row(p[0], z, y, p[1], space[2], space[3])


@inlined
def gradient_at(p, row, y, costs, weight, out, space):
    """Write ``weight`` times the gradient in the scores."""
    cost, z, x = space[4], space[1], space[2]
    charged(p[2], costs, y, cost)
    signed.margins(p[0], row, y, cost, z)
    signed.gradient_row(p[0], z, y, p[1], x, space[3])
    signed.with_signs(p[0], x, y, weight, out)
    return 0.0


@inlined
def update_at(p, row, y, costs, r, norm, out, space):
    """Write the dual block of an example."""
    cost, z, x = space[4], space[1], space[2]
    charged(p[2], costs, y, cost)
    signed.margins(p[0], row, y, cost, z)
    signed.update_row(p[0], z, y, r, norm, p[1], x, space[3])
    signed.with_signs(p[0], x, y, -1.0, out)
    return 0.0


@inlined
def prox_at(p, row, y, costs, t, out, space):
    """Write the proximal point of a row of coordinates z."""
    charged(p[2], costs, y, space[4])
    signed.prox_row(p[0], row, y, space[4], t, p[1], out, space[1], space[3])
    return 0.0


@inlined
def conjugate_at(p, row, y, costs, known, slack, space):
    """Conjugate at a row of coordinates z."""
    charged(p[2], costs, y, space[4])
    return signed.conjugate_row(p[0], row, y, space[4], p[1], slack)


@dataclass(frozen=True)
class Signed(Loss):
    """A loss with one signed score per class; the true class is alone in P."""

    kernels = compiled(globals(), __file__)
    variant: ClassVar[int] = BOX
    gamma = 0.0
    per_class = True
    coordinates = "z without costs"
    where = ", in the coordinates z"
    default_costs: ClassVar[str] = ""  # what docstrings say of them, where it is not one number
    signs: ClassVar[tuple[str, str]] = (
        "w_i x_j at j != y, -w_i x_y at y", "-w_i C x_j at j != y, w_i C x_y at y"
    )  # fmt: skip

    @classmethod
    def describe(cls, operation: str) -> tuple[dict[str, Entry], Entry]:
        """Texts of an operation's parameters and of its result."""
        about, returns = super().describe(operation)
        point = "Points in the coordinates z, over all m classes. Never changed."
        about["x"] = about["v"] = (docstrings.ROWS, point)
        default = cls.default_costs or f"{cls.cost:g}"
        about["costs"] = (
            f"{docstrings.ROWS}, optional",
            f"Margins c_j, added to z_j; default {default}.",
        )
        found = {
            "gradient": (docstrings.MATRIX, f"{cls.signs[0]}."),
            "conjugate": (
                returns[0],
                "+inf outside the domain; 2 (m + 2) units of rounding of the radius 1 are allowed.",
            ),
            "sdca_update": (
                docstrings.MATRIX, f"Blocks a_i: {cls.signs[1]}. Each row is solved by itself."
            ),
        }  # fmt: skip
        return about, found.get(operation, returns)

    @property
    def capabilities(self) -> frozenset[str]:
        """Nothing: trainers know classes, and blocks whose entries sum to 0."""
        return frozenset()

    @property
    def formula(self) -> str:
        """A sum of binary losses."""
        found = {BOX: "quadratic+ova" if self.smoothed else "hinge+ova", LOGISTIC: "entropy+ova"}
        return "" if self.indicated else found.get(self.variant, "")

    def _kernel_parameters(self, own: float) -> tuple[int, float, float]:
        gamma = divisor("gamma", self.gamma, ", or use the hinge itself") if self.smoothed else 0.0
        return self.variant, gamma, own

    @property
    def smoothed(self) -> bool:
        """Whether gamma is a parameter."""
        return "gamma" in type(self).__dataclass_fields__

    def parameters(self, others: int, *, given: bool = True) -> tuple[Any, ...]:
        """(variant, gamma, own): by default the costs of the multilabel hinges are 0 on P."""
        return self._kernel_parameters(1.0 if given or self.variant != BIPARTITE else 0.0)

    def width(self, rows: Rows, operation: int) -> tuple[int, int, str]:
        """All classes, whatever the operation."""
        return rows.m, rows.m, "class"

    def labels(self, rows: Rows, y: ArrayLike | None, operation: int) -> Array:
        """Which entries belong to P, (n, m); over the coordinates z signs do not matter."""
        if operation not in AT_SCORES:
            return np.zeros((rows.n, rows.m), dtype=np.bool_)
        classes = check_classes(y if y is not None else [], rows.n, rows.m)
        return classes[:, np.newaxis] == np.arange(rows.m)

    def costs(
        self, value: ArrayLike | None, rows: Rows, width: int, one_per: str, labels: Array
    ) -> NDArray[np.float64]:
        """Costs as 1 or n rows."""
        return costs_of(value, rows, width, one_per, self.cost)


@dataclass(frozen=True)
class Multilabel(Signed):
    """A loss of an indicator y of the right labels."""

    indicated = True
    indicator: ClassVar[str] = (
        "Indicator: 1 for the right labels P, 0 for N. Where one of them is empty, the loss is 0."
    )
    signs = ("w_i x_j on N, -w_i x_j on P", "-w_i C x_j on N, w_i C x_j on P")

    @classmethod
    def describe(cls, operation: str) -> tuple[dict[str, Entry], Entry]:
        """Texts of an operation's parameters and of its result."""
        about, returns = super().describe(operation)
        first = {"conjugate": "x", "prox": "v", "sdca_update": "q"}.get(operation, "scores")
        about["y"] = (f"array_like of 0 and 1, as ``{first}`` in shape", cls.indicator)
        return about, returns

    def labels(self, rows: Rows, y: ArrayLike | None, operation: int) -> Array:
        """Which entries belong to P, (n, m)."""
        sides = check_indicator("y", y, rows.given.shape)
        if self.variant == ENTROPY and not sides.any(axis=1).all():
            i = int(np.flatnonzero(~sides.any(axis=1))[0])
            raise InvalidParameterError(
                "y",
                f"no label in row {i}",
                "at least one 1 in every row",
                "drop the rows without labels: they have no target distribution",
            )
        return sides
