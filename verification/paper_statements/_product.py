"""The product on the instances of the rows: our declaration and our fast function beside the row's exact numbers.

What is evaluated follows from the names of an instance's arguments: scores with a class are losses, a point with k
and rho is a projection, two lists of scores a query, triplets an SVM+. The wanted numbers are those of the row's own
rational arithmetic. A row without such an instance says why (`Claim.apart`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue, exact
from refsolve.formulas import objects
from verification.paper_statements import _erm
from verification.paper_statements._compared import ROUNDED, SOLVED, Compared, first, floats
from verification.paper_statements._cone import VARIANTS, project_cone, project_simplex
from verification.paper_statements._entropies import entropy_alpha, entropy_beta, ratios
from verification.paper_statements._ranking import delta, slack
from verification.paper_statements._svm import Plus
from verification.paper_statements._topk import ONE, ZERO, margins
from verification.paper_statements._trial import Inputs

#: Instances of a row that are evaluated.
MOST = 2


def compared(inputs: Inputs) -> Iterator[Compared]:
    """All that is evaluated on an instance; nothing if no rule knows its names."""
    for names, rule in RULES:
        if names <= set(inputs):
            yield from rule(inputs)
            return


# ------------------------------------------------------------------------------------- losses


def _both(
    object_name: str, scores: Any, z: Any, wanted: Any, costs: Any = None, **params: Any
) -> Iterator[Compared]:
    """A loss by its fast function at scores of the first class, and by its declaration at the arguments z."""
    import cvxpy as cp

    import fast

    module, given = (
        catalogue.load(object_name),
        params if costs is None else {**params, "costs": costs},
    )
    found = getattr(fast.losses, object_name).value(scores, 0, **given)
    yield Compared(f"fast.losses.{object_name}.value", found, float(wanted), ROUNDED)
    if hasattr(module, "value"):
        expression, off = module.value(cp.Constant(z), **params), ROUNDED
        if expression.variables():  # a value that is a minimum itself
            cp.Problem(cp.Minimize(expression)).solve(solver="CLARABEL")
            off = SOLVED
        yield Compared(
            f"refsolve.losses.{object_name}.value", float(expression.value), float(wanted), off
        )


def _loss(object_name: str, z: Any, wanted: Any, **params: Any) -> Iterator[Compared]:
    """A loss over the others at margins z, from the scores (0, z) without costs."""
    z = floats(z)
    yield from _both(object_name, np.append(0.0, z), z, wanted, np.zeros(z.size + 1), **params)


def hinges(z: Any, k: int, gamma: Fraction | None = None) -> Iterator[Compared]:
    """The hinges over the others, and the smooth ones."""
    if k > len(z):
        return
    for word, variant in VARIANTS.items():
        yield from _loss(f"topk_hinge_{word}", z, variant.hinge(z, k), k=k)
        if gamma:
            wanted = variant.smooth_hinge(list(z), k, gamma)
            yield from _loss(f"smooth_topk_hinge_{word}", z, wanted, k=k, gamma=float(gamma))


def _scores(inputs: Inputs) -> Iterator[Compared]:
    f = first(inputs, "f", "g", "a", "p")
    gamma = inputs.get("gamma")
    gamma = gamma if isinstance(gamma, Fraction) else None
    k = min(int(inputs.get("k", 1)), len(f) - 1)
    classes = [inputs["y"]] if "y" in inputs else range(len(f))
    for y in classes:
        yield from hinges(margins(f, y), k, gamma)
    if "w" in inputs and len(inputs["w"]) > 1:
        yield from _entropies(inputs)


def _sum(inputs: Inputs) -> Iterator[Compared]:
    z = [u + v for u, v in zip(inputs["a"], inputs["c"], strict=True)]
    yield from hinges(z, inputs["k"], inputs.get("gamma"))
    b, c = inputs["b"], inputs["c"]
    for object_name in ("topk_hinge_alpha", "topk_hinge_beta"):
        yield from _conjugate(object_name, b, c, inputs["k"])


def _conjugate(object_name: str, b: Any, c: Any, k: int) -> Iterator[Compared]:
    """-<c,b> on the dual set, +inf outside; points that only rounding puts outside are left alone."""
    import cvxpy as cp

    import fast

    module = catalogue.load(object_name)
    rows = catalogue.load(module.dual_set).halfspaces(len(b), k=k)
    excess = max(sum((g * v for g, v in zip(row, b, strict=True)), -h) for row, h, _ in rows)
    if k > len(b) or (
        excess > -Fraction(1, 10**6) and excess <= Fraction(1, 10**6) and excess != 0
    ):
        return
    wanted = math.inf if excess > 0 else -float(sum(u * v for u, v in zip(b, c, strict=True)))
    x = floats(b)
    found = getattr(fast.losses, object_name).conjugate(x, k=k, costs=floats(c))
    yield Compared(f"fast.losses.{object_name}.conjugate", found, wanted, ROUNDED)
    expression, domain = module.conjugate(cp.Constant(x), k)
    inside = all(np.max(rule.violation(), initial=0) <= ROUNDED for rule in domain)
    value = float(expression.value) - float(floats(c) @ x) if inside else math.inf
    yield Compared(f"refsolve.losses.{object_name}.conjugate", value, wanted, ROUNDED)


def _slopes(inputs: Inputs) -> Iterator[Compared]:
    """A point in R^m with its class: the conjugates are those of the others."""
    v, y = list(inputs["v"]), inputs["y"]
    x = [u for j, u in enumerate(v) if j != y]
    k = min(int(inputs.get("k", 1)), len(x))
    for object_name in ("topk_hinge_alpha", "topk_hinge_beta"):
        yield from _conjugate(object_name, x, [ONE] * len(x), k)


def _vector(inputs: Inputs) -> Iterator[Compared]:
    z = list(first(inputs, "h", "z"))
    yield from hinges(z, min(int(inputs["k"]), len(z)))


def _entropies(inputs: Inputs) -> Iterator[Compared]:
    """At scores log w, w positive and rational; without a class w is over the others."""
    w = list(inputs["w"])
    if any(v <= 0 for v in w):
        return
    u = ratios(w, inputs["y"]) if "y" in inputs else w
    k = min(int(inputs.get("k", 1)), len(u))
    z = [math.log(v) for v in u]
    yield from _loss("softmax", z, math.log1p(sum(u, ZERO)))
    yield from _loss("topk_entropy_alpha", z, entropy_alpha(u, k), k=k)
    yield from _loss("topk_entropy_beta", z, entropy_beta(u, k), k=k)
    rest = sorted(u)[: len(u) - k + 1]
    yield from _loss("truncated_topk_entropy", z, math.log1p(sum(rest, ZERO)), k=k)


def _counts(inputs: Inputs) -> Iterator[Compared]:
    yield from _scores({"f": [Fraction(v) for v in inputs["counts"]], "k": inputs.get("k", 1)})


def _binary(inputs: Inputs) -> Iterator[Compared]:
    """A binary loss at a, as one class of one-vs-all beside another that costs nothing."""
    a = first(inputs, "a", "p", "other")
    gamma = inputs.get("gamma")
    z = 1 - a
    x = min(max(z / gamma, ZERO), ONE) if gamma else None
    object_name = "ova_smooth_hinge" if gamma else "ova_hinge"
    wanted = z * x - gamma * x * x / 2 if gamma else max(ZERO, z)
    params = {"gamma": float(gamma)} if gamma else {}
    yield from _both(object_name, np.array([float(a), -9.0]), [float(z), -8.0], wanted, **params)


def _probabilities(inputs: Inputs) -> Iterator[Compared]:
    """Scores g, else the probabilities themselves, in every class; one probability is a binary score."""
    yield from (_scores if isinstance(inputs["p"], list) else _binary)(inputs)


def _rows(inputs: Inputs) -> Iterator[Compared]:
    scores = np.asarray(inputs["X"]) @ np.asarray(inputs["W"]).T
    if scores.shape[-1] != len(inputs["W"]):
        scores = np.asarray(inputs["X"]) @ np.asarray(inputs["W"])
    for f, y in zip(scores, inputs["y"], strict=True):
        yield from hinges(margins(list(f), y), min(int(inputs["k"]), len(f) - 1))


def _root(inputs: Inputs) -> Iterator[Compared]:
    """V(t) = W(e^t) at t = v + log v, and the minimiser of its declared objective."""
    import refsolve
    from fast.functions import lambert_w_exp

    v = float(first(inputs, "v", "high"))
    if not 1e-3 < v < 1e3:
        v = 1.0 + abs(v) % 1
    t = v + math.log(v)
    yield Compared("fast.functions.lambert_w_exp.value", lambert_w_exp.value(t), v, ROUNDED)
    found = refsolve.solve("lambert_w_exp.value", t=t).value
    yield Compared("refsolve lambert_w_exp.value", found, v, ROUNDED)


# --------------------------------------------------------------------------------------- sets


def _projections(inputs: Inputs) -> Iterator[Compared]:
    a, k, rho, r = list(inputs["a"]), inputs["k"], inputs.get("rho", ZERO), inputs.get("r")
    if r is not None and "rho" not in inputs:
        cap = r / k
        if r <= cap * len(a):
            wanted = exact.project("capped_simplex", a, r=r, cap=cap).x
            yield from _set("capped_simplex", a, wanted, r=r, cap=cap)
        return
    yield from _set("topk_cone", a, project_cone(a, k, rho), k=k, rho=rho)
    sized = {"k": k, "r": ONE if r is None else r, "rho": rho}
    yield from _set("topk_simplex_alpha", a, project_simplex(a, k, rho, sized["r"]), **sized)


def _budget(inputs: Inputs) -> Iterator[Compared]:
    params = {n: objects(inputs[n]) for n in ("b", "low", "high")}
    given = {**params, "capacity": inputs["capacity"]}
    wanted = exact.project("knapsack_at_most", inputs["a"], **given).x
    yield from _set("knapsack_at_most", inputs["a"], wanted, **given)


def _set(object_name: str, a: Any, wanted: Any, **params: Any) -> Iterator[Compared]:
    """The projection of fast; the exact one before the declared constraints and support function."""
    import cvxpy as cp

    import fast

    numbers = {
        n: floats(v) if np.ndim(v) else float(v) if isinstance(v, Fraction) else v
        for n, v in params.items()
    }
    size, module, exactly = (
        max(1.0, float(abs(floats(a)).max())),
        catalogue.load(object_name),
        floats(wanted),
    )
    x = np.asarray(getattr(fast.sets, object_name).project(floats(a), **numbers))
    yield Compared(f"fast.sets.{object_name}.project", x, exactly, 1e-8 * size)
    rho = params.pop("rho", ZERO)
    numbers.pop("rho", None)
    rules = module.constraints(cp.Constant(exactly), **numbers)
    missed = max(float(np.max(rule.violation(), initial=0)) for rule in rules)
    yield Compared(f"refsolve.sets.{object_name}.constraints", missed, 0.0, ROUNDED * size)
    point, s = np.array(wanted, dtype=object), sum(wanted, ZERO)
    slope = np.array([u - v - rho * s for u, v in zip(a, wanted, strict=True)], dtype=object)
    gap = module.residual(point[None], slope[None], **params)[0]
    yield Compared(f"refsolve.sets.{object_name}.residual", float(gap), 0.0, 0.0)


def _shapes(inputs: Inputs) -> Iterator[Compared]:
    """A set given by its parameters alone: the projection of (1, ..., d)."""
    a = [Fraction(j) for j in range(1, inputs["d"] + 1)]
    yield from _projections(
        {"a": a, "k": inputs["k"], "rho": inputs.get("rho", ZERO), "r": inputs.get("r", ONE)}
    )


# -------------------------------------------------------------------------------------- models


def _risk(inputs: Inputs) -> Iterator[Compared]:
    """P of the regularised risk with a top-k hinge, from the declared model and from the fast loss."""
    import fast
    from refsolve.models import multiclass_erm

    problem = inputs["problem"]
    rows, width = inputs.get("w"), problem.examples.shape[1]
    if rows is None:
        rows = [[ONE * (i - j) for j in range(width)] for i in range(problem.m)]
    variant = inputs.get("variant", "alpha")
    wanted = float(_erm.primal(problem, np.array(rows), VARIANTS[variant].hinge))
    X, W = np.array(problem.examples, dtype=float), np.array(rows, dtype=float).T
    y, lam, name = np.array(problem.labels), float(problem.lam), f"topk_hinge_{variant}"
    value = np.mean(getattr(fast.losses, name).value(X @ W, y, k=problem.k))
    value += lam / 2 * (W**2).sum()
    yield Compared(f"fast.losses.{name}.value", value, wanted, ROUNDED)
    given = {"X": X, "W": W.T, "lam": lam, "k": problem.k, "n_classes": problem.m}
    found = multiclass_erm.primal(name, y, **given)
    yield Compared("refsolve.models.multiclass_erm.primal", found, wanted, ROUNDED)


def _query(s: Any, t: Any) -> Iterator[Compared]:
    """The loss over all rankings of positives with scores s and negatives with scores t."""
    from fast.losses import average_precision as quick
    from refsolve.losses import average_precision as declared

    s, t = (sorted(v, reverse=True) for v in (s, t))
    if not s or not t:
        return
    few = math.comb(len(s) + len(t), len(s)) <= declared.MAX_PARTITIONS
    if not few:  # by the terms of each negative, which the ledger compares with all interleavings
        s, t = s[:12], t[:12]
    wanted = float(slack(s, t) if few else sum(max(delta(j, s, t)) for j in range(1, len(t) + 1)))
    scores, y = floats([*s, *t]), np.array([1] * len(s) + [0] * len(t))
    yield Compared("fast.losses.average_precision.value", quick.value(scores, y), wanted, ROUNDED)
    if not few:
        best = float(declared.most_violated(scores, y).value)
        yield Compared("refsolve.losses.average_precision.most_violated", best, wanted, ROUNDED)
        return
    import cvxpy as cp

    found = float(declared.value(cp.Constant(scores), y).value)
    yield Compared("refsolve.losses.average_precision.value", found, wanted, ROUNDED)


def _lists(inputs: Inputs) -> Iterator[Compared]:
    yield from _query(inputs["s"], inputs["t"])


def _labels(inputs: Inputs) -> Iterator[Compared]:
    """Samples with labels: their scores, features, first coordinates, or the best of their bags."""
    labels = inputs["labels"]
    scores = next(inputs[n] for n in ("scores", "features", "x", "points", "bags") if n in inputs)
    if isinstance(scores[0], (list, tuple, np.ndarray)):
        scores = scores[0] if len(scores) != len(labels) else [max(each) for each in scores]
    pairs = list(zip(scores, labels, strict=True))
    yield from _query([v for v, up in pairs if up > 0], [v for v, up in pairs if up <= 0])


def _triplets(inputs: Inputs) -> Iterator[Compared]:
    """The deformed kernel, and the gap that our declaration sees at the row's exact optimum."""
    from fast.svm_plus.deformed_kernel import deformed_kernel as quick
    from refsolve.models import svm_plus_squared_hinge as model

    plus = Plus(inputs["x"], inputs["y"], inputs["z"], inputs["c"], inputs["lam"])
    Z, C, lam = np.array(plus.z, dtype=float), float(plus.c), float(plus.lam)
    wanted = np.array(plus.q, dtype=float)
    yield Compared("fast.svm_plus.deformed_kernel", quick(Z=Z, C=C, lam=lam), wanted, ROUNDED)
    declared = model.deformed_kernel(Z=Z, C=C, lam=lam)
    yield Compared("refsolve deformed_kernel", declared, wanted, ROUNDED)
    if len(set(inputs["y"])) < 2:
        return
    X, y = np.array(plus.x, dtype=float), np.array(plus.y, dtype=int)
    found = model.certificate(X=X, y=y, Z=Z, C=C, lam=lam, alpha=floats(plus.solved.alpha))
    bracket, best = [found.primal, found.dual], [float(plus.solved.value)] * 2
    name = "refsolve.models.svm_plus_squared_hinge.certificate"
    yield Compared(name, bracket, best, SOLVED)


