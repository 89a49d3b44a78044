"""What is said of a solver: verdicts, results, and the report that collects them."""

from verification.verdicts.verdict import Candidate, Judgement, Report, Result, Verdict

__all__ = ["Candidate", "Judgement", "Report", "Result", "Verdict"]
