"""Sizes around powers of two, in rows, entries and k: grids, warps, tiles, tails and races of a port."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from verification import certificates
from verification.checks.batch import takes_batches
from verification.instances.drawing import Rng
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.instances.shapes import Laid, Shape, absent, covering, laid, row, short
from verification.kit.solver_call import Caller, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Candidate, Judgement, Verdict, if_certain

ORDER = 65
COUNTS = {"quick": 140, "thorough": 1700, "soak": 2}
#: Most entries of a batch.
LARGEST = {"quick": 2**18, "thorough": 2**21}
#: Exponents of two in rows and entries.
ROWS = {
    "quick": (1, 5, 8, 10, 12, 16),
    "thorough": (1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 17, 18),
}
LENGTHS = {"quick": (2, 5, 6, 8, 10), "thorough": (2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)}
#: Square batches; rows, and entries, that fill blocks of many widths.
SQUARE, FULL = ((33, 33), (64, 64), (257, 257)), ((43, 10_080), (10_080, 9))
#: Every number above half of this one, up to it: each width of a block up to it divides one of them, and each
#: up to half of it leaves every remainder. So many are asked for in one instance.
SWEPT, TOGETHER = {"quick": 1024, "thorough": 4096}, 64
#: Entries of the rows of such batches; without the last three where they take exponentials.
NARROW = (5, 7, 8, 12, 16, 33)
#: Numbers with many divisors: full blocks of many widths that are no power of two.
DIVISIBLE = (27_720, 126_000)
VECTORS = {"quick": (5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 17), "thorough": tuple(range(4, 21))}
#: Beside a power of two, and in the middle between two.
NEXT = (-1, 0, 1, 3)
KS = ("1", "32", "33", "96", "half", "all but one")
#: Entries that matter: in most vectors, and in some.
MANY = {"quick": (100, 1025), "thorough": (130, 4097), "soak": (40, 130)}
#: Those that have few sizes, where logarithms are taken to 60 digits.
SOLVED = (30, 60, *(few for few, _ in MANY.values()))
#: Longest row that is judged in exact arithmetic; longer ones are compared, with a margin to rounding.
EXACT, BEYOND = 1100, 16.0
#: The same for conjugates: the facets of a box are as many, and each is a row of fractions.
FACETS = 260
#: Seconds of CPU for all calls, and how much more for each that is asked for.
IN_ALL, MORE = 2.0, 0.01
#: A call that takes so many seconds, and three times its forecast, is timed once more.
COMPILED = 0.02
#: Seconds that calls of new sizes may take longer than their repetition in all, once so many did: each is compiled.
COMPILING, ANEW = 20.0, 8
#: Of what grows with the square of n, seconds over n^2 at least: what a short call takes besides does not grow.
PAIR = 2e-9


#: Rows, entries, k.
Sizes = tuple[int, int, int]


@dataclass
class Speed:
    """Seconds left for a candidate, of its calls by size (apart: the first ones), and what is left out, and why.

    ``anew``: how much longer than their repetition the calls took that were timed once more.
    """

    left: float = field(default_factory=lambda: IN_ALL)
    calls: dict[bool, tuple[dict[Sizes, float], list[float]]] = field(default_factory=dict)
    refused: dict[Sizes, str] = field(default_factory=dict)
    anew: list[float] = field(default_factory=list)


#: What is known of a candidate's speed. It is kept: what was left out of one run is of the next, so that
#: the same seed has the same report.
Speeds = WeakKeyDictionary[Callable[..., Any], Speed]
_SPEEDS: Speeds = WeakKeyDictionary()


def applies(problem: Problem) -> bool:
    """Operations on one vector, all else shared; rankings have lengths of their own."""
    others = set(problem.named(shape="vector")[1:]) - {"costs"}  # which may be left out
    return problem.kind != "models" and not problem.ranking and not others


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Vectors, then batches, by size: every pair of two of rows, entries, residues and k."""
    rng = generator(problem.name, "shapes", seed)
    ks = KS if "k" in problem.arguments else ("1",)
    few, many = MANY[profile]
    many = many if problem.generator.rational and problem.operation != "conjugate" else few
    if profile == "soak":
        vector = Shape(0, int(rng.integers(17, 3000)), str(rng.choice(ks)))
        batch = Shape(int(rng.integers(2, 3000)), int(rng.integers(3, 40)), vector.k)
        return [short(problem, rng, shape, few) for shape in (vector, batch)]
    vectors = covering((VECTORS[profile], NEXT if profile == "thorough" else NEXT[:1], ks), rng)
    if profile == "quick":
        vectors = [
            (VECTORS[profile][i % len(VECTORS[profile])], 0, k)
            for i, (_, _, k) in enumerate(vectors)
        ]
    shapes = [Shape(0, 2**e + int(rng.choice(NEXT)), k) for e, _, k in vectors]
    shapes += [Shape(0, n, str(rng.choice(ks))) for n in DIVISIBLE]
    batches = covering(
        (ROWS[profile], LENGTHS[profile], NEXT, NEXT, ks),
        rng,
        lambda e, f, a, b, k: (
            2**e * 2**f <= LARGEST[profile]
            # the most rows of what takes exponentials: by their number only, a power of two and one more
            and (
                profile != "quick"
                or problem.generator.rational
                or e < 16
                or (a in (0, 1) and (b, k) == (0, "1"))
            )
        ),
    )
    blocks = [Shape(2**e + a, 2**f + b, k) for e, f, a, b, k in batches]
    blocks += [Shape(n, m, str(rng.choice(ks))) for n, m in (*SQUARE, *FULL)]
    every = sorted({*shapes, *blocks}, key=lambda s: (s.rows > 0, max(1, s.rows) * s.length, s))
    if problem.operation == "conjugate" and problem.labels:  # whose equations rounding breaks
        every = [s for s in every if s.length <= EXACT]
    bases: dict[Any, Instance] = {}
    found: list[Instance] = []
    for i, shape in enumerate(every):
        size = min(shape.length, many if i % 4 == 1 and shape.k in ("1", "half") else few)
        if not problem.generator.rational and absent(problem) is not None:
            size = size if shape.k == "96" else min(size, SOLVED[1])
            size = max((n for n in SOLVED if n <= size), default=size)
        key = size, shape.k, shape.rows > 0
        if key not in bases:  # the same numbers in other shapes are solved once
            bases[key] = short(problem, rng, shape, size)
        found.append(Instance(problem, str(shape), bases[key].items))
    # what takes exponentials: half as far
    top = SWEPT[profile] // (1 if problem.generator.rational else 2)
    ranges = _swept(problem, top, rng, ks[::4])
    return sorted(found + ranges, key=_size)[: COUNTS[profile]]


