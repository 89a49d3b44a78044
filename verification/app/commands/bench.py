"""``refsolve bench topk``, ``entropy``, ``ap``, ``svmplus``, ``torch``: speed; ``standing``, ``probe``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verification.app.console import (
    JsonOption,
    Task,
    check_file,
    finish,
    one_of,
    picture_folder,
    progress,
    stderr,
)
from verification.errors import InvalidArgumentError
from verification.report.document import Document

if TYPE_CHECKING:
    from verification.benchmarks.training import Case, Suite

REPEATS = 5
Jobs = Mapping[str, Callable[[], Any]]

app = typer.Typer(add_completion=False, no_args_is_help=True, invoke_without_command=True)

_Record = Annotated[
    Path | None,
    typer.Option("--record", help="Run all of them and write their tables to a Markdown file."),
]


@app.callback()
def bench(context: typer.Context, record: _Record = None) -> None:
    """Measure speed on one thread, beside the usual alternatives."""
    if context.invoked_subcommand is not None:
        if record is not None:
            raise InvalidArgumentError("--record runs all benchmarks; leave the name of one out")
        return
    if record is not None:
        check_file("record", record)
        _record(record)


def _record(target: Path) -> None:
    """Run everything as the commands do, each figure beside its target."""
    from verification.report.environment import versions
    from verification.report.render import render_markdown, write_text

    start = perf_counter()
    suites: dict[str, Callable[..., Document]] = {
        c.__name__: c for c in (topk, entropy, ap, svmplus)
    }
    parts: list[str] = []
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    for name, measured in suites.items():
        stderr().print(f"refsolve bench {name}", style="dim", highlight=False)
        made = render_markdown(measured(as_json=None), 2)
        parts.append(f"<!-- refsolve bench {name} -->\n{made}")
        minutes = (perf_counter() - start) / 60
        head = f"Measured by `refsolve bench --record` in {minutes:.0f} minutes: {named}."
        # each time: a disk that is full by now takes no hours of work along
        write_text(target, "\n".join([head, "", *parts]), "record")


_Dataset = Annotated[
    list[str] | None, typer.Option(help="digits, letter, mixture-100 or mixture-400; repeatable.")
]
_Training = Annotated[bool, typer.Option(help="Measure training.")]
_Repeats = Annotated[int, typer.Option(min=1, help="Pairs of runs behind each median.")]
_Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit code 1 if a target is missed.")
]


@app.command()
def topk(
    dataset: _Dataset = None,
    training: _Training = True,
    projections: Annotated[bool, typer.Option(help="Measure projections.")] = True,
    repeats: _Repeats = REPEATS,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """Top-k hinge: training at equal certified accuracy, and projections of 10 000 rows."""
    from verification.benchmarks import projections as projecting
    from verification.benchmarks.training import HINGES
    from verification.benchmarks.training_report import hinges

    others = {
        f"{stem}, m = {m}, k = {k}": partial(projecting.measure, stem, m, k, repeats)
        for stem, m, k in (projecting.grid() if projections else ())
    }
    trained, projected = _trained(HINGES, dataset, training, repeats, others)
    return finish(hinges(trained, projected, strict), as_json)


@app.command()
def entropy(
    dataset: _Dataset = None,
    training: _Training = True,
    rows: Annotated[bool, typer.Option(help="Measure value and prox of long rows.")] = True,
    repeats: _Repeats = REPEATS,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """Softmax and top-k entropy: training at equal certified accuracy, value and prox of long rows."""
    from verification.benchmarks import entropy_rows
    from verification.benchmarks.training import ENTROPIES
    from verification.benchmarks.training_report import entropies

    losses = entropy_rows.LOSSES if rows else {}
    others = {stem: partial(entropy_rows.measure, stem, k, repeats) for stem, k in losses.items()}
    trained, timed = _trained(ENTROPIES, dataset, training, repeats, others)
    return finish(entropies(trained, timed, strict), as_json)


def _trained(
    suite: Suite, dataset: list[str] | None, training: bool, repeats: int, others: Jobs
) -> tuple[list[Case], list[Any]]:
    """Every chosen data set at every C, if ``training``, and what else is measured."""
    import fast
    from verification.benchmarks.timing import one_thread
    from verification.benchmarks.training import CS, DATASETS, measure

    chosen = one_of("dataset", dataset, DATASETS) if training else []
    with one_thread(), progress(len(chosen) * len(CS) + len(others) + 1) as task:
        jobs = {
            f"{name}, C = {C:g}": partial(measure, suite, name, C, repeats, task.describe)
            for name in chosen
            for C in CS
        }
        task.describe("compiling")
        fast.warmup()
        task.step()
        return _each(jobs, task), _each(others, task)


def _each(jobs: Jobs, task: Task) -> list[Any]:
    """Results of the jobs, one after another."""
    found = []
    for name, job in jobs.items():
        task.describe(name)
        found.append(job())
        task.step()
    return found


_Inference = Annotated[
    bool, typer.Option(help="Measure inference against the greedy and numpy.sort.")
]
_Grid = Annotated[bool, typer.Option(help="Measure inference against SEARCH everywhere.")]
_Exactness = Annotated[
    bool, typer.Option(help="Compare with brute force, the greedy and fractions.")
]
_C = Annotated[
    list[float] | None, typer.Option("--C", help="C of training: 10 or 1000; repeatable.")
]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder for pictures of cost over N and P.")
]


@app.command()
def ap(
    inference: _Inference = True,
    grid: _Grid = True,
    training: Annotated[bool, typer.Option(help="Count oracle calls of training.")] = True,
    exactness: _Exactness = True,
    c: _C = None,
    repeats: _Repeats = REPEATS,
    output: _Output = None,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """AP-SVM: loss-augmented inference by every exact method, oracle calls to a certified gap."""
    picture_folder(output)
    from verification.benchmarks import ap_exactness, ap_inference, ap_plots, ap_shapes, ap_training
    from verification.benchmarks.ap_report import document
    from verification.benchmarks.timing import one_thread

    values = one_of("C", c, ap_training.LIMITS)
    if not (inference or grid or training or exactness or output):
        raise InvalidArgumentError(
            "nothing to measure; expected --inference, --grid, --training, --exactness or --output"
        )
    cells = list(ap_shapes.grid()) if grid else []
    curves = list(ap_inference.curves()) if output is not None else []
    chosen = values if training else []
    comparisons = ap_exactness.COUNTS if exactness else {}
    total = 2 * inference + len(cells) + len(chosen) + len(comparisons) + len(curves)
    measures = (ap_inference.against_greedy, ap_inference.against_sort) * inference
    with one_thread(), progress(total) as task:
        timings = _each({m.__name__.replace("_", " "): partial(m, repeats) for m in measures}, task)
        everywhere = _each({"{} scores, P = {}, N = {}".format(*cell):
                            partial(ap_inference.against_search, *cell, repeats) for cell in cells}, task)  # fmt: skip
        runs = _each({f"C = {C:g}": partial(ap_training.measure, C, repeats, say=task.describe)
                      for C in chosen}, task)  # fmt: skip
        task.describe("exactness")
        exact = ap_exactness.compare(comparisons, step=task.step)
        drawn = _each({f"{one[1]} over {one[2]}, {one[0]} scores": partial(ap_inference.curve, *one, repeats)
                       for one in curves}, task)  # fmt: skip
    written = [] if output is None else ap_plots.write(output, drawn)
    pictures = [str(path) for path in written]
    timed, trained = (list(chain.from_iterable(lists)) for lists in (timings, runs))
    return finish(document(timed, everywhere, trained, exact, strict, drawn, pictures), as_json)


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
    repeats: _Repeats = REPEATS,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """SVM+ with privileged features: training to a certified gap, and the error of its kernel."""
    from verification.benchmarks import svmplus_precision, svmplus_training
    from verification.benchmarks.svmplus_report import document
    from verification.benchmarks.timing import one_thread

    if not (linear or kernel or classes or precision):
        raise InvalidArgumentError(
            "nothing to measure; expected --linear, --kernel, --classes or --precision"
        )
    asked = {"linear": linear, "kernel": kernel, "classes": classes}
    cases = svmplus_training.cases(repeats, tuple(name for name, wanted in asked.items() if wanted))
    with one_thread(), progress(len(cases) + precision) as task:
        timings = _each(cases, task)
        task.describe("deformed kernel")
        errors = svmplus_precision.measure() if precision else []
        task.step()
    return finish(document(timings, errors, strict), as_json)


@app.command()
def standing(
    out: Annotated[
        Path, typer.Option(help="Record to write, a line per result; what it has is not repeated.")
    ] = Path("standing.jsonl"),
    data: Annotated[list[str] | None, typer.Option(help="Name of a data set; repeatable.")] = None,
    loss: Annotated[list[str] | None, typer.Option(help="Name of a loss; repeatable.")] = None,
    c: Annotated[list[float] | None, typer.Option("--C", help="C; repeatable.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds that a fit may take.")] = 20.0,
    against: Annotated[
        Path | None, typer.Option(help="Earlier record: also say what got slower.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="File for the performance profiles (PNG or SVG).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Every loss on every kind of data, C over six orders, against everybody at equal true accuracy."""
    from verification.benchmarks import standing, standing_report
    from verification.benchmarks.plots import pyplot
    from verification.benchmarks.timing import limit_to_one_thread

    problems = [
        (one, name, size)
        for one in one_of("data", data, standing.DATA)
        for name in one_of("loss", loss, standing.LOSSES)
        for size in (standing.CS if c is None else c)
    ]
    check_file("out", out)
    before = None if against is None else standing_report.read(against)
    plt = None if picture is None else pyplot()
    limit_to_one_thread()
    with progress(len(problems)) as task:

        def say(run: standing.Run) -> None:
            took = run.why if run.seconds is None else f"{run.seconds:.3g} s"
            task.describe(f"{run.data}, {run.loss}, C = {run.C:g}: {run.solver} {took}")

        runs = standing_report.collect(out, problems, seconds, say, task.step)
    if plt is not None and picture is not None:
        figure = plt.figure(figsize=(16, 4), layout="constrained")
        standing_report.draw(runs, figure)
        figure.savefig(picture, dpi=120)
    finish(standing_report.document(runs, before), as_json)


