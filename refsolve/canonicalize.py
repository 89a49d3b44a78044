"""An instance ready for a solver, and an answer: what everything that builds problems shares."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from refsolve.proofs.certificate import Certificate

#: An answer is certified when its gap is below this fraction of the instance's natural size.
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Template:
    """A compiled problem: its parameters to fill in and its variables to read."""

    problem: Any
    parameters: Mapping[str, Any]
    variables: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """A candidate with its certificate, in the units of the instance."""

    x: Any
    value: float
    dual: Any
    certificate: Certificate
    named: Mapping[str, Any] = field(default_factory=dict)  # of a model: its unknowns by symbol


def best_answer(operation: str, proofs: Iterable[Any], multipliers: str) -> Answer:
    """The answer to a primal or a dual by the certificate of least gap, from its w and multipliers."""
    proof = min(proofs, key=lambda each: float(each.gap))
    dual = getattr(proof, multipliers)
    if operation == "primal":
        return Answer(proof.w, proof.value, dual, proof)
    return Answer(dual, proof.dual_value, proof.w, proof)


@dataclass(frozen=True)
class ParametrizedProblem:
    """One instance, ready for a solver.

    Attributes
    ----------
    key : hashable
        Structure on which the compiled problem depends (shape, k, ...).
    build : callable
        Makes the `Template` for that structure.
    values : mapping
        Parameter values of the rescaled instance.
    finish : callable
        Variables' values -> `Answer`; ``None`` values never reach it.
    unit : float
        Natural size of the objective; the certified gap is judged relative to it. 0 where the
        instance does not tell: the certificate's own scale then.
    other : ParametrizedProblem or None
        The same instance in another form, asked when no answer to this one certifies.
    """

    key: Hashable
    build: Callable[[], Template]
    values: Mapping[str, Any]
    finish: Callable[[Mapping[str, Any]], Answer]
    unit: float
    other: ParametrizedProblem | None = None
