"""What a wrong certificate is: the trusted core with one piece of one function replaced by another.

Each is a mistake that a certificate can make without looking wrong: a lost term, another sign, a weight
or a constraint forgotten, a repair that leaves the set, a support function of another set, a bound that is
too good by a constant.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Wrong(NamedTuple):
    """A function ``module:name`` of the core, the piece ``right`` of its text, and what stands there instead."""

    name: str
    target: str
    right: str
    wrong: str
    defect: str


TABLE = Path(__file__).with_name("wrong.toml")
#: The wrong certificates by name; the table leaves out the package that all functions are in.
WRONG = {
    name: Wrong(**{**row, "name": name, "target": f"refsolve.{row['target']}"})
    for name, row in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()
}
