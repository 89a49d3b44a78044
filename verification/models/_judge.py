"""Verdicts on trained models: certificates on both sides, or one side against a certified witness.

A pass needs a certified gap of at most tol (what the solver promises) plus the rounding of its answer
to doubles; a fail needs a proof: a pair that was claimed and has a larger gap, an objective that a
certified witness beats by more than tol, a constraint violated by more than tol and rounding, or an
answer of another shape. What lies between the two is "oracle uncertain".
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from verification.errors import NoDualPointError, VerificationError
from verification.instances import Instance
from verification.models import Certificate, Model, Params, load
from verification.verdicts import Candidate, Judgement, Verdict

EPS = float(np.finfo(float).eps)
Parts = dict[str, np.ndarray]


class Witness(NamedTuple):
    """A near-optimal pair and its certificate."""

    primal: Mapping[str, Any]
    dual: Mapping[str, Any]
    certificate: Certificate


@functools.lru_cache(maxsize=4096)
def witness(instance: Instance) -> Witness | None:
    """The witness of an instance, None if nobody has one; computed once."""
    model, params = load(instance.stem), instance.params
    try:
        primal, dual = model.witness(params)
    except VerificationError:
        return None
    return Witness(primal, dual, model.certify(params, primal, dual))


def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge a model by the parts that were returned."""
    model, params = load(instance.stem), instance.params
    given: Parts = {name: np.asarray(v) for name, v in candidate.parts.items()}
    if message := _malformed(model, params, given):
        return Judgement(Verdict.FAIL, message=message)
    sides = {side: _side(model, params, given, side) for side in model.PARTS}
    if all(value is None for value in sides.values()):
        return Judgement(Verdict.FAIL, message=_incomplete(model, given))
    primal, dual = sides.get("primal"), sides.get("dual")
    tol = float(params["tol"])
    if message := _infeasible(model, params, primal, dual, tol):
        return Judgement(Verdict.FAIL, message=message)
    if primal is not None and dual is not None:
        return _pair(model, instance, primal, dual, tol)
    if primal is not None:
        return _primal_only(model, instance, primal, tol)
    assert dual is not None
    return _dual_only(model, instance, dual, tol)


def _malformed(model: Model, params: Params, given: Parts) -> str:
    """What is wrong with shapes and numbers; empty if nothing."""
    shapes = model.shapes(params)
    for name, value in given.items():
        right = shapes[name]
        if value.shape != right:
            turned = " (transposed?)" if value.shape == right[::-1] else ""
            return f"{name} has shape {value.shape}, expected {right}{turned}"
        if not np.isfinite(value).all():
            return f"{name} has {int((~np.isfinite(value)).sum())} entries that are nan or infinite"
    return ""


def _side(model: Model, params: Params, given: Parts, side: str) -> Parts | None:
    names = model.PARTS[side]
    found = {name: given[name] for name in names if name in given}
    finish = getattr(model, "complete" if side == "primal" else "complete_dual", None)
    if found and len(found) < len(names) and finish is not None:
        found = finish(params, found)
    return found if len(found) == len(names) else None


def _incomplete(model: Model, given: Parts) -> str:
    wanted = " or ".join(", ".join(names) for names in model.PARTS.values())
    return f"returned {', '.join(given) or 'nothing'}: expected {wanted}"


def _infeasible(
    model: Model, params: Params, primal: Parts | None, dual: Parts | None, tol: float
) -> str:
    """The constraint that is violated most, by more than tol and rounding; empty if none."""
    if not hasattr(model, "violations"):
        return ""
    worst, message = 1.0, ""
    for name, found in model.violations(params, primal, dual).items():
        allowed = tol * found.size + found.rounding
        if found.amount > worst * allowed:
            worst = found.amount / allowed if allowed > 0 else np.inf
            message = (
                f"{name} is violated by {found.amount:.3g} (tol and rounding allow {allowed:.3g})"
            )
    return message


def _size(proof: Certificate) -> float:
    return max(abs(proof.primal), abs(proof.dual))


def _rounding(model: Model, params: Params, primal: Side, dual: Side, proof: Certificate) -> float:
    """What rounding the answer to doubles may cost; the gap includes that of its computation."""
    own = model.rounding(params, primal, dual) if hasattr(model, "rounding") else 0.0
    return float(own) + proof.error + 8 * EPS * _size(proof)


Side = Mapping[str, Any] | None


def _judgement(
    verdict: Verdict,
    model: Model,
    proof: Certificate,
    allowed: float,
    primal: Side,
    message: str = "",
) -> Judgement:
    """Relative figures; the distance is ||W - W*|| <= sqrt(2 gap/modulus) over ||W||."""
    size = _size(proof) or 1.0
    distance = limit = None
    modulus = getattr(model, "MODULUS", None)
    if modulus and primal is not None:
        norm = float(np.linalg.norm(next(iter(primal.values())))) or 1.0
        distance = float(np.sqrt(2 * max(proof.gap, 0.0) / modulus)) / norm
        limit = float(np.sqrt(2 * allowed / modulus)) / norm
    return Judgement(
        verdict,
        proof.gap / size,
        allowed / size,
        distance,
        limit,
        message,
        terms={
            "duality gap": (float(proof.gap), float(allowed)),
            **{name: (float(v), None) for name, v in getattr(proof, "terms", {}).items()},
        },
    )


