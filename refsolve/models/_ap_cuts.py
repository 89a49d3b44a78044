"""1/2||w||^2 + C mean_q max_t (offset_t + <row_t,w>): certificate, CVXPY master, cutting plane.

All the models over rankings are this program; a model says what its cuts are. Some add the hard
constraints y_e (<x_e,w> + b) >= 1. Lagrange dual, with alpha >= 0 summing to C over the cuts,
mu >= 0 and, for a free b, <mu,y> = 0: D = sum alpha offset + sum mu - 1/2||u||^2 at
u = -sum alpha row + sum mu y x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsolve import oracle
from refsolve._lazy import cp
from refsolve.certificates import Certificate
from refsolve.errors import InvalidParameterError
from refsolve.oracle import Answer, Posed, Template
from refsolve.spec import Symbol, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble
BOX = Symbol("C", "weight of the loss", low=0, low_open=True)
#: Cutting planes stop at this fraction of the natural size of the objective, or after ROUNDS.
CLOSE, ROUNDS = 1e-10, 400


@dataclass(frozen=True)
class CutCertificate(Certificate):
    """Certificate of a model that minimises a maximum of cuts.

    Attributes
    ----------
    gap : float
        P(w) - D(alpha) at the repaired alpha, summed from nonnegative terms.
    violation : float
        Largest violation of the dual's constraints by the weights as given, in units of C.
    distance : float
        sqrt(2 gap), bound on ||w - w*||.
    value, primal, dual : float
        P(w) twice, and D(alpha).
    scale : float
        max(|P|, |D|).
    residuals : ndarray of shape (m,)
        alpha_t (L(w) - offset_t - <row_t,w>), what each cut lacks to be the loss at w.
    drift : float
        1/2||w - u||^2, u the point that the dual stands for.
    w : ndarray of shape (d,)
        The point that P was taken at.
    weights : ndarray of shape (m,)
        The repaired alpha.
    """

    primal: float
    dual: float
    residuals: Array
    drift: float
    w: Array = field(repr=False)
    weights: Array = field(repr=False)


def certify(
    C: float,
    bound: Any,
    cuts: tuple[Array, Array],
    alpha: tuple[Array, float],
    w: Array,
    u: Array,
    hard: tuple[Any, Any] = (0, 0),
) -> dict[str, Any]:
    """The fields of a `CutCertificate`.

    ``bound`` is the loss at w; ``cuts`` are the offsets and the values <row_t,w>; ``alpha`` the
    repaired weights and their violation; ``hard`` sum mu and sum mu (y (<x,w> + b) - 1).
    """
    offsets, values = cuts
    weights, violation = alpha
    mass, slack = hard
    residuals = weights * np.maximum(0, bound - offsets - values)
    drift = ((w - u) ** 2).sum() / 2
    gap = float(residuals.sum() + slack + drift)
    primal = float((w * w).sum() / 2 + C * bound)
    dual = float(weights @ offsets + mass - (u * u).sum() / 2)
    return {
        "gap": gap,
        "violation": violation,
        "distance": float(np.sqrt(2 * gap)),
        "value": primal,
        "scale": max(abs(primal), abs(dual)),
        "primal": primal,
        "dual": dual,
        "residuals": residuals.astype(float),
        "drift": float(drift),
        "w": w.astype(float),
        "weights": weights.astype(float),
    }


def check_weights(weights: Any, m: int, C: float) -> tuple[Array, float]:
    """Weights on the simplex of size C nearest in spirit to the given, and their violation."""
    given = check_vector("weights", weights, size=m).astype(Real)
    alpha = np.maximum(0, given)
    total = alpha.sum()
    violation = max(float(-given.min()), float(abs(given.sum() - C)), 0.0)
    if total <= 0:
        raise InvalidParameterError(
            "weights", weights, f"weights >= 0 that sum to C = {C:g}", "pass the dual variables"
        )
    return alpha * (C / total), violation


def outside(violation: float, m: int, C: float) -> bool:
    """Whether that much is more than rounding."""
    return bool(violation > 64 * m * np.finfo(float).eps * C)


def couple(parts: Sequence[Array]) -> tuple[Array, Array]:
    """Weights (m,) summing to 1 on tuples of cuts, (m, Q) indices, with these marginals."""
    ends = [np.cumsum(np.maximum(0, p), dtype=Real) for p in parts]
    ends = [e / e[-1] for e in ends]
    breaks = np.unique(np.concatenate([[Real(0)], *ends]))
    weights, middle = np.diff(breaks), (breaks[1:] + breaks[:-1]) / 2
    index = np.column_stack([np.searchsorted(e, middle) for e in ends])
    keep = weights > 0
    return weights[keep], np.minimum(index, [len(p) - 1 for p in parts])[keep]


class Master:
    """The program over the cuts found so far.

    Parameters
    ----------
    C : float
    n_queries, d : int
    unit : float
        Natural size of the objective: its value at a known point.
    hard : tuple of ndarray, optional
        Examples (n_e, d) and their labels -1/1.
    bias : bool
        Whether b is free.
    """

    def __init__(
        self,
        C: float,
        n_queries: int,
        d: int,
        unit: float,
        hard: tuple[Array, Array] | None = None,
        bias: bool = True,
    ) -> None:
        self.C, self.d, self.unit, self.hard, self.bias = C, d, unit, hard, bias
        self.tags: list[list[Array]] = [[] for _ in range(n_queries)]
        self.offsets: list[list[float]] = [[] for _ in range(n_queries)]
        self.rows: list[list[Array]] = [[] for _ in range(n_queries)]
        self._seen: set[tuple[int, bytes]] = set()

    def add(self, q: int, tag: Array, offset: Any, row: Array) -> bool:
        """Keep a cut of query q under a tag; False if it is known."""
        key = (q, np.asarray(tag).tobytes())
        if key in self._seen:
            return False
        self._seen.add(key)
        self.tags[q].append(tag)
        self.offsets[q].append(float(offset))
        self.rows[q].append(np.asarray(row, float))
        return True

    def _padded(self) -> tuple[int, Array, Array]:
        """Cuts per query as a power of two, offsets and rows, the first cut repeated."""
        size = 8
        while size < max(map(len, self.offsets)):
            size *= 2
        pad = [[0] * (size - len(o)) for o in self.offsets]
        offsets = [[*o, *(o[i] for i in p)] for o, p in zip(self.offsets, pad, strict=True)]
        rows = [[*r, *(r[i] for i in p)] for r, p in zip(self.rows, pad, strict=True)]
        return size, np.array(offsets).ravel(), np.array(rows).reshape(-1, self.d)

    def _finish(self, found: Mapping[str, Any], size: int) -> dict[str, Any]:
        """Weights per query, summing to 1, without the padding."""
        parts = []
        for column, kept in zip(found["alpha"].reshape(-1, size), self.offsets, strict=True):
            alpha = np.maximum(0, column)
            part = alpha[: len(kept)].astype(Real)
            part[0] += alpha[len(kept) :].sum()
            parts.append(part / part.sum() if part.sum() > 0 else np.full(len(kept), 1 / len(kept)))
        return {"parts": parts}

    def posed(self, operation: str, finish: Callable[[dict[str, Any]], Answer]) -> Posed:
        """The program, or its dual, as an instance for the oracle.

        ``finish`` is given parts (weights per query, summing to 1), mu, and of the primal w and b.
        """
        return (self._primal if operation == "primal" else self._dual)(finish)

    def _primal(self, finish: Callable[[dict[str, Any]], Answer]) -> Posed:
        # w = size u: eta/2||u||^2 + kappa sum_q xi_q with rows of norm <= 1, or C near 1
        m, offsets, rows = self._padded()
        Q, n_e = len(self.tags), 0 if self.hard is None else len(self.hard[1])
        longest = float(np.sqrt((rows * rows).sum(axis=1).max(initial=0)))
        size = float(np.sqrt(self.C)) / max(1.0, float(np.sqrt(self.C)) * longest)
        if self.hard is not None:
            reach = float(np.sqrt((self.hard[0] ** 2).sum(axis=1).max(initial=0)))
            size = 1 / max(longest, reach, 1e-150)

        def build() -> Template:
            u, xi, b = cp.Variable(self.d), cp.Variable(Q), cp.Variable()
            G, o = cp.Parameter((Q * m, self.d)), cp.Parameter(Q * m)
            eta, kappa = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
            above = o + G @ u <= xi[np.repeat(np.arange(Q), m)]
            constraints, parameters = [above], {"G": G, "o": o, "eta": eta, "kappa": kappa}
            variables = {"u": u, "alpha": above.dual_variables[0]}
            if n_e:
                E, labels = cp.Parameter((n_e, self.d)), cp.Parameter(n_e)
                margin = E @ u + (labels * b if self.bias else 0)
                constraints.append(margin >= 1)
                parameters |= {"E": E} | ({"labels": labels} if self.bias else {})
                variables |= {"mu": constraints[1].dual_variables[0]}
                variables |= {"b": b} if self.bias else {}
            objective = eta / 2 * cp.sum_squares(u) + kappa * cp.sum(xi)
            return Template(cp.Problem(cp.Minimize(objective), constraints), parameters, variables)

        values = {"G": rows * size, "o": offsets, "eta": size**2 / self.unit}
        values |= {"kappa": self.C / Q / self.unit}
        if n_e:
            assert self.hard is not None
            values["E"] = self.hard[0] * self.hard[1][:, None] * size
            values |= {"labels": self.hard[1]} if self.bias else {}

        def done(found: Mapping[str, Any]) -> Answer:
            extra = {"w": size * found["u"], "b": float(found.get("b", 0.0))}
            mu = self.unit * np.maximum(0, found["mu"]) if n_e else np.zeros(0)
            return finish(self._finish(found, m) | extra | {"mu": mu})

        return Posed(("primal", *self._key(m, n_e)), build, values, done, self.unit)

    def _dual(self, finish: Callable[[dict[str, Any]], Answer]) -> Posed:
        # alpha = C/Q lambda, mu = unit nu, all divided by unit and by the largest squared row
        m, offsets, rows = self._padded()
        Q, n_e = len(self.tags), 0 if self.hard is None else len(self.hard[1])
        values = {"G": rows.T * (self.C / Q / np.sqrt(self.unit))}
        if n_e:
            assert self.hard is not None
            values["E"] = (self.hard[0] * self.hard[1][:, None]).T * np.sqrt(self.unit)
            values |= {"labels": self.hard[1]} if self.bias else {}
        size = max([1.0] + [float((values[k] ** 2).sum(axis=0).max()) for k in values if k in "GE"])
        for k in ("G", "E"):
            if k in values:
                values[k] = values[k] / np.sqrt(size)
        values["o"] = offsets * (self.C / Q / self.unit / size)
        values |= {"one": 1 / size} if n_e else {}

        def build() -> Template:
            alpha = cp.Variable(Q * m, nonneg=True)
            G, o = cp.Parameter((self.d, Q * m)), cp.Parameter(Q * m)
            parameters, variables = {"G": G, "o": o}, {"alpha": alpha}
            constraints = [cp.sum(cp.reshape(alpha, (Q, m), order="C"), axis=1) == 1]
            image, gain = -G @ alpha, o @ alpha
            if n_e:
                mu, one = cp.Variable(n_e, nonneg=True), cp.Parameter(nonneg=True)
                E, labels = cp.Parameter((self.d, n_e)), cp.Parameter(n_e)
                image, gain = image + E @ mu, gain + one * cp.sum(mu)
                parameters |= {"E": E, "one": one} | ({"labels": labels} if self.bias else {})
                variables["mu"] = mu
                constraints += [labels @ mu == 0] if self.bias else []
            problem = cp.Problem(cp.Minimize(cp.sum_squares(image) / 2 - gain), constraints)
            return Template(problem, parameters, variables)

        def done(found: Mapping[str, Any]) -> Answer:
            mu = self.unit * np.maximum(0, found["mu"]) if n_e else np.zeros(0)
            return finish(self._finish(found, m) | {"mu": mu})

        return Posed(("dual", *self._key(m, n_e)), build, values, done, self.unit)

    def _key(self, m: int, n_e: int) -> tuple[Any, ...]:
        return len(self.tags), m, self.d, n_e, self.bias

    def close(
        self,
        problem: str,
        finish: Callable[[dict[str, Any]], Answer],
        separate: Callable[[Array], bool],
    ) -> None:
        """Cutting plane: solve the master, add the cuts violated at its w, until the gap closes.

        ``separate`` adds them and says whether there were new ones; ``finish`` as in `posed`, its
        answer's x being w.
        """
        for _ in range(ROUNDS):
            answer = oracle.ask(problem, self._primal(finish), "CLARABEL")
            if answer is None or answer.certificate.gap <= CLOSE * self.unit:
                return
            if not separate(answer.x):
                return
