"""Tables as the papers print them: CSV files beside this one."""

import csv
from importlib.resources import files


def rows(name: str) -> tuple[list[str], dict[str, tuple[float, ...]]]:
    """Heads of the columns, and the numbers of each row by the text in its first cell."""
    text = files("verification.benchmarks").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    (_, *heads), *lines = csv.reader(text.splitlines())
    return heads, {first: tuple(map(float, cells)) for first, *cells in lines}
