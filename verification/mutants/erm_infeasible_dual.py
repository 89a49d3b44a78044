"""The dual blocks are scaled up to raise the dual objective, out of their domain; W is right.

Where -inf stands for a violated constraint nothing is gained by it.
"""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import Parts, fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_beta"}
ERRATA = ("lapin_2015/theorem_1",)


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """A dual point a little outside."""
    W, A = fit("topk_hinge_beta", X, y, C, k, None, sample_weight, tol=tol)
    return {"W": W, "A": A * 1.001}
