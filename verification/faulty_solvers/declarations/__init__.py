"""Wrong declarations: a change in the text of one file of `refsolve`, and the object that it is noticed in.

The table is ``declarations.toml`` beside this file: ``[[kind]]`` with ``object``, ``old``, ``new`` and, where the text
is not in the object's own file, ``file``. What finds them is `verification.declarations`, a part of
``refsolve verify --all``; ``python -m verification.faulty_solvers.declarations`` prints what is said of each.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from refsolve import catalogue, oracle

TABLE = Path(__file__).with_suffix("").parent / "declarations.toml"


@dataclass(frozen=True)
class WrongDeclaration:
    """One change.

    Attributes
    ----------
    kind : what of a declaration it changes: value, conjugate, domain, dual set, generator, constraints, maps, SPEC, ...
    object_name : the object that must be found to disagree with itself.
    old, new : the text, which occurs in the file, and what stands in its place.
    file : the module that is changed, ``refsolve.sets.box``.
    """

    kind: str
    object_name: str
    old: str
    new: str
    file: str

    @property
    def name(self) -> str:
        """What it is called in tests and tables."""
        return f"{self.kind}: {self.object_name}: {' '.join(self.old.split())} -> {' '.join(self.new.split())}"

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """The module with the change, and the object's own with it; afterwards both as they were."""
        own = catalogue.load(self.object_name)
        changed = importlib.import_module(self.file)
        if self.old not in inspect.getsource(changed):
            raise LookupError(f"{self.file} has no {self.old!r}")
        modules = dict.fromkeys((changed, *self._between(), own))
        before = {module: dict(vars(module)) for module in modules}
        oracle.forget()
        try:
            for module in modules:
                source = inspect.getsource(module)
                source = source.replace(self.old, self.new) if module is changed else source
                exec(compile(source, module.__file__ or "", "exec"), vars(module))
            yield
        finally:
            for module, names in before.items():
                vars(module).clear()
                vars(module).update(names)
            oracle.forget()

    def _between(self) -> list[ModuleType]:
        """Modules that took something from the changed file, or from one of them, when they were imported."""
        rooms = ("refsolve.models.", "refsolve.calculus")
        known = {n: m for n, m in sys.modules.items() if n.startswith(rooms) and n != self.file}
        found, new = [], {self.file}
        while new:
            takers = {
                n
                for n, m in known.items()
                if any(getattr(v, "__module__", "") in new for v in vars(m).values())
            }
            new = {n for n in takers if known[n] not in found}
            found += [known[n] for n in sorted(new)]
        return found


def discover() -> tuple[WrongDeclaration, ...]:
    """All of the table."""
    found = []
    for kind, rows in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        for row in rows:
            room = f"refsolve.{catalogue.kind(row['object_name'])}.{row['object_name']}"
            file = row.get("file", room)
            found.append(
                WrongDeclaration(
                    kind.replace("_", " "), row["object_name"], row["old"], row["new"], file
                )
            )
    return tuple(found)


def found_in(mutant: WrongDeclaration) -> str:
    """What `verification.declarations` says first of it; empty if it survives."""
    from verification import declarations

    with mutant.applied():
        return next(iter(declarations.problems(mutant.object_name, most=1)), "")


def main() -> int:
    """Print all; the exit status is 1 if one survives."""
    survivors = 0
    for mutant in discover():
        said = found_in(mutant)
        survivors += not said
        sys.stdout.write(f"{mutant.name}\n    {said[:200] or 'SURVIVES'}\n")
    sys.stdout.write(f"{len(discover())} wrong declarations, {survivors} survive\n")
    return int(survivors > 0)
