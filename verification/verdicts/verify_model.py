"""Verdicts on trained models: certificates on both sides, or one side against a certified witness.

A pass needs a certified gap of at most tol (what the solver promises) plus the rounding of its answer
to doubles, as far as that is below tol; a fail needs a proof: a pair that was claimed and has a larger
gap, an objective that a certified witness beats by more than tol, a constraint violated by more than tol
and rounding, or an answer of another shape. What lies between the two is "inconclusive".
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from refsolve.proofs.model import ModelCertificate
from verification.errors import NoDualPointError, VerificationError
from verification.instances.instance import Instance
from verification.models import ModelTask, Params, load
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Candidate, Judgement, Verdict

EPS = float(np.finfo(float).eps)
Parts = dict[str, np.ndarray]


class Witness(NamedTuple):
    """A near-optimal pair and its certificate."""

    primal: Mapping[str, Any]
    dual: Mapping[str, Any]
    certificate: ModelCertificate


@functools.lru_cache(maxsize=4096)
def witness(instance: Instance) -> Witness | None:
    """The witness of an instance, None if nobody has one; computed once."""
    model, params = load(instance.object_name), instance.params
    try:
        primal, dual = model.witness(params)
        proof = model.certify(params, primal, dual)
    except (VerificationError, OverflowError):
        return None
    return Witness(primal, dual, proof) if np.isfinite(proof.gap) else None


def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """Judge a model by the parts that were returned; to the gap that is promised, else to ``tol``."""
    if (promised := accuracy_contract.current()) is not None:
        instance = instance.with_params(tol=promised)
    model, params = load(instance.object_name), instance.params
    given: Parts = {name: np.asarray(v) for name, v in candidate.parts.items()}
    for name, right in model.shapes(params).items():
        if right == () and name in given and given[name].shape == (1,):  # an intercept_ of one
            given[name] = given[name][0]
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is an outcome, see `_bound`
            if message := _malformed(model, params, given):
                return Judgement(Verdict.FAIL, message=message)
            return _judged(model, instance, given)
    except OverflowError:
        return _beyond(instance, given)


def _beyond(instance: Instance, given: Parts) -> Judgement:
    """The verdict where no float holds the gap: the answer's fault, if a witness has a finite one."""
    largest = max(given, key=lambda name: float(np.abs(given[name]).max(initial=0)))
    top = float(np.abs(given[largest]).max(initial=0))
    message = f"no float holds its gap: {largest} has an entry of size {top:.3g}"
    known = witness(instance)
    if known is None:
        return Judgement(Verdict.INCONCLUSIVE, message=f"{message}; nor has anybody a witness")
    best = f"a certified witness has the objective {known.certificate.primal:.10g}"
    return Judgement(Verdict.FAIL, message=f"{message}; {best}")


def _judged(model: ModelTask, instance: Instance, given: Parts) -> Judgement:
    """The verdict on parts of the right shapes; OverflowError if no float holds its figures."""
    params = instance.params
    judged: Judgement | None = model.judge(instance, given)
    if judged is not None:
        return judged
    sides = {side: _side(model, params, given, side) for side in model.parts}
    if message := _incomplete(model, sides, given, instance.operation):
        return Judgement(Verdict.FAIL, message=message)
    primal, dual = sides.get("primal"), sides.get("dual")
    tol = float(params["tol"])
    message, needed = _infeasible(model, params, primal, dual, tol)
    if message:
        with contextlib.suppress(VerificationError, OverflowError):
            needed = max(needed, _sides(model, instance, primal, dual, tol).accuracy or np.inf)
            return Judgement(Verdict.FAIL, message=message, accuracy=needed)
        return Judgement(Verdict.FAIL, message=message)
    return _sides(model, instance, primal, dual, tol)


