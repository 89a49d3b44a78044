"""Disturbed answers of linear programs, certified, and held against an exact simplex."""

from collections import Counter
from typing import Any

from verification.selftest.exact_lp import attack

SEEDS, PROGRAMS = (10, 11), 500


def measure() -> dict[str, Any]:
    """A thousand programs and two answers of each, in some minutes."""
    runs = [attack(PROGRAMS, seed) for seed in SEEDS]
    said: Counter[str] = Counter()
    for run in runs:
        said.update(run["said"])
    false = [found for run in runs for found in run["false"]]
    return {"programs": PROGRAMS * len(SEEDS), "seeds": SEEDS, "said": dict(said), "false": false}
