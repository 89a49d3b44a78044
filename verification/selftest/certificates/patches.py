"""What a wrong certificate is: the trusted core with one piece of one function replaced by another.

Each is a mistake that a certificate can make without looking wrong: a lost term, another sign, a weight
or a constraint forgotten, a repair that leaves the set, a support function of another set, a bound that is
too good by a constant.
"""

from typing import NamedTuple

from verification.selftest.certificates import wrong, wrong_models


class Wrong(NamedTuple):
    """A function ``module:name`` of the core, the piece ``right`` of its text, and what stands there instead."""

    name: str
    target: str
    right: str
    wrong: str
    defect: str


#: The wrong certificates by name; their tables leave out the package that all functions are in.
WRONG = {
    name: Wrong(name, f"refsolve.{target}", *rest)
    for name, target, *rest in (*wrong.ROWS, *wrong_models.ROWS)
}
