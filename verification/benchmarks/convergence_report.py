"""The convergence study as a document and as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verification.benchmarks.convergence import GAPS, LOSSES, Curve
from verification.benchmarks.plots import COLOURS, legend, pyplot, save
from verification.benchmarks.records import Record, Section, document
from verification.report.document import Document
from verification.report.lines import Lines

#: Gap that every model of ours must reach, and the paper's stopping criterion.
SMALL, STOP = 1e-4, 1e-3
LINES = {"SDCA": "-", "FISTA": "--", "ours": ":"}


def at(curve: Curve, gap: float, name: str) -> str:
    """Passes or seconds up to a gap."""
    first = curve.first(gap)
    if first is None:
        return "-"
    value = getattr(curve, name)[first]
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def line(curve: Curve) -> str:
    """A curve in a line, for whoever waits for the next one."""
    return (
        f"{curve.data}, {curve.loss}, C = {curve.C:g}: {curve.solver} to 1e-3 in {at(curve, STOP, 'seconds')} s, "
        f"to 1e-6 in {at(curve, 1e-6, 'seconds')} s; ends at {curve.gaps[-1]:.1e} with {curve.accuracies[-1]:.2f} %"
    )


_HEADS = " / ".join(f"{gap:.0e}".replace("e-0", "e-") for gap in GAPS)
SECTIONS = {
    "curves_read": Section(
        "Convergence",
        "C by validation accuracy. Passes of SDCA: epochs; of FISTA: goes through the data, two a step. "
        "Seconds of CPU on one thread, with certificates, without measuring accuracy. -: not reached.",
    ),
    "sentences": Section(
        "What the paper says of it",
        "The paper: smooth converges faster; SDCA is competitive with FISTA down to 1e-4 and better below (softmax); "
        "an epoch of softmax costs more; accuracy saturates after a few passes, so that 1e-3 will do. Settled: within "
        "half a point of the last accuracy from there on; SVM-Multi / smooth / softmax. >: not reached, at least.",
    ),
}


def made(curves: Sequence[Curve], written: Sequence[Path] = ()) -> Document:
    """Both tables; positive iff every curve of ours reaches `SMALL`."""
    measured = {"curves_read": list(map(curve_record, curves)), "sentences": sentences(curves)}
    kept = {"curves": [curve.to_dict() for curve in curves]}
    title = "Lapin et al. 2016, Figure 1: convergence"
    good = f"ours certified to {SMALL:g} everywhere"
    if not any(curve.solver == "ours" for curve in curves):
        measured = {}
    return document(title, SECTIONS, measured, pictures=written, good=good, data=kept)


def curve_record(curve: Curve) -> Record:
    """Epochs and seconds to each gap."""
    ours = curve.solver == "ours"
    figures = {
        f"epochs to {_HEADS}": "" if ours else _list(curve, "passes"),
        "seconds": _list(curve, "seconds"),
        "last_gap": curve.gaps[-1],
        "accuracy": f"{curve.accuracies[-1]:.2f}",
    }
    names = {"data": curve.data, "loss": curve.loss, "C": curve.C, "solver": curve.solver}
    return Record(names, figures, most={"last_gap": SMALL} if ours else {})


def _list(curve: Curve, name: str) -> str:
    return " / ".join(at(curve, gap, name) for gap in GAPS)


def _ratio(above: Curve | None, below: Curve | None, gap: float | None, name: str) -> str:
    """How many times as much one takes as the other to a gap; without one, per epoch."""
    if above is None or below is None:
        return "-"
    if gap is None:
        costs = [getattr(c, name)[-1] / max(c.passes[-1], 1) for c in (above, below)]
        return f"{costs[0] / costs[1]:.2g}" if costs[1] > 0 else "-"
    first, second = above.first(gap), below.first(gap)
    if second is None or not getattr(below, name)[second]:
        return "-"
    taken = getattr(above, name)[-1 if first is None else first]
    return f"{'>' if first is None else ''}{taken / getattr(below, name)[second]:.2g}"


def sentences(curves: Sequence[Curve]) -> list[Record]:
    """What the paper says of its figures, beside what is measured here, per data set."""
    records = []
    for data in dict.fromkeys(curve.data for curve in curves):
        of = {(c.loss, c.solver): c for c in curves if c.data == data}
        hinge, smooth, softmax = (of.get((loss, "SDCA")) for loss in LOSSES)
        fista = of.get(("softmax", "FISTA"))
        own = [c for c in (hinge, smooth, softmax) if c is not None]
        figures = {
            "hinge : smooth, epochs to 1e-3": _ratio(hinge, smooth, STOP, "passes"),
            "FISTA : SDCA, s to 1e-2": _ratio(fista, softmax, 1e-2, "seconds"),
            "to 1e-4": _ratio(fista, softmax, 1e-4, "seconds"),
            "to 1e-6": _ratio(fista, softmax, 1e-6, "seconds"),
            "epoch, softmax : smooth": _ratio(softmax, smooth, None, "seconds"),
            "epochs until accuracy settles": " / ".join(str(c.passes[c.settled()]) for c in own),
            "points left at 1e-3": " / ".join(map(_left, own)),
        }
        records.append(Record({"data": data}, figures))
    return records


def _left(curve: Curve) -> str:
    """Points between the accuracy at the stopping criterion and the last one."""
    first = curve.first(STOP)
    return "-" if first is None else f"{curve.accuracies[-1] - curve.accuracies[first]:+.2f}"


def curve_of(row: Mapping[str, Any]) -> Curve:
    """What `Curve.to_dict` wrote."""
    given: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in row.items()}
    return Curve(**given)


def read(file: Path) -> list[Curve]:
    """The curves of a file with a line each."""
    return list(map(curve_of, Lines(file)))


def write(folder: Path, curves: Sequence[Curve]) -> list[Path]:
    """The picture in both formats."""
    plt = pyplot()
    names = len(dict.fromkeys(curve.data for curve in curves))
    figure = plt.figure(figsize=(14, 1 + 3 * names), layout="constrained")
    draw(figure, curves)
    return save(plt, figure, folder, "convergence")


def draw(figure: Any, curves: Sequence[Curve], colours: Sequence[str] = COLOURS) -> None:
    """Per data set the gap and the accuracy, over epochs and over seconds."""
    names = list(dict.fromkeys(curve.data for curve in curves))
    axes = figure.subplots(len(names), 4, squeeze=False)
    columns = [(x, y) for y in ("gaps", "accuracies") for x in ("passes", "seconds")]
    for curve in curves:
        style = {
            "color": colours[list(LOSSES).index(curve.loss)],
            "linestyle": LINES[curve.solver],
            "marker": "." if curve.solver == "ours" else "",
            "label": f"{curve.loss}: {curve.solver}",
        }
        for axis, (x, y) in zip(axes[names.index(curve.data)], columns, strict=True):
            if (x, curve.solver) != ("passes", "ours"):  # which has no epochs
                axis.plot(getattr(curve, x)[1:], getattr(curve, y)[1:], **style)
    for name, row in zip(names, axes, strict=True):
        best = max(max(c.accuracies) for c in curves if c.data == name)
        for axis, (x, y) in zip(row, columns, strict=True):
            accuracy = y == "accuracies"
            axis.set(
                xscale="log",
                yscale="linear" if accuracy else "log",
                ylim=(best - 12.0, best + 1.0) if accuracy else (1e-7, 1.5),
                xlabel="epochs" if x == "passes" else "CPU seconds",
            )
            axis.set_title(f"{name}: {'accuracy' if accuracy else 'relative gap'}", fontsize=10)
    legend(figure, axes[0][1], 4)
