"""Projections, one set per file."""

from fast import _lazy

__getattr__, __dir__ = _lazy.object_names(__name__, __path__)
