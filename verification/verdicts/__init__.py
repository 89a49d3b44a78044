"""What is said of a solver: verdicts and results; reports collect them, and are counted by a tally."""

from verification.verdicts.verdict import Candidate, Judgement, Result, Verdict

__all__ = ["Candidate", "Judgement", "Result", "Verdict"]
