"""Models beside their printed duals: the printed feasible sets typed anew, and maps both ways."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _privileged import draw
from scipy.optimize import linprog

from refsolve import fenchel
from refsolve.models import (
    ap_svm,
    ap_svm_appx,
    binary_svm,
    multiclass_erm,
    svm,
    svm_2k,
    svm_plus_hinge,
    svm_plus_squared_hinge,
    top_push,
)

INF = np.inf


@dataclass(frozen=True)
class Polytope:
    """Parts of a vector between low and high, with Ax = b."""

    parts: dict[str, tuple[int, Any, Any]]
    A: np.ndarray
    b: np.ndarray

    def split(self, x):
        ends = np.cumsum([size for size, _, _ in self.parts.values()])[:-1]
        return dict(zip(self.parts, np.split(x, ends), strict=True))

    def bounds(self):
        parts = self.parts.values()
        return (np.concatenate([np.broadcast_to(p[side], p[0]) for p in parts]) for side in (1, 2))

    def violation(self, x):
        low, high = self.bounds()
        x = np.concatenate([x[name] for name in self.parts])
        return max((low - x).max(), (x - high).max(), abs(self.A @ x - self.b).max(initial=0.0))

    def vertex(self, rng):
        """An extreme point, of a bounded part if the set is not bounded."""
        low, high = self.bounds()
        far = 10 + 10 * abs(self.b).max(initial=0)
        ends = np.column_stack([np.maximum(low, -far), np.minimum(high, far)])
        costs = rng.normal(size=len(ends))
        return self.split(linprog(costs, A_eq=self.A, b_eq=self.b, bounds=ends).x)

    def draw(self, rng):
        """A random point: a middle one, moved within the equations as far as the bounds allow."""
        low, high = self.bounds()
        ends = np.where(np.isfinite(low), low, -1), np.where(np.isfinite(high), high, low + 2)
        x = (ends[0] + np.where(np.isfinite(low) | np.isfinite(high), ends[1], 1)) / 2
        step = rng.normal(size=x.size) * (1 + abs(x))
        for _ in range(3):
            x = x - np.linalg.lstsq(self.A, self.A @ x - self.b, rcond=None)[0]
            step = step - np.linalg.lstsq(self.A, self.A @ step, rcond=None)[0]
        assert (x > low).all()
        assert (x < high).all()
        room = np.where(step > 0, high - x, x - low) / np.maximum(abs(step), 1e-300)
        return self.split(x + rng.uniform(0.2, 0.95) * min(room.min(), 3) * step)


def domain(model: fenchel.Model) -> Polytope:
    """The feasible set of the derived dual, from the declaration."""
    parts, rows, targets = {}, [], []
    for name, term in model.terms.items():
        loss, size = term.loss, model.size(name)
        top = INF if getattr(loss, "cost", None) is None else loss.cost
        parts[name] = size, (0.0 if loss.nonneg else -top), top
    total = sum(size for size, _, _ in parts.values())
    whole = Polytope(parts, np.zeros((0, total)), np.zeros(0))
    columns = [whole.split(e) for e in np.eye(total)]
    for name, block in model.blocks.items():
        if block.weight == 0:
            start = model.pull(name, whole.split(np.zeros(total)))
            rows.append(np.array([model.pull(name, p) - start for p in columns]).T)
            targets.append(-start)
    for name, term in model.terms.items():
        if isinstance(term.loss, fenchel.Largest):
            groups = [p[name].reshape(term.loss.groups, -1).sum(axis=1) for p in columns]
            rows.append(np.array(groups).T)
            targets.append(np.full(term.loss.groups, term.loss.mass))
    A = np.vstack([np.zeros((0, total)), *rows])
    return Polytope(parts, A, np.concatenate([np.zeros(0), *targets]))


@dataclass(frozen=True)
class Case:
    """A declaration, and what is printed of it: feasible set, dual, w of the dual, and primal."""

    model: fenchel.Model
    reduced: fenchel.Model
    printed: Polytope
    value: Callable[[dict], float]
    weights: Callable[[dict], np.ndarray]
    derived: Callable[[dict], dict]
    objective: Callable[[dict], float]
    point: Callable[[Any], dict]


def _svm(loss):
    X, y, _ = draw(10, 3, 1, 3)
    weight = np.random.default_rng(3).uniform(0.5, 2, 10)
    given = {"X": X, "y": y, "C": 0.6, "loss": loss, "sample_weight": weight}
    top = 0.6 * weight if loss == "hinge" else INF
    model = svm.declaration(**given)
    return Case(
        model, model, Polytope({"alpha": (10, 0.0, top)}, y[None], np.zeros(1)),
        lambda x: svm.dual(**given, **x), lambda x: X.T @ (x["alpha"] * y), lambda x: x,
        lambda u: svm.primal(**given, w=u["w"], b=u["b"][0]),
        lambda rng: {"w": rng.normal(size=3), "b": rng.normal(size=1)},
    )  # fmt: skip


def _svm_2k():
    X, y, Z = draw(8, 2, 3, 5)
    weight = np.random.default_rng(5).uniform(0.5, 2, 8)
    costs = {"CA": 0.7, "CB": 1.1, "D": 0.4, "eps": 0.15}
    given = {"X": X, "y": y, "Z": Z, "sample_weight": weight, **costs}
    names = ("alpha_A", "alpha_B", "beta")
    tops = [costs[name] * weight for name in ("CA", "CB", "D")]
    parts = {n: (8, low, t) for n, low, t in zip(names, (0, 0, -tops[2]), tops, strict=True)}
    ones, none = np.ones(8), np.zeros(8)
    A = np.array([[*y, *none, *-ones], [*none, *y, *ones]])

    model = svm_2k.declaration(**given)
    return Case(
        model, model, Polytope(parts, A, np.zeros(2)),
        lambda x: svm_2k.dual(**given, alpha=np.array([x[name] for name in names])),
        lambda x: X.T @ (x["alpha_A"] * y - x["beta"]), lambda x: x,
        lambda u: svm_2k.primal(**given, **{n: u[n] for n in "wv"}, b=u["b"][0], rho=u["rho"][0]),
        lambda rng: {n: rng.normal(size=k) for n, k in (("w", 2), ("b", 1), ("v", 3), ("rho", 1))},
    )  # fmt: skip


def _plus(squared, nonneg, signed=False, penal=False, delta=0.0):
    n, C, lam = 9, 0.8, 1.7
    X, y, Z = draw(n, 2, 2, 7)
    weight = np.random.default_rng(7).uniform(0.5, 2, n)
    weight[y > 0] *= weight[y < 0].sum() / weight[y > 0].sum()
    given = {"X": X, "y": y, "Z": Z, "C": C, "lam": lam, "sample_weight": weight}
    given |= {"nonneg_slack": nonneg, "label_signed": signed, "penalize_bias": penal}
    given |= {"free_slack": delta}
    module = svm_plus_squared_hinge if squared else svm_plus_hinge
    s, cost = (y if signed else np.ones(n)), C * weight
    names = ("alpha", "beta") if nonneg else ("alpha",)
    none = [np.zeros(n)] * (len(names) - 1)
    rows = [] if penal else [np.concatenate([y, *none])]
    rows += [] if squared else [np.tile(s, len(names))]
    targets = ([] if penal else [0.0]) + ([] if squared else [s @ cost])

    def derived(x):
        return x if squared else x | {"tie": sum(x[name] for name in names) - cost}

    def point(rng):
        w, b, v, h = (rng.normal(size=k) for k in (2, 1, 2, n))
        f, g = y * (X @ w + b), Z @ v
        h = np.maximum(1 - f, 0) + abs(g) + 9 if delta else 0 * h
        rho = np.atleast_1d((1 - f - g).max() if not signed else 0.0)
        rho = np.maximum(rho, -g.min()) if nonneg and not signed else rho
        u = {"w": w, "b": b, "v": v, "rho": rho + 0.1, "xi": s * (g + rho + 0.1)}
        return u | ({"h": h, "xi": u["xi"] + np.sqrt(delta / weight) * h} if delta else {})

    def objective(u):
        own = {"eta": np.sqrt(delta / weight) * u["h"]} if delta else {}
        return module.primal(**given, w=u["w"], v=u["v"], b=u["b"][0], rho=u["rho"][0], **own)

    model = module.declaration(**given)
    return Case(
        model, model.absorbed("paid", "tie") if squared else model,
        Polytope(dict.fromkeys(names, (n, 0.0, INF)), np.array(rows).reshape(len(rows), n * len(names)),
                 np.array(targets)),
        lambda x: module.dual(**given, **x), lambda x: X.T @ (x["alpha"] * y), derived,
        objective, point,
    )  # fmt: skip


def _ap_svm():
    X, _, _ = draw(5, 3, 1, 9)
    y = np.array([1, 0, 0, 1, 0])
    given = {"X": X, "y": y, "C": 1.3}
    model = ap_svm.declaration(**given)
    rankings = _rankings(y)
    m = len(rankings)
    return Case(
        model, model, Polytope({"alpha": (m, 0.0, INF)}, np.ones((1, m)), np.array([1.3])),
        lambda x: ap_svm.dual(**given, rankings=rankings, weights=x["alpha"]),
        lambda x: ap_svm.recover(X, y, rankings=rankings, weights=x["alpha"]), lambda x: x,
        lambda u: ap_svm.primal(**given, w=u["w"]), lambda rng: {"w": rng.normal(size=3)},
    )  # fmt: skip


def _appx(bias):
    X, y, _ = draw(10, 3, 1, 11)
    easy = np.arange(10) >= 5
    X[easy] = np.random.default_rng(11).normal(size=(5, 3)) + 3 * y[easy, None]
    given = {"X": X, "y": y, "easy": easy, "C": 1.3, "bias": bias}
    model = ap_svm_appx.declaration(**given)
    rankings = _rankings((y[~easy] > 0).astype(int))
    m, sizes = len(rankings), {"alpha": len(rankings), "mu": 5}
    rows = [[*np.ones(m), *np.zeros(5)], [*np.zeros(m), *y[easy]]][: 1 + bias]

    def certificate(**x):
        return ap_svm_appx.certificate(**given, **x)

    def value(x):
        found = certificate(rankings=rankings, weights=x["alpha"], mu=x["mu"])
        return found.dual if found.violation < 1e-12 else -INF

    def point(rng):
        found = certificate(w=np.ones(3) + 0.1 * rng.normal(size=3))
        return {"w": 1.1 * found.w} | ({"b": np.array([1.1 * found.b])} if bias else {})

    return Case(
        model, model, Polytope({n: (k, 0.0, INF) for n, k in sizes.items()}, np.array(rows),
                               np.array([1.3, 0.0])[: 1 + bias]),
        value, lambda x: certificate(rankings=rankings, weights=x["alpha"], mu=x["mu"]).w,
        lambda x: x, lambda u: certificate(w=u["w"], b=u["b"][0] if bias else None).primal, point,
    )  # fmt: skip


def _binary(bias):
    X, y, _ = draw(10, 3, 1, 13)
    given = {"X": X, "y": y, "C": 4.0, "bias": bias}
    model = binary_svm.declaration(**given)
    rows = np.column_stack([X, np.ones(10)]) if bias is True else X

    def objective(u):
        b = {"b": u["w"][-1]} if bias is True else {"b": u["b"][0]} if bias else {}
        return binary_svm.primal(**given, w=u["w"][:3], **b)

    return Case(
        model, model, Polytope({"alpha": (10, 0.0, 0.4)}, y[None, :][: bias == "free"],
                               np.zeros(int(bias == "free"))),
        lambda x: binary_svm.dual(**given, **x), lambda x: rows.T @ (x["alpha"] * y), lambda x: x,
        objective, lambda rng: {"w": rng.normal(size=rows.shape[1]), "b": rng.normal(size=1)},
    )  # fmt: skip


def _top_push():
    X, y, _ = draw(10, 3, 1, 17)
    given, up = {"X": X, "y": y, "C": 0.7}, y > 0
    sizes = {"alpha": up.sum(), "beta": (~up).sum()}

    def joined(x):
        a = np.zeros(10)
        a[up], a[~up] = x["alpha"], x["beta"]
        return a

    def point(rng):
        w = rng.normal(size=3)
        return {"w": w, "t": np.array([(X[~up] @ w).max()])}

    rows = np.concatenate([np.ones(up.sum()), -np.ones((~up).sum())])
    model = top_push.declaration(**given)
    return Case(
        model, model, Polytope({n: (k, 0.0, INF) for n, k in sizes.items()}, rows[None], np.zeros(1)),
        lambda x: top_push.dual(**given, multipliers=joined(x)),
        lambda x: X.T @ (joined(x) * y), lambda x: x,
        lambda u: top_push.primal(**given, w=u["w"]), point,
    )  # fmt: skip


def _multiclass():
    """The multiclass hinge is the largest of m cuts: the risk's dual is also had without its conjugate."""
    n, d, m, lam = 7, 2, 3, 0.3
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(n, d)), np.arange(n) % m
    against = np.eye(m) - np.eye(m)[y][:, None]  # (n, m, m): f_j - f_y
    rows = (against[:, :, None] * X[:, None, :, None]).reshape(n * m, d * m)
    cuts = fenchel.Term(
        fenchel.Largest(1 / n, n), {"w": rows}, (np.arange(m) != y[:, None]).ravel()
    )
    model = fenchel.Model({"w": fenchel.Block(d * m, lam)}, {"alpha": cuts})
    given = {"X": X, "lam": lam}

    def columns(x):
        return -np.einsum("ij,ijk->ki", x["alpha"].reshape(n, m), against) / lam

    return Case(
        model, model,
        Polytope({"alpha": (n * m, 0.0, INF)}, np.kron(np.eye(n), np.ones(m)), np.full(n, 1 / n)),
        lambda x: multiclass_erm.dual("multiclass_hinge", y, A=columns(x), **given),
        lambda x: multiclass_erm.weights(X, columns(x)).ravel(), lambda x: x,
        lambda u: multiclass_erm.primal("multiclass_hinge", y, W=u["w"].reshape(d, m), **given),
        lambda rng: {"w": rng.normal(size=d * m)},
    )  # fmt: skip


