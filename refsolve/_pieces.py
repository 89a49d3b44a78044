"""Losses that are the least of convex pieces: a piece keeps some of the entries of z.

The pieces are the loss ``pieces`` on d - k + 1 of the d entries. It and its Moreau envelope do not
decrease in any entry and do not depend on their order, so the smallest entries are optimal; the
tests compare with all choices. A candidate may belong to another piece (ties): it is judged on the
piece that it shows, plus what that piece exceeds the best one by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve import certificates, derive
from refsolve.arguments import check_example, check_point
from refsolve.certificates import Certificate
from refsolve.operations import WEIGHT
from refsolve.oracle import Answer, Posed
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble


def _example(
    stem: str, given: dict[str, Any]
) -> tuple[Loss, Array, Any, Array, float, dict[str, Any]]:
    """The loss, scores, ground truth, z in longdouble, weight, and what was left over."""
    scores, y = derive.take(given, "scores"), derive.take(given, "y")
    costs = given.pop("costs", None)
    weight = WEIGHT.check(derive.take(given, "sample_weight", 1.0))
    scores, y, loss = check_example(stem, "scores", scores, y, given)
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    return loss, scores, y, z, weight, given


def _point(stem: str, v: Array, given: dict[str, Any]) -> tuple[Loss, Array]:
    """The loss and the costs of an operation over the others."""
    y, costs = given.pop("y", None), given.pop("costs", None)
    loss = check_point(stem, v.size, y, given)
    return loss, loss.check_own_costs(costs)


def _mask(loss: Loss, z: Array, idle: Array | None = None) -> Array:
    """Entries that the best piece keeps, or a piece that drops only idle ones, if there is one."""
    drop = loss.params["k"] - 1
    if idle is None or drop == 0 or idle.sum() < drop:
        return np.asarray(loss.module.kept(z, **loss.params))
    candidates = np.flatnonzero(idle)
    largest = candidates[np.argsort(-z[candidates], kind="stable")[:drop]]
    return np.isin(np.arange(z.size), largest, invert=True)


def _arguments(z: Array, weight: float) -> dict[str, Any]:
    """A piece as an example of its own: scores z after a ground truth of score 0."""
    return {"scores": np.r_[Real(0), z], "y": 0, "sample_weight": weight}


def pose(stem: str, operation: str, params: dict[str, Any]) -> Posed | Answer:
    """The instance of the best piece, its answer certified as one of the whole loss."""
    given = dict(params)
    if operation == "conjugate":
        return _pose_conjugate(stem, given)
    if operation == "prox":
        v = check_vector("v", derive.take(given, "v"))
        t = certificates.STEP.check(derive.take(given, "t", 1.0))
        loss, c = _point(stem, v, given)
        mask = _mask(loss, v + c)
        posed = derive.pose(loss.module.pieces, "prox", {"v": v[mask], "t": t, "costs": c[mask]})
    else:
        loss, _, y, z, weight, _ = _example(stem, given)
        mask = _mask(loss, z)
        posed = derive.pose(loss.module.pieces, operation, _arguments(z[mask], weight))
    assert isinstance(posed, Posed)

    def whole(answer: Answer) -> Answer:
        if operation == "value":
            return Answer(answer.x, answer.value, answer.dual, value(stem, answer.x, **params))
        if operation == "gradient":
            x = np.zeros(mask.size)
            x[mask] = answer.x[1:]
            x = np.insert(x, y, answer.x[0])
            proof = gradient(stem, x, **params)
        else:
            x = v.copy()
            x[mask] = answer.x
            proof = prox(stem, x, **params)
        return Answer(x, proof.value, answer.dual, proof)

    def wrapped(part: Posed) -> Posed:
        def finish(found: Mapping[str, Any]) -> Answer:
            return whole(part.finish(found))

        other = None if part.other is None else wrapped(part.other)
        return replace(part, finish=finish, other=other)

    return wrapped(posed)


def _pose_conjugate(stem: str, given: dict[str, Any]) -> Posed | Answer:
    x = check_vector("x", derive.take(given, "x"))
    complement = given.pop("complement", None)
    loss, c = _point(stem, x, given)
    extra = {"costs": c, "complement": complement}
    if loss.params["k"] == 1:
        return derive.pose(loss.module.pieces, "conjugate", {"x": x, **extra})
    number = np.inf if x.any() else 0.0
    return Answer(number, number, None, conjugate(stem, number, x, **extra, **loss.params))


def value(stem: str, value: Any, **given: Any) -> Certificate:
    """As `certificates.loss_value`."""
    loss, _, _, z, weight, _ = _example(stem, given)
    return certificates.loss_value(
        loss.module.pieces, value, **_arguments(z[_mask(loss, z)], weight)
    )


def gradient(stem: str, g: Any, **given: Any) -> Certificate:
    """As `certificates.gradient`."""
    complement = given.pop("complement", None)
    loss, scores, y, z, weight, _ = _example(stem, given)
    check_vector("g", g, size=scores.size, largest=np.inf)
    own = np.asarray(g, Real)
    x = np.delete(own, y)
    mask = _mask(loss, z, x == 0)
    piece = certificates.gradient(
        loss.module.pieces,
        np.r_[own[y], x[mask]],
        **_arguments(z[mask], weight),
        complement=complement,
    )
    here, best = (
        Loss(loss.module.pieces, {}, each.size).value_bounds(each)
        for each in (z[mask], z[_mask(loss, z)])
    )
    excess = weight * float(np.maximum(here[1] - best[0], 0))
    lost = np.sqrt((x[~mask] ** 2).sum())
    return Certificate(
        float(piece.gap + excess),
        float(max(piece.violation, lost)),
        float(piece.distance + lost),
        piece.value,
        float(weight * loss.size(z)),
        complement=piece.complement,
    )


def conjugate(stem: str, value: Any, x: Any, **given: Any) -> Certificate:
    """As `certificates.conjugate`: 0 at 0 and +inf elsewhere for k >= 2."""
    x = check_vector("x", x)
    complement = given.pop("complement", None)
    loss, c = _point(stem, x, given)
    if loss.params["k"] == 1:
        extra = {"costs": c, "complement": complement}
        return certificates.conjugate(loss.module.pieces, value, x, **extra)
    right = np.inf if x.any() else 0.0
    error = 0.0 if value == right else abs(float(value) - right)
    error = error if np.isfinite(error) else np.inf
    size = float(abs(x).max())
    return Certificate(error, size, error, right, np.inf if size > 0 else 1.0)


def prox(stem: str, u: Any, v: Any, *, t: Any = 1.0, **given: Any) -> Certificate:
    """As `certificates.prox`; of the entries that u leaves alone the largest count as dropped."""
    v, t = check_vector("v", v).astype(Real), Real(certificates.STEP.check(t))
    check_vector("u", u, size=v.size, largest=np.inf)
    own = np.asarray(u, Real)
    complement = given.pop("complement", None)
    loss, c = _point(stem, v, given)
    mask = _mask(loss, v + c, own == v)
    piece = certificates.prox(
        loss.module.pieces, own[mask], v[mask], t=t, costs=c[mask], complement=complement
    )
    moved = ((own[~mask] - v[~mask]) ** 2).sum()
    excess = _envelope(loss, (v + c)[mask], t) - _envelope(loss, (v + c)[_mask(loss, v + c)], t)
    return Certificate(
        float(piece.gap + moved / (2 * t) + max(excess, 0)),
        piece.violation,
        float(piece.distance + np.sqrt(moved)),
        float(piece.value + moved / (2 * t)),
        float(loss.size(v + c)),
        complement=piece.complement,
    )


def _envelope(loss: Loss, z: Array, t: Any) -> Any:
    """Moreau envelope of the piece at z, up to rounding."""
    piece = Loss(loss.module.pieces, {}, z.size)
    found = piece.propose(z, t)
    assert found is not None
    return piece.value_bounds(z - t * found[0])[1] + t / 2 * (found[0] ** 2).sum()
