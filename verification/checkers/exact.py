"""A third checker, of certificates of cone programs alone: in rational arithmetic, with Python's integers.

Sums, products and comparisons are exact. Exponentials and logarithms are rounded outwards at 40 digits,
semidefinite matrices are decided in integers up to order 24 and by a factorisation with a bound on its
rounding beyond (`refsolve.cones`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.certificates import Certificate, parameters, read
from fast.errors import UnreadableError
from refsolve.cones import ConeProgram
from refsolve.cones.blocks import Block
from refsolve.cones.dyadic import Dyadic, entries, product, up
from refsolve.cones.membership import room, violation
from refsolve.cones.power import Power
from refsolve.cones.semidefinite import Semidefinite
from verification.errors import InvalidArgumentError, RefusedError

Array = np.ndarray[Any, Any]
#: Largest number that a file may hold.
BIG = 1e150


@dataclass(frozen=True)
class Proven:
    """What a certificate proves: the bound exactly, and how far its point is from feasible."""

    bound: Fraction
    violation: float


def need(good: object, why: str) -> None:
    """Refuse if something is not so."""
    if not good:
        raise RefusedError(why)


def accepts(path: str | PathLike[str]) -> bool:
    """Whether a file is a certificate of a cone program that proves its claim."""
    try:
        check(path)
    except (RefusedError, UnreadableError):
        return False
    return True


def check(path: str | PathLike[str]) -> Proven:
    """Prove what a certificate of a cone program claims.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Proven

    Raises
    ------
    RefusedError
        It does not prove it.
    UnreadableError
        It is no certificate.
    InvalidArgumentError
        It is one of another kind of problem.
    """
    given = read(path)
    if not given.problem.startswith("cone "):
        raise InvalidArgumentError(
            f"path: {given.problem!r} is no cone program; use check.c or check.js"
        )
    program, lo, hi = program_of(given)
    n, claim = len(program.q), given.header.get("claim")
    need(claim in ("optimal", "infeasible", "unbounded"), "an unknown claim")
    need(claim == "optimal" or given.bound < 0, "the claim does not follow from its bound")
    x = np.zeros(n) if claim == "infeasible" else _vector(given.solution, "x", n)
    s = Dyadic.of(program.b) - product(program.A, Dyadic.of(x))
    off = 0.0 if claim == "infeasible" else float(violation(program, s).max(initial=0.0))
    need(off <= given.header.get("violation", 0.0), "constraints fail by more than is claimed")
    if claim == "unbounded":
        ray = Dyadic.of(_vector(given.solution, "ray", n))
        need(product(program.P, ray).zero.all(), "the ray is not straight")
        need(not violation(program, -product(program.A, ray)).any(), "the ray leaves the cones")
        bound = (ray * Dyadic.of(program.q)).total()
    else:
        bound = _bound(given, program, x, s, (lo, hi))
    need(bound <= Fraction(given.bound), f"the bound is {up(bound)}, claimed is {given.bound}")
    return Proven(bound, off)


def _bound(
    given: Certificate, program: ConeProgram, x: Array, s: Dyadic, known: tuple[Array, Array]
) -> Fraction:
    """<z, s> and what each variable may gain; of an infeasible program with an objective of 0."""
    n, m, none = len(program.q), len(program.b), given.header["claim"] == "infeasible"
    z = _vector(given.solution, "z", m)
    need(room(program, z, np.zeros(m)), "the multipliers are outside the dual cone")
    slope, d = product(program.A.T, Dyadic.of(z)), np.zeros(n)
    if not none:
        d = _vector(given.solution, "curvature", n)
        _curved(program.P, d)
        slope = slope + Dyadic.of(program.q) + product(program.P, Dyadic.of(x))
    total = (s * Dyadic.of(z)).total()
    for j, (low, high) in enumerate(_ranges(program, known)):
        total += _gain(slope.fraction(j), Fraction(x[j]), low, high, Fraction(d[j]))
    return total


def _gain(
    r: Fraction, x: Fraction, low: Fraction | None, high: Fraction | None, d: Fraction
) -> Fraction:
    """Most of r t - d/2 t^2 over t = x - y, low <= y <= high."""
    least, most = (None if end is None else x - end for end in (high, low))
    if d > 0:
        t = r / d
        t = t if most is None else min(t, most)
        t = t if least is None else max(t, least)
        return r * t - d / 2 * t * t
    chosen = [most] * (r > 0 or d < 0) + [least] * (r < 0 or d < 0)
    need(None not in chosen, "a variable has neither a range nor a curvature")
    return max((r * t - d / 2 * t * t for t in chosen if t is not None), default=Fraction(0))


def _ranges(
    program: ConeProgram, known: tuple[Array, Array]
) -> list[tuple[Fraction | None, Fraction | None]]:
    """What is declared, and what rows of one entry say."""
    low: list[Fraction | None] = [None if v == -np.inf else Fraction(v) for v in known[0].tolist()]
    high: list[Fraction | None] = [None if v == np.inf else Fraction(v) for v in known[1].tolist()]
    A = program.rows
    for i in np.flatnonzero(np.diff(A.indptr)[: program.zero + program.nonneg] == 1).tolist():
        j, a = int(A.indices[A.indptr[i]]), float(A.data[A.indptr[i]])
        end = Fraction(float(program.b[i])) / Fraction(a)
        old_low, old_high = low[j], high[j]
        if (a > 0 or i < program.zero) and (old_high is None or end < old_high):
            high[j] = end
        if (a < 0 or i < program.zero) and (old_low is None or end > old_low):
            low[j] = end
    return list(zip(low, high, strict=True))


def _curved(P: Any, d: Array) -> None:
    """P - diag(d) is positive semidefinite; rows of P that are only diagonal are compared."""
    row, column, data = entries(P)
    beside = row != column
    coupled, diagonal = np.zeros(len(d), dtype=bool), np.zeros(len(d))
    coupled[row[beside]] = True
    np.add.at(diagonal, row[~beside], data[~beside])
    need(np.all((d <= diagonal) | coupled), "the curvature is more than that of P")
    used = np.flatnonzero(coupled)
    if len(used) == 0:
        return
    cone = Semidefinite(len(used))
    form = sp.csr_array(P)[used][:, used].toarray()
    less = np.zeros(cone.size)
    less[cone.diagonal] = d[used]
    rest = Dyadic.of(form[cone.places]) - Dyadic.of(less)
    need(cone.violation(rest, np.zeros(cone.size)) == 0, "the curvature is not certain")


def program_of(given: Certificate) -> tuple[ConeProgram, Array, Array]:
    """The program of a certificate, and the ranges that it takes for granted."""
    data, sizes = given.data, parameters(given.problem)
    q = data.get("q", np.zeros(0))
    n = q.size
    _vector(data, "q", n)
    A, P = _matrix(data, "A", n), _matrix(data, "P", n)
    for key, size in sizes.items():
        need(size >= 0 and size.is_integer(), f"{key} is no size")
    soc, psd, power = (_sizes(data, name, least) for name, least in
                       (("soc", 1), ("psd", 1), ("power", 3)))  # fmt: skip
    weights = _vector(data, "weights", sum(power) - 2 * len(power)) if power else np.zeros(0)
    need(np.all(weights > 0), "a weight is not positive")
    other: list[Block] = [Semidefinite(order) for order in psd]
    for size in power:
        first, weights = weights[: size - 2].tolist(), weights[size - 2 :]
        last = 1 - sum(map(Fraction, first), Fraction(0))
        need(last > 0, "no weight is left")
        other.append(Power((*first, float(last))))
    right = P.shape == (n, n) and P.has_canonical_format and not np.any(entries(P - P.T)[2])
    need(right, "P is not square, not symmetric, or has an entry twice")
    b = _vector(data, "b", A.shape[0])
    zero, nonneg, exp = (int(sizes[key]) for key in ("zero", "nonneg", "exp"))
    rows = zero + nonneg + sum(soc) + 3 * exp + sum(block.size for block in other)
    need(rows == len(b), "shapes do not fit")
    program = ConeProgram(P, q, A, b, zero, nonneg, soc, exp, tuple(other))
    free = np.full(n, np.inf)
    lo, hi = (_vector(data, k, n, np.inf) if k in data else free * sign
              for k, sign in (("lo", -1), ("hi", 1)))  # fmt: skip
    need(np.all((lo <= hi) & (lo < np.inf) & (hi > -np.inf)), "an assumed range is empty")
    return program, lo, hi


def _sizes(data: dict[str, Array], name: str, least: int) -> tuple[int, ...]:
    values = data.get(name, np.zeros(0, dtype=int))
    need(values.dtype.kind == "i" and np.all(values >= least), f"{name} are no sizes")
    return tuple(values.ravel().tolist())


def _vector(arrays: dict[str, Array], name: str, size: int, limit: float = BIG) -> Array:
    values = arrays.get(name, np.zeros(0, dtype=int))
    need(values.dtype.kind == "f" and values.size == size, f"{name} is missing or does not fit")
    values = values.ravel().astype(float)
    need(np.all(np.abs(values) <= limit), f"{name} has nan, inf or numbers beyond {limit:g}")
    return values


def _matrix(data: dict[str, Array], name: str, columns: int) -> Any:
    if name in data:
        values = data[name]
        need(values.ndim == 2 and values.shape[1] == columns, f"{name} does not fit")
        return sp.csr_array(_vector(data, name, values.size).reshape(values.shape))
    parts = [data.get(f"{name}.{part}", np.zeros(0)) for part in ("data", "indices", "indptr")]
    values, index, start = parts
    need(index.dtype.kind == start.dtype.kind == "i" and start.size, f"{name} is missing")
    values = _vector(data, f"{name}.data", index.size)
    right = start[0] == 0 and start[-1] == index.size and np.all(np.diff(start) >= 0)
    need(right and np.all((index >= 0) & (index < columns)), f"{name} is no such matrix")
    return sp.csr_array((values, index, start), shape=(start.size - 1, columns))
