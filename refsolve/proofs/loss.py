"""Formulas of a declared loss in numpy: margins z, dual blocks, conjugate, Fenchel-Young bounds.

The bound behind every certificate: for the generator h of the conjugate, and every p and every mu >= 0
on the caps with z - grad h(p) = mu up to vectors that are constant on the domain,

    L(z) + h(x) - <z,x>  <=  D_h(x, p) + residual(x, z - grad h(p)),

D_h the Bregman divergence, residual(x, w) = support(w) - <w,x>. Both terms are sums of nonnegative
numbers; equality holds at the maximiser p of <z,x> - h(x).
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue, generators
from refsolve._types import Array, Float, Label
from refsolve.checking import check_vector
from refsolve.errors import InvalidParameterError
from refsolve.generators import Generator, Point
from refsolve.generators.quadratic import Quadratic
from refsolve.proofs import families
from refsolve.proofs.domain import Domain


class Loss:
    """Numpy formulas of a declared loss.

    Parameters
    ----------
    object_name : str
        Object of the loss.
    params : mapping
        Its parameters, checked here.
    d : int
        Number of entries of z and x: m - 1 others, or m for the families with one score a class.
    y : array, optional
        Ground truth, checked; the formulas of the multilabel family depend on it. One per row of
        a batch.

    Attributes
    ----------
    domain : Domain
        Where the conjugate is finite: the dual set, in p = x + t if the generator is shifted.
    generator : Generator
        The smooth part h of the conjugate, bound to the parameters.
    """

    def __init__(
        self, object_name: str, params: Mapping[str, Any], d: int, y: Label | None = None
    ) -> None:
        self.object_name = object_name
        self.d = d
        self.module = module_of(object_name)
        self.family = families.of(self.module)
        self.m = self.family.classes(d)
        self.default_cost: float = getattr(self.module, "default_cost", 1.0)
        self.params = self.module.SPEC.check(params, d)
        catalogue.admit(object_name, d, self.params)
        self.y: Any = y
        self.kept = getattr(self.module, "kept", None)
        source = catalogue.load(getattr(self.module, "pieces", object_name))
        self.generator: Generator = generator_of(self.module).bind(self.params)
        self.labelled = self.family.name == "multilabel"
        self.target: Any = 0
        labels: dict[str, Any] = {}
        if isinstance(self.family, families.MultilabelDistribution):
            self.target = self.family.target(np.asarray(y))
        elif self.labelled:
            labels["y"] = y
        self.domain = Domain(source.dual_set, {**dual_params(source, self.params), **labels})

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the declaration's functions take between z or x and the parameters."""
        return (np.asarray(self.y),) if self.labelled else ()

    @property
    def modulus(self) -> Any:
        """Strong convexity of the conjugate; 0 for the hinges."""
        return self.generator.modulus

    @property
    def spread(self) -> int:
        """Largest ||block(x)||^2/||x||^2."""
        return self.family.spread(self.m)

    def size(self, z: Array) -> Any:
        """Natural size of the loss at z, by which errors are judged."""
        return self.generator.size(self.domain, z)

    def margins(self, scores: Array, y: Label, costs: Array) -> Array:
        """Z = M f + c; see `refsolve.proofs.families`."""
        return self.family.margins(scores, y, costs)

    def block(self, x: Array, y: Label) -> Array:
        """The dual direction of x."""
        return self.family.block(x, y)

    def check_costs(self, costs: ArrayLike | None, y: Label) -> Array:
        """Costs (d,) from an (m,) vector, or the default."""
        return self.family.check_costs(costs, self.default_cost, y, self.m)

    def check_own_costs(self, costs: ArrayLike | None) -> Array:
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
        return self.domain.violation(x + self.target)

    def repair(self, x: Array) -> Array:
        """A point of the domain near x."""
        return self.domain.repair(x + self.target) - self.target

    def balance(self, x: Array, complement: Array | None) -> tuple[Array, Any]:
        """A feasible x together with its 1 - s: scaled so that the two sum to 1."""
        if complement is None:
            return x, None
        s = x.sum(axis=-1)
        rest = complement / np.where(s + complement > 0, s + complement, 1)
        return x * ((1 - rest) / np.where(s > 0, s, 1))[..., None], rest

    def _rest(self, complement: Array | None) -> Any:
        """A complement with the axis of its entries."""
        if complement is None or self.generator.complement == "entries":
            return complement
        return np.asarray(complement)[..., None]

    # ---- the conjugate

    def conjugate(self, x: Array, complement: Array | None = None) -> Array:
        """Conjugate in z at a point of the domain (the one in u is <c,x> less)."""
        return self.generator.value(x + self.target, self._rest(complement))

    def propose(self, b: Array, beta: Float, coupled: bool = False) -> tuple[Array, Any] | None:
        """Proposal for argmin beta/2 (||x||^2 + [coupled] s^2) - <b,x> + conjugate(x).

        The point x and its complement: 1 - s, 1 - x for the binary entropy, or None.
        """
        found = self.generator.propose(self.domain, b, beta, coupled, self.target)
        return None if found is None else (found[0] - self.target, found[1])

    # ---- the maximiser and what it proves

    def maximum(self, z: Array) -> Point:
        """A point of the domain near argmax <z,x> - conjugate(x): a proposal, only ever judged."""
        if self.kept is not None:  # the best piece: no mass on what it drops
            z = np.where(self.kept(z, **self.params), z, -np.inf)
        return self.generator.maximum(self.domain, z, self.target)

    def maximiser(self, z: Array) -> Array:
        """The x of `maximum`."""
        return self.maximum(z).x - self.target

    def complement_of(self, point: Point) -> Any:
        """The complement of a `maximum`, as `fenchel_young` takes it."""
        if point.rest is None or self.generator.complement == "entries":
            return point.rest
        return point.rest[..., 0]

    def fenchel_young(
        self, z: Array, x: Array, point: Point | None = None, complement: Array | None = None
    ) -> Array:
        """Bound on value(z) + conjugate(x) - <z,x>, x in the domain: a sum of terms >= 0.

        ``point`` is a `maximum` of z, if known.
        """
        if point is None and (self.kept is not None or np.ndim(self.target)):
            point = self.maximum(z)
        rest = self._rest(complement)
        return self.generator.gap(self.domain, z, x + self.target, point, rest)

    def value_bounds(self, z: Array, point: Point | None = None) -> tuple[Array, Array]:
        """Lower and upper bound on the loss, equal up to rounding; ``point`` as above."""
        if point is None and (self.kept is not None or np.ndim(self.target)):
            point = self.maximum(z)
        return self.generator.bounds(self.domain, z, point)


def module_of(object_name: str) -> ModuleType:
    """The module that declares a loss; refused if the object is of another kind."""
    if catalogue.kind(object_name) != "losses":
        raise InvalidParameterError(
            "loss",
            object_name,
            f"one of {', '.join(catalogue.object_names('losses'))}",
            "choose a loss",
        )
    return catalogue.load(object_name)


def generator_of(module: ModuleType) -> Generator:
    """The generator that a loss declares; a loss without one is a support function."""
    return generators.check(
        module.__name__.rpartition(".")[2], getattr(module, "generator", Quadratic())
    )


def dual_params(module: ModuleType, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a loss's dual set: those it fixes, and those of its own that the set declares."""
    own = catalogue.load(module.dual_set)
    fixed = getattr(module, "dual_params", {})
    names = own.SPEC.names if own is not module else tuple(params)
    return {n: v for n, v in params.items() if n in names} | dict(fixed)
