"""The SVM-2K as a declaration, and its programs; scales as in `refsolve.models._svm_plus_program`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refsolve import fenchel
from refsolve.fenchel import Block, Map, Term
from refsolve.oracle import Answer, Posed

if TYPE_CHECKING:
    from refsolve.models.svm_2k import Data

Array = np.ndarray[Any, Any]
Real = np.longdouble


def declared(data: Data) -> fenchel.Model:
    """Two functions f and g as free blocks that are tied to their weights, and three losses."""
    labels, ones = data.y.astype(float), np.ones(len(data.y))
    views = {"f": ("w", "b", data.x.factor()), "g": ("v", "rho", data.z.factor())}
    blocks: dict[str, Block] = {}
    ties: dict[str, Term] = {}
    for name, (weights, bias, rows) in views.items():
        blocks |= {weights: Block(rows.shape[1]), bias: Block(1, 0.0), name: Block(len(rows), 0.0)}
        maps: dict[str, Map] = {name: 1.0, weights: -rows, bias: -ones[:, None]}
        ties[f"tie_{name}"] = Term(fenchel.zero(), maps)
    bounds = data.bounds.astype(float)
    losses = {
        "alpha_A": Term(fenchel.hinge(bounds[0]), {"f": -labels}, ones),
        "alpha_B": Term(fenchel.hinge(bounds[1]), {"g": -labels}, ones),
        "beta": Term(fenchel.tube(bounds[2], data.eps), {"f": 1.0, "g": -1.0}),
    }
    return fenchel.Model(blocks, losses | ties)


def pose(data: Data, operation: str) -> Posed:
    """The primal divided by P at 0, the dual by that and its curvature."""
    model, U = declared(data), float(data.bounds[:2].sum())
    t, tz = (model.reach(f"tie_{name}") or 1.0 for name in "fg")

    def finish(found: dict[str, Array]) -> Answer:
        parts = np.array([found[name] for name in ("alpha_A", "alpha_B", "beta")])
        repaired, off = data.repair(parts.astype(Real))
        b, rho = Real(found["b"][0]), Real(found["rho"][0])
        points = [data.pulls(repaired)]
        if operation == "primal":
            points.append((data.x.from_factor(found["w"]), data.z.from_factor(found["v"])))
        proofs = [data.certify(w, b, v, rho, repaired, off) for w, v in points]
        proof = min(proofs, key=lambda each: each.gap)
        if operation == "primal":
            return Answer(proof.w, proof.primal, proof.alpha, proof)
        return Answer(proof.alpha, proof.dual, proof.w, proof)

    if operation == "primal":
        return fenchel.primal(model, U, {"w": 1 / t, "v": 1 / tz}).posed(finish)
    return fenchel.dual(model, U / max(U * (t * t + tz * tz), 1.0)).posed(finish)
