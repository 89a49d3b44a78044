"""A program whose answers are right until it prints them: six digits."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("six_digits")
