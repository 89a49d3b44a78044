"""``refsolve reproduce letter``, ``circle``, ``convergence``, ``ap``, ``svmplus``: the papers' figures beside ours."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from verification.app.console import JsonOption, finish, one_of, picture_folder, progress
from verification.app.data_options import Force
from verification.benchmarks.records import Record
from verification.errors import InvalidArgumentError

Jobs = dict[str, Callable[[], Any]]
app = typer.Typer(add_completion=False, no_args_is_help=True)


_Tol = Annotated[float, typer.Option(help="Certified relative duality gap of every model.")]
_Lowest = Annotated[int, typer.Option(help="Smallest power of ten of C.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Folder for rows as they become known, and pictures (PNG and SVG)."
    ),
]
_Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where a run that was ended left --output.")
]


@app.callback()
def reproduce() -> None:
    """Repeat a paper's experiment, its table beside ours."""


@app.command()
def letter(
    tol: _Tol = 1e-4,
    lowest: _Lowest = -3,
    highest: Annotated[int, typer.Option(help="Largest power of ten of C.")] = 2,
    per_decade: Annotated[int, typer.Option(min=1, help="Values of C per power of ten.")] = 1,
    method: Annotated[
        list[str] | None, typer.Option(help="Row of the table, e.g. LR-Multi; repeatable.")
    ] = None,
    table: Annotated[
        int, typer.Option(help="3, or 7 of the longer version: 37 methods, top-1 to top-10.")
    ] = 3,
    starts: Annotated[
        bool, typer.Option(help="Follow the truncated rows from other starts.")
    ] = True,
    output: _Output = None,
    resume: _Resume = False,
    force: Force = False,
    as_json: JsonOption = False,
) -> None:
    """Letter, Lapin et al. 2016, Table 3 or 7: C by validation for every column separately."""
    import numpy as np

    from verification.app.rows import Kept, whole
    from verification.benchmarks.letter import ROWS, document, follow_all, load_parts, longer
    from verification.benchmarks.protocol import RowResult, compile_trainers, run_row
    from verification.benchmarks.timing import one_thread

    if table not in (3, 7):
        raise InvalidArgumentError(f"table is {table}; expected 3 or, of the longer version, 7")
    known = ROWS if table == 3 else longer()
    names = one_of("method", method, (row.name for row in known))
    rows = [row for row in known if row.name in names]
    _check_order(lowest, highest)
    steps = (highest - lowest) * per_decade + 1
    grid = [float(f"{c:.6g}") for c in np.logspace(lowest, highest, steps)]
    kept = Kept("output", output, {"letter": table, "Cs": grid, "tol": tol}, resume, force)
    parts = load_parts()
    with one_thread(), progress(len(rows) * (len(grid) + 2)) as task:
        jobs: Jobs = {r.name: partial(run_row, parts, r, grid, tol, task.step) for r in rows}
        compiling = partial(compile_trainers, parts, rows)
        done = whole(jobs, kept, task, RowResult, lambda row: row.line, compiling)
        results = [replace(done[row.name], row=row) for row in rows]
        task.describe("other starts")
        followed = follow_all(parts, results) if starts and table == 3 else []
    finish(document(results, tol, followed, table), as_json)


@app.command()
def circle(
    draws: Annotated[int, typer.Option(min=1, help="Random draws behind each median.")] = 100,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            help="segments, uniform, classes or densities; repeatable. Default: the first two."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first draw.")] = 0,
    output: _Output = None,
    resume: _Resume = False,
    force: Force = False,
    as_json: JsonOption = False,
) -> None:
    """Circle, Lapin et al. 2016, section 4: exact optima, the authors' draw, and many draws."""
    from verification.app.rows import Kept, whole
    from verification.benchmarks import circle_best, circle_report, circle_runs
    from verification.benchmarks.circle import READINGS

    chosen = one_of("reading", reading or tuple(READINGS)[:2], READINGS)
    picture_folder(output)
    kept = Kept("output", output, {"circle": True}, resume, force)
    seeds = range(seed, seed + draws)
    again: Jobs = {"the authors' draw": circle_runs.run_authors_draw}
    jobs: Jobs = {}
    for name in chosen:
        jobs |= {f"{name}, draw {s}": partial(circle_runs.run_draw, name, s) for s in seeds}
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
    written = [] if output is None else circle_report.write(output, rings)
    finish(circle_report.made(best, summaries, remade, written), as_json)


