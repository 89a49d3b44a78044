"""``refsolve reproduce letter``, ``circle``, ``convergence``, ``ap``, ``svmplus``: the papers' figures beside ours."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from verification.app.console import one_of, picture_folder, progress
from verification.app.options import command, option
from verification.benchmarks.records import Record
from verification.errors import InvalidArgumentError
from verification.report.document import Document

if TYPE_CHECKING:
    from verification.app.rows import Kept

Jobs = dict[str, Callable[[], Any]]
app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def reproduce() -> None:
    """Repeat a paper's experiment, its table beside ours."""


@dataclass(frozen=True, kw_only=True)
class Resumable:
    """Where rows are kept once they are known."""

    output: Path | None = option(
        "Folder for rows as they become known, and pictures (PNG and SVG).", None, "--output", "-o"
    )
    resume: bool = option("Go on where a run that was ended left --output.", False, "--resume")
    force: bool = option("Replace files that are there.", False, "--force")

    def kept(self, settings: Mapping[str, Any]) -> "Kept":
        """The rows of runs with the same settings."""
        from verification.app.rows import Kept

        return Kept("output", self.output, settings, self.resume, self.force)


@dataclass(frozen=True, kw_only=True)
class Letter(Resumable):
    """Rows of the tables, and values of C."""

    tol: float = option("Certified relative duality gap of every model.", 1e-4)
    lowest: int = option("Smallest power of ten of C.", -3)
    highest: int = option("Largest power of ten of C.", 2)
    per_decade: int = option("Values of C per power of ten.", 1, min=1)
    method: list[str] | None = option("Row of the table, e.g. LR-Multi; repeatable.")
    table: int = option("3, or 7 of the longer version: 37 methods, top-1 to top-10.", 3)
    starts: bool = option("Follow the truncated rows from other starts.", True)


@command(app)
def letter(options: Letter) -> Document:
    """Letter, Lapin et al. 2016, Table 3 or 7: C by validation for every column separately."""
    import numpy as np

    from verification.app.rows import whole
    from verification.benchmarks.letter import ROWS, document, follow_all, load_parts, longer
    from verification.benchmarks.protocol import RowResult, compile_trainers, run_row
    from verification.benchmarks.timing import one_thread

    o = options
    if o.table not in (3, 7):
        raise InvalidArgumentError(f"table is {o.table}; expected 3 or, of the longer version, 7")
    known = ROWS if o.table == 3 else longer()
    names = one_of("method", o.method, (row.name for row in known))
    rows = [row for row in known if row.name in names]
    _check_order(o.lowest, o.highest)
    steps = (o.highest - o.lowest) * o.per_decade + 1
    grid = [float(f"{c:.6g}") for c in np.logspace(o.lowest, o.highest, steps)]
    kept = o.kept({"letter": o.table, "Cs": grid, "tol": o.tol})
    parts = load_parts()
    with one_thread(), progress(len(rows) * (len(grid) + 2)) as task:
        jobs: Jobs = {r.name: partial(run_row, parts, r, grid, o.tol, task.step) for r in rows}
        compiling = partial(compile_trainers, parts, rows)
        done = whole(jobs, kept, task, RowResult, lambda row: row.line, compiling)
        results = [replace(done[row.name], row=row) for row in rows]
        task.describe("other starts")
        followed = follow_all(parts, results) if o.starts and o.table == 3 else []
    return document(results, o.tol, followed, o.table)


@dataclass(frozen=True, kw_only=True)
class Circle(Resumable):
    """Draws and readings."""

    draws: int = option("Random draws behind each median.", 100, min=1)
    reading: list[str] | None = option(
        "segments, uniform, classes or densities; repeatable. Default: the first two."
    )
    seed: int = option("Seed of the first draw.", 0, min=0)


