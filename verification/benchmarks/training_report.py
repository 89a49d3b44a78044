"""The benchmarks of the top-k hinges and of the entropies as documents, each figure beside its target."""

from collections.abc import Sequence

from verification.benchmarks import entropy_rows, projections, targets
from verification.benchmarks.targets import mark
from verification.benchmarks.training import ENTROPIES, HINGES, Case
from verification.report.document import Block, Cell, Document, Table, number, table


def hinges(
    trained: Sequence[Case], projected: Sequence[projections.Timing], strict: bool
) -> Document:
    """Two tables of training and one of projections."""
    first, second = HINGES.first, HINGES.second
    blocks: list[Block] = []
    if trained:
        note = (
            "Speed-up: median of the ratios of pairs. Where LinearSVC stays above the wanted suboptimality even at its "
            "tightest tolerance, its time there is a lower bound of what it would need."
        )
        title = f"Multiclass hinge to a certified relative gap of {first.gap:g}"
        blocks.append(against("LinearSVC", trained, title, note))
        title = f"Smooth top-5 hinge, gamma = 1, to {second.gap:g}"
        blocks.append(beside("the hinge", trained, title, ""))
    if projected:
        blocks.append(projection_table(projected))
    measured = {"training": trained, "projections": projected}
    return targets.document("Top-k benchmark, one thread", strict, blocks, measured)


def entropies(
    trained: Sequence[Case], rows: Sequence[entropy_rows.Timing], strict: bool
) -> Document:
    """Two tables of training and one of long rows."""
    first, second = ENTROPIES.first, ENTROPIES.second
    blocks: list[Block] = []
    if trained:
        note = (
            "lbfgs: scikit-learn's LogisticRegression(fit_intercept=False) at the loosest tolerance that attains the "
            "same true suboptimality; where none does, its time is a lower bound. Speed-up: median of the ratios of "
            "pairs. Gaps are recomputed from weights and dual, outside the clock."
        )
        title = f"Softmax to a certified relative gap of {first.gap:g}"
        blocks.append(against("lbfgs", trained, title, note))
        k = second.options["k"]
        title = f"Top-{k} entropy (alpha) to a certified relative gap of {second.gap:g}"
        note = f"Times softmax: softmax as above, to {first.gap:g}."
        blocks.append(beside("softmax", trained, title, note))
    if rows:
        blocks.append(rows_table(rows))
    measured = {"training": trained, "rows": rows}
    return targets.document("Benchmark of the entropy losses, one thread", strict, blocks, measured)


def against(peer: str, cases: Sequence[Case], title: str, note: str) -> Table:
    """The first loss against the peer at the same true suboptimality."""
    rows: list[tuple[str | Cell, ...]] = [
        (
            c.dataset,
            f"{c.C:g}",
            number(c.first, 3),
            number(c.first_gap),
            number(c.peer, 3),
            number(c.peer_suboptimality),
            f"{c.peer_ratio:.2f}",
            f">= {c.suite.first.factors[c.dataset]:g}",
            mark(c.first_reached),
        )
        for c in cases
    ]
    columns = ("data", "C", "ours s", "gap", f"{peer} s", "subopt.", "speed-up", "target", "")
    return table(title, columns, rows, columns[1:8], note)


def beside(cheap: str, cases: Sequence[Case], title: str, note: str) -> Table:
    """The second loss beside our own first one."""
    rows: list[tuple[str | Cell, ...]] = [
        (
            c.dataset,
            f"{c.C:g}",
            number(c.second, 3),
            number(c.second_gap),
            f"{c.second_ratio:.2f}",
            f"<= {c.suite.second.factors[c.dataset]:g}",
            mark(c.second_reached),
        )
        for c in cases
    ]
    columns = ("data", "C", "seconds", "gap", f"times {cheap}", "target", "")
    return table(title, columns, rows, columns[1:6], note)


def projection_table(timings: Sequence[projections.Timing]) -> Table:
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
        f"Targets: at most {projections.SORT_LIMIT:g} times numpy.sort(axis=1) from m = 100 on, "
        f"and the oracle at least {projections.ORACLE_LIMIT:g} times slower."
    )
    return table(f"Projection of {projections.ROWS} rows", columns, rows, columns[1:6], note)


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
            f"{t.prox_exp_ratio:.1f}",
            number(t.oracle_ratio),
            mark(t.reached),
        )
        for t in timings
    ]
    columns = (
        "loss", "m", "k", "value s", "times numpy.exp", "prox s", "times numpy.exp", "oracle / ours", "",
    )  # fmt: skip
    note = (
        f"Targets: value at most {entropy_rows.EXP_LIMIT:g} times numpy.exp of the same rows; prox at most "
        f"{entropy_rows.PROX_LIMIT:g} times and {entropy_rows.ORACLE_LIMIT:g} times as fast "
        "as Clarabel through CVXPY (compiled before the clock starts)."
    )
    return table(f"Value and prox of {entropy_rows.ROWS} rows", columns, rows, columns[1:8], note)
