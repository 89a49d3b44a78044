"""Softmax on features in a float16 file: ``python -m verification.benchmarks.scale --out FILE``.

A line of JSON per size: what a fit took, and what `refsolve probe` forecasts on this machine. A cluster is
simulated from measured times of blocks.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from heapq import heapify, heapreplace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from verification.app.probing import pass_speed
from verification.report.lines import Lines

TOL = 1e-3
AT_ONCE = 1 << 14  # rows made at a time
#: Rows of a task of a cluster: as many as hold so many scores.
TASK = 1 << 28
RESTART = 60.0  # seconds until a worker that failed is there again


@dataclass(frozen=True)
class Size:
    """Rows, features, classes; C."""

    n: int
    d: int
    m: int
    C: float = 10.0


#: Three for the cost model, and the features of a data set with 1.28 million images.
SIZES = (
    Size(200_000, 128, 300),
    Size(100_000, 512, 200),
    Size(60_000, 1024, 1000),
    Size(1_280_000, 256, 1000),
)


#: What nobody has trained here: wider features, and a cluster's data.
AHEAD = Size(1_280_000, 2048, 1000), Size(10**9, 2048, 100_000)


@dataclass(frozen=True)
class Run:
    """A fit to a file, in a process of its own.

    ``forecast`` is the time of a pass as `refsolve probe` says it before it begins; ``gemm`` is what
    products of large float32 matrices reach; ``blocks`` are times of a pass's blocks on one thread,
    relative to their mean, from shortest to longest.
    """

    size: Size
    threads: int
    passes: int
    gap: float
    seconds: float
    pass_seconds: float
    forecast: float
    gemm: float
    megabytes: float
    blocks: list[float]

    @property
    def share(self) -> float:
        """Of the machine's speed in products that a pass reaches."""
        size = self.size
        return 4.0 * size.n * size.d * size.m / self.pass_seconds / self.gemm


@dataclass(frozen=True)
class Forecast:
    """What a pass of one such machine would take."""

    size: Size
    threads: int
    pass_seconds: float


def make_file(size: Size, folder: Path) -> None:
    """Unit rows as of `fast.datasets.make_deep_features`, a block at a time: x.npy and y.npy."""
    rng = np.random.default_rng(0)
    falling = np.arange(1, size.d + 1) ** -0.5
    basis = np.linalg.qr(rng.standard_normal((size.d, size.d)))[0] * falling[:, None]
    means = rng.standard_normal((size.m, size.d)) @ basis
    y = rng.permutation(np.arange(size.n) % size.m)
    np.save(folder / "y.npy", y)
    X = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float16, (size.n, size.d))
    for start in range(0, size.n, AT_ONCE):
        labels = y[start : start + AT_ONCE]
        rows = means[labels] + rng.standard_normal((len(labels), size.d)) @ basis
        X[start : start + AT_ONCE] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        X.flush()


def gemm_speed(threads: int, size: int = 4096) -> float:
    """Operations per second of float32 products, the best of five."""
    A = np.ones((size, size), np.float32)
    out, best = np.empty_like(A), np.inf
    with threadpool_limits(threads):
        for _ in range(5):
            start = perf_counter()
            np.matmul(A, A, out=out)
            best = min(best, perf_counter() - start)
    return 2.0 * size**3 / best


def fitted(size: Size, threads: int, folder: Path) -> Run:
    """The fit; to be called in a fresh process, whose peak of memory it tells."""
    import fast
    from fast.path import fits

    times: list[float] = []

    def watch(C: float, state: object) -> None:
        times.append(perf_counter())

    # kernels are compiled, or loaded, by a fit that does not count
    small = fast.datasets.make_deep_features(2000, 50, 110, random_state=0)
    model = fast.TopKLogisticRegression(C=size.C, tol=TOL, n_jobs=threads, random_state=0)
    model.fit(*small)
    X, y = fast.data.rows(folder / "x.npy"), np.load(folder / "y.npy")
    began = perf_counter()
    ((found, _),) = fits(model, X, y, [size.C], watch=watch)
    seconds = perf_counter() - began
    status = Path("/proc/self/status").read_text()  # getrusage knows the parent's peak, too
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1000.0
    each = float(np.median(np.diff(times)))  # the first pass costs a sample, the last a certificate
    with threadpool_limits(1):
        forecast = pass_speed(size.n, size.d, size.m, threads)[1]
    return Run(
        size, threads, len(times), float(found.dual_gap_), seconds, each, forecast,
        gemm_speed(threads), peak, block_times(X, y, found.coef_),
    )  # fmt: skip


