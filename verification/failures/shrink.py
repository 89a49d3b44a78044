"""Makes a failing instance small: fewer entries, smallest k, simple scalars, dyadic numbers.

Greedy: a change is kept if the instance still fails in the same way and has become simpler.
"""

import math
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from verification import certificates, checks
from verification.certificates import ranking
from verification.instances import datasets, drawing
from verification.instances.instance import Instance, literal
from verification.kit.solver_call import Caller, CandidateCrashError, CandidateTimeoutError
from verification.verdicts.verdict import Candidate, Result, Verdict

ENDS = (-np.inf, np.inf)
#: Most numbers of an array in a script, and characters of a comment.
LONG, WIDTH = 100, 1000


def shrink(failure: Result, rerun: Callable[[Instance], Result], seconds: float = 3.0) -> Result:
    """Simplest failing result found within a time limit, starting from ``failure``.

    Parameters
    ----------
    failure : Result
        A fail or a crash, with its instance.
    rerun : callable
        Runs the same check on another instance.
    seconds : float
        Stop then; the best so far is still a counterexample.
    """
    best = failure
    if best.instance is None:
        return best
    deadline = time.perf_counter() + seconds
    tried = {best.instance}
    progress = True
    while progress and time.perf_counter() < deadline:
        progress = False
        for simpler in _candidates(best.instance):
            if time.perf_counter() >= deadline:
                break
            if simpler in tried or not _valid(simpler):
                continue
            if complexity(simpler) >= complexity(best.instance):
                continue
            tried.add(simpler)
            result = rerun(simpler)
            if result.verdict is failure.verdict and _kind(result) == _kind(failure):
                best, progress = result, True
                break
    return best


def _valid(instance: Instance) -> bool:
    return (drawing if instance.problem.model is None else datasets).valid(instance)


def _kind(result: Result) -> str:
    """What must stay: the type of a crash; of a failure without figures, the words before the first one.

    A wrong number stays one, whichever bound shows it, and does not become a wrong shape.
    """
    if result.verdict is not Verdict.FAIL:
        return result.message.partition(":")[0]
    return "" if result.terms else re.split(r"[\d\[({]", result.message, maxsplit=1)[0]


def complexity(instance: Instance | None) -> tuple[float, ...]:
    """Order of simplicity: entries, then k, then arguments off their defaults, then bits."""
    if instance is None:
        return (float("inf"),)
    params = instance.params
    arrays = [v for v in params.values() if isinstance(v, np.ndarray)]
    size = sum(v.size for v in arrays)
    problem = instance.problem
    defaults = problem.defaults
    off_default = sum(
        not isinstance(value, np.ndarray) and name in defaults and value != defaults[name]
        for name, value in params.items()
        if name not in problem.counts
    )
    numbers = [float(x) for v in arrays for x in v.ravel()]
    numbers += [float(v) for v in params.values() if isinstance(v, (int, float))]
    bits = sum(_bits(x) for x in numbers)
    main = params[problem.data]
    ascents = int(np.sum(np.diff(main.ravel()) > 0)) if isinstance(main, np.ndarray) else 0
    counts = sum(params.get(name) or 0 for name in problem.counts)
    return (size, counts, off_default, bits, ascents)


def _bits(x: float) -> float:
    """Length of the fraction x: 0 and 1 are the simplest, then -1, 2, 1/2; -0 is not as simple as 0.

    An infinite number stands for no bound.
    """
    if not np.isfinite(x):
        return 4096 if np.isnan(x) else 1.5
    numerator, denominator = x.as_integer_ratio()
    negative = math.copysign(0.5, x) < 0
    return abs(numerator).bit_length() + denominator.bit_length() + 0.5 * negative


def _candidates(instance: Instance) -> Iterator[Instance]:
    if instance.problem.model is not None:
        yield from datasets.simpler(instance)
        return
    yield from _fewer_entries(instance)
    yield from _rescaled(instance)
    yield from _simpler_scalars(instance)
    yield from _simpler_vectors(instance)


