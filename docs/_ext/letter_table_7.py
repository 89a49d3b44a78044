"""Lapin et al. 2016, longer version, Table 7, on Letter: 37 methods, ten columns, some 350 certified models."""

from typing import Any

from verification.benchmarks.letter import load_parts, longer
from verification.benchmarks.protocol import column_accuracies, compile_trainers, run_row
from verification.benchmarks.timing import one_thread

GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)


def measure() -> dict[str, Any]:
    """Accuracies and gaps of the final models, and the C that validation chose for each column."""
    parts, rows = load_parts(), {}
    with one_thread():
        compile_trainers(parts, longer())
        for row in longer():
            found = run_row(parts, row, GRID)
            ours = [round(value, 2) for value in column_accuracies(found.final)]
            chosen = [fit.C for fit in found.chosen]
            rows[row.name] = {"ours": ours, "C": chosen, "gap": found.worst_gap}
    return {"grid": list(GRID), "rows": rows}
