"""The benchmark's figures as a document, each beside its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

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


def hinge_table(cases: Sequence[topk.Case]) -> Table:
    """The multiclass hinge against LinearSVC at the same true suboptimality."""
    rows = [
        (
            c.dataset,
            f"{c.C:g}",
            number(c.hinge, 3),
            number(c.hinge_gap),
            number(c.peer, 3),
            number(c.peer_suboptimality),
            f"{c.peer_ratio:.2f}",
            f">= {topk.PEER_FACTOR[c.dataset]:g}",
            mark(c.hinge_reached),
        )
        for c in cases
    ]
    columns = ("data", "C", "ours s", "gap", "LinearSVC s", "subopt.", "speed-up", "target", "")
    note = (
        "Speed-up: median of the ratios of pairs. Where LinearSVC stays above the wanted suboptimality even at its "
        "tightest tolerance, its time there is a lower bound of what it would need."
    )
    title = f"Multiclass hinge to a certified relative gap of {topk.HINGE_GAP:g}"
    return table(title, columns, rows, columns[1:8], note)


def smooth_table(cases: Sequence[topk.Case]) -> Table:
    """The smooth top-5 hinge against our own multiclass hinge."""
    rows = [
        (
            c.dataset,
            f"{c.C:g}",
            number(c.smooth, 3),
            number(c.smooth_gap),
            f"{c.smooth_ratio:.2f}",
            f"<= {topk.SMOOTH_FACTOR[c.dataset]:g}",
            mark(c.smooth_reached),
        )
        for c in cases
    ]
    columns = ("data", "C", "seconds", "gap", "times the hinge", "target", "")
    title = f"Smooth top-5 hinge, gamma = 1, to {topk.SMOOTH_GAP:g}"
    return table(title, columns, rows, columns[1:6])


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