_Dataset = Annotated[
    list[str] | None, typer.Option(help="letter or digits; repeatable. Default: both.")
]
_Classes = Annotated[
    str, typer.Option(help="Classes to rank, separated by commas, e.g. A,B,7. Default: all.")
]
_Method = Annotated[
    list[str] | None, typer.Option(help="Row of the tables, e.g. AP-SVM; repeatable.")
]
_Highest = Annotated[
    int | None, typer.Option(help="Largest power of ten of C. Default: 6 on letter, 5 on digits.")
]
_Inference = Annotated[bool, typer.Option(help="Time every inference method on the trainings.")]


@app.command()
def ap(
    dataset: _Dataset = None,
    classes: _Classes = "",
    method: _Method = None,
    tol: _Tol = 1e-4,
    lowest: _Lowest = 0,
    highest: _Highest = None,
    inference: _Inference = True,
    output: _Output = None,
    resume: _Resume = False,
    force: Force = False,
    as_json: JsonOption = False,
) -> None:
    """AP-SVM, Mohapatra et al. 2014, Tables 1-3 and Figure 1, on Letter and digits: class against rest."""
    from verification.app.rows import Kept, whole
    from verification.benchmarks import ap_calls, ap_classes, ap_report
    from verification.benchmarks.ap_methods import METHODS, NAMES
    from verification.benchmarks.timing import one_thread

    chosen = ap_classes.select(dataset, classes)
    asked = one_of("method", method, NAMES)
    methods = [m for m in METHODS if m.name in asked]
    tops = {data: ap_classes.HIGHEST[data] if highest is None else highest for data, _ in chosen}
    _check_powers(lowest, min(tops.values()), max(tops.values()))
    if not 0.0 < tol < math.inf:
        raise InvalidArgumentError(f"tol is {tol:g}; expected a number above 0")
    picture_folder(output)
    grids = {data: [10.0**power for power in range(lowest, top + 1)] for data, top in tops.items()}
    names = [m.name for m in methods]
    kept = Kept("output", output, {"ap": names, "Cs": grids, "tol": tol}, resume, force)
    jobs: Jobs = {
        f"{data} {ap_classes.names(data)[label]}": partial(
            ap_classes.run_class, data, label, names, grids[data], tol
        )
        for data, label in chosen
    }
    with progress(len(jobs) * (1 + inference)) as task:
        compiling = partial(ap_classes.compile_trainers, methods)
        line = lambda each: each.line  # noqa: E731
        done = whole(jobs, kept, task, ap_classes.ClassResult, line, compiling, beside=True)
        results = [done[name] for name in jobs]
        costs, ranks = {}, []
        with one_thread():  # after the workers are gone: clocks want the machine for themselves
            if inference:
                timed: Jobs = {
                    f"inference, {r.dataset} {r.name}": partial(ap_calls.of_class, r, tol)
                    for r in results
                }
                clocks = lambda found: "  ".join(f"{c.method} {c.seconds:.3g} s" for c in found)  # noqa: E731
                told = whole(timed, kept, task, list[ap_calls.Cost], clocks)
                costs = {
                    (r.dataset, r.name): told[name] for r, name in zip(results, timed, strict=True)
                }
            if output is not None:
                ranks = ap_report.ranks_of(results, tol)
    written = [] if output is None else ap_report.write(output, ranks)
    finish(ap_report.made(results, costs, tol, written), as_json)


