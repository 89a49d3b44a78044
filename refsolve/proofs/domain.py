"""A declared set with its parameters: its formulas without having to say these again.

The formulas of a set act on longdouble rows and on object arrays of Fractions alike, so that the
oracle's certificates and the exact ones are the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from refsolve import catalogue, protocols
from refsolve._types import Array, Floats, Number

#: From this many entries on, proposals are computed in float64.
LARGE = 10_000


@dataclass(frozen=True, eq=False)
class Domain:
    """A set of points x.

    Attributes
    ----------
    object_name : str
        A set, or a loss that declares its own dual set.
    params : mapping
        Its parameters, labels y included.
    r : number or array, optional
        Bound on the sum by which a cone is cut: the part that matters.
    """

    object_name: str
    params: Mapping[str, Any]
    r: Any = None

    @cached_property
    def module(self) -> protocols.Set:
        """Declaration of the set."""
        module = catalogue.load(self.object_name)
        protocols.require(protocols.Set, module)
        return cast(protocols.Set, module)

    @property
    def cone(self) -> bool:
        """Whether the set is a cone, the support function of which is 0 or +inf."""
        return bool(getattr(self.module, "cone", False))

    def cut(self, r: Number) -> Domain:
        """The part with sum at most ``r``; a bounded set as it is."""
        return replace(self, r=r) if self.cone else self

    def around(self, x: Array, g: Array) -> Domain:
        """The part that holds x and the solution, if g is the gradient at x of a modulus of 1."""
        part = getattr(self.module, "part", None)
        return self if part is None else replace(self, params=part(x, abs(g).sum(), **self.params))

    @property
    def conditioning(self) -> Any:
        """How much larger an error of a sum that the set fixes is in x: 1, or what the set declares."""
        own = getattr(self.module, "conditioning", None)
        return 1 if own is None else own(**self.params)

    @property
    def _bounded(self) -> dict[str, Any]:
        return dict(self.params) if self.r is None else {**self.params, "r": self.r}

    def violation(self, x: Array) -> Any:
        """Largest violated constraint, 0 if feasible."""
        return self.module.violation(x, **self.params)

    def repair(self, x: Array) -> Array:
        """A feasible point near x."""
        return self.module.repair(x, **self.params)

    def support(self, w: Array) -> Any:
        """Max <w,x> over the set."""
        return self.module.support(w, **self._bounded)

    def residual(self, x: Array, w: Array) -> Any:
        """support(w) - <w,x> for feasible x, a sum of nonnegative terms."""
        return self.module.residual(x, w, **self._bounded)

    def nearest(self, b: Array, rho: Floats = 0.0) -> Array | None:
        """Proposal for the biased projection of b, if the set has one."""
        if not hasattr(self.module, "nearest"):
            return None
        params = dict(self.params)
        if catalogue.has_rho(self.module):
            params["rho"] = rho
        elif np.any(rho):
            return None
        if b.size > LARGE:  # a proposal need not have more digits than the data
            params = {n: float(v) if isinstance(v, np.longdouble) else v for n, v in params.items()}
            return self.repair(self.module.nearest(b.astype(float), **params).astype(b.dtype))
        return self.module.nearest(b, **params)

    @property
    def largest_sum(self) -> Any:
        """Largest <1,x> of a bounded dual set: 1, or what the set declares."""
        own = getattr(self.module, "largest_sum", None)
        return 1 if own is None else own(**self.params)


def plain(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters as something that can be hashed."""
    return tuple(
        (n, tuple(v.tolist()) if isinstance(v, np.ndarray) else v)
        for n, v in sorted(params.items())
    )
