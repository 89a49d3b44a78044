"""The SVM+ benchmark's figures as a document, each beside its target."""

from collections.abc import Sequence

from verification.benchmarks import svmplus_precision, svmplus_training, targets
from verification.benchmarks.svmplus_precision import Error
from verification.benchmarks.svmplus_training import Timing
from verification.benchmarks.targets import mark
from verification.report.document import Block, Cell, Document, Table, number, table


def document(timings: Sequence[Timing], errors: Sequence[Error], strict: bool) -> Document:
    """Training and the deformed kernel; with ``strict`` a missed target makes it negative."""
    blocks: list[Block] = []
    if timings:
        blocks.append(training_table(timings))
    if errors:
        blocks.append(precision_table(errors))
    measured = {"training": timings, "precision": errors}
    return targets.document("Benchmark of SVM+, one thread", strict, blocks, measured)


def training_table(timings: Sequence[Timing]) -> Table:
    """Ours against each peer."""
    limit = svmplus_training.GAP
    rows = [
        (
            t.problem,
            t.peer,
            number(t.seconds, 3),
            Cell(number(t.gap), "" if t.gap <= limit else "bad"),
            number(t.peer_seconds, 3),
            number(t.peer_gap),
            number(t.ratio, 2),
            f">= {t.target:g}" if t.target else "",
            mark(t.reached) if t.target else Cell(""),
        )
        for t in timings
    ]
    columns = ("problem", "against", "s", "gap", "s there", "gap there", "times faster", "target", "")  # fmt: skip
    note = (
        "CPU seconds, medians; ratios: medians over pairs of runs in turns. Gaps: largest relative duality gap, "
        "recomputed outside the clock by formulas. C = lam = 1 unless it says otherwise; linear: d = 50, s = 20; "
        "classes: d = 4096, s = 2000, Z the same within a class, kernels made inside the clock, and LIBSVM timed on "
        f"{svmplus_training.TIMED} classes, its seconds multiplied up. LIBSVM stops after "
        f"{svmplus_training.MAX_STEPS:,} steps; its kernel is float32. LinearSVC solves another problem, without Z."
    )
    title = f"SVM2+ to a certified relative gap of {limit:g}"
    return table(title, columns, rows, columns[2:8], note)


def precision_table(errors: Sequence[Error]) -> Table:
    """Errors of Q over C/lam."""
    rows = [
        (
            f"1e{e.power}",
            number(e.features),
            number(e.kernel),
            Cell(number(e.printed), "" if e.printed <= svmplus_precision.LIMIT else "warn"),
            mark(e.reached),
        )
        for e in errors
    ]
    columns = ("C/lam", "from Z", "from an RBF kernel", "(5) as printed", "")
    note = (
        f"Largest error over largest entry, against fractions; n = {svmplus_precision.N}, s = {svmplus_precision.S}; "
        f"target: at most {svmplus_precision.LIMIT:g}. As printed: with the inverse that (5) asks for."
    )
    return table("Error of the deformed kernel Q", columns, rows, columns[:4], note)
