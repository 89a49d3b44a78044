"""Poses a loss that is the least of convex pieces as its best piece."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve import _pieces as pieces
from refsolve.arguments import take
from refsolve.canonicalize import Answer, ParametrizedProblem
from refsolve.checking import check_vector
from refsolve.operations import STEP

#: Poses an operation of another object.
Pose = Callable[[str, str, Mapping[str, Any]], ParametrizedProblem | Answer]


def canonicalize(
    object_name: str, operation: str, params: dict[str, Any], further: Pose
) -> ParametrizedProblem | Answer:
    """The instance of the best piece, its answer certified as one of the whole loss."""
    given = dict(params)
    if operation == "conjugate":
        return _canonicalize_conjugate(object_name, given, further)
    if operation == "prox":
        v = check_vector("v", take(given, "v"))
        t = STEP.check(take(given, "t", 1.0))
        loss, c = pieces.point_of(object_name, v, given)
        mask = pieces.mask_of(loss, v + c)
        canonicalized = further(
            loss.module.pieces, "prox", {"v": v[mask], "t": t, "costs": c[mask]}
        )
    else:
        loss, _, y, z, weight = pieces.example_of(object_name, given)
        mask = pieces.mask_of(loss, z)
        canonicalized = further(loss.module.pieces, operation, pieces.arguments_of(z[mask], weight))
    assert isinstance(canonicalized, ParametrizedProblem)

    def whole(answer: Answer) -> Answer:
        if operation == "value":
            return Answer(
                answer.x, answer.value, answer.dual, pieces.value(object_name, answer.x, **params)
            )
        if operation == "gradient":
            x = np.zeros(mask.size)
            x[mask] = answer.x[1:]
            x = np.insert(x, y, answer.x[0])
            proof = pieces.gradient(object_name, x, **params)
        else:
            x = v.copy()
            x[mask] = answer.x
            proof = pieces.prox(object_name, x, **params)
        return Answer(x, proof.value, answer.dual, proof)

    def wrapped(part: ParametrizedProblem) -> ParametrizedProblem:
        def finish(found: Mapping[str, Any]) -> Answer:
            return whole(part.finish(found))

        other = None if part.other is None else wrapped(part.other)
        return replace(part, finish=finish, other=other)

    return wrapped(canonicalized)


def _canonicalize_conjugate(
    object_name: str, given: dict[str, Any], further: Pose
) -> ParametrizedProblem | Answer:
    x = check_vector("x", take(given, "x"))
    complement = given.pop("complement", None)
    loss, c = pieces.point_of(object_name, x, given)
    extra = {"costs": c, "complement": complement}
    if loss.params["k"] == 1:
        return further(loss.module.pieces, "conjugate", {"x": x, **extra})
    number = np.inf if x.any() else 0.0
    return Answer(
        number, number, None, pieces.conjugate(object_name, number, x, **extra, **loss.params)
    )
