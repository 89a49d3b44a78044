"""Gap of scores g as minimiser of a pointwise risk: sum_y p_y (L + L* - <u_y,x_y>) + mu (g_j - g_i).

The dual's constraint is sum_y p_y block(x_y) = mu (e_i - e_j), met up to rounding: a balance of forces.
Each class is pushed up as much as down. A class that never occurs has nothing that pushes it up, so
nothing may push it down, unless g_i <= g_j holds it up (mu > 0).
"""

from dataclasses import dataclass, field

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.loss import Loss
from refsolve.proofs.model import Proof


@dataclass(frozen=True)
class RiskProof(Proof):
    """A `Proof` with the dual rows x_y of the classes that occur, balanced; the drift is mu (g_j - g_i)."""

    x: Array = field(kw_only=True, repr=False)


class Balance:
    """Weights p_y > 0 of the classes `live`, the maps M_y' and the pair (i, j), if any."""

    def __init__(
        self,
        loss: Loss,
        weight: Array,
        live: Array,
        maps: list[Array],
        pair: tuple[int, int] | None,
    ) -> None:
        self.loss, self.weight, self.live, self.maps = loss, weight, live, maps
        self.pair = pair
        self.m = loss.m
        held = [] if pair is None or pair[0] not in live else [pair[1]]
        dead = np.setdiff1d(np.arange(self.m), [*live, *held])
        #: The held class has no examples of its own.
        self.held = bool(held) and held[0] not in live
        self.free = np.array([~E[dead].any(axis=0) for E in maps])
        # caps x_j <= s/n leave 0 alone with fewer than n entries, one direction with just n
        fewest = getattr(loss.domain.module, "fewest", None)
        needed = 0 if fewest is None else fewest(**loss.domain.params)
        count = int(self.free[0].sum())
        self.free &= count >= needed
        self.flat = count == needed

    def off(self, x: Array, mu: float = 0.0) -> Array:
        """Sum of p_y block(x_y) less mu (e_i - e_j), (m,)."""
        pull = zip(self.weight, self.maps, x, strict=True)
        off = -sum((w * (E @ row) for w, E, row in pull), np.zeros(self.m, Real))
        if self.pair is not None:
            off[list(self.pair)] -= np.array([mu, -mu])
        return off

    def interior(self) -> Array:
        """A balanced point well inside the dual sets, as far as they have an inside."""
        x = np.zeros(self.free.shape, Real)
        if self.loss.family.coupled:  # p_y x_yj the same for all y and j, twice from i if j is held
            room = max(int(self.free[0].sum()), self.loss.domain.params.get("k", 1))
            each = self.weight.min() / (4 * room)
            for row, free, y, w in zip(x, self.free, self.live, self.weight, strict=True):
                double = self.held and self.pair is not None and y == self.pair[0]
                row[free] = (2 if double else 1) * each / w
            return x
        for i, c in enumerate(self.live):
            odds = self.weight[i] / max(1 - self.weight[i], self.weight[i])
            x[:, c] = odds / 2
            x[i, c] = odds / 2 * (1 - self.weight[i]) / self.weight[i]
        if self.held and self.pair is not None:
            own = int(np.flatnonzero(self.live == self.pair[0])[0])
            each = self.weight[own] / 8
            x[:, self.pair[1]] = each  # of total weight 1, so that x_ii grows by each/p_i
            x[own, self.pair[0]] = x[own, self.pair[0]] / 2 + each / self.weight[own]
            x[np.arange(len(x)) != own, self.pair[0]] /= 2
        return x

    def meet(self, x: Array) -> tuple[Array, float]:
        """A point near x that meets the constraint, and its mu.

        A least-squares step onto the constraint, then as little of the inside as the sets need.
        """
        x = np.where(self.free, x.astype(Real), 0)
        if self.flat:
            x = self.free * (x.sum(axis=1) / np.maximum(self.free.sum(axis=1), 1))[:, None]
        x = self.loss.repair(x)
        mu = 0.0
        if self.pair is not None:
            off = self.off(x)
            mu = max(0.0, float(off[self.pair[0]] - off[self.pair[1]]) / 2)
        moves = [
            (row, move)
            for row, free in enumerate(self.free)
            for move in ([free] if self.flat else np.diag(free)[free])
            if move.any()
        ]
        pulls = np.array([-self.maps[row] @ move for row, move in moves]).T
        for _ in range(2 if moves else 0):  # once more for the rounding of the first step
            step = np.linalg.lstsq(pulls, -self.off(x, mu).astype(float), rcond=None)[0]
            for (row, move), t in zip(moves, step, strict=True):
                x[row] += t / self.weight[row] * move
        inside, theta = self.interior(), Real(0)
        own = -float(self.off(inside)[self.pair[1]]) if self.held and self.pair is not None else 0.0

        def mixed() -> Array:
            return (1 - theta) * x + theta * inside

        while theta < 1 and np.max(self.loss.violation(mixed())) > 1e-18:
            theta = min(max(2 * theta, Real(1e-18)), Real(1))
        return mixed(), float((1 - theta) * mu + theta * own)

    def prove(self, g: Array, x: Array, costs: Array) -> RiskProof:
        """R(g) against D at the balanced x, for scores with g_i <= g_j where that is asked."""
        x, mu = self.meet(x)
        z = np.array([g @ E for E in self.maps]) + costs
        terms = self.weight * self.loss.fenchel_young(z, x)
        slack = Real(0) if self.pair is None else mu * (g[self.pair[1]] - g[self.pair[0]])
        primal = (self.weight * self.loss.value_bounds(z)[1]).sum()
        dual = (self.weight * ((costs * x).sum(axis=1) - self.loss.conjugate(x))).sum()
        named = {"Fenchel-Young gaps": float(terms.sum()), "order": float(slack)}
        return RiskProof(primal, dual, terms, slack, named, Real(0), x=x)
