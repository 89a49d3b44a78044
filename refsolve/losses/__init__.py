"""One loss per file: value and conjugate for CVXPY; everything else is derived."""

from __future__ import annotations

from refsolve import catalogue

__getattr__, __dir__ = catalogue.members("losses")
