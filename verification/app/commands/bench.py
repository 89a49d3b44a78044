"""``refsolve bench topk``, ``entropy``, ``ap`` and ``svmplus``: speed beside the targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, finish, make_folder, progress

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure speed on one thread against what a user would pick instead."""


@app.command()
def topk(
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="digits, letter, mixture-100 or mixture-400; repeatable."),
    ] = None,
    training: Annotated[bool, typer.Option(help="Measure training.")] = True,
    projections: Annotated[bool, typer.Option(help="Measure projections.")] = True,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of runs behind each median.")] = 5,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a target is missed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Top-k hinge: training at equal certified accuracy, and projections of 10 000 rows."""
    from verification.benchmarks import projections as projecting
    from verification.benchmarks import topk as benchmark
    from verification.benchmarks.timing import one_thread
    from verification.benchmarks.topk_report import document

    cases = _cases(dataset) if training else []
    sizes = list(projecting.grid()) if projections else []
    trained, projected = [], []
    with one_thread(), progress(len(cases) + len(sizes) + 1) as task:
        task.describe("compiling")
        benchmark.compile_seconds()
        task.step()
        for name, C in cases:
            trained.append(benchmark.measure(name, C, repeats, task.describe))
            task.step()
        for stem, m, k in sizes:
            task.describe(f"{stem}, m = {m}, k = {k}")
            projected.append(projecting.measure(stem, m, k, repeats))
            task.step()
    finish(document(trained, projected, strict), as_json)


@app.command()
def entropy(
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="digits, letter, mixture-100 or mixture-400; repeatable."),
    ] = None,
    training: Annotated[bool, typer.Option(help="Measure training.")] = True,
    rows: Annotated[bool, typer.Option(help="Measure value and prox of long rows.")] = True,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of runs behind each median.")] = 5,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a target is missed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Softmax and top-k entropy: training at equal certified accuracy, value and prox of long rows."""
    from verification.benchmarks import entropy as benchmark
    from verification.benchmarks import entropy_rows
    from verification.benchmarks.entropy_report import document
    from verification.benchmarks.timing import one_thread
    from verification.benchmarks.topk import compile_seconds

    cases = _cases(dataset) if training else []
    losses = entropy_rows.LOSSES if rows else {}
    trained, timed = [], []
    with one_thread(), progress(len(cases) + len(losses) + 1) as task:
        task.describe("compiling")
        compile_seconds()
        task.step()
        for name, C in cases:
            trained.append(benchmark.measure(name, C, repeats, task.describe))
            task.step()
        for stem, k in losses.items():
            task.describe(stem)
            timed.append(entropy_rows.measure(stem, k, repeats))
            task.step()
    finish(document(trained, timed, strict), as_json)


_Inference = Annotated[
    bool, typer.Option(help="Measure inference against the greedy and numpy.sort.")
]
_Grid = Annotated[bool, typer.Option(help="Measure inference against SEARCH everywhere.")]
_Training = Annotated[bool, typer.Option(help="Count oracle calls of training.")]
_Exactness = Annotated[
    bool, typer.Option(help="Compare with brute force, the greedy and fractions.")
]
_C = Annotated[
    list[float] | None, typer.Option("--C", help="C of training: 10 or 1000; repeatable.")
]
_Repeats = Annotated[int, typer.Option(min=1, help="Pairs of runs behind each median.")]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for pictures of cost over N and P."),
]
_Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit code 1 if a target is missed.")
]


