"""Cases of the models over rankings, and of the risk at one point."""

# ruff: noqa: E731
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

import cvxpy as cp
import numpy as np

from refsolve import catalogue
from refsolve.losses import average_precision
from verification.declarations import losses
from verification.declarations.case import Array, Case, D, N, data
from verification.declarations.margin_cases import loss_at


def _rankings(s: Array, y: Array) -> float:
    return float(average_precision.value(cp.Constant(s), y).value)


def structured(what: str) -> Callable[[np.random.Generator], Iterator[Case]]:
    """AP-SVM and its relatives: P from the loss over all rankings."""

    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, _ = data(rng)
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


def descents(what: str) -> Callable[[np.random.Generator], Iterator[Case]]:
    """Models of which only stationary points are known: J from the loss over all rankings."""

    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, _ = data(rng)
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


def pointwise_risk(rng: np.random.Generator) -> Iterator[Case]:
    """The risk of two losses at one point."""
    p, g = np.array([0.5, 0.3, 0.2]), rng.normal(size=3)
    for loss, params in (("softmax", {}), ("topk_hinge_beta", {"k": 2})):
        one = losses.Loss(loss, params, 2)
        L = np.array([loss_at(one, g, c) for c in range(3)])
        names: Any = lambda c, L=L: {"p_y": p, "L()": lambda *_: L, "y": 0, "g": g}
        patterns = {"primal": ("primal", r"R\(g\) = (sum_y .*?), optionally")}
        yield Case({"loss": loss, "p": p, **params}, {"g": g}, names, patterns)
