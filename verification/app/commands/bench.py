"""``refsolve bench topk``, ``entropy``, ``ap``, ``svmplus``, ``torch``: speed; ``standing``, ``probe``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from verification.app.console import (
    JsonOption,
    check_file,
    finish,
    one_of,
    progress,
    stderr,
)
from verification.benchmarks.records import Record, document
from verification.errors import InvalidArgumentError
from verification.report.document import Document

REPEATS = 5
#: What is measured, by section and by name: a record or several.
Jobs = Mapping[str, Mapping[str, Callable[[], Any]]]

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


def _measured(jobs: Jobs, compiled: bool = False, alone: bool = True) -> dict[str, list[Record]]:
    """Records of each section; ``compiled``: all kernels first; ``alone``: on one thread."""
    import fast
    from verification.benchmarks.timing import one_thread

    found: dict[str, list[Record]] = {section: [] for section in jobs}
    with one_thread() if alone else nullcontext(), progress(sum(map(len, jobs.values()))) as task:
        if compiled:
            task.describe("compiling")
            fast.warmup()
        for section, own in jobs.items():
            for name, job in own.items():
                task.describe(name)
                result = job()
                found[section] += [result] if isinstance(result, Record) else result
                task.step()
    return found


def _asked(**parts: bool) -> None:
    """Refuse to measure nothing."""
    if not any(parts.values()):
        options = ", ".join(f"--{name}" for name in parts)
        raise InvalidArgumentError(f"nothing to measure; expected one of {options}")


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
    from verification.benchmarks import operations

    cells = operations.grid() if projections else ()
    others = {
        f"{name}, m = {m}, k = {k}": partial(operations.projection, name, m, k, repeats)
        for name, m, k in cells
    }
    return _trained("topk", dataset, training, repeats, {"projections": others}, strict, as_json)


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
    from verification.benchmarks import operations

    losses = operations.LOSSES if rows else {}
    others = {
        name: partial(operations.value_and_prox, name, k, repeats) for name, k in losses.items()
    }
    return _trained("entropy", dataset, training, repeats, {"rows": others}, strict, as_json)


def _trained(
    suite: str,
    dataset: list[str] | None,
    training: bool,
    repeats: int,
    others: Jobs,
    strict: bool,
    as_json: bool,
) -> Document:
    """Every chosen data set at every C, if ``training``, and what else is measured."""
    from verification.benchmarks import operations
    from verification.benchmarks.training import CS, DATASETS, SECTION, measure

    chosen = one_of("dataset", dataset, DATASETS) if training else []
    jobs = {
        f"{name}, C = {C:g}": partial(measure, suite, name, C, repeats)
        for name in chosen
        for C in CS
    }
    found = _measured({"training": jobs, **others}, compiled=True)
    sections = {"training": SECTION, **operations.SECTIONS}
    title = f"Benchmark {suite}, one thread"
    return finish(document(title, sections, found, strict), as_json)


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


@app.command()
def ap(
    inference: _Inference = True,
    grid: _Grid = True,
    training: Annotated[bool, typer.Option(help="Count oracle calls of training.")] = True,
    exactness: _Exactness = True,
    c: _C = None,
    repeats: _Repeats = REPEATS,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """AP-SVM: loss-augmented inference by every exact method, oracle calls to a certified gap."""
    from verification.benchmarks import ap_exactness, ap_inference, ap_shapes, ap_training

    values = one_of("C", c, ap_training.LIMITS)
    asked = {"inference": inference, "grid": grid, "training": training, "exactness": exactness}
    _asked(**asked)
    whole: Jobs = {
        "inference": {
            "against the greedy": partial(ap_inference.against_greedy, repeats),
            "against numpy.sort": partial(ap_inference.against_sort, repeats),
        },
        "grid": {
            f"{regime} scores, P = {P}, N = {N}": partial(
                ap_inference.against_search, regime, P, N, repeats
            )
            for regime, P, N in ap_shapes.grid()
        },
        "training": {f"C = {C:g}": partial(ap_training.measure, C, repeats) for C in values},
        "exactness": {
            name: partial(ap_exactness.run, name, count)
            for name, count in ap_exactness.COUNTS.items()
        },
    }
    found = _measured({name: own if asked[name] else {} for name, own in whole.items()})
    sections = {
        **ap_inference.SECTIONS,
        "training": ap_training.SECTION,
        "exactness": ap_exactness.SECTION,
    }
    title = "Benchmark of AP-SVM, one thread"
    return finish(document(title, sections, found, strict), as_json)


@app.command()
def svmplus(
    linear: Annotated[
        bool, typer.Option(help="Linear, against LIBSVM, Clarabel and LinearSVC.")
    ] = True,
    kernel: Annotated[bool, typer.Option(help="RBF kernels, against LIBSVM.")] = True,
    classes: Annotated[
        bool, typer.Option(help="All classes of the paper's shapes, against LIBSVM one by one.")
    ] = True,
    repeats: _Repeats = REPEATS,
    strict: _Strict = False,
    as_json: JsonOption = False,
) -> Document:
    """SVM+ with privileged features: training to a certified gap."""
    from verification.benchmarks import svmplus_training

    asked = {"linear": linear, "kernel": kernel, "classes": classes}
    _asked(**asked)
    cases = svmplus_training.cases(repeats, [name for name, wanted in asked.items() if wanted])
    found = _measured({"training": cases})
    title = "Benchmark of SVM+, one thread"
    return finish(document(title, svmplus_training.SECTIONS, found, strict), as_json)


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

    jobs = {
        f"{name}, C = {C:g}, {t} thread(s)": partial(probing.measure, name, C, t, repeats)
        for t in threads or (1,)
        for name in one_of("data", data, probing.SIZES)
        for C in c or probing.CS
    }
    found = _measured({"probes": jobs}, alone=False)
    sections = {"probes": probing.SECTION}
    finish(document("Linear probes", sections, found, strict), as_json)


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
    jobs: dict[str, Callable[[], Any]] = {
        f"{rows} x {classes}, {count} thread(s)": partial(
            torch_losses.measure, rows, classes, threads=count, repeats=repeats, losses=losses
        )
        for rows, classes in torch_losses.sizes(size or (), "cpu")
        for count in threads or (1, 2)
    }
    found = _measured({"timings": jobs}, alone=False)
    sections = {"timings": torch_losses.SECTION}
    finish(document("Losses on tensors", sections, found, strict), as_json)