def _sides(
    model: ModelTask, instance: Instance, primal: Parts | None, dual: Parts | None, tol: float
) -> Judgement:
    """The verdict on one side or both, feasible ones."""
    if primal is not None and dual is not None:
        return _pair(model, instance, primal, dual, tol)
    if primal is not None:
        return _one_side(model, instance, "primal", primal, tol)
    assert dual is not None
    return _one_side(model, instance, "dual", dual, tol)


def _malformed(model: ModelTask, params: Params, given: Parts) -> str:
    """What is wrong with shapes and numbers; empty if nothing."""
    shapes = model.shapes(params)
    for name, value in given.items():
        right = shapes[name]
        if not _fits(value.shape, right):
            turned = " (transposed?)" if value.shape == right[::-1] else ""
            return f"{name} has shape {value.shape}, expected {right}{turned}"
        if not np.isfinite(value).all():
            return f"{name} has {int((~np.isfinite(value)).sum())} entries that are nan or infinite"
    return model.defect(params, given)


def _fits(shape: tuple[int, ...], right: tuple[int | None, ...]) -> bool:
    """Whether it is that shape; None stands for a length that the candidate chooses."""
    pairs = zip(shape, right, strict=False)
    return len(shape) == len(right) and all(r in (None, n) for n, r in pairs)


def _side(model: ModelTask, params: Params, given: Parts, side: str) -> Parts | None:
    names = model.parts[side]
    found = {name: given[name] for name in names if name in given}
    if found and len(found) < len(names):
        finish = model.complete if side == "primal" else model.complete_dual
        found = finish(params, found)
    return found if len(found) == len(names) else None


def _incomplete(
    model: ModelTask, sides: Mapping[str, Parts | None], given: Parts, asked: str
) -> str:
    """Which parts are missing of the side asked for, or of one that was begun: nothing goes unjudged."""
    shown = ", ".join(given) or "nothing"
    for side, names in model.parts.items():
        if sides[side] is None and any(name in given for name in names):
            return f"returned {shown}: expected {', '.join(names)} for the {side} side"
    if sides[asked] is not None:
        return ""
    wanted = ", ".join(model.parts[asked])
    return (
        f"the {asked} part is missing: returned {shown}, expected {wanted} (others may be beside)"
    )


def _infeasible(
    model: ModelTask, params: Params, primal: Parts | None, dual: Parts | None, tol: float
) -> tuple[str, float]:
    """The constraint that is violated most, by more than tol and rounding, and the tol that it needs.

    Empty and 0 if none is; OverflowError if no float says by how much.
    """
    worst, message, needed = 1.0, "", 0.0
    for name, found in model.violations(params, primal, dual).items():
        allowed = tol * found.size + found.rounding
        if not np.isfinite(found.amount) or not np.isfinite(allowed):
            raise OverflowError(name)
        if found.amount > allowed:
            needed = max(needed, found.amount / found.size if found.size > 0 else np.inf)
        if found.amount > worst * allowed:
            worst = found.amount / allowed if allowed > 0 else np.inf
            message = (
                f"{name} is violated by {found.amount:.3g} (tol and rounding allow {allowed:.3g})"
            )
    return message, needed


def _rounding(
    model: ModelTask, params: Params, primal: Side, dual: Side, proof: ModelCertificate
) -> float:
    """What rounding the answer to doubles may cost; the gap includes that of its computation."""
    own = model.rounding(params, primal, dual)
    return float(own) + proof.error + 8 * EPS * proof.scale


Side = Mapping[str, Any] | None


