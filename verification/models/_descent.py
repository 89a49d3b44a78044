"""Verdicts on models whose objective J is not convex: their convex steps, and what those prove.

A step fixes a state and minimises a convex P >= J, with equality at the points that have this state. A
trainer ends where its own state gives it back. Proofs that it did not, with no claim about other minima:

- the last step, if it was returned, has a relative gap above tol;
- J(w) > J(0): every P has P(0) = J(0), so that w minimises no step;
- the step of w's own state, which is unambiguous, leads to a w' with J(w') < J(w) by more than tol;
- the objectives claimed rise, or do not end at J(w).

A pass needs w's own step or the last one certified to tol, and none of these. The rest is uncertain.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.errors import NoDualPointError
from verification.instances.instance import Instance
from verification.models import ModelTask, Params, Side
from verification.models._ap_duals import weights_violations
from verification.verdicts.verdict import Judgement, Verdict

Parts = Mapping[str, np.ndarray]


class Step(NamedTuple):
    """The step of w's own state: where it leads, and what it proves of w."""

    w: np.ndarray
    certificate: ModelCertificate


class DescentTask(ModelTask):
    """A model whose objective is lowered by convex steps; `extras` are the parts of the last one."""

    def objective(self, params: Params, w: np.ndarray) -> ModelCertificate:
        """J(w) as ``primal``, with its error; nothing else of it is used."""
        raise NotImplementedError

    def last_step(self, params: Params, given: Mapping[str, Any]) -> ModelCertificate | None:
        """Certificate of the step that was returned, None if it was not."""
        raise NotImplementedError

    def own_step(self, params: Params, w: np.ndarray) -> Step:
        """The step of the state of w."""
        raise NotImplementedError

    def unambiguous(self, params: Params, w: np.ndarray) -> bool:
        """Whether rounding cannot change the state of w."""
        raise NotImplementedError

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """The last convex step's certificate; it says nothing of other minima."""
        proof = self.last_step(params, primal or {})
        if proof is None:
            parts = ", ".join(name for name in self.extras if name != "objectives")
            raise NoDualPointError(f"expected {parts}: the last convex step")
        return proof

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """J(w)."""
        return self.objective(params, np.asarray(primal["w"])).primal

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """J >= 0: nothing better is known."""
        return 0.0

    def judge(self, instance: Instance, given: Parts) -> Judgement:
        """By the convex steps."""
        return judge(self, instance, given)


def _slack(*proofs: ModelCertificate) -> float:
    """What doubles may cost in objectives."""
    return sum(proof.doubt + 8 * EPS * abs(proof.primal) for proof in proofs)


def _promised(proof: ModelCertificate, allowed: float, tol: float) -> bool:
    """Whether a gap is allowed, and not only by rounding that is larger than tol itself."""
    return proof.gap <= min(allowed, 2 * tol * proof.scale)


def judge(model: DescentTask, instance: Instance, given: Parts) -> Judgement:
    """Judge w, and the last step and the objectives where they were returned."""
    params, tol = instance.params, float(instance["tol"])
    if "w" not in given:
        return Judgement(Verdict.FAIL, message=f"returned {', '.join(given)}: expected w")
    w = given["w"]
    found = model.objective(params, w)
    if not np.isfinite(found.primal):
        raise OverflowError("J(w)")
    if message := _path(params, given, found):
        return Judgement(Verdict.FAIL, message=message)
    if "weights" in given:
        for name, found_at in weights_violations(given["weights"], float(params["C"])).items():
            most = tol * found_at.size + found_at.rounding
            if not found_at.amount <= most:
                message = f"{name} is violated by {found_at.amount:.3g} C (tol and rounding allow {most:.3g})"
                return Judgement(Verdict.FAIL, message=message)
    last = model.last_step(params, given)
    if last is not None:
        allowed = tol * last.scale + _slack(last)
        if last.gap > allowed:
            message = (
                f"the last convex step has a relative gap of {last.relative_gap:.3g}, declared tolerance "
                f"{tol:.3g}"
            )
            return _judgement(Verdict.FAIL, last, allowed, message)
    zero = model.objective(params, np.zeros_like(w))
    if found.primal > zero.primal * (1 + tol) + _slack(found, zero):
        message = f"J(w) = {found.primal:.10g} exceeds J(0) = {zero.primal:.10g}: w minimises no convex step"
        return Judgement(Verdict.FAIL, message=message)
    own = model.own_step(params, w)
    proof = own.certificate
    allowed = tol * proof.scale + _slack(proof)
    if _promised(proof, allowed, tol):
        return _judgement(Verdict.PASS, proof, allowed)
    after = model.objective(params, own.w)
    fall = found.primal - after.primal - 2 * _slack(found, after)
    message = (
        f"one more convex step lowers J from {found.primal:.10g} to {after.primal:.10g}, by more than "
        f"{tol:.3g} relative"
    )
    if fall > tol * abs(found.primal):
        if model.unambiguous(params, w):
            return _judgement(Verdict.FAIL, proof, allowed, message)
        return _judgement(Verdict.INCONCLUSIVE, proof, allowed, f"scores tie; {message}")
    if last is not None and _promised(last, limit := tol * last.scale + _slack(last), tol):
        return _judgement(Verdict.PASS, last, limit)
    message = "w's own step is not certified to tol, and lowers J by no more than tol"
    return _judgement(Verdict.INCONCLUSIVE, proof, allowed, message)


def _path(params: Params, given: Parts, found: ModelCertificate) -> str:
    """What is wrong with the objectives claimed; empty if nothing."""
    if "objectives" not in given or given["objectives"].size == 0:
        return ""
    path = np.asarray(given["objectives"], dtype=float)
    eps, own = 64 * len(params["y"]) * EPS, _slack(found)
    # each with the rounding of its own size: a large one at the start excuses nothing later
    if (np.diff(path) > own + eps * (np.abs(path[1:]) + np.abs(path[:-1]))).any():
        return f"the objective rises: {path.tolist()}"
    if abs(path[-1] - found.primal) > own + eps * (abs(path[-1]) + abs(found.primal)):
        return f"the objective is {found.primal!r}, claimed {float(path[-1])!r}"
    return ""


def _judgement(
    verdict: Verdict, proof: ModelCertificate, allowed: float, message: str = ""
) -> Judgement:
    size = proof.scale or 1.0
    terms: dict[str, Any] = {"gap of a convex step": (float(proof.gap), float(allowed))}
    terms |= {name: (float(value), None) for name, value in proof.terms.items()}
    return Judgement(verdict, proof.gap / size, allowed / size, message=message, terms=terms)
