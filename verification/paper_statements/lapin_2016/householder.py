"""The Householder steps of section 3 (arXiv version) for V(t) = W(e^t), and what they leave.

With g = 1/f, f(x) = x + log x - t, the step of order d adds the quotient of the Taylor coefficients
d - 1 and d of g at x; order 1 is Newton's method. The error is raised to the power d + 1.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import DIGITS, decimal
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.lambert_w import equation, large, small


def step(x: Decimal, t: Decimal, order: int) -> Decimal:
    """One step from x > 0."""
    taylor = [x + x.ln() - t, 1 + 1 / x]
    taylor += [(-1) ** (n - 1) / (n * x**n) for n in range(2, order + 1)]
    if abs(taylor[0]) < Decimal(10) ** (5 - DIGITS):  # nothing is left to gain
        return x
    inverse = [1 / taylor[0]]
    for n in range(1, order + 1):
        total = sum((taylor[k] * inverse[n - k] for k in range(1, n + 1)), Decimal(0))
        inverse.append(-total / taylor[0])
    return x + inverse[-2] / inverse[-1]


def _draw(rng: Rng) -> Inputs:
    return {"v": Fraction(int(rng.integers(1, 400)), int(rng.choice([7, 40, 400])))}


def _check(trial: Trial, *, v: Fraction, steps: int, order: int, bits: int) -> None:
    """The relative error at t = v + log v, where V(t) = v, from the better of both starts."""
    with localcontext() as context:
        context.prec = DIGITS
        t, value = equation(v).decimal(), decimal(v)
        errors = []
        for start in [small(t), *([large(t)] if t > 0 else [])]:
            x = start
            for _ in range(steps):
                x = step(x, t, order)
            errors.append(abs(x / value - 1))
        trial.exactly(
            min(errors) <= Decimal(2) ** -bits,
            f"the relative error is above 2^-{bits}",
            t=float(t),
            about=f"{float(min(errors)):.1e}",
        )


ONE = stated(
    "Section 3, one Householder step",
    draw=_draw,
    check=_check,
    says={"steps": 1, "order": 5, "bits": 24},
    right={"steps": 2},
    witnesses=({"v": Fraction(1, 2)}, {"v": Fraction(2)}),
)

TWO = ONE.also(
    "Section 3, two Householder steps",
    says={"steps": 2, "bits": 53},
    wrong={
        "one step": {"steps": 1},
        "two of Newton's": {"order": 1},
        "two of order 4": {"order": 4},
    },
    witnesses=({"v": Fraction(3, 5)},),
)
