"""One scalar function per file: the minimisation that defines it, for CVXPY."""

from __future__ import annotations

from refsolve import catalogue

__getattr__, __dir__ = catalogue.members("functions")
