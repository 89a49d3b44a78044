"""Losses that are the least of convex pieces: a piece keeps some of the entries of z.

The pieces are the loss ``pieces`` on d - k + 1 of the d entries. It and its Moreau envelope do not
decrease in any entry and do not depend on their order, so the smallest entries are optimal; the
tests compare with all choices. A candidate may belong to another piece (ties): it is judged on the
piece that it shows, plus what that piece exceeds the best one by.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import margin_certificates as certificates
from refsolve._types import Array, Float, Real
from refsolve.arguments import check_example, check_point, take
from refsolve.operations import STEP, WEIGHT
from refsolve.proofs.certificate import Certificate
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector


def example_of(object_name: str, given: dict[str, Any]) -> tuple[Loss, Array, Any, Array, float]:
    """The loss, scores, ground truth, z in longdouble, and weight."""
    scores, y = take(given, "scores"), take(given, "y")
    costs = given.pop("costs", None)
    weight = WEIGHT.check(take(given, "sample_weight", 1.0))
    scores, y, loss = check_example(object_name, "scores", scores, y, given)
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    return loss, scores, y, z, weight


def point_of(object_name: str, v: Array, given: dict[str, Any]) -> tuple[Loss, Array]:
    """The loss and the costs of an operation over the others."""
    y, costs = given.pop("y", None), given.pop("costs", None)
    loss = check_point(object_name, v.size, y, given)
    return loss, loss.check_own_costs(costs)


def mask_of(loss: Loss, z: Array, idle: Array | None = None) -> Array:
    """Entries that the best piece keeps, or a piece that drops only idle ones, if there is one."""
    drop = loss.params["k"] - 1
    if idle is None or drop == 0 or idle.sum() < drop:
        return np.asarray(loss.module.kept(z, **loss.params))
    candidates = np.flatnonzero(idle)
    largest = candidates[np.argsort(-z[candidates], kind="stable")[:drop]]
    return np.isin(np.arange(z.size), largest, invert=True)


def arguments_of(z: Array, weight: float) -> dict[str, Any]:
    """A piece as an example of its own: scores z after a ground truth of score 0."""
    return {"scores": np.r_[Real(0), z], "y": 0, "sample_weight": weight}


def value(
    object_name: str, value: float, scores: ArrayLike, y: ArrayLike, **given: Any
) -> Certificate:
    """As `certificates.loss_value`."""
    given.pop("x", None)
    loss, _, _, z, weight = example_of(object_name, {"scores": scores, "y": y, **given})
    return certificates.loss_value(
        loss.module.pieces, value, **arguments_of(z[mask_of(loss, z)], weight)
    )


def gradient(
    object_name: str, g: ArrayLike, scores: ArrayLike, y: ArrayLike, **given: Any
) -> Certificate:
    """As `certificates.gradient`."""
    complement = given.pop("complement", None)
    loss, checked, label, z, weight = example_of(object_name, {"scores": scores, "y": y, **given})
    check_vector("g", g, size=checked.size, largest=np.inf)
    own = np.asarray(g, Real)
    x = np.delete(own, label)
    mask = mask_of(loss, z, x == 0)
    piece = certificates.gradient(
        loss.module.pieces,
        np.r_[own[label], x[mask]],
        **arguments_of(z[mask], weight),
        complement=complement,
    )
    here, best = (
        Loss(loss.module.pieces, {}, each.size).value_bounds(each)
        for each in (z[mask], z[mask_of(loss, z)])
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


def conjugate(object_name: str, value: float, x: ArrayLike, **given: Any) -> Certificate:
    """As `certificates.conjugate`: 0 at 0 and +inf elsewhere for k >= 2."""
    x = check_vector("x", x)
    complement = given.pop("complement", None)
    loss, c = point_of(object_name, x, given)
    if loss.params["k"] == 1:
        extra = {"costs": c, "complement": complement}
        return certificates.conjugate(loss.module.pieces, value, x, **extra)
    right = np.inf if x.any() else 0.0
    error = 0.0 if value == right else abs(float(value) - right)
    error = error if np.isfinite(error) else np.inf
    size = float(abs(x).max())
    return Certificate(error, size, error, right, np.inf if size > 0 else 1.0)


def prox(
    object_name: str, u: ArrayLike, v: ArrayLike, *, t: Float = 1.0, **given: Any
) -> Certificate:
    """As `certificates.prox`; of the entries that u leaves alone the largest count as dropped."""
    v, t = check_vector("v", v).astype(Real), Real(STEP.check(t))
    check_vector("u", u, size=v.size, largest=np.inf)
    own = np.asarray(u, Real)
    complement = given.pop("complement", None)
    loss, c = point_of(object_name, v, given)
    mask = mask_of(loss, v + c, own == v)
    piece = certificates.prox(
        loss.module.pieces, own[mask], v[mask], t=t, costs=c[mask], complement=complement
    )
    moved = ((own[~mask] - v[~mask]) ** 2).sum()
    excess = _envelope(loss, (v + c)[mask], t) - _envelope(loss, (v + c)[mask_of(loss, v + c)], t)
    return Certificate(
        float(piece.gap + moved / (2 * t) + max(excess, 0)),
        piece.violation,
        float(piece.distance + np.sqrt(moved)),
        float(piece.value + moved / (2 * t)),
        float(loss.size(v + c)),
        complement=piece.complement,
    )


def _envelope(loss: Loss, z: Array, t: Float) -> Any:
    """Moreau envelope of the piece at z, up to rounding."""
    piece = Loss(loss.module.pieces, {}, z.size)
    found = piece.propose(z, t)
    assert found is not None
    return piece.value_bounds(z - t * found[0])[1] + t / 2 * (found[0] ** 2).sum()
