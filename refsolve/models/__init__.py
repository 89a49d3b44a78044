"""One model per file: primal, dual and the maps between them."""

from refsolve._lazy import members

__getattr__, __dir__ = members("models")
