"""Wrong for repeated examples only: each is kept once, without its multiplicity."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W of the distinct examples."""
    _, kept = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
    kept = np.sort(kept)
    weight = None if sample_weight is None else sample_weight[kept]
    return fit("topk_hinge_alpha", X[kept], y[kept], C, k, None, weight, tol=tol)[0]
