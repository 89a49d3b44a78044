"""The losses on tensors, one per file, which defines a function of its name."""

import importlib
import pkgutil
from collections.abc import Callable

from torch import Tensor

from fast.errors import InvalidParameterError


def names() -> list[str]:
    """Names of the losses, of files that were added to ``__path__`` too."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def function(name: str) -> Callable[..., Tensor]:
    """The function of a loss.

    Raises
    ------
    fast.errors.InvalidParameterError
        There is no such file.
    """
    if name not in names():
        raise InvalidParameterError(
            "loss", repr(name), f"one of {', '.join(names())}", f"add fast/torch/losses/{name}.py"
        )
    found: Callable[..., Tensor] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return found
