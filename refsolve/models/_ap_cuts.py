"""1/2||w||^2 + C mean_q max_t (offset_t + <row_t,w>): certificate, CVXPY master, cutting plane.

All the models over rankings are this program; a model says what its cuts are. Some add the hard
constraints y_e (<x_e,w> + b) >= 1. Lagrange dual, with alpha >= 0 summing to C over the cuts,
mu >= 0 and, for a free b, <mu,y> = 0: D = sum alpha offset + sum mu - 1/2||u||^2 at
u = -sum alpha row + sum mu y x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refsolve import oracle
from refsolve._lazy import cp
from refsolve.certificates import Certificate
from refsolve.errors import InvalidParameterError, OracleUncertainError
from refsolve.oracle import Answer, Posed, Template
from refsolve.spec import Symbol, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble
BOX = Symbol("C", "weight of the loss", low=0, low_open=True)
#: Cutting planes stop at this fraction of the natural size of the objective, or after ROUNDS.
CLOSE, ROUNDS = 1e-10, 400
#: Of the first unit: from where on an answer gives the units, and the least unit that it gives.
SEPARABLE, TINIEST = 0.1, 1e-6
Finish = Callable[[dict[str, Any]], Answer]


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
    free : int
        Coordinates beside the d of w that are not regularised, 0 or 1 (b); rows have d + free.
    hard : tuple of ndarray, optional
        Examples (n_e, d + free) and their labels -1/1.
    """

    def __init__(
        self,
        C: float,
        n_queries: int,
        d: int,
        unit: float,
        free: int = 0,
        hard: tuple[Array, Array] | None = None,
    ) -> None:
        self.C, self.d, self.unit, self.free = C, d, unit, free
        self.first, self.length = unit, 0.0
        self.hard = np.zeros((0, d + free)) if hard is None else hard[0] * hard[1][:, None]
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
        return size, np.array(offsets).ravel(), np.array(rows).reshape(-1, self.d + self.free)

    def _parts(self, alpha: Array, size: int) -> list[Array]:
        """Weights per query, summing to 1, without the padding."""
        parts = []
        for column, kept in zip(alpha.reshape(-1, size), self.offsets, strict=True):
            part = np.maximum(0, column[: len(kept)]).astype(Real)
            part[0] += np.maximum(0, column[len(kept) :]).sum()
            parts.append(part / part.sum() if part.sum() > 0 else np.full(len(kept), 1 / len(kept)))
        return parts

    def posed(self, operation: str, finish: Finish) -> Posed:
        """The program, or its dual, as an instance for the oracle.

        ``finish`` is given parts (weights per query, summing to 1), mu, and of the primal w and b.
        """
        build, values, size = getattr(self, f"_{operation}")()
        cuts, unit = self._padded()[0], self.unit

        def done(found: Mapping[str, Any]) -> Answer:
            point: dict[str, Any] = {"parts": self._parts(found["alpha"], cuts), "mu": np.zeros(0)}
            if "mu" in found:
                point["mu"] = unit * np.maximum(0, found["mu"])
            if "u" in found:
                point["w"], point["b"] = size * found["u"], float(found.get("f", [0.0])[0])
            return finish(point)

        key = operation, len(self.tags), cuts, self.d, self.free, len(self.hard)
        here = Posed(key, build, values, done, unit)
        if operation == "primal":
            return here
        # separable data leave the cuts a tiny part of C: the primal's multipliers have its digits
        there = self.posed("primal", finish)
        return replace(there, other=here) if self.length else replace(here, other=there)

    def _primal(self) -> tuple[Callable[[], Template], dict[str, Any], float]:
        # w = size u: eta/2||u||^2 + kappa sum_q xi_q, rows of norm <= 1 or, without hard ones, C = 1
        m, offsets, rows = self._padded()
        d, Q, n_e = self.d, len(self.tags), len(self.hard)
        longest = _longest(rows[:, :d])
        size = float(np.sqrt(self.C)) / max(1.0, float(np.sqrt(self.C)) * longest)
        if n_e:
            size = 1 / max(longest, _longest(self.hard[:, :d]), 1e-150)
        size = self.length or size

        def build() -> Template:
            u, xi, f = cp.Variable(d), cp.Variable(Q), cp.Variable(max(self.free, 1))
            G, o, kappa = cp.Parameter((Q * m, d)), cp.Parameter(Q * m), cp.Parameter(nonneg=True)
            eta, F = cp.Parameter(nonneg=True), cp.Parameter((Q * m, 1))
            E, H = cp.Parameter((max(n_e, 1), d)), cp.Parameter((max(n_e, 1), 1))
            above = o + G @ u + (F @ f if self.free else 0) <= xi[np.repeat(np.arange(Q), m)]
            constraints, parameters = [above], {"G": G, "o": o, "eta": eta, "kappa": kappa}
            variables = {"u": u, "alpha": above.dual_variables[0]}
            if n_e:
                constraints.append(E @ u + (H @ f if self.free else 0) >= 1)
                parameters["E"], variables["mu"] = E, constraints[1].dual_variables[0]
            if self.free:
                variables["f"] = f
                parameters |= {"F": F} | ({"H": H} if n_e else {})
            objective = eta / 2 * cp.sum_squares(u) + kappa * cp.sum(xi)
            return Template(cp.Problem(cp.Minimize(objective), constraints), parameters, variables)

        values = {"G": rows[:, :d] * size, "o": offsets, "eta": size**2 / self.unit}
        values |= {"kappa": self.C / Q / self.unit}
        values |= {"E": self.hard[:, :d] * size} if n_e else {}
        if self.free:
            values |= {"F": rows[:, d:]} | ({"H": self.hard[:, d:]} if n_e else {})
        return build, values, size

    def _dual(self) -> tuple[Callable[[], Template], dict[str, Any], float]:
        # alpha = C/Q lambda, mu = unit nu, all divided by unit and by the largest squared row
        m, offsets, rows = self._padded()
        d, Q, n_e = self.d, len(self.tags), len(self.hard)
        mass, root = self.C / Q, float(np.sqrt(self.unit))
        size = max(1.0, _longest(rows[:, :d]) * mass / root, _longest(self.hard[:, :d]) * root)
        values: dict[str, Any] = {
            "G": rows.T[:d] * (mass / root / size),
            "o": offsets * (mass / self.unit / size**2),
        }
        values |= {"E": self.hard.T[:d] * (root / size), "one": 1 / size**2} if n_e else {}
        if self.free:
            top = max(mass, self.unit) if n_e else mass
            values |= {"F": rows.T[d:] * (mass / top)}
            values |= {"H": self.hard.T[d:] * (self.unit / top)} if n_e else {}

        def build() -> Template:
            alpha, mu = cp.Variable(Q * m, nonneg=True), cp.Variable(max(n_e, 1), nonneg=True)
            G, o, F = cp.Parameter((d, Q * m)), cp.Parameter(Q * m), cp.Parameter((1, Q * m))
            E, H = cp.Parameter((d, max(n_e, 1))), cp.Parameter((1, max(n_e, 1)))
            one = cp.Parameter(nonneg=True)
            parameters, variables = {"G": G, "o": o}, {"alpha": alpha}
            constraints = [cp.sum(cp.reshape(alpha, (Q, m), order="C"), axis=1) == 1]
            image, gain = -G @ alpha, o @ alpha
            if n_e:
                image, gain = image + E @ mu, gain + one * cp.sum(mu)
                parameters |= {"E": E, "one": one}
                variables["mu"] = mu
            if self.free:
                constraints.append(F @ alpha - (H @ mu if n_e else 0) == 0)
                parameters |= {"F": F} | ({"H": H} if n_e else {})
            problem = cp.Problem(cp.Minimize(cp.sum_squares(image) / 2 - gain), constraints)
            return Template(problem, parameters, variables)

        return build, values, 1.0

    def close(
        self, problem: str, finish: Finish, separate: Callable[[Array, float], bool]
    ) -> Answer:
        """Cutting plane: solve the master, add the cuts violated there, until the gap closes.

        ``separate`` adds those violated at (w, b) and says whether there were new ones. It is asked
        for the master's own solution, and for the answer that `finish` made of it; the last answer
        is returned.
        """
        own: dict[str, Any] = {}

        def kept(found: dict[str, Any]) -> Answer:
            own.update(found)
            return finish(found)

        for _ in range(ROUNDS):
            posed = self.posed("primal", kept)
            asks = (oracle.ask(problem, posed, name) for name in oracle.SOLVERS)
            asked = next((found for found in asks if found is not None), None)
            if asked is None:
                raise OracleUncertainError(problem, "no solution of the master problem")
            answer = asked
            self._measure(answer)
            if answer.certificate.gap <= CLOSE * self.unit:
                return answer
            new = separate(own["w"], own["b"])
            if not (separate(answer.x, getattr(answer.certificate, "b", 0.0)) or new):
                return answer
        return answer

    def closed(
        self,
        stem: str,
        operation: str,
        prove: Callable[[dict[str, Any]], Any],
        separate: Callable[[Array, float], bool],
    ) -> Posed:
        """`close`, then `posed`, with answers from the certificates that ``prove`` returns."""

        def primal(found: dict[str, Any]) -> Answer:
            proof = prove(found)
            return Answer(proof.w, proof.primal, proof.weights, proof)

        def dual(found: dict[str, Any]) -> Answer:
            proof = prove(found)
            return Answer(proof.weights, proof.dual, proof.w, proof)

        self.close(f"{stem}.primal", primal, separate)
        return self.posed(operation, primal if operation == "primal" else dual)

    def _measure(self, answer: Answer) -> None:
        """Take the sizes of an answer as units: on separable data P* is far below P(0).

        Then 1/2||w||^2 is a good part of P*, and sqrt(2 P*) the unit of w.
        """
        value = answer.certificate.value
        if 0 < value < SEPARABLE * self.first:
            self.unit = max(value, TINIEST * self.first)
            self.length = float(np.sqrt(2 * value))


def _longest(rows: Array) -> float:
    """Largest Euclidean norm of a row."""
    return float(np.sqrt((rows * rows).sum(axis=1).max(initial=0)))
