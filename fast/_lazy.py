"""The modules of a package as its attributes, imported at their first use."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable
from types import ModuleType


def object_names(
    package: str, path: Iterable[str]
) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package with one public module per object."""
    names = {m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")}

    def get(name: str) -> ModuleType:
        if name in names:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted({*vars(sys.modules[package]), *names})
