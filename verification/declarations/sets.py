"""A set's declaration against itself and against its printed formulas; and the scalar function's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import optimize

from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from verification.declarations.case import Array
from verification.declarations.printed import (
    Names,
    argmin,
    difference,
    excess,
    number,
    part,
    read,
    true,
)
from verification.declarations.reader import least, root

TOL, EDGE = 1e-5, 1e-7
#: Weights of the squared sum, of the sets that have one.
RHOS = (0.0, 0.7)


def instances(module: ModuleType) -> Iterator[tuple[int, dict[str, Any]]]:
    """(entries, parameters), finite and of moderate size."""
    rng = np.random.default_rng(3)
    object_name = module.__name__.rpartition(".")[2]
    for d in (2, 3, 5):
        for _ in range(4):
            given: dict[str, Any] = {}
            for symbol in module.SPEC.symbols:
                value = symbol.draw(rng, d, 1.0, given)
                if isinstance(value, np.ndarray):
                    value = np.clip(value, -4.0, 4.0)
                given[symbol.name] = value
            if "y" in catalogue.arguments(module):
                given["y"] = np.arange(d) % 2
            try:
                catalogue.admit(object_name, d, given)
            except InvalidParameterError:
                continue
            yield d, given


def disagreements(object_name: str) -> Iterator[str]:
    """What the file of a set says twice, and differently."""
    module = catalogue.load(object_name)
    rng = np.random.default_rng(0)
    for d, given in instances(module):
        for text in _on(module, d, given, rng):
            yield f"{object_name}, d = {d}, {given}: {text}"


def names_of(module: ModuleType, d: int, given: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """What the symbols of a set's formulas stand for."""
    names: dict[str, Any] = {**given, "d": d, "i": np.arange(1, d + 1), **more}
    if "y" in names:
        side = np.asarray(names.pop("y"), dtype=bool)
        names |= {"P": side, "N": ~side}
    text = " ".join(module.SPEC.formulas["set"].split())
    names["set"] = text.partition(" : ")[2].partition("}")[0]
    return names


def _polytope(module: ModuleType, d: int, given: Mapping[str, Any]) -> tuple[Any, ...]:
    rows = module.halfspaces(d, **given)
    kinds: dict[bool, tuple[list[Any], list[Any]]] = {True: ([], []), False: ([], [])}
    for g, h, equal in rows:
        kinds[bool(equal)][0].append([float(v) for v in g])
        kinds[bool(equal)][1].append(float(h))
    (E, e), (A, b) = kinds[True], kinds[False]
    return np.reshape(A, (-1, d)), np.array(b), np.reshape(E, (-1, d)), np.array(e)


