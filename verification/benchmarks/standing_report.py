"""The standing benchmark's record: lines that survive an interruption, tables, a profile, what got slower."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from verification.benchmarks.standing import AUTO, LOSSES, Run, measure
from verification.errors import InvalidArgumentError
from verification.report.document import Block, Cell, Document, Paragraph, number, table
from verification.report.lines import Lines

NEVER_MORE = 1.5  # times the best of all that "auto" may take
REFUSED = "InvalidParameterError"
NOTABLE = 5e-3  # seconds below which a difference is no difference


def read(path: Path) -> list[Run]:
    """The runs of a record, a JSON array a line.

    Raises
    ------
    InvalidArgumentError
        A file that is no record.
    """
    try:
        return [Run(*row) for row in Lines(path)]
    except (OSError, ValueError, TypeError) as error:
        raise InvalidArgumentError(
            f"{path}: expected a record of this benchmark ({error})"
        ) from error


def collect(
    path: Path, problems: Sequence[tuple[str, str, float]], limit: float,
    say: Callable[[Run], None], step: Callable[[], None],
) -> list[Run]:  # fmt: skip
    """Measure what the record lacks, a line per result as soon as it is there."""
    runs = read(path) if path.exists() else []
    known: set[tuple] = {run[:5] for run in runs}
    for data, loss, C in problems:
        for run in measure(data, loss, C, limit, known):
            Lines(path).add(run)
            runs.append(run)
            say(run)
        step()
    return runs


class Standing(NamedTuple):
    """One cell: "auto", the fastest of our solvers, the fastest peer."""

    auto: Run
    ours: Run | None
    peer: Run | None
    peers: int

    @property
    def behind(self) -> float:
        """Times the best of all that "auto" took; infinity if it did not get there."""
        if self.auto.seconds is None:
            return float("inf")
        best = [run.seconds for run in (self.ours, self.peer) if run is not None and run.seconds]
        return max(self.auto.seconds, NOTABLE) / max(min(best), NOTABLE)

    @property
    def ahead(self) -> float | None:
        """Times "auto" that the fastest peer took; infinity if none got there."""
        if not self.peers or self.auto.seconds is None:
            return None
        return float("inf") if self.peer is None else (self.peer.seconds or 0.0) / self.auto.seconds


def standings(runs: Sequence[Run]) -> list[Standing]:
    """Every cell in which "auto" was measured, in order."""
    cells: dict[tuple, list[Run]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    found = []
    for own in cells.values():
        auto = next((run for run in own if run.solver == AUTO), None)
        if auto is None or auto.why.startswith(REFUSED):  # k = 5 of three classes
            continue
        theirs = LOSSES[auto.loss].peers
        ended = sorted(
            (run for run in own if run.seconds is not None), key=lambda r: r.seconds or 0.0
        )
        ours = next((run for run in ended if run.solver not in theirs), None)
        peer = next((run for run in ended if run.solver in theirs), None)
        found.append(Standing(auto, ours, peer, sum(run.solver in theirs for run in own)))
    return found


def regressions(now: Sequence[Run], before: Sequence[Run]) -> list[tuple[Run, float]]:
    """Cells of "auto" that got slower by more than `NEVER_MORE`, machines' speeds set aside."""
    earlier = {run.cell: run for run in before if run.solver == AUTO}
    both = [(run, earlier[run.cell]) for run in now if run.solver == AUTO and run.cell in earlier]
    lost = [(run, float("inf")) for run, then in both if run.seconds is None and then.seconds]
    ratios = [
        (run, max(run.seconds, NOTABLE) / max(then.seconds, NOTABLE))
        for run, then in both
        if run.seconds and then.seconds
    ]
    usual = median(ratio for _, ratio in ratios) if ratios else 1.0
    return lost + [(run, ratio / usual) for run, ratio in ratios if ratio > NEVER_MORE * usual]


