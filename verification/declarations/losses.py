"""A loss's declaration against itself and against its printed formulas, on small instances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np

import refsolve
from refsolve import catalogue, derive
from refsolve.proofs import families
from refsolve.proofs.loss import Loss
from verification.declarations import ranking
from verification.declarations.case import Array
from verification.declarations.printed import (
    Names,
    argmin,
    clauses,
    equations,
    excess,
    number,
    part,
    read,
)

#: Relative error that solvers are excused; wrong formulas are off by percents.
TOL = 2e-6
#: Half of the box in which sup <x,z> - value(z) is sought, and by how much it exceeds outside the domain.
REACH, GROWTH = 60.0, 1e-3
#: Rounding of points on the border of a domain.
EDGE = 1e-6
#: Printed in words, and executed nowhere: said of pieces, of which each is a loss that is.
PROSE = {("truncated_topk_entropy", "conjugate"), ("truncated_topk_entropy", "prox")}


def instances(object_name: str) -> Iterator[tuple[Loss, Any, dict[str, Any]]]:
    """(loss, ground truth, parameters) in few dimensions."""
    module = catalogue.load(object_name)
    names = module.SPEC.names
    family = families.of(module).name
    for m, ks in ((3, (1, 2)), (5, (1, 2, 3, 4))):
        for k in ks if "k" in names else (None,):
            for gamma in (0.5, 2.0) if "gamma" in names else (None,):
                params = {n: v for n, v in (("k", k), ("gamma", gamma)) if v is not None}
                d = m - 1 if family == "multiclass" else m
                rng = np.random.default_rng(m)
                for symbol in (s for s in module.SPEC.symbols if s.shape == "vector"):
                    params[symbol.name] = symbol.draw(rng, d, 1.0, params)
                labels = [np.arange(m) % 2] if family == "multilabel" else [1 % m]
                for y in labels:
                    yield (
                        Loss(object_name, params, d, y if family == "multilabel" else None),
                        y,
                        params,
                    )


def disagreements(object_name: str) -> Iterator[str]:
    """What the file of a loss says twice, and differently."""
    module = catalogue.load(object_name)
    if families.is_ranking(module):
        yield from ranking.disagreements(module)
        return
    rng = np.random.default_rng(0)
    for loss, y, params in instances(object_name):
        where = f"{object_name}, d = {loss.d}, {params}"
        for text in _on(loss, y, rng):
            yield f"{where}: {text}"


def _on(loss: Loss, y: Any, rng: np.random.Generator) -> Iterator[str]:
    module, formulas = loss.module, loss.module.SPEC.formulas
    convex = not hasattr(module, "pieces")
    zs = [rng.normal(size=loss.d) * size for size in (0.3, 1.0, 3.0)]
    zs.append(np.round(zs[1]))
    zs.append(zs[1] - 4)
    for z in zs:
        value = (
            declared(loss, z)
            if convex
            else float(np.mean(loss.value_bounds(z.astype(np.longdouble))))
        )
        low, high = (float(v) for v in loss.value_bounds(z.astype(np.longdouble)))
        if not _near(value, low) or not _near(value, high):
            yield f"value at {z.tolist()}: {value} declared, {low} from generator and dual set"
        names = names_of(loss, y, z=z, L=value)
        texts, read_names = read(formulas["value"], names)
        for text in texts:
            if not _near(number(text, read_names), value):
                yield f"printed value at {z.tolist()}: {text} = {number(text, read_names)}, declared {value}"
    if convex:
        yield from _conjugate(loss, y, rng)
        yield from _bounds(loss, zs[:3], rng)
    yield from _gradient(loss, y, zs[:2])
    for operation in ("sdca_update", "prox"):
        if operation in formulas and (loss.object_name, operation) not in PROSE:
            yield from _update(loss, y, operation, rng)
    yield from _margins(loss, y, rng)


def declared(loss: Loss, z: Array) -> float:
    """The declared value, solved where it is a minimum itself."""
    expression = loss.module.value(cp.Constant(z), *loss.arguments, **loss.params)
    if not expression.variables():
        return float(expression.value)
    return float(cp.Problem(cp.Minimize(expression)).solve(solver="CLARABEL"))


def names_of(loss: Loss, y: Any, **given: Any) -> dict[str, Any]:
    """What the symbols of a loss's formulas stand for."""
    names: dict[str, Any] = {**loss.params, "d": loss.d, "i": np.arange(1, loss.d + 1), **given}
    if loss.family.name == "ova":
        names["y"] = y
    names["phi"] = lambda z, k: _phi(loss, z, k)
    if loss.labelled:
        names |= {"P": np.asarray(y, dtype=bool), "N": ~np.asarray(y, dtype=bool)}
        names["t"] = np.asarray(y, dtype=float) / np.sum(y)
    conjugate = " ".join(loss.module.SPEC.formulas["conjugate"].split())
    if (loss.object_name, "conjugate") not in PROSE:
        expression, domain = split(conjugate)
        names["set"], names["conjugate"] = domain, expression.replace("- <c,x>", "").strip() or "0"
        names["start"] = 0.4 if "1" in domain else 1.0
    return names