def _on(
    module: ModuleType, d: int, given: dict[str, Any], rng: np.random.Generator
) -> Iterator[str]:
    formulas = module.SPEC.formulas
    A, b, E, e = _polytope(module, d, given)
    object_name = module.__name__.rpartition(".")[2]
    feasible = []
    for rho in RHOS if catalogue.has_rho(module) else (0.0,):
        for size in (0.5, 3.0):
            a = rng.normal(size=d) * size
            x = cp.Variable(d)
            objective = cp.sum_squares(x - a) / 2 + rho / 2 * cp.square(cp.sum(x))
            cp.Problem(cp.Minimize(objective), module.constraints(x, **given)).solve(
                solver="CLARABEL"
            )
            right = np.array(x.value)
            weight = {"rho": rho} if catalogue.has_rho(module) else {}
            found = np.asarray(module.nearest(a[None], **given, **weight))[0]
            if np.max(abs(found - right)) > 1e-4:
                yield f"nearest to {a.tolist()}, rho = {rho}: {found.tolist()}, by the constraints {right.tolist()}"
            names = Names(names_of(module, d, given, a=a, rho=rho, near=[found, right]))
            told = argmin(
                formulas["projection"].removeprefix("argmin ").replace(" over the set", ""),
                names,
                "x",
            )
            if np.max(abs(told - right)) > 1e-4:
                yield f"printed projection of {a.tolist()}, rho = {rho}: {told.tolist()}, right {right.tolist()}"
            yield from _solution(formulas["solution"], names, found)
            if hasattr(module, "radius"):
                bound = float(np.max(module.radius(a[None], **given, **weight)))
                mass = (
                    found[np.asarray(given["y"], dtype=bool)].sum()
                    if "y" in given
                    else abs(found).sum()
                )
                if mass > bound + EDGE:
                    yield f"radius {bound} at {a.tolist()}, the sum of the projection is {mass}"
            if "radius" in formulas:
                at = Names(names_of(module, d, given, a=a, rho=rho, x=found))
                if not true(formulas["radius"].removesuffix(" at the solution"), at):
                    yield f"printed radius does not hold at {a.tolist()}"
            feasible.append(np.asarray(module.repair(found[None], **given))[0])
    yield from _members(module, d, given, feasible, rng, (A, b, E, e))
    for w in (*rng.normal(size=(4, d)), -abs(rng.normal(size=d)), np.round(rng.normal(size=d))):
        value = float(module.support(w[None], **given)[0])
        right_value = _largest(w, (A, b, E, e))
        if not _near(value, right_value):
            yield f"support of {w.tolist()}: {value}, by the half-spaces {right_value}"
        text = formulas["support"].partition(";")[0]
        (first, *_), names = read(text, names_of(module, d, given, w=w))
        told = float(number(text if ", else" in text else first, names))
        if not _near(told, right_value):
            yield f"printed support of {w.tolist()}: {told}, by the half-spaces {right_value}"
        if np.isfinite(value):
            for x in feasible:
                gap = float(module.residual(x[None], w[None], **given)[0])
                if not _near(gap, value - w @ x):
                    yield f"residual at {x.tolist()}, {w.tolist()}: {gap}, support less <w,x> is {value - w @ x}"
    if (
        hasattr(module, "fewest")
        and int(module.fewest(**given)) > d
        and max(map(np.max, feasible)) > EDGE
    ):
        yield f"fewest: {module.fewest(**given)} entries are needed, {object_name} has other points with {d}"
    enough = hasattr(module, "fewest") and int(module.fewest(**given)) <= d
    some = float(module.support(np.ones((1, d)), **given)[0]) > 0
    if enough and given.get("r", 1) > EDGE and not some:
        yield f"fewest: {module.fewest(**given)} entries are needed, and with {d} there is only 0"


def _largest(w: Array, polytope: tuple[Any, ...]) -> float:
    """Max <w,x> over a polytope by the half-spaces; inf if there is none."""
    A, b, E, e = polytope
    rows: dict[str, Any] = {"A_ub": A, "b_ub": b} if len(b) else {}
    rows |= {"A_eq": E, "b_eq": e} if len(e) else {}
    found: Any = optimize.linprog(-w, bounds=(None, None), **rows)
    return float("inf") if found.status == 3 else -float(found.fun)


def _near(a: float, b: float) -> bool:
    return a == b or bool(abs(a - b) <= TOL * max(1.0, abs(b)))


def _solution(text: str, names: Names, right: Array) -> Iterator[str]:
    """The printed solution, computed."""
    text = " ".join(text.split())
    if zero := re.search(r"; x = 0 where (.*)$", text):
        if true(zero[1], names, 0.0):
            if np.max(abs(right)) > EDGE:
                yield f"printed solution is 0 at {names.given['a'].tolist()}, the projection {right.tolist()}"
            return
        text = text.removesuffix(zero[0])
    if " on N, " in text:
        two, side = part(text, "x"), names.given["P"]

        def at(t: float, q: float) -> Array:
            here = Names(names.given | {"t": t, "q": q})
            return np.asarray(np.where(side, number(two[1], here), number(two[0], here)))

        found = _nested(text, names, at)
    else:
        first = read("0", names.given, ("0, " + text,))[1]
        found = np.asarray(first["x"])
    if np.max(abs(found - right)) > 1e-4:
        yield f"printed solution at {names.given['a'].tolist()}: {found.tolist()}, the projection {right.tolist()}"


def _nested(text: str, names: Names, at: Any) -> Array:
    """X(t, q) for t such that an equation holds, and the least q with a condition."""
    equation = re.search(r"t such that (.*?)(?=, q)", text)
    condition = re.search(r"q the least real >= 0 with (.*)$", text)
    assert equation is not None
    assert condition is not None

    def x(q: float) -> Array:
        t = root(lambda t: difference(equation[1], Names(names.given | {"x": at(t, q)})))
        return np.asarray(at(t, q))

    return x(least(lambda q: true(condition[1], Names(names.given | {"x": x(q)})), "real"))