def document(runs: Sequence[Run], before: Sequence[Run] | None = None) -> Document:
    """A table per loss and accuracy, what holds of all, and what got slower than ``before``."""
    cells, blocks = standings(runs), []
    for name, loss in LOSSES.items():
        for accuracy in sorted({cell.auto.accuracy for cell in cells}, reverse=True):
            own = [c for c in cells if (c.auto.loss, c.auto.accuracy) == (name, accuracy)]
            if own:
                blocks.append(_table(f"{name} to {accuracy:g}", own, bool(loss.peers)))
    certified = sum(cell.auto.seconds is not None for cell in cells)
    held = sum(cell.behind <= NEVER_MORE for cell in cells)
    rivals = [cell.ahead or 0.0 for cell in cells if cell.peers]
    text = (
        f"{certified} of {len(cells)} fits of 'auto' are certified in time; "
        f"{held} take at most {NEVER_MORE:g} times the best of all."
    )
    if rivals:
        ahead = sum(ratio >= 1.0 for ratio in rivals)
        text += f" Where there are peers, {ahead} of {len(rivals)} are ahead of every one."
    slower = [] if before is None else regressions(runs, before)
    shown: list[Block] = [Paragraph(text), *blocks]
    if before is not None:
        rows = [(r.data, r.loss, f"{r.C:g}", f"{r.accuracy:g}", _times(t)) for r, t in slower]
        columns = ("data", "loss", "C", "to", "times")
        shown.append(table("Slower than before", columns, rows, columns[2:]))
    data = {"cells": len(cells), "certified": certified, "held": held, "slower": len(slower)}
    return Document("Standing benchmark, one thread", tuple(shown), None, data)


def _times(ratio: float) -> str:
    return "never" if ratio == float("inf") else f"{ratio:.2f}"


def _table(title: str, cells: Sequence[Standing], rivals: bool) -> Block:
    rows: list[tuple[str | Cell, ...]] = []
    for cell in cells:
        run, peer = cell.auto, cell.peer
        own = Cell(run.why, "bad") if run.seconds is None else number(run.seconds, 3)
        behind = Cell(_times(cell.behind), "bad" if cell.behind > NEVER_MORE else "")
        row: tuple[str | Cell, ...] = (run.data, f"{run.C:g}", own, behind)
        if rivals:
            ahead = "" if cell.ahead is None else _times(cell.ahead)
            tone = "bad" if cell.ahead is not None and cell.ahead < 1.0 else ""
            row += (
                peer.solver if peer else "none in time" if cell.peers else "",
                Cell(ahead, tone),
            )
        rows.append(row)
    columns: tuple[str, ...] = ("data", "C", "seconds", "times the best of all")
    columns += ("best peer", "its time over ours") if rivals else ()
    return table(title, columns, rows, columns[1:4])


def profile(runs: Sequence[Run], loss: str) -> dict[str, list[float]]:
    """By solver: its time over the best of the cell, sorted, infinity where it did not get there.

    Cells that a solver is not for, and says so, are not among its own.
    """
    own = [r for r in runs if r.loss == loss and not r.why.startswith(REFUSED)]
    best: dict[tuple, float] = {}
    for run in own:
        if run.seconds is not None:
            best[run.cell] = min(best.get(run.cell, float("inf")), run.seconds)
    found: dict[str, list[float]] = {}
    for run in own:
        if run.cell in best:
            ratio = float("inf") if run.seconds is None else run.seconds / best[run.cell]
            found.setdefault(run.solver, []).append(ratio)
    return {name: sorted(ratios) for name, ratios in found.items()}


def draw(runs: Sequence[Run], figure: Any) -> None:
    """Performance profiles: the share of cells within so many times the best; a loss of several solvers each."""
    from matplotlib import colormaps

    measured = {run.loss for run in runs}
    losses = {name: own for name, own in LOSSES.items() if name in measured and own.solvers}
    columns = min(len(losses), 3)
    figure.set_size_inches(9.6, 0.8 + 2.3 * -(-len(losses) // columns))
    grid = figure.subplots(-(-len(losses) // columns), columns, sharey=True, squeeze=False)
    named = dict.fromkeys(name for own in losses.values() for name in (*own.solvers, *own.peers))
    colours: dict[str, Any] = {name: colormaps["tab20"](i % 20) for i, name in enumerate(named)}
    colours[AUTO] = "black"
    drawn: dict[str, Any] = {}
    for panel in grid.flat[len(losses) :]:
        panel.set_axis_off()
    for panel, (loss, own) in zip(grid.flat, losses.items(), strict=False):
        for solver, ratios in profile(runs, loss).items():
            reached = [ratio for ratio in ratios if ratio < 1e6]
            shares = [(i + 1) / len(ratios) for i in range(len(reached))]
            style = {
                "lw": 2.5 if solver == AUTO else 1.2,
                "ls": "--" if solver in own.peers else "-",
            }
            line = panel.step(
                [*reached, 1e3], [*shares, (shares or [0.0])[-1]], where="post", color=colours[solver], **style
            )  # fmt: skip
            drawn.setdefault(solver, line[0])
        panel.set(xscale="log", xlim=(1.0, 1e3), ylim=(0.0, 1.02), xlabel="times the best")
        panel.set_title(loss, fontsize=10)
    for row in grid:
        row[0].set_ylabel("share of cells")
    figure.legend(
        drawn.values(), drawn, loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )
