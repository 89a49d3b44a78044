"""Losses on tensors, forward and backward, against `torch.nn.functional.cross_entropy` in the same run.

``refsolve bench torch --device cuda`` measures a GPU.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter, thread_time
from typing import Any

from verification.benchmarks.records import Record, Section
from verification.errors import InvalidArgumentError

#: Loss, its parameters, and how many times as long as cross-entropy it may take.
LOSSES: dict[str, tuple[dict[str, Any], float]] = {
    "multiclass_hinge": ({}, 2.0),
    "topk_hinge_alpha": ({"k": 5}, 2.0),
    "topk_hinge_beta": ({"k": 5}, 2.0),
    "squared_topk_hinge": ({"k": 5}, 2.0),
    "smooth_topk_hinge_alpha": ({"k": 5}, 2.0),
    "smooth_topk_hinge_beta": ({"k": 5}, 2.0),
    "ova_hinge": ({}, 2.0),
    "ova_smooth_hinge": ({}, 2.0),
    "truncated_topk_entropy": ({"k": 5}, 2.0),
    "softmax": ({}, 4.0),
    "topk_entropy_alpha": ({"k": 5}, 4.0),
    "topk_entropy_beta": ({"k": 5}, 4.0),
    "ova_logistic": ({}, 4.0),
    "sparsemax": ({}, 4.0),
}
MEMORY = 3.0  # arrays of the scores' size
SMALL = 0.1  # a few numbers per row
SECTION = Section(
    "Losses on tensors against cross-entropy",
    "Forward and backward, milliseconds; ratio: times torch.nn.functional.cross_entropy in the same run; k = 5, "
    f"gamma = 1, float32. Arrays: most memory held, in arrays of the scores' size, gradient included, {MEMORY:g} "
    "and a few numbers per row at most.",
)
SIZES = {
    "cpu": ((64, 1000), (4096, 1000)),
    "cuda": ((64, 1000), (4096, 1000), (65536, 1000), (4096, 32000)),
}


def sizes(given: Sequence[str], device: str) -> Sequence[tuple[int, int]]:
    """Rows and classes from their texts; without any, those that the targets speak of."""
    found = []
    for text in given:
        rows, _, classes = text.partition("x")
        if not (rows.isdecimal() and classes.isdecimal() and int(rows) and int(classes) > 5):
            raise InvalidArgumentError(f"size={text!r}: expected rows x classes, as 64x1000")
        found.append((int(rows), int(classes)))
    return found or SIZES[device]


@contextmanager
def threads_of_torch(count: int) -> Iterator[None]:
    """So many threads, and as many as before afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def step(loss: Callable[..., Any], scores: Any, y: Any) -> None:
    """Forward and backward."""
    scores.grad = None
    loss(scores, y).backward()


def milliseconds(runs: Sequence[Callable[[], None]], device: str, repeats: int) -> list[float]:
    """The least of each run's times, taken in turns; on one thread of a CPU that thread's own time."""
    import torch

    def by_events(run: Callable[[], None]) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(10):
            run()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 10

    def by_clock(run: Callable[[], None]) -> float:
        now = thread_time if torch.get_num_threads() == 1 else perf_counter
        start = now()
        run()
        return 1e3 * (now() - start)

    clock = by_clock if device == "cpu" else by_events
    for run in runs:
        for _ in range(5):
            run()
    turns = [[clock(run) for run in runs] for _ in range(repeats)]
    return [min(times) for times in zip(*turns, strict=True)]


def arrays(run: Callable[[], None], scores: Any) -> float:
    """Most memory held at once beyond the arguments, gradient included, in arrays of the scores' size."""
    import torch

    size = scores.numel() * scores.element_size()
    scores.grad = None
    if scores.is_cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return float(torch.cuda.max_memory_allocated() - before) / size
    cpu = torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[cpu], profile_memory=True) as profile:
        run()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return float(most) / size


def measure(
    rows: int,
    classes: int,
    device: str = "cpu",
    threads: int = 1,
    compiled: bool = False,
    repeats: int = 20,
    losses: Sequence[str] = tuple(LOSSES),
) -> Iterator[Record]:
    """Time losses at standard normal scores, each in turns with cross-entropy, which comes first."""
    import torch

    import fast.torch

    if compiled:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 2 * len(LOSSES)  # all are partials of one class
    torch.manual_seed(0)
    scores = torch.randn(rows, classes, device=device, requires_grad=True)
    y = torch.randint(0, classes, (rows,), device=device)
    reference: Callable[..., Any] = torch.nn.functional.cross_entropy

    def record(loss: str, ms: float, ratio: float, arrays: float, limit: float) -> Record:
        names = {"loss": loss, "rows": rows, "classes": classes, "compiled": compiled}
        return Record(
            names | {"threads": threads},
            {"ms": ms, "ratio": ratio, "arrays": arrays},
            most={"ratio": limit, "arrays": MEMORY + SMALL},
        )

    found: Callable[[Callable[..., Any]], Callable[..., Any]] = (
        partial(torch.compile, fullgraph=True, dynamic=False) if compiled else lambda f: f
    )
    with threads_of_torch(threads):
        base = partial(step, found(reference), scores, y)
        base()
        (least,) = milliseconds([base], device, repeats)
        held = arrays(base, scores)
        yield record("cross_entropy", least, 1.0, held, 1.0)
        for name in losses:
            options, limit = LOSSES[name]
            loss = partial(getattr(fast.torch, name), **options)
            run = partial(step, found(loss), scores, y)
            run()
            base()
            own, again = milliseconds([run, base], device, repeats)
            least = min(least, again)  # of all its times: the worst for ours
            held = arrays(run, scores)
            yield record(name, own, own / least, held, limit)


def cells(
    given: Sequence[str], device: str, threads: Sequence[int], compiled: bool
) -> dict[str, tuple[int, int, str, int, bool]]:
    """What `measure` is asked for, by name: sizes, and each as it is and, if asked for, compiled.

    Raises
    ------
    InvalidArgumentError
        A size that is none, a device that is not there.
    """
    import torch

    if device not in SIZES or (device == "cuda" and not torch.cuda.is_available()):
        raise InvalidArgumentError(
            f"device={device!r}: expected cpu, or cuda where torch finds a CUDA device"
        )
    return {
        f"{rows} x {classes}, {count} thread(s){', compiled' * how}": (
            rows,
            classes,
            device,
            count,
            how,
        )
        for rows, classes in sizes(given, device)
        for count in threads
        for how in ((False, True) if compiled else (False,))
    }


def recorded(
    device: str = "cpu", threads: int = 1, compiled: bool = False, repeats: int = 20
) -> dict[str, Any]:
    """Everything on one device, for docs/records."""
    import torch

    words = f"--device {device} --threads {threads} --repeats {repeats}{' --compiled' * compiled}"
    timings = (
        t for c in cells((), device, (threads,), compiled).values() for t in measure(*c, repeats)
    )
    return {
        "command": f"refsolve bench torch {words}",
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if device == "cuda" else "CPU",
        "timings": [{**t.names, **t.figures, "limit": t.most["ratio"]} for t in timings],
    }
