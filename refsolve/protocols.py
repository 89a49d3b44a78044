"""What the file of an object must declare, by its kind: a module is an implementation of a Protocol.

`refsolve.catalogue.load` refuses a file that lacks a member, and ``make lint`` has mypy read the
program of `refsolve.declared`. Parameters of an object's own follow those that are named here.
"""

from __future__ import annotations

import inspect
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from refsolve._types import Array
from refsolve.canonicalize import ParametrizedProblem
from refsolve.errors import InvalidParameterError

if TYPE_CHECKING:
    import cvxpy as cp

    from refsolve.spec import Spec


class Declaration(Protocol):
    """What every file declares."""

    SPEC: Spec


class Function(Declaration, Protocol):
    """A scalar function: the minimisation that defines it."""

    def objective(self, v: cp.Expression, /, *args: Any, **params: Any) -> Any:
        """CVXPY objective in v."""

    def refine(self, v: float, /, *args: Any, **params: Any) -> float:
        """The value from the minimiser v as a solver found it, right up to rounding."""


class Set(Declaration, Protocol):
    """A convex set; formulas act on the last axis, on longdoubles and on Fractions alike."""

    def constraints(self, x: cp.Expression, /, *args: Any, **params: Any) -> list[Any]:
        """CVXPY constraints."""

    def halfspaces(self, d: int, /, *args: Any, **params: Any) -> list[Any]:
        """Rows (g, h, equality) meaning <g,x> <= h or = h, rational."""

    def support(self, w: Array, /, *args: Any, **params: Any) -> Array:
        """Max <w,x> over the set."""

    def violation(self, x: Array, /, *args: Any, **params: Any) -> Array:
        """Largest violated constraint, 0 if feasible."""

    def repair(self, x: Array, /, *args: Any, **params: Any) -> Array:
        """A feasible point near x."""

    def residual(self, x: Array, w: Array, /, *args: Any, **params: Any) -> Array:
        """support(w) - <w,x> for feasible x, as a sum of nonnegative terms."""


class Projection(Set, Protocol):
    """A set of its own: not only the dual set of a loss."""

    def nearest(self, a: Array, /, *args: Any, **params: Any) -> Array:
        """Rows near the projections: a proposal, only ever judged."""


class Capped(Set, Protocol):
    """A set whose entries are bounded."""

    def cap(self, x: Array, /, *args: Any, **params: Any) -> Array:
        """Largest value that the set allows an entry of a feasible x."""


class Loss(Declaration, Protocol):
    """A convex loss: its generator (by default none) on its dual set is its conjugate."""

    dual_set: str

    def value(self, z: cp.Expression, /, *args: Any, **params: Any) -> Any:
        """CVXPY expression of the loss."""

    def conjugate(self, x: cp.Expression, /, *args: Any, **params: Any) -> tuple[Any, list[Any]]:
        """CVXPY expression and domain of the conjugate."""


class Special(Declaration, Protocol):
    """A loss that says which operations it has."""

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of those of its kind."""
        ...


class Pieces(Special, Protocol):
    """A loss that is the least of convex ones."""

    pieces: str

    def kept(self, z: Array, /, *args: Any, **params: Any) -> Any:
        """Mask of the entries that the optimal piece keeps."""


class Ranking(Special, Protocol):
    """A loss over the rankings of a query's samples."""

    def value(self, z: cp.Expression, /, *args: Any, **params: Any) -> Any:
        """CVXPY expression of the loss."""

    def objective(self, x: cp.Expression, h: cp.Expression, /) -> Any:
        """CVXPY objective of the inference."""

    def constraints(self, x: cp.Expression, /) -> list[Any]:
        """CVXPY constraints of the inference."""


class Primal(Declaration, Protocol):
    """A model, and what its certificate says of a point."""

    certificate: Any

    def canonicalize_primal(self, given: dict[str, Any], /) -> ParametrizedProblem:
        """The program of an instance."""


class Model(Primal, Protocol):
    """A model with a dual problem."""

    def canonicalize_dual(self, given: dict[str, Any], /) -> ParametrizedProblem:
        """The dual program of an instance."""


def wanted(kind: str, module: ModuleType) -> type[Declaration]:
    """The Protocol of a module of a kind."""
    if kind == "losses":
        ranks = getattr(module, "family", None) == "ranking"
        return Ranking if ranks else Pieces if hasattr(module, "pieces") else Loss
    if kind == "models":
        return Model if "dual" in getattr(module, "operations", ("dual",)) else Primal
    return Projection if kind == "sets" else Function


@cache
def _members(protocol: type) -> dict[str, bool]:
    """The public members of a Protocol, and which of them are called."""
    all_of = [{**inspect.get_annotations(b), **vars(b)} for b in protocol.__mro__[::-1]]
    return {n: callable(v) for own in all_of for n, v in own.items() if n[0] != "_"}


def missing(protocol: type, thing: object) -> list[str]:
    """Members of a Protocol that a module or a class lacks."""
    found = ((n, called, getattr(thing, n, None)) for n, called in _members(protocol).items())
    return [n for n, called, v in found if v is None or (called and not callable(v))]


def require(protocol: type, module: ModuleType) -> None:
    """InvalidParameterError for a module that is not what the Protocol says."""
    if lacks := missing(protocol, module):
        raise InvalidParameterError(
            f"declaration of {module.__name__.rpartition('.')[2]}", getattr(module, "__file__", None),
            f"the members of refsolve.protocols.{protocol.__name__} (no {', '.join(lacks)})",
            "add them to the file",
        )  # fmt: skip
