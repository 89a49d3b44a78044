"""The table of `refsolve compare`: accuracies, their spread over splits, gaps, times; and its files."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from verification.app.comparing import Data, Found, Settings
from verification.app.plots import drawn
from verification.benchmarks.protocol import Row, RowResult, column_accuracies
from verification.benchmarks.records import Record, record_table
from verification.report.document import (
    Block,
    Cell,
    Document,
    Paragraph,
    Picture,
)
from verification.report.render import rendered, replace_files

REPORT = "compare"
DEEP = 20.0  # points below the reference that a picture shows
#: What parts of the papers' names of methods mean.
METHODS = {"LR": "LR logistic regression", "OVA": "OVA one against all", "Multi": "Multi all classes in one loss",
           "Ent": "Ent entropy", "tr": "tr truncated, not convex"}  # fmt: skip


def document(
    data: Data, rows: Sequence[Row], settings: Settings, found: Found, complete: bool,
    paper: Mapping[str, Sequence[float]] | None = None, title: str = "",
) -> Document:  # fmt: skip
    """The table of what is known: accuracy per column, its spread over the splits, gaps and times."""
    splits, parts = range(settings.splits), data.splits[0]
    sizes = [len(y) for _, y in parts.pairs]
    results = {
        row.name: [found[s, row.name] for s in splits if (s, row.name) in found] for row in rows
    }
    results = {name: many for name, many in results.items() if many}
    measured = {
        name: np.array([column_accuracies(result.final) for result in many])
        for name, many in results.items()
    }
    best = np.max([m.mean(axis=0) for m in measured.values()], axis=0) if measured else np.zeros(0)
    constant = _constant(data, rows[0].columns)
    poor = {name: m.mean(axis=0) < constant for name, m in measured.items()}
    records = [
        _record(name, rows[0].columns, many, measured[name], best, (paper or {}).get(name, ()), settings.tol,
                poor[name])
        for name, many in results.items()
    ]  # fmt: skip
    note = (
        f"{sizes[0]} training, {sizes[1]} validation and {sizes[2]} test examples, {len(data.classes)} classes. "
        "C is chosen per method and column on the validation part; the final model is trained on both parts at "
        "the same lambda = 1/(C n). gap: the largest relative duality gap of the models shown; seconds: training, for "
        "all C; green: the best of a column."
    )
    words = {word for name in results for word in re.split("[-_ ]", name)}
    if said := [meaning for word, meaning in METHODS.items() if word in words]:
        note += f" {'; '.join(said)}."
    shown = ", ".join(
        f"{c:.1f} ({head})" for head, c in zip(rows[0].columns, constant, strict=True) if np.isfinite(c)
    )
    if shown:
        note += f" Always the most frequent classes: {shown}; what is worse is marked !."
    if paper is not None:
        note += " Behind / what the paper printed, on its own features."
    if settings.splits > 1:
        note += f" Mean and standard deviation over {settings.splits} splits."
    blocks: list[Block] = []
    if records:
        blocks.append(record_table("In percent on the test part", records, note))
    if not complete:
        blocks.append(Paragraph(
            f"Stopped: {len(found)} of {len(rows) * settings.splits} rows are known and kept; the same command "
            "with --resume goes on.", "bad"))  # fmt: skip
    certified = bool(records) and all(record.reached for record in records)
    worse = [name for name, marks in poor.items() if marks.any()]
    lost = [row.name for row in rows if row.name in worse and row.name.endswith("_tr")]
    if worse:
        blocks.append(Paragraph(
            f"Worse than always the most frequent classes: {', '.join(worse)}. A certificate is about the training "
            "problem alone." + " Truncated losses are not convex: what is certified of them is their last convex step."
            * bool(lost), "bad"))  # fmt: skip
    told = {
        "settings": asdict(settings),
        "columns": list(rows[0].columns),
        "rows": [_numbers(name, many, paper) for name, many in results.items()],
        "complete": complete,
        "sizes": sizes,
        "most_frequent": [c if np.isfinite(c) else None for c in constant.tolist()],
        "worse_than_most_frequent": worse,
    }
    return Document(
        title or "The papers' protocol", tuple(blocks), complete and certified and not lost, told,
        "every model certified" + f", but {len(worse)} worse than the most frequent classes" * bool(worse),
        f"{', '.join(lost)} worse than always the most frequent classes"
        if lost and complete and certified else "not every model is certified, or not all are there",
        appendix=_picture(settings, measured),
    )  # fmt: skip


def _constant(data: Data, heads: Sequence[str]) -> np.ndarray:
    """Percent right of always the most frequent classes, a mean over the splits; nan of other measures."""
    ones = []
    for parts in data.splits:
        counts = np.bincount(parts.pairs[2][1], minlength=len(data.classes))
        often = np.sort(counts)[::-1].cumsum() / counts.sum()
        found = [re.fullmatch(r"[Tt]op-(\d+)", head) for head in heads]
        ks = [int(f[1]) if f else 1 if head == "accuracy" else 0 for f, head in zip(found, heads, strict=True)]
        ones.append([100.0 * often[k - 1] if k else np.nan for k in ks])
    return np.mean(ones, axis=0)


def _record(
    name: str, heads: Sequence[str], many: Sequence[RowResult], values: np.ndarray, best: np.ndarray,
    printed: Sequence[float], tol: float, poor: np.ndarray,
) -> Record:  # fmt: skip
    """One method: its accuracies beside what was printed, its C, gap and seconds."""
    figures: dict[str, Any] = {
        head: Cell(
            _spread(values[:, j]) + (f" / {printed[j]:.1f}" if len(printed) else "") + " !" * bool(poor[j]),
            "bad" if poor[j] else "good" if round(values[:, j].mean(), 1) == round(best[j], 1) else "",
        )
        for j, head in enumerate(heads)
    }
    each = [[r.chosen[j].C for r in many] for j in range(len(heads))]
    short = (
        "; ".join(map(_range, each)) if len(heads) < 5 else _range([C for Cs in each for C in Cs])
    )
    figures |= {"C of each column": short, "gap": max(r.worst_gap for r in many)}
    return Record(
        {"method": name}, figures | {"seconds": sum(r.seconds for r in many)}, most={"gap": tol}
    )


def _numbers(
    name: str, many: Sequence[RowResult], paper: Mapping[str, Sequence[float]] | None
) -> dict[str, Any]:
    """The same as data, split by split."""
    return {
        "method": name,
        "accuracy": [list(column_accuracies(r.final)) for r in many],
        "gap": max(r.worst_gap for r in many),
        "seconds": sum(r.seconds for r in many),
        "C": [[f.C for f in r.chosen] for r in many],
        "paper": paper and paper.get(name),
        "lam": [[f.lam for f in r.chosen] for r in many],
    }


def _spread(values: np.ndarray) -> str:
    if len(values) < 2:
        return f"{values[0]:.1f}"
    return f"{fmean(values):.1f} ± {stdev(values):.1f}"


def _range(Cs: Sequence[float]) -> str:
    low, high = f"{min(Cs):g}", f"{max(Cs):g}"
    return low if low == high else f"{low} to {high}"


def _picture(settings: Settings, measured: dict[str, np.ndarray]) -> tuple[Picture, ...]:
    """Accuracy over guesses, as the difference from the first method: lines of their own lie too close."""
    if (
        importlib.util.find_spec("matplotlib") is None
        or len(settings.guesses) < 2
        or len(measured) < 2
    ):
        return ()

    def draw(ax: Any) -> None:
        from matplotlib import colormaps

        names = list(measured)
        base = "LR-Multi" if "LR-Multi" in measured else names[0]
        reference = measured[base].mean(axis=0)
        for i, name in enumerate(names):
            style = {"OVA": ":", "Multi": "-"}.get(
                name.rpartition("-")[2], "--" if "Ent_tr" in name else "-"
            )
            wide = 1.2 + 4.0 * (1.0 - i / len(names))  # of equal lines the one below is seen beside the one above
            ax.plot(settings.guesses, measured[name].mean(axis=0) - reference, style, marker="o", linewidth=wide,
                    markersize=2.0 + wide, color=colormaps["tab20"](i % 20), label=name)  # fmt: skip
        ax.set(xlabel="guesses k", ylabel=f"top-k accuracy minus that of {base}, points",
               xticks=settings.guesses)  # fmt: skip
        low = min(float((m.mean(axis=0) - reference).min()) for m in measured.values())
        ax.set_ylim(bottom=max(low - 0.05 * (1.0 - low), -DEEP))  # what falls out of sight stands in the table
        ax.legend(fontsize="small", frameon=False, bbox_to_anchor=(1.0, 1.0), loc="upper left")

    return (
        drawn(
            "Top-k accuracy", "Top-k accuracy of each method for each k.", draw, (7.2, 4.2)
        ),
    )


def save(made: Document, folder: Path) -> list[Path]:
    """Write the table as CSV, JSON, Markdown and HTML, and the plot: all of them, or none."""
    output = folder / f"{REPORT}.csv"
    files = {
        output: _csv(made).encode(),
        **rendered(made, output),
    }
    for picture in made.appendix:
        if isinstance(picture, Picture):
            files[output.with_suffix(".svg")] = picture.svg.encode()
    replace_files(files)
    return list(files)


def _csv(made: Document) -> str:
    """Numbers alone: mean and, of several splits, standard deviation of each column."""
    rows = made.data["rows"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    tops = [head.lower().replace("-", "_") for head in made.data["columns"]]
    writer.writerow(["method", *tops, *(f"{top}_std" for top in tops), "splits", "gap", "seconds"])
    for row in rows:
        columns = list(zip(*row["accuracy"], strict=True))
        spread = [stdev(c) if len(c) > 1 else "" for c in columns]
        writer.writerow(
            [
                row["method"],
                *map(fmean, columns),
                *spread,
                len(columns[0]),
                row["gap"],
                row["seconds"],
            ]
        )
    return stream.getvalue()