@app.command()
def probe(
    data: Annotated[list[str] | None, typer.Option(help="m = 300 or m = 1000; repeatable.")] = None,
    c: Annotated[list[float] | None, typer.Option("--C", help="C; repeatable.")] = None,
    threads: Annotated[
        list[int] | None, typer.Option(min=1, help="Threads [default: 1]; repeatable.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of fits behind each median.")] = 3,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> None:
    """Linear probes on deep features, beside lbfgs, cyanure and SGD at equal true accuracy."""
    from verification.benchmarks import probe as probing

    chosen = one_of("data", data, probing.SIZES)
    cells = [(name, C, t) for t in threads or (1,) for name in chosen for C in c or probing.CS]
    timings = []
    with progress(len(cells)) as task:
        for name, C, t in cells:
            task.describe(f"{name}, C = {C:g}, {t} thread(s)")
            timings += probing.measure(name, C, t, repeats)
            task.step()
    finish(probing.document(timings, strict), as_json)


@app.command("torch")
def losses_on_tensors(
    size: Annotated[
        list[str] | None, typer.Option(help="Rows x classes, as 64x1000; repeatable.")
    ] = None,
    loss: Annotated[list[str] | None, typer.Option(help="Name of a loss; repeatable.")] = None,
    threads: Annotated[
        list[int] | None, typer.Option(min=1, help="Threads [default: 1 and 2]; repeatable.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs, of which the best counts.")] = 20,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> None:
    """Losses on tensors, forward and backward, beside cross-entropy; on a GPU see the module."""
    from verification.benchmarks import torch_losses

    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise InvalidArgumentError(
            "losses on tensors need torch: install refsolve[torch]"
        ) from error
    losses = one_of("loss", loss, torch_losses.LOSSES)
    sizes = torch_losses.sizes(size or (), "cpu")
    cells = [(*shape, count) for shape in sizes for count in threads or (1, 2)]
    timings = []
    with progress(len(cells) * (1 + len(losses))) as task:
        for rows, classes, count in cells:
            for timing in torch_losses.measure(
                rows, classes, threads=count, repeats=repeats, losses=losses
            ):
                task.describe(f"{timing.loss}, {rows} x {classes}, {count} thread(s)")
                timings.append(timing)
                task.step()
    finish(torch_losses.document(timings, strict), as_json)
