"""A program that stops after twenty steps and reports the status "optimal"."""

from __future__ import annotations

from verification.mutants._program import command

PROBLEM = "simplex.projection"
COMMAND = command("lies")
