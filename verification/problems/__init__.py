"""What is asked: the problems by name, their arguments, and where each object stands."""

from verification.problems.problem import Problem, fast_candidate, lookup, names

__all__ = ["Problem", "fast_candidate", "lookup", "names"]