def _pair(model: Model, instance: Instance, primal: Parts, dual: Parts, tol: float) -> Judgement:
    """Both sides: their gap is the promise."""
    params = instance.params
    proof = model.certify(params, primal, dual)
    allowed = tol * _size(proof) + _rounding(model, params, primal, dual, proof)
    if proof.gap <= allowed:
        return _judgement(Verdict.PASS, model, proof, allowed, primal)
    excess = f"gap {proof.gap / (_size(proof) or 1):.3g} relative, promised {tol:.3g}"
    blamed = [
        text for text in (_worse(model, instance, primal), _lower(model, instance, dual)) if text
    ]
    named = "; ".join(blamed) or "neither side alone is proved wrong, the pair is"
    message = f"{excess}: {named}; {_terms(proof)}"
    return _judgement(Verdict.FAIL, model, proof, allowed, primal, message)


def _terms(proof: Certificate) -> str:
    terms = getattr(proof, "terms", {})
    shown = sorted(terms.items(), key=lambda item: -item[1])[:2]
    return "largest terms: " + ", ".join(f"{name} = {value:.3g}" for name, value in shown)


def _worse(model: Model, instance: Instance, primal: Parts) -> str:
    """How much worse than the witness the primal side is, if more than tol; else empty."""
    known = witness(instance)
    if known is None:
        return ""
    params, tol = instance.params, float(instance["tol"])
    value, best = model.upper(params, primal), known.certificate.primal
    slack = 2 * _rounding(model, params, primal, None, known.certificate)
    if value - best - slack <= tol * max(abs(value), abs(best)):
        return ""
    first = next(iter(primal))
    return f"the primal side ({first}) has objective {value:.10g}, a certified witness {best:.10g}"


def _lower(model: Model, instance: Instance, dual: Parts) -> str:
    """How much worse than the witness the dual side is, if more than tol; else empty."""
    known = witness(instance)
    if known is None:
        return ""
    params, tol = instance.params, float(instance["tol"])
    value, best = model.lower(params, dual), known.certificate.dual
    slack = 2 * _rounding(model, params, None, dual, known.certificate)
    if best - value - slack <= tol * max(abs(value), abs(best)):
        return ""
    first = next(iter(dual))
    return f"the dual side ({first}) has objective {value:.10g}, a certified witness {best:.10g}"


def _primal_only(model: Model, instance: Instance, primal: Parts, tol: float) -> Judgement:
    """The gradients as a dual point where they are one, else the dual point of the witness."""
    params = instance.params
    proof = None
    try:
        proof = model.certify(params, primal, None)
        allowed = tol * _size(proof) + _rounding(model, params, primal, None, proof)
        if proof.gap <= allowed:
            return _judgement(Verdict.PASS, model, proof, allowed, primal)
    except NoDualPointError:
        pass
    known = witness(instance)
    if known is None:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message="no witness certifies the optimum")
    proof = model.certify(params, primal, known.dual)
    allowed = tol * _size(proof) + _rounding(model, params, primal, known.dual, proof)
    if proof.gap <= allowed:
        return _judgement(Verdict.PASS, model, proof, allowed, primal)
    if worse := _worse(model, instance, primal):
        excess = proof.gap / (_size(proof) or 1)
        message = f"{worse}: suboptimal by up to {excess:.3g} relative, promised {tol:.3g}"
        return _judgement(Verdict.FAIL, model, proof, allowed, primal, message)
    return _judgement(
        Verdict.ORACLE_UNCERTAIN, model, proof, allowed, primal, "the witness's own gap is too wide"
    )


def _dual_only(model: Model, instance: Instance, dual: Parts, tol: float) -> Judgement:
    """The primal point that follows from the dual where one does, else that of the witness."""
    params = instance.params
    try:
        proof = model.certify(params, None, dual)
        allowed = tol * _size(proof) + _rounding(model, params, None, dual, proof)
        if proof.gap <= allowed:
            return _judgement(Verdict.PASS, model, proof, allowed, None)
    except NoDualPointError:
        pass
    known = witness(instance)
    if known is None:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message="no witness certifies the optimum")
    proof = model.certify(params, known.primal, dual)
    allowed = tol * _size(proof) + _rounding(model, params, known.primal, dual, proof)
    if proof.gap <= allowed:
        return _judgement(Verdict.PASS, model, proof, allowed, None)
    if worse := _lower(model, instance, dual):
        excess = proof.gap / (_size(proof) or 1)
        message = f"{worse}: suboptimal by up to {excess:.3g} relative, promised {tol:.3g}"
        return _judgement(Verdict.FAIL, model, proof, allowed, None, message)
    return _judgement(
        Verdict.ORACLE_UNCERTAIN, model, proof, allowed, None, "the witness's own gap is too wide"
    )
