"""Edges: sizes from 1e-150 to 1e150, denormal numbers, sums missed by a bit or by a tolerance, real scores."""

from verification.checks._plain import in_parts, judged, on_vectors

ORDER = 38
COUNTS = {"quick": 150, "thorough": 1500}
FAMILIES = ("extreme", "denormal", "border", "real", "close")

applies = on_vectors
instances = in_parts(COUNTS, *FAMILIES, offset=11)
examine = judged
