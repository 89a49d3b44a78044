"""Numba's cache on disk, which stops every later call where an entry of it is damaged; this one mends itself."""

import functools
import hashlib
import logging
import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.registry import cpu_target

from fast._interrupts import undisturbed

_log = logging.getLogger("fast")
_DIGEST = hashlib.sha256().digest_size
_said: set[str] = set()


class CheckedFile(IndexDataCacheFile):
    """Entries end with their checksum: spoilt machine code would end the process, not raise.

    Each has a file named after its signature, written before the index names it. numba numbers them: of
    two processes that compile for two signatures at once, one then runs the other's machine code.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store an entry; an index that another process writes meanwhile costs a compilation later."""
        signature = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{Path(self._index_name).stem}.{signature}.nbc"
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + hashlib.sha256(data).digest()  # pickle stops reading before it

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
            raise pickle.UnpicklingError("the checksum of the entry is another")
        return super()._load_data(name)


class MendingCache(FunctionCache):
    """Compiles again what cannot be read, and goes without what cannot be written; says so once a folder."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        try:
            return self.found(sig, target_context)
        except Exception as error:  # pickle raises anything on spoilt bytes
            say(
                "the kernel cache in %s is damaged: what it held is compiled again (%r)",
                self.cache_path,
                error,
            )
            try:
                self.flush()
            except OSError:
                self.disable()
            return None

    def found(self, sig: Any, target_context: Any) -> Any:
        """As numba looks for it."""
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function, where that can be."""
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full disk, a folder that has become read-only
            say(
                "the kernel cache in %s cannot be written: kernels compile anew in each process (%s)",
                self.cache_path,
                error,
            )
            self.disable()


class KernelCache(MendingCache):
    """For kernels, which count no references: stored ones need nothing of what compiling needs."""

    def found(self, sig: Any, target_context: Any) -> Any:
        """The compiled function; where there is none, all is imported that numba will import."""
        found = self._load_overload(sig, target_context)
        if found is None:
            complete()
        return found


@functools.cache
def complete() -> None:
    """Have numba import what it imports before its first kernel: cut short, it is spoilt for good."""
    with undisturbed():
        cpu_target.target_context.refresh()
        cpu_target.typing_context.refresh()


def say(what: str, folder: str, *more: object) -> None:
    """One warning for a folder."""
    if folder not in _said:
        _said.add(folder)
        _log.warning(what, folder, *more)


class Unopened:
    """The cache of a dispatcher until it is asked for: of hundreds of kernels a process calls some ten."""

    def __init__(self, dispatcher: Any, kernel: bool, stamp: tuple) -> None:
        self._of, self._kernel, self._stamp = dispatcher, kernel, stamp

    def __getattr__(self, name: str) -> Any:
        try:
            self._of.enable_caching()
        except RuntimeError:  # numba: "cannot cache function: no locator available"
            self._of._cache = NullCache()
            say(
                "no writable cache folder for the kernels of %s: they compile anew in each process; "
                "set NUMBA_CACHE_DIR to a folder of your own",
                str(Path(__file__).parent),
            )
        else:
            cache = self._of._cache
            cache.__class__ = KernelCache if self._kernel else MendingCache
            cache._cache_file.__class__ = CheckedFile
            cache._cache_file._source_stamp = self._stamp
        return getattr(self._of._cache, name)
