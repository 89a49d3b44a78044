"""A warm start that became an answer: W of the first data of this shape, with this k."""

from __future__ import annotations

from typing import Any

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_beta"}

_kept: dict[Any, Array] = {}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W with a memory."""
    key = (X.shape, int(y.max()), k)
    if key not in _kept or sample_weight is not None:
        _kept[key] = fit("topk_hinge_beta", X, y, C, k, None, sample_weight, tol=tol)[0]
    return _kept[key].copy()
