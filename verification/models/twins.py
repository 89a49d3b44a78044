"""The twins in `fast` of the objects that are declared, also in folders outside of the packages."""

import importlib
import importlib.util
from types import ModuleType

from refsolve import catalogue


def package(kind: str) -> ModuleType:
    """The package of `fast` for a kind, or ``torch.losses``, with the folders that were added."""
    found = importlib.import_module(f"fast.{kind}")
    for folder in catalogue.paths():
        room = str(folder.joinpath("fast", *kind.split(".")))
        if room not in found.__path__:
            found.__path__.append(room)
    return found


def exists(kind: str, object_name: str) -> bool:
    """Whether an object has a twin."""
    return importlib.util.find_spec(f"{package(kind).__name__}.{object_name}") is not None