def _judgement(
    verdict: Verdict,
    model: ModelTask,
    proof: ModelCertificate,
    allowed: float,
    tol: float,
    primal: Side,
    message: str = "",
) -> Judgement:
    """Figures relative to the size of which ``tol`` is allowed: the objective, and rounding over tol.

    The distance ||W - W*|| <= sqrt(2 gap/modulus) is relative to sqrt(2 size/modulus) >= ||W*||.
    """
    unit = allowed / tol
    gap, limit = max(proof.gap, 0.0) / unit, allowed / unit
    terms: dict[str, tuple[float, float | None]] = {"duality gap": (float(proof.gap), allowed)}
    terms |= {name: (float(v), None) for name, v in proof.terms.items()}
    # the promise that this gap keeps, without the excuse of rounding
    size, gap_left = proof.scale, max(proof.gap, 0.0)
    needed = float(gap_left / size if size else np.inf * bool(gap_left))
    modulus = model.modulus
    if not modulus or primal is None:
        return Judgement(verdict, gap, limit, message=message, terms=terms, accuracy=needed)
    first = next(iter(primal))
    reach, most = (float(np.sqrt(2 * max(v, 0.0) / modulus)) for v in (proof.gap, allowed))
    terms[f"||{first} - {first}*|| at most"] = (reach, most)
    relative = float(np.sqrt(gap)), float(np.sqrt(limit))
    return Judgement(verdict, gap, limit, *relative, message, terms, accuracy=needed)


class _Bound(NamedTuple):
    """A certificate, and the gap that tol and rounding allow."""

    proof: ModelCertificate
    allowed: float

    @property
    def ok(self) -> bool:
        """Whether the gap is within what is allowed."""
        return self.proof.gap <= self.allowed


def _bound(model: ModelTask, params: Params, primal: Side, dual: Side, tol: float) -> _Bound:
    """The certificate; OverflowError unless it is finite: an infinite gap would be within tol of itself."""
    proof = model.certify(params, primal, dual)
    allowed = tol * proof.scale + _rounding(model, params, primal, dual, proof)
    if not np.isfinite([proof.gap, proof.primal, proof.dual, allowed]).all():
        raise OverflowError("the gap")
    return _Bound(proof, float(allowed))


def _excused(instance: Instance, proof: ModelCertificate, tol: float) -> bool:
    """Whether a gap is within tol, or beyond it by rounding that is no larger than tol itself.

    Bounds on rounding grow with the answer, and with the cost of a margin: where they exceed what is
    promised, they neither prove an answer wrong nor right. An optimum of 0 has nothing of which tol is
    a part; there every term of the gap must be within the bound on its rounding, with no more doubt
    than the witness leaves.
    """
    if proof.gap <= 2 * tol * proof.scale:
        return True
    known = witness(instance)
    vanishes = proof.gap <= 2 * proof.error
    return vanishes and known is not None and bool(proof.error <= 2 * known.certificate.error)


def _unproved(
    model: ModelTask, instance: Instance, found: _Bound, tol: float, given: dict[str, Parts]
) -> Judgement:
    """The verdict on a gap that is above tol and hidden by the rounding of the answer itself."""
    proof, allowed = found
    primal = given.get("primal")
    shown = f"gap {proof.gap / (proof.scale or 1):.3g} relative, declared tolerance {tol:.3g}"
    if worse := "; ".join(filter(None, (_worse(model, instance, s, g) for s, g in given.items()))):
        message = f"{shown}: {worse}"
        return _judgement(Verdict.FAIL, model, proof, allowed, tol, primal, message)
    message = f"{shown}; the bound on its rounding is larger still, so that nothing is proved"
    return _judgement(Verdict.INCONCLUSIVE, model, proof, allowed, tol, primal, message)


def _pair(
    model: ModelTask, instance: Instance, primal: Parts, dual: Parts, tol: float
) -> Judgement:
    """Both sides: their gap is the promise."""
    proof, allowed = found = _bound(model, instance.params, primal, dual, tol)
    if found.ok:
        if not _excused(instance, proof, tol):
            return _unproved(model, instance, found, tol, {"primal": primal, "dual": dual})
        return _judgement(Verdict.PASS, model, proof, allowed, tol, primal)
    excess = f"gap {proof.gap / (proof.scale or 1):.3g} relative, declared tolerance {tol:.3g}"
    blamed = (_worse(model, instance, "primal", primal), _worse(model, instance, "dual", dual))
    named = "; ".join(filter(None, blamed)) or "neither side alone is proved wrong, the pair is"
    message = f"{excess}: {named}; {_terms(proof)}"
    return _judgement(Verdict.FAIL, model, proof, allowed, tol, primal, message)


