"""One scalar function per file: the minimisation that defines it, for CVXPY."""

from refsolve._lazy import members

__getattr__, __dir__ = members("functions")
