"""The smooth part h of a conjugate: one object per file, all behind one Protocol.

A loss says which one is its own, ``generator = Quadratic("gamma")``; its conjugate is h on its dual
set. Nobody asks a generator for its name: what the oracle, the certificates and the kit need to know
of h is a method. `refsolve.generators.separable.Separable` derives all of them from h and its first
two derivatives entry by entry, so that this is all that a new one has to write; quadratic forms need
numbers only.

A generator is *rational* where the minimisers of alpha/2 ||x||^2 - <b,x> + h(x) are rational
functions of the data: these are biased projections, solved exactly by `refsolve.exact`. The others
have a twin in decimals of 60 digits and more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Protocol, Self, cast, runtime_checkable

from refsolve._types import Array, Float, Floats
from refsolve.errors import InvalidParameterError
from refsolve.proofs.domain import Domain
from refsolve.protocols import missing

Decimals = Sequence[Decimal]

__all__ = ["Decimals", "Generator", "Point", "WithRest", "check"]


@dataclass(frozen=True)
class Point:
    """A point p of a domain, in the form in which its divergence can be taken.

    Attributes
    ----------
    x : (..., d) array
        p.
    logs : (..., d) array
        Its logarithms.
    rest, log_rest : array
        1 - <1,p> (..., 1), or 1 - p (..., d), and the logarithm; None where there is none.
    mu : (..., d) array
        Multipliers of the caps x_i <= cap(x).
    upper : (...,) array
        Upper bound on the loss that mu gives.
    inner : (..., d) array
        The point before it was repaired, where h is smooth.
    """

    x: Array
    logs: Array | None = None
    rest: Array | None = None
    log_rest: Array | None = None
    mu: Array | None = None
    upper: Array | None = None
    inner: Array | None = None


@runtime_checkable
class Generator(Protocol):
    """What the proofs ask of h; x has shape (..., d), numbers are longdoubles, or Fractions.

    Attributes
    ----------
    rational : bool
        Whether core problems are biased projections: exact in rational numbers.
    complement : {"", "sum", "entries"}
        Whether h takes 1 - <1,x>, or 1 - x, as an argument that may be given with more digits.
    shifted : bool
        Whether h is a function of p = x + t, t the target distribution of a 0/1 row.
    smooth : bool
        Whether h is strictly convex: the loss has one gradient.
    """

    rational: bool
    complement: str
    shifted: bool

    @property
    def smooth(self) -> bool:
        """Whether the loss has one gradient."""
        ...

    def bind(self, params: Mapping[str, Any]) -> Self:
        """The generator with the parameters of a loss put in."""
        ...

    @property
    def modulus(self) -> Any:
        """Strong convexity in the Euclidean norm, on the domains where h is used; 0 for none."""
        ...

    def size(self, domain: Domain, z: Array) -> Any:
        """Natural size of the loss at z, by which errors are judged."""
        ...

    def value(self, x: Array, rest: Array | None = None) -> Array:
        """H at a point of the domain; ``rest`` is the complement, (..., 1) or (..., d)."""
        ...

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """A point near argmax <z,x> - h(x): a proposal, only ever judged."""
        ...

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any] | None:
        """Proposal for argmin beta/2 (||x||^2 + [coupled] s^2) - <b,x> + h(x), with complement."""
        ...

    def gap(
        self, domain: Domain, z: Array, x: Array, point: Point | None, rest: Array | None
    ) -> Array:
        """Bound on max (<z,y> - h(y)) + h(x) - <z,x>: a sum of nonnegative terms."""
        ...

    def bounds(self, domain: Domain, z: Array, point: Point | None) -> tuple[Array, Array]:
        """Lower and upper bound on max <z,y> - h(y), equal up to rounding."""
        ...


@runtime_checkable
class WithRest(Generator, Protocol):
    """A generator with the complement 1 - s."""

    def rest_bounds(self, domain: Domain, b: Array, beta: Float, coupled: bool) -> tuple[Any, Any]:
        """Bounds on log(1 - s) at the minimiser that `propose` seeks."""
        ...


def check(object_name: str, generator: object) -> Generator:
    """The generator of a loss, or an error that says what one is."""
    kind: Any = type(generator)
    if lacks := _missing(kind):
        raise InvalidParameterError(
            f"generator of {object_name}", generator,
            f"an object with the methods of refsolve.generators.Generator (no {', '.join(lacks)})",
            "declare e.g. generator = refsolve.generators.quadratic.Quadratic(), "
            "or derive one from refsolve.generators.separable.Separable",
        )  # fmt: skip
    return cast(Generator, generator)


@cache
def _missing(kind: type) -> list[str]:
    """Looked at once for each class: every problem asks for its generator."""
    return missing(Generator, kind)
