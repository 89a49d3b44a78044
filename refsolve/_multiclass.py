"""Multiclass notation in numpy: margins z, dual blocks a, and the formulas of a declared loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from refsolve.spec import Symbol, check_vector

Array = np.ndarray[Any, Any]
#: From this many entries on, proposals are computed in float64.
LARGE = 10_000
WEIGHT = Symbol("sample_weight", "weight of the example", low=0, default=1.0)


def check_label(y: Any, m: int) -> int:
    """A class index in 0..m-1."""
    return int(Symbol("y", "ground truth", "integer", low=0, high=m - 1).check(y))


def others(v: Array, y: int) -> Array:
    """Entries of the classes j != y, in class order."""
    return np.delete(v, y, axis=-1)


def block(x: Array, y: int) -> Array:
    """The dual direction of x over the others: -x at j != y and <1,x> at y."""
    return np.insert(-x, y, x.sum(axis=-1), axis=-1)


def margins(scores: Array, y: int, costs: Array) -> Array:
    """Z = u + c over the others: f_j - f_y + c_j."""
    return others(scores - scores[..., y, None], y) + costs


def check_costs(costs: Any, y: int, m: int) -> Array:
    """Costs of the others from an (m,) vector with costs[y] = 0; ones by default."""
    if costs is None:
        return np.ones(m - 1)
    costs = check_vector("costs", costs, size=m)
    if costs[y] != 0:
        raise InvalidParameterError(
            "costs", f"{costs[y]} at the ground truth {y}", "costs[y] = 0", "set that entry to 0"
        )
    return others(costs, y)


def check_other_costs(costs: Any, d: int) -> Array:
    """Costs given over the others, (d,); ones by default."""
    return np.ones(d) if costs is None else check_vector("costs", costs, size=d)


def check_scores(name: str, scores: Any, y: Any) -> tuple[Array, int]:
    """Scores of at least two classes and the ground truth."""
    scores = check_vector(name, scores)
    if scores.size < 2:
        raise InvalidParameterError(name, scores, "at least two classes", "add the other classes")
    return scores, check_label(y, scores.size)


class Loss:
    """Numpy formulas of a declared loss: conjugate = gamma/2 ||x||^2 on its dual set (r = 1).

    Parameters
    ----------
    stem : str
        Stem of the loss.
    params : mapping
        Its parameters, checked here.
    d : int
        Number of other classes, m - 1.
    """

    def __init__(self, stem: str, params: Mapping[str, Any], d: int) -> None:
        if catalogue.kind(stem) != "losses":
            raise InvalidParameterError(
                "loss", stem, f"one of {', '.join(catalogue.stems('losses'))}", "choose a loss"
            )
        self.stem = stem
        self.d = d
        self.module = catalogue.load(stem)
        self.params = self.module.SPEC.check(params, d)
        self.gamma: float = self.params.get("gamma", 0.0)
        self.set_stem: str = self.module.dual_set
        self.set = catalogue.load(self.set_stem)
        shared = {name: value for name, value in self.params.items() if name != "gamma"}
        self.set_params = getattr(self.module, "dual_params", shared)

    def violation(self, x: Array) -> Array:
        """Largest violated constraint of the conjugate's domain."""
        return self.set.violation(x, **self.set_params)

    def repair(self, x: Array) -> Array:
        """A point of the domain near x."""
        return self.set.repair(x, **self.set_params)

    def conjugate(self, x: Array) -> Array:
        """Conjugate in z at a point of the domain (the one in u is <c,x> less)."""
        return self.gamma / 2 * (x * x).sum(axis=-1)

    def nearest(self, b: Array, rho: Any = 0.0) -> Array | None:
        """Proposal for the projection of b on the domain, if the set has one."""
        if not hasattr(self.set, "nearest"):
            return None
        if b.size > LARGE:  # a proposal need not have more digits than the data
            rough = self.set.nearest(b.astype(float), rho=rho, **self.set_params)
            return self.repair(rough.astype(b.dtype))
        return self.set.nearest(b, rho=rho, **self.set_params)

    def maximiser(self, z: Array) -> Array:
        """A point of the domain near argmax <z,x> - conjugate(x): a proposal, only ever judged."""
        if self.gamma > 0:
            y = self.nearest(z / self.gamma)
        else:  # the projection of a far point lies on the optimal face
            size = abs(z).max(axis=-1, keepdims=True)
            y = self.nearest(z / np.where(size > 0, size, 1) * 2.0**20)
        return np.zeros_like(z) if y is None else y

    def fenchel_young(self, z: Array, x: Array, y: Array | None = None) -> Array:
        """Bound on value(z) + conjugate(x) - <z,x>, x in the domain: a sum of terms >= 0.

        For gamma > 0, value(z) <= support(z - gamma y) + gamma/2 ||y||^2 at every y, which leaves
        residual(x, z - gamma y) + gamma/2 ||x - y||^2; the better of y = x and y, by default the
        `maximiser`, by row.
        """
        direct = self.set.residual(x, z - self.gamma * x, **self.set_params)
        if self.gamma == 0:
            return direct
        y = self.maximiser(z) if y is None else y
        through = self.set.residual(x, z - self.gamma * y, **self.set_params)
        return np.minimum(direct, through + self.gamma / 2 * ((x - y) ** 2).sum(axis=-1))

    def value_bounds(self, z: Array, y: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper bound on the loss, equal up to rounding; y as in `fenchel_young`."""
        if self.gamma == 0:
            value = self.set.support(z, **self.set_params)
            return value, value
        y = self.maximiser(z) if y is None else y
        lower = (z * y).sum(axis=-1) - self.conjugate(y)
        # max{0, ...}: the loss is nonnegative, 0 being in the domain
        lower = np.maximum(lower, 0)
        return lower, lower + self.set.residual(y, z - self.gamma * y, **self.set_params)
