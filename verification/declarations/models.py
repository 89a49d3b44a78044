"""A model's declaration: its printed primal, dual, maps and gap, executed, against its certificate.

The points are not optimal, so that every term counts; then strong duality holds at the oracle's answer, and no point
nearby has a smaller printed primal. Where the model is declared as norms and losses of linear maps, those give the
same numbers.
"""

# ruff: noqa: E731
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np

import refsolve
from refsolve import catalogue
from refsolve._types import Array
from refsolve.losses import average_precision
from verification.declarations import losses
from verification.declarations.printed import number, read

TOL, CLOSED = 1e-8, 1e-5
N, D = 6, 2


@dataclass
class Case:
    """One instance of a model with points of both sides.

    ``patterns``: printed expressions by what they must equal; ``names``: what their symbols stand for;
    ``primal``: P at the unknowns of ``at``; ``blocks``: the point of the declared form, and its multipliers.
    """

    given: dict[str, Any]
    certify: dict[str, Any]
    names: Callable[[Any], dict[str, Any]]
    patterns: dict[str, tuple[str, str]]
    more: str = ""
    unknowns: tuple[str, ...] = ("w",)
    answer: Callable[[Any], dict[str, Any]] | None = None
    blocks: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]] | None = None
    declared: dict[str, Any] = field(default_factory=dict)


def disagreements(stem: str) -> Iterator[str]:
    """What the file of a model says twice, and differently."""
    module = catalogue.load(stem)
    for case in CASES.get(stem, lambda rng: iter(()))(np.random.default_rng(1)):
        for text in _on(module, case):
            yield f"{stem}, {case.given}: {text}"


def _on(module: ModuleType, case: Case) -> Iterator[str]:
    stem = module.__name__.rpartition(".")[2]
    formulas = {n: " ".join(t.split()) for n, t in module.SPEC.formulas.items()}
    certificate = module.certificate(**case.given, **case.certify)
    right = {"primal": certificate.primal, "dual": certificate.dual, "gap": certificate.gap}
    if "gap" in case.patterns and certificate.gap < 1e-3 * certificate.scale:
        yield f"the gap at a point that is not optimal is {certificate.gap}"
    if not _near(certificate.primal - certificate.dual, certificate.gap, certificate.scale):
        yield f"gap {certificate.gap} is not P - D = {certificate.primal - certificate.dual}"
    names = case.names(certificate)
    for key, (formula, pattern) in case.patterns.items():
        found = re.search(pattern, formulas[formula])
        if found is None:
            yield f"formula {formula!r} has no {pattern!r}"
            continue
        rest = [
            f"0, {clause}"
            for clause in (case.more, formulas[formula][found.end() :].lstrip(" ,;"))
            if clause
        ]
        value = number("".join(found.groups()), read("0", names, rest)[1])
        wanted = names[key] if key in names else right[key]
        if np.shape(value) != np.shape(wanted) or not _near(value, wanted, certificate.scale):
            yield f"printed {key}: {found[1]} = {value}, the certificate says {wanted}"
    if case.blocks is not None:
        model = module.declaration(**(case.declared or case.given))
        u, p = case.blocks(certificate)
        u, p = (
            {n: np.asarray(v, dtype=float).reshape(-1) for n, v in each.items()} for each in (u, p)
        )
        p = p if p.keys() == model.terms.keys() else {}
        if not _near(model.primal(u), certificate.primal, certificate.scale):
            yield f"P of the declared norms and losses is {model.primal(u)}, the certificate's {certificate.primal}"
        if p and not _near(model.dual(p), certificate.dual, certificate.scale):
            yield f"D of the declared norms and losses is {model.dual(p)}, the certificate's {certificate.dual}"
        if (p and model.violation(p) > 1e-6) or model.excess(u) > 1e-6:
            yield f"the declared form calls a feasible point infeasible, by {model.excess(u)}"
    for operation in catalogue.operations(stem):
        solved = refsolve.solve(f"{stem}.{operation}", **case.given)
        if (
            solved.certificate.gap > CLOSED * max(solved.certificate.scale, 1e-3)
            and "gap" in case.patterns
        ):
            yield f"{operation}: the oracle's gap is {solved.certificate.gap}"
        if (
            operation == "primal"
            and "primal" in case.patterns
            and solved.value > certificate.primal + TOL
        ):
            yield f"primal: the oracle's {solved.value} is more than {certificate.primal} elsewhere"


