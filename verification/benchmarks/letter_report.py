"""The Letter table as a document: our accuracies, the paper's, the deviation, the certificates."""

from collections.abc import Sequence
from dataclasses import asdict

from verification.benchmarks.letter import PeerRow, deviations
from verification.benchmarks.letter_starts import Stops, starts_table
from verification.benchmarks.protocol import TOL, TOP, Row, RowResult, column_accuracies
from verification.report.document import Block, Cell, Document, Table, number, table, verdict_cell


def passed(result: RowResult, tol: float) -> bool:
    """Every reported model is certified, and the refits are within the row's points of the paper."""
    away = deviations(column_accuracies(result.final), result.row.paper)
    return result.worst_gap <= tol and all(near(d, result.row) for d in away)


def near(deviation: float, row: Row) -> bool:
    """Whether a deviation is accepted; every one is where the row depends on the start."""
    return row.points is None or abs(deviation) <= row.points


def accuracy_tables(results: Sequence[RowResult], tol: float) -> list[Block]:
    """The two readings of the protocol; the first is the one that is judged."""
    both = "final model on training + validation part, same lambda"
    return [
        _table(f"Letter, test accuracy in percent: {both}", results, tol, judged=True),
        _table(
            "The same with the final model on the training part alone", results, tol, judged=False
        ),
    ]


def _table(title: str, results: Sequence[RowResult], tol: float, judged: bool) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    top = results[0].row.top if results else TOP
    wide = len(top) > len(TOP)
    for result in results:
        chosen = result.final if judged else result.chosen
        ours = column_accuracies(chosen)
        away = deviations(ours, result.row.paper)
        cells = [
            Cell(
                f"{a:.1f} {d:+.1f}" if wide else f"{a:.1f} / {b:.1f}",
                "" if near(d, result.row) else "bad" if judged else "warn",
            )
            for a, b, d in zip(ours, result.row.paper, away, strict=True)
        ]
        good = "pass" if result.row.points is not None else "certified"
        mark = verdict_cell(passed(result, tol), good) if judged else Cell("")
        gap = number(max(fit.gap for fit in chosen))
        grid = [fit.C for fit in result.fits]
        edges = (min(grid), max(grid))
        choices = [
            f"{fit.C:g}{'*' if own.C in edges else ''}"
            for fit, own in zip(chosen, result.chosen, strict=True)
        ]
        if wide:
            choices = [f"{min(f.C for f in chosen):g} to {max(f.C for f in chosen):g}"]
        seconds = (
            f"{sum(f.seconds for f in (result.refits.values() if judged else result.fits)):.1f}"
        )
        rows.append(
            (
                result.row.name,
                *cells,
                f"{max(away, key=abs):+.1f}",
                ", ".join(choices),
                gap,
                seconds,
                mark,
            )
        )
    heads = tuple(f"top-{k}" for k in top)
    columns = ("method", *heads, "worst", "C per column", "worst gap", "s", "")
    note = "Ours and what it is more than" if wide else "Ours /"
    note += " the paper's; worst: largest deviation in points"
    if judged:
        points = sorted({r.row.points for r in results if r.row.points is not None})
        limits = " or ".join(f"{p:g} (hinges)" if p > min(points) else f"{p:g}" for p in points)
        note += f"; pass: within {limits} and every gap certified to {tol:g}"
    note += "."
    if any(result.row.points is None for result in results):
        note += (
            " Ent_tr is not convex: its figures depend on the start (the softmax solution at the same C), its gap"
            " certifies the last convex step, and no deviation is judged."
        )
    tried = sorted({fit.C for result in results for fit in result.fits})
    note += f" C tried: {', '.join(f'{C:g}' for C in tried)}; *: chosen at the edge of this grid."
    return table(title, columns, rows, (*heads, "worst", "worst gap", "s"), note)


def reached(row: PeerRow) -> bool:
    """Whether the peer got to the suboptimality asked of it."""
    return row.peer_suboptimality <= TOL


def peer_table(rows: Sequence[PeerRow]) -> Table:
    """Training time and top-k accuracy of one model per row, beside scikit-learn's."""
    shown = [
        (
            r.name,
            f"{r.C:g}",
            number(r.gap),
            number(r.seconds),
            " ".join(f"{v:.1f}" for v in r.test),
            Cell(number(r.peer_suboptimality), "" if reached(r) else "bad"),
            number(r.peer_seconds) if reached(r) else f"> {number(r.peer_seconds)}",
            " ".join(f"{v:.1f}" for v in r.peer_test),
        )
        for r in rows
    ]
    tops = "/".join(map(str, TOP))
    columns = ("method", "C", "gap", "s", f"top-{tops}", "LinearSVC subopt.", "s", f"top-{tops}")
    note = (
        'LinearSVC(multi_class="crammer_singer", fit_intercept=False) minimises the objective of the first row; '
        "its tolerance was loosened until its true suboptimality just stays within the gap asked of ours. "
        "Where it is never reached, the time has a > and is a lower bound. LinearSVC was fitted once, alone; "
        "in `verify --all` our seconds come from one of two workers that share the machine."
    )
    title = (
        "Time of one fit beside what a user would pick instead (of the chosen C the one nearest 1)"
    )
    return table(title, columns, shown, columns[1:], note)


def row_data(result: RowResult) -> dict[str, object]:
    """Plain numbers of one row."""
    readings = {"train_and_validation": result.final, "train": result.chosen}
    return {
        "method": result.row.name,
        "loss": asdict(result.row.loss),
        "top": list(result.row.top),
        "paper": list(result.row.paper),
        **{
            name: {
                "C": [fit.C for fit in chosen],
                "test": list(column_accuracies(chosen)),
                "deviation": list(deviations(column_accuracies(chosen), result.row.paper)),
                "gap": [fit.gap for fit in chosen],
            }
            for name, chosen in readings.items()
        },
        "seconds": result.seconds,
        "fits": [asdict(fit) for fit in (*result.fits, *result.refits.values())],
    }


def document(
    results: Sequence[RowResult], tol: float, followed: Sequence[Stops] = (), of: int = 3
) -> Document:
    """Both tables, every fit behind them, and what becomes of the truncated rows from other starts."""
    ok = bool(results) and all(passed(r, tol) for r in results)
    blocks = accuracy_tables(results, tol)
    if followed:
        blocks.append(starts_table(followed))
    data = {
        "rows": [row_data(r) for r in results],
        "starts": [
            {"method": s.row.name, "C": s.C, "points": [asdict(p) for p in s.found]}
            for s in followed
        ],
    }
    return Document(f"Lapin et al. 2016, Table {of}, Letter", tuple(blocks), ok, data)