def split(conjugate: str) -> tuple[str, str]:
    """(expression, domain) of ``E on {...}; +inf elsewhere``."""
    found = re.match(r"^(.*?),? on (\{.*?\}|0 <=[^;,]*)", conjugate)
    assert found is not None, conjugate
    return clauses(found[1])[0], found[2]


def _phi(loss: Loss, z: Array, k: int) -> float:
    """The loss that a formula is made of, from its own printed value."""
    texts = loss.module.SPEC.formulas["value"]
    named = re.search(r"phi the loss (\w+)", texts)
    other = catalogue.load(named[1] if named else "topk_hinge_alpha")
    if k == 0:
        return 0.0
    given = {"z": z, "k": k, "d": loss.d}
    if loss.labelled:
        given |= {"P": np.asarray(loss.y, dtype=bool), "N": ~np.asarray(loss.y, dtype=bool)}
    first, names = read(other.SPEC.formulas["value"], given)
    return float(number(first[0], names))


def _near(a: Any, b: Any, scale: float = 1.0) -> bool:
    return bool(abs(float(a) - float(b)) <= TOL * max(1.0, abs(float(b)), scale))


# ------------------------------------------------------------------------------- conjugate


def supremum(loss: Loss, x: Array, reach: float = REACH) -> float:
    """Sup <x,z> - value(z) over |z_j| <= reach, solved from the declared value alone."""
    return derive.supremum(loss, x, reach)[0]


def inside(loss: Loss, x: Array) -> bool:
    """Whether the declared constraints hold at x."""
    found = loss.module.conjugate(cp.Constant(x), *loss.arguments, **loss.params)[1]
    problem = cp.Problem(cp.Minimize(0), found)
    if problem.variables():
        problem.solve(solver="CLARABEL")
        return problem.status == "optimal"
    return all(np.max(c.violation(), initial=0) <= EDGE for c in found)


def points(loss: Loss, rng: np.random.Generator) -> Iterator[Array]:
    """Points of the declared domain, its extreme ones in some directions, and points a little outside."""
    x = cp.Variable(loss.d)
    domain = loss.module.conjugate(x, *loss.arguments, **loss.params)[1]
    direction = cp.Parameter(loss.d)
    problem = cp.Problem(cp.Maximize(direction @ x), [*domain, cp.abs(x) <= 3])
    corners = []
    for _ in range(4):
        direction.value = rng.normal(size=loss.d)
        problem.solve(solver="CLARABEL")
        corners.append(np.round(x.value, 8) + 0.0)
    middle = np.mean(corners, axis=0)
    yield middle
    for corner in corners:
        yield middle + 0.97 * (corner - middle)
        yield middle + 1.06 * (corner - middle)


def _conjugate(loss: Loss, y: Any, rng: np.random.Generator) -> Iterator[str]:
    formulas = loss.module.SPEC.formulas
    for x in points(loss, rng):
        within = inside(loss, x)
        c = rng.normal(size=loss.d).round(2)
        names = names_of(loss, y, x=x, c=c)
        text, domain = split(" ".join(formulas["conjugate"].split()))
        _, read_names = read(formulas["conjugate"], names)
        if (max(excess(domain, read_names)) <= EDGE) is not within:
            yield f"at {x.tolist()}: declared {'in' if within else 'out'}side of the domain, printed otherwise"
        if (float(np.max(loss.violation(x))) <= EDGE) is not within:
            yield f"at {x.tolist()}: the conjugate's domain is not the dual set"
        near, far = supremum(loss, x), supremum(loss, x, 4 * REACH)
        if within is (far - near > GROWTH):
            yield f"at {x.tolist()}: sup <x,z> - value(z) is {'in' if within else ''}finite, the domain says otherwise"
        if not within:
            continue
        expression = loss.module.conjugate(cp.Constant(x), *loss.arguments, **loss.params)[0]
        value = float(expression.value)
        if not _near(value, far, REACH / 10):
            yield f"conjugate at {x.tolist()}: declared {value}, sup <x,z> - value(z) = {far}"
        if not _near(value, loss.conjugate(x.astype(np.longdouble))):
            yield f"conjugate at {x.tolist()}: declared {value}, the generator says otherwise"
        if not _near(number(text, read_names), value - c @ x):
            yield f"printed conjugate at {x.tolist()}: {text} = {number(text, read_names)}, declared {value - c @ x}"


def _bounds(loss: Loss, zs: list[Array], rng: np.random.Generator) -> Iterator[str]:
    """Fenchel-Young terms at points of the domain: never less than the gap, and 0 at the maximiser."""
    for z in zs:
        z = z.astype(np.longdouble)
        best = loss.maximiser(z)
        for x in (best, loss.repair(best + rng.normal(size=loss.d) * 0.1)):
            gap = float(loss.value_bounds(z)[0] + loss.conjugate(x) - (z * x).sum())
            bound = float(loss.fenchel_young(z, x))
            if bound < gap - TOL or (x is best and bound > gap + 10 * TOL):
                yield f"Fenchel-Young terms at z = {z.tolist()}, x = {x.tolist()}: {bound}, their gap {gap}"


# ---------------------------------------------------------------- gradient, updates, margins


def block(loss: Loss, y: Any, two: tuple[str, str], names: Names) -> Array:
    """A vector over the classes from its two expressions."""
    own, other = (np.asarray(number(each, names), dtype=float) for each in two)
    if loss.family.name == "multiclass":
        return np.insert(np.broadcast_to(own, loss.d), y, other)
    at = np.asarray(y, dtype=bool) if loss.labelled else np.arange(loss.d) == y
    return np.where(at, other, own)


def _gradient(loss: Loss, y: Any, zs: list[Array]) -> Iterator[str]:
    """The printed gradient against differences of the value, in the scores."""
    formulas = loss.module.SPEC.formulas
    text = " ".join(formulas["gradient"].split())
    costs = np.zeros(loss.d)
    for z in zs:
        z = z + 0.01 * np.arange(loss.d)  # no ties
        scores = _scores(loss, y, z)
        value = _value_at(loss, y, scores, costs)
        names = read(
            text, names_of(loss, y, z=z, L=value), (formulas["conjugate"], formulas["value"])
        )[1]
        if "attaining max <z,x>" in text:
            names.given["x"] = argmin("-<z,x>", names, "x")
        elif found := re.search(r"x_j = (.*) on J, 0 elsewhere", text):
            names.given["x"] = np.where(names["J"], number(found[1], names), 0.0)
        head = re.match(
            r"^x_j(?: = .*?)?(?: at j != y| on N), (.*?)(?: at y| on P)(?=[,;]|$)", text
        )
        g = block(loss, y, ("x", head[1] if head else "x"), names)
        h = 1e-6
        numeric = np.array(
            [
                (
                    _value_at(loss, y, scores + h * e, costs)
                    - _value_at(loss, y, scores - h * e, costs)
                )
                / (2 * h)
                for e in np.eye(scores.size)
            ]
        )
        if np.max(abs(g - numeric)) > 1e-4:
            yield f"printed gradient at z = {z.tolist()}: {g.tolist()}, differences of the value {numeric.tolist()}"
        yield from (
            f"printed gradient at {z.tolist()}: {text} is off by {e}"
            for e in equations(text, names)
            if e > 1e-5
        )


def _scores(loss: Loss, y: Any, z: Array) -> Array:
    """Scores with these margins, at no costs."""
    if loss.family.name == "multiclass":
        return np.insert(z, y, 0.0)
    assert isinstance(loss.family, families.OneVsAll)
    return np.asarray(loss.family.signs(y, loss.d)) * z


