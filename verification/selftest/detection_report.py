"""The detection matrix as a document: grouped by problem, one column of a few letters per check."""

from itertools import groupby

from verification.report.document import Block, Cell, Code, Document, Paragraph, Table, table, tally
from verification.selftest.detection_matrix import REQUIRED
from verification.selftest.detection_rows import Matrix, Row

NOTE = (
    "A number says which instance was the first to fail; a dash, that the check found nothing; "
    "an empty cell, that it does not apply to the problem."
)


def document(matrix: Matrix) -> Document:
    """The mutants by problem, what each check kills, and the right solvers."""
    killed = len(matrix.rows) - len(matrix.survivors)
    blocks: list[Block] = [kills(matrix), per_check(matrix)]
    if matrix.right:
        blocks.append(right(matrix))
    blocks += [
        Paragraph(f"survived: {row.name} ({row.problem}): {row.defect}", "bad")
        for row in matrix.survivors
    ]
    blocks += [Code(f"{r.name} failed", r.summary, "text") for r in matrix.right if not r.ok]
    blocks.append(
        Paragraph(
            f"{killed} of {len(matrix.rows)} wrong solvers killed ({100 * matrix.share:.1f} %, "
            f"required {100 * REQUIRED[matrix.profile]:.0f} %), "
            f"{sum(r.ok for r in matrix.right)} of {len(matrix.right)} right ones passed, "
            f"{matrix.seconds:.1f} s"
        )
    )
    title = f"Detection matrix, profile {matrix.profile}, seed {matrix.seed}"
    good = "the checks catch the wrong solvers and pass the right ones"
    return Document(title, tuple(blocks), matrix.ok, matrix.to_dict(), good)


def heads(checks: tuple[str, ...]) -> dict[str, str]:
    """A short head per check: the initials of its words, as many letters as tell them apart."""
    found: dict[str, str] = {}
    for check in checks:
        words = check.split("_")
        for n in range(1, len(check) + 1):
            short = "".join(w[:n] for w in words)
            if short not in found.values() and n + len(words) > 3:
                found[check] = short
                break
    return found


def kills(matrix: Matrix) -> Table:
    """A row per mutant, a column per check."""
    short = heads(matrix.checks)
    rows: list[tuple[str | Cell, ...]] = []
    ordered = sorted(matrix.rows, key=lambda row: row.problem)
    for problem, group in groupby(ordered, key=lambda row: row.problem):
        rows.append((Cell(problem, "dim"), *("" for _ in short), ""))
        rows += [_row(row, matrix.checks) for row in group]
    legend = ", ".join(f"{s} {check}" for check, s in short.items())
    columns = ("wrong solver", *short.values(), "")
    return table("Kills", columns, rows, tuple(short.values()), note=f"{NOTE}\n{legend}")


def _row(row: Row, checks: tuple[str, ...]) -> tuple[str | Cell, ...]:
    cells = (
        Cell(str(row.cells[c]), "good") if row.cells.get(c) else "-" if c in row.cells else ""
        for c in checks
    )
    return (f"  {row.name}", *cells, "" if row.killed else Cell("SURVIVED", "bad"))


def per_check(matrix: Matrix) -> Table:
    """What each check contributes."""
    rows = [
        (
            check,
            str(sum(check in row.cells for row in matrix.rows)),
            str(matrix.killed_by(check)),
            (", ".join(matrix.only_by(check)) or "-") if matrix.complete else "not known",
        )
        for check in matrix.checks
    ]
    columns = ("check", "ran on", "kills", "only it kills")
    return table("Checks", columns, rows, ("ran on", "kills"))


def right(matrix: Matrix) -> Table:
    """The right solvers' verdicts."""
    rows = [
        (r.problem, r.name, tally(r.counts), Cell("pass", "good") if r.ok else Cell("FAIL", "bad"))
        for r in matrix.right
    ]
    return table("Right solvers", ("problem", "solver", "verdicts", ""), rows)
