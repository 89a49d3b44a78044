"""A model as blocks with norms and losses of linear maps; its dual, recovery and gap in numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from refsolve._types import Array
from refsolve.errors import InvalidParameterError
from refsolve.fenchel.losses import Loss, Slopes

if TYPE_CHECKING:
    from cvxpy import Expression

Map: TypeAlias = float | Array
Point: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class Block:
    """A vector that is minimised over, at weight/2 ||u||^2 + <slope,u>; weight 0: it is free."""

    size: int
    weight: float = 1.0
    slope: Array | None = None


@dataclass(frozen=True)
class Term:
    """loss(sum of maps[b] u_b + offset).

    A map is a number (times the identity), a vector (a diagonal) or a matrix (n, size).
    """

    loss: Loss
    maps: Mapping[str, Map]
    offset: Array | None = None


def image(
    A: Map | Expression, u: Array | Expression, times: Callable[..., Any] = np.multiply
) -> Any:
    """A u, in numpy or, with its product of entries, in CVXPY."""
    return A @ u if np.ndim(A) == 2 else times(A, u)


def adjoint(
    A: Map | Expression, p: Array | Expression, times: Callable[..., Any] = np.multiply
) -> Any:
    """A'p."""
    return times(A, p) if isinstance(A, int | float) or A.ndim < 2 else A.T @ p


