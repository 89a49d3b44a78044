"""Exact ground truth in rational arithmetic: one projection per file, same objects as the sets.

`project` runs the projection of an object on :class:`fractions.Fraction` numbers and checks its own
certificate, which must be zero, not small. :mod:`refsolve.exact.faces` is the naive twin: it
tries every face of the polytope. :mod:`refsolve.exact.average_precision` lists rankings instead.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve import formulas as f
from refsolve._types import Scalar
from refsolve.errors import InvalidParameterError, UnknownProblemError
from refsolve.exact._rational import fenchel_young
from refsolve.operations import RHO
from refsolve.proofs.families import check_indicator
from refsolve.spec import check_vector

__all__ = ["ExactProjection", "object_names", "project"]


@dataclass(frozen=True)
class ExactProjection:
    """An exact projection with its certificate.

    Attributes
    ----------
    x : tuple of Fraction
        Minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2 over the set.
    value : Fraction
        That objective at ``x``.
    gap : Fraction
        support(-g) + <g,x> at g = x - a + rho <1,x> 1; exactly 0.
    """

    x: tuple[Fraction, ...]
    value: Fraction
    gap: Fraction

    def array(self) -> np.ndarray[Any, Any]:
        """``x`` rounded to float64."""
        return np.array([float(v) for v in self.x])


def object_names() -> tuple[str, ...]:
    """Objects of the sets that have an exact projection."""
    names = (info.name for info in pkgutil.iter_modules(__path__))
    return tuple(sorted(set(names) & set(catalogue.object_names("sets"))))


def rational(value: Scalar | np.integer[Any]) -> Fraction:
    """A float, longdouble, int or Fraction as the rational number that it is."""
    return (
        Fraction(*value.as_integer_ratio())
        if hasattr(value, "as_integer_ratio")
        else Fraction(value)  # type: ignore[call-overload]
    )


def project(
    object_name: str, a: Sequence[Any] | Any, *, rho: Scalar = 0, **params: Any
) -> ExactProjection:
    """Exact projection of ``a`` on the set ``object``.

    Parameters
    ----------
    object_name : str
        One of `object_names`.
    a : vector of floats or Fractions
        Taken as the exact numbers they represent. Time grows like d log d rational operations:
        d = 1000 takes a fraction of a second.
    rho : number
        Weight of the squared sum, >= 0.
    **params
        ``k``, ``r`` and the indicator ``y`` as the set declares them; Fractions are taken exactly.

    Raises
    ------
    InvalidParameterError
        For values outside the declared ranges.
    UnknownProblemError
        If the set has no exact projection.
    """
    point, weight, checked = taken(object_name, a, rho, params)
    module = importlib.import_module(f"{__name__}.{object_name}")
    biased = {"rho": weight} if catalogue.has_rho(catalogue.load(object_name)) else {}
    x = module.project(point, **biased, **checked)
    value, gap = fenchel_young(object_name, x, point, weight, checked)
    if gap != 0:  # the solution is unique, hence this is a defect of ours
        raise AssertionError(
            f"exact projection on {object_name} has gap {float(gap)}; please report it"
        )
    return ExactProjection(tuple(x), value, gap)


def taken(
    object_name: str, a: Sequence[Any] | Any, rho: Scalar, params: dict[str, Any]
) -> tuple[list[Fraction], Fraction, dict[str, Any]]:
    """The point, rho and the parameters of an exact projection, checked and rational; see `project`."""
    if object_name not in object_names():
        raise UnknownProblemError(object_name, object_names(), "exact projection")
    declaration = catalogue.load(object_name)
    spec = declaration.SPEC
    point = (
        [rational(v) for v in a] if _is_rational(a) else [rational(v) for v in check_vector("a", a)]
    )
    if not point:
        raise InvalidParameterError("a", a, "a finite, non-empty vector", "pass at least one entry")
    sides = {}
    if "y" in catalogue.arguments(declaration):
        sides["y"] = check_indicator(params.pop("y", None), len(point))
    checked = spec.check({n: _rounded(v) for n, v in params.items()}, len(point))
    checked = {
        name: value if isinstance(value, int) else _given(value, params.get(name, value))
        for name, value in checked.items()
    }
    catalogue.admit(object_name, len(point), checked)
    # a Fraction may exceed every float: only its sign is in question
    RHO.check(float(min(rho, Fraction(1))) if isinstance(rho, Fraction) else rho)
    weight = rational(rho)
    if weight != 0 and not catalogue.has_rho(declaration):
        raise InvalidParameterError("rho", rho, "no rho: this set has none", "drop rho")
    return point, weight, {**checked, **sides}


def _rounded(value: Any) -> Any:
    """A Fraction, or a vector with some, as floats."""
    if isinstance(value, Fraction):
        return float(value)
    return [float(v) for v in value] if _is_rational(value) else value


def _given(checked: Any, value: Any) -> Any:
    """A checked number or vector with the digits that were given, exactly."""
    if not isinstance(checked, np.ndarray):
        return rational(value)
    return f.rationals(value if np.ndim(value) else [value] * checked.size)


def _is_rational(a: object) -> bool:
    return isinstance(a, list | tuple | np.ndarray) and any(isinstance(v, Fraction) for v in a)
