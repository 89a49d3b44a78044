"""Scale grid: vector, radius and curvature from 1e-6 to 1e6, where absolute epsilons show."""

from verification.checks._plain import in_parts, judged, on_vectors

ORDER = 40
COUNTS = {"quick": 150, "thorough": 1200}

applies = on_vectors
#: Cells of the grid in random order.
instances = in_parts(COUNTS, "scales")
examine = judged
