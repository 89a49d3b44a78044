"""Arguments of operations, checked: what the formulas and proofs get to see."""

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue
from refsolve._types import Array, Float
from refsolve.checking import check_vector
from refsolve.errors import MISSING, InvalidParameterError
from refsolve.operations import RHO
from refsolve.proofs import families
from refsolve.proofs.families import check_indicator
from refsolve.proofs.loss import Loss


def set_arguments(
    module: ModuleType, rho: Float, params: Mapping[str, Any], d: int
) -> tuple[float, dict[str, Any]]:
    """Checked rho (0 for a set without it) and parameters, y among them where the set has one."""
    params = dict(params)
    if rho != 0 and not catalogue.has_rho(module):
        raise InvalidParameterError("rho", rho, "no rho: this set has none", "drop rho")
    labelled = "y" in catalogue.arguments(module)
    y = params.pop("y", None) if labelled else None
    checked = module.SPEC.check(params, d)
    catalogue.admit(module.__name__.rpartition(".")[2], d, checked)
    weight: float = RHO.check(rho)
    if labelled:
        if y is None:
            raise InvalidParameterError("y", MISSING, "a 0/1 row", "pass y=...")
        checked["y"] = check_indicator(y, d)
    return weight, checked


def check_complement(complement: ArrayLike, shape: tuple[int, ...] = ()) -> Any:
    """1 - s as longdouble, in [0, 1]."""
    value = np.asarray(complement)
    if value.dtype.kind not in "fiu" or value.shape != shape or not np.isfinite(value).all():
        raise InvalidParameterError(
            "complement", complement, f"finite, of shape {shape}", "pass 1 - <1,x>"
        )
    if (value < 0).any() or (value > 1).any():
        raise InvalidParameterError("complement", complement, "0 <= complement <= 1", "clip it")
    return value.astype(np.longdouble)


def check_example(
    object_name: str, name: str, scores: object, y: object, params: Mapping[str, Any]
) -> tuple[Array, Any, Loss]:
    """Scores of at least two classes, the ground truth, and the loss with it."""
    scores = check_vector(name, scores)
    if scores.size < 2:
        raise InvalidParameterError(name, scores, "at least two classes", "add the other classes")
    family = families.of(catalogue.load(object_name))
    label = family.check_label(y, scores.size)
    return scores, label, Loss(object_name, params, family.size(scores.size), label)


def check_point(object_name: str, size: int, y: object, params: Mapping[str, Any]) -> Loss:
    """The loss for an operation over the coordinates of x; y for the multilabel family only."""
    family, label = families.of(catalogue.load(object_name)), None
    if family.name == "multilabel":
        if y is None:
            raise InvalidParameterError("y", MISSING, "a 0/1 row", "pass y=...")
        label = family.check_label(y, size)
    elif y is not None:
        raise InvalidParameterError(
            "y", y, "no ground truth: the entries are those of the others, or signed", "drop y"
        )
    return Loss(object_name, params, size, label)


def take(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """Remove an argument from ``params``; without a default it is required."""
    if name in params:
        return params.pop(name)
    if default is None:
        raise InvalidParameterError(name, MISSING, "a value", f"pass {name}=...")
    return default


def given(module: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a model without those that are null where null is the default."""
    absent = {s.name for s in (*module.SPEC.arguments, *module.SPEC.options) if s.default is None}
    return {n: v for n, v in params.items() if v is not None or n not in absent}


def scaled_by(loss: Loss, size: float) -> tuple[float, dict[str, Any]]:
    """Scale by which z may be divided, a power of two near ``size``, and the parameters in it.

    Powers of two are exact to divide by, and few different ones occur.
    """
    if not loss.module.SPEC.homogeneous:
        return 1.0, loss.params
    scale = math.ldexp(1.0, round(math.log2(size))) if size > 0 else 1.0
    units = {s.name: s.unit for s in loss.module.SPEC.symbols}
    return scale, {n: v / scale if units[n] == "z" else v for n, v in loss.params.items()}
