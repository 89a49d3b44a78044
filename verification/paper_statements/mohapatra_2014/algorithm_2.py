"""Algorithm 2, (7), (8) and (9): the search for one rank, its domain and its cost."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log2

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ZERO,
    delta,
    draw_lists,
    first,
    maximisers,
    pairs_turned,
    slack,
    term,
)
from verification.paper_statements._rational import Vector, draw_vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.proposition_1 import draw_many


class Column:
    """delta_j for one j, which counts how many of its values and steps were asked for."""

    def __init__(self, j: int, s: Vector, t: Vector) -> None:
        self.j, self.s, self.t = j, s, t
        self.p = len(s)
        self.values = delta(j, s, t)
        self.cost = 0

    def value(self, i: int) -> Fraction:
        """delta_j(i), O(1) with the tables of equation (5) in closed form."""
        self.cost += 1
        return self.values[i - 1]

    def step(self, k: int) -> Fraction:
        """h_k(j) = delta_j(k) - delta_j(k+1), O(1)."""
        self.cost += 1
        return term(k, self.j, self.s, self.t)


Search = Callable[[Column], int]


def bisect(column: Column, last: int) -> int:
    """Largest argmax over {1..last} where delta_j is concave there, by the signs of its steps."""
    return first(lambda k: column.step(k) > 0, 1, last)


def corrected(column: Column) -> int:
    """Bisection over {1..min(P,j)+1}, a scan of the ranks that are left, up to P+1."""
    p = min(column.p, column.j)
    i_1 = bisect(column, p + 1)
    if p == column.p:
        return i_1
    rest = [column.value(i) for i in range(p + 2, column.p + 2)]
    i_2 = p + 1 + maximisers(rest)[-1]
    return i_1 if column.value(i_1) > rest[i_2 - p - 2] else i_2


def printed(column: Column) -> int:
    """(7) over {1..p}, (8) over {p+1..P}, (9)."""
    p = min(column.p, column.j)
    i_1 = bisect(column, p)
    if p == column.p:
        return i_1
    rest = [column.value(i) for i in range(p + 1, column.p + 1)]
    i_2 = p + maximisers(rest)[0]
    return i_1 if column.value(i_1) >= rest[i_2 - p - 1] else i_2


def scan(column: Column) -> int:
    """All P steps, summed from below."""
    best, most, total = column.p + 1, ZERO, ZERO
    for k in range(column.p, 0, -1):
        total += column.step(k)
        if total > most:
            best, most = k, total
    return best


def without_end(column: Column) -> int:
    """The corrected search, but never P+1."""
    return min(corrected(column), column.p)


def unimodal_everywhere(column: Column) -> int:
    """Bisection over {1..P+1} for every j."""
    return bisect(column, column.p + 1)


def all_values_first(column: Column) -> int:
    """The input of Algorithm 2, all delta_j(i), then the corrected search."""
    for k in range(1, column.p + 1):
        column.step(k)
    return corrected(column)


# ------------------------------------------------------------------------------------ the result


def _check(trial: Trial, *, s: Vector, t: Vector, search: Search) -> None:
    ranks = [search(Column(j, s, t)) for j in range(1, len(t) + 1)]
    right = [maximisers(delta(j, s, t))[-1] for j in range(1, len(t) + 1)]
    value, best = pairs_turned(ranks, s, t), pairs_turned(right, s, t)
    trial.exactly(
        value == best,
        "the ranking is not the most violated one",
        ranks=ranks,
        right=right,
        objective=value,
        largest=best,
    )


PRINTED = stated(
    "Algorithm 2 with (7), (8) and (9)",
    draw=draw_lists,
    check=_check,
    says={"search": printed},
    right={"search": corrected},
    witnesses=({"s": vector(10), "t": vector(0)}, {"s": vector(3, 2), "t": vector(0, 0, -1)}),
)


def _check_ranks(trial: Trial, *, s: Vector, t: Vector, search: Search) -> None:
    ranks = [search(Column(j, s, t)) for j in range(1, len(t) + 1)]
    right = [maximisers(delta(j, s, t))[-1] for j in range(1, len(t) + 1)]
    trial.exactly(ranks == right, "not the largest argmax", ranks=ranks, right=right)
    if len(s) <= 4 and len(t) <= 5:
        trial.exactly(pairs_turned(ranks, s, t) == slack(s, t), "not the most violated ranking")


RIGHT = stated(
    "Algorithm 2 over {1..P+1}",
    draw=draw_many,
    check=_check_ranks,
    says={"search": corrected},
    wrong={
        "as printed": {"search": printed},
        "never P+1": {"search": without_end},
        "bisection over {1..P+1}": {"search": unimodal_everywhere},
    },
)

# -------------------------------------------------------------------------------------- the cost


def _draw_long(rng: Rng) -> Inputs:
    p = int(rng.integers(1, 41))
    j = p + int(rng.integers(0, 20))
    t = sorted(draw_vector(rng, j, 2, 4), reverse=True)
    s = sorted((t[-1] + v / 8 for v in draw_vector(rng, p, 4, 1)), reverse=True)
    return {"s": s, "t": t}


def _check_cost(
    trial: Trial, *, s: Vector, t: Vector, search: Search, cost: Callable[[int], int]
) -> None:
    column = Column(len(t), s, t)
    rank = search(column)
    trial.exactly(rank == maximisers(column.values)[-1], "another rank", rank=rank)
    trial.exactly(
        column.cost <= cost(len(s)), "more evaluations of h or delta", evaluations=column.cost
    )


def logarithm(p: int) -> int:
    """ceil(log2(P+1))."""
    return ceil(log2(p + 1))


COST_PRINTED = stated(
    "Algorithm 2, cost with its input as printed",
    draw=_draw_long,
    check=_check_cost,
    says={"search": all_values_first, "cost": logarithm},
    right={"search": corrected},
    witnesses=({"s": vector(1, 1, 1), "t": vector(0, 0, 0)},),
)

COST_RIGHT = COST_PRINTED.corrected(
    "Algorithm 2, cost",
    wrong={
        "the greedy": {"search": scan},
        "one less": {"cost": lambda p: logarithm(p) - 1},
        "constant": {"cost": lambda p: 4},
    },
)


def _draw_all(rng: Rng) -> Inputs:
    p, n = int(rng.integers(1, 17)), int(rng.integers(1, 25))
    t = sorted(draw_vector(rng, n, 2, 4), reverse=True)
    s = sorted(draw_vector(rng, p, 2, 4), reverse=True)
    return {"s": s, "t": t}


def _check_total(
    trial: Trial, *, s: Vector, t: Vector, search: Search, cost: Callable[[int, int], int]
) -> None:
    columns = [Column(j, s, t) for j in range(1, len(t) + 1)]
    for column in columns:
        search(column)
    total, bound = sum(column.cost for column in columns), cost(len(s), len(t))
    trial.exactly(total <= bound, "more evaluations", evaluations=total, bound=bound)


def both_parts(p: int, n: int) -> int:
    """P^2 + P for j < P at most, a bisection for each other negative."""
    return min(n, p) * (p + 1) + max(n - p, 0) * logarithm(p)


TOTAL = stated(
    "Algorithm 2, cost of all negatives",
    draw=_draw_all,
    check=_check_total,
    says={"search": corrected, "cost": both_parts},
    wrong={
        "the greedy": {"search": scan},
        "no P^2": {"cost": lambda p, n: n * logarithm(p)},
        "half of the logarithm": {
            "cost": lambda p, n: min(n, p) * (p + 1) // 2 + max(n - p, 0) * logarithm(p) // 2
        },
    },
)
