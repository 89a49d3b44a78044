"""What is certain of a problem and of the values of its variables, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import Any

from refsolve.errors import InvalidParameterError


class Verdict(StrEnum):
    """What is certain of a point, or of the problem."""

    CERTIFIED = "certified"
    VIOLATED = "violated"
    SUBOPTIMAL = "suboptimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True)
class ProblemCertificate:
    """What is certain of a CVXPY problem and the values of its variables.

    Attributes
    ----------
    status : Verdict
        "certified": feasible within the tolerance and within the tolerance of the optimum; "violated":
        a constraint is certain to fail by more; "suboptimal": a feasible point is certain to be better
        by more; "infeasible", "unbounded": proven of the problem; "uncertain": none of these, see
        `reason`.
    bound : float
        The objective at the point is at most this far from the optimum, on the worse side; inf where
        nothing is certain. No feasible point is better by more.
    violation : float
        The constraints fail by no more: the slack of the reduced problem, with its other variables
        chosen well, is at most this far from the cones; and by the residuals of your own constraints
        as CVXPY computes them. 0: they hold exactly.
    value, best : float
        Bounds: the objective at the point is at most ``value`` (at least, for Maximize), that of every
        feasible point at least ``best`` (at most, for Maximize).
    repaired : float
        What `bound` is at a point nearby that is feasible for certain; inf if none was found.
    moved : float
        How far that point is, in its largest entry.
    reason : str
    by : tuple of str
        What the bound rests on.
    assumptions : tuple of str
    solver_said : str
        The problem's own status, which is not believed.
    evidence
        What `save` makes its proof from.
    """

    status: Verdict
    bound: float
    violation: float
    value: float
    best: float
    repaired: float = math.inf
    moved: float = math.inf
    reason: str = ""
    by: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = field(default_factory=tuple)
    solver_said: str = ""
    evidence: Any = field(default=None, repr=False, compare=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as a file that others can check: `docs/travelling.md`.

        The file says of the reduced problem what its own multipliers prove in floats: the bound may be
        larger than `bound`, and ranges may have to be assumed, which are then part of the file.

        Raises
        ------
        InvalidParameterError
            Nothing is certain, or only by an argument that the format does not hold.
        """
        proof, why = None, self.reason or "no evidence is kept"
        if self.evidence is not None:
            proof, why = self.evidence.travelling(self.status)
        if proof is None:
            raise InvalidParameterError("certificate", why, "multipliers that a file can hold",
                "give bounds={x: (low, high)} to certify")  # fmt: skip
        proof.save(path, self.evidence.program, self.assumptions)

    def __bool__(self) -> bool:
        return self.status is Verdict.CERTIFIED
