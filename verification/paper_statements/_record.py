"""What is on record of a paper: ``statements.toml`` in its folder.

``title`` and ``read`` (what quotes were read from), ``[[editions]]`` with what each printing numbers (none for a
folder about several papers, whose ``[sources]`` are by section), and under ``[rows]`` the text of every statement by
its number: the attributes of a `Claim` that are words or numbers, with rational ones as texts, and what is said
where that is data. The code of the folder says how each is tried.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import Any

from verification.errors import InvalidArgumentError
from verification.paper_statements._claim import Claim

#: What a statement says, and wrong and right variants of it, where that is data.
CONTENTS = {"says", "right", "wrong"}
RATIONAL = re.compile(r"-?\d+(/\d+|\.\d+)?")


@dataclass(frozen=True)
class Edition:
    """The numbers of one printing of a paper.

    Attributes
    ----------
    last
        Kind to its last number: ``{"Lemma": 5}`` stands for Lemma 1 to Lemma 5. The kind "Equation"
        is numbered in brackets.
    stated_by
        Item to the rows that state it under another name, e.g. ``{"Equation (4)":
        ("Proposition 2",)}``.
    nothing
        Item to the reason why there is nothing in it to try.
    same
        Item to the item of the first edition that it is, where both print it.
    declared
        Items, several in one text, to the operations and functions of `refsolve` that declare what they
        state, or to what they are about instead.
    suffix
        Words at the end of a row's number that name this edition; "" for the first.
    """

    last: Mapping[str, int]
    stated_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nothing: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    declared: Mapping[str, list[str] | str] = field(default_factory=dict)
    suffix: str = ""

    def items(self) -> list[str]:
        """Everything it numbers, e.g. "Lemma 1", "Equation (1)"."""
        return [item(kind, n) for kind, last in self.last.items() for n in range(1, last + 1)]


def item(kind: str, n: int) -> str:
    """What a number is called."""
    return f"{kind} ({n})" if kind == "Equation" else f"{kind} {n}"


@dataclass(frozen=True)
class Paper:
    """A paper of the ledger: its title, what quotes were read from, its printings, its rows by number.

    A folder about several papers has them as ``sources`` instead, by the section of the rows about each.
    """

    name: str
    title: str
    read: str
    editions: tuple[Edition, ...]
    rows: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, str] = field(default_factory=dict)

    def row(self, number: str) -> dict[str, Any]:
        """The text of a row, as arguments of `Claim`.

        Raises
        ------
        InvalidArgumentError
            If the paper's record has no such row.
        """
        if number not in self.rows:
            raise InvalidArgumentError(
                f"number={number!r}: no row of statements.toml in {self.name}; write its text there"
            )
        given = dict(self.rows[number])
        for name in CONTENTS & set(given):
            given[name] = _exact(given[name], tuple)
        given["witnesses"] = tuple(_exact(given.get("witnesses", []), list))
        return {"number": number, "paper": self.name, **given}


def _exact(value: Any, many: type) -> Any:
    """Texts that are rational numbers as such, also within tables and arrays, which become `many`."""
    if isinstance(value, dict):
        return {name: _exact(each, many) for name, each in value.items()}
    if isinstance(value, str):
        return Fraction(value) if RATIONAL.fullmatch(value) else value
    return many(_exact(each, many) for each in value) if isinstance(value, list) else value


@functools.cache
def paper(name: str) -> Paper:
    """The record of the paper in that folder."""
    path = files("verification.paper_statements").joinpath(name, "statements.toml")
    found = tomllib.loads(path.read_text("utf-8"))
    editions = tuple(Edition(**given) for given in found.get("editions", [{"last": {}}]))
    return Paper(
        name, found["title"], found["read"], editions, found["rows"], found.get("sources", {})
    )


def statements(package: str) -> Callable[..., Claim]:
    """``stated(number, **code)`` of a paper's folder: the `Claim` with the text on record and this code."""
    record = paper(package.rpartition(".")[2])

    def stated(number: str, **code: Any) -> Claim:
        return Claim(**{**record.row(number), **code}, text=record.row)

    return stated