@command(app)
def circle(options: Circle) -> Document:
    """Circle, Lapin et al. 2016, section 4: exact optima, the authors' draw, and many draws."""
    from verification.app.rows import whole
    from verification.benchmarks import circle_best, circle_report, circle_runs
    from verification.benchmarks.circle import READINGS

    o = options
    chosen = one_of("reading", o.reading or tuple(READINGS)[:2], READINGS)
    picture_folder(o.output)
    kept, seeds = o.kept({"circle": True}), range(o.seed, o.seed + o.draws)
    again: Jobs = {"the authors' draw": circle_runs.run_authors_draw}
    jobs: Jobs = {
        f"{name}, draw {s}": partial(circle_runs.run_draw, name, s)
        for name in chosen
        for s in seeds
    }
    with progress(len(jobs) + 1) as task:
        more = (_pairs, circle_runs.compile_trainers, True)
        (remade,) = whole(again, kept, task, list[circle_runs.Remade], *more).values()
        done = whole(jobs, kept, task, list[circle_runs.Choice], *more)
    summaries = {
        name: circle_runs.summarise_all([done[f"{name}, draw {s}"] for s in seeds])
        for name in chosen
    }
    best = [circle_best.best(name) for name in READINGS]
    rings = circle_report.figure_models(remade)
    written = [] if o.output is None else circle_report.write(o.output, rings)
    return circle_report.made(best, summaries, remade, written)


@dataclass(frozen=True, kw_only=True)
class AP(Resumable):
    """Classes, methods and values of C."""

    dataset: list[str] | None = option("letter or digits; repeatable. Default: both.")
    classes: str = option("Classes to rank, separated by commas, e.g. A,B,7. Default: all.", "")
    method: list[str] | None = option("Row of the tables, e.g. AP-SVM; repeatable.")
    tol: float = option("Certified relative duality gap of every model.", 1e-4)
    lowest: int = option("Smallest power of ten of C.", 0)
    highest: int | None = option("Largest power of ten of C. Default: 6 on letter, 5 on digits.")
    inference: bool = option("Time every inference method on the trainings.", True)


@command(app)
def ap(options: AP) -> Document:
    """AP-SVM, Mohapatra et al. 2014, Tables 1-3 and Figure 1, on Letter and digits: class against rest."""
    from verification.app.rows import whole
    from verification.benchmarks import ap_calls, ap_classes, ap_report
    from verification.benchmarks.ap_methods import METHODS, NAMES
    from verification.benchmarks.timing import one_thread

    o = options
    chosen = ap_classes.select(o.dataset, o.classes)
    asked = one_of("method", o.method, NAMES)
    methods = [m for m in METHODS if m.name in asked]
    tops = {
        name: ap_classes.HIGHEST[name] if o.highest is None else o.highest for name, _ in chosen
    }
    _check_order(o.lowest, min(tops.values()))
    if o.lowest < -70 or max(tops.values()) > 70:
        raise InvalidArgumentError(
            f"lowest is {o.lowest}, highest is {max(tops.values())}; expected powers from -70 to 70"
        )
    _check_positive("tol", o.tol)
    picture_folder(o.output)
    grids = {
        name: [10.0**power for power in range(o.lowest, top + 1)] for name, top in tops.items()
    }
    names = [m.name for m in methods]
    kept = o.kept({"ap": names, "Cs": grids, "tol": o.tol})
    jobs: Jobs = {
        f"{name} {ap_classes.names(name)[label]}": partial(
            ap_classes.run_class, name, label, names, grids[name], o.tol
        )
        for name, label in chosen
    }
    with progress(len(jobs) * (1 + o.inference)) as task:
        compiling = partial(ap_classes.compile_trainers, methods)
        done = whole(
            jobs, kept, task, ap_classes.ClassResult, lambda each: each.line, compiling, beside=True
        )
        results = [done[name] for name in jobs]
        costs, ranks = {}, []
        with one_thread():  # after the workers are gone: clocks want the machine for themselves
            if o.inference:
                timed: Jobs = {
                    f"inference, {r.dataset} {r.name}": partial(ap_calls.of_class, r, o.tol)
                    for r in results
                }
                told = whole(timed, kept, task, list[ap_calls.Cost], _seconds)
                costs = {
                    (r.dataset, r.name): told[name] for r, name in zip(results, timed, strict=True)
                }
            if o.output is not None:
                ranks = ap_report.ranks_of(results, o.tol)
    written = [] if o.output is None else ap_report.write(o.output, ranks)
    return ap_report.made(results, costs, o.tol, written)


@dataclass(frozen=True, kw_only=True)
class SVMPlus(Resumable):
    """Splits and methods."""

    splits: int = option("Random splits of the digits; 0 for none.", 30, min=0)
    method: list[str] | None = option("Row of the digits table, e.g. SVM2+; repeatable.")
    seed: int = option("Seed of the first split.", 0, min=0)
    speed: bool = option("Time the paper's shapes.", True)


