"""The Letter table as a document: our accuracies, the paper's, the deviation, the certificates."""

from __future__ import annotations

from collections.abc import Sequence

from verification.benchmarks.letter import TOP, PeerRow, RowResult
from verification.report import Block, Cell, Document, Table, number, table

#: Accepted deviation from the printed accuracy, in points.
POINTS = 0.6


def passed(result: RowResult, tol: float) -> bool:
    """Every chosen model is certified, and every column within `POINTS` of the paper."""
    return result.worst_gap <= tol and all(abs(d) <= POINTS for d in result.deviation)


def accuracy_table(results: Sequence[RowResult], tol: float) -> Table:
    """One line per method: ours / paper's per column, the worst deviation and certified gap."""
    rows: list[tuple[str | Cell, ...]] = []
    for result in results:
        cells = [
            Cell(f"{ours:.1f} / {paper:.1f}", "" if abs(ours - paper) <= POINTS else "bad")
            for ours, paper in zip(result.test, result.row.paper, strict=True)
        ]
        worst = max(result.deviation, key=abs)
        rows.append(
            (
                result.row.name,
                *cells,
                f"{worst:+.2f}",
                ", ".join(f"{fit.C:g}" for fit in result.chosen),
                number(result.worst_gap),
                f"{result.seconds:.1f}",
                Cell("pass", "good") if passed(result, tol) else Cell("FAIL", "bad"),
            )
        )
    heads = tuple(f"top-{k}" for k in TOP)
    columns = ("method", *heads, "worst dev.", "C chosen", "worst gap", "s", "")
    return table(
        "Letter: test accuracy in percent, ours / paper's Table 3",
        columns,
        rows,
        (*heads, "worst dev.", "worst gap", "s"),
        f"C per column by validation; pass: within {POINTS} points and certified to {tol:g}. s: all fits of the row.",
    )


def peer_table(rows: Sequence[PeerRow]) -> Table:
    """Training time and top-k accuracy of one model per row, beside scikit-learn's."""
    shown = [
        (
            r.name,
            f"{r.C:g}",
            number(r.gap),
            number(r.seconds),
            " ".join(f"{v:.1f}" for v in r.test),
            number(r.peer_suboptimality),
            number(r.peer_seconds),
            " ".join(f"{v:.1f}" for v in r.peer_test),
        )
        for r in rows
    ]
    tops = "/".join(map(str, TOP))
    columns = ("method", "C", "gap", "s", f"top-{tops}", "LinearSVC subopt.", "s", f"top-{tops}")
    note = (
        'LinearSVC(multi_class="crammer_singer", fit_intercept=False) minimises the objective of the first row; '
        "its tolerance was loosened until its true suboptimality just stays within the gap asked of ours."
    )
    title = "Time of one fit beside what a user would pick instead (C of the top-1 column)"
    return table(title, columns, shown, columns[1:], note)


def row_data(result: RowResult) -> dict[str, object]:
    """Plain numbers of one row."""
    return {
        "method": result.row.name,
        "k": result.row.k,
        "gamma": result.row.gamma,
        "top": list(TOP),
        "test": list(result.test),
        "paper": list(result.row.paper),
        "deviation": list(result.deviation),
        "C": [fit.C for fit in result.chosen],
        "worst_gap": result.worst_gap,
        "seconds": result.seconds,
        "fits": [
            {
                "C": fit.C,
                "gap": fit.gap,
                "seconds": fit.seconds,
                "validation": list(fit.validation),
                "test": list(fit.test),
            }
            for fit in result.fits
        ],
    }


def document(results: Sequence[RowResult], tol: float) -> Document:
    """The table, and every fit behind it."""
    blocks: list[Block] = [accuracy_table(results, tol)]
    ok = bool(results) and all(passed(r, tol) for r in results)
    return Document(
        "Lapin et al. 2016, Table 3, Letter",
        tuple(blocks),
        ok,
        {"rows": [row_data(r) for r in results]},
    )
