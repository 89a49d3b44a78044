"""A program that aborts where two entries are equal: the signal is the verdict."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("crashes")
