"""Prox, update and training of every multiclass loss of `fast`, beside a batch through Clarabel and the top-k hinges.

A new file in `fast.losses` is measured without an edit here.
"""

import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks.records import Record, Section
from verification.benchmarks.timing import clock, race

#: Classes and k; k stays below the number of classes.
SIZES = ((10, 5), (100, 5), (1000, 10))
OPERATIONS = "prox", "sdca_update"
ALPHA, BETA = "topk_hinge_alpha", "topk_hinge_beta"
ENTRIES, BATCH = 200_000, 10  # scores of ours, and rows that Clarabel gets as one problem
DATASETS, CS, GAP = ("digits", "letter"), (0.1, 1.0, 10.0), 1e-5
CLARABEL_LIMIT, ALPHA_LIMIT, BETA_LIMIT = 5.0, 3.0, 3.0
SECTIONS = {
    "batches": Section(
        "Prox and update of rows",
        f"Microseconds of a row. Clarabel: time of {BATCH} rows as one problem in CVXPY, compiled before, over ours. "
        f"Alpha: times the same operation of {ALPHA} at the same k.",
    ),
    "trainings": Section(
        f"Training to a certified relative gap of {GAP:g}",
        f"CPU seconds; ratio: times the training of {BETA} at the same k, in turns.",
    ),
}


def losses() -> Iterator[str]:
    """Losses of `fast` of one label among others."""
    import fast.losses
    from fast.errors import InvalidParameterError
    from fast.families import named

    for name in sorted(p.stem for p in Path(fast.losses.__path__[0]).glob("[!_]*.py")):
        try:
            loss = named(name)
        except InvalidParameterError:  # of rankings
            continue
        if not loss.indicated:
            yield name


def given(name: str, k: int) -> dict[str, int]:
    """Its k, if it has one."""
    from fast.families import named

    return {"k": k} if hasattr(named(name), "k") else {}


def operations() -> Iterator[tuple[str, str, int, int]]:
    """All (loss, operation, m, k) of which there is one."""
    from fast.families import named

    for name in losses():
        for operation in OPERATIONS:
            if operation in named(name).operations:
                yield from ((name, operation, m, k) for m, k in SIZES)


def _rows(operation: str, m: int) -> tuple[Mapping[str, Any], int]:
    """Arguments for so many rows; the first axis of each is that of the rows."""
    n = max(BATCH, ENTRIES // m)
    rng = np.random.default_rng(m)
    if operation == "prox":
        return {"v": rng.standard_normal((n, m - 1))}, n
    q = rng.standard_normal((n, m))
    return {"q": q, "y": rng.integers(0, m, n), "k_ii": np.ones(n)}, n


def rows(name: str, operation: str, m: int, k: int, repeats: int = 5) -> Record:
    """One operation on standard normal scores."""
    arguments, n = _rows(operation, m)
    ours, alpha = (
        partial(getattr(importlib.import_module(f"fast.losses.{each}"), operation), **arguments, **given(each, k))
        for each in (name, ALPHA)
    )  # fmt: skip
    ours()
    alpha()
    found = race(alpha, ours, repeats, process_time, tick=0.02)
    theirs = clarabel_seconds(name, operation, arguments, k)
    return Record(
        {"loss": name, "operation": operation, "m": m, **given(name, k)},
        {
            "microseconds": 1e6 * found.peer_seconds / n,
            "clarabel_ratio": theirs and theirs / found.peer_seconds * n / BATCH,
            "times_alpha": found.ratio,
        },
        least={} if theirs is None else {"clarabel_ratio": CLARABEL_LIMIT},
        most={"times_alpha": ALPHA_LIMIT},
    )


def batch(name: str, operation: str, arguments: Mapping[str, Any], k: int) -> Any:
    """The first rows as one problem in CVXPY: the sum of theirs."""
    import cvxpy as cp

    import refsolve

    each = [
        refsolve.problem(f"{name}.{operation}", **{a: value[i] for a, value in arguments.items()}, **given(name, k))
        for i in range(BATCH)
    ]  # fmt: skip
    return cp.Problem(
        cp.Minimize(cp.sum([p.objective.args[0] for p in each])),
        [rule for p in each for rule in p.constraints],
    )


def clarabel_seconds(name: str, operation: str, arguments: Mapping[str, Any], k: int) -> float | None:
    """Seconds of Clarabel for the batch; it is compiled before the clock starts. None: it is not convex."""
    from refsolve.errors import InvalidParameterError

    try:
        solve = partial(batch(name, operation, arguments, k).solve, solver="CLARABEL")
    except InvalidParameterError:
        return None
    solve()
    return median(clock(solve, process_time) for _ in range(3))


def training(name: str, dataset: str, C: float, k: int = 5, repeats: int = 3) -> Record:
    """CPU seconds to the gap; the hinge beta in turns."""
    from fast.families import named
    from fast.models.multiclass_erm import train
    from verification.benchmarks.standing import prepared

    X, y, _ = prepared(dataset)
    m = int(y.max()) + 1
    beta, own = (
        partial(train, X, y, C, m, named(each, **given(each, k)), tol=GAP, max_iter=100_000)
        for each in (BETA, name)
    )
    beta()
    own()
    found = race(beta, own, repeats, process_time)
    return Record(
        {"loss": name, "dataset": dataset, "C": C, **given(name, k)},
        {"seconds": found.peer_seconds, "gap": found.theirs.gap, "times_beta": found.ratio},
        most={"times_beta": BETA_LIMIT, "gap": GAP},
    )
