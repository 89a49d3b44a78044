"""The functions of a loss's module: signatures, docstrings and defaults, from its class."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from fast._docs import with_sections
from fast.families.base import Loss
from fast.families.docstrings import PAIR, POINTS, RAISES

Function = Callable[..., Any]

_ARRAY, _MAYBE = "ArrayLike", "ArrayLike | None"
_ANNOTATIONS = {
    "C": "float", "costs": _MAYBE, "sample_weight": _MAYBE, "complement": _MAYBE,
    "return_complement": "bool",
}  # fmt: skip
_DEFAULTS: dict[str, Any] = {
    "t": 1.0, "C": 1.0, "costs": None, "sample_weight": None, "complement": None,
    "return_complement": False,
}  # fmt: skip


def arguments(loss: type[Loss], operation: str) -> list[str]:
    """The names of an operation's arguments, in order; k stands before t, other parameters after."""
    own = [field.name for field in fields(loss)]
    first, later = [n for n in own if n == "k"], [n for n in own if n != "k"]
    labels = ["y"] if loss.indicated else []
    pair = ["return_complement"] if loss.complements else []
    if operation in ("value", "gradient"):
        rest = pair if operation == "gradient" else []
        return ["scores", "y", *own, "costs", "sample_weight", *rest]
    if operation == "conjugate":
        return ["x", *labels, *own, "costs", *(["complement"] if loss.complements else [])]
    if operation == "prox":
        return ["v", *labels, *first, "t", *later, "costs", *pair]
    return ["q", "y", "k_ii", "C", *own, "costs", "sample_weight", *pair]


def module_functions(loss: type[Loss], **says: str) -> tuple[Function, ...]:
    """The module's functions, one per operation of the loss.

    Parameters
    ----------
    loss : type
        A frozen dataclass derived from `Loss`.
    **says : str
        What each operation computes, its source too, where the family has no text for it. Two
        empty lines before it: the title is its own.
    """
    return tuple(_function(loss, operation, says.get(operation)) for operation in loss.operations)


def _function(loss: type[Loss], operation: str, says: str | None) -> Function:
    """One function, written as `dataclasses` writes a constructor: a call costs one call more."""
    own = {field.name: field for field in fields(loss)}
    names = arguments(loss, operation)
    defaults = {**_DEFAULTS, **{name: field.default for name, field in own.items()}}
    signature = ", ".join(f"{n}={defaults[n]!r}" if n in defaults else n for n in names)
    built = ", ".join(f"{n}={n}" for n in own)
    passed = ", ".join(f"{n}={n}" for n in names if n not in own)
    space: dict[str, Any] = {"loss": loss, "__name__": loss.__module__}
    exec(f"def {operation}({signature}): return loss({built}).{operation}({passed})", space)
    made: Function = space[operation]
    array = "Any" if loss.complements or operation in ("value", "conjugate") else "NDArray[Any]"
    types = {n: str(field.type) for n, field in own.items()}
    made.__annotations__ = {n: types.get(n, _ANNOTATIONS.get(n, _ARRAY)) for n in names}
    made.__annotations__["return"] = array
    made.__doc__ = loss.text(operation, says)
    about, returns = loss.describe(operation)
    for name, field in own.items():
        hint = "An integer >= 1." if isinstance(field.default, int) else "A number > 0."
        about.setdefault(name, (f"{field.type}, default {field.default}", hint))
    if "return_complement" in names:
        returns = returns[0], returns[1] + PAIR.format(POINTS[operation])
    return with_sections(made, about, returns, RAISES)
