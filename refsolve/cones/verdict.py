"""What is certain of a problem and of the values of its variables, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import Any

from refsolve._types import Array
from refsolve.errors import InvalidParameterError


class Verdict(StrEnum):
    """What is certain of a point, or of the problem."""

    CERTIFIED = "certified"
    NEARLY_FEASIBLE = "feasible only to δ"
    INCONSISTENT = "inconsistent data"
    VIOLATED = "violated"
    SUBOPTIMAL = "suboptimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class ProblemCertificate:
    """What is certain of a CVXPY problem and the values x of its variables.

    Written for Minimize; for Maximize every inequality between values is turned around. f* is the
    optimum, "tolerance" that of `certify` times |f(x)| + min(1, s), s the scale of the objective's terms.

    Attributes
    ----------
    status : Verdict
        "certified": there is a `feasible_point`, x itself or one beside it, with f* <= f(feasible point)
        <= f* + bound, and f(x) is within the tolerance of f*, on both sides, and x is feasible to within
        the tolerance. "feasible only to δ": x fails its constraints by no more than the tolerance, but
        it is not certain that its value is near f*. "inconsistent data": equations of the problem
        contradict each other by no more than rounding, and whatever meets them to that extent is as
        good; `lower` and `bound` hold for all of that. "suboptimal": a feasible point is certain to be
        better by more than the tolerance. "violated": a constraint is certain to fail by more.
        "infeasible", "unbounded": proven of the problem. "inconclusive": none of these, see `reason`.
    value : float
        f(x) is at most that.
    lower, upper : float
        The optimum is in [lower, upper]; infinite where nothing is known.
    bound : float
        At the feasible point, or at x where there is none, the objective is at most this far above f*.
    below : float
        f(x) is at most this far below f*, which happens only where x is not feasible.
    delta : float
        The constraints fail by no more: in the slacks of the reduced problem and in your own constraints.
        0: they hold exactly.
    feasible_point : dict of Variable to array, or None
        Floats; a point within `radius` of them is exactly feasible.
    radius : float
    moved : float
        Largest change of an entry from x to `feasible_point`.
    reason : str
    by : tuple of str
        What `lower` rests on.
    assumptions : tuple of str
    solver_said : str
        The problem's own status, which is not believed.
    evidence
        What `save` makes its proof from.
    """

    status: Verdict
    value: float = math.inf
    lower: float = -math.inf
    upper: float = math.inf
    bound: float = math.inf
    below: float = math.inf
    delta: float = math.inf
    feasible_point: dict[Any, Array] | None = field(default=None, compare=False)
    radius: float = 0.0
    moved: float = math.inf
    reason: str = ""
    by: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = field(default_factory=tuple)
    solver_said: str = ""
    evidence: Any = field(default=None, repr=False, compare=False)

    @property
    def certified(self) -> bool:
        """Whether the status is "certified"."""
        return self.status is Verdict.CERTIFIED

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as a file that others can check: `docs/certificate_files.md`.

        The file says of the reduced problem what its own multipliers prove in floats: the bound may be
        larger than `bound`, and ranges may have to be assumed, which are then part of the file.

        Raises
        ------
        InvalidParameterError
            Nothing is certain, or only by an argument that the format does not hold.
        """
        proof, why = None, self.reason or "no evidence is kept"
        if self.evidence is not None:
            proof, why = self.evidence.certificate_file(self.status)
        if proof is None:
            raise InvalidParameterError("certificate", why, "multipliers that a file can hold",
                "give bounds={x: (low, high)} to certify")  # fmt: skip
        proof.save(path, self.evidence.program, self.assumptions)

    def __bool__(self) -> bool:
        return self.status is Verdict.CERTIFIED