def _correcting(inputs: Inputs) -> Iterator[Compared]:
    """The deformed kernel of the correcting rows alone."""
    n = len(inputs["z"])
    yield from _triplets({**inputs, "x": [[ONE]] * n, "y": [1] * n})


RULES: tuple[tuple[set[str], Callable[[Inputs], Iterator[Compared]]], ...] = (
    ({"problem"}, _risk),
    ({"x", "y", "z", "c", "lam"}, _triplets),
    ({"z", "c", "lam"}, _correcting),
    ({"labels"}, _labels),
    ({"s", "t"}, _lists),
    ({"W", "X", "y", "k"}, _rows),
    ({"a", "b", "c", "k"}, _sum),
    ({"a", "b", "low", "high", "capacity"}, _budget),
    ({"a", "k", "rho"}, _projections),
    ({"a", "k", "r"}, _projections),
    ({"d", "k"}, _shapes),
    ({"v", "y"}, _slopes),
    ({"f", "y"}, _scores),
    ({"a", "k", "y"}, _scores),
    ({"counts", "w"}, _entropies),
    ({"counts"}, _counts),
    ({"w", "x", "k"}, _entropies),
    ({"w", "y"}, _entropies),
    ({"h", "k"}, _vector),
    ({"p", "q", "gamma"}, _binary),
    ({"a", "b"}, _binary),
    ({"p", "w"}, _entropies),
    ({"p"}, _probabilities),
    ({"v"}, _root),
    ({"low", "high"}, _root),
)  # fmt: skip
