"""Certificates of projections and of cone programs for the checkers: right ones, and wrong ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.certificates import Certificate, read
from refsolve import solve
from refsolve.certificate_files.projections import CAPS, Question
from refsolve.cones import ConeProgram
from refsolve.cones.blocks import Block
from refsolve.cones.certificate_file import Proof, outside, proof
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.power import Power
from refsolve.cones.semidefinite import Semidefinite
from verification.checkers.exact import program_of
from verification.checkers.trials import malformed

Array = np.ndarray[Any, Any]
EPS = float(np.finfo(float).eps)


def projection(rng: Any, path: Path, object_name: str | None = None) -> None:
    """Of a random set, size and scale, the oracle's answer or one that is off by a little."""
    object_name = str(rng.choice(list(CAPS))) if object_name is None else object_name
    d = int(rng.integers(2, 10))
    a = rng.normal(size=d) * 10.0 ** rng.uniform(-2, 2)
    size = float(np.abs(a).mean())
    given: dict[str, Any] = {"a": np.round(a) if rng.random() < 0.2 else a}
    if object_name not in ("topk_cone", "knapsack"):
        given["r"] = float(rng.uniform(0.1, 3) * size)
    if "topk" in object_name:
        given |= {"k": int(rng.integers(1, d)), "rho": float(rng.choice([0.0, rng.uniform(0, 2)]))}
    if object_name == "capped_simplex":
        given["cap"] = float(given["r"] * rng.uniform(1.05 / d, 1.2))
    if object_name == "bipartite_simplex":
        given["y"] = np.append([0, 1], rng.integers(0, 2, d - 2))
    if object_name == "knapsack":
        low, high, b = -rng.random(d) * size, rng.random(d) * size, rng.normal(size=d)
        low[rng.random(d) < 0.2], high[rng.random(d) < 0.2] = -np.inf, np.inf
        inside = np.clip(rng.normal(size=d) * size, 0.9 * low, 0.9 * high)
        given |= {"b": b, "low": low, "high": high, "capacity": float(b @ inside)}
    answer = solve(f"{object_name}.projection", **given)
    if rng.random() < 0.5:
        return answer.save(path)
    x = answer.x * (1 + 10.0 ** rng.uniform(-14, -2) * rng.normal(size=d))
    Question.of(object_name, given).save(path, x)
    return None


def program(rng: Any, path: Path, *, tight: bool = False) -> str:
    """Of a random cone program with a planted solution, ray or contradiction; its claim."""
    n, zero, nonneg = int(rng.integers(2, 7)), int(rng.integers(0, 2)), int(rng.integers(1, 5))
    soc, exp = tuple(rng.integers(1, 5, int(rng.integers(0, 3))).tolist()), int(rng.integers(0, 3))
    claim = "optimal" if tight else str(rng.choice(["optimal"] * 4 + ["infeasible", "unbounded"]))
    other: tuple[Block, ...] = tuple(
        Semidefinite(int(rng.integers(1, 6))) for _ in range(rng.integers(0, 3))
    )
    for _ in range(rng.integers(0, 3)):
        weights = rng.dirichlet(np.full(int(rng.choice([2, 2, 3, 5])), 2.0))
        other += (Power(tuple(weights.tolist())),)
    m = zero + nonneg + sum(soc) + 3 * exp + sum(block.size for block in other)
    A = np.round(rng.normal(size=(m, n)) * 4) * (rng.random((m, n)) < 0.8)
    empty = ConeProgram(
        np.zeros((n, n)), np.zeros(n), A, np.zeros(m), zero, nonneg, soc, exp, other
    )
    s, z = _pair(rng, empty)
    x, P, free = rng.normal(size=n), np.zeros((n, n)), np.full(n, np.inf)
    if claim == "unbounded":
        ray = np.append(1.0, rng.integers(-3, 4, n - 1))
        A[:, 0] -= A @ ray  # now 0, and then inside of the cones
        A[:, 0] -= np.where(np.arange(m) < zero, 0, np.round(empty.inwards()) * rng.integers(0, 3))
        made = replace(empty, A=A, b=A @ x + s, q=-ray)
        found = Proof(
            claim, -float(ray @ ray) / 2, outside(made, x), {"x": x, "ray": ray}, -free, free
        )
        found.save(path, made, ())
        return claim
    if claim == "infeasible":
        z = z if z @ z > 0 else empty.inwards(dual=True)
        A = A - np.outer(z, z @ A) / (z @ z)
        made = replace(empty, A=A, b=s - (s @ z + rng.uniform(0.1, 2)) * z / (z @ z))
        proven = proof(made, None, z, None, (-free, free))
    else:
        if rng.random() < 0.7:
            P = np.diag(rng.uniform(0.1, 3, n) * (rng.random(n) < (1 if tight else 0.6)))
            if rng.random() < 0.5:
                root = rng.normal(size=(n, n)) * (rng.random(n) < 0.7)
                P = root @ root.T
                P = (P + P.T) / 2
        made = replace(empty, P=P, b=A @ x + s, q=-P @ x - A.T @ z)
        off = 1e-13 if tight else 10.0 ** rng.uniform(-14, -1)
        near = (v + off * rng.normal(size=len(v)) for v in (x, z))
        proven = proof(made, next(near), next(near), curvature(sp.csr_array(P)), (-free, free))
    if proven is None:
        return program(rng, path, tight=tight)
    proven.save(path, made, ("a planted program",))
    return claim


