"""One loss per file: value and conjugate for CVXPY; everything else is derived."""

from refsolve._lazy import members

__getattr__, __dir__ = members("losses")
