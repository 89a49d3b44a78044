"""``refsolve bench topk``, ``entropy``, ``losses``, ``ap``, ``svmplus``, ``torch``: speed; ``standing``, ``probe``."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from verification.app.console import check_file, one_of, progress, say
from verification.app.options import command, option
from verification.benchmarks.records import Record, Section, document
from verification.errors import InvalidArgumentError
from verification.report.document import Document

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

    start, parts = perf_counter(), list[str]()
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    suites = {"topk": partial(topk, TopK()), "entropy": partial(entropy, Entropy()),
              "ap": partial(ap, AP()), "svmplus": partial(svmplus, SVMPlus())}  # fmt: skip
    for name, measured in suites.items():
        say(f"refsolve bench {name}")
        parts.append(f"<!-- refsolve bench {name} -->\n{render_markdown(measured(), 2)}")
        minutes = (perf_counter() - start) / 60
        head = f"Measured by `refsolve bench --record` in {minutes:.0f} minutes: {named}."
        # each time: a disk that is full by now takes no hours of work along
        write_text(target, "\n".join([head, "", *parts]), "record")


@dataclass(frozen=True, kw_only=True)
class Strict:
    """Whether targets decide."""

    strict: bool = option("End with exit code 1 if a target is missed.", False, "--strict")


@dataclass(frozen=True, kw_only=True)
class Paired(Strict):
    """How often a pair is run."""

    repeats: int = option("Pairs of runs behind each median.", 5, min=1)


@dataclass(frozen=True, kw_only=True)
class Trained(Paired):
    """Benchmarks of training, among others."""

    dataset: list[str] | None = option("digits, letter, mixture-100 or mixture-400; repeatable.")
    training: bool = option("Measure training.", True)


def _measured(
    title: str, sections: Mapping[str, Section], jobs: Jobs, options: Strict, compiled: bool = False, alone: bool = True
) -> Document:  # fmt: skip
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
    return document(title, sections, found, options.strict)


def _asked(options: object, *names: str) -> list[str]:
    """The parts that are wanted; to measure nothing is refused."""
    wanted = [name for name in names if getattr(options, name)]
    if not wanted:
        expected = ", ".join(f"--{name}" for name in names)
        raise InvalidArgumentError(f"nothing to measure; expected one of {expected}")
    return wanted


@dataclass(frozen=True, kw_only=True)
class TopK(Trained):
    """Of the top-k hinges."""

    projections: bool = option("Measure projections.", True)


@command(app)
def topk(options: TopK) -> Document:
    """Top-k hinge: training at equal certified accuracy, and projections of 10 000 rows."""
    from verification.benchmarks import operations

    others = {
        f"{name}, m = {m}, k = {k}": partial(operations.projection, name, m, k, options.repeats)
        for name, m, k in (operations.grid() if options.projections else ())
    }
    return _trained("topk", options, {"projections": others})


@dataclass(frozen=True, kw_only=True)
class Entropy(Trained):
    """Of the entropies."""

    rows: bool = option("Measure value and prox of long rows.", True)


@command(app)
def entropy(options: Entropy) -> Document:
    """Softmax and top-k entropy: training at equal certified accuracy, value and prox of long rows."""
    from verification.benchmarks import operations

    others = {
        name: partial(operations.value_and_prox, name, k, options.repeats)
        for name, k in (operations.LOSSES if options.rows else {}).items()
    }
    return _trained("entropy", options, {"rows": others})


@dataclass(frozen=True, kw_only=True)
class Losses(Paired):
    """Of every multiclass loss."""

    loss: list[str] | None = option("A loss of fast.losses; repeatable. Default: all.")
    dataset: list[str] | None = option("digits or letter; repeatable.")
    rows: bool = option("Measure prox and update of rows.", True)
    training: bool = option("Measure training.", True)


@command(app)
def losses(options: Losses) -> Document:
    """Prox, update and training of every multiclass loss, beside Clarabel and the top-k hinges alpha and beta."""
    from verification.benchmarks import batches

    wanted = one_of("loss", options.loss, batches.losses())
    parts = _asked(options, "rows", "training")
    rows = {
        f"{name}.{operation}, m = {m}": partial(batches.rows, name, operation, m, k, options.repeats)
        for name, operation, m, k in (batches.operations() if "rows" in parts else ())
        if name in wanted
    }
    trainings = {
        f"{name}, {data}, C = {C:g}": partial(batches.training, name, data, C, repeats=options.repeats)
        for name in (wanted if "training" in parts else ())
        for data in one_of("dataset", options.dataset, batches.DATASETS)
        for C in batches.CS
    }
    jobs = {"batches": rows, "trainings": trainings}
    return _measured("Losses, one thread", batches.SECTIONS, jobs, options)


def _trained(suite: str, options: Trained, others: Jobs) -> Document:
    """Every chosen data set at every C, if training is wanted, and what else is measured."""
    from verification.benchmarks import operations
    from verification.benchmarks.training import CS, DATASETS, SECTION, measure

    jobs = {
        f"{name}, C = {C:g}": partial(measure, suite, name, C, options.repeats)
        for name in (one_of("dataset", options.dataset, DATASETS) if options.training else ())
        for C in CS
    }
    sections = {"training": SECTION, **operations.SECTIONS}
    title = f"Benchmark {suite}, one thread"
    return _measured(title, sections, {"training": jobs, **others}, options, compiled=True)


@dataclass(frozen=True, kw_only=True)
class AP(Paired):
    """Of average precision."""

    inference: bool = option("Measure inference against the greedy and numpy.sort.", True)
    grid: bool = option("Measure inference against SEARCH everywhere.", True)
    training: bool = option("Count oracle calls of training.", True)
    exactness: bool = option("Compare with brute force, the greedy and fractions.", True)
    c: list[float] | None = option("C of training: 10 or 1000; repeatable.", None, "-C", "--C")


@command(app)
def ap(options: AP) -> Document:
    """AP-SVM: loss-augmented inference by every exact method, oracle calls to a certified gap."""
    from verification.benchmarks import ap_exactness, ap_inference, ap_shapes, ap_training

    values, repeats = one_of("C", options.c, ap_training.LIMITS), options.repeats
    asked = _asked(options, "inference", "grid", "training", "exactness")
    search = partial(partial, ap_inference.against_search)
    whole: Jobs = {
        "inference": {
            "against the greedy": partial(ap_inference.against_greedy, repeats),
            "against numpy.sort": partial(ap_inference.against_sort, repeats),
        },
        "grid": {
            f"{regime} scores, P = {P}, N = {N}": search(regime, P, N, repeats)
            for regime, P, N in ap_shapes.grid()
        },
        "training": {f"C = {C:g}": partial(ap_training.measure, C, repeats) for C in values},
        "exactness": {
            name: partial(ap_exactness.run, name, count)
            for name, count in ap_exactness.COUNTS.items()
        },
    }
    own = {"training": ap_training.SECTION, "exactness": ap_exactness.SECTION}
    jobs = {name: cases if name in asked else {} for name, cases in whole.items()}
    title = "Benchmark of AP-SVM, one thread"
    return _measured(title, {**ap_inference.SECTIONS, **own}, jobs, options)


@dataclass(frozen=True, kw_only=True)
class SVMPlus(Paired):
    """Of privileged features."""

    linear: bool = option("Linear, against LIBSVM, Clarabel and LinearSVC.", True)
    kernel: bool = option("RBF kernels, against LIBSVM.", True)
    classes: bool = option("All classes of the paper's shapes, against LIBSVM one by one.", True)


@command(app)
def svmplus(options: SVMPlus) -> Document:
    """SVM+ with privileged features: training to a certified gap."""
    from verification.benchmarks.svmplus_training import SECTIONS, cases

    jobs = {"training": cases(options.repeats, _asked(options, "linear", "kernel", "classes"))}
    return _measured("Benchmark of SVM+, one thread", SECTIONS, jobs, options)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Which cells, and the records of them."""

    out: Path = option(
        "Record to write, a line per result; what it has is not repeated.", Path("standing.jsonl")
    )
    data: list[str] | None = option("Name of a data set; repeatable.")
    loss: list[str] | None = option("Name of a loss; repeatable.")
    c: list[float] | None = option("C; repeatable.", None, "-C", "--C")
    seconds: float = option("Seconds that a fit may take.", 20.0, min=0.1)
    against: Path | None = option("Earlier record: also say what got slower.")
    picture: Path | None = option("File for the performance profiles (PNG or SVG).")


