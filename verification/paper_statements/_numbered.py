"""What the papers number, which rows of the ledger speak of it, and where `refsolve` declares it.

Each paper's record has its ``editions``: how far each kind is numbered, which rows state what their own
number does not name, why a number states nothing (a photograph, a link), and what declares it.
With these, `missing` says what the ledger passes over, `undeclared` what has no declaration, `unknown`
what the paper has not.
"""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from refsolve import catalogue
from verification.paper_statements._claim import Claim
from verification.paper_statements._ledger import claims
from verification.paper_statements._record import Edition, item, paper

#: Kinds that always state something: a reason cannot take the place of a row.
STATEMENTS = ("Theorem", "Proposition", "Lemma", "Corollary", "Definition", "Algorithm", "Remark")
KINDS = (*STATEMENTS, "Equation", "Table", "Figure", "Footnote")

_KIND = re.compile(
    rf"\b({'|'.join(KINDS)})s? (\d+(?:(?:, | and )\d+(?![\d/.]))*)(?![\d/.])", re.IGNORECASE
)
_RANGE = re.compile(r"\((\d+)\)-\((\d+)\)")
_BRACKETS = re.compile(r"\((\d+)\)")


@dataclass(frozen=True)
class Item:
    """A numbered item, the rows about it, and the reason if there is none.

    ``declared`` are operations and functions of `refsolve`; ``apart`` says what it is about if there are none.
    """

    paper: str
    edition: str
    name: str
    rows: tuple[str, ...]
    reason: str
    declared: tuple[str, ...]
    apart: str

    @property
    def calls(self) -> tuple[str, ...]:
        """The declarations as a reader types them."""
        return tuple(call(name) for name in self.declared)


def call(name: str) -> str:
    """``refsolve.problem("...")`` of an operation; a function's own name.

    Where `refsolve.problem` refuses, a loss being the least of several convex ones, it is `refsolve.solve`.

    Examples
    --------
    >>> call("simplex.projection")
    'refsolve.problem("simplex.projection")'
    >>> call("refsolve.formulas.top_sum")
    'refsolve.formulas.top_sum'
    """
    if name not in catalogue.problems():
        return name
    pieces = hasattr(catalogue.load(name.partition(".")[0]), "pieces")
    return f'refsolve.{"solve" if pieces else "problem"}("{name}")'


def named(number: str) -> list[str]:
    """Items that a row's number names: "Equations (2)-(4)" gives three.

    Examples
    --------
    >>> named("Algorithm 2 with (7) and (8)")
    ['Algorithm 2', 'Equation (7)', 'Equation (8)']
    """
    found: list[str] = []
    for kind, numbers in _KIND.findall(number):
        found += [item(kind.capitalize(), int(n)) for n in re.findall(r"\d+", numbers)]
    for low, high in _RANGE.findall(number):
        found += [item("Equation", n) for n in range(int(low) + 1, int(high))]
    found += [item("Equation", int(n)) for n in _BRACKETS.findall(number)]
    return list(dict.fromkeys(found))


def editions(name: str) -> tuple[Edition, ...]:
    """The printings of a paper, the first being that whose numbers the rows use."""
    return paper(name).editions


def _edition_of(number: str, known: tuple[Edition, ...]) -> Edition:
    return next((e for e in known if e.suffix and e.suffix in number), known[0])


def _declared(edition: Edition) -> dict[str, list[str] | str]:
    """What declares each item of an edition."""
    return {name: found for key, found in edition.declared.items() for name in named(key)}


def items(paper: str) -> list[Item]:
    """Every numbered item of a paper in all its editions, with the rows about it."""
    known = editions(paper)
    numbers = [claim.number for _, claim in claims(paper)]
    rows: dict[str, dict[str, list[str]]] = {e.suffix: {} for e in known}
    for number in numbers:
        for name in named(number):
            rows[_edition_of(number, known).suffix].setdefault(name, []).append(number)
    found: list[Item] = []
    of_first = _declared(known[0])
    for edition in known:
        own = _declared(edition)
        for name in edition.items():
            first = edition.same.get(name, "")
            about = [*rows[edition.suffix].get(name, []), *edition.stated_by.get(name, ())]
            if first:
                about += rows[known[0].suffix].get(first, [])
                about += known[0].stated_by.get(first, ())
            reason = edition.nothing.get(name, "")
            if not about:
                reason = reason or known[0].nothing.get(first, "")
            declared = own.get(name) or of_first.get(first) or reason
            calls = () if isinstance(declared, str) else tuple(declared)
            found.append(
                Item(
                    paper,
                    edition.suffix,
                    name,
                    rows=tuple(dict.fromkeys(about)),
                    reason=reason,
                    declared=calls,
                    apart=declared if isinstance(declared, str) else "",
                )
            )
    return found


def unnumbered(paper: str) -> list[Claim]:
    """Rows about what the paper says without a number."""
    about = {row for item in items(paper) for row in item.rows}
    return [claim for _, claim in claims(paper) if claim.number not in about]


def missing(paper: str) -> list[str]:
    """Numbered items without a row, and without a reason that such an item may have."""
    return [
        " ".join(filter(None, (each.name, each.edition)))
        for each in items(paper)
        if not each.rows and (not each.reason or each.name.split()[0] in STATEMENTS)
    ]


def undeclared(paper: str) -> list[str]:
    """Numbered items of which nothing says where they are declared, and declarations that there are not."""
    found = []
    for each in items(paper):
        if not each.declared and not each.apart:
            found.append(" ".join(filter(None, (each.name, each.edition))))
        found += [f"{each.name}: no {name}" for name in each.declared if not _exists(name)]
    return found


def _exists(name: str) -> bool:
    """Whether it is an operation, or a function of a module."""
    if name in catalogue.problems():
        return True
    module, _, function = name.rpartition(".")
    try:
        return callable(getattr(importlib.import_module(module), function))
    except (ImportError, AttributeError, ValueError):
        return False


def unknown(paper: str) -> list[str]:
    """What names a number that the paper does not have, or a row that the ledger does not have."""
    return list(_unknown(paper))


def _unknown(paper: str) -> Iterator[str]:
    known = editions(paper)
    numbers = {claim.number for _, claim in claims(paper)}
    for number in sorted(numbers):
        printed = _edition_of(number, known).items()
        yield from (
            f"row {number!r}: no {name} there" for name in named(number) if name not in printed
        )
    for edition in known:
        printed = edition.items()
        for name in (*edition.stated_by, *edition.nothing, *edition.same, *_declared(edition)):
            if name not in printed:
                yield f"{name}: not among the numbers of the edition"
        for name, rows in edition.stated_by.items():
            yield from (f"{name}: no row {row!r}" for row in rows if row not in numbers)
        yield from (
            f"{name}: the first edition has no {first}"
            for name, first in edition.same.items()
            if first not in known[0].items()
        )
    for each in items(paper):
        if each.rows and each.reason:
            yield f"{each.name}: rows {each.rows}, yet a reason for none"
