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

#: Says the same wherever errors may refuse.
ALWAYS = "builtins.NotImplementedError"


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
    given = (
        refuses if isinstance(refuses, Iterable) and not isinstance(refuses, str) else (refuses,)
    )
    found = [full_name(_type(each)) for each in given if each is not None]
    return tuple(dict.fromkeys([*found, ALWAYS])) if found else ()


def full_name(kind: type) -> str:
    """Module and qualified name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}"


def lineage(error: BaseException) -> tuple[str, ...]:
    """Full names of the types that an error is of."""
    return tuple(full_name(kind) for kind in type(error).__mro__)


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


def _figures(instance: Instance) -> dict[str, float]:
    """Numbers that a refusal may be about: scalar arguments, lengths, and one beside the other."""
    problem = instance.problem
    scalars = {
        name: float(value)
        for name, value in instance.params.items()
        if isinstance(value, (int, float)) and np.isfinite(value)
    }
    main = instance[problem.data]
    lengths = {f"len({problem.data})": float(np.shape(main)[0])} if np.ndim(main) else {}
    beside = {
        f"{name} - {length}": scalars[name] - size
        for name in problem.counts
        if name in scalars
        for length, size in lengths.items()
    }
    given = {
        f"{n} given": 1.0 - (v is None) for n, v in instance.params.items() if n != problem.data
    }
    return scalars | lengths | beside | given


@dataclass
class Refusals:
    """What was refused of all instances: counted by what was said, beside the arguments that were taken."""

    taken: dict[str, tuple[float, float]] = field(default_factory=dict)
    refused: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, instance: Instance) -> None:
        """An instance that was answered."""
        _widen(self.taken, _figures(instance))

    def refuse(self, instance: Instance, said: str) -> None:
        """An instance that was refused with these words; they are the same but for their numbers."""
        reason = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", said)
        self.counts[reason] = self.counts.get(reason, 0) + 1
        _widen(self.refused.setdefault(reason, {}), _figures(instance))

    def said(self) -> dict[str, int]:
        """How many were refused, by the argument that tells them from the others, else by the words."""
        found: dict[str, int] = {}
        for reason, count in self.counts.items():
            name = self._about(reason)
            found[name] = found.get(name, 0) + count
        return found

    def _about(self, reason: str) -> str:
        refused = self.refused[reason]
        for name, (low, high) in refused.items():
            least, most = self.taken.get(name, (low, high))
            if low <= most and high >= least:
                continue
            first, sign, other = name.partition(" - ")
            if name.endswith(" given"):
                return f"{name.removesuffix(' given')} {'is' if low > most else 'is not'} given"
            if sign and (least <= most <= 0 < low if low > most else high < 0 <= least):
                return f"{first} {'>' if low > most else '<'} {other}"
            if not sign:
                return f"{name} > {most:g}" if low > most else f"{name} < {least:g}"
        return reason


def _widen(ranges: dict[str, tuple[float, float]], figures: dict[str, float]) -> None:
    for name, value in figures.items():
        low, high = ranges.get(name, (value, value))
        ranges[name] = min(low, value), max(high, value)