def _rankings(y):
    """Inversions of all rankings, as they are listed."""
    from refsolve._ranking import all_rankings

    return all_rankings(y == 1)


CASES: dict[str, Callable[[], Case]] = {
    "svm hinge": lambda: _svm("hinge"),
    "svm squared hinge": lambda: _svm("squared_hinge"),
    "svm_2k": _svm_2k,
    "svm_plus_hinge": lambda: _plus(False, True),
    "svm_plus_hinge, no sign": lambda: _plus(False, False),
    "svm_plus_hinge, signed with own slacks": lambda: _plus(False, True, True, delta=0.3),
    "svm_plus_hinge, bias penalised": lambda: _plus(False, True, penal=True),
    "svm_plus_squared_hinge": lambda: _plus(True, False),
    "svm_plus_squared_hinge, slacks >= 0": lambda: _plus(True, True),
    "svm_plus_squared_hinge, signed with own slacks": lambda: _plus(True, False, True, delta=0.3),
    "svm_plus_squared_hinge, bias penalised": lambda: _plus(True, False, penal=True),
    "binary_svm": lambda: _binary(False),
    "binary_svm, bias a feature": lambda: _binary(True),
    "binary_svm, free bias": lambda: _binary("free"),
    "top_push": _top_push,
    "multiclass_erm, hinge": _multiclass,
    "ap_svm": _ap_svm,
    "ap_svm_appx": lambda: _appx(True),
    "ap_svm_appx, no bias": lambda: _appx(False),
}