def _members(
    module: ModuleType, d: int, given: dict[str, Any], feasible: list[Array], rng: np.random.Generator,
    polytope: tuple[Array, ...],
) -> Iterator[str]:  # fmt: skip
    """Membership by constraints, half-spaces, violation and the printed set; repair and caps."""
    A, b, E, e = polytope
    points = [*feasible, *(x + rng.normal(size=d) * s for x in feasible for s in (0.02, 0.5))]
    points += [x * s for x in feasible for s in (0.9, 1.1)]
    names = names_of(module, d, given)
    for x in points:
        answers = {
            "constraints": all(
                np.max(c.violation(), initial=0) <= EDGE for c in _fixed(module, x, given)
            ),
            "halfspaces": bool((A @ x <= b + EDGE).all() and (abs(E @ x - e) <= EDGE).all()),
            "violation": float(np.max(module.violation(x[None], **given))) <= EDGE,
            "printed set": max(excess(names["set"], Names(names | {"x": x}))) <= EDGE,
        }
        if len(set(answers.values())) > 1:
            yield f"is {x.tolist()} in the set? {answers}"
        moved = np.asarray(module.repair(x[None], **given))[0]
        if not ((A @ moved <= b + EDGE).all() and (abs(E @ moved - e) <= EDGE).all()):
            yield f"repair moves {x.tolist()} to {moved.tolist()}, which is not in the set"
        if answers["halfspaces"] and np.max(abs(moved - x)) > 1e-5:
            yield f"repair moves {x.tolist()}, which is in the set, to {moved.tolist()}"
        if hasattr(module, "cap") and answers["halfspaces"]:
            cap = np.broadcast_to(np.asarray(module.cap(x[None], **given), dtype=float), (1, d))[0]
            most = _most(A, b, E, e, d, x, module)
            if np.max(x - cap) > EDGE or (most is not None and np.max(abs(cap - most)) > 1e-5):
                yield f"cap at {x.tolist()}: {cap.tolist()}, by the half-spaces {most}"


def _most(A: Any, b: Any, E: Any, e: Any, d: int, x: Array, module: ModuleType) -> Array | None:
    """The largest value of each entry that the rows allow: at the sum of x where caps are shares of it."""
    shares = getattr(module, "caps", "") == "sum"
    if shares:
        E, e = np.vstack([E, np.ones(d)]), np.append(e, x.sum())
    found = [_largest(row, (A, b, E, e)) for row in np.eye(d)]
    if not np.isfinite(found).all():
        return None
    tight = np.array(found)
    return tight if shares else None


def _fixed(module: ModuleType, x: Array, given: dict[str, Any]) -> list[Any]:
    return list(module.constraints(cp.Constant(x), **given))


# --------------------------------------------------------------------------- the function


def function_disagreements(object_name: str) -> Iterator[str]:
    """W(e^t): the declared objective's minimiser solves the printed equation, and so on."""
    module = catalogue.load(object_name)
    formulas = module.SPEC.formulas
    for t in (-3.0, -0.5, 0.7, 2.0, 6.0):
        v = cp.Variable()
        objective = module.objective(v, square=1.0, entropy=1.0, linear=t)
        cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
        w = float(v.value)
        names = Names({"w": w, "t": t, "d": 1})
        text = formulas["definition"].partition(" with ")[2]
        for equation in text.split(", i.e. "):
            left, _, right = equation.partition(" = ")
            if abs(number(left, names) / number(right, names) - 1) > 1e-4:
                yield f"{object_name}: printed {equation} does not hold at t = {t}, w = {w}"

        def f(u: float, t: float = t) -> float:
            text = formulas["value"].removeprefix("argmin over w > 0 of ")
            return float(number(text, Names({"w": u, "t": t})))

        least = optimize.minimize_scalar(
            f, bounds=(1e-9, 50), method="bounded", options={"xatol": 1e-10}
        ).x
        if abs(least - w) > 1e-4 * max(1, w):
            yield f"{object_name}: printed objective is least at {least}, the declared one at {w}"
        h = 1e-5
        slope = (_omega(t + h) - _omega(t - h)) / (2 * h)
        if abs(number(formulas["derivative"], names) - slope) > 1e-4:
            found = number(formulas["derivative"], names)
            yield f"{object_name}: printed derivative at t = {t}: {found}, differences {slope}"


def _omega(t: float) -> float:
    return float(optimize.brentq(lambda w: w + np.log(w) - t, 1e-12, 100))
