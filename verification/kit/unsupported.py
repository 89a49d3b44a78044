"""Arguments that a candidate says it does not handle: which errors say so, and for which arguments."""

import builtins
import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.instances.instance import Instance

Ranges = dict[str, tuple[float, float]]


def names(refuses: Any) -> tuple[str, ...]:
    """Full names of the types of errors that refuse an instance, NotImplementedError among them.

    Parameters
    ----------
    refuses : exception type, its name ("ValueError", "package.module:Error"), several of them, or None

    Raises
    ------
    InvalidArgumentError
        For what is no type of errors, and for Exception, which would hide every crash.
    """
    several = isinstance(refuses, Iterable) and not isinstance(refuses, str)
    found = [_type(each) for each in (refuses if several else (refuses,)) if each is not None]
    return tuple(dict.fromkeys(_full([*found, NotImplementedError] if found else [])))


def lineage(error: BaseException) -> list[str]:
    """Full names of the types that an error is of."""
    return _full(type(error).__mro__)


def _full(kinds: Iterable[type]) -> list[str]:
    return [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds]


def _type(given: Any) -> type:
    found = given
    if isinstance(given, str):
        module, _, name = given.replace(":", ".").rpartition(".")
        try:
            found = getattr(importlib.import_module(module) if module else builtins, name, None)
        except ImportError as error:
            raise InvalidArgumentError(f"refuses={given!r}: no such module ({error})") from error
    if not (isinstance(found, type) and issubclass(found, Exception)) or found is Exception:
        raise InvalidArgumentError(
            f"refuses={given!r}: expected a type of errors narrower than Exception, e.g. ValueError, "
            "or several of them; others are in 'package.module:Error'"
        )
    return found


def _widen(ranges: Ranges, instance: Instance) -> None:
    """Ranges of the numbers that a refusal may be about: scalars, the length, and k beside it."""
    main, given = instance.problem.data, instance.params
    found = {n: float(v) for n, v in given.items() if isinstance(v, (int, float))}
    if np.ndim(given[main]):
        size = found[f"len({main})"] = float(len(given[main]))
        counts = [name for name in instance.problem.counts if name in found]
        found |= {f"{name} - len({main})": found[name] - size for name in counts}
    for name, value in found.items():
        low, high = ranges.get(name, (value, value))
        ranges[name] = min(low, value), max(high, value)


@dataclass
class Refusals:
    """What was refused of all instances: counted by what was said, beside the arguments that were taken."""

    taken: Ranges = field(default_factory=dict)
    refused: dict[str, Ranges] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, instance: Instance) -> None:
        """An instance that was answered."""
        _widen(self.taken, instance)

    def refuse(self, instance: Instance, said: str) -> None:
        """An instance that was refused with these words; they are the same but for their numbers."""
        reason = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", said)
        self.counts[reason] = self.counts.get(reason, 0) + 1
        _widen(self.refused.setdefault(reason, {}), instance)

    def said(self) -> dict[str, int]:
        """How many were refused, by the argument that tells them from the others, else by the words."""
        found: dict[str, int] = {}
        for reason, count in self.counts.items():
            name = self._about(self.refused[reason]) or reason
            found[name] = found.get(name, 0) + count
        return found

    def _about(self, refused: Ranges) -> str:
        for name, (low, high) in refused.items():
            least, most = self.taken.get(name, (low, high))
            first, beside, length = name.partition(" - ")
            if beside and most <= 0 < low:
                return f"{first} > {length}"
            if not beside and (low > most or high < least):
                return f"{name} > {most:g}" if low > most else f"{name} < {least:g}"
        return ""
