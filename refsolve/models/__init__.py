"""One model per file: primal, dual and the maps between them."""

from __future__ import annotations

from refsolve import catalogue

__getattr__, __dir__ = catalogue.members("models")
