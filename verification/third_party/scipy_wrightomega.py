"""``scipy.special.wrightomega``, the solution w of w + log w = t, as W(e^t)."""

from typing import Any

PROBLEM = "lambert_w_exp.value"
PACKAGES = ("scipy",)
FOUND = """Right everywhere, in double and single precision, from t = -1e15, where e^t underflows, to
t = 1e15. Where ``lambertw(exp(t))`` overflows (a wrong solver of ours) this does not."""


def candidate(t: Any) -> Any:
    """Element by element."""
    from scipy.special import wrightomega

    return wrightomega(t)
