"""Judges functions of a real number entry by entry, against 60 digits.

W(e^t) is the root w of w + log w = t. Its relative condition is at most that of e^t, and t is taken as
the exact number that it is, so that a sound implementation is right to a few units of rounding.
"""

from decimal import Decimal

import numpy as np

from refsolve.errors import UncertainError
from refsolve.exact.decimals import CERTAIN, decimal_of, digits, lambert_w_exp
from verification.certificates import tolerance
from verification.certificates.text import not_finite
from verification.instances.instance import Instance
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Judgement, Verdict, if_certain

#: Promised units of rounding: 4e-15 in double precision.
ULPS = 18


def root(t: float) -> Decimal:
    """W(e^t), certified by its equation: an error e of w + log w - t is one of e/(1+w) relative to w."""
    with digits(t):
        at = decimal_of(t)
        w = lambert_w_exp(at)
        if abs(w + w.ln() - at) > CERTAIN * (1 + w):
            raise UncertainError(f"W(e^t) at t = {t!r} does not satisfy w + log w = t")
        return w


@if_certain
def judge(instance: Instance, answer: np.ndarray) -> Judgement:
    """Relative error of every entry."""
    given = instance["t"]
    if answer.shape != given.shape:
        return Judgement(Verdict.FAIL, message=f"shape {answer.shape}, expected {given.shape}")
    if not np.isfinite(answer).all():
        return Judgement(Verdict.FAIL, message=not_finite(answer))
    least = tolerance.smallest(instance)
    worst, message = 0.0, ""
    for t, got in zip(given.ravel().tolist(), answer.ravel().tolist(), strict=True):
        w = root(t)
        with digits(t):
            # numbers below the smallest normal one lose their digits
            off = abs(decimal_of(got) - w) / max(w, decimal_of(least))
        if float(off) > worst:
            worst = float(off)
            message = (
                f"W(e^t) = {got!r} at t = {t!r}, right is {w:.17g}: relative error {worst:.3g}"
            )
    allowed = max(ULPS * tolerance.precision(instance), accuracy_contract.current() or 0.0)
    verdict = Verdict.PASS if worst <= allowed else Verdict.FAIL
    return Judgement(
        verdict,
        distance=worst,
        distance_tolerance=allowed,
        message="" if verdict is Verdict.PASS else f"{message}, more than {allowed:.3g}",
        terms={"relative error": (worst, allowed)},
        accuracy=worst,
    )


def expected(instance: Instance) -> np.ndarray:
    """The right answer as floats."""
    given = instance["t"]
    return np.array([float(root(t)) for t in given.ravel().tolist()]).reshape(given.shape)
