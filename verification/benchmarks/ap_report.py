"""The AP benchmark's figures as a document, each beside its target."""

from collections.abc import Sequence
from dataclasses import asdict

from verification.benchmarks import ap_inference, ap_shapes, ap_training, targets
from verification.benchmarks.ap_exactness import Row, exactness_table
from verification.benchmarks.ap_inference import Curve, Timing
from verification.benchmarks.ap_training import Run
from verification.benchmarks.targets import mark
from verification.report.document import Block, Cell, Document, Paragraph, Table, number, table

#: Cells of the grid that are shown: those nearest the limit.
WORST = 12


def document(
    timings: Sequence[Timing],
    cells: Sequence[Timing],
    runs: Sequence[Run],
    rows: Sequence[Row],
    strict: bool,
    curves: Sequence[Curve] = (),
    written: Sequence[str] = (),
) -> Document:
    """Inference, its grid, training, exactness; with ``strict`` a missed target makes the document negative."""
    blocks: list[Block] = []
    if timings:
        peers = ("greedy", ap_inference.CPP, "numpy.sort")
        met = {t.against for t in timings}
        blocks += [speed_table(timings, peer) for peer in peers if peer in met]
        if ap_inference.CPP not in met:
            blocks.append(Paragraph(f"{ap_inference.CPP}: left out, no C++ compiler was found"))
    if cells:
        blocks.append(grid_table(cells))
    if runs:
        blocks.append(training_table(runs))
    if rows:
        blocks.append(exactness_table(rows))
    measured = {"inference": timings, "grid": cells, "training": runs}
    return targets.document(
        "Benchmark of AP-SVM, one thread",
        strict,
        blocks,
        measured,
        written,
        ok=all(row.ok for row in rows),
        exactness=[row.to_dict() for row in rows],
        curves=[asdict(c) for c in curves],
    )


def speed_table(timings: Sequence[Timing], against: str) -> Table:
    """Every method against the greedy, or against the sort."""
    mine = [t for t in timings if t.against == against]
    rows = [
        (
            t.regime,
            t.method.replace("_", " "),
            f"{t.active} of {t.N}",
            number(1e3 * t.seconds, 3),
            number(t.ratio, 2 if t.at_most else 3),
            "" if t.target is None else f"{'<=' if t.at_most else '>='} {t.target:g}",
            Cell("") if t.target is None else mark(t.reached),
        )
        for t in mine
    ]
    head = "times numpy.sort" if against == "numpy.sort" else f"{against} / method"
    columns = ("scores", "method", "active", "ms", head, "target", "")
    P, N = (mine[0].P, mine[0].N) if mine else (0, 0)
    note = (
        "Ratios: medians over pairs of calls taken in turns; all methods return the same ranking. "
        "active: negatives with an inversion in it."
    )
    if against == "numpy.sort":
        note += " numpy.sort gets the negatives only, already apart from the positives."
    title = f"Loss-augmented inference, P = {P}, N = {N}"
    return table(title, columns, rows, columns[2:6], note)


def grid_table(cells: Sequence[Timing]) -> Table:
    """The cells of the grid nearest the limit, and how many there are."""
    worst = sorted(cells, key=lambda t: -t.ratio)[:WORST]
    rows = [
        (t.regime, str(t.P), str(t.N), str(t.active), number(1e3 * t.seconds, 3), f"{t.ratio:.2f}", mark(t.reached))
        for t in worst
    ]  # fmt: skip
    columns = ("scores", "P", "N", "active", "ms", "times SEARCH", "")
    over = sum(not t.reached for t in cells)
    note = (
        f"{len(cells)} cells: {len(ap_shapes.PS)} values of P, {len(ap_shapes.NS)} of N, "
        f"{len({t.regime for t in cells})} regimes; target: at most {ap_inference.SEARCH_LIMIT:g}; above it: {over}. "
        f"A cell above the target is measured again with {ap_inference.AGAIN} times the pairs. Shown: the slowest."
    )
    return table("The default against SEARCH everywhere", columns, rows, columns[1:6], note)


def training_table(runs: Sequence[Run]) -> Table:
    """Oracle calls to the certified gap, against the plain cutting plane."""
    rows = [
        (
            r.trainer,
            f"{r.C:g}",
            "-" if r.calls is None else str(r.calls),
            "" if r.target is None else f"<= {r.target}",
            Cell(number(r.gap), "" if r.certified else "bad"),
            number(r.seconds, 3),
            number(r.ap, 3),
            Cell("") if r.target is None else mark(r.reached),
        )
        for r in runs
    ]
    columns = ("trainer", "C", "oracle calls", "target", "certified gap", "s", "training AP", "")
    note = ap_training.NOTE
    title = f"Training to a certified relative gap of {ap_training.GAP:g}: {ap_training.PROBLEM}"
    return table(title, columns, rows, columns[1:7], note)
