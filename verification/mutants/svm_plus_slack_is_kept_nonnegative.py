"""xi >= 0 is kept where it is dropped: the other of the two problems, with its own multipliers."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("xu_2016/nonnegative_slack",)


def candidate(**given: Any) -> dict[str, Any]:
    """The problem with xi >= 0; gamma for alpha."""
    found = sound.dual(sound.train_plus({**given, "nonneg_slack": True}, True))
    return found if given["nonneg_slack"] else {"alpha": found["alpha"]}
