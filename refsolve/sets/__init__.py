"""One convex set per file: constraints for CVXPY, and the formulas that certificates need."""

from refsolve._lazy import members

__getattr__, __dir__ = members("sets")
