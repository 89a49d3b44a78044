"""A program that never answers where two entries are equal."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("hangs")
TIMEOUT = 0.3
