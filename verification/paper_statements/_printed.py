"""Tables as the papers print them: a CSV file beside the claims, read into exact numbers."""

import csv
from importlib.resources import files

from verification.paper_statements._rational import Vector, vector


def printed(paper: str, file: str) -> dict[str, dict[str, Vector]]:
    """Rows by data set and method; empty cells, which the paper has not, are left out."""
    text = files("verification.paper_statements").joinpath(paper, file).read_text(encoding="utf-8")
    found: dict[str, dict[str, Vector]] = {}
    for data, method, *cells in list(csv.reader(text.splitlines()))[1:]:
        found.setdefault(data, {})[method] = vector(*filter(None, cells))
    return found
