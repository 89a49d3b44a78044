"""Where w = 0 is optimal the ordinary SVM is returned: nobody likes a classifier that is constant."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/collapse",)


def candidate(**given: Any) -> dict[str, Any]:
    """Right, unless w is tiny beside what alpha could pull."""
    found = sound.train_plus(given, True)
    data = sound.prepare(given, True)
    alpha = found["alpha"][data.kept]
    pulled = (alpha * data.y) @ data.K @ (alpha * data.y)
    if pulled > 1e-8 * (alpha**2 @ data.K.diagonal()):
        return sound.primal(found)
    plain = sound.train_plain({**given, "loss": "squared_hinge"})
    f = data.K @ (plain["alpha"][data.kept] * data.y) + plain["b"]
    rho = float((1 - data.y * f).max())
    return {"w": plain["w"], "b": plain["b"], "v": 0 * found["v"], "rho": max(rho, 0.0)}
