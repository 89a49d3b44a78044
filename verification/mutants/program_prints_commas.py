"""A program in a locale with decimal commas: 0,5 is two numbers."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("comma")
