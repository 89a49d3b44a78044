"""Formulas of a declared loss in numpy: margins z, dual blocks, conjugate, Fenchel-Young bounds.

The bound behind every certificate: for the generator h of the conjugate (its smooth part, gamma/2
||x||^2 or an entropy), every p and every mu >= 0 on the caps with z - grad h(p) = mu up to vectors
that are constant on the domain,

    L(z) + h(x) - <z,x>  <=  D_h(x, p) + residual(x, z - grad h(p)),

D_h the Bregman divergence, residual(x, w) = support(w) - <w,x>. Both terms are sums of nonnegative
numbers; equality holds at the maximiser p of <z,x> - h(x).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from refsolve import _entropic_prox, _entropy, _families, catalogue
from refsolve._entropy import Point
from refsolve._families import others as others
from refsolve.errors import InvalidParameterError
from refsolve.spec import Symbol, check_vector

Array = np.ndarray[Any, Any]
#: From this many entries on, proposals are computed in float64.
LARGE = 10_000
WEIGHT = Symbol("sample_weight", "weight of the example", low=0, default=1.0)
#: Strong convexity of the generators in the Euclidean norm, on the domains where they are used.
MODULUS = {"entropy": 1.0, "binary_entropy": 4.0, "simplex_entropy": 1.0}


def block(x: Array, y: Any) -> Array:
    """The dual direction of x over the others: -x at j != y and <1,x> at y."""
    return _families.Multiclass().block(x, y)


def check_complement(complement: Any, shape: tuple[int, ...] = ()) -> Any:
    """1 - s as longdouble, in [0, 1]."""
    value = np.asarray(complement)
    if value.dtype.kind not in "fiu" or value.shape != shape or not np.isfinite(value).all():
        raise InvalidParameterError(
            "complement", complement, f"finite, of shape {shape}", "pass 1 - <1,x>"
        )
    if (value < 0).any() or (value > 1).any():
        raise InvalidParameterError("complement", complement, "0 <= complement <= 1", "clip it")
    return value.astype(np.longdouble)


class Loss:
    """Numpy formulas of a declared loss.

    Parameters
    ----------
    stem : str
        Stem of the loss.
    params : mapping
        Its parameters, checked here.
    d : int
        Number of entries of z and x: m - 1 others, or m for the families with one score a class.
    y : array, optional
        Ground truth, checked; the formulas of the multilabel family depend on it. One per row of
        a batch.
    """

    def __init__(self, stem: str, params: Mapping[str, Any], d: int, y: Any = None) -> None:
        if catalogue.kind(stem) != "losses":
            raise InvalidParameterError(
                "loss", stem, f"one of {', '.join(catalogue.stems('losses'))}", "choose a loss"
            )
        self.stem = stem
        self.d = d
        self.module = catalogue.load(stem)
        self.family = _families.of(self.module)
        self.m = self.family.classes(d)
        self.generator: str = getattr(self.module, "generator", "quadratic")
        self.default_cost: float = getattr(self.module, "default_cost", 1.0)
        self.params = self.module.SPEC.check(params, d)
        self.gamma: float = self.params.get("gamma", 0.0)
        self.y = y
        pieces = getattr(self.module, "pieces", None)
        self.kept = getattr(self.module, "kept", None)
        source = self.module if pieces is None else catalogue.load(pieces)
        self.set_stem: str = source.dual_set
        self.set = catalogue.load(self.set_stem)
        shared = {name: value for name, value in self.params.items() if name != "gamma"}
        self.set_params = dict(getattr(source, "dual_params", shared))
        self.labelled = self.family.name == "multilabel"
        self.target: Any = 0
        if self.generator == "simplex_entropy":
            assert isinstance(self.family, _families.MultilabelDistribution)
            self.target = self.family.target(y)
        elif self.labelled:
            self.set_params["y"] = y

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the declaration's functions take between z or x and the parameters."""
        return (np.asarray(self.y),) if self.labelled else ()

    @property
    def modulus(self) -> float:
        """Strong convexity of the conjugate; 0 for the hinges."""
        return MODULUS.get(self.generator, self.gamma)

    @property
    def spread(self) -> int:
        """Largest ||block(x)||^2/||x||^2."""
        return self.family.spread(self.m)

    def size(self, z: Array) -> Any:
        """Natural size of the loss at z, by which errors are judged."""
        size = abs(z).max(axis=-1)
        return size if self.generator == "quadratic" else size + np.log(self.d + 1.0)

    def margins(self, scores: Array, y: Any, costs: Array) -> Array:
        """Z = M f + c; see `refsolve._families`."""
        return self.family.margins(scores, y, costs)

    def block(self, x: Array, y: Any) -> Array:
        """The dual direction of x."""
        return self.family.block(x, y)

    def check_costs(self, costs: Any, y: Any) -> Array:
        """Costs (d,) from an (m,) vector, or the default."""
        return self.family.check_costs(costs, self.default_cost, y, self.m)

    def check_own_costs(self, costs: Any) -> Array:
        """Costs given over the coordinates of x, (d,), or the default."""
        if costs is None:
            return self.family.default_costs(self.default_cost, self.y, self.d)
        return check_vector("costs", costs, size=self.d)

    def square(self, x: Array) -> Array:
        """||block(x)||^2."""
        square = (x * x).sum(axis=-1)
        return square + x.sum(axis=-1) ** 2 if self.family.coupled else square

    # ---- the domain

    def violation(self, x: Array) -> Array:
        """Largest violated constraint of the conjugate's domain."""
        return self.set.violation(x + self.target, **self.set_params)

    def repair(self, x: Array) -> Array:
        """A point of the domain near x."""
        repaired = self.set.repair(x + self.target, **self.set_params)
        return repaired - self.target if self.generator == "simplex_entropy" else repaired

    def balance(self, x: Array, complement: Any) -> tuple[Array, Any]:
        """A feasible x together with its 1 - s: scaled so that the two sum to 1."""
        if complement is None:
            return x, None
        s = x.sum(axis=-1)
        rest = complement / np.where(s + complement > 0, s + complement, 1)
        return x * ((1 - rest) / np.where(s > 0, s, 1))[..., None], rest

    def _rest(self, x: Array, complement: Any) -> Array:
        """1 - s, (..., 1), as given or by subtraction."""
        rest = np.maximum(1 - x.sum(axis=-1), 0) if complement is None else complement
        return np.asarray(rest)[..., None]

    # ---- the conjugate

    def conjugate(self, x: Array, complement: Any = None) -> Array:
        """Conjugate in z at a point of the domain (the one in u is <c,x> less)."""
        if self.generator == "entropy":
            rest = self._rest(x, complement)
            return (_entropy.xlogx(x)).sum(axis=-1) + _entropy.xlogx(rest)[..., 0]
        if self.generator == "binary_entropy":
            return (_entropy.xlogx(x) + _entropy.xlogx(1 - x)).sum(axis=-1)
        if self.generator == "simplex_entropy":
            return _entropy.xlogx(np.maximum(x + self.target, 0)).sum(axis=-1)
        return self.gamma / 2 * (x * x).sum(axis=-1)

    def nearest(self, b: Array, rho: Any = 0.0) -> Array | None:
        """Proposal for the projection of b on the domain, if the set has one."""
        if not hasattr(self.set, "nearest"):
            return None
        params = dict(self.set_params)
        if catalogue.has_rho(self.set):
            params["rho"] = rho
        if b.size > LARGE:  # a proposal need not have more digits than the data
            params = {
                n: v.astype(float) if isinstance(v, np.longdouble) else v for n, v in params.items()
            }
            return self.repair(self.set.nearest(b.astype(float), **params).astype(b.dtype))
        return self.set.nearest(b, **params)

    def propose(self, b: Array, beta: Any, coupled: bool = False) -> tuple[Array, Any] | None:
        """Proposal for argmin beta/2 (||x||^2 + [coupled] s^2) - <b,x> + conjugate(x).

        The point x and its complement: 1 - s, 1 - x for the binary entropy, or None.
        """
        if self.generator == "entropy":
            return self.root(b, beta, coupled).point()
        if self.generator == "binary_entropy":
            return _entropic_prox.box(b, beta)
        if self.generator == "simplex_entropy":
            return _entropic_prox.simplex(b + beta * self.target, beta) - self.target, None
        den = beta + self.gamma
        x = self.nearest(b / den, beta / den if coupled else 0.0) if den > 0 else None
        return None if x is None else (x, None)

    def root(self, b: Array, beta: Any, coupled: bool = False) -> _entropic_prox.TopK:
        """The one root behind `propose` for the entropy of (x, 1 - s)."""
        sigma = beta if coupled else np.longdouble(0)
        k, capped = self.set_params.get("k", 1), self.set_stem == "topk_simplex_beta"
        return _entropic_prox.TopK(b, np.longdouble(beta), sigma, k, capped)

    # ---- the maximiser and what it proves

    def maximum(self, z: Array) -> Point:
        """A point of the domain near argmax <z,x> - conjugate(x): a proposal, only ever judged."""
        if self.kept is not None:  # the best piece: no mass on what it drops
            z = np.where(self.kept(z, **self.params), z, -np.inf)
        if self.generator == "entropy":
            k = self.set_params.get("k", 1)
            beta = self.set_stem == "topk_simplex_beta"
            return _entropy.maximum_beta(z, k) if beta else _entropy.maximum_alpha(z, k)
        if self.generator == "binary_entropy":
            return _entropy.maximum_box(z)
        if self.generator == "simplex_entropy":
            return _entropy.maximum_simplex(z, self.target)
        if self.gamma > 0:
            x = self.nearest(z / self.gamma)
        else:  # the projection of a far point lies on the optimal face
            size = abs(z).max(axis=-1, keepdims=True)
            x = self.nearest(z / np.where(size > 0, size, 1) * 2.0**20)
        return Point(np.zeros_like(z) if x is None else x)

    def maximiser(self, z: Array) -> Array:
        """The x of `maximum`."""
        return self.maximum(z).x - self.target

    def complement_of(self, point: Point) -> Any:
        """The complement of a `maximum`, as `fenchel_young` takes it."""
        if point.rest is None:
            return None
        return point.rest if self.generator == "binary_entropy" else point.rest[..., 0]

    def fenchel_young(
        self, z: Array, x: Array, point: Point | None = None, complement: Any = None
    ) -> Array:
        """Bound on value(z) + conjugate(x) - <z,x>, x in the domain: a sum of terms >= 0.

        ``point`` is a `maximum` of z, if known. For gamma > 0 the bound is residual(x, z - gamma p)
        + gamma/2 ||x - p||^2 for the better of p = x and the maximiser, by row; for the entropies
        it is the divergence of x from the maximiser plus sum mu_i (cap(x) - x_i).
        """
        if self.generator != "quadratic":
            p = self.maximum(z) if point is None else point
            return self._divergence(x, p, complement) + self._slack(x, p)
        direct = self.set.residual(x, z - self.gamma * x, **self.set_params)
        if self.gamma == 0:
            return direct
        y = self.maximiser(z) if point is None else point.x
        through = self.set.residual(x, z - self.gamma * y, **self.set_params)
        return np.minimum(direct, through + self.gamma / 2 * ((x - y) ** 2).sum(axis=-1))

    def _divergence(self, x: Array, p: Point, complement: Any) -> Array:
        """D_h(x, p) for the entropies."""
        assert p.logs is not None
        total = _entropy.divergence(x + self.target, p.x, p.logs).sum(axis=-1)
        if p.rest is None or p.log_rest is None:
            return total
        if self.generator == "binary_entropy":
            rest = 1 - x if complement is None else complement
        else:
            rest = self._rest(x, complement)
        return total + _entropy.divergence(rest, p.rest, p.log_rest).sum(axis=-1)

    def _slack(self, x: Array, p: Point) -> Any:
        """Sum of mu_i (cap(x) - x_i): what the caps leave of the support."""
        if p.mu is None:
            return 0
        cap = self.set.cap(x, **self.set_params)
        slack = cap - x
        # what the rounding of s explains moves x by no more than `_rounding` allows for
        least = (4 + np.log2(x.shape[-1])) * np.finfo(x.dtype).eps * cap
        return (p.mu * np.where(slack > least, slack, 0)).sum(axis=-1)

    def value_bounds(self, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """Lower and upper bound on the loss, equal up to rounding; ``point`` as above."""
        if self.generator != "quadratic":
            p = self.maximum(z) if point is None else point
            assert p.upper is not None
            return np.maximum(p.upper - self._slack(p.x, p), 0), p.upper
        if self.gamma == 0:
            value = self.set.support(z, **self.set_params)
            return value, value
        y = self.maximiser(z) if point is None else point.x
        lower = (z * y).sum(axis=-1) - self.conjugate(y)
        # max{0, ...}: the loss is nonnegative, 0 being in the domain
        lower = np.maximum(lower, 0)
        return lower, lower + self.set.residual(y, z - self.gamma * y, **self.set_params)


def check_example(
    stem: str, name: str, scores: Any, y: Any, params: Mapping[str, Any]
) -> tuple[Array, Any, Loss]:
    """Scores of at least two classes, the ground truth, and the loss with it."""
    scores = check_vector(name, scores)
    if scores.size < 2:
        raise InvalidParameterError(name, scores, "at least two classes", "add the other classes")
    family = _families.of(catalogue.load(stem))
    y = family.check_label(y, scores.size)
    return scores, y, Loss(stem, params, family.size(scores.size), y)


def check_point(stem: str, size: int, y: Any, params: Mapping[str, Any]) -> Loss:
    """The loss for an operation over the coordinates of x; y for the multilabel family only."""
    family = _families.of(catalogue.load(stem))
    if family.name == "multilabel":
        if y is None:
            raise InvalidParameterError("y", "missing", "a 0/1 row", "pass y=...")
        y = family.check_label(y, size)
    elif y is not None:
        raise InvalidParameterError(
            "y", y, "no ground truth: the entries are those of the others, or signed", "drop y"
        )
    return Loss(stem, params, size, y)
