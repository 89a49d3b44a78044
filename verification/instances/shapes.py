"""Long vectors and big batches whose right answer is that of a few short ones, laid out over them.

An entry far below all others has no part in a projection, a loss or a dual point: a vector of a hundred
thousand entries, all but some hundred of them such, has the answer of those. So an instance here is short,
solved exactly, and its family says the shape: ``"1025x33"`` rows and entries, ``"x4097"`` one vector; or a range of
shapes, one call each: ``"x513..576"``.
`absent` finds out by exact solutions which entry it is that has no part; where there is none, vectors are
as long as the instance.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from refsolve.errors import UncertainError
from verification import certificates
from verification.certificates import tolerance
from verification.instances.drawing import Rng, complete, entries, shortest, valid
from verification.instances.families import generator
from verification.instances.instance import Instance
from verification.problems.problem import Problem

Array = np.ndarray[Any, Any]
#: Rows differ by these factors, and by their order.
FACTORS = (1.0, 0.75, 1.25, 0.5)
#: Powers of two: entries that may have no part. 0 is one of a norm, of a dual point.
ABSENT = (-8.0, -64.0, -1024.0, 0.0)
#: Tame values of what would change the scale of the answer; not 1, which a kernel may have built in.
TAME = {"r": 0.75, "C": 1.25, "t": 0.75, "gamma": 0.75, "k_ii": 1.25, "cap": 0.25}
#: Cost of all entries but the truth, in some vectors.
COST = 0.5
#: Share of the instances with ties, of entries that then are in different blocks.
TIED = 0.4
#: Longer ones are solved once: their rows differ by the places only.
WHOLE = 200
#: What rows are moved against each other by: no multiple of a warp.
STRIDE = 7919


class Shape(NamedTuple):
    """Rows (0 for a vector, not a batch), entries, and the order k is of."""

    rows: int
    length: int
    k: str = "1"

    def __str__(self) -> str:
        return f"{self.rows or ''}x{self.length}"

    @classmethod
    def each(cls, instance: Instance) -> list["Shape"]:
        """Those of an instance, by its family."""
        rows, lengths = map(_range, instance.family.split("x"))
        return [cls(n, length) for n in rows for length in lengths]

    @classmethod
    def of(cls, instance: Instance) -> "Shape":
        """That of an instance, the first of several."""
        return cls.each(instance)[0]


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first or 0), int(last or first or 0) + 1)


@dataclass(frozen=True)
class Laid:
    """The arguments of one call, the right answer; of every row the bound on errors, and the sizes they are of."""

    params: dict[str, Any]
    right: Array
    allowed: Array
    size: Array


def short(problem: Problem, rng: Rng, shape: Shape, most: int, near: float = 0.6) -> Instance:
    """An instance of at most ``most`` entries: with the probability ``near`` each has a part in it, if it can."""
    size = min(shape.length, max(most, shortest(problem)))
    equal = rng.random() < near
    vector = (2 + rng.normal(size=size) / 4) / size if equal else rng.normal(size=size)
    if near < 1 and rng.random() < TIED and problem.unique:  # to a sixteenth of their size
        vector = np.round(vector * 16 * (size if equal else 1)) / (16 * (size if equal else 1))
    if problem.operation == "conjugate":  # its sum is 1 to the last bit: inside is inside
        vector = np.floor(np.abs(vector) / np.abs(vector).sum() * 2**20) / 2**20
        vector[0] += 1 - vector.sum()
    d = entries(problem, size)
    k = {"1": 1, "32": 32, "33": 33, "96": 96, "half": d // 2, "all but one": d - 1}[shape.k]
    fixed: dict[str, Any] = {"k": max(1, min(k, d)), "costs": None, "sample_weight": None, **TAME}
    if problem.others and near < 1 and not shape.rows and rng.random() < 0.25:
        fixed["y"] = int(rng.integers(size))
        fixed["costs"] = _costs(size, fixed["y"])
    fixed["rho"] = 0.5 * float(near < 1 and rng.random() < 0.25)  # a solver may have none
    made = complete(problem, rng, str(shape), vector, **fixed)
    return made if valid(made) else complete(problem, rng, str(shape), vector)


def _costs(size: int, y: int) -> Array:
    return np.where(np.arange(size) == y, 0.0, COST)


@functools.lru_cache(maxsize=512)
def variations(instance: Instance, varied: bool = False) -> tuple[tuple[Instance, Array], ...]:
    """The instance and others with the same k, ..., in which numbers and places differ; and the answers.

    ``varied``: what rows may have of their own, such as r, differs too.
    """
    problem, found = instance.problem, []
    count = (
        4 if problem.generator.rational else 2 if problem.point else 3
    )  # rows of points roll, too
    count = 1 if instance[problem.data].size > WHOLE else count
    for i, factor in enumerate(FACTORS[:count]):
        main, y = instance[problem.data], instance.get("y")
        moved = main * factor if problem.labels else np.roll(main * factor, i)
        changes: dict[str, Any] = {problem.data: moved.astype(main.dtype)}
        if y is not None and not problem.labels:
            changes["y"] = (y + i) % main.size
            if instance.get("costs") is not None:
                changes["costs"] = _costs(main.size, changes["y"])
        if "k_ii" in problem.arguments and not problem.fixed:
            changes["k_ii"] = instance["k_ii"] * (1 + i)
        for name in problem.named(rows="may") if varied and not problem.fixed else ():
            if instance.get(name) is not None:
                changes[name] = instance[name] * (1 + i / 4)
        other = instance.with_params(**changes)
        right = certificates.expected(other)
        if right is not None:
            found.append((other, np.asarray(right, dtype=float)))
    return tuple(found)


@functools.lru_cache(maxsize=512)
def absent(problem: Problem) -> float | None:
    """The entry that has no part in an answer, by exact solutions with and without it; None if there is none."""
    if problem.kind == "functions":
        return 0.0
    rng = generator(problem.name, "shapes", 0)
    few = [short(problem, rng, Shape(0, 40, k), 9) for k in ("1", "half", "1")]
    for value in ABSENT:
        if all(_agrees(each, value) for each in few):
            return value
    return None


def _agrees(instance: Instance, value: float) -> bool:
    if not (found := variations(instance)):
        return False
    laid = _placed(found[:1], Shape(0, 23), "spread", value)
    long = instance.with_params(**laid.params)
    right = certificates.expected(long) if valid(long) else None
    if right is None:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(right - laid.right) <= laid.allowed
    return bool(np.all(near | (right == laid.right)))  # infinite, too


def laid(instance: Instance, layout: str, shape: Shape | None = None) -> Laid:
    """An instance in its shape; errors are allowed by rounding, or by what is promised.

    Parameters
    ----------
    instance : Instance
        Short, with the shape in its family.
    layout : {"spread", "varied", "first", "last", "middle", "end"}
        Where the entries that matter are: all over, of rows that have an r of their own, or side by side;
        at the end with the largest last.
    shape : Shape, optional
        Which one, if there are several.
    """
    shape = shape or Shape.of(instance)
    most, longest = (_range(part)[-1] for part in instance.family.split("x"))
    longest -= (longest - shape.length) % 2
    found = variations(replace(instance, family=""), layout == "varied")
    if not found:
        raise UncertainError("no right answer is known")
    value = absent(instance.problem)
    if shape.rows < most:  # the first rows of the largest batch
        largest = shape._replace(rows=most)
        made = _largest(instance, layout, largest, tolerance.slack(instance, shape.length))
        return _first(instance, made, shape.rows)
    if layout == "end" and shape.length < longest and value is not None:
        largest = shape._replace(length=longest)
        made = _largest(instance, layout, largest, tolerance.slack(instance, shape.length))
        return _last(instance, made, longest, shape.length)
    if value is None:
        shape = shape._replace(length=instance[instance.problem.data].size)
    # the tail that a call leaves behind is not that of the next; 1.25 times a dual point is none
    start = {"last": 0, "middle": 1, "first": 2, "end": shape.length % 2}.get(layout, 0)
    found = found if shape.rows else found[start % len(found) :][:1]
    made = _placed(found, shape, layout, value or 0.0)
    if tolerance.slack(instance, shape.length) == 1.0:
        return made
    promised = tolerance.relative(instance, shape.length)  # of every entry, not of the norm of all
    return replace(made, allowed=np.maximum(made.allowed, promised * made.size))


@functools.lru_cache(maxsize=2)
def _largest(instance: Instance, layout: str, shape: Shape, slack: float) -> Laid:
    """The largest call of a range, kept; ``slack`` is that of the run."""
    return laid(instance, layout, shape)


def _first(instance: Instance, made: Laid, rows: int) -> Laid:
    """The first rows of a batch."""
    per_row, own = _per_row(instance.problem), len(made.right)
    params = {
        n: v[:rows] if n in per_row and np.ndim(v) and len(v) == own else v
        for n, v in made.params.items()
    }
    return Laid(params, made.right[:rows], made.allowed[:rows], made.size[:rows])


def _last(instance: Instance, made: Laid, longest: int, length: int) -> Laid:
    """The last entries of a vector or of a few rows; no more error is allowed than in them."""
    left = longest - length

    def cut(value: Any) -> Any:
        return value[..., left:] if np.ndim(value) and value.shape[-1] == longest else value

    params = {n: cut(v) for n, v in made.params.items()}
    if params.get("y") is not None and not instance.problem.labels:
        params["y"] = params["y"] - left
    less = tolerance.distance(1.0, length, 1.0, 0.0) / tolerance.distance(1.0, longest, 1.0, 0.0)
    return Laid(params, cut(made.right), made.allowed * less, made.size)


def _per_row(problem: Problem) -> tuple[str, ...]:
    """Arguments of which a batch has, or may have, one for each row."""
    return (problem.data, *problem.named(rows="always"), *problem.named(rows="may"))


def _placed(
    found: Sequence[tuple[Instance, Array]], shape: Shape, layout: str, value: float
) -> Laid:
    first, problem = found[0][0], found[0][0].problem
    main = first[problem.data]
    size, length, rows = main.size, shape.length, max(1, shape.rows)
    step = max(1, length // size)
    step -= step > 1 and step % 2 == 0  # odd: in every lane
    step = step if layout in ("spread", "varied") else 1
    start = {"first": 0, "middle": (length - size) // 2}.get(layout, length - 1 - (size - 1) * step)
    at = np.arange(rows)
    # neighbours differ, and the pattern has no period that a grid may have
    which = (at + at // len(found) + at // 61) % len(found)
    columns = (start + at[:, None] * STRIDE + np.arange(size) * step) % length
    own = np.stack([each[problem.data] for each, _ in found])
    if layout == "end":
        others = [each[problem.data].copy() for each, _ in found]
        for main, (each, _) in zip(others, found, strict=True):
            if problem.others:
                main[each["y"]] = -np.inf
        largest = np.argmax(others, axis=1)[which]
        columns = length - size + (np.arange(size) - largest[:, None] - 1) % size
    answers = np.stack([answer for _, answer in found])
    block = np.full((rows, length), value, dtype=main.dtype)
    np.put_along_axis(block, columns, own[which], axis=1)
    right = answers[which]
    if answers.ndim == 2:
        right = np.full((rows, length), value if problem.operation == "prox" else 0.0)
        if problem.kind == "functions":  # every entry has its answer
            right[:] = float(certificates.expected(first.with_params(t=np.zeros(1, main.dtype)))[0])  # type: ignore[index]
        np.put_along_axis(right, columns, answers[which], axis=1)
    params = first.params
    params[problem.data] = block
    if problem.labels:
        params["y"] = np.zeros((rows, length), dtype=np.int64)
        np.put_along_axis(params["y"], columns, np.stack([e["y"] for e, _ in found])[which], axis=1)
    own_values = [n for n in problem.named(rows="may") if len({e.get(n) for e, _ in found}) > 1]
    for name in (*problem.named(rows="always"), *(own_values if shape.rows else ())):
        if params.get(name) is not None and np.ndim(params[name]) == 0:
            params[name] = np.array([each[name] for each, _ in found])[which]
            if name == "y":
                params[name] = columns[at, params[name]]
    if params.get("costs") is not None:
        params["costs"] = _costs(length, int(params["y"][0]))
    sizes = [float(np.abs(each[problem.data]).max()) for each, _ in found]
    dual_variables = [
        float(np.abs(a[np.isfinite(a)]).sum()) for a in answers.reshape(len(found), -1)
    ]
    eps = tolerance.precision(first)
    reach = [(max(s, abs(value)) + 1, m) for s, m in zip(sizes, dual_variables, strict=True)]
    allowed = np.array([tolerance.distance(eps, length, *each) for each in reach])
    total = np.array([sum(each) for each in reach])
    if shape.rows:
        return Laid(params, right, allowed[which], total[which])
    alone = {n: v[0] if np.ndim(v) and n in (problem.data, "y", "k_ii") else v for n, v in params.items()}  # fmt: skip
    alone |= {n: alone[n].item() for n in ("y", "k_ii") if np.ndim(alone.get(n, [])) == 0}
    return Laid(alone, right[0], allowed[which], total[which])


def row(instance: Instance, made: Laid, i: int) -> Instance:
    """One row of a batch as an instance of its own."""
    problem, batch = instance.problem, made.params[instance.problem.data].ndim == 2
    per_row = _per_row(problem)
    params = {
        n: v[i] if batch and n in per_row and np.ndim(v) else v for n, v in made.params.items()
    }
    return Instance.of(problem, instance.family, **params)


def covering(
    factors: Sequence[Sequence[Any]], rng: Rng, allowed: Any = lambda *_: True
) -> list[tuple[Any, ...]]:
    """Tuples in which every pair of values of two factors occurs, where `allowed` admits one: greedy."""
    every = [c for c in itertools.product(*factors) if allowed(*c)]
    order = [every[i] for i in rng.permutation(len(every))]
    pairs = {c: {(i, c[i], j, c[j]) for i in range(len(c)) for j in range(i)} for c in order}
    left, found = set().union(*pairs.values()), []
    while left:
        best = max(order, key=lambda c: len(pairs[c] & left))
        left -= pairs[best]
        found.append(best)
    return found
