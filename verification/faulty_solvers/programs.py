"""Wrong programs: one is right but for what it prints, when, and whether at all. See `sound.program`."""

from verification.faulty_solvers import wrong
from verification.reference_solvers.program import command


@wrong("simplex.projection", command=command("late"))
def program_answers_late() -> None:
    """A program one answer behind: each reply holds the solution of the request before."""


@wrong("simplex.projection", command=command("crashes"))
def program_crashes() -> None:
    """A program that aborts where two entries are equal: the signal is the verdict."""


@wrong("simplex.projection", command=command("hangs"), timeout=0.3)
def program_hangs() -> None:
    """A program that never answers where two entries are equal."""


@wrong("simplex.projection", command=command("lies"))
def program_lies() -> None:
    """A program that stops after twenty steps and reports the status "optimal"."""


@wrong("simplex.projection", command=command("comma"))
def program_prints_commas() -> None:
    """A program in a locale with decimal commas: 0,5 is two numbers."""


@wrong("simplex.projection", command=command("six_digits"))
def program_prints_six_digits() -> None:
    """A program whose answers are right until it prints them: six digits."""
