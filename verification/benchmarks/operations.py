"""Projections, values and proxes of many rows, against NumPy on the same rows and against the oracle."""

import importlib
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks.records import Record, Section
from verification.benchmarks.timing import clock, race

SETS = ("topk_simplex_alpha", "topk_simplex_beta", "topk_cone", "simplex")
SIZES = (10, 100, 1000, 10_000)
KS = (1, 5, 10)
ROWS = 10_000
#: At most this many entries at once: 10 000 rows of 10 000 would need several gigabytes.
CHUNK = 20_000_000
#: Times numpy.sort that a projection may take from m = 100 on; times a projection that the oracle takes.
SORT_LIMIT, ORACLE_LIMIT = 3.0, 1000.0
ORACLE_LARGEST = 1000
#: Losses and the k they are measured at; softmax has none. Classes and rows.
LOSSES: dict[str, int | None] = {"softmax": None, "topk_entropy_alpha": 5, "topk_entropy_beta": 5}
LOSS_CLASSES, LOSS_ROWS = 1000, 1000
EXP_LIMIT, PROX_LIMIT, CLARABEL_LIMIT = 5.0, 12.0, 50.0
SECTIONS = {
    "projections": Section(
        f"Projection of {ROWS} rows", "Ratios: times numpy.sort(axis=1) of the rows; the oracle's time over ours."
    ),
    "rows": Section(
        f"Value and prox of {LOSS_ROWS} rows",
        "Ratios: times numpy.exp of the same rows; time of Clarabel through CVXPY, compiled before the clock "
        "starts, over that of the prox.",
    ),
}  # fmt: skip


def grid(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[str, int, int | None]]:
    """All (set, m, k) of the projections; the plain simplex has no k."""
    for name in SETS:
        for m in sizes:
            for k in (None,) if name == "simplex" else KS:
                yield name, m, k


def _options(k: int | None) -> dict[str, Any]:
    return {} if k is None else {"k": k}


def projection(name: str, m: int, k: int | None, repeats: int = 5, rows: int = ROWS) -> Record:
    """Project standard normal rows, after one call that compiles.

    Large sizes go through in chunks; a pair of times is one chunk, always of the same rows, and
    the seconds for all rows are extrapolated from it.
    """
    run = partial(importlib.import_module(f"fast.sets.{name}").project, **_options(k))
    chunks = max(1, rows * m // CHUNK)
    size = rows // chunks
    data = np.random.default_rng(m).standard_normal((size, m))
    run(data[:2])
    sort = partial(np.sort, data, axis=1)
    found = race(sort, partial(run, data), max(repeats, chunks))
    seconds = found.peer_seconds * rows / size
    oracle = oracle_seconds(name, data, k) * rows / seconds
    return Record(
        {"set": name, "m": m, "k": k},
        {"seconds": seconds, "times_sort": found.ratio, "oracle_ratio": oracle},
        least={"oracle_ratio": ORACLE_LIMIT},
        most={"times_sort": SORT_LIMIT} if m >= 100 else {},
    )


def oracle_seconds(name: str, data: np.ndarray, k: int | None, samples: int = 3) -> float:
    """Seconds of the oracle for one row; its problem is built and compiled before the clock starts.

    Where a row of `ORACLE_LARGEST` entries takes seconds already, a longer one is not tried and that
    time stands in as a lower bound: the top-k caps cost the oracle the square of the length.
    """
    from refsolve import solve

    def once(row: np.ndarray) -> float:
        return clock(partial(solve, f"{name}.projection", a=row, **_options(k)))

    once(data[0, :ORACLE_LARGEST])  # builds and compiles the problem
    first = once(data[0, :ORACLE_LARGEST])
    if first > 2.0:
        return first
    once(data[0])
    return median(once(row) for row in data[1 : 1 + samples])


def value_and_prox(
    name: str, k: int | None, repeats: int = 5, rows: int = LOSS_ROWS, m: int = LOSS_CLASSES
) -> Record:
    """Time one loss on standard normal scores, after one call that compiles."""
    module = importlib.import_module(f"fast.losses.{name}")
    rng = np.random.default_rng(m)
    scores, y = rng.standard_normal((rows, m)), rng.integers(0, m, rows)
    value = partial(module.value, **_options(k))
    prox = partial(module.prox, **_options(k))
    value(scores[:2], y[:2])
    prox(scores[:2])
    exp = partial(np.exp, scores)
    values, proxes = (
        race(exp, run, repeats) for run in (partial(value, scores, y), partial(prox, scores))
    )
    return Record(
        {"loss": name, "m": m, "k": k},
        {
            "value_seconds": values.peer_seconds,
            "value_times_exp": values.ratio,
            "prox_seconds": proxes.peer_seconds,
            "prox_times_exp": proxes.ratio,
            "clarabel_ratio": clarabel_seconds(name, scores, k) * rows / proxes.peer_seconds,
        },
        least={"clarabel_ratio": CLARABEL_LIMIT},
        most={"value_times_exp": EXP_LIMIT, "prox_times_exp": PROX_LIMIT},
    )


def clarabel_seconds(name: str, rows: np.ndarray, k: int | None, samples: int = 5) -> float:
    """Seconds of Clarabel for the prox of one row; its problem is compiled before the clock starts."""
    problem, v, _ = prox_problem(name, rows.shape[1], k)

    def once(row: np.ndarray) -> float:
        v.value = row
        return clock(partial(problem.solve, solver="CLARABEL"))

    once(rows[0])  # compiles the problem
    return median(once(row) for row in rows[1 : 1 + samples])


def prox_problem(name: str, d: int, k: int | None) -> tuple[Any, Any, Any]:
    """The dual of the prox at t = 1 in CVXPY, its parameter v, and its variable x; the prox is v - x.

    Of the ways to write it the quickest for Clarabel by up to 100x: the sum s is a variable of its
    own, so that the caps x_j <= s/k stay sparse. As written by the oracle, alpha takes seconds here.
    """
    import cvxpy as cp

    x, s, v = cp.Variable(d), cp.Variable(), cp.Parameter(d)
    caps = {"topk_entropy_alpha": lambda: [k * x <= s], "topk_entropy_beta": lambda: [k * x <= 1]}
    entropy = -cp.sum(cp.entr(x)) - cp.entr(1 - s)
    objective = cp.Minimize(0.5 * cp.sum_squares(x) - v @ x + entropy)
    return cp.Problem(objective, [s == cp.sum(x), *caps.get(name, list)()]), v, x
