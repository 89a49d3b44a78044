"""Where each object stands: declared in `refsolve`, computed in `fast`, taught in ``docs``."""

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Declaration:
    """One mathematical object and its two halves."""

    name: str
    kind: str
    title: str
    operations: tuple[str, ...]
    oracle_only: bool
    in_fast: bool

    @property
    def complete(self) -> bool:
        """True iff it has the implementation that it should have, and none that it should not."""
        return self.in_fast is not self.oracle_only


def discover() -> tuple[Declaration, ...]:
    """All declared objects, by kind and name."""
    from refsolve import catalogue

    found = []
    for kind in catalogue.OPERATIONS:
        for name in catalogue.object_names(kind):
            spec = catalogue.load(name).SPEC
            in_fast = importlib.util.find_spec(f"fast.{kind}.{name}") is not None
            operations = catalogue.operations(name)
            found.append(Declaration(name, kind, spec.title, operations, spec.oracle_only, in_fast))
    return tuple(found)
