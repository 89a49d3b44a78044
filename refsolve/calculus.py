"""Rules that make a loss of another one: one declaration per rule, whatever the loss is."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from refsolve._lazy import cp
from refsolve.generators.quadratic import Quadratic
from refsolve.spec import Symbol

#: The smoothing parameter.
GAMMA = Symbol(
    "gamma", "smoothing, in units of z", low=0, low_open=True, default=1.0, normal=True, unit="z"
)
#: The generator of an envelope: gamma/2 ||x||^2.
generator = Quadratic("gamma")


def moreau(hinge: ModuleType) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Value and conjugate of the Moreau envelope, min_p phi(z - p) + ||p||^2/(2 gamma).

    Parameters
    ----------
    hinge : module
        Declares phi, a support function: ``value(z, ...)`` and ``conjugate(x, ...)``.

    Returns
    -------
    value, conjugate : callable
        With the arguments of the hinge's, and ``gamma`` as the last one. The value has a variable p of
        its own, to be minimised over; the conjugate is gamma/2 ||x||^2 on the hinge's domain.
    """

    def value(z: Any, *given: Any, gamma: Any = 1.0) -> Any:
        p = cp.Variable(z.shape, name="p")
        return hinge.value(z - p, *given) + cp.sum_squares(p) / (2 * gamma)

    def conjugate(x: Any, *given: Any, gamma: Any = 1.0) -> tuple[Any, list[Any]]:
        return gamma / 2 * cp.sum_squares(x), hinge.conjugate(x, *given)[1]

    return _with_gamma(value, hinge.value), _with_gamma(conjugate, hinge.conjugate)


def _with_gamma(rule: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """The rule as a function with the parameters of ``own``, and gamma after them."""
    last = inspect.Parameter("gamma", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=1.0)
    signature = inspect.signature(own)
    signature = signature.replace(parameters=[*signature.parameters.values(), last])

    def declared(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        *given, gamma = bound.args
        return rule(*given, gamma=gamma)

    declared.__name__ = declared.__qualname__ = rule.__name__
    declared.__doc__ = own.__doc__
    declared.__signature__ = signature  # type: ignore[attr-defined]
    return declared
