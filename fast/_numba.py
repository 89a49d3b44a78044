"""One way to compile: the ``njit`` of the whole package, its disk cache, and ``warmup``."""

import functools
import importlib
import logging
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numba
from numba.core import event

from fast._kernel_cache import Unopened

#: Versions of numba whose inner classes `fast._compiler` is written for. With others numba compiles
#: in its own way, which takes two to three times as long.
WHOLES = (0, 61) <= numba.version_info.short < (0, 69)
if WHOLES:
    from fast._compiler import KernelDispatcher, Pipeline

_log = logging.getLogger("fast")
_PACKAGE = __name__.partition(".")[0]
_stats: dict[str, tuple] = {}

# Sums may be reordered (so that they become SIMD), nothing else: inf and nan keep their meaning.
REORDER = {"reassoc", "nsz"}


def njit(function: Callable | None = None, **options: Any) -> Any:
    """``numba.njit`` with the settings of this package.

    The GIL is released, division follows IEEE rules (``error_model="numpy"``), and machine code
    is cached on disk. Where no cache folder is writable the function is compiled in memory, and
    an entry that is damaged is compiled again; both are said. A cached kernel is thrown away as
    soon as its own file or the file of any kernel it calls changes; numba alone looks at its own
    file only.

    Parameters
    ----------
    function : callable, optional
        The function; without it a decorator is returned (``@njit(fastmath=REORDER)``).
    **options
        Further options of ``numba.njit``.

    Returns
    -------
    Dispatcher
        The compiled function; ``py_func`` is the original.
    """
    if function is None:
        return lambda decorated: njit(decorated, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    settings |= {"fastmath": False, **options}  # unset, it would be inherited from the caller
    cached, own = settings.pop("cache", True), "pipeline_class" in options
    dispatcher = numba.njit(**settings)(function)
    files = _files(function)
    dispatcher.source_files = files
    if not numba.config.DISABLE_JIT:  # then it is the function itself
        if cached:
            dispatcher._cache = Unopened(dispatcher, own, _stamp(function, files))
        if own:
            dispatcher.__class__ = KernelDispatcher
    return dispatcher


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """``njit`` for code that never allocates: called per row, from other kernels.

    Reference counting is off, so that passing an array or a slice costs nothing (with it, a call
    costs 12 ns of atomic increments: more than a projection of five numbers); an allocation is
    then a compile-time error. Loops that call such kernels with slices are best kernels too.
    """
    pipeline = {"pipeline_class": Pipeline} if WHOLES else {}
    return njit(function, _nrt=False, **pipeline, **options)


def inlined(function: Callable) -> Any:
    """A `kernel` that becomes part of its callers before they are compiled.

    For functions that only pass on: compiled by itself, each would translate all it calls once more.
    """
    return kernel(function, inline="always")


def remade(text: Any, name: str, names: Mapping[str, Any], file: str = "") -> Any:
    """The function of another name, for which global names mean something else.

    By name and file its machine code is found on disk.
    """
    code = text.__code__.replace(co_filename=file or text.__code__.co_filename)
    made = FunctionType(code, {**text.__globals__, **names}, name)
    made.__qualname__, made.__doc__ = name, text.__doc__
    made.__module__ = names.get("__name__", text.__module__)
    return made


def _sources(items: Iterable[Any]) -> set[str]:
    """The files that the code of kernels, and of whatever else of this package, comes from."""
    files = set()
    for item in items:
        files |= getattr(item, "__dict__", {}).get("source_files", set())
        home = getattr(item, "__module__", None)
        if isinstance(home, str) and home.startswith(_PACKAGE + ".") and home in sys.modules:
            files.add(sys.modules[home].__file__)
    return files


@functools.cache  # hundreds of names in numpy, which nearly every kernel refers to
def _of_module(module: ModuleType) -> set[str]:
    return _sources(vars(module).values())


def _files(function: Any) -> set[str]:
    """All files that the code of ``function`` comes from."""
    known = function.__globals__.values()
    files = {function.__code__.co_filename} | _sources(known)
    return files.union(*(_of_module(item) for item in known if isinstance(item, ModuleType)))


def _stamp(function: Any, files: set[str]) -> tuple:
    """What the cache depends on: times and sizes of the files, as they are now that they are imported."""
    own = function.__code__.co_filename
    _stats[own] = _stat(own)  # which may have been imported anew
    for name in files - _stats.keys():
        _stats[name] = _stat(name)
    return tuple(_stats[name] for name in sorted(filter(None, files)) if _stats[name])


def _stat(name: str) -> tuple:
    if not os.path.exists(name):
        return ()
    found = os.stat(name)
    return found.st_mtime, found.st_size


class _SayOnce(event.Listener):
    """Says once per process that kernels are being compiled: the only slow moment."""

    def on_start(self, event: Any) -> None:
        if self.ours(event):
            _log.info("compiling kernels for the first use; later runs load them from the cache")
            _log.debug("first kernel: %s", event.data["dispatcher"])
            globals()["_listening"] = False

    def on_end(self, event: Any) -> None:
        pass

    @staticmethod
    def ours(event: Any) -> bool:
        """Whether the event is the first compilation of a kernel of this package."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        return (
            _listening
            and isinstance(function, FunctionType)
            and str(function.__module__).startswith(_PACKAGE + ".")
        )


_listening = True
event.register("numba:compile", _SayOnce())


def warmup() -> list[str]:
    """Compile (or load from the cache) the kernels behind the public functions.

    Each module of the package that has kernels defines ``_warmup()``, which calls them once on
    tiny arrays, the trainers on dense float64 data; a first fit on CSR or float32 data compiles
    its own, and so does a first loss on tensors. Call this before timing anything or before
    forking workers.

    Returns
    -------
    list of str
        The names of the modules whose kernels are now ready.
    """
    ready = []
    for name in _modules(_PACKAGE):
        hook = vars(sys.modules[name]).get("_warmup")
        if hook is not None:
            hook()
            ready.append(name)
    return ready


def _modules(package: str) -> Iterator[str]:
    """All modules below, imported; but the losses on tensors, which need torch."""
    for info in pkgutil.iter_modules(sys.modules[package].__path__, package + "."):
        if info.name != f"{_PACKAGE}.torch":
            importlib.import_module(info.name)
            yield info.name
            if info.ispkg:
                yield from _modules(info.name)
