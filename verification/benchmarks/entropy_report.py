"""The benchmark of the entropy losses as a document, each figure beside its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from verification.benchmarks import entropy, entropy_rows
from verification.benchmarks.topk_report import against, beside, mark
from verification.report.document import Block, Document, Table, number, table


def document(
    trained: Sequence[entropy.Case], rows: Sequence[entropy_rows.Timing], strict: bool
) -> Document:
    """Three tables; with ``strict`` a missed target makes the document negative."""
    blocks: list[Block] = []
    if trained:
        blocks += [softmax_table(trained), topk_table(trained)]
    if rows:
        blocks.append(rows_table(rows))
    reached = all(c.softmax_reached and c.topk_reached for c in trained)
    reached = reached and all(t.reached for t in rows)
    data = {
        "training": [
            {**asdict(c), "softmax_reached": c.softmax_reached, "topk_reached": c.topk_reached}
            for c in trained
        ],
        "rows": [{**asdict(t), "reached": t.reached} for t in rows],
        "all_reached": reached,
    }
    title = "Benchmark of the entropy losses, one thread"
    return Document(title, tuple(blocks), reached if strict else None, data)


def softmax_table(cases: Sequence[entropy.Case]) -> Table:
    """Softmax against LogisticRegression at the same true suboptimality."""
    note = (
        "lbfgs: scikit-learn's LogisticRegression(fit_intercept=False) at the loosest tolerance that attains the "
        "same true suboptimality; where none does, its time is a lower bound. Speed-up: median of the ratios of "
        "pairs. Gaps are recomputed from weights and dual, outside the clock."
    )
    title = f"Softmax to a certified relative gap of {entropy.SOFTMAX_GAP:g}"
    return against("lbfgs", cases, "softmax", entropy.PEER_FACTOR, title, note)


def topk_table(cases: Sequence[entropy.Case]) -> Table:
    """Top-5 entropy against our own softmax."""
    title = f"Top-{entropy.K} entropy (alpha) to a certified relative gap of {entropy.TOPK_GAP:g}"
    note = f"Times softmax: softmax as above, to {entropy.SOFTMAX_GAP:g}."
    factors = dict.fromkeys(entropy.PEER_FACTOR, entropy.TOPK_FACTOR)
    return beside("softmax", cases, "topk", factors, title, note)


def rows_table(timings: Sequence[entropy_rows.Timing]) -> Table:
    """Value and prox of long rows."""
    rows = [
        (
            t.stem,
            str(t.m),
            "-" if t.k is None else str(t.k),
            number(t.value, 3),
            f"{t.exp_ratio:.2f}",
            number(t.prox, 3),
            f"{t.entries_per_second / 1e6:.1f}",
            number(t.oracle_ratio),
            mark(t.reached),
        )
        for t in timings
    ]
    columns = (
        "loss", "m", "k", "value s", "times numpy.exp", "prox s", "million entries/s", "oracle / ours", "",
    )  # fmt: skip
    note = (
        f"Targets: value at most {entropy_rows.EXP_LIMIT:g} times numpy.exp of the same rows; prox at least "
        f"{entropy_rows.ENTRIES / 1e6:g} million entries a second and {entropy_rows.ORACLE_LIMIT:g} times as fast "
        "as Clarabel through CVXPY (compiled before the clock starts)."
    )
    return table(f"Value and prox of {entropy_rows.ROWS} rows", columns, rows, columns[1:8], note)
