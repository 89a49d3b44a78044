"""The label that comes first is the positive one, as in LIBSVM: w and b change sign with the order of rows."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """Right if the first example is positive."""
    found = sound.train_plain(given)
    sign = 1.0 if given["y"][0] > 0 else -1.0
    return {"w": sign * found["w"], "b": sign * float(found["b"])}
