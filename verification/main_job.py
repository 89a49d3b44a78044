"""The main job: every stem judged, fast trainers against the oracle, then real data in the papers' protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verification.benchmarks import letter
from verification.benchmarks.letter_report import accuracy_table, passed, peer_table, row_data
from verification.kit import verify
from verification.problems import fast_candidate, names
from verification.report import (
    Block,
    Cell,
    Document,
    Paragraph,
    Table,
    failure_blocks,
    number,
    table,
    tally,
)
from verification.stems import Stem, discover
from verification.trainers import verify_trainer
from verification.verdicts import Report, Verdict

if TYPE_CHECKING:
    from verification.console import Task

#: Certified relative duality gap asked of every model on Letter, as in the papers.
TOL = 1e-3


def main_job(profile: str, seed: int, task: Task) -> tuple[Document, list[Report]]:
    """Run everything; the document is positive only if all of it is.

    Parameters
    ----------
    profile, seed : passed to `verification.kit.verify`.
    task : progress bar to move.

    Returns
    -------
    document : Document
    reports : list of Report, one per problem that `fast` implements.
    """
    stems = discover()
    problems = [name for name in names() if fast_candidate(name) is not None]
    total = len(problems) + 1 + len(letter.ROWS) * len(letter.GRID) + 1
    reports = []
    for done, name in enumerate(problems):
        task.at(done, name, total)
        reports.append(verify(None, name, profile, seed))
    task.at(len(problems), "trainers", total)
    reports.append(verify_trainer(profile, seed))
    task.at(len(problems) + 1, "Letter", total)
    parts = letter.load_parts()
    results = [letter.run_row(parts, row, letter.GRID, TOL, step=task.step) for row in letter.ROWS]
    task.describe("LinearSVC")
    peers = letter.against_peer(parts, results, TOL)
    task.step()

    missing = [s.name for s in stems if not s.complete]
    blocks: list[Block] = [
        stem_table(stems, reports),
        accuracy_table(results, TOL),
        peer_table(peers),
    ]
    blocks += [block for report in reports for block in failure_blocks(report)]
    blocks += [
        Paragraph(f"{name} is declared in refsolve and has no twin in fast", "bad")
        for name in missing
    ]
    ok = (
        bool(reports)
        and all(report.ok for report in reports)
        and not missing
        and bool(results)
        and all(passed(result, TOL) for result in results)
    )
    data = {
        "problems": [report.to_dict() for report in reports],
        "missing": missing,
        "letter": [row_data(result) for result in results],
        "peer": [peer.to_dict() for peer in peers],
    }
    return Document("refsolve verify --all", tuple(blocks), ok, data), reports


def stem_table(stems: Sequence[Stem], reports: Sequence[Report]) -> Table:
    """One row per stem: what was tried on all its operations, and the worst of it."""
    rows: list[tuple[str | Cell, ...]] = []
    for stem in stems:
        mine = [r for r in reports if r.problem.rpartition(".")[0] == stem.name]
        operations = ", ".join(r.problem.rpartition(".")[2] for r in mine)
        if not mine:
            mark = Cell("oracle only", "dim") if stem.oracle_only else Cell("-", "dim")
            rows.append((stem.name, operations, "-", "-", "-", "-", "", mark))
            continue
        counts: dict[str, int] = {v.value: sum(r.counts[v.value] for r in mine) for v in Verdict}
        instances = len({x.instance for r in mine for x in r.results if x.instance is not None})
        good = all(r.ok for r in mine)
        rows.append(
            (
                stem.name,
                operations,
                str(instances),
                str(sum(r.checked for r in mine)),
                number(_worst(r.worst_gap for r in mine)),
                number(_worst(r.worst_distance for r in mine)),
                tally(counts),
                Cell("pass", "good") if good else Cell("FAIL", "bad"),
            )
        )
    columns = (
        "stem",
        "operations",
        "instances",
        "judged",
        "worst gap",
        "worst distance",
        "verdicts",
        "",
    )
    return table("Oracle against fast", columns, rows, columns[2:6])


def _worst(values: Any) -> float | None:
    return max((v for v in values if v is not None), default=None)