def _fewer_entries(instance: Instance) -> Iterator[Instance]:
    params, problem = instance.params, instance.problem
    name = problem.data
    n = params[name].size
    y = params.get("y")
    y = None if isinstance(y, np.ndarray) else y  # a class must stay, labels need not
    removable = [i for i in range(n) if i != y]
    half = len(removable) // 2
    groups = [removable[:half], removable[half:]] if half > 1 else []
    groups += [[i] for i in removable]
    for group in groups:
        keep = [i for i in range(n) if i not in group]
        if not keep or (y is not None and len(keep) < 2):
            continue
        changes: dict[str, Any] = {name: params[name][keep]}
        for other in (*problem.named(shape="vector")[1:], *problem.named(shape="truth")):
            if isinstance(params.get(other), np.ndarray):  # weights of ranks: those of the first
                value = params[other]
                size = drawing.entries(problem, len(keep))
                changes[other] = value[keep] if value.size == n else value[:size]
        if y is not None:
            changes["y"] = keep.index(y)
        d = drawing.entries(problem, len(keep))
        changes |= {count: min(params[count], d) for count in problem.counts}
        yield instance.with_params(**changes)
        for count in problem.counts:
            if params[count] > 1:
                yield instance.with_params(**{**changes, count: params[count] - 1})