def _value_at(loss: Loss, y: Any, scores: Array, costs: Array) -> float:
    z = loss.margins(scores.astype(np.longdouble), y, costs)
    return float(loss.value_bounds(z)[0])


def _update(loss: Loss, y: Any, operation: str, rng: np.random.Generator) -> Iterator[str]:
    """The printed update or prox, carried out, before its certificate."""
    text = " ".join(loss.module.SPEC.formulas[operation].split())
    m = loss.m
    costs = rng.uniform(0, 1, size=loss.d).round(2)
    given: dict[str, Any] = {"K_ii": 1.7, "omega": 0.8, "C": 1.5}
    asked: dict[str, Any]
    if operation == "prox":
        v, t = rng.normal(size=loss.d) * 2, 0.7
        given = {"v": v, "t": t, "c": costs}
        asked = {"v": v, "t": t, "costs": costs}
    else:
        q = rng.normal(size=m) * 2
        full = np.insert(costs, y, 0.0) if loss.family.name == "multiclass" else costs
        mine = np.delete(q, y) if loss.family.name == "multiclass" else q
        given |= {"q": mine, "c": costs}
        if not loss.labelled:
            given |= {"q_y": q[y], "c_y": full[y]}
        asked = {"q": q, "y": y, "k_ii": given["K_ii"], "C": given["C"], "costs": full}
        asked["sample_weight"] = given["omega"]
    asked |= loss.params
    names = read(text, names_of(loss, y, **given))[1]
    if operation == "sdca_update":
        left, right = part(text, "b")
        if " over the others" in text or loss.family.name == "multiclass":
            names.given["b"] = number(left.removesuffix(" over the others"), names)
        else:
            names.given["b"] = block(loss, y, (left, right), names)
    point = "p" if re.search(r"\bp = argmin", text) else "x"
    found = refsolve.solve(f"{loss.object_name}.{operation}", **asked)
    if operation == "prox" and "argmin" not in text:  # an equation of the solution
        names.given["x"] = (given["v"] - found.x) / given["t"]
        yield from (
            f"printed prox: {text} is off by {e}" for e in equations(text, names) if e > 1e-4
        )
        return
    own = found.x if operation == "prox" else loss.family.coordinates(found.x, y)
    own = (given["v"] - own) / given["t"] if operation == "prox" else own
    target = np.asarray(loss.target, dtype=float)
    names.given["near"] = [own + target, own / 1.2 + target]  # 1.2 is omega C
    names.given[point] = names[point]
    names.given.pop("s", None)
    got = (
        names.given["v"] - given["t"] * names["x"]
        if operation == "prox"
        else block(loss, y, part(text, "a"), names)
    )
    if np.max(abs(got - found.x)) > 2e-4 * max(1.0, float(np.max(abs(found.x)))):
        yield f"printed {operation}: {got.tolist()}, certified {found.x.tolist()} of {asked}"


def _margins(loss: Loss, y: Any, rng: np.random.Generator) -> Iterator[str]:
    """The printed margins, and the default costs that are used where none are given."""
    text = " ".join(loss.module.SPEC.formulas["z"].split())
    scores, costs = rng.normal(size=loss.m), rng.uniform(size=loss.d)
    names: dict[str, Any] = {"c": costs}
    if loss.family.name == "multiclass":
        names |= {"f": np.delete(scores, y), "f_y": scores[y]}
        z = number(re.sub(r"^z_j = (.*?) for .*", r"\1", text), Names(names))
    elif found := re.match(r"z = (.*?):", text):
        z = number(found[1], Names(names | {"f": scores}))
    else:
        pairs = re.match(r"z_j = (.*?) at j (?:!= y|in N), z_[yl] = (.*?)(?: at l in P)?:", text)
        assert pairs is not None, text
        at = np.asarray(y, dtype=bool) if loss.labelled else np.arange(loss.d) == y
        first = number(pairs[1], Names(names | {"f": scores}))
        second = number(pairs[2], Names({**names, "f": scores, "f_y": scores, "c_y": costs}))
        z = np.where(at, second, first)
    if np.max(abs(z - loss.margins(scores, y, costs))) > 1e-12:
        yield f"printed margins {z.tolist()} are not those of its family"
    said = " ".join(loss.module.SPEC.notes)
    if ("costs are 0 by default" in said) is not (loss.default_cost == 0):
        yield f"default cost {loss.default_cost}, the notes say otherwise"
