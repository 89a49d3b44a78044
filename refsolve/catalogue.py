"""Finds the stems: every file of sets/, losses/, functions/ and models/ is one, without a list."""

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

#: Operations of the stems of a kind; they are derived. A module may declare fewer: `operations`.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "sets": ("projection",),
    "losses": ("value", "gradient", "conjugate", "prox", "sdca_update"),
    "functions": ("value",),
    "models": ("primal", "dual"),
}


#: Folders of stems outside of this package, in the order in which they were added.
_paths: list[Path] = []
#: Rooms of refsolve that such a folder may hold.
ROOMS = (*OPERATIONS, "generators", "exact")


def add_path(folder: str | Path) -> None:
    """Take in the stems of a folder with the sub-folders sets/, losses/, exact/, generators/, ...

    They are verified, solved and trained like those of the package; ``fast/sets`` and ``fast/losses``
    hold the solvers, where there are any. Folders can also be named in the environment variable
    ``REFSOLVE_PATH`` and by entry points of the group ``refsolve.stems`` (a package with these
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
    _stems.cache_clear()


def paths() -> tuple[Path, ...]:
    """The folders outside of this package, see `add_path`."""
    _outside()
    return tuple(_paths)


@cache
def _outside() -> None:
    """Folders that the environment and installed packages name."""
    for folder in filter(None, os.environ.get("REFSOLVE_PATH", "").split(os.pathsep)):
        _take(Path(folder).resolve())
    for point in entry_points(group="refsolve.stems"):
        for folder in point.load().__path__:
            _take(Path(folder).resolve())


@cache
def _stems(kind: str) -> tuple[str, ...]:
    _outside()
    package = importlib.import_module(f"refsolve.{kind}")
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in names if not name.startswith("_")))


def stems(kind: str | None = None) -> tuple[str, ...]:
    """Names of the stems of a kind ("sets", "losses", "functions", "models"), or all of them.

    Raises
    ------
    UnknownProblemError
        If the kind does not exist.
    """
    if kind is None:
        return tuple(name for each in OPERATIONS for name in _stems(each))
    if kind not in OPERATIONS:
        raise UnknownProblemError(kind, OPERATIONS, "kind")
    return _stems(kind)


def kind(stem: str) -> str:
    """Folder of a stem: "sets", "losses", "functions" or "models"."""
    for each in OPERATIONS:
        if stem in _stems(each):
            return each
    raise UnknownProblemError(stem, stems(), "stem")


def load(stem: str) -> ModuleType:
    """Module that declares ``stem``, with all that `refsolve.protocols` asks of its kind."""
    return _load(kind(stem), stem)


@cache
def _load(room: str, stem: str) -> ModuleType:
    module = importlib.import_module(f"refsolve.{room}.{stem}")
    protocols.require(protocols.wanted(room, module), module)
    return module


def operations(stem: str) -> tuple[str, ...]:
    """Operations of a stem: all of its kind unless its module declares ``operations``."""
    return tuple(getattr(load(stem), "operations", OPERATIONS[kind(stem)]))


def arguments(module: ModuleType | protocols.Set) -> tuple[str, ...]:
    """Arguments of a set's projection: ``arguments``, or a, its parameters and rho."""
    return tuple(getattr(module, "arguments", ("a", *module.SPEC.names, "rho")))


def admit(stem: str, d: int, params: Mapping[str, Any]) -> None:
    """Refuse parameters that do not fit together, as the stem's ``check(d, ...)`` says.

    Raises
    ------
    InvalidParameterError
        E.g. a set that is empty for them.
    """
    check = getattr(load(stem), "check", None)
    if check is not None:
        check(d, **params)


def has_rho(module: ModuleType | protocols.Set) -> bool:
    """Whether a set's projection takes the weight rho of the squared sum."""
    return "rho" in arguments(module)


def problems(kind: str | None = None) -> tuple[str, ...]:
    """All problem names ``"<stem>.<operation>"``, optionally of one kind."""
    kinds = OPERATIONS if kind is None else (kind,)
    return tuple(f"{s}.{op}" for each in kinds for s in stems(each) for op in operations(s))


def split(problem: str) -> tuple[str, str]:
    """``"topk_cone.projection"`` -> ``("topk_cone", "projection")``, both known."""
    stem, _, operation = str(problem).rpartition(".")
    if problem not in problems():
        raise UnknownProblemError(problem, problems())
    return stem, operation
