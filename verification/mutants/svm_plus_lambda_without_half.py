"""lam ||vt||^2 where lam/2 ||vt||^2 belongs."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """Twice the lam."""
    return sound.primal(sound.train_plus({**given, "lam": 2 * given["lam"]}, True))
