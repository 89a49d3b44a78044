"""Faulty ports, generated: a right solution with a fault whose parameters are drawn; who kills them?

``python -m verification.selftest.ports --count N --seed S --profile quick`` prints JSON. A fault is one
of `verification.selftest.faults` around the solution of `fast`: it loses lanes, rows or columns, leaves the
tail of the call before, wraps an index or a product, or does so now and then. Its parameters are drawn log-uniformly,
every other one rounded to a power of two. Kinds whose name has an odd CRC-32 are held out: the checks were
not tuned on them, and they are counted apart.
"""

import argparse
import functools
import json
import time
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from verification.faulty_solvers import Mutant
from verification.kit.loop import verify
from verification.problems.problem import Problem, fast_candidate, lookup
from verification.selftest import detection_matrix
from verification.selftest.faults import FAULTS, Array, Params, Right, size

Solve = Callable[..., Any]

PROBLEMS = (
    "topk_simplex_alpha.projection",
    "topk_simplex_beta.projection",
    "topk_cone.projection",
    "simplex.projection",
    "softmax.value",
    "topk_hinge_alpha.value",
    "smooth_topk_hinge_alpha.gradient",
    "topk_hinge_alpha.sdca_update",
    "softmax.prox",
    "average_precision.loss_augmented_inference",
)
#: What is asked first; the others only of those that survive it.
FIRST = ("shapes", "batch", "lengths", "products")


def held_out(kind: str) -> bool:
    """Whether the checks were tuned without a look at this kind."""
    return zlib.crc32(kind.encode()) % 2 == 1


def _needs(kind: str, problem: Problem) -> bool:
    """Whether a fault of this kind changes anything in a problem."""
    if problem.ranking or kind == "product_wraps":
        return problem.ranking and kind == "product_wraps"
    if kind == "class_index_wraps":
        return "y" in problem.arguments
    return kind != "k_clipped" or "k" in problem.arguments


class Outcome(NamedTuple):
    """One port: its fault with the parameters, and the check that killed it; none, if it survived."""

    number: int
    kind: str
    problem: str
    parameters: Params
    killed_by: str


def port(number: int, seed: int = 0) -> tuple[str, Params, Mutant]:
    """The kind of a port, its parameters, and the port as a wrong solver; all a function of the seed."""
    rng = np.random.default_rng([seed, number])
    name = PROBLEMS[int(rng.integers(len(PROBLEMS)))]
    problem, solve = lookup(name), fast_candidate(name)
    assert solve is not None
    kinds = [kind for kind in FAULTS if _needs(kind, problem)]
    kind = kinds[int(rng.integers(len(kinds)))]
    ranges, faulty = FAULTS[kind]
    drawn = {name: size(rng, low, high) for name, (low, high) in ranges.items()}
    right = Right(problem, solve, rng)

    @functools.wraps(solve)  # its signature says which arguments it takes
    def candidate(*args: Any, **given: Any) -> Array:
        return faulty(right, {**dict(zip(problem.arguments, args, strict=False)), **given}, **drawn)

    return kind, drawn, Mutant(f"{kind}_{number}", name, str(faulty.__doc__), candidate)


def judged(number: int, seed: int = 0, profile: str = "quick") -> Outcome:
    """Whether the checks kill a port: those on shapes first, then all of them."""
    kind, parameters, mutant = port(number, seed)
    row = detection_matrix.row(mutant, profile, 0, FIRST, until_killed=True)
    if not row.killed:
        row = detection_matrix.row(mutant, profile, 0, until_killed=True)
    by = next((check for check, at in row.cells.items() if at), "")
    return Outcome(number, kind, mutant.problem, parameters, by)


def simplex_by_sorting(a: Array, r: Any = 1.0) -> Array:
    """Projection on the simplex in plain vectorised numpy, of a vector or of rows."""
    order = -np.sort(-np.asarray(a, dtype=float), axis=-1)
    steps = np.arange(1, order.shape[-1] + 1)
    ahead = (np.cumsum(order - order[..., :1], axis=-1) - np.asarray(r)[..., None]) / steps
    last = np.sum(order - order[..., :1] > ahead, axis=-1, keepdims=True) - 1
    t = np.take_along_axis(ahead, np.maximum(last, 0), axis=-1)  # r = 0 has no entry ahead
    return np.maximum(a - order[..., :1] - t, 0.0)


def logistic_in_numpy(scores: Array, y: Any) -> Array:
    """The softmax loss in plain vectorised numpy."""
    at = np.asarray(y)[..., None]
    z = scores - np.take_along_axis(scores, at, axis=-1)
    np.put_along_axis(z, at, -np.inf, axis=-1)
    top = np.maximum(z.max(axis=-1), 0.0)  # where nobody is ahead, log1p has all digits
    others = np.exp(z - top[..., None]).sum(axis=-1)
    return np.where(top > 0, top + np.log(np.exp(-top) + others), np.log1p(others))


#: Right ports beside those of `fast`.
RIGHT: dict[str, tuple[str, Solve]] = {
    "simplex_by_sorting": ("simplex.projection", simplex_by_sorting),
    "logistic_in_numpy": ("softmax.value", logistic_in_numpy),
}


def measured(count: int, seed: int = 0, profile: str = "quick", right: bool = True) -> Params:
    """How many of ``count`` ports are killed, the survivors, and the right ports that fail."""
    start = time.process_time()
    found = [judged(number, seed, profile) for number in range(count)]

    def tally(chosen: Callable[[str], bool]) -> dict[str, int]:
        group = [o for o in found if chosen(o.kind)]
        return {"ports": len(group), "killed": sum(bool(o.killed_by) for o in group)}

    judged_right = [*((n, None) for n in PROBLEMS), *RIGHT.values()] if right else []
    reports = [verify(candidate, name, profile) for name, candidate in judged_right]
    return {
        "profile": profile,
        "seed": seed,
        "own": tally(lambda kind: not held_out(kind)),
        "held_out": tally(held_out),
        "kinds": {k: {"held_out": held_out(k), **tally(k.__eq__)} for k in FAULTS},
        "killed_by": dict(Counter(o.killed_by for o in found if o.killed_by).most_common()),
        "survivors": [o._asdict() for o in found if not o.killed_by],
        "right": len(reports),
        "false_alarms": [f"{r.candidate}: {r.problem}" for r in reports if not r.ok],
        "seconds": round(time.process_time() - start, 1),
    }


def command(
    module: str, about: str | None, run: Callable[[int, int, str], dict[str, Any]], count: int
) -> None:
    """``python -m verification.selftest.MODULE``: generate so many wrong solvers, and print who was found out."""
    parser = argparse.ArgumentParser(
        prog=f"python -m verification.selftest.{module}", description=about
    )
    parser.add_argument("--count", type=int, default=count, help="solvers to generate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", choices=("quick", "thorough"), default="quick")
    given = parser.parse_args()
    print(json.dumps(run(given.count, given.seed, given.profile), indent=1))


if __name__ == "__main__":
    command("ports", __doc__, measured, 100)