@app.command()
def svmplus(
    splits: Annotated[
        int, typer.Option(min=0, help="Random splits of the digits; 0 for none.")
    ] = 30,
    method: Annotated[
        list[str] | None, typer.Option(help="Row of the digits table, e.g. SVM2+; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first split.")] = 0,
    speed: Annotated[bool, typer.Option(help="Time the paper's shapes.")] = True,
    output: _Output = None,
    resume: _Resume = False,
    force: Force = False,
    as_json: JsonOption = False,
) -> None:
    """SVM+, Xu et al. 2016: the speed-up and who it is over; accuracies on digits with error bars."""
    from verification.app.rows import Kept, whole
    from verification.benchmarks import (
        svmplus_digits,
        svmplus_paper,
        svmplus_report,
        svmplus_training,
    )
    from verification.benchmarks.timing import one_thread

    names = svmplus_digits.check_methods(method or svmplus_digits.METHODS)
    if not splits and not speed:
        raise InvalidArgumentError("splits is 0 with --no-speed; expected one of the two to run")
    kept = Kept("output", output, {"svmplus": names}, resume, force)
    seeds = range(seed, seed + splits)
    jobs: Jobs = {f"split {s}": partial(svmplus_digits.run_split, s, names) for s in seeds}
    shapes = svmplus_training.SHAPES if speed else ()
    with progress(len(jobs) + len(shapes)) as task:
        kind = dict[str, svmplus_digits.Outcome]
        line = lambda found: "  ".join(f"{n} {100 * o.accuracy:.1f}" for n, o in found.items())  # noqa: E731
        done = whole(jobs, kept, task, kind, line, beside=True)
        clocks: Jobs = {
            f"{m} classes": partial(svmplus_paper.measure, n, m, say=task.describe)
            for n, m in shapes
        }
        with one_thread():  # after the workers are gone: clocks want the machine for themselves
            told = whole(clocks, kept, task, list[Record], _ratios)
        speeds = [told[name] for name in clocks]
    found = svmplus_digits.collect(seeds, [done[name] for name in jobs]) if jobs else None
    finish(svmplus_report.made(speeds, found), as_json)


@app.command()
def convergence(
    dataset: Annotated[
        list[str] | None, typer.Option(help="letter, digits or deep; repeatable. Default: all.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer rows, at most 100 passes.")] = False,
    seconds: Annotated[float, typer.Option(help="CPU seconds after which a curve ends.")] = 20.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Folder for the curves (convergence.jsonl, each at once) and the picture (PNG and SVG).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Convergence, Lapin et al. 2016, Figure 1: gap and accuracy of SDCA, FISTA and ours."""
    from verification.benchmarks import convergence as study
    from verification.benchmarks import convergence_report
    from verification.benchmarks.timing import one_thread

    names = one_of("dataset", dataset, study.DATA)
    if not 0.0 < seconds < math.inf:
        raise InvalidArgumentError(f"seconds is {seconds:g}; expected a number above 0")
    picture_folder(output)
    file = None if output is None else output / "convergence.jsonl"
    if file is not None:
        file.write_text("", encoding="utf-8")
    curves = []
    total = len(names) * sum(len(study.offered(loss)) for loss in study.LOSSES)
    with one_thread(), progress(total) as task:
        for curve in study.curves(names, quick, seconds, task.describe):
            curves.append(curve)
            typer.echo(convergence_report.line(curve), err=True)  # as soon as it is known
            if file is not None:
                with file.open("a", encoding="utf-8") as rows:
                    rows.write(json.dumps(curve.to_dict()) + "\n")
            task.step()
    written = [] if file is None else [file, *convergence_report.write(file.parent, curves)]
    finish(convergence_report.made(curves, written), as_json)


def _ratios(found: Sequence[Any]) -> str:
    from verification.benchmarks.svmplus_paper import ratios

    _, *shown = ratios(found).figures.items()
    return "  ".join(f"{name}: {ratio:.3g}" for name, ratio in shown)


def _pairs(found: Sequence[Any]) -> str:
    tests = [getattr(each, "choice", each).test for each in found]
    return "  ".join(f"{one:.1f}/{two:.1f}" for one, two in tests)


def _check_order(lowest: int, highest: int) -> None:
    """Refuse a grid of C that is empty."""
    if highest < lowest:
        raise InvalidArgumentError(
            f"highest is {highest}, lowest is {lowest}; expected lowest <= highest"
        )


def _check_powers(lowest: int, least: int, most: int) -> None:
    """Refuse a grid of C that is empty, or beyond where the estimators end."""
    _check_order(lowest, least)
    if lowest < -70 or most > 70:
        raise InvalidArgumentError(
            f"lowest is {lowest}, highest is {most}; expected powers from -70 to 70"
        )
