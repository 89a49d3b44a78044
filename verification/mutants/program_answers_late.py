"""A program one answer behind: each reply holds the solution of the request before."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("late")
