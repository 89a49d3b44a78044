"""Disturbed certificates of cone programs with planted optima: what was claimed, and what falsely."""

from collections.abc import Iterator
from typing import Any

from verification.selftest.planted import attack

SEEDS, EACH = range(1, 41), 2500


def lines() -> Iterator[dict[str, Any]]:
    """A hundred thousand of them, in 50 minutes of CPU time: a line as soon as a seed is done."""
    for seed in SEEDS:
        yield attack(EACH, seed)
