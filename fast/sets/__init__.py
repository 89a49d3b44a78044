"""Projections, one set per file."""

from fast import _lazy

__getattr__, __dir__ = _lazy.stems(__name__, __path__)
