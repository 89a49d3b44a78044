"""Tie grid: every short vector of a few dyadic numbers, where the right case is easily missed."""

from verification.checks._plain import in_parts, judged, on_vectors

ORDER = 30
COUNTS = {"quick": 400, "thorough": 2500}

applies = on_vectors
#: A random part of the grid; with thorough all of it, and longer tied vectors.
instances = in_parts(COUNTS, "ties")
examine = judged
