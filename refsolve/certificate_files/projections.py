"""Certificate files of projections: a point, its multipliers, and what they prove.

For x in the set, g = x - a + rho <1,x> 1 and a multiplier nu per row of the set (t = g + rows' nu), strong
convexity and weak duality give for every y in the set

    f(x) - f(y) <= sum_i max(t_i (x_i - low_i), -t_i (high_i - x_i), 0) + nu' (limits - rows x),

t_i^2 / 2 standing where a bound is infinite. A cap that is a share s/k of the sum gives its
multipliers (-t_i)_+, over k, to the sum; what then is left of the sum's multiplier is nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.certificate_files.file import written
from refsolve.errors import InvalidParameterError

EPS, LARGEST = float(np.finfo(float).eps), 1e150
#: Sets by where the upper bound of an entry comes from.
CAPS = {
    "simplex": "none", "topk_simplex_alpha": "share", "topk_simplex_beta": "r/k", "topk_cone": "share",
    "box": "r", "capped_simplex": "cap", "l1_ball": "none", "knapsack": "high", "bipartite_simplex": "none",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """What is proven: f(x) - min f <= bound, but for constraints that fail by violation."""

    bound: float
    violation: float


@dataclass(frozen=True)
class Question:
    """A projection: the point, the set, and rows (weights, limit, equation) of it."""

    object_name: str
    a: Array
    k: int = 1
    r: float = np.inf
    cap: float = 0.0
    rho: float = 0.0
    more: dict[str, Array] | None = None

    @classmethod
    def of(cls, object_name: str, params: dict[str, Any]) -> Question:
        """From the arguments of `refsolve.solve`."""
        given = dict(params)
        a = np.asarray(given.pop("a"), dtype=float)
        if object_name not in CAPS or a.ndim != 1:
            raise InvalidParameterError(
                "problem", f"{object_name}.projection of shape {a.shape}",
                f"one point, and one of {', '.join(CAPS)}", "no file holds others",
            )  # fmt: skip
        more = {
            key: np.asarray(given.pop(key)) for key in ("b", "low", "high", "y") if key in given
        }
        rows = {str(key): np.broadcast_to(v, a.shape).astype(float) for key, v in more.items()}
        r = given.pop("capacity", given.pop("r", np.inf if object_name == "topk_cone" else 1.0))
        k, cap, rho = given.pop("k", 1), given.pop("cap", 1.0), given.pop("rho", 0.0)
        return cls(object_name, a, int(k), float(r), float(cap), float(rho), rows)

    @property
    def text(self) -> str:
        """Kind and parameters."""
        r = 0.0 if np.isinf(self.r) else self.r
        return f"projection set={self.object_name} k={self.k} r={r!r} cap={self.cap!r} rho={self.rho!r}"

    @property
    def rows(self) -> list[tuple[Array, float, bool]]:
        """Weights, limit, and whether it is an equation."""
        one, more = np.ones(len(self.a)), self.more or {}
        if self.object_name == "knapsack":
            return [(more["b"], self.r, True)]
        if self.object_name == "bipartite_simplex":
            return [(1 - 2 * more["y"], 0.0, True), (more["y"], self.r, False)]
        if self.object_name in ("box", "l1_ball"):
            return []
        return [(one, self.r, self.object_name in ("simplex", "capped_simplex"))]

    def claim(self, x: Array, nu: Array) -> Claim:
        """What a point and multipliers prove, generously enough for another arithmetic."""
        d, s = len(x), x.sum()
        g = x - self.a + self.rho * s
        size = np.abs(x) + np.abs(self.a) + self.rho * np.abs(x).sum()
        rough = 16 * (d + 16) * EPS
        if self.object_name == "l1_ball":
            t = np.clip(g, -nu[0], nu[0])
            gap = nu[0] * np.abs(x) + t * x + (g - t) ** 2 / 2
            whole = float(gap.sum() + nu[0] * max(self.r - np.abs(x).sum(), 0.0))
            slack = rough * float(((size + nu[0]) * np.abs(x)).sum() + nu[0] * self.r)
            slack += float(((rough * (size + nu[0])) ** 2).sum())
            violation = max(0.0, float(np.abs(x).sum() - self.r))
            return _generous(whole, slack, violation, rough * (np.abs(x).sum() + self.r))
        low, high = np.zeros(d), np.full(d, np.inf)
        if CAPS[self.object_name] == "high":
            low, high = (self.more or {})["low"], (self.more or {})["high"]
        if CAPS[self.object_name] in ("share", "r/k", "r", "cap"):
            caps = {"share": s, "r/k": self.r, "r": self.r, "cap": self.cap}
            high[:] = caps[CAPS[self.object_name]] / (
                1 if CAPS[self.object_name] in ("r", "cap") else self.k
            )
        t = g + sum((v * c for v, (c, _, _) in zip(nu, self.rows, strict=True)), np.zeros(d))
        size = size + sum(
            (abs(v) * abs(c) for v, (c, _, _) in zip(nu, self.rows, strict=True)), 0 * size
        )
        down, up = np.maximum(t, 0), np.maximum(-t, 0)
        tall, deep = np.isfinite(high), np.isfinite(low)
        part = down * np.where(deep, np.maximum(x - np.where(deep, low, 0), 0), down / 2)
        part += up * np.where(tall, np.maximum(np.where(tall, high, 0) - x, 0), up / 2)
        reach = np.abs(x) + np.where(deep, np.abs(np.where(deep, low, 0)), 0)
        reach += np.where(tall, np.abs(np.where(tall, high, 0)), 0)
        gap, slack = float(part.sum()), rough * float((size * (reach + rough * size)).sum())
        off = max(0.0, float((np.where(deep, low, -np.inf) - x).max(initial=0.0)))
        off = max(off, float((x - high).max(initial=0.0)))
        width = float(np.abs(x).sum() + reach.max(initial=0.0))
        for v, (c, limit, equation) in zip(nu, self.rows, strict=True):
            inside, far = float(c @ x), float(np.abs(c) @ np.abs(x))
            if CAPS[self.object_name] == "share":
                v = v + up.sum() / self.k
                slack += rough * (size.sum() + d * abs(v)) ** 2 * EPS
            if np.isfinite(limit):
                off = max(off, abs(inside - limit) if equation else inside - limit)
                gap += v * (limit - inside) if equation else max(v, 0) * max(limit - inside, 0)
                slack += rough * (abs(v) + size.sum()) * (far + abs(limit))
                width += far + abs(limit)
                v = v if not equation else 0.0
                v = min(v, 0.0)
            gap += v * v / 2 * float(c @ c)
        return _generous(gap, slack, off, rough * width)

    def multipliers(self, x: Array) -> Array:
        """The best of those that make an entry of t zero, a row after another."""
        g = x - self.a + self.rho * x.sum()
        if self.object_name == "l1_ball":
            found = np.unique(np.append(np.abs(g), 0.0))
            return np.array([_best(found, lambda v: self.claim(x, np.array([v])).bound)])
        nu = np.zeros(len(self.rows))
        if len(nu) > 1:
            nu = min(self._starts(x, g), key=lambda start: self.claim(x, start).bound)
        for j in (0, 1, 0, 1, 0)[: 5 if len(nu) > 1 else len(nu)]:
            c, _, equation = self.rows[j]
            others = g + sum(
                (nu[i] * row[0] for i, row in enumerate(self.rows) if i != j), np.zeros(len(x))
            )
            found = np.append(-others[c != 0] / c[c != 0], [0.0, nu[j]])
            free = equation or CAPS[self.object_name] == "share"
            if CAPS[self.object_name] == "share":
                found = np.append(found, self._unused(others))
            found = np.unique(found if free else np.maximum(found, 0.0))

            def price(v: float, j: int = j) -> float:
                return self.claim(x, np.where(np.arange(len(nu)) == j, v, nu)).bound

            nu[j] = _best(found, price)
        return nu

    def _starts(self, x: Array, g: Array) -> list[Array]:
        """Multipliers of two groups: from their largest entries, of x or of -g."""
        inside, best = (self.more or {})["y"] > 0, []
        for key in (x, -g):
            one, other = (-g[np.argmax(np.where(part, key, -np.inf))] for part in (~inside, inside))
            best += [
                np.array([v, n])
                for v, n in ((one, max(one + other, 0.0)), (one, 0.0), (-other, 0.0))
            ]
        return best

    def _unused(self, g: Array) -> Array:
        """Where nothing is left for the sum's own multiplier: roots of v + sum (-g - v)_+ / k."""
        v = np.sort(-g)
        left = v + (v[::-1].cumsum()[::-1] - v * np.arange(len(v), 0, -1)) / self.k
        slope = 1 - len(v) / self.k
        ends = [0.0] + ([v[0] - left[0] / slope] if slope else [])
        turns = np.flatnonzero(left[:-1] * left[1:] < 0)
        share = left[turns] / (left[turns] - left[turns + 1])
        return np.append(v[turns] + share * (v[turns + 1] - v[turns]), ends)

    def save(self, path: str | PathLike[str], x: Array) -> Claim:
        """Write the certificate of an answer, whoever's it is; what it claims."""
        x = np.asarray(x, dtype=float)
        size = float(np.abs(np.concatenate((x, self.a, (self.more or {}).get("b", x)))).max())
        if x.shape != self.a.shape or not size <= LARGEST:
            expected = f"{self.a.size} numbers up to {LARGEST:g}, and such data"
            raise InvalidParameterError("x", x, expected, "no file holds others")
        nu = self.multipliers(x)
        claim = self.claim(x, nu)
        data = {"a": self.a, **(self.more or {})}
        said = {"bound": claim.bound, "violation": claim.violation}
        written(path, self.text, data, {"x": x, "multipliers": nu}, **said)
        return claim


def _generous(gap: float, slack: float, violation: float, off: float) -> Claim:
    return Claim(float(gap + 1e-9 * abs(gap) + slack) + 1e-280, float(violation + off) + 1e-280)


def _best(values: Array, price: Any) -> float:
    """Where a convex function of a number is least, among some in order."""
    low, high = 0, len(values) - 1
    while high - low > 8:
        third = (high - low) // 3
        if price(float(values[low + third])) <= price(float(values[high - third])):
            high -= third
        else:
            low += third
    return min(map(float, values[low : high + 1]), key=price)
