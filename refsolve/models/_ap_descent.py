"""Objectives J that are no convex program, lowered by convex steps that bound them from above.

A state (what a step keeps fixed) gives a convex P >= J with equality at the point that the state
was made for. Its minimiser therefore has J no higher: J never rises. A point that minimises the P
of its own state is a critical point of J, no more: other starts may end lower.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.models._ap_cuts import CutCertificate, Finish, Master
from refsolve.oracle import Answer, ParametrizedProblem

#: A step that lowers J by less, relative to its natural size, is the last; at most ROUNDS steps.
LEAST, ROUNDS = 1e-9, 100


@dataclass(frozen=True)
class DescentCertificate(CutCertificate):
    """The `CutCertificate` of a convex step, and what it says of J.

    Attributes
    ----------
    objective : float
        J(w) <= P(w).
    slack : float
        P(w) - J(w), 0 where the state is the one of w: then a gap of 0 makes w a critical point.
    objectives : tuple of float
        J at the start, if one was given, and after each step that lowered it.
    """

    objective: float
    slack: float
    objectives: tuple[float, ...] = field(default=(), kw_only=True)


def descend(
    state: Array,
    first: float | None,
    unit: float,
    step: Callable[[Array], tuple[Answer, Master, Finish]],
    after: Callable[[Array], Array],
) -> ParametrizedProblem:
    """Take steps until the state stays or J does; the convex program of the last one.

    ``step`` solves the program of a state; ``after`` is the state of a point; ``first`` is J at
    the start, if there is one. Only rounding can raise J: a step that does so is dropped.
    """
    objectives = [] if first is None else [first]
    kept: tuple[Master, Finish] | None = None
    for _ in range(ROUNDS):
        answer, master, finish = step(state)
        value = _proof(answer).objective
        drop = objectives[-1] - value if objectives else np.inf
        if kept is not None and drop < -LEAST * unit:
            break
        kept = master, finish  # even if J stayed: where scores are tied this state has slack 0
        if drop > 0:
            objectives.append(value)
        new = after(answer.x)
        if drop <= LEAST * unit or (new == state).all():
            break
        state = new
    assert kept is not None
    last, end = kept

    def with_history(found: dict[str, Any]) -> Answer:
        answer = end(found)
        proof = replace(_proof(answer), objectives=tuple(objectives))
        return replace(answer, certificate=proof)

    return last.canonicalized("primal", with_history)


def _proof(answer: Answer) -> DescentCertificate:
    assert isinstance(answer.certificate, DescentCertificate)
    return answer.certificate
