"""Losses, one per file: value, gradient, conjugate, prox and dual coordinate update."""

from fast import _lazy

__getattr__, __dir__ = _lazy.object_names(__name__, __path__)
