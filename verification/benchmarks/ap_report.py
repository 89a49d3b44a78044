"""`refsolve reproduce ap` as a document: test AP per class, what inference costs; its pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks import ap_paper, plots
from verification.benchmarks.ap_calls import Cost, interleaving_ranks, ranking_calls
from verification.benchmarks.ap_classes import BASE, ClassResult, data_of, names
from verification.benchmarks.records import Record, Section, document
from verification.report.document import Cell, Document

_AP = (
    "C per class and method by validation AP; model of the training part. The AP-SVM column is that of every "
    "exact inference method. Green: the best of the row. Ties of scores counted against."
)
_COSTS = (
    "Means over the classes, at the C chosen for each. Every exact method ran on the scores that one training "
    "asked its oracle at, in turns, and returned the same rankings. APPX: the greedy on the difficult examples. "
    "Paper: Tables 2 and 3, on other data and another machine, with a trainer that calls the oracle more often."
)
_GAPS = (
    "Relative duality gaps recomputed from the formulas, outside the trainers. All objectives are 1/2 ||w||^2 + C "
    "times a mean loss. The ramp is not convex: its gap certifies the last convex step. Calls and seconds: medians "
    "of the chosen fits; two workers share the machine. At an edge: classes whose C is the first or last of the grid."
)


def made(
    results: Sequence[ClassResult],
    costs: Mapping[tuple[str, str], Sequence[Cost]],
    tol: float,
    written: Sequence[Path] = (),
) -> Document:
    """All tables; positive iff every reported model is certified to ``tol``.

    ``costs`` are by data set and class.
    """
    sections, measured = dict[str, Section](), dict[str, Sequence[Record]]()
    for dataset in dict.fromkeys(r.dataset for r in results):
        mine = [r for r in results if r.dataset == dataset]
        timed = [found for (data, _), found in costs.items() if data == dataset]
        for title, note, records in (
            ("test AP in percent", _AP, aps(mine)),
            ("time of inference", _COSTS, cost_records(timed)),
            ("certificates", _GAPS, certificates(mine, tol)),
        ):
            section = Section(f"{dataset}: {title}", note)
            sections[section.title], measured[section.title] = section, records
    data = {
        "tol": tol,
        "classes": [asdict(r) for r in results],
        "inference": [
            {"dataset": d, "class": name, "methods": [asdict(c) for c in found]}
            for (d, name), found in costs.items()
        ],
    }
    title, good = (
        "Mohapatra et al. 2014, Tables 1-3, on Letter and digits",
        "every model is certified",
    )
    return document(title, sections, measured, pictures=written, good=good, data=data)


def ap_by_method(results: Sequence[ClassResult]) -> dict[str, np.ndarray]:
    """Test AP in percent by method, one entry per class."""
    return {
        name: np.array([100 * r.chosen[name].test for r in results]) for name in results[0].chosen
    }


def _best(values: Mapping[str, float], digits: int) -> dict[str, Cell]:
    """Values to some digits, the best of them marked."""
    top = max(values.values()) - 0.5 * 10.0**-digits
    return {n: Cell(f"{v:.{digits}f}", "good" if v >= top else "") for n, v in values.items()}


def aps(results: Sequence[ClassResult]) -> list[Record]:
    """Test AP in percent, a row per class, and the means."""
    methods = ap_by_method(results)
    found = []
    for i, r in enumerate(results):
        values = {name: float(a[i]) for name, a in methods.items()}
        share = f"{r.positives} of {r.n}"
        found.append(Record({"class": r.name, "positives": share}, dict(_best(values, 1))))
    means = {name: float(a.mean()) for name, a in methods.items()}
    return [*found, Record({"class": "mean", "positives": ""}, dict(_best(means, 2)))]


def cost_records(costs: Sequence[Sequence[Cost]]) -> list[Record]:
    """Tables 2 and 3: inference in a whole training and per call, means over the classes."""
    by_method: dict[str, list[Cost]] = {}
    for cost in (cost for found in costs for cost in found):
        by_method.setdefault(cost.method, []).append(cost)
    totals = {m: float(np.mean([c.seconds for c in found])) for m, found in by_method.items()}
    records = []
    for method, found in by_method.items():
        calls = sum(c.calls for c in found)
        seconds, each = ap_paper.TIMES.get(method, (None, None))
        greedy, printed = totals.get("greedy"), ap_paper.SECONDS["greedy"]
        figures = {
            "calls": calls / len(found),
            "ms a training": 1e3 * totals[method],
            "ms a call": 1e3 * sum(c.seconds for c in found) / calls,
            "greedy / method": None if greedy is None else greedy / totals[method],
            "paper: ms a training": seconds and 1e3 * seconds,
            "paper: ms a call": each,
            "paper: greedy / method": seconds and printed / seconds,
        }
        records.append(Record({"inference": method}, figures))
    return records


def certificates(results: Sequence[ClassResult], tol: float) -> list[Record]:
    """Worst certified gap, chosen C, oracle calls and seconds of training per method."""
    records = []
    for method in results[0].chosen:
        chosen = [r.chosen[method] for r in results]
        calls = [fit.calls for fit in chosen if fit.calls is not None]
        Cs = [fit.C for fit in chosen]
        figures = {
            "worst_gap": max(fit.gap for fit in chosen if fit.gap is not None),
            "C: least, median, largest": (min(Cs), float(np.median(Cs)), max(Cs)),
            "at_an_edge": sum(method in r.at_edge for r in results),
            "calls": float(np.median(calls)) if calls else None,
            "s_a_fit": float(np.median([fit.seconds for fit in chosen])),
            "s_in_all": sum(f.seconds for r in results for f in r.fits if f.method == method),
        }
        records.append(Record({"method": method}, figures, most={"worst_gap": tol}))
    return records


# -- pictures -------------------------------------------------------------------------------------


class Ranks(NamedTuple):
    """Interleaving ranks of the negatives in every oracle call of a training, (calls, N), ascending."""

    title: str
    P: int
    ranks: np.ndarray


def ranks_of(results: Sequence[ClassResult], tol: float) -> list[Ranks]:
    """Trainings at the chosen C of the first data set's best and median class by test AP."""
    mine = [r for r in results if r.dataset == results[0].dataset and BASE in r.chosen]
    ordered = sorted(mine, key=lambda r: -r.chosen[BASE].test)
    found = []
    for r in {r.name: r for r in (ordered[:1] + ordered[len(ordered) // 2 :][:1])}.values():
        X, y = data_of(r.dataset, names(r.dataset).index(r.name)).train
        C = r.chosen[BASE].C
        ranks = interleaving_ranks(ranking_calls(X, y, C, tol), y)
        title = f"{r.dataset} {r.name}, P = {r.positives}, C = {C:g}"
        found.append(Ranks(title, r.positives, ranks))
    return found


def write(folder: Path, ranks: Sequence[Ranks]) -> list[Path]:
    """The ranks of the negatives in a training, as in the paper's Figure 1."""
    plt = plots.pyplot()
    return plots.save(plt, heat_maps(plt, ranks), folder, "ap_ranks") if ranks else []


def heat_maps(plt: Any, ranks: Sequence[Ranks]) -> Any:
    """One panel per training: a row per oracle call, the negatives from the highest score on."""
    figure = plt.figure(figsize=(1.0 + 5.4 * len(ranks), 4.6), layout="constrained")
    panels = figure.subplots(1, len(ranks), squeeze=False)[0]
    for panel, one in zip(panels, ranks, strict=True):
        calls, N = one.ranks.shape
        style = {"aspect": "auto", "interpolation": "nearest", "cmap": "turbo", "rasterized": True}
        extent = (0, N, calls + 0.5, 0.5)
        image = panel.imshow(one.ranks / (one.P + 1), vmin=0.0, vmax=1.0, extent=extent, **style)
        edge = np.sum(one.ranks <= one.P, axis=1)  # from here on below every positive
        steps = np.arange(calls + 1) + 0.5
        panel.stairs(edge, steps, orientation="horizontal", color="white", linewidth=1.2)
        panel.set_xlim(0, N)
        panel.yaxis.get_major_locator().set_params(integer=True)
        panel.set_title(one.title, fontsize=10)
        panel.set_xlabel("negatives, by falling score")
    panels[0].set_ylabel("most violated ranking of the training")
    figure.colorbar(image, ax=list(panels), pad=0.01, label="interleaving rank / (P + 1)")
    figure.suptitle("right of the white line: negatives below every positive", fontsize=9)
    return figure
