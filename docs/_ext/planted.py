"""Disturbed certificates of cone programs with planted optima: what was claimed, and what falsely."""

from typing import Any

from verification.selftest.planted import attack


def measure() -> dict[str, Any]:
    """A hundred thousand of them, which takes half an hour."""
    return attack(100_000, seed=1)
