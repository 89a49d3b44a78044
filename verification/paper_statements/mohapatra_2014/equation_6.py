"""Equation (6): a unimodal function may have plateaus, and those no binary search survives."""

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import first
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated

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


def scan(f: Callable[[int], Fraction], p: int) -> int:
    """All values."""
    return max(range(1, p + 1), key=f)


def _draw(rng: Rng) -> Inputs:
    rises, falls = int(rng.integers(0, 8)), int(rng.integers(0, 8))
    steps = [
        *(int(v) for v in rng.integers(0, 3, rises)),
        *(-int(v) for v in rng.integers(0, 3, falls)),
    ]
    return {"steps": steps}


def _check(
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


def concave(steps: list[int]) -> list[int]:
    """The same steps in descending order."""
    return sorted(steps, reverse=True)


BOTH: tuple[Search, ...] = (bisect_left, bisect_right)

PRINTED = stated(
    "Equation (6), binary search",
    draw=_draw,
    check=_check,
    says={"shape": list, "searches": BOTH},
    right={"shape": concave},
    witnesses=({"steps": [1, -1, 0, 0, 0]}, {"steps": [0, 0, 0, 1, -1]}, {"steps": [0, 0, 0, 1]}),
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
            scan,
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