@command(app)
def standing(options: Standing) -> Document:
    """Every loss on every kind of data, C over six orders, against everybody at equal true accuracy."""
    from verification.benchmarks import standing as cells
    from verification.benchmarks import standing_report
    from verification.benchmarks.plots import pyplot
    from verification.benchmarks.timing import limit_to_one_thread

    o = options
    problems = [
        (one, name, size)
        for one in one_of("data", o.data, cells.DATA)
        for name in one_of("loss", o.loss, cells.LOSSES)
        for size in (cells.CS if o.c is None else o.c)
    ]
    check_file("out", o.out)
    before = None if o.against is None else standing_report.read(o.against)
    plt = None if o.picture is None else pyplot()
    limit_to_one_thread()
    with progress(len(problems)) as task:

        def tell(run: cells.Run) -> None:
            took = run.why if run.seconds is None else f"{run.seconds:.3g} s"
            task.describe(f"{run.data}, {run.loss}, C = {run.C:g}: {run.solver} {took}")

        runs = standing_report.collect(o.out, problems, o.seconds, tell, task.step)
    if plt is not None and o.picture is not None:
        standing_report.draw(runs, figure := plt.figure(layout="constrained"))
        figure.savefig(o.picture, dpi=120)
    return standing_report.document(runs, before)