def _pair(rng: Any, cones: ConeProgram) -> tuple[Array, Array]:
    """Slacks and multipliers that are inside and orthogonal."""
    m = len(cones.b)
    s, z = np.zeros(m), np.zeros(m)
    z[: cones.zero] = rng.normal(size=cones.zero)
    for i in range(cones.zero, cones.zero + cones.nonneg):
        (s if rng.random() < 0.5 else z)[i] = rng.random()
    for rows in cones.second_order:
        v = rng.normal(size=rows.stop - rows.start - 1)
        head = float(np.linalg.norm(v))
        s[rows], z[rows] = np.append(head, v), rng.random() * np.append(head, -v)
    for start in cones.exponential.tolist():
        t, u = rng.normal(), rng.random()
        s[start : start + 3] = t, 1.0, np.exp(t)
        z[start : start + 3] = -u, u * (t - 1), u * np.exp(-t)
    for block, rows in cones.more:
        s[rows], z[rows] = (_matrices if isinstance(block, Semidefinite) else _powers)(rng, block)
    return s, z


def _matrices(rng: Any, cone: Any) -> tuple[Array, Array]:
    """Of complementary ranks, now and then diagonal."""
    n = cone.order
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0] if rng.random() < 0.8 else np.eye(n)
    values = rng.uniform(0.1, 2, n) * (rng.random(n) < 0.8)
    rank = rng.integers(0, n + 1)
    S, Z = (
        Q @ np.diag(values * side) @ Q.T for side in (np.arange(n) < rank, np.arange(n) >= rank)
    )
    row, column = cone.places
    return S[row, column], np.where(row == column, 1.0, 2.0) * Z[row, column]


def _powers(rng: Any, cone: Any) -> tuple[Array, Array]:
    """On the edges of the cone and of its dual."""
    a, x = np.array([float(v) for v in cone.weights]), rng.uniform(0.1, 3, cone.size - 1)
    end, size = float(rng.choice([-1, 1]) * np.prod(x**a)), rng.random() * (rng.random() < 0.8)
    return np.append(x, end), size * np.append(a * abs(end) / x, -np.sign(end))


