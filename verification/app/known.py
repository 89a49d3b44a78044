"""The data sets of Lapin et al. 2016: what was trained on, in which protocol, and what was printed."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from verification.errors import InvalidArgumentError
from verification.paper_statements.lapin_2016.tables import TABLES
from verification.report.document import Document, Paragraph, table


@dataclass(frozen=True)
class Known:
    """A table of the longer version, with what the paper says of its data, and where to get them."""

    name: str
    table: int
    classes: str
    examples: str
    dimensions: str
    features: str
    split: str
    get: str


GRID = "1e-5,1e-4,1e-3,0.01,0.1,1,10,100,1000"


def _known() -> dict[str, Known]:
    text = files("verification.app").joinpath("known.csv").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = list(csv.DictReader(text.splitlines()))
    return {row["name"]: Known(**row | {"table": int(row["table"])}) for row in rows}


#: By the name of ``--paper-dataset``.
DATA = _known()


def find(name: str) -> Known:
    """A data set by its name.

    Raises
    ------
    InvalidArgumentError
        A name that is not known.
    """
    if name not in DATA:
        raise InvalidArgumentError(f"paper_dataset is {name!r}; expected one of {', '.join(DATA)}")
    return DATA[name]


def printed(name: str, methods: Sequence[str], guesses: Sequence[int]) -> dict[str, list[float]]:
    """The paper's accuracies of the methods that it has, in the columns asked for."""
    table_of = TABLES[find(name).table][1]
    found = {}
    for method in methods:
        row = table_of.get(_longer(method), [])
        if row and max(guesses) <= len(row):
            found[method] = [float(row[k - 1]) for k in guesses]
    return found


def _longer(method: str) -> str:
    """A method as the longer tables name it."""
    single = {"SVM-Multi": "top-1 SVM alpha", "LR-Multi": "top-1 Ent"}
    return single.get(method, f"{method} alpha" if method.endswith("SVM") else method)


def about(name: str) -> Document:
    """What the paper used, what to get, the command, and the printed accuracies."""
    known, (data, rows) = find(name), TABLES[find(name).table]
    facts = {
        "data": data,
        "classes": known.classes,
        "training examples": known.examples,
        "features": f"{known.dimensions}: {known.features}",
        "split": known.split,
        "grid": "C or lambda from 1e-5 to 1e3 by powers of ten, further where the best is at an end",
        "losses": "no bias; P = 1/2 ||W||^2 + C * sum of losses",
        "to get": known.get,
        "then": f"refsolve compare TRAIN --test TEST --paper-dataset {name} -C {GRID} -k 1,3,5,10",
    }
    columns = len(next(iter(rows.values())))
    heads = [f"Top-{k}" for k in range(1, columns + 1)]
    lines = [(method, *(f"{float(v):.1f}" for v in row)) for method, row in rows.items()]
    blocks = [
        table(
            f"Lapin et al. 2016, longer version, Table {known.table}",
            ("", " "),
            list(facts.items()),
        ),
        table("Printed accuracy in percent", ("method", *heads), lines, heads),
    ]
    said = "Of this table our copy has the first five columns." if columns < 10 else ""
    told = {"like": name, "table": known.table, **facts,
            "printed": {method: [float(v) for v in row] for method, row in rows.items()}}  # fmt: skip
    return Document(data, (*blocks, *([Paragraph(said)] if said else [])), None, told)