def block_times(X: Any, y: np.ndarray, W: np.ndarray) -> list[float]:
    """41 quantiles of what blocks take, relative to the mean."""
    from fast.families import named
    from fast.solvers.block_sums import at_weights
    from fast.solvers.passes import Passes

    spent = []

    def timed(block: Any, Wt: np.ndarray) -> Any:
        start = perf_counter()
        found = at_weights(block, Wt)
        spent.append((perf_counter() - start) / len(block.y))
        return found

    with threadpool_limits(1):
        passes = Passes(X, y, np.ones(len(y)), named("softmax"), len(W))
        passes.total(timed, np.ascontiguousarray(W.T.astype(np.float32)), single=True)
    found = np.quantile(spent, np.linspace(0.0, 1.0, 41)) / np.mean(spent)
    return [round(float(value), 4) for value in found]


def measure(size: Size, threads: int) -> Run:
    """`fitted` in a process of its own, on a file that is deleted after it."""
    alone = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as folder, alone as pool:
        make_file(size, Path(folder))
        return pool.submit(fitted, size, threads, Path(folder)).result()


def ahead(threads: int) -> list[Forecast]:
    """Seconds of a pass at sizes that are too large to try."""
    with threadpool_limits(1):
        return [Forecast(s, threads, pass_speed(s.n, s.d, s.m, threads)[1]) for s in AHEAD]


def read(record: Path) -> tuple[list[Run], list[Forecast]]:
    """A record: runs, and forecasts."""
    held = [line | {"size": Size(**line["size"])} for line in Lines(record)]
    runs = [Run(**line) for line in held if "passes" in line]
    return runs, [Forecast(**line) for line in held if "passes" not in line]


# -- a cluster ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """Machines like the one measured.

    Attributes
    ----------
    workers : int
    bandwidth, latency : float
        Bytes per second and seconds of a message.
    slow : float
        Share of the workers that take twice as long in a pass, others each time.
    failures : float
        Of a worker, per hour; what it had done in this pass is done again by others.
    """

    workers: int
    bandwidth: float = 1.25e9
    latency: float = 1e-3
    slow: float = 0.02
    failures: float = 1e-3


def simulated(
    size: Size, cluster: Cluster, seconds: float, blocks: list[float], seed: int = 0
) -> float:
    """Seconds of one pass.

    Parameters
    ----------
    size : Size
    cluster : Cluster
    seconds : float
        What one machine alone would take.
    blocks : list of float
        Measured times of equal blocks, relative to their mean: how much tasks differ.
    seed : int

    Notes
    -----
    A task goes to whoever is free first. W goes down a tree of workers, sums of gradients come up it.
    """
    rng, workers = np.random.default_rng(seed), cluster.workers
    tasks = -(-size.n // max(1, TASK // size.m))
    left = list(rng.choice(blocks, tasks) * (seconds / tasks))
    pace = np.where(rng.random(workers) < cluster.slow, 2.0, 1.0)
    share = seconds / workers
    failing = rng.random(workers) < cluster.failures * share / 3600.0
    ends = np.where(failing, rng.random(workers) * share, np.inf)
    free = [(0.0, i) for i in range(workers)]
    done: list[list[float]] = [[] for _ in range(workers)]
    while True:
        at, i = free[0]
        lost = [i] if at >= ends[i] else []
        if not left:
            last = max(free)[0]
            lost = [i for _, i in free if ends[i] < last]
            if not lost:
                break
            at = max(ends[i] for i in lost)  # nobody knows before
            free = [(max(when, at), i) for when, i in free]
        if lost:  # with what they have done in this pass
            left += chain.from_iterable(done[i] for i in lost)
            back = {i: ends[i] + RESTART for i in lost}
            free = [(max(when, back.get(i, 0.0)), i) for when, i in free]
            heapify(free)
            for i in lost:
                done[i], ends[i] = [], np.inf
            continue
        done[i].append(left.pop())
        heapreplace(free, (at + done[i][-1] * pace[i], i))
    message = cluster.latency + 8.0 * size.m * size.d / cluster.bandwidth
    return float(max(free)[0] + 2.0 * np.ceil(np.log2(max(workers, 2))) * message)


def main(words: list[str] | None = None) -> None:
    """Measure all sizes, a line of JSON as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, prog=__spec__.name)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(words)
    file = Lines.new(given.out) if given.out else None
    ran = (measure(size, given.threads) for size in SIZES)
    results: Iterable[Forecast | Run] = chain(ahead(given.threads), ran)
    for found in results:
        print(json.dumps(asdict(found)), flush=True)
        if file is not None:
            file.add(asdict(found))


if __name__ == "__main__":
    main()
