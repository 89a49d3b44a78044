"""The faster search for ranks: equation (6), proposition 1, algorithm 2."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, log2
from operator import gt

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

# ==========================================================================================
# Equation (6): a unimodal function may have plateaus, and those no binary search survives.
# ==========================================================================================

#: (function on 1..p, p) -> place of its maximum
Search = Callable[[Callable[[int], Fraction], int], int]


def unimodal(values: Vector) -> bool:
    """Definition (6), read word by word: some k with rises before it and falls after it."""
    p = len(values)
    return any(
        all(values[i - 1] <= values[i] for i in range(1, k))
        and all(values[i - 2] >= values[i - 1] for i in range(k + 1, p + 1))
        for k in range(1, p + 1)
    )


def bisect_left(f: Callable[[int], Fraction], p: int) -> int:
    """Halve the range by comparing neighbours, to the left if they are equal."""
    return first(lambda i: f(i) >= f(i + 1), 1, p)


def bisect_right(f: Callable[[int], Fraction], p: int) -> int:
    """The same, to the right if they are equal."""
    return first(lambda i: f(i) > f(i + 1), 1, p)


def scan_all(f: Callable[[int], Fraction], p: int) -> int:
    """All values."""
    return max(range(1, p + 1), key=f)


def _draw(rng: Rng) -> Inputs:
    rises, falls = int(rng.integers(0, 8)), int(rng.integers(0, 8))
    steps = [
        *(int(v) for v in rng.integers(0, 3, rises)),
        *(-int(v) for v in rng.integers(0, 3, falls)),
    ]
    return {"steps": steps}


def _check_equation_6(
    trial: Trial,
    *,
    steps: list[int],
    shape: Callable[[list[int]], list[int]],
    searches: tuple[Search, ...],
) -> None:
    values = [Fraction(v) for v in accumulate(shape(steps), initial=0)]
    trial.exactly(unimodal(values), "not unimodal by (6)", values=values)
    for search in searches:
        place = search(lambda i: values[i - 1], len(values))
        trial.exactly(
            values[place - 1] == max(values),
            "the search ends beside the maximum",
            values=values,
            place=place,
        )


def descending(steps: list[int]) -> list[int]:
    """The same steps in descending order."""
    return sorted(steps, reverse=True)


BOTH: tuple[Search, ...] = (bisect_left, bisect_right)

PRINTED_EQUATION_6 = stated(
    "Equation (6), binary search",
    draw=_draw,
    check=_check_equation_6,
    says={"shape": list, "searches": BOTH},
    right={"shape": descending},
)

# ------------------------------------------------------------------------ what any search needs


def looks_at(most: Callable[[int], int]) -> Search:
    """The best of the first so many values, or the place behind them if they are all equal."""

    def search(f: Callable[[int], Fraction], p: int) -> int:
        count = most(p)
        values = [f(i) for i in range(1, count + 1)]
        if count < p and max(values) == min(values):
            return count + 1
        return 1 + values.index(max(values))

    return search


def missed(search: Search, p: int) -> tuple[int, Vector | None]:
    """Number of places looked at where all is 0, and a spike elsewhere that is then missed."""
    asked: set[int] = set()

    def flat(i: int) -> Fraction:
        asked.add(i)
        return Fraction(0)

    search(flat, p)
    for hidden in set(range(1, p + 1)) - asked:
        spike = vector(*(int(i == hidden) for i in range(1, p + 1)))
        place = search(lambda i, spike=spike: spike[i - 1], p)  # type: ignore[misc]
        if unimodal(spike) and spike[place - 1] == 0:
            return len(asked), spike
    return len(asked), None


def _check_spikes(
    trial: Trial, *, p: int, searches: tuple[Search, ...], enough: Callable[[int], int]
) -> None:
    for search in searches:
        looks, spike = missed(search, p)
        trial.exactly(
            looks >= enough(p) or spike is not None, "fewer values are enough", looks=looks
        )
    looks, spike = missed(looks_at(enough), p)
    trial.exactly(spike is None, "so many values are not enough", looks=looks, function=spike)


ANY_SEARCH = stated(
    "Equation (6), any search",
    draw=lambda rng: {"p": int(rng.integers(3, 60))},
    check=_check_spikes,
    says={
        "searches": (
            bisect_left,
            bisect_right,
            scan_all,
            looks_at(lambda p: p - 1),
            looks_at(lambda p: p - 2),
        ),
        "enough": lambda p: p - 1,
    },
    wrong={
        "O(log p)": {"enough": lambda p: p.bit_length()},
        "p - 2 values": {"enough": lambda p: p - 2},
        "all p values": {"enough": lambda p: p},
    },
)


# ==========================================================================================
# Proposition 1: delta_j is unimodal, and more, concave, on its first min(P, j) + 1 ranks.
# ==========================================================================================


def draw_many(rng: Rng, p: int = 10, n: int = 10) -> Inputs:
    """Lists that need no enumeration; often equal positives where delta_j has several modes."""
    if rng.random() < 0.6:
        return draw_lists(rng, p, n)
    positives, negatives = int(rng.integers(2, p + 1)), int(rng.integers(1, n + 1))
    k, j = int(rng.integers(1, positives + 1)), int(rng.integers(1, negatives + 1))
    level = Fraction(negatives * k, 2 * (j + k) * (j + k - 1))
    s = [level - Fraction(int(v), 100) for v in sorted(rng.integers(0, 3, positives))]
    t = sorted((v / 50 for v in draw_vector(rng, negatives, 2, 1)), reverse=True)
    return {"s": s, "t": t}


def is_concave(values: Sequence[Fraction]) -> bool:
    """Steps in descending order."""
    steps = [b - a for a, b in pairwise(values)]
    return steps == sorted(steps, reverse=True)


def strictly_concave(values: Sequence[Fraction]) -> bool:
    """Steps in descending order, no two equal."""
    return all(gt(a, b) for a, b in pairwise([b - a for a, b in pairwise(values)]))


def _check_proposition_1(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    domain: Callable[[int, int], int],
    shape: Callable[[Sequence[Fraction]], bool],
) -> None:
    for j in range(1, len(t) + 1):
        values = delta(j, s, t)[: domain(len(s), j)]
        trial.exactly(shape(values), "delta_j has another shape", j=j, values=values)


PRINTED_PROPOSITION_1 = stated(
    "Proposition 1",
    draw=draw_many,
    check=_check_proposition_1,
    says={"domain": min, "shape": unimodal},
    wrong={
        "on {1..P}": {"domain": lambda p, j: p},
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "non-decreasing": {"shape": lambda values: list(values) == sorted(values)},
        "a valley": {"shape": lambda values: unimodal([-v for v in values])},
    },
)

STRONGER = PRINTED_PROPOSITION_1.also(
    "Proposition 1, stronger",
    says={"domain": lambda p, j: min(p, j) + 1, "shape": is_concave},
    wrong={
        "one rank more": {"domain": lambda p, j: min(p, j) + 2},
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "strictly concave": {"shape": strictly_concave},
        "convex": {"shape": lambda values: is_concave([-v for v in values])},
    },
)


def values_of(values: Sequence[Fraction]) -> Callable[[int], Fraction]:
    """The list as a function on 1, 2, ..."""
    return lambda i: values[i - 1]


def _check_bisection(
    trial: Trial, *, s: Vector, t: Vector, domain: Callable[[int, int], int]
) -> None:
    for j in range(1, len(t) + 1):
        values = delta(j, s, t)
        last = domain(len(s), j)
        place = bisect_left(values_of(values), last)
        trial.exactly(
            values[place - 1] == max(values[:last]),
            "not the maximum",
            j=j,
            place=place,
            values=values,
        )


BISECTION = stated(
    "Proposition 1, binary search",
    draw=draw_many,
    check=_check_bisection,
    says={"domain": lambda p, j: min(p, j) + 1},
    wrong={
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "on {1..2 min(P, j)}": {"domain": lambda p, j: min(p + 1, 2 * min(p, j) + 1)},
    },
)


# ==========================================================================================
# Algorithm 2, (7), (8) and (9): the search for one rank, its domain and its cost.
# ==========================================================================================


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


ColumnSearch = Callable[[Column], int]


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


def scan_column(column: Column) -> int:
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


def _check_algorithm_2(trial: Trial, *, s: Vector, t: Vector, search: ColumnSearch) -> None:
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


PRINTED_ALGORITHM_2 = stated(
    "Algorithm 2 with (7), (8) and (9)",
    draw=draw_lists,
    check=_check_algorithm_2,
    says={"search": printed},
    right={"search": corrected},
)


def _check_ranks(trial: Trial, *, s: Vector, t: Vector, search: ColumnSearch) -> None:
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
    trial: Trial, *, s: Vector, t: Vector, search: ColumnSearch, cost: Callable[[int], int]
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
)

COST_RIGHT = COST_PRINTED.corrected(
    "Algorithm 2, cost",
    wrong={
        "the greedy": {"search": scan_column},
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
    trial: Trial, *, s: Vector, t: Vector, search: ColumnSearch, cost: Callable[[int, int], int]
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
        "the greedy": {"search": scan_column},
        "no P^2": {"cost": lambda p, n: n * logarithm(p)},
        "half of the logarithm": {
            "cost": lambda p, n: min(n, p) * (p + 1) // 2 + max(n - p, 0) * logarithm(p) // 2
        },
    },
)