def _terms(proof: ModelCertificate) -> str:
    terms = proof.terms
    shown = sorted(terms.items(), key=lambda item: -item[1])[:2]
    return "largest terms: " + ", ".join(f"{name} = {value:.3g}" for name, value in shown)


def _worse(model: ModelTask, instance: Instance, side: str, given: Parts) -> str:
    """How much worse than the witness one side is, if by more than tol; else empty."""
    known = witness(instance)
    if known is None:
        return ""
    params, tol = instance.params, float(instance["tol"])
    if side == "primal":
        value, best = model.upper(params, given), known.certificate.primal
        slack = _rounding(model, params, given, None, known.certificate)
    else:
        value, best = model.lower(params, given), known.certificate.dual
        slack = _rounding(model, params, None, given, known.certificate)
    # both numbers are bounds, each wrong by the rounding at most
    if abs(value - best) - 2 * slack <= tol * max(abs(value), known.certificate.scale):
        return ""
    if (value < best) == (side == "primal"):
        return ""
    return (
        f"the {side} side ({', '.join(given)}) has objective {value:.10g}, a certified witness "
        f"{best:.10g}"
    )


def _one_side(
    model: ModelTask, instance: Instance, side: str, given: Parts, tol: float
) -> Judgement:
    """The other side as it follows from this one where it does, else that of the witness."""
    params = instance.params
    primal, dual = (given, None) if side == "primal" else (None, given)
    try:
        proof, allowed = found = _bound(model, params, primal, dual, tol)
        if found.ok and _excused(instance, proof, tol):
            return _judgement(Verdict.PASS, model, proof, allowed, tol, primal)
    except NoDualPointError:
        pass
    known = witness(instance)
    if known is None:
        return Judgement(Verdict.INCONCLUSIVE, message="no witness certifies the optimum")
    against: tuple[Side, Side]
    against = (primal, known.dual) if side == "primal" else (known.primal, dual)
    proof, allowed = found = _bound(model, params, against[0], against[1], tol)
    if found.ok and not _excused(instance, proof, tol):
        return _unproved(model, instance, found, tol, {side: given})
    if found.ok:
        return _judgement(Verdict.PASS, model, proof, allowed, tol, primal)
    if worse := _worse(model, instance, side, given):
        excess = proof.gap / (proof.scale or 1)
        message = f"{worse}: suboptimal by up to {excess:.3g} relative, declared tolerance {tol:.3g}"
        return _judgement(Verdict.FAIL, model, proof, allowed, tol, primal, message)
    message = (
        "neither optimal nor proved worse than a witness, whose own gap is "
        f"{known.certificate.relative_gap:.3g} relative"
    )
    return _judgement(Verdict.INCONCLUSIVE, model, proof, allowed, tol, primal, message)


def _the_same(other: Instance, known: Witness | None, candidate: Candidate) -> bool:
    """Whether the right answer solves the other problem as well: a hard margin has no C."""
    if known is None:
        return False
    parts = {**known.primal, **known.dual}
    right = {name: parts[name] for name in candidate.parts if name in parts}
    return bool(right) and judge(other, Candidate(next(iter(right.values())), parts=right)).ok


def hint(instance: Instance, candidate: Candidate) -> str:
    """Which other problem the answer solves: another C, another k, ...; empty if none is found."""
    model = load(instance.object_name)
    known = witness(instance)
    for text, params in model.mistakes(instance.params):
        if not model.valid(params):
            continue
        other = Instance.of(instance.problem, instance.family, **params)
        if judge(other, candidate).ok and not _the_same(other, known, candidate):
            return str(text)
    return ""
