"""How much of a long run the tests take: a part, always the same one, or with REFSOLVE_FULL=1 all of it."""

import os

FULL = os.environ.get("REFSOLVE_FULL", "0") != "0"


def every(n):
    """``verify(..., every=every(n))``: of the instances of each check one in ``n``."""
    return 1 if FULL else n
