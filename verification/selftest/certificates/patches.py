"""What a wrong certificate is: the trusted core with one piece of one function replaced by another.

Each is a mistake that a certificate can make without looking wrong: a lost term, another sign, a weight
or a constraint forgotten, a repair that leaves the set, a support function of another set, a bound that is
too good by a constant.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """A function ``module:name`` of the core, the piece ``right`` of its text, and what stands there instead."""

    name: str
    target: str
    right: str
    wrong: str
    defect: str


#: The wrong certificates by name.
WRONG: dict[str, Wrong] = {}


def wrong_certificate(name: str, target: str, right: str, wrong: str, defect: str) -> None:
    """Add one; ``target`` is given without ``refsolve.``."""
    WRONG[name] = Wrong(name, f"refsolve.{target}", right, wrong, defect)
