"""Vectors of hundreds of entries, and more guesses than entries: where buffers and blocks end."""

from __future__ import annotations

import numpy as np

from verification import certificates
from verification.calling import Caller
from verification.checks import amount
from verification.families import complete, entries, generator
from verification.instances import Instance
from verification.problems import Problem
from verification.verdicts import Judgement

ORDER = 39
COUNTS = {"quick": 12, "thorough": 60}
#: Lengths beside the powers of two that buffers have.
SIZES = {"quick": (33, 65, 130), "thorough": (17, 33, 65, 130, 257, 520, 1030)}


def applies(problem: Problem) -> bool:
    """Every operation on vectors; functions take numbers, and models have sizes of their own."""
    return problem.kind in ("sets", "losses")


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Long vectors by turns, most of their entries active; then short ones with k > d, where it may be."""
    rng = generator(problem.name, "lengths", seed)
    found = []
    for i in range(amount(problem, COUNTS[profile])):
        size = SIZES[profile][i % len(SIZES[profile])]
        vector = rng.normal(size=size) * float(rng.choice([1e-3, 1.0]))
        if problem.operation == "conjugate":
            vector = np.abs(vector) / np.abs(vector).sum()
        if problem.ranking:
            y = (rng.random(size) < 0.4).astype(np.int64)
            y[:2] = 0, 1
            found.append(Instance.of(problem.name, "lengths", scores=vector, y=y))
            continue
        k = int(rng.choice([1, 3, size // 2, size - 1]))
        found.append(complete(problem, rng, "lengths", vector, k=k, r=1.0, C=1.0))
    for instance in list(found) if "k" in problem.arguments else []:
        d = int(rng.integers(1, 5))
        if problem.largest_k(d) is None:
            main = instance[problem.data][: d + 1 if problem.others else d]
            params = {"k": entries(problem, main.size) + int(rng.integers(1, 4))}
            params |= {name: instance.get(name) for name in ("r", "C") if instance.get(name)}
            found.append(complete(problem, rng, "lengths", main, **params))
    return found


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, certify."""
    return certificates.certify(instance, call(instance))