def wrong(source: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of wrong certificates, made of a right and accurate one."""
    given = read(source)
    for name, change in _CLAIMS.items():
        made = change(given)
        if made is not None:
            path = folder / f"{name.replace(' ', '_')}.cert"
            made.save(path)
            yield name, path
    yield from malformed(given, folder)


def _solution(
    name: str, change: Callable[[Array], Array]
) -> Callable[[Certificate], Certificate | None]:
    def made(given: Certificate) -> Certificate | None:
        old = given.solution.get(name)
        new = None if old is None else change(old)
        if old is None or new is None or np.array_equal(old, new):
            return None
        return replace(given, solution={**given.solution, name: new})

    return made


def _said(**changes: Any) -> Callable[[Certificate], Certificate]:
    return lambda c: replace(c, header={**c.header, **changes})


def _problem(old: str, new: str) -> Callable[[Certificate], Certificate | None]:
    return lambda c: replace(c, problem=c.problem.replace(old, new)) if old in c.problem else None


def _claimed(old: str, new: str) -> Callable[[Certificate], Certificate | None]:
    return lambda c: _said(claim=new)(c) if old in c.header.get("claim", ()) else None


def _lower(given: Certificate) -> float:
    below = given.bound - 1e-6 * (1 + abs(given.bound))
    return below if "ray" not in given.solution else 1.0  # what a ray claims is its sign


def _anywhere(given: Certificate) -> bool:
    """Whether other points are as good: beside a ray, or for an objective of 0."""
    return "ray" in given.solution or not np.any(given.data.get("q", 1.0))


def _undeclared(given: Certificate) -> Certificate | None:
    """Without a range that was assumed and is needed: the residual there is not exactly 0."""
    if "lo" not in given.data or "z" not in given.solution:
        return None
    program, lo, hi = program_of(given)
    r = product(program.A.T, Dyadic.of(given.solution["z"]))
    if "x" in given.solution:
        r = r + Dyadic.of(program.q) + product(program.P, Dyadic.of(given.solution["x"]))
    up, down = (np.array([sign * v > 0 for v in r.numbers.tolist()]) for sign in (1, -1))
    if not np.any((up & np.isfinite(lo)) | (down & np.isfinite(hi))):
        return None
    data = {name: v for name, v in given.data.items() if name not in ("lo", "hi")}
    return replace(given, data=data)


def _empty(given: Certificate) -> Certificate | None:
    """With a declared range that holds nothing, so that nothing that is said of it is wrong."""
    if "lo" not in given.data:
        return None
    lo, hi = given.data["lo"].copy(), given.data["hi"].copy()
    lo[0], hi[0] = 1.0, -1.0
    return replace(given, data={**given.data, "lo": lo, "hi": hi})


def _cone(
    change: Callable[[Array, ConeProgram], Array],
) -> Callable[[Certificate], Certificate | None]:
    """With other multipliers of a cone program."""

    def made(given: Certificate) -> Certificate | None:
        if "z" not in given.solution:
            return None
        cones, _, _ = program_of(given)
        return _solution("z", lambda z: change(z.copy(), cones))(given)

    return made


def _below(z: Array, cones: ConeProgram) -> Array:
    z[cones.zero : cones.zero + cones.nonneg] = -5e-324
    return z


def _head(z: Array, cones: ConeProgram) -> Array:
    for rows in cones.second_order:
        if np.any(z[rows][1:]):
            z[rows.start] = float(np.linalg.norm(z[rows][1:])) * (1 - 4 * len(z) * EPS)
    return z


def _end(z: Array, cones: ConeProgram) -> Array:
    for start in cones.exponential.tolist():
        u, v = z[start : start + 2].tolist()
        if u < 0:
            z[start + 2] = -u * np.exp(v / u - 1) * (1 - 64 * (2 + abs(v / u)) * EPS)
    return z


def _indefinite(z: Array, cones: ConeProgram) -> Array:
    """With a least eigenvalue of -1e-9 times the largest."""
    for block, rows in cones.more:
        if isinstance(block, Semidefinite):
            values = np.linalg.eigvalsh(block.matrix(z[rows], dual=True))
            z[rows][block.diagonal] -= values[0] + 1e-9 * values[-1]
    return z


def _powerless(z: Array, cones: ConeProgram) -> Array:
    """Outside the duals of power cones by 1e-9."""
    for block, rows in cones.more:
        if isinstance(block, Power):
            a = np.array([float(v) for v in block.weights])
            end = np.prod((z[rows][:-1] / a) ** a) * (1 + 1e-9)
            z[rows.stop - 1] = np.copysign(end, z[rows.stop - 1])
    return z


def _noise(v: Array) -> Array:
    return v + 1e-3 * (1 + np.abs(v).max()) * np.random.default_rng(len(v)).normal(size=len(v))


def _steeper(given: Certificate) -> Certificate | None:
    """A curvature that P does not have: more than its diagonal."""
    n = len(given.solution.get("curvature", ()))
    if n == 0 or not given.data["P.data"].size:
        return None
    parts = tuple(given.data[f"P.{part}"] for part in ("data", "indices", "indptr"))
    P: Any = sp.csr_array(parts, shape=(n, n))
    return _solution("curvature", lambda d: P.diagonal() * (1 + 1e-12) + 1e-12)(given)


_CLAIMS: dict[str, Callable[[Certificate], Certificate | None]] = {
    "sign of the multipliers": _solution("multipliers", lambda v: -v if np.abs(v).max(initial=0) > 1e-3 else v),
    "sign of z": _cone(lambda z, cones: -z),
    "another point": lambda c: None if _anywhere(c) else _solution("x", _noise)(c),
    "a point with nan": _solution("x", lambda x: np.where(np.arange(len(x)) == 0, np.nan, x)),
    "an infinite multiplier": _solution("multipliers", lambda v: v + np.inf),
    "an infinite z": _solution("z", lambda v: v + np.inf),
    "a point cut short": _solution("x", lambda x: x[1:]),
    "multipliers cut short": _solution("z", lambda z: z[1:]),
    "no point": lambda c: replace(c, solution={}),
    "z below 0 by the least": _cone(_below),
    "a head too short by some ulp": _cone(_head),
    "an exponential too small by some ulp": _cone(_end),
    "a matrix that is indefinite by 1e-9": _cone(_indefinite),
    "a product of powers too small by 1e-9": _cone(_powerless),
    "a curvature too large": _steeper,
    "ranges that are not declared": _undeclared,
    "a range that is empty": _empty,
    "a ray of zeros": _solution("ray", lambda v: 0 * v),
    "sign of the ray": _solution("ray", lambda v: -v),
    "a claim below the truth": lambda c: replace(c, bound=_lower(c)),
    "a negative violation": _said(violation=-1e-9),
    "an unknown claim": _claimed("", "believed"),
    "infeasible though a point is there": _claimed("optimal", "infeasible"),
    "optimal without a point": _claimed("infeasible", "optimal"),
    "an unknown set": _problem("set=", "set=un"),
    "k of none": _problem(" k=", " k=0 was="),
    "rows too many": _problem("nonneg=", "nonneg=1"),
    "rows below none": _problem("exp=", "exp=-1"),
}  # fmt: skip
