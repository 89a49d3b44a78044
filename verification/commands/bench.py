"""``refsolve bench topk`` and ``entropy``: speed beside the targets."""

from __future__ import annotations

from typing import Annotated

import typer

from verification.console import JsonOption, finish, progress

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


def _cases(dataset: list[str] | None) -> list[tuple[str, float]]:
    """Every chosen data set at every C."""
    from verification.benchmarks.topk import CS, DATASETS
    from verification.errors import InvalidArgumentError

    chosen = tuple(dataset or DATASETS)
    unknown = sorted(set(chosen) - set(DATASETS))
    if unknown:
        raise InvalidArgumentError(f"dataset is {unknown}; expected one of {', '.join(DATASETS)}")
    return [(name, C) for name in chosen for C in CS]
