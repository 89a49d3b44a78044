"""Softmax and the top-k entropies: entropy on the simplex of all classes, its dual restricted."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fast.families.base import Loss, named
from fast.kernels import entropies, entropy_steps
from fast.kernels.entropies import TRUNCATED
from fast.kernels.hinges import ALPHA, BETA
from fast.kernels.rows import compiled

if TYPE_CHECKING:
    from fast.solvers.entropy_rows import EntropyRows

Array = NDArray[Any]


@dataclass(frozen=True)
class Entropy(Loss):
    """A top-k entropy loss: ``variant`` ALPHA or BETA, and k (1: softmax)."""

    kernels = compiled(vars(entropies) | vars(entropy_steps), entropy_steps.__file__)
    smooth = True
    complements = True
    cost = 0.0
    gamma = 0.0
    variant: ClassVar[int] = ALPHA
    k = 1
    dropped: ClassVar[Array | None] = None
    domain: ClassVar[str] = "{x >= 0, s <= 1}"
    place: ClassVar[str] = "Lapin, Hein and Schiele 2016, Proposition 11 (arXiv version: 12)."
    says: ClassVar[Mapping[str, str]] = {
        "conjugate": """
L*(x) = <x,log x> + (1-s) log(1-s) - <c,x>, s = <1,x>, on
$domain; +inf also where ``complement`` is not 1 - s.
""",
        "prox": """
It is v - t x with x = argmin t/2 ||x||^2 - <v + c,x> + <x,log x> + (1-s) log(1-s) over
$domain, by Newton's method in one variable around W(e^t).
""",
        "sdca_update": """
With a = w C k_ii and b = q_j - q_y + c_j over the others, x is the argmin of
a/2 (||x||^2 + s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over $domain;
the block is -w C x. For a = 0, x is the gradient of the loss at b.
$place
""",
    }

    @classmethod
    def named(cls, variant: str, k: int) -> Entropy:
        """The loss of these parameters."""
        found = named(f"topk_entropy_{variant}", k=int(k))
        assert isinstance(found, Entropy)
        return found

    def parameters(self, others: int, *, given: bool = True) -> tuple[int, int]:
        """(variant, k)."""
        return self.variant, int(self._checked("k", self.k, others)) if self.k != 1 else 1

    @property
    def capabilities(self) -> frozenset[str]:
        """What solvers may need of it; nothing where its margins are not the family's, which they take."""
        if self.cost != Entropy.cost:
            return frozenset()
        if self.variant not in (ALPHA, BETA):
            return super().capabilities
        binary = {"logistic"} if self.k == 1 and self.dropped is None else set()
        return super().capabilities | {"curvature", "simplex"} | binary

    @property
    def formula(self) -> str:
        """An entropy on a top-k simplex."""
        return {ALPHA: "entropy", BETA: "entropy+beta"}.get(self.variant, "")

    def rows(self, y: Array, r: Array, m: int) -> EntropyRows:
        """Losses, gradients and Hessian products of all examples."""
        from fast.solvers.entropy_rows import EntropyRows

        return EntropyRows(self, y, r, m)

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, where all scores are equal."""
        if self.variant == TRUNCATED:
            return super().at_zero(m)
        return (_known_at_zero if self.dropped is None else _at_zero)(self, m)

    def conjugates(self, dual_variables: Any, r: Array) -> Array:
        """r_i (<x,log x> + (1-s) log(1-s)) at x = x_i/r_i, s = <1,x>."""
        from scipy.special import entr, xlog1py

        safe = np.where(r > 0.0, r, 1.0)
        x = (
            dual_variables.toarray() if hasattr(dual_variables, "toarray") else dual_variables
        ) / safe[:, None]
        s = np.minimum(x.sum(axis=1), 1.0)
        return np.asarray(r * (xlog1py(1.0 - s, -s) - entr(x).sum(axis=1)))

    def values(self, f: Array, y: Array) -> Array:
        """Loss of each row of scores."""
        if self.variant == TRUNCATED:
            return super().values(f, y)
        rows = self.rows(y, np.ones(len(y)), f.shape[1])
        rows.evaluate(f, np.empty_like(f))
        return rows.losses


def _at_zero(loss: Entropy, m: int) -> float:
    # by what training compiles anyway: the value of one row has kernels of its own
    found = loss.rows(np.zeros(1, np.int64), np.ones(1), m).at_zero()
    assert found is not None
    return float(found[0])


_known_at_zero = functools.cache(_at_zero)


@dataclass(frozen=True, eq=False)
class Piece(Entropy):
    """Softmax over the classes that are kept: the pieces of the truncated entropy.

    ``dropped`` (n, q) int64 names, per example, other classes that are left out of its loss.
    """

    dropped: Array  # type: ignore[misc]
    operations = ()
    formula = ""

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, of the classes that are kept."""
        q = self.dropped.shape[1]
        return (
            replace(self, dropped=self.dropped[:1, :0]).at_zero(m - q) if q else super().at_zero(m)
        )
