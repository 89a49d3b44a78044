"""1/2||w||^2 + C mean_q max_t (offset_t + <row_t,w>): certificate, CVXPY master, cutting plane.

All the models over rankings are this program; a model says what its cuts are. Some add the hard
constraints y_e (<x_e,w> + b) >= 1. Lagrange dual, with alpha >= 0 summing to C over the cuts,
mu >= 0 and, for a free b, <mu,y> = 0: D = sum alpha offset + sum mu - 1/2||u||^2 at
u = -sum alpha row + sum mu y x.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel, oracle
from refsolve._lazy import cp
from refsolve.canonicalize import Answer, ParametrizedProblem, best_answer
from refsolve.errors import InvalidParameterError, OracleUncertainError
from refsolve.fenchel import Block, Map, Term
from refsolve.models._written import Written
from refsolve.parameters import constant, parameter
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.ranking_model import Dual, RankingProof
from refsolve.spec import check_vector

#: Cutting planes stop at this fraction of the natural size of the objective, or after ROUNDS.
CLOSE, ROUNDS = 1e-10, 400
#: Of the first unit: from where on an answer gives the units, and the least unit that it gives.
SEPARABLE, TINIEST = 0.1, 1e-6
Finish = Callable[[dict[str, Any]], Answer]


@dataclass(frozen=True)
class CutCertificate(ModelCertificate):
    """A `ModelCertificate` of a maximum of cuts, with drift 1/2||w - u||^2 for the dual's u.

    Attributes
    ----------
    residuals : ndarray of shape (m,)
        alpha_t (L(w) - offset_t - <row_t,w>), what each cut lacks to be the loss at w.
    violation : float
        In units of C.
    w : ndarray of shape (d,)
        The point that P was taken at.
    weights : ndarray of shape (m,)
        The repaired alpha.
    """

    w: Array = field(repr=False)
    weights: Array = field(repr=False)

    @property
    def named(self) -> dict[str, Any]:
        """The model, and the weights of the cuts as alpha."""
        return super().named | {"alpha": self.weights}

    @classmethod
    def of_cuts(
        cls, proof: RankingProof, dual: Dual, violation: float, moved: float = 0.0, **more: Any
    ) -> Self:
        """What a proof of weighted cuts certifies."""
        weights = dual.weights.astype(float)
        residuals = proof.residuals[: len(weights)]
        w = proof.w.astype(float)
        return cls.of(proof, violation, residuals, moved, w=w, weights=weights, **more)


def check_weights(weights: ArrayLike | None, m: int, C: float) -> tuple[Array, float]:
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
        self.clear(n_queries)

    def clear(self, n_queries: int) -> None:
        """Start without cuts."""
        self.tags: list[list[Array]] = [[] for _ in range(n_queries)]
        self.offsets: list[list[float]] = [[] for _ in range(n_queries)]
        self.rows: list[list[Array]] = [[] for _ in range(n_queries)]
        self._seen: set[tuple[int, bytes]] = set()

    def add(self, q: int, tag: Array, offset: float | Real, row: Array) -> bool:
        """Keep a cut of query q under a tag; False if it is known."""
        key = (q, np.asarray(tag).tobytes())
        if key in self._seen:
            return False
        self._seen.add(key)
        self.tags[q].append(tag)
        self.offsets[q].append(float(offset))
        self.rows[q].append(np.asarray(row, float))
        return True

    def _padded(self, size: int = 8) -> tuple[int, Array, Array]:
        """Cuts per query as size times a power of two, offsets and rows, the first cut repeated."""
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

    def declared(self, size: int = 8) -> fenchel.Model:
        """The model of these cuts: the largest of each query, and margins of the hard examples."""
        _, offsets, rows = self._padded(size)
        blocks, hard = {"w": Block(self.d)}, {"w": -self.hard[:, : self.d]}
        cuts: dict[str, Map] = {"w": rows[:, : self.d]}
        if self.free:
            blocks["b"], cuts["b"] = Block(self.free, 0.0), rows[:, self.d :]
            hard["b"] = -self.hard[:, self.d :]
        Q = len(self.tags)
        terms = {"alpha": Term(fenchel.Largest(self.C / Q, Q), cuts, offsets)}
        if len(self.hard):
            terms["mu"] = Term(fenchel.nonpositive(), hard, np.ones(len(self.hard)))
        return fenchel.Model(blocks, terms)

    def written(self, operation: str) -> Written:
        """The primal or the dual over the cuts as they are: Delta + A w <= xi of each query."""
        C, Q, free = parameter("C", self.C, 0), len(self.tags), self.free
        A = [constant(f"A_{q}" if Q > 1 else "A", rows) for q, rows in enumerate(self.rows)]
        delta = [
            constant(f"Delta_{q}" if Q > 1 else "Delta", o) for q, o in enumerate(self.offsets)
        ]
        hard = constant("E", self.hard)
        if operation == "primal":
            w, xi = cp.Variable(self.d, name="w"), cp.Variable(Q if Q > 1 else (), name="xi")
            wb = cp.hstack([w, cp.Variable(name="b")]) if free else w
            rules = {
                f"alpha_{q}" if Q > 1 else "alpha": o + rows @ wb <= (xi[q] if Q > 1 else xi)
                for q, (o, rows) in enumerate(zip(delta, A, strict=True))
            }
            rules |= {"mu": hard @ wb >= 1} if len(self.hard) else {}
            return cp.Minimize(cp.sum_squares(w) / 2 + C / Q * cp.sum(xi)), rules
        alpha = [
            cp.Variable(o.size, name=f"alpha_{q}" if Q > 1 else "alpha")
            for q, o in enumerate(delta)
        ]
        pull = sum(rows.T @ a for rows, a in zip(A, alpha, strict=True))
        objective = sum(o @ a for o, a in zip(delta, alpha, strict=True))
        rules = {f"{a.name()} >= 0": a >= 0 for a in alpha}
        rules |= {f"xi_{q}" if Q > 1 else "xi": cp.sum(a) == C / Q for q, a in enumerate(alpha)}
        if len(self.hard):
            mu = cp.Variable(len(self.hard), name="mu")
            pull, objective = pull - hard.T @ mu, objective + cp.sum(mu)
            rules["mu >= 0"] = mu >= 0
        if free:
            rules["b"], pull = pull[self.d] == 0, pull[: self.d]
        return cp.Maximize(objective - cp.sum_squares(pull) / 2), rules

    def canonicalized(self, operation: str, finish: Finish) -> ParametrizedProblem:
        """The program, or its dual, as an instance for the oracle.

        ``finish`` is given parts (weights per query, summing to 1), mu, and of the primal w and b.
        """
        cuts, unit = self._padded()[0], self.unit

        def done(found: dict[str, Array]) -> Answer:
            point: dict[str, Any] = {"parts": self._parts(found["alpha"], cuts)}
            point["mu"] = np.maximum(0, found.get("mu", np.zeros(0)))
            if "w" in found:
                point["w"], point["b"] = found["w"], float(found.get("b", [0.0])[0])
            return finish(point)

        if operation == "primal":
            return self._primal().canonicalized(done, unit)
        here = self._dual().canonicalized(done, unit)
        # separable data leave the cuts a tiny part of C: the primal's multipliers have its digits
        there = self.canonicalized("primal", finish)
        return replace(there, other=here) if self.length else replace(here, other=there)

    def _primal(self) -> fenchel.Program:
        # rows of norm <= 1 or, without hard ones, C = 1
        model, d = self.declared(), self.d
        longest = _longest(np.asarray(model.terms["alpha"].maps["w"]))
        size = float(np.sqrt(self.C)) / max(1.0, float(np.sqrt(self.C)) * longest)
        if len(self.hard):
            size = 1 / max(longest, _longest(self.hard[:, :d]), 1e-150)
        return fenchel.primal(model, self.unit, {"w": self.length or size})

    def _dual(self) -> fenchel.Program:
        # alpha in units of C/Q, mu of unit, all divided by unit and by the largest squared row
        model, unit = self.declared(), self.unit
        mass, root = self.C / len(self.tags), float(np.sqrt(unit))
        longest = _longest(np.asarray(model.terms["alpha"].maps["w"]))
        size = max(1.0, longest * mass / root, _longest(self.hard[:, : self.d]) * root) ** 2 * unit
        lengths = {"b": size / (max(mass, unit) if len(self.hard) else mass)} if self.free else {}
        return fenchel.dual(model, size, lengths, {"alpha": mass / size, "mu": unit / size})

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
            canonicalized = self.canonicalized("primal", kept)
            asks = (oracle.ask(problem, canonicalized, name, True) for name in oracle.SOLVERS)
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
        object_name: str,
        operation: str,
        prove: Callable[[dict[str, Any]], Iterable[ModelCertificate]],
        separate: Callable[[Array, float], bool],
    ) -> ParametrizedProblem:
        """`close`, then `canonicalized`, with answers from the best of the certificates that ``prove`` returns."""

        def answered(of: str, found: dict[str, Any]) -> Answer:
            return best_answer(of, prove(found), "weights")

        self.close(f"{object_name}.primal", partial(answered, "primal"), separate)
        return self.canonicalized(operation, partial(answered, operation))

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


def written(
    cuts: Callable[[dict[str, Any]], Master], operation: str, arguments: dict[str, Any]
) -> Written:
    """The problem with a constraint, or its dual with a multiplier, for each of all cuts."""
    return cuts(arguments).written(operation)
