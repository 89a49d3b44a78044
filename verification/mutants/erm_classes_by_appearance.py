"""Classes are numbered as they appear: the rows of W are those of pandas.factorize, not of np.unique."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "ova_logistic"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W in an order of its own."""
    W = fit("ova_logistic", X, y, C, sample_weight=sample_weight, tol=tol)[0]
    return W[list(dict.fromkeys(y.tolist()))]
