"""Rankings whose products P N and (j + k)(j + k - 1) exceed 2^31, and 2^32: integers of 32 bits wrap there."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from verification import certificates
from verification.instances import rankings
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 66
#: Positives and negatives: P N above 2^31, above 2^32; (j + k)(j + k - 1) of j, and of k.
SIZES = {
    "quick": ((46_341, 46_341), (65_537, 65_537), (4, 65_600), (65_600, 4)),
    "thorough": (
        *((46_340, 46_340), (46_341, 46_341), (65_537, 65_537), (4, 65_600), (65_600, 4)),
        *((3_001, 720_001), (131_073, 16_385), (92_683, 23_171), (2, 140_000), (140_000, 2)),
    ),
    "soak": ((4, 65_600),),
}
COUNTS = {profile: len(sizes) for profile, sizes in SIZES.items()}
#: Longest side of smaller ones, by which it is foretold what a call takes, and how much of both it may.
TRIED, TIMES = (128, 512, 2048), 3
SECONDS, BYTES = 2.0, 2**30
MESSAGE = 300

#: Seconds and bytes of a call by the number of scores.
Known = dict[int, tuple[float, float]]
_KNOWN: WeakKeyDictionary[Callable[..., Any], dict[bool, Known]] = WeakKeyDictionary()


def applies(problem: Problem) -> bool:
    """Rankings."""
    return problem.ranking


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """A few scores that matter, by which `rankings.padded` makes many."""
    rng = generator(problem.name, "products", seed)
    found = []
    for P, N in SIZES[profile]:
        up, down = rng.normal(size=6) / 4, rng.normal(size=min(N, 12)) / 4
        found.append(rankings.labelled(problem, rng, f"{P}x{N}", up, down))
    return found


def examine(call: Caller, instance: Instance) -> Judgement:
    """One call, certified, unless it would take too much by smaller ones."""
    P, N = map(int, instance.family.split("x"))
    seconds, held = foretold(_tried(call, instance, P, N), P + N)
    if seconds > SECONDS or held > BYTES:
        raise NotApplicableError(
            f"left out: may take {seconds:.2g} s, {held / 2**30:.2g} GB a call"
        )
    large = rankings.padded(instance)
    judged = certificates.judge(large, call(large))
    return replace(judged, message=judged.message[:MESSAGE])


def _tried(call: Caller, instance: Instance, P: int, N: int) -> Known:
    """What smaller rankings take, as long as that is not too much; with few of either kind if there are few."""
    try:
        each = _KNOWN.setdefault(call.function, {})
    except TypeError:  # an object that nobody may refer to weakly
        each = {}
    known = each.setdefault(min(P, N) >= TRIED[0], {})
    clock = time.perf_counter if hasattr(call.function, "deaths") else time.process_time
    for n in TRIED[len(known) :]:
        seconds, held = foretold(known, n + min(P, N, n))
        if seconds > SECONDS or held > BYTES:
            break
        smaller = rankings.padded(replace(instance, family=f"{min(P, n)}x{min(N, n)}"))
        least = np.inf
        for _ in range(TIMES):  # the first call may compile
            start = clock()
            call(smaller)
            least = min(least, clock() - start)
        tracemalloc.start()
        try:
            call(smaller)
            held = float(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        known[smaller["scores"].size] = least, held
    return known


def foretold(known: Known, n: int) -> tuple[float, float]:
    """Seconds and bytes for n scores: by the growth between the last two, and somewhat more."""
    if len(known) < 2:
        return 0.0, 0.0
    (p, before), (q, after) = sorted(known.items())[-2:]

    def grown(i: int) -> float:
        power = np.log(max(after[i], 1e-6) / max(before[i], 1e-6)) / np.log(q / p)
        return float(after[i] * (n / q) ** (0.2 + np.clip(power, 1.0, 2.0)))

    return grown(0), grown(1)


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The ranking is made as the check makes it; what is printed is its certified judgement."""
    given = call.arguments_code(instance.params, {n: f'large["{n}"]' for n in instance.params})
    return [
        "from verification import Candidate, certificates",
        "from verification.instances import rankings",
        "from verification.instances.instance import Instance",
        "",
        f"large = rankings.padded(Instance.from_json({instance.to_json()!r}))",
        f"print({function}({given}))",
        "print(certificates.ranking.expected_answer(large))",
    ]
