"""Vectors of hundreds of entries, full blocks, and more guesses than entries: where buffers end."""

import numpy as np

from verification.checks import amount
from verification.checks._plain import certified, on_vectors
from verification.instances.drawing import complete, entries
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.problems.problem import Problem

ORDER = 39
COUNTS = {"quick": 12, "thorough": 60}
#: Lengths beside the powers of two that buffers have.
SIZES = {"quick": (33, 65, 130), "thorough": (17, 33, 65, 130, 257, 520, 1030)}
#: Lengths of full warps and blocks, and one more than a block may have; a vector each.
BLOCKS = {"quick": (32, 256, 1025), "thorough": (32, 64, 128, 256, 512, 1024)}
#: The most where the truth takes decimal arithmetic, or is a number that all entries have a part in.
COSTLY = {"quick": 256, "thorough": 1024}


applies = on_vectors  # models have sizes of their own


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
    open_ended = [s.name for s in problem.symbols if s.name in problem.counts and s.high is None]
    for instance in list(found) if open_ended else []:
        d = int(rng.integers(1, 5))
        main = instance[problem.data][: d + 1 if problem.others else d]
        params = {n: entries(problem, main.size) + int(rng.integers(1, 4)) for n in open_ended}
        params |= {name: instance.get(name) for name in ("r", "C") if instance.get(name)}
        found.append(complete(problem, rng, "lengths", main, **params))
    return found + _blocks(problem, profile, rng)


def _blocks(problem: Problem, profile: str, rng: np.random.Generator) -> list[Instance]:
    """Nearly equal entries, so that each of them counts, and the last one most."""
    cheap = problem.ranking or (problem.point and problem.generator.rational)
    sizes = [n for n in BLOCKS[profile] if cheap or n <= COSTLY[profile]]
    found = []
    for i, size in enumerate(sizes):
        vector = (2 + rng.normal(size=size) / 4) / size
        top = int(np.argmax(vector))
        vector[[top, -1]] = vector[[-1, top]]
        if problem.ranking:
            y = rng.permutation((np.arange(size) % 5 < 2).astype(np.int64))
            found.append(Instance.of(problem.name, "lengths", scores=vector, y=y))
            continue
        if problem.operation == "conjugate":
            vector /= vector.sum()
        d = entries(problem, size)
        k = (d // 2, 1, d - 1)[i % 3]
        found.append(complete(problem, rng, "lengths", vector, k=k, r=1.0, C=1.0))
    return found


examine = certified
