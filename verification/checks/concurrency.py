"""Four threads call at once, each with inputs of its own: a workspace that they share mixes the answers."""

import contextlib
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from verification import certificates
from verification.checks import amount
from verification.checks._plain import on_vectors
from verification.checks.shapes import MORE, Speed, Speeds, answered
from verification.instances.drawing import complete, main_vector
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.instances.rankings import labelled
from verification.instances.shapes import Shape
from verification.kit.solver_call import Caller, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 54
COUNTS = {"quick": 3, "thorough": 6}
THREADS = 4
#: Calls of every thread.
ROUNDS = {"quick": 25, "thorough": 200}
SIZES = (12, 400, 4000)
#: Seconds after which another thread has its turn, in the place of .005.
TURN = 2e-6

#: What is known of a candidate's speed here; the seconds of CPU that it has for calls one after the other,
#: and for all rounds of an instance: a slow one has fewer, and one that is too slow for some is left out.
SECONDS, TOGETHER, FEWEST = 0.3, {"quick": 0.5, "thorough": 4.0}, 2
_SPEEDS: Speeds = WeakKeyDictionary()

applies = on_vectors


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Vectors of three lengths."""
    rng = generator(problem.name, "concurrency", seed)
    found = []
    most = SIZES[-1] if problem.generator.rational and problem.kind != "functions" else SIZES[1]
    for i in range(amount(problem, COUNTS[profile])):
        n = min(SIZES[i % 3], most)
        family = f"{ROUNDS[profile]} rounds"
        if problem.ranking:
            n = min(n, SIZES[1])
            found.append(
                labelled(problem, rng, family, rng.normal(size=n // 2), rng.normal(size=n))
            )
            continue
        vector = main_vector(problem, rng, rng.normal(size=n))
        found.append(complete(problem, rng, family, vector, r=1.0, C=1.0, k_ii=1.0, k=3))
    return found


def variations(instance: Instance) -> list[Instance]:
    """An instance of the same shape for each thread."""
    name = instance.problem.data
    factors = (1.0, 0.5, 0.25, 0.75)  # inside of a domain stays inside
    return [instance.with_params(**{name: instance[name] * f}) for f in factors[:THREADS]]


def examine(call: Caller, instance: Instance) -> Judgement:
    """One after the other, then all at once; what differs from the first answers is judged."""
    if hasattr(call.function, "deaths"):
        raise NotApplicableError("a process of its own answers one call at a time")
    if not call.accepts(instance):
        raise NotApplicableError("the candidate takes not all of the arguments")
    rounds, name = int(instance.family.split()[0]), instance.problem.data
    own, shape = variations(instance), Shape(0, np.size(instance[name]))
    speed = Speed(SECONDS)
    with contextlib.suppress(TypeError):  # an object that nobody may refer to weakly
        speed = _SPEEDS.setdefault(call.function, speed)
    alone, least = [], np.inf
    for each in own:
        start = time.process_time()
        alone.append(answered(call, shape, each.params, MORE / 2, _SPEEDS))
        least = min(least, time.process_time() - start)
    limit = TOGETHER["quick" if rounds == ROUNDS["quick"] else "thorough"]
    possible = int(limit / (THREADS * max(least, 1e-9)))
    late = f"left out: threads at {shape} may take {FEWEST * THREADS * least:.2g} s"
    refused = speed.refused.setdefault((0, shape.length, rounds), late * (possible < FEWEST))
    if refused:  # and so in the next run: the same seed has the same report
        raise NotApplicableError(refused)
    rounds = min(rounds, max(possible, FEWEST))
    for number, got in together(call, own, rounds):
        if isinstance(got, BaseException):
            message = f"four threads at once: thread {number}: {type(got).__name__}: {got}"
            return Judgement(Verdict.FAIL, message=message)
        if got.shape == alone[number].shape and got.tobytes() == alone[number].tobytes():
            continue
        judged = certificates.judge_long(own[number], Candidate(got))
        if not judged.ok:
            message = f"four threads at once: thread {number}: {judged.message}"
            return Judgement(Verdict.FAIL, message=message[:400], terms=judged.terms)
    return certificates.judge_long(own[0], Candidate(alone[0]))


def together(call: Caller, own: list[Instance], rounds: int) -> list[tuple[int, Any]]:
    """The answers of all threads that differ among themselves, each with the number of its thread."""
    start = threading.Barrier(len(own))

    def thread(number: int) -> list[tuple[int, Any]]:
        found: dict[bytes, np.ndarray] = {}
        try:
            for _ in range(rounds):
                start.wait(timeout=60)
                args, named = call.given(own[number].params)
                answer = np.array(call.unwrapped(call.function(*args, **named)).x)
                found.setdefault(answer.tobytes(), answer)
        except BaseException as error:
            start.abort()
            if isinstance(error, threading.BrokenBarrierError):
                return []
            return [(number, error)]
        return [(number, answer) for answer in found.values()]

    turn = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        with ThreadPoolExecutor(len(own)) as pool:
            return [pair for each in pool.map(thread, range(len(own))) for pair in each]
    finally:
        sys.setswitchinterval(turn)


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """Four threads; each prints how far its answers are from the one it had alone."""
    name = instance.problem.data
    given = call.arguments_code(instance.params, {name: "own"})
    return [
        "import sys",
        "from concurrent.futures import ThreadPoolExecutor",
        "from verification.instances.instance import Instance",
        "",
        f"instance = Instance.from_json({instance.to_json()!r})",
        f"{name} = instance[{name!r}]",
        f"sys.setswitchinterval({TURN})",
        "",
        "def solve(factor):",
        f"    own = {name} * factor",
        f"    return {function}({given})",
        "",
        "factors = (1.0, 0.5, 0.25, 0.75)",
        "alone = [np.array(solve(f)) for f in factors]",
        "with ThreadPoolExecutor(4) as pool:",
        "    for _ in range(1000):",
        "        off = [np.abs(x - y).max() for x, y in zip(pool.map(solve, factors), alone)]",
        "        if max(off) > 0:",
        "            print(off)",
    ]