def _rescaled(instance: Instance) -> Iterator[Instance]:
    """Everything that has the units of the scores, times a power of two: mostly the same problem."""
    main = instance.problem.data
    symbols = instance.problem.symbols
    given = {
        s.name: instance[s.name] for s in symbols if s.unit and instance.get(s.name) is not None
    }
    sizes = [float(np.max(np.abs(given.get(main, np.zeros(0))), initial=0.0))]
    sizes += [abs(float(v)) for v in given.values() if np.ndim(v) == 0]
    exponents = [int(np.floor(np.log2(v))) for v in sizes if 0 < v < np.inf]
    powers = [-e for e in exponents] + [-e // 2 for e in exponents[:1]]
    for by in dict.fromkeys(powers):
        if by:
            with np.errstate(over="ignore", under="ignore"):
                yield instance.with_params(
                    **{
                        name: np.ldexp(v, by) if np.ndim(v) else float(np.ldexp(float(v), by))
                        for name, v in given.items()
                    }
                )


def _simpler_scalars(instance: Instance) -> Iterator[Instance]:
    problem = instance.problem
    defaults = problem.defaults
    for name, value in instance.params.items():
        if name in defaults and not np.array_equal(value, defaults[name]):
            yield instance.with_params(**{name: defaults[name]})
        if name in problem.counts and value > 1:
            for count in {1, value // 2, value - 1}:
                yield instance.with_params(**{name: count})
        elif name == "y" and np.ndim(value) == 0 and value > 0:
            order = [
                value,
                *(i for i in range(value)),
                *range(value + 1, instance[problem.data].size),
            ]
            changes = {
                other: array[order]
                for other, array in instance.params.items()
                if isinstance(array, np.ndarray) and array.size == len(order)
            }
            yield instance.with_params(**changes, y=0)
        elif isinstance(value, float):
            for simple in _roundings(value):
                yield instance.with_params(**{name: simple})


def _simpler_vectors(instance: Instance) -> Iterator[Instance]:
    unbounded = [s.name for s in instance.problem.symbols if s.infinite]
    for name, value in instance.params.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            continue
        yield instance.with_params(**{name: value + 0.0})  # no zero is negative
        if name in unbounded:
            yield from (instance.with_params(**{name: np.full_like(value, v)}) for v in ENDS)
        top = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
        if top > 0:
            exponent = int(np.floor(np.log2(top)))
            for bits in (0, 1, 2, 3, 5, 8, 12, 20, 30):
                for unit in (2.0**-bits, 2.0 ** (exponent - bits)):
                    yield instance.with_params(**{name: np.round(value / unit) * unit})
            yield instance.with_params(**{name: np.ldexp(value, -exponent)})
        if "y" not in instance.params:
            yield instance.with_params(**{name: -np.sort(-value)})
        # halves of the entries at 0, or all at the value of one
        half = (value.size + 1) // 2
        for part in (slice(0, half), slice(half, None)) if value.size > 2 else ():
            changed = value.copy()
            changed[part] = 0.0
            yield instance.with_params(**{name: changed})
        for entry in dict.fromkeys(value.tolist()):
            yield instance.with_params(**{name: np.full_like(value, entry)})
        for i, entry in enumerate(value.tolist()):
            for simple in _roundings(entry):
                changed = value.copy()
                changed[i] = simple
                yield instance.with_params(**{name: changed})


def _roundings(value: float) -> list[float]:
    if value == 0 or not np.isfinite(value):
        return []
    sign = float(np.sign(value))
    found = [0.0, 1.0, sign, 2 * sign, float(np.round(value))]
    found += [float(np.round(value * 2.0**b) / 2.0**b) for b in (1, 2, 3, 6, 10, 20, 26, 32)]
    exponent = int(np.floor(np.log2(abs(value))))
    found += [float(np.round(value / 2.0**exponent * 4) / 4 * 2.0**exponent)]
    # towards 1: half the exponent, then step by step
    found += [sign * 2.0**e for e in (exponent // 2, exponent, exponent - int(np.sign(exponent)))]
    return [v for v in dict.fromkeys(found) if v != value and np.isfinite(v)]


def code(result: Result, call: Caller) -> str:
    """A failing instance as code to paste, with what came out and what is right."""
    assert result.instance is not None
    module, _, name = call.name.rpartition(".")
    importable = name.isidentifier() and "<" not in call.name and module != "__main__"
    program = getattr(call.function, "origin", "")  # code that starts it
    function = name if name.isidentifier() and not program else call.problem.function
    origin = f"from {module} import {name}" if importable else f"# {function} is {call.name}"
    origin = program or origin
    script = getattr(checks.discover().get(result.check), "script", single_call)
    body = abbreviated(script(call, result.instance, function), result.instance, call)
    lines = ["import numpy as np", origin, "", *body]
    return "\n".join([*lines, _cut(f"# {result.check}: {result.message}")])


def abbreviated(lines: list[str], instance: Instance, call: Caller) -> list[str]:
    """A script without long arrays, where the instance is one that a check draws: it is drawn again."""
    lines = [_cut(line) if line.startswith("#") else line for line in lines]
    drawn = call.drawn.get(instance)
    if drawn is None:
        return lines
    text = "\n".join(lines)
    short = text.replace(f"Instance.from_json({instance.to_json()!r})", drawn)
    for name, value in instance.params.items():
        short = short.replace(literal(value), f"instance[{name!r}]") if is_long(value) else short
    if short == text:
        return lines
    start = [] if f"instance = {drawn}" in short else [f"instance = {drawn}"]
    return ["from verification.kit.fixing import drawn", *start, *short.split("\n")]


def is_long(value: Any) -> bool:
    """More numbers than anybody reads in a script."""
    return isinstance(value, np.ndarray) and value.size > LONG


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[:WIDTH] + " ..."


def single_call(call: Caller, instance: Instance, function: str) -> list[str]:
    """Lines that call the candidate once; a check with a ``script`` of its own replaces them."""
    if call.problem.ranking:
        return call_lines(call, instance.params, function, ranking.expected_answer(instance))
    right = certificates.expected(instance)
    return call_lines(call, instance.params, function, right)


def call_lines(
    call: Caller, params: dict[str, Any], function: str, right: np.ndarray | Candidate | None
) -> list[str]:
    """``print(function(...))`` with the answer and the right answer as comments."""
    lines = [f"print({function}({call.arguments_code(params)}))"]
    answer = Candidate(None)
    try:
        if call.exhausted:  # hangs: not waited for again
            raise CandidateTimeoutError("nothing in time")
        answer = call.raw(params)
        lines.append(f"# returned {answer.plain()}")
    except (CandidateCrashError, CandidateTimeoutError) as error:
        lines.append(f"# raised {error}")
    if isinstance(right, Candidate):
        right = right.plain(answer.value is not None)
    elif right is not None:
        right = right.tolist()
    return lines if right is None else [*lines, f"# right    {right}"]
