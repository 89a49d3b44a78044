"""The benchmark's figures as a document, each beside its target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from verification.benchmarks import projections as proj
from verification.benchmarks import topk
from verification.report.document import Block, Cell, Document, Table, number, table


def document(
    trained: Sequence[topk.Case], projected: Sequence[proj.Timing], strict: bool
) -> Document:
    """Three tables; with ``strict`` a missed target makes the document negative."""
    blocks: list[Block] = []
    if trained:
        blocks += [hinge_table(trained), smooth_table(trained)]
    if projected:
        blocks.append(projection_table(projected))
    reached = all(c.hinge_reached and c.smooth_reached for c in trained) and all(
        t.reached for t in projected
    )
    data = {
        "training": [
            {**asdict(c), "hinge_reached": c.hinge_reached, "smooth_reached": c.smooth_reached}
            for c in trained
        ],
        "projections": [{**asdict(t), "reached": t.reached} for t in projected],
        "all_reached": reached,
    }
    return Document("Top-k benchmark, one thread", tuple(blocks), reached if strict else None, data)


def mark(reached: bool) -> Cell:
    """Whether a target was reached."""
    return Cell("reached", "good") if reached else Cell("missed", "bad")


def against(
    peer: str, cases: Sequence[Any], ours: str, factors: Mapping[str, float], title: str, note: str
) -> Table:
    """The loss named ``ours`` against the peer at the same true suboptimality."""
    rows: list[tuple[str | Cell, ...]] = [
        (
            *_own(c, ours),
            number(c.peer, 3),
            number(c.peer_suboptimality),
            f"{c.peer_ratio:.2f}",
            f">= {factors[c.dataset]:g}",
            mark(getattr(c, f"{ours}_reached")),
        )
        for c in cases
    ]
    columns = ("data", "C", "ours s", "gap", f"{peer} s", "subopt.", "speed-up", "target", "")
    return table(title, columns, rows, columns[1:8], note)


def beside(
    cheap: str, cases: Sequence[Any], ours: str, factors: Mapping[str, float], title: str, note: str
) -> Table:
    """The loss named ``ours`` beside our own cheaper one."""
    rows: list[tuple[str | Cell, ...]] = [
        (
            *_own(c, ours),
            f"{getattr(c, f'{ours}_ratio'):.2f}",
            f"<= {factors[c.dataset]:g}",
            mark(getattr(c, f"{ours}_reached")),
        )
        for c in cases
    ]
    columns = ("data", "C", "seconds", "gap", f"times {cheap}", "target", "")
    return table(title, columns, rows, columns[1:6], note)


def _own(case: Any, ours: str) -> tuple[str, ...]:
    seconds, gap = getattr(case, ours), getattr(case, f"{ours}_gap")
    return case.dataset, f"{case.C:g}", number(seconds, 3), number(gap)


def hinge_table(cases: Sequence[topk.Case]) -> Table:
    """The multiclass hinge against LinearSVC at the same true suboptimality."""
    note = (
        "Speed-up: median of the ratios of pairs. Where LinearSVC stays above the wanted suboptimality even at its "
        "tightest tolerance, its time there is a lower bound of what it would need."
    )
    title = f"Multiclass hinge to a certified relative gap of {topk.HINGE_GAP:g}"
    return against("LinearSVC", cases, "hinge", topk.PEER_FACTOR, title, note)


def smooth_table(cases: Sequence[topk.Case]) -> Table:
    """The smooth top-5 hinge against our own multiclass hinge."""
    title = f"Smooth top-5 hinge, gamma = 1, to {topk.SMOOTH_GAP:g}"
    return beside("the hinge", cases, "smooth", topk.SMOOTH_FACTOR, title, "")


def projection_table(timings: Sequence[proj.Timing]) -> Table:
    """Projections against numpy.sort and the oracle."""
    rows = [
        (
            t.stem,
            str(t.m),
            "-" if t.k is None else str(t.k),
            number(t.seconds, 3),
            f"{t.sort_ratio:.2f}",
            number(t.oracle_ratio),
            mark(t.reached),
        )
        for t in timings
    ]
    columns = ("set", "m", "k", "seconds", "times numpy.sort", "oracle / ours", "")
    note = (
        f"Targets: at most {proj.SORT_LIMIT:g} times numpy.sort(axis=1) from m = 100 on, "
        f"and the oracle at least {proj.ORACLE_LIMIT:g} times slower."
    )
    return table(f"Projection of {proj.ROWS} rows", columns, rows, columns[1:6], note)
