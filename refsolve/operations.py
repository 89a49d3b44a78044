"""What every operation takes besides the parameters of the object, each argument as one `Symbol`, and gives.

``signature`` puts the two together in calling order; problems, drawing, shrinking, batching, replies to
other programs and ``refsolve show`` read it and keep no table of their own.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.spec import Draw, Symbol


def _powers(*often: float) -> Draw:
    """Some numbers, and powers of ten around 1."""

    def draw(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> float:
        return float(rng.choice([*often, 10.0 ** rng.uniform(-2, 2)]))

    return draw


def _weight(
    rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]
) -> float | None:
    return float(rng.uniform(0.1, 3.0)) if rng.random() < 0.3 else None


A = Symbol("a", "the vector to project, d numbers", shape="vector", unit="x")
SCORES = Symbol("scores", "f, a number for each of the m classes", shape="vector", unit="z")
X = Symbol("x", "the dual point, an entry for each of z", shape="vector")
V = Symbol("v", "the point, an entry for each of z", shape="vector", unit="z")
Q = Symbol(
    "q", "scores of the example without its own block, m numbers: f = q + K_ii a",
    shape="vector", unit="z",
)  # fmt: skip
Y = Symbol("y", "class of the example, 0 to m - 1", "integer", low=0, shape="truth", rows="always")
RHO = Symbol(
    "rho", "weight of 1/2 <1,x>^2", low=0, default=0.0, rows="may", draws=_powers(0.0, 0.0, 1.0)
)
STEP = Symbol(
    "t", "step: 1/2 ||x - v||^2 + t L(x) is minimised", low=0, low_open=True, default=1.0,
    unit="z", draws=_powers(1.0),
)  # fmt: skip
GRAM = Symbol("k_ii", "K_ii = <x_i, x_i>", low=0, unit="z", rows="always", draws=_powers(1.0, 2.0))
BOX = Symbol(
    "C", "weight of the sum of the losses", low=0, low_open=True, default=1.0, draws=_powers(1.0)
)
COSTS = Symbol(
    "costs", "c, an entry for each of the main vector (with y: 0 at y), or null",
    low=0, default=None, shape="vector", unit="z",
)  # fmt: skip
WEIGHT = Symbol(
    "sample_weight", "omega, weight of the example's loss, or null: 1", low=0, default=None,
    rows="may", draws=_weight,
)  # fmt: skip

_LABELS = {"y": replace(Y, meaning="0 or 1 for each entry of the main vector")}
_PER_CLASS = replace(COSTS, meaning="c, one per class, or null")
#: What some families of losses, and sets with labels, are given instead: family -> name -> symbol.
_INSTEAD: dict[str, dict[str, Symbol]] = {
    "sets": _LABELS,
    "ova": {"costs": _PER_CLASS},
    "multilabel": _LABELS
    | {"costs": _PER_CLASS, "scores": replace(SCORES, meaning="a number for each class")},
    "ranking": _LABELS | {"scores": replace(SCORES, meaning="a number for each sample")},
}
#: What the answer is.
ANSWERS = {
    "projection": "the projection, an entry for each of a",
    "value": "the loss, a number",
    "gradient": "the gradient (or a subgradient) in f, an entry for each of scores",
    "conjugate": 'the conjugate, a number or "inf"',
    "prox": "the minimiser, an entry for each of v",
    "sdca_update": "the new block a of the example, an entry for each of q",
    "loss_augmented_inference": "coefficients of the scores in the loss, an entry for each of scores; "
    "value (the loss) and counts (negatives above each positive) may be given, both or none",
}

#: Where the object's own symbols stand: those that structure the problem, and the real ones.
COUNTS, REALS = object(), object()

#: (kind of object, operation) -> arguments in calling order.
OPERATIONS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("sets", "projection"): (A, Y, COUNTS, REALS, RHO),
    ("losses", "value"): (SCORES, Y, COUNTS, REALS, COSTS, WEIGHT),
    ("losses", "gradient"): (SCORES, Y, COUNTS, REALS, COSTS, WEIGHT),
    ("losses", "conjugate"): (X, Y, COUNTS, REALS, COSTS),
    ("losses", "prox"): (V, Y, COUNTS, STEP, REALS, COSTS),
    ("losses", "sdca_update"): (Q, Y, GRAM, BOX, COUNTS, REALS, COSTS, WEIGHT),
    ("losses", "loss_augmented_inference"): (SCORES, Y),
    ("functions", "value"): (REALS,),
}
#: Operations over coordinates in which the ground truth has no place, unless y is a row of labels.
OVER_COORDINATES = ("conjugate", "prox")


def signature(object_name: str, operation: str) -> tuple[Symbol, ...]:
    """Every argument of ``object.operation`` with all that is known of it, in calling order."""
    module, kind = catalogue.load(object_name), catalogue.kind(object_name)
    family = getattr(module, "family", "multiclass") if kind == "losses" else kind
    found: list[Symbol] = []
    for each in OPERATIONS[kind, operation]:
        if each is COUNTS:
            found += [s for s in module.SPEC.symbols if s.kind == "integer"]
        elif each is REALS:
            found += [s for s in module.SPEC.symbols if s.kind != "integer"]
        else:
            found.append(each)
    dropped = set()
    if kind == "sets":
        named = getattr(module, "arguments", None)
        dropped = {"y"} if named is None else {s.name for s in found} - set(named)
    elif operation in OVER_COORDINATES and family != "multilabel":
        dropped = {"y"}
    elif family == "ranking":
        dropped = {"costs", "sample_weight"}
    instead = _INSTEAD.get(family, {})
    return tuple(instead.get(s.name, s) for s in found if s.name not in dropped)