def _near(a: Any, b: Any, scale: float) -> bool:
    return bool(
        np.max(abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)))
        <= 1e-6 * max(scale, 1.0)
    )


def _data(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Rows that a line does not separate, labels, and weights."""
    X = rng.normal(size=(N, D)).round(2)
    y = np.where(np.arange(N) % 2, 1, -1)
    return X, y, np.array([1.0, 0.5, 2.0, 1.5, 1.0, 0.75])


def _balanced(rng: np.random.Generator, y: Array, top: Array) -> Array:
    """Multipliers between 0 and their bounds with <alpha,y> = 0."""
    alpha = rng.uniform(0.2, 0.9, size=y.size) * np.minimum(top, 2.0)
    ratio = alpha[y > 0].sum() / alpha[y < 0].sum()
    return alpha * np.where(y > 0, min(1, 1 / ratio), min(1, ratio))


# ------------------------------------------------------------------------------ the models

MARGINS = "m_i = 1 - y_i (<w,x_i> + b)"


def _svm(rng: np.random.Generator) -> Iterator[Case]:
    X, y, sw = _data(rng)
    C, w, b = 0.8, np.array([0.4, -0.7]), 0.3
    for loss in ("hinge", "squared_hinge"):
        squared = loss != "hinge"
        alpha = _balanced(rng, y, np.full(N, np.inf) if squared else C * sw)
        given = {"X": X, "y": y, "C": C, "loss": loss, "sample_weight": sw}
        names: Any = lambda c, alpha=alpha: {
            "w": w,
            "b": b,
            "x_i": X,
            "X'": X.T,
            "y": y,
            "w_i": sw,
            "C": C,
            "alpha": alpha,
            "K": X @ X.T,
            "yy'": np.outer(y, y),
            "less": float((alpha**2 / (2 * C * sw)).sum()),
            "own": X.T @ (alpha * y),
            "plain dual": c.dual + float((alpha**2 / (2 * C * sw)).sum()),
            "half": c.gap - float(((w - X.T @ (alpha * y)) ** 2).sum()) / 2,
        }
        patterns = {
            "primal": (
                "primal",
                r"or with squares (.*)$" if squared else r"P\(w,b\) = (.*?), m_i = 1",
            ),
            ("plain dual" if squared else "dual"): ("dual", r"D\(alpha\) = (.*?), 0 <="),
            "own": ("maps", r"w = (.*?);"),
            **(
                {"less": ("dual", r"less (.*)$"), "half": ("gap", r"or with squares (.*)$")}
                if squared
                else {"gap": ("gap", r"^(.*?) = P - D")}
            ),
        }
        point = {"w": w, "b": b, "alpha": alpha}
        blocks: Any = lambda c, a=alpha: ({"w": w, "b": b}, {"alpha": a})
        yield Case(
            given,
            point,
            names,
            patterns,
            MARGINS,
            blocks=blocks,
        )


def _binary_svm(rng: np.random.Generator) -> Iterator[Case]:
    X, y, _ = _data(rng)
    C, w, b = 3.0, np.array([0.4, -0.7]), 0.3
    alpha = _balanced(rng, y, np.full(N, C / N))
    names: Any = lambda c: {
        "w": w,
        "b": b,
        "x_i": X,
        "y": y,
        "C": C,
        "n": N,
        "alpha": alpha,
        "own": X.T @ (alpha * y),
    }
    patterns = {
        "primal": ("primal", r"P\(w\) = (.*)$"),
        "dual": ("dual", r"D\(alpha\) = (.*?), 0 <="),
        "own": ("maps", r"w = (.*?), alpha_i"),
        "gap": ("gap", r"^(.*?) = P\(w\)"),
    }
    given = {"X": X, "y": y, "C": C, "bias": "free"}
    point = {"w": w, "b": b, "alpha": alpha}
    yield Case(
        given,
        point,
        names,
        patterns,
        MARGINS,
        blocks=lambda c: ({"w": w, "b": b}, {"alpha": alpha}),
    )


def _top_push(rng: np.random.Generator) -> Iterator[Case]:
    X, y, _ = _data(rng)
    C, w, up = 0.6, np.array([0.4, -0.7]), y > 0
    a = rng.uniform(0.1, 0.4, size=N)
    a[~up] *= a[up].sum() / a[~up].sum()
    t = float((X[~up] @ w).max())
    v = X[up].T @ a[up] - X[~up].T @ a[~up]

    def names(c: Any) -> dict[str, Any]:
        return {
            "w": w,
            "C": C,
            "x_i": X[up],
            "x_j": X[~up],
            "alpha": a[up],
            "beta": a[~up],
            "own": v,
        }

    patterns = {
        "primal": ("primal", r"P\(w\) = (.*?), t ="),
        "dual": ("dual", r"D\(alpha,beta\) = (.*?), v ="),
        "own": ("dual", r"v = (.*?), alpha, beta"),
        "gap": ("gap", r"^(.*?) = P - D"),
    }
    more = "t = max_j <x_j,w>, z_i = 1 + t - <x_i,w>, v = sum_i alpha_i x_i - sum_j beta_j x_j"
    blocks: Any = lambda c: ({"w": w, "t": t}, {"alpha": a[up], "beta": a[~up]})
    yield Case(
        {"X": X, "y": y, "C": C}, {"w": w, "multipliers": a}, names, patterns, more, blocks=blocks
    )


def _svm_2k(rng: np.random.Generator) -> Iterator[Case]:
    X, y, sw = _data(rng)
    Z = rng.normal(size=(N, 1)).round(2)
    given = {
        "X": X,
        "y": y,
        "Z": Z,
        "CA": 0.8,
        "CB": 1.1,
        "D": 0.5,
        "eps": 0.1,
        "sample_weight": sw,
    }
    w, b, v, rho = np.array([0.4, -0.7]), 0.3, np.array([0.6]), -0.2
    beta = rng.uniform(-0.3, 0.3, size=N)
    beta -= beta.mean()
    raw = np.array([_balanced(rng, y, 0.8 * sw), _balanced(rng, y, 1.1 * sw), beta])
    fA, fB = X @ w + b, Z @ v + rho

    def names(c: Any) -> dict[str, Any]:
        A, B, beta = c.alpha
        return {
            "w_A": w,
            "w_B": v,
            "f_A": fA,
            "f_B": fB,
            "y": y,
            "w_i": sw,
            "CA": 0.8,
            "CB": 1.1,
            "D": 0.5,
            "eps": 0.1,
            "beta": beta,
            "m_Ai": 1 - y * fA,
            "m_Bi": 1 - y * fB,
            "alpha_Ai": A,
            "alpha_Bi": B,
            "g_A": A * y - beta,
            "g_B": B * y + beta,
            "f_A()": lambda _: fA,
            "f_B()": lambda _: fB,
            "x_i": X,
            "z_i": Z,
            "K": X @ X.T,
            "Kz": Z @ Z.T,
        }

    patterns = {
        "primal": ("primal", r"P = (.*?), m_Vi"),
        "dual": ("dual", r"^(.*?), g_A ="),
    }
    point = {"alpha": raw, "w": w, "b": b, "v": v, "rho": rho}
    blocks: Any = lambda c: (
        {"w": w, "b": b, "v": v, "rho": rho},
        dict(zip(("alpha_A", "alpha_B", "beta"), c.alpha, strict=True)),
    )
    yield Case(given, point, names, patterns, blocks=blocks)


def _svm_plus(squared: bool) -> Callable[[np.random.Generator], Iterator[Case]]:
    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, sw = _data(rng)
        Z = rng.normal(size=(N, 2)).round(2)
        C, lam = 0.8, 1.7
        given = {"X": X, "y": y, "Z": Z, "C": C, "lam": lam, "sample_weight": sw}
        alpha = _balanced(rng, y, C * sw)
        beta = rng.uniform(0.1, 0.5, size=N)
        if not squared:  # sum of alpha + beta - C w is 0
            beta *= (C * sw.sum() - alpha.sum()) / beta.sum()
        K, Kz, yy = X @ X.T, Z @ Z.T, np.outer(y, y)

        def names(c: Any) -> dict[str, Any]:
            m = c.model
            Zt = np.column_stack([Z, np.ones(N)])
            Q = Zt @ np.linalg.solve(lam * np.eye(3) + C * Zt.T @ np.diag(sw) @ Zt, Zt.T)
            vt = Zt.T @ (c.alpha - C * sw * (Q @ c.alpha)) / lam
            return {
                "w": m.w,
                "b": m.b,
                "v": m.v,
                "rho": m.rho,
                "xi": m.xi,
                "w_i": sw,
                "C": C,
                "lam": lam,
                "y": y,
                "x_i": X,
                "z_i": Z,
                "alpha": c.alpha,
                "beta": c.beta,
                "K": K,
                "Kz": Kz,
                "yy'": yy,
                "X'": X.T,
                "Z'": Z.T,
                "f_i": X @ m.w + m.b,
                "Q": Q,
                "vt": np.append(m.v, m.rho),
                "vt()": lambda _: vt,
                "kernel": Q,
            }

        patterns = {
            "primal": ("primal", r"P = (.*?), xi_i"),
            "dual": ("dual", r"D\(alpha(?:,beta)?\) = (.*?)(?:, alpha >= 0|, e_i)"),
            "gap": ("gap", r"^(.*?) = P - D"),
        }
        w, v = np.array([0.4, -0.7]), np.array([0.3, -0.1])
        point = {"w": w, "b": 0.3, "v": v, "rho": 2.0, "alpha": alpha} | (
            {} if squared else {"beta": beta}
        )
        more = "e_i = alpha_i + beta_i - C w_i"
        blocks: Any = lambda c: (c.model._asdict(), {})
        yield Case(given, point, names, patterns, more, blocks=blocks)

    return cases


def _multiclass_erm(rng: np.random.Generator) -> Iterator[Case]:
    X, _, sw = _data(rng)
    y = np.arange(N) % 3
    lam, W = 0.4, rng.normal(size=(D, 3)).round(2)
    for loss, params in (
        ("topk_hinge_beta", {"k": 2}),
        ("softmax", {}),
        ("ova_smooth_hinge", {"gamma": 0.5}),
    ):
        given = {"loss": loss, "X": X, "y": y, "lam": lam, "sample_weight": sw, **params}
        each = [losses.Loss(loss, params, 3 if loss.startswith("ova") else 2) for _ in y]
        C = 1 / (lam * N)
        xs = [np.full(one.d, 0.2) for one in each]
        A = np.array(
            [C * s * one.block(x, c) for one, x, c, s in zip(each, xs, y, sw, strict=True)]
        ).T

        def L(y: Array, S: Array, each: Any = each) -> Array:
            return np.array([_loss_at(one, S[:, i], int(y[i])) for i, one in enumerate(each)])

        def names(c: Any, L: Any = L) -> dict[str, Any]:
            return {
                "n": N,
                "w_i": sw,
                "W": W,
                "lambda": lam,
                "L()": L,
                "y": y,
                "W'": W.T,
                "x_i": X.T,
            }

        patterns = {"primal": ("primal", r"P\(W\) = (.*)$")}
        yield Case(given, {"W": W, "A": A}, names, patterns)


def _loss_at(loss: Any, scores: Array, y: int) -> float:
    z = loss.margins(scores.astype(float), y, loss.check_costs(None, y))
    return losses.declared(loss, np.asarray(z, dtype=float))


def _rankings(s: Array, y: Array) -> float:
    return float(average_precision.value(cp.Constant(s), y).value)


def _structured(what: str) -> Callable[[np.random.Generator], Iterator[Case]]:
    """AP-SVM and its relatives: P from the loss over all rankings."""

    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, _ = _data(rng)
        C, w = 2.0, np.array([0.4, -0.7])
        given: dict[str, Any] = {"X": X, "y": y, "C": C}
        certify: dict[str, Any] = {"w": w}
        names: dict[str, Any] = {"w": w, "C": C}
        pattern = r"P\(w\) = (.*?)(?:, L =| subject)"
        s = X @ w
        if what == "ap_svm":
            names |= {"L()": lambda _: _rankings(s, y), "Xw": s}
        if what == "ap_svm_appx":
            easy = np.zeros(N, dtype=bool)
            easy[:2] = True
            X[:2] = y[:2, None] * np.array([2.0, -3.0])
            b = 0.2
            given |= {"easy": easy}
            certify |= {"b": b}
            hard = ~easy
            names |= {"L()": lambda _: _rankings(X[hard] @ w, y[hard]), "X_d": X[hard]}
        if what == "recall_at_k":
            k = 2
            given |= {"k": k}
            certify |= {
                "sets": np.isin(np.arange(N), [[0, 2], [1, 2]][0])[None].repeat(2, 0),
                "weights": np.array([0.5, 0.4]),
            }
            names |= {"L()": lambda _: _recall(s, y > 0, k), "Xw": s}
            pattern = r"P\(w\) = (.*?), L\(s\)"
        blocks: Any = lambda c: ({"w": w, "b": certify.get("b", 0.0)}, {})
        blocks = None if what == "recall_at_k" else blocks
        yield Case(given, certify, lambda c: names, {"primal": ("primal", pattern)}, blocks=blocks)

    return cases


def _descents(what: str) -> Callable[[np.random.Generator], Iterator[Case]]:
    """Models of which only stationary points are known: J from the loss over all rankings."""

    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, _ = _data(rng)
        C, w = 2.0, np.array([0.4, -0.7])
        given: dict[str, Any] = {"X": X, "y": y, "C": C}
        bags = np.arange(N)
        if what == "latent_ap_svm":
            X = np.vstack([X, rng.normal(size=(N, D)).round(2)])
            bags = np.tile(np.arange(N), 2)
            given = {"X": X, "y": y, "C": C, "bags": bags}
        s = np.array([(X @ w)[bags == i].max() for i in range(N)])
        J = catalogue.load(what).primal(**given, w=w)
        names = {
            "w": w,
            "C": C,
            "J": J,
            "L()": lambda _: _rankings(s, y),
            "H()": lambda _: _predicted(s, y),
            "Xw": s,
            "s": s,
        }
        pattern = (
            r"J\(w\) = (.*?), s_i"
            if what == "latent_ap_svm"
            else r"J\(w\) = (.*? C )mean over queries of (\(.*?\)), L\(s\)"
        )
        yield Case(given, {"w": w}, lambda c: names, {"J": ("primal", pattern)})

    return cases


def _predicted(s: Array, y: Array) -> float:
    """Max over all rankings of <c_R,s>."""
    best = -np.inf
    for order in permutations(range(len(y))):
        ranks = np.argsort(order)
        ahead = ranks[:, None] < ranks[None]
        above = (ahead & (y < 0)[:, None]).sum(axis=0)
        below = (ahead & (y > 0)[None]).sum(axis=1)
        counts = np.where(y > 0, above, below)
        best = max(best, float(average_precision.coefficients(y, counts) @ s))
    return best


def _recall(s: Array, up: Array, k: int) -> float:
    """Max(0, max_T 1 - |T and pos|/P + 2 (sum_T s - sum_pos s)) over all sets of k, from the printed words."""
    text = catalogue.load("recall_at_k").SPEC.formulas["primal"]
    inner = re.search(r"max_T Delta\(T\) \+ (2 \(sum_T s - sum_pos s\))", " ".join(text.split()))
    assert inner is not None
    best = 0.0
    for members in combinations(range(len(s)), k):
        T = np.isin(np.arange(len(s)), members)
        best = max(best, 1 - (T & up).sum() / up.sum() + 2 * (s[T].sum() - s[up].sum()))
    return best


def _pointwise_risk(rng: np.random.Generator) -> Iterator[Case]:
    p, g = np.array([0.5, 0.3, 0.2]), rng.normal(size=3)
    for loss, params in (("softmax", {}), ("topk_hinge_beta", {"k": 2})):
        one = losses.Loss(loss, params, 2)
        L = np.array([_loss_at(one, g, c) for c in range(3)])
        names: Any = lambda c, L=L: {"p_y": p, "L()": lambda *_: L, "y": 0, "g": g}
        patterns = {"primal": ("primal", r"R\(g\) = (sum_y .*?), optionally")}
        yield Case({"loss": loss, "p": p, **params}, {"g": g}, names, patterns)


CASES: Mapping[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "svm": _svm,
    "binary_svm": _binary_svm,
    "top_push": _top_push,
    "svm_2k": _svm_2k,
    "svm_plus_hinge": _svm_plus(False),
    "svm_plus_squared_hinge": _svm_plus(True),
    "multiclass_erm": _multiclass_erm,
    "ap_svm": _structured("ap_svm"),
    "ap_svm_appx": _structured("ap_svm_appx"),
    "recall_at_k": _structured("recall_at_k"),
    "pointwise_risk": _pointwise_risk,
    "ap_ramp": _descents("ap_ramp"),
    "latent_ap_svm": _descents("latent_ap_svm"),
}
