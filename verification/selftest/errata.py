"""Errata of the papers and defects seen in other libraries; each that is a computation has its mutant.

A mutant names in ``ERRATA`` those that it implements as printed. What is no computation says why
there is no mutant: a statement about a method is tried in the ledger of claims, not in a solver.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Erratum:
    """One row: where it stands, what is printed (or done), what is right.

    ``excuse`` says why no wrong solver can be made of it; empty where there must be one.
    """

    where: str
    printed: str
    right: str
    excuse: str = ""


TABLE = Path(__file__).with_suffix(".toml")
#: By paper (or library) and name, as in ``lapin_2015/lemma_3``.
ERRATA = {
    f"{paper}/{name}": Erratum(**row)
    for paper, rows in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()
    for name, row in rows.items()
}


def mutants_of(key: str) -> tuple[str, ...]:
    """Names of the mutants that implement an erratum."""
    from verification import faulty_solvers

    return tuple(m.name for m in faulty_solvers.discover().values() if key in m.errata)


def problems() -> list[str]:
    """What is wrong with the table: errata without a mutant, stale excuses, unknown keys."""
    from verification import faulty_solvers

    found = []
    for key, erratum in ERRATA.items():
        names = mutants_of(key)
        if not names and not erratum.excuse:
            found.append(f"{key}: no mutant, and no reason why there is none")
        if names and erratum.excuse:
            found.append(f"{key}: has an excuse, and a mutant: {', '.join(names)}")
    for mutant in faulty_solvers.discover().values():
        found += [f"{mutant.name}: unknown {key}" for key in mutant.errata if key not in ERRATA]
    return found