@command(app)
def svmplus(options: SVMPlus) -> Document:
    """SVM+, Xu et al. 2016: the speed-up and who it is over; accuracies on digits with error bars."""
    from verification.app.rows import whole
    from verification.benchmarks import (
        svmplus_digits,
        svmplus_paper,
        svmplus_report,
        svmplus_training,
    )
    from verification.benchmarks.timing import one_thread

    o = options
    names = svmplus_digits.check_methods(o.method or svmplus_digits.METHODS)
    if not o.splits and not o.speed:
        raise InvalidArgumentError("splits is 0 with --no-speed; expected one of the two to run")
    kept, seeds = o.kept({"svmplus": names}), range(o.seed, o.seed + o.splits)
    jobs: Jobs = {f"split {s}": partial(svmplus_digits.run_split, s, names) for s in seeds}
    shapes = svmplus_training.SHAPES if o.speed else ()
    with progress(len(jobs) + len(shapes)) as task:
        kind = dict[str, svmplus_digits.Outcome]
        done = whole(jobs, kept, task, kind, _accuracies, beside=True)
        clocks: Jobs = {
            f"{m} classes": partial(svmplus_paper.measure, n, m, say=task.describe)
            for n, m in shapes
        }
        with one_thread():  # after the workers are gone: clocks want the machine for themselves
            told = whole(clocks, kept, task, list[Record], _ratios)
    found = svmplus_digits.collect(seeds, [done[name] for name in jobs]) if jobs else None
    return svmplus_report.made([told[name] for name in clocks], found)


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """Data sets, and when a curve ends."""

    dataset: list[str] | None = option("letter, digits or deep; repeatable. Default: all.")
    quick: bool = option("Fewer rows, at most 100 passes.", False, "--quick")
    seconds: float = option("CPU seconds after which a curve ends.", 20.0)
    output: Path | None = option(
        "Folder for the curves (convergence.jsonl, each at once) and the picture (PNG and SVG).", None,
        "--output", "-o",
    )  # fmt: skip


@command(app)
def convergence(options: Convergence) -> Document:
    """Convergence, Lapin et al. 2016, Figure 1: gap and accuracy of SDCA, FISTA and ours."""
    from verification.benchmarks import convergence as study
    from verification.benchmarks import convergence_report
    from verification.benchmarks.timing import one_thread
    from verification.report.lines import Lines

    o = options
    names = one_of("dataset", o.dataset, study.DATA)
    _check_positive("seconds", o.seconds)
    picture_folder(o.output)
    file = None if o.output is None else Lines.new(o.output / "convergence.jsonl")
    curves = []
    total = len(names) * sum(len(study.offered(loss)) for loss in study.LOSSES)
    with one_thread(), progress(total) as task:
        for curve in study.curves(names, o.quick, o.seconds, task.describe):
            curves.append(curve)
            typer.echo(convergence_report.line(curve), err=True)  # as soon as it is known
            if file is not None:
                file.add(curve.to_dict())
            task.step()
    written = (
        [] if file is None else [file.path, *convergence_report.write(file.path.parent, curves)]
    )
    return convergence_report.made(curves, written)


# -- a row in a line, and what is refused ---------------------------------------------------------


def _ratios(found: Sequence[Any]) -> str:
    from verification.benchmarks.svmplus_paper import ratios

    _, *shown = ratios(found).figures.items()
    return "  ".join(f"{name}: {ratio:.3g}" for name, ratio in shown)


def _accuracies(found: Mapping[str, Any]) -> str:
    return "  ".join(f"{name} {100 * each.accuracy:.1f}" for name, each in found.items())


def _seconds(found: Sequence[Any]) -> str:
    return "  ".join(f"{each.method} {each.seconds:.3g} s" for each in found)


def _pairs(found: Sequence[Any]) -> str:
    tests = [getattr(each, "choice", each).test for each in found]
    return "  ".join(f"{one:.1f}/{two:.1f}" for one, two in tests)


def _check_order(lowest: int, highest: int) -> None:
    """Refuse a grid of C that is empty."""
    if highest < lowest:
        raise InvalidArgumentError(
            f"highest is {highest}, lowest is {lowest}; expected lowest <= highest"
        )


def _check_positive(name: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise InvalidArgumentError(f"{name} is {value:g}; expected a number above 0")
