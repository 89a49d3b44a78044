"""sqrt(C w_i) scales the rows of the squared hinge twice: weights count squared."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """w_i^2 for w_i."""
    weight = given["sample_weight"]
    if weight is not None and given["loss"] == "squared_hinge":
        given["sample_weight"] = weight**2
    found = sound.train_plain(given)
    return {"w": found["w"], "b": found["b"]}
