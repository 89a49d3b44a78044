"""Vectors of 17 to 10 000 entries as data have them: Gaussian, exponential, heavy-tailed, geometric, sorted.

An iteration that is stopped after so many rounds, or at a loose tolerance, is right on short vectors.
"""

import contextlib
from weakref import WeakKeyDictionary

import numpy as np

from verification import certificates
from verification.checks.shapes import MORE, Speed, Speeds, answered
from verification.instances.drawing import Rng, complete, dual_point, entries, valid
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.instances.rankings import labelled
from verification.instances.shapes import Shape, absent
from verification.kit.solver_call import Caller, CandidateCrashError, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 38
#: Lengths at which there is a vector of every distribution; at the others there is one, by turns.
EACH = {
    "quick": (17, 30, 60, 150, 400),
    "thorough": (17, 24, 30, 45, 60, 100, 150, 400, 1000, 2000),
}
LONG = {
    "quick": (1000, 3000, 10_000, 1000, 3000, 10_000),
    "thorough": (3000, 5000, 7000, 10_000, 10_000),
}
#: The most where every entry is a number by itself, solved in decimals; and of pairs of scores.
LONGEST = {"functions": 400, "ranking": 3000}
DISTRIBUTIONS = ("gaussian", "exponential", "heavy_tailed", "geometric", "sorted")
#: Of projections and of values without exponentials: more than integers of 16 bits count, all of which matter.
MOST = 40_000
COUNTS = {
    profile: len(EACH[profile]) * len(DISTRIBUTIONS) + len(LONG[profile]) + 1 for profile in EACH
}
#: In units of r (or 1): entries below it have no part. Radii of vectors that grow by a factor of 100 an entry.
FAR, RADII = -1e4, (1.0, 1e8, 1e30)

#: What is known of a candidate's speed here, and the seconds that it has for all calls.
SECONDS = 0.6
_SPEEDS: Speeds = WeakKeyDictionary()


def applies(problem: Problem) -> bool:
    """Every operation on vectors."""
    return problem.kind != "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """By length; some of weight 0, some with a radius that is an integer."""
    rng = generator(problem.name, "distributions", seed)
    pairs = [(n, name) for n in EACH[profile] for name in DISTRIBUTIONS]
    shift = int(rng.integers(len(DISTRIBUTIONS)))
    cheap = problem.generator.rational and problem.operation in ("projection", "value")
    long = LONG[profile] if cheap else LONG[profile][:3]
    pairs += [(n, DISTRIBUTIONS[(i + shift) % 5]) for i, n in enumerate(long)]
    if cheap and not set(problem.named(shape="vector")[1:]) - {"costs"}:
        pairs.append((MOST, "exponential"))
    most = LONGEST.get("ranking" if problem.ranking else problem.kind, MOST)
    return [_drawn(problem, rng, n, name, i) for i, (n, name) in enumerate(pairs) if n <= most]


def _drawn(problem: Problem, rng: Rng, n: int, name: str, i: int) -> Instance:
    vector: np.ndarray = sample(rng, name, n) * _scale(n, i)
    if problem.ranking:
        P = n // 2 if n >= 1000 else max(1, int(n * rng.choice([0.1, 0.3, 0.5])))
        return labelled(problem, rng, name, vector[:P], vector[P:])
    if name == "geometric" and _drops(problem):  # a hundred times as far below, and again
        vector = -(100.0 ** np.arange(min(n, 60)))
    d = entries(problem, vector.size)
    fixed: dict[str, object] = {
        "r": (0.75, 2, 1.0)[i % 7 % 3],
        "C": 1.25,
        "t": 0.75,
        "gamma": 0.75,
        "k_ii": 1.25,
    }
    fixed |= {"k": (max(1, d // 3), 1, 5)[4 * i % 9 // 3], "cap": 0.75, "rho": 0.5 * (i % 2)}
    if i % 4 == 1 and problem.operation == "projection":  # nearly all there is room for
        room = min(np.abs(vector).sum(), d * 0.75 if "cap" in problem.arguments else np.inf)
        fixed["r"] = float(0.999 * room)
    if vector.min() < FAR:
        fixed["r"] = 1.0 if "cap" in problem.arguments else RADII[i // 5 % 3]
    if i % 7 == 3:
        fixed["sample_weight"] = 0.0
    if problem.operation == "conjugate":
        vector = dual_point(problem, rng, np.maximum(np.abs(vector), 1e-9))
    made = complete(problem, rng, name, vector, **fixed)
    return made if valid(made) else complete(problem, rng, name, vector)


def _scale(n: int, i: int) -> float:
    """By turns: a few entries decide, or many; of long vectors many do."""
    if n >= MOST:
        return 1 / n
    return (8 / n, n**-0.5, 1e3)[i % 3] if n >= 1000 else (1.0, n**-0.5, 8 / n)[4 * i % 9 % 3]


def sample(rng: Rng, name: str, n: int) -> np.ndarray:
    """So many entries of a distribution."""
    if name == "exponential":
        return rng.exponential(size=n)
    if name == "heavy_tailed":
        return rng.standard_t(1.5, size=n)
    if name == "geometric":  # twelve decades, of either sign
        return rng.permutation(10.0 ** (-12 * np.arange(n) / n)) * rng.choice([-1.0, 1.0], size=n)
    vector = rng.normal(size=n)
    return np.sort(vector)[:: rng.choice([-1, 1])].copy() if name == "sorted" else vector


def _drops(problem: Problem) -> bool:
    """Whether entries far below the others have no part in a projection."""
    others = "y" in problem.arguments or problem.named(shape="vector")[1:]
    if problem.operation != "projection" or others:
        return False
    value = absent(problem)
    return value is not None and value < 0


def examine(call: Caller, instance: Instance) -> Judgement:
    """One call; of a vector with entries far below, what is left without them is judged.

    With a promise it is the whole: that is relative to the largest number in the data.
    """
    if not call.accepts(instance):
        raise NotApplicableError("the candidate takes not all of the arguments")
    main = instance[instance.problem.data]
    shape = Shape(0, main.size)
    with contextlib.suppress(TypeError):  # an object that nobody may refer to weakly
        _SPEEDS.setdefault(call.function, Speed(SECONDS))
    try:
        answer = answered(call, shape, instance.params, MORE / 2, _SPEEDS)
    except CandidateCrashError as error:
        if "MemoryError" not in error.raised and not str(error).startswith("MemoryError"):
            raise
        raise NotApplicableError(f"left out: {shape} takes too much memory") from error
    far = FAR * max(instance.get("r", 1.0), 1.0)
    near = main > far
    whole = near.all() or not _drops(instance.problem) or accuracy_contract.current() is not None
    if whole or answer.shape != main.shape:
        return certificates.judge_long(instance, Candidate(answer))
    if answer[~near].any():
        return Judgement(Verdict.FAIL, message=f"{answer[~near].max()!r} at an entry below {far:g}")
    short = instance.with_params(**{instance.problem.data: main[near]})
    return certificates.judge(short, Candidate(answer[near]))