@dataclass(frozen=True)
class Model:
    """min over u of sum_b weight_b/2 ||u_b||^2 + <slope_b,u_b> + sum_t loss_t(sum_b maps_tb u_b + offset_t).

    A point of the dual has a vector p_t for each term: name a term after its multiplier.
    """

    blocks: Mapping[str, Block]
    terms: Mapping[str, Term]

    def __post_init__(self) -> None:
        for name, term in self.terms.items():
            sizes = set() if term.offset is None else {len(term.offset)}
            for block, A in term.maps.items():
                shape = np.shape(A) or (self.blocks[block].size,) if block in self.blocks else ()
                if not shape or shape[-1] != self.blocks[block].size:
                    raise InvalidParameterError(
                        f"terms[{name!r}].maps[{block!r}]", A, "a map of a declared block",
                        "declare the block, or make the sizes agree",
                    )  # fmt: skip
                sizes.add(shape[0])
            if len(sizes) != 1:
                raise InvalidParameterError(
                    f"terms[{name!r}]", sizes, "one number of entries", "make the sizes agree"
                )

    def size(self, term: str) -> int:
        """Entries of a term's argument."""
        block, A = next(iter(self.terms[term].maps.items()))
        return int((np.shape(A) or (self.blocks[block].size,))[0])

    @property
    def key(self) -> Hashable:
        """What programs depend on besides the numbers."""
        blocks = tuple((n, b.size, b.weight > 0, b.slope is None) for n, b in self.blocks.items())
        return blocks, tuple(
            (name, t.loss.kind, t.offset is None, *((b, np.shape(A)) for b, A in t.maps.items()))
            for name, t in self.terms.items()
        )

    # ---- the primal, the dual, and what is between them

    def argument(self, term: str, u: Point) -> Array:
        """What the term's loss is taken of."""
        t = self.terms[term]
        total = sum(image(A, u[block]) for block, A in t.maps.items())
        return np.asarray(total if t.offset is None else total + t.offset)

    def primal(self, u: Point) -> float:
        """P(u) at a u without `excess`."""
        total: Any = sum(t.loss.value(self.argument(s, u)) for s, t in self.terms.items())
        for name, b in self.blocks.items():
            total += b.weight / 2 * (u[name] ** 2).sum()
            total += 0 if b.slope is None else b.slope @ u[name]
        return float(total)

    def excess(self, u: Point) -> float:
        """By how much u breaks the constraints of P."""
        return max(t.loss.excess(self.argument(name, u)) for name, t in self.terms.items())

    def pull(self, block: str, p: Point) -> Array:
        """The slope + sum_t A_t'p_t on a block."""
        pulls = [adjoint(t.maps[block], p[s]) for s, t in self.terms.items() if block in t.maps]
        b = self.blocks[block]
        return np.asarray(sum(pulls, np.zeros(b.size) if b.slope is None else b.slope))

    def dual(self, p: Point) -> float:
        """D(p) at a p without `violation`."""
        total: Any = 0
        for name, t in self.terms.items():
            total -= t.loss.conjugate(p[name])
            total += 0 if t.offset is None else t.offset @ p[name]
        norms = ((self.pull(n, p) ** 2).sum() / b.weight for n, b in self._weighted().items())
        return float(total - sum(norms) / 2)

    def violation(self, p: Point) -> float:
        """How far p is from the domain of D: of the conjugates, and of the free blocks' equations."""
        free = (abs(self.pull(n, p)).max() for n, b in self.blocks.items() if b.weight == 0)
        return float(max(*(t.loss.violation(p[n]) for n, t in self.terms.items()), *free, 0.0))

    def recover(self, p: Point) -> dict[str, Array]:
        """The weighted blocks that p stands for."""
        return {name: -self.pull(name, p) / b.weight for name, b in self._weighted().items()}

    def gap(self, u: Point, p: Point) -> float:
        """P(u) - D(p) as Fenchel-Young terms and distances, each >= 0 at a p without violation."""
        total: Any = 0
        for name, t in self.terms.items():
            z = self.argument(name, u)
            total += t.loss.value(z) + t.loss.conjugate(p[name]) - p[name] @ z
        own = self.recover(p)
        for name, b in self.blocks.items():
            if name in own:
                total += b.weight / 2 * ((u[name] - own[name]) ** 2).sum()
            else:
                total += u[name] @ self.pull(name, p)
        return float(total)

    def kernel(self, *terms: str) -> Array:
        """H with which the norms of D are -<p,Hp>/2 in the p of these terms, one after the other."""
        H = np.zeros((sum(map(self.size, terms)),) * 2)
        for name, b in self._weighted().items():
            rows = [self._matrix(term, name) for term in terms]
            A = np.vstack(rows)
            H += A @ A.T / b.weight
        return H

    def reach(self, term: str) -> float:
        """Root of the largest diagonal entry of the kernel of a term."""
        maps = self.terms[term].maps
        parts = (
            (self._matrix(term, n) ** 2).sum(axis=1) / b.weight
            for n, b in self._weighted().items()
            if n in maps
        )
        return float(np.sqrt(np.max(sum(parts))))

    def _weighted(self) -> dict[str, Block]:
        return {name: b for name, b in self.blocks.items() if b.weight > 0}

    def _matrix(self, term: str, block: str) -> Array:
        A = self.terms[term].maps.get(block, 0.0)
        if np.ndim(A) == 2:
            return np.asarray(A, float)
        full = np.eye(self.size(term), self.blocks[block].size)
        return full * np.asarray(A, float)

    # ---- rules

    def scaled(
        self, unit: float, lengths: Mapping[str, float], scales: Mapping[str, float]
    ) -> Model:
        """The same divided by unit, in u_b/length_b and scale_t z_t: then p_t/(unit scale_t)."""
        blocks = {}
        for name, b in self.blocks.items():
            length = lengths.get(name, 1.0)
            slope = None if b.slope is None else b.slope * (length / unit)
            blocks[name] = Block(b.size, b.weight * length**2 / unit, slope)
        terms = {}
        for name, t in self.terms.items():
            s = scales.get(name, 1.0)
            maps = {b: A * (s * lengths.get(b, 1.0)) for b, A in t.maps.items()}
            offset = None if t.offset is None else t.offset * s
            terms[name] = Term(t.loss.scaled(s, unit), maps, offset)
        return Model(blocks, terms)

    def absorbed(self, term: str, tie: str) -> Model:
        """With the squares of a free block x made part of a norm.

        The term is sum x_i^2/(2 own_i), the tie x - B u = 0 with blocks u that are nowhere else.
        With the singular values s of own^(-1/2) B, the least 1/2||u||^2 + 1/2 sum x_i^2/own_i is
        1/2||t||^2 where x = Ft, F = own^(1/2) U s/(1 + s^2)^(1/2): a deformed kernel FF'.
        """
        (x,) = self.terms[term].maps
        gone = {name: b for name, b in self.blocks.items() if name in self.terms[tie].maps}
        del gone[x]
        loss = self.terms[term].loss
        assert isinstance(loss, Slopes)
        assert loss.own is not None
        root = np.sqrt(np.asarray(loss.own, float))[:, None]
        B = np.hstack([self._matrix(tie, n) / np.sqrt(b.weight) for n, b in gone.items()])
        U, s, _ = np.linalg.svd(B / root, full_matrices=False)
        F = root * U * (s / np.sqrt(1 + s * s))
        terms = {}
        for name, t in self.terms.items():
            if name not in (term, tie):
                maps = {b: A for b, A in t.maps.items() if b != x}
                full = {"absorbed": self._matrix(name, x) @ F} if x in t.maps else {}
                terms[name] = Term(t.loss, maps | full, t.offset)
        blocks = {name: b for name, b in self.blocks.items() if name not in gone and name != x}
        return Model(blocks | {"absorbed": Block(F.shape[1])}, terms)
