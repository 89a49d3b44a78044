"""What a check reports to: the evidence of one claim."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

#: What a check is about: its keyword arguments, by name.
Inputs = dict[str, Any]
Rng = np.random.Generator


class Trial:
    """Collects the evidence of one claim: counts, worst certificate, smallest counterexample."""

    def __init__(self) -> None:
        self.instances = 0
        self.violations = 0
        self.undecided = 0
        self.worst = 0.0
        self.rational_only = True
        self.counterexample: dict[str, Any] | None = None
        self.witnesses_refute = True
        self._inputs: Inputs = {}
        self._violated: bool | None = None
        self._concerned = True

    def begin(self, inputs: Inputs) -> None:
        """Start a new instance."""
        self.instances += 1
        self._inputs = inputs
        self._violated = None
        self._concerned = True

    def end(self, is_witness: bool) -> None:
        """Close the instance: it was violated, held, could not be decided, or is none."""
        if self._violated is None and self._concerned:
            self.undecided += 1
        elif self._violated is None:
            self.instances -= 1
        self.violations += bool(self._violated)
        if is_witness and not self._violated:
            self.witnesses_refute = False

    def nothing_claimed(self) -> None:
        """Say that the statement is not about this instance: without a report it does not count."""
        self._concerned = False

    def exactly(self, holds: bool, why: str, **facts: Any) -> None:
        """Report a comparison made in rational arithmetic (`why`: what is false if it fails)."""
        self._report(bool(holds), True, why, facts)

    def within(self, residual: float, tolerance: float, why: str, **facts: Any) -> None:
        """Report a floating-point certificate: a residual that is nonnegative in exact terms."""
        self.rational_only = False
        residual = abs(float(residual))
        self.worst = max(self.worst, residual) if not math.isnan(residual) else math.nan
        self._report(
            residual <= tolerance, False, why, {**facts, "residual": residual, "limit": tolerance}
        )

    def _report(self, holds: bool, exact: bool, why: str, facts: Mapping[str, Any]) -> None:
        self._violated = bool(self._violated) or not holds
        if holds:
            return
        found = {"exact": exact, "why": why, **self._inputs, **facts}
        if self.counterexample is None or (exact and not self.counterexample["exact"]):
            self.counterexample = found
