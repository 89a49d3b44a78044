"""The declaration of a loss over rankings against all rankings of few samples and its printed formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np

from verification.declarations.case import Array
from verification.declarations.printed import Names, number

TOL = 1e-6


def disagreements(module: ModuleType) -> Iterator[str]:
    """What the file says twice, and differently."""
    rng = np.random.default_rng(0)
    for up in ((1, 0, 0), (0, 1, 0, 1), (1, 0, 1, 0, 0)):
        y = np.array(up)
        for size in (0.3, 2.0):
            s = rng.normal(size=y.size) * size
            for text in _on(module, y, s):
                yield f"y = {up}, s = {s.tolist()}: {text}"


def _on(module: ModuleType, y: Array, s: Array) -> Iterator[str]:
    formulas = {n: " ".join(t.split()) for n, t in module.SPEC.formulas.items()}
    P, N = int(y.sum()), int((1 - y).sum())
    sizes: dict[str, Any] = {"P": P, "N": N}
    if "Z" in formulas:
        printed = formulas["Z"].partition(" = ")[2].partition(", k")[0]
        sizes["Z"] = number(printed, Names({**sizes, "k": np.arange(1, P + 1)}))
    best = -np.inf
    delta_text = formulas["Delta"].rpartition(" = ")[2].partition(", c_k")[0]
    for order in permutations(range(y.size)):
        ranks = np.argsort(order)
        above = np.array(
            [sum(y[j] == 0 and ranks[j] < ranks[i] for j in range(y.size)) for i in range(y.size)]
        )
        below = np.array(
            [sum(y[j] == 1 and ranks[j] > ranks[i] for j in range(y.size)) for i in range(y.size)]
        )
        c = np.sort(above[y == 1])
        loss = number(delta_text, Names({**sizes, "c": c, "k": np.arange(1, P + 1)}))
        right = 1 - GOODNESS[module.__name__.rpartition(".")[2]](y, order)
        if abs(float(right) - loss) > 1e-12:
            yield f"printed Delta is {loss}, by definition {right}"
            return
        inversions = np.where(y == 1, above, below)
        if abs(module.delta(y, inversions) - loss) > 1e-12:
            yield f"declared Delta of {order} is {module.delta(y, inversions)}, printed {loss}"
        found = re.search(r"a_i = (.*?) and a_j = (.*?);", formulas["coefficients"])
        assert found is not None
        a: Any = np.where(
            y == 1,
            number(found[1], Names({**sizes, "c": above})),
            number(found[2].removeprefix("+"), Names({**sizes, "t": below})),
        )
        if abs(a.sum()) > 1e-12 or np.max(abs(a - module.coefficients(y, inversions))) > 1e-12:
            yield f"printed coefficients of {order} are {a.tolist()}"
            return
        best = max(best, loss + a @ s)
    declared = float(module.value(cp.Constant(s), y).value)
    if abs(declared - best) > TOL:
        yield f"declared value {declared}, by all rankings and the printed terms {best}"
    text = re.search(r"h_k\(j\) = (.*?), both", formulas["loss_augmented_inference"])
    assert text is not None
    up, down = (np.sort(s[y == side])[::-1] for side in (1, 0))
    given = {
        **sizes,
        "k": np.arange(1, P + 1)[:, None],
        "j": np.arange(1, N + 1)[None],
        "s_k": up[:, None],
        "s_j": down[None],
    }
    h = np.asarray(number(text[1], Names(given)))
    gains = np.vstack([np.cumsum(h[::-1], axis=0)[::-1], np.zeros(N)])
    if abs(gains.max(axis=0).sum() - declared) > TOL:
        yield f"by the printed h the value is {gains.max(axis=0).sum()}, declared {declared}"
    x = cp.Variable((P, N))
    program = cp.Problem(
        cp.Maximize(module.objective(x, h.ravel(order="F"))), module.constraints(x)
    )
    most = float(program.solve(solver="CLARABEL"))
    if abs(most - declared) > TOL * 10:
        yield f"the linear program's value is {most}, declared {declared}"
    if abs(float(module.most_violated(s, y).value) - declared) > TOL:
        yield f"most_violated has the value {module.most_violated(s, y).value}, declared {declared}"


def _precision(y: Array, order: tuple[int, ...]) -> Fraction:
    """AP of a ranking, as a mean of precisions."""
    hits, total = 0, Fraction(0)
    for place, i in enumerate(order, 1):
        if y[i]:
            hits += 1
            total += Fraction(hits, place)
    return total / hits


def _gain(y: Array, order: tuple[int, ...]) -> float:
    """NDCG of a ranking: discounted gain over that of the best."""
    discounts = 1 / np.log2(np.arange(2, y.size + 2))
    return float(discounts[y[list(order)] == 1].sum() / discounts[: y.sum()].sum())


GOODNESS: dict[str, Callable[[Array, tuple[int, ...]], Any]] = {
    "average_precision": _precision, "ndcg": _gain,
}  # fmt: skip