@app.command()
def ap(
    inference: _Inference = True,
    grid: _Grid = True,
    training: _Training = True,
    exactness: _Exactness = True,
    c: _C = None,
    repeats: _Repeats = 5,
    output: _Output = None,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> None:
    """AP-SVM: loss-augmented inference by every exact method, oracle calls to a certified gap."""
    from verification.benchmarks import ap_exactness, ap_inference, ap_plots, ap_shapes, ap_training
    from verification.benchmarks.ap_report import document
    from verification.benchmarks.circle_plots import pyplot
    from verification.benchmarks.timing import one_thread
    from verification.errors import InvalidArgumentError

    limits = ap_training.LIMITS
    if unknown := sorted(set(c or ()) - set(limits)):
        raise InvalidArgumentError(f"C is {unknown}; expected one of {', '.join(map(str, limits))}")
    if not (inference or grid or training or exactness or output):
        raise InvalidArgumentError(
            "nothing to measure; expected --inference, --grid, --training, --exactness or --output"
        )
    if output is not None:
        pyplot()  # says now, not after minutes, that something is missing
        make_folder("output", output)
    cells = list(ap_shapes.grid()) if grid else []
    curves = list(ap_inference.curves()) if output is not None else []
    chosen = tuple(dict.fromkeys(c or limits)) if training else ()
    comparisons = ap_exactness.COUNTS if exactness else {}
    total = 2 * inference + len(cells) + len(chosen) + len(comparisons) + len(curves)
    timings, everywhere, runs, drawn = [], [], [], []
    with one_thread(), progress(total) as task:
        for measure in (ap_inference.against_greedy, ap_inference.against_sort) * inference:
            task.describe(measure.__name__.replace("_", " "))
            timings += measure(repeats)
            task.step()
        for cell in cells:
            task.describe("{} scores, P = {}, N = {}".format(*cell))
            everywhere.append(ap_inference.against_search(*cell, repeats))
            task.step()
        for C in chosen:
            runs += ap_training.measure(C, repeats, say=task.describe)
            task.step()
        task.describe("exactness")
        exact = ap_exactness.compare(comparisons, step=task.step)
        for one in curves:
            task.describe(f"{one[1]} over {one[2]}, {one[0]} scores")
            drawn.append(ap_inference.curve(*one, repeats))
            task.step()
    written = [] if output is None else ap_plots.write(output, drawn)
    pictures = [str(path) for path in written]
    finish(document(timings, everywhere, runs, exact, strict, drawn, pictures), as_json)


@app.command()
def svmplus(
    linear: Annotated[
        bool, typer.Option(help="Linear, against LIBSVM, Clarabel and LinearSVC.")
    ] = True,
    kernel: Annotated[bool, typer.Option(help="RBF kernels, against LIBSVM.")] = True,
    classes: Annotated[
        bool, typer.Option(help="All classes of the paper's shapes, against LIBSVM one by one.")
    ] = True,
    precision: Annotated[
        bool, typer.Option(help="Compare the deformed kernel with fractions.")
    ] = True,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of runs behind each median.")] = 5,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a target is missed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """SVM+ with privileged features: training to a certified gap, and the error of its kernel."""
    from verification.benchmarks import svmplus_precision, svmplus_training
    from verification.benchmarks.svmplus_report import document
    from verification.benchmarks.timing import one_thread
    from verification.errors import InvalidArgumentError

    if not (linear or kernel or classes or precision):
        raise InvalidArgumentError(
            "nothing to measure; expected --linear, --kernel, --classes or --precision"
        )
    asked = {"linear": linear, "kernel": kernel, "classes": classes}
    cases = svmplus_training.cases(repeats, tuple(name for name, wanted in asked.items() if wanted))
    timings = []
    with one_thread(), progress(len(cases) + precision) as task:
        for name, measure in cases.items():
            task.describe(name)
            timings.append(measure())
            task.step()
        task.describe("deformed kernel")
        errors = svmplus_precision.measure() if precision else []
        task.step()
    finish(document(timings, errors, strict), as_json)


def _cases(dataset: list[str] | None) -> list[tuple[str, float]]:
    """Every chosen data set at every C."""
    from verification.benchmarks.topk import CS, DATASETS
    from verification.errors import InvalidArgumentError

    chosen = tuple(dataset or DATASETS)
    unknown = sorted(set(chosen) - set(DATASETS))
    if unknown:
        raise InvalidArgumentError(f"dataset is {unknown}; expected one of {', '.join(DATASETS)}")
    return [(name, C) for name in chosen for C in CS]