@dataclass(frozen=True, kw_only=True)
class Probe(Strict):
    """Of linear probes."""

    data: list[str] | None = option("m = 300 or m = 1000; repeatable.")
    c: list[float] | None = option("C; repeatable.", None, "-C", "--C")
    threads: list[int] | None = option("Threads [default: 1]; repeatable.", min=1)
    repeats: int = option("Pairs of fits behind each median.", 3, min=1)


@command(app)
def probe(options: Probe) -> Document:
    """Linear probes on deep features, beside lbfgs, cyanure and SGD at equal true accuracy."""
    from verification.benchmarks import probe as probing

    jobs = {
        f"{name}, C = {C:g}, {t} thread(s)": partial(probing.measure, name, C, t, options.repeats)
        for t in options.threads or (1,)
        for name in one_of("data", options.data, probing.DATA)
        for C in options.c or probing.CS
    }
    return _measured(
        "Linear probes", {"probes": probing.SECTION}, {"probes": jobs}, options, alone=False
    )


@dataclass(frozen=True, kw_only=True)
class Tensors(Strict):
    """Of losses on tensors."""

    size: list[str] | None = option("Rows x classes, as 64x1000; repeatable.")
    loss: list[str] | None = option("Name of a loss; repeatable.")
    threads: list[int] | None = option("Threads [default: 1 and 2, on cuda 1]; repeatable.", min=1)
    device: str = option("cpu or cuda.", "cpu")
    compiled: bool = option("Also with torch.compile.", False, "--compiled")
    repeats: int = option("Runs, of which the best counts.", 20, min=1)


@command(app, "torch")
def losses_on_tensors(options: Tensors) -> Document:
    """Losses on tensors, forward and backward, beside cross-entropy."""
    from importlib.util import find_spec

    from verification.benchmarks import torch_losses

    if find_spec("torch") is None:
        raise InvalidArgumentError("losses on tensors need torch: in a clone of refsolve, pip install '.[torch]'")
    losses = one_of("loss", options.loss, torch_losses.LOSSES)
    measure = partial(partial, torch_losses.measure, repeats=options.repeats, losses=losses)
    threads = options.threads or ((1,) if options.device == "cuda" else (1, 2))
    cells = torch_losses.cells(options.size or (), options.device, threads, options.compiled)
    jobs = {name: measure(*cell) for name, cell in cells.items()}
    sections = {"timings": torch_losses.SECTION}
    return _measured("Losses on tensors", sections, {"timings": jobs}, options, alone=False)