def _swept(problem: Problem, top: int, rng: Rng, ks: Sequence[str]) -> list[Instance]:
    """All lengths above half of ``top``, up to it, of a vector and of three rows; all numbers of rows."""
    found, own, rows = [], {}, {}
    widths = NARROW if problem.generator.rational else NARROW[:3]
    for k in ks:
        own[k] = short(problem, rng, Shape(0, top, k), NARROW[1], near=1.0)
        rows[k] = short(problem, rng, Shape(2, NARROW[0], k), NARROW[0], near=1.0)
    for i, low in enumerate(range(top // 2, top, TOGETHER)):
        k, swept = ks[i % len(ks)], f"{low + 1}..{min(low + TOGETHER, top)}"
        found += [Instance(problem, shape + swept, own[k].items) for shape in ("x", "3x")]
        narrow = widths[i % len(widths)]
        found.append(Instance(problem, f"{swept}x{narrow}", rows[k].items))
    return found


def _size(instance: Instance) -> tuple[bool, int]:
    """Vectors first, then batches, by their entries."""
    shape = Shape.of(instance)
    return shape.rows > 0, max(1, shape.rows) * shape.length


def _asked(instance: Instance) -> list[tuple[Shape, str]]:
    """Shapes and layouts of all calls: entries at other places, batches with an r per row; of a range one each."""
    shapes, layouts = Shape.each(instance), tuple[str, ...]()
    if len(shapes) > 1:
        return [(shape, "spread" if shape.rows > 3 else "end") for shape in shapes]
    if not shapes[0].rows:
        layouts = ("spread", "last", "middle", "first")
    elif any(instance.get(name) is not None for name in instance.problem.named(rows="may")):
        layouts = ("spread", "varied")
    else:
        layouts = ("spread",)
    return [(shapes[0], layout) for layout in layouts]


@if_certain
def examine(call: Caller, instance: Instance) -> Judgement:
    """The calls, each row against its own answer."""
    if not call.accepts(instance):
        raise NotApplicableError("the candidate takes not all of the arguments")
    asked = _asked(instance)
    batch = asked[0][0].rows > 0
    if batch and call.batch is None:
        call.batch = takes_batches(call)
    if batch and not call.batch:
        raise NotApplicableError("the candidate takes single vectors only")
    worst = Judgement(Verdict.PASS)
    for shape, layout in asked:
        if layout == "varied" and call.per_row is False:
            continue
        judged = _judged(call, instance, shape, layout)
        if not judged.ok:
            return judged
        worst = max(worst, judged, key=lambda j: j.distance or 0.0)
    return worst


def _judged(call: Caller, instance: Instance, shape: Shape, layout: str) -> Judgement:
    made = laid(instance, layout, shape)
    more = MORE / (20 if ".." in instance.family else 2)
    return _compared(instance, made, answered(call, shape, made.params, more), str(shape))


def _forecast(known: dict[Sizes, float], sizes: Sizes) -> float:
    """Seconds of a call of these sizes, by those known: what exceeds the shortest one grows with n times n or k."""
    shortest, found = min(known.values(), default=0.0), []
    for (p, n, k), s in known.items():
        grows = max(s - shortest, min(s, PAIR * p * n**2))
        longer = max(1, sizes[1] / n)
        growth = max(1, sizes[0] / p) * longer * max(longer, sizes[2] / k)
        found.append(s - grows + grows * growth)
    return min(found, default=0.0)


def _timed(call: Caller, given: dict[str, Any]) -> tuple[np.ndarray, float]:
    """The answer to copies of the arguments, and the seconds that it took."""
    params = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    clock = time.perf_counter if hasattr(call.function, "deaths") else time.process_time
    start = clock()
    answer = np.array(call.raw(params).x)
    return answer, clock() - start


def answered(
    call: Caller, shape: Shape, given: dict[str, Any], more: float, speeds: Speeds | None = None
) -> np.ndarray:
    """The answer, unless it would take too long by the calls before: then the shape is left out."""
    try:
        speed = (_SPEEDS if speeds is None else speeds).setdefault(call.function, Speed())
    except TypeError:  # an object that nobody may refer to weakly
        speed = Speed()
    sizes = (max(shape.rows, 1), shape.length, given.get("k") or 1)
    known, warm = speed.calls.setdefault(bool(shape.rows), ({}, []))
    speed.left += more
    takes = _forecast(known, sizes)
    if sizes not in speed.refused:
        late = takes > speed.left
        speed.refused[sizes] = f"left out: {shape} may take {takes:.2g} s a call" if late else ""
        if len(speed.anew) >= ANEW and sum(speed.anew) > COMPILING:
            speed.refused[sizes] = f"left out: each new size seems to be compiled, {COMPILING:g} s in all"
    if speed.refused[sizes]:
        raise NotApplicableError(speed.refused[sizes])
    answer, seconds = _timed(call, given)
    if seconds > max(COMPILED, 3 * takes):  # a kernel for arguments of other types was compiled
        answer, again = _timed(call, given)
        speed.anew.append(seconds - again)
        seconds = min(seconds, again)
    if len(warm) > 1:  # the first ones compile
        speed.left -= seconds
        if more == MORE / 2:
            known[sizes] = min(seconds, known.get(sizes, seconds))
    warm.append(seconds)
    return answer


def _compared(instance: Instance, made: Laid, answer: np.ndarray, name: str) -> Judgement:
    """All rows at once; the one that is worst then in exact arithmetic, unless it is too long for that."""
    problem, right = instance.problem, made.right
    if answer.shape != right.shape and (right.shape or answer.size != 1):
        return Judgement(Verdict.FAIL, message=f"shape {answer.shape}, expected {right.shape}")
    batch = made.params[problem.data].ndim == 2
    rows, own = (len(made.allowed), right.reshape(len(made.allowed), -1))
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.reshape(own.shape) - own)
    off[answer.reshape(own.shape) == own] = 0.0
    off[np.isnan(off)] = np.inf
    each = off.max(axis=1) / made.allowed
    i = int(np.argmax(each))
    eps = certificates.points.tolerance.precision(instance)
    ratio = float(each[i])
    length = made.params[problem.data].shape[-1]
    needed = float((off.max(axis=1) / made.size).max())
    if ratio <= 1:
        return Judgement(
            Verdict.PASS, distance=ratio * eps, distance_tolerance=eps, accuracy=needed
        )
    j = int(np.argmax(off[i]))
    got = float(answer.reshape(own.shape)[i, j])
    message = f"{name}: entry {j} is {got!r}, right is {float(own[i, j])!r}"
    if batch:
        wrong = int(np.sum(each > 1))
        message = f"row {i} of {rows} (one of {wrong} that are wrong) of {message}"
    terms = {"largest error": (float(off[i, j]), float(made.allowed[i]))}
    boxed = problem.operation == "conjugate" and not problem.labels
    if length <= (FACETS if boxed else EXACT):
        given = answer.reshape(right.shape)
        exact = certificates.judge(row(instance, made, i), Candidate(given[i] if batch else given))
        if exact.verdict is not Verdict.FAIL:
            return exact
    elif ratio <= BEYOND and certificates.points.tolerance.slack(instance, length) == 1.0:
        return Judgement(Verdict.PASS, accuracy=needed)
    return Judgement(Verdict.FAIL, message=message, terms=terms, accuracy=needed)


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The vector or batch is built as the check builds it; of a range the one that fails, after the one before."""
    asked = _asked(instance)
    if ".." in instance.family:
        bad = (i for i, each in enumerate(asked) if not _judged(call, instance, *each).ok)
        failed = next(bad, len(asked))
        asked = asked[max(0, failed - 1) : failed + 1]
    calls = [((shape.rows, shape.length), layout) for shape, layout in asked]
    given = call.arguments_code(
        instance.params, {n: f'made.params["{n}"]' for n in instance.params}
    )
    return [
        "from verification.instances.instance import Instance",
        "from verification.instances.shapes import Shape, laid",
        "",
        f"instance = Instance.from_json({instance.to_json()!r})",
        f"for shape, layout in {calls}:",
        "    made = laid(instance, layout, Shape(*shape))",
        f"    print(np.abs({function}({given}) - made.right).max())",
    ]
