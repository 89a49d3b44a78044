"""How an answer over the classes means an x, without rounding: `refsolve.proofs.families` on fractions."""

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.proofs import families
from refsolve.proofs.families import Family
from refsolve.proofs.rationals import Vector, total, vector


def family(stem: str) -> Family:
    """How scores of the classes become margins of a loss."""
    return families.of(catalogue.load(stem))


def is_distribution(stem: str) -> bool:
    """Whether x is p - t, for a target t that is uniform on the positives."""
    return isinstance(family(stem), families.MultilabelDistribution)


def target(y: Any) -> Vector:
    """T = 1/|P| at the positives."""
    mask = vector(np.asarray(y) != 0)
    return mask / max(1, total(mask))


def costs(stem: str, given: Any, y: Any, d: int) -> Vector:
    """Margins c over the d coordinates; ``given`` over all classes if y is one of them."""
    if given is not None:
        full = vector(given)
        return np.delete(full, y) if full.size > d else full
    default = float(getattr(catalogue.load(stem), "default_cost", 1.0))
    return vector(family(stem).default_costs(default, y, d))


def pull(stem: str, direction: Vector, y: Any) -> tuple[Vector, Fraction]:
    """The x whose gradient is this vector over the classes, and the sum where it must be 0."""
    own = family(stem)
    return own.coordinates(-direction, y), total(direction) if own.coupled else Fraction(0)


def push(stem: str, x: Vector, y: Any) -> Vector:
    """Gradient over the classes that x means."""
    return -family(stem).block(x, y)
