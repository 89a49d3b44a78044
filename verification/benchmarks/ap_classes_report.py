"""The AP tables as a document: test AP per class, who wins, what inference costs, the certificates."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from verification.benchmarks import ap_paper
from verification.benchmarks.ap_calls import Cost
from verification.benchmarks.ap_classes import BASE, ClassResult
from verification.benchmarks.targets import pictures
from verification.report.document import Block, Cell, Document, Table, number, table

#: Differences of test AP in points below which two methods count as equal.
EQUAL = 0.1


def document(
    results: Sequence[ClassResult],
    costs: Mapping[tuple[str, str], Sequence[Cost]],
    tol: float,
    written: Sequence[str] = (),
) -> Document:
    """All tables; positive iff every reported model is certified to ``tol``.

    ``costs`` are by data set and class.
    """
    blocks: list[Block] = []
    for dataset in dict.fromkeys(r.dataset for r in results):
        mine = [r for r in results if r.dataset == dataset]
        blocks += [ap_table(dataset, mine), duel_table(dataset, mine)]
        timed = [found for (data, _), found in costs.items() if data == dataset]
        if timed:
            blocks.append(cost_table(dataset, timed))
        blocks.append(certificate_table(dataset, mine, tol))
    blocks.append(paper_table())
    blocks += pictures(written)
    ok = bool(results) and all(r.worst_gap <= tol for r in results)
    data: dict[str, Any] = {
        "tol": tol,
        "classes": [asdict(r) for r in results],
        "summary": [summary(d, results) for d in dict.fromkeys(r.dataset for r in results)],
        "inference": [
            {"dataset": d, "class": name, "methods": [asdict(c) for c in found]}
            for (d, name), found in costs.items()
        ],
        "paper": {
            "test_ap": ap_paper.TEST_AP,
            "seconds": ap_paper.SECONDS,
            "milliseconds": ap_paper.MILLISECONDS,
        },
        "pictures": list(written),
    }
    title = "Mohapatra et al. 2014, Tables 1-3, on Letter and digits"
    return Document(title, tuple(blocks), ok, data, "every model is certified")


def test_aps(results: Sequence[ClassResult]) -> dict[str, np.ndarray]:
    """Test AP in percent by method, one entry per class."""
    return {
        name: np.array([100 * r.chosen[name].test for r in results]) for name in results[0].chosen
    }


def summary(dataset: str, results: Sequence[ClassResult]) -> dict[str, Any]:
    """Mean test AP by method."""
    mine = [r for r in results if r.dataset == dataset]
    return {"dataset": dataset, "mean": {m: float(a.mean()) for m, a in test_aps(mine).items()}}


def ap_table(dataset: str, results: Sequence[ClassResult]) -> Table:
    """Test AP in percent, a row per class; the best of each row marked."""
    methods = test_aps(results)
    rows: list[tuple[str | Cell, ...]] = []
    for i, r in enumerate(results):
        values = [a[i] for a in methods.values()]
        cells = [Cell(f"{v:.1f}", "good" if v >= max(values) - 0.05 else "") for v in values]
        rows.append((r.name, f"{r.positives} of {r.n}", *cells))
    means = [a.mean() for a in methods.values()]
    rows.append(
        ("mean", "", *(Cell(f"{v:.2f}", "good" if v >= max(means) - 0.005 else "") for v in means))
    )
    columns = ("class", "positives", *methods)
    note = (
        "C per class and method by validation AP; model of the training part. The AP-SVM column is that of every "
        "exact inference method. Green: the best of the row. Ties of scores counted against."
    )
    return table(f"{dataset}: test AP in percent", columns, rows, columns[1:], note)


def duel_table(dataset: str, results: Sequence[ClassResult]) -> Table:
    """The AP-SVM against each other method: where it is better and where not."""
    methods = test_aps(results)
    names = np.array([r.name for r in results])
    rows: list[tuple[str, ...]] = []
    for method, other in methods.items():
        if method == BASE or BASE not in methods:
            continue
        ahead = methods[BASE] - other
        order = np.argsort(-ahead)
        best = [f"{names[i]} {ahead[i]:+.1f}" for i in order[:4] if ahead[i] > EQUAL]
        worst = [f"{names[i]} {ahead[i]:+.1f}" for i in order[::-1][:4] if ahead[i] < -EQUAL]
        won, lost = int(np.sum(ahead > EQUAL)), int(np.sum(ahead < -EQUAL))
        rows.append(
            (
                method,
                f"{ahead.mean():+.2f}",
                f"{np.median(ahead):+.2f}",
                f"{won} / {len(ahead) - won - lost} / {lost}",
                ", ".join(best),
                ", ".join(worst),
            )
        )
    columns = ("AP-SVM against", "mean", "median", "better / equal / worse", "most ahead", "most behind")  # fmt: skip
    note = f"Differences of test AP in points; equal: within {EQUAL:g}."
    title = f"{dataset}: where AP-SVM helps, and where it does not"
    return table(title, columns, rows, columns[1:4], note)


def cost_table(dataset: str, costs: Sequence[Sequence[Cost]]) -> Table:
    """Tables 2 and 3: inference in a whole training and per call, means over the classes."""
    by_method: dict[str, list[Cost]] = {}
    for found in costs:
        for cost in found:
            by_method.setdefault(cost.method, []).append(cost)
    totals = {m: float(np.mean([c.seconds for c in found])) for m, found in by_method.items()}
    rows: list[tuple[str, ...]] = []
    for method, found in by_method.items():
        calls = sum(c.calls for c in found)
        each = sum(c.seconds for c in found) / calls
        paper = method if method in ap_paper.SECONDS else None
        rows.append(
            (
                method.replace("_", " "),
                f"{calls / len(found):.0f}",
                number(1e3 * totals[method], 3),
                number(1e3 * each, 3),
                f"{totals['greedy'] / totals[method]:.1f}" if "greedy" in totals else "-",
                f"{1e3 * ap_paper.SECONDS[paper]:.1f}" if paper else "-",
                f"{ap_paper.MILLISECONDS[paper]:.3f}" if paper else "-",
                f"{ap_paper.SECONDS['greedy'] / ap_paper.SECONDS[paper]:.1f}" if paper else "-",
            )
        )
    columns = ("inference", "calls", "ms a training", "ms a call", "greedy / method",
               "paper: ms a training", "ms a call ", "greedy / method ")  # fmt: skip
    note = (
        "Means over the classes, at the C chosen for each. Every exact method ran on the scores that one training "
        "asked its oracle at, in turns, and returned the same rankings. APPX: the greedy on the difficult examples. "
        "Paper: Tables 2 and 3, on other data and another machine, with a trainer that calls the oracle more often."
    )
    return table(f"{dataset}: time of inference", columns, rows, columns[1:], note)


def certificate_table(dataset: str, results: Sequence[ClassResult], tol: float) -> Table:
    """Worst certified gap, chosen C, oracle calls and seconds of training per method."""
    grid = sorted({fit.C for r in results for fit in r.fits})
    rows: list[tuple[str | Cell, ...]] = []
    for method in results[0].chosen:
        chosen = [r.chosen[method] for r in results]
        gap = max(fit.gap for fit in chosen if fit.gap is not None)
        calls = [fit.calls for fit in chosen if fit.calls is not None]
        Cs = [fit.C for fit in chosen]
        edge = sum(method in r.at_edge for r in results)
        rows.append(
            (
                method,
                Cell(number(gap), "" if gap <= tol else "bad"),
                f"{min(Cs):g} / {np.median(Cs):g} / {max(Cs):g}",
                str(edge),
                f"{np.median(calls):.0f}" if calls else "-",
                number(float(np.median([fit.seconds for fit in chosen]))),
                number(sum(f.seconds for r in results for f in r.fits if f.method == method)),
            )
        )
    columns = (
        "method", "worst gap", "C: least / median / largest", "at an edge", "calls", "s a fit", "s in all",
    )  # fmt: skip
    note = (
        f"Relative duality gaps recomputed from the formulas, outside the trainers; asked: {tol:g}. Grid of C: "
        f"{', '.join(f'{C:g}' for C in grid)}; all objectives are 1/2 ||w||^2 + C times a mean loss. The ramp is not "
        "convex: its gap certifies the last convex step. Calls and seconds: medians of the chosen fits; two "
        "workers share the machine."
    )
    return table(f"{dataset}: certificates", columns, rows, columns[1:], note)


def paper_table() -> Table:
    """The paper's Table 1."""
    rows = [(name, *(f"{v:.1f}" for v in values)) for name, values in ap_paper.TEST_AP.items()]
    rows.append(("mean", *(f"{v:.2f}" for v in ap_paper.means())))
    columns = ("class", *ap_paper.COLUMNS)
    note = "For context: other data, C by 5-fold cross-validation, no logistic regression in the comparison."
    title = "As printed, PASCAL VOC 2011 action classes: test AP in percent (Mohapatra et al. 2014, Table 1)"
    return table(title, columns, rows, columns[1:], note)
