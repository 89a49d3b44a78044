"""C sum max(0, m)^2, as in scikit-learn's LinearSVC: twice this C."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """Twice the C for squares."""
    C = given["C"] * (2 if given["loss"] == "squared_hinge" else 1)
    found = sound.train_plain({**given, "C": C})
    return {"w": found["w"], "b": found["b"]}
