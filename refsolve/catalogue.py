"""Finds the objects: every file of sets/, losses/, functions/ and models/ is one, without a list."""

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from refsolve import protocols
from refsolve.errors import InvalidParameterError, UnknownProblemError

#: Operations of the objects of a kind; they are derived. A module may declare fewer: `operations`.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "sets": ("projection",),
    "losses": ("value", "gradient", "conjugate", "prox", "sdca_update"),
    "functions": ("value",),
    "models": ("primal", "dual"),
}


#: Folders of objects outside of this package, in the order in which they were added.
_paths: list[Path] = []
#: Rooms of refsolve that such a folder may hold.
ROOMS = (*OPERATIONS, "generators", "exact")


def add_path(folder: str | Path) -> None:
    """Take in the objects of a folder with the sub-folders sets/, losses/, exact/, generators/, ...

    They are verified, solved and trained like those of the package; ``fast/sets`` and ``fast/losses``
    hold the solvers, where there are any. Folders can also be named in the environment variable
    ``REFSOLVE_PATH`` and by entry points of the group ``refsolve.objects`` (a package with these
    sub-folders).

    Parameters
    ----------
    folder : path
        Added once, however often it is named.

    Raises
    ------
    InvalidParameterError
        If it has none of the sub-folders.
    """
    root = Path(folder).resolve()
    rooms = [room for room in ROOMS if (root / room).is_dir()]
    if not rooms:
        raise InvalidParameterError(
            "folder", str(folder), f"a folder with one of {', '.join(ROOMS)}",
            "put the file of a set into its sub-folder sets, and so on",
        )  # fmt: skip
    _outside()
    _take(root)


def _take(root: Path) -> None:
    if root in _paths:
        return
    _paths.append(root)
    for room in ROOMS:
        package = importlib.import_module(f"refsolve.{room}")
        if (root / room).is_dir() and str(root / room) not in package.__path__:
            package.__path__.append(str(root / room))
    importlib.invalidate_caches()
    _object_names.cache_clear()


def paths() -> tuple[Path, ...]:
    """The folders outside of this package, see `add_path`."""
    _outside()
    return tuple(_paths)


@cache
def _outside() -> None:
    """Folders that the environment and installed packages name."""
    for folder in filter(None, os.environ.get("REFSOLVE_PATH", "").split(os.pathsep)):
        _take(Path(folder).resolve())
    for point in entry_points(group="refsolve.objects"):
        for folder in point.load().__path__:
            _take(Path(folder).resolve())


@cache
def _object_names(kind: str) -> tuple[str, ...]:
    _outside()
    package = importlib.import_module(f"refsolve.{kind}")
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in names if not name.startswith("_")))


def object_names(kind: str | None = None) -> tuple[str, ...]:
    """Names of the objects of a kind ("sets", "losses", "functions", "models"), or all of them.

    Raises
    ------
    UnknownProblemError
        If the kind does not exist.
    """
    if kind is None:
        return tuple(name for each in OPERATIONS for name in _object_names(each))
    if kind not in OPERATIONS:
        raise UnknownProblemError(kind, OPERATIONS, "kind")
    return _object_names(kind)


def kind(object_name: str) -> str:
    """Folder of an object: "sets", "losses", "functions" or "models"."""
    for each in OPERATIONS:
        if object_name in _object_names(each):
            return each
    raise UnknownProblemError(object_name, object_names(), "object_name")


def load(object_name: str) -> ModuleType:
    """Module that declares ``object``, with all that `refsolve.protocols` asks of its kind."""
    return _load(kind(object_name), object_name)


@cache
def _load(room: str, object_name: str) -> ModuleType:
    module = importlib.import_module(f"refsolve.{room}.{object_name}")
    protocols.require(protocols.wanted(room, module), module)
    return module


def operations(object_name: str) -> tuple[str, ...]:
    """Operations of an object: all of its kind unless its module declares ``operations``."""
    return tuple(getattr(load(object_name), "operations", OPERATIONS[kind(object_name)]))


def arguments(module: ModuleType | protocols.Set) -> tuple[str, ...]:
    """Arguments of a set's projection: ``arguments``, or a, its parameters and rho."""
    return tuple(getattr(module, "arguments", ("a", *module.SPEC.names, "rho")))


def admit(object_name: str, d: int, params: Mapping[str, Any]) -> None:
    """Refuse parameters that do not fit together, as the object's ``check(d, ...)`` says.

    Raises
    ------
    InvalidParameterError
        E.g. a set that is empty for them.
    """
    check = getattr(load(object_name), "check", None)
    if check is not None:
        check(d, **params)


def has_rho(module: ModuleType | protocols.Set) -> bool:
    """Whether a set's projection takes the weight rho of the squared sum."""
    return "rho" in arguments(module)


def problems(kind: str | None = None) -> tuple[str, ...]:
    """All problem names ``"<object>.<operation>"``, optionally of one kind."""
    kinds = OPERATIONS if kind is None else (kind,)
    return tuple(f"{s}.{op}" for each in kinds for s in object_names(each) for op in operations(s))


def split(problem: str) -> tuple[str, str]:
    """``"topk_cone.projection"`` -> ``("topk_cone", "projection")``, both known."""
    object_name, _, operation = str(problem).rpartition(".")
    if problem not in problems():
        raise UnknownProblemError(problem, problems())
    return object_name, operation
