"""Disturbed answers of linear programs, certified, and held against an exact simplex."""

from collections.abc import Iterator
from typing import Any

from verification.selftest.exact_lp import attack

SEEDS, PROGRAMS = range(10, 20), 100


def lines() -> Iterator[dict[str, Any]]:
    """A thousand programs and two answers of each, in some minutes: a line as soon as a seed is done."""
    for seed in SEEDS:
        yield attack(PROGRAMS, seed)
