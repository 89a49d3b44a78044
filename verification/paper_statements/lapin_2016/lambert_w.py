"""The function V(t) = W(e^t), and how it is computed."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import DIGITS, Log, decimal, log
from verification.paper_statements._rational import Function
from verification.paper_statements.lapin_2016 import stated

# ==========================================================================================
# The function V(t) = W(e^t) of section 3: equation, slope, and its two approximations.
# ==========================================================================================


def equation(w: Fraction) -> Log:
    """T = w + log w, of which w = V(t) is the solution: w e^w = e^t."""
    return log(w) + w


def _draw_lambert_w(rng: Rng) -> Inputs:
    low = Fraction(int(rng.integers(1, 60)), int(rng.choice([1, 7, 60])))
    return {"low": low, "high": low + Fraction(int(rng.integers(1, 30)), 20)}


def small(t: Decimal) -> Decimal:
    """e^t, for t << 0."""
    return t.exp()


def large(t: Decimal) -> Decimal:
    """T - log t, for t >> 0."""
    return t - t.ln()


def _check_lambert_w(
    trial: Trial,
    *,
    low: Fraction,
    high: Fraction,
    slope: Function,
    small: Callable[[Decimal], Decimal],
    large: Callable[[Decimal], Decimal],
) -> None:
    # V increases with slopes between those at the ends, by the mean value theorem.
    rise = equation(high) - equation(low)
    trial.exactly(
        slope(low) * rise <= high - low and high - low <= slope(high) * rise,
        "V(t') - V(t) lies outside of the slopes times t' - t",
    )
    with localcontext() as context:
        context.prec = DIGITS
        t, v = equation(low).decimal(), decimal(low)
        if v < 1:  # 0 <= e^t/V - 1 = e^V - 1 <= 2V
            excess = small(t) / v - 1
            trial.exactly(0 <= excess <= 2 * v, "e^t is no approximation for t << 0", t=float(t))
        if t > 1:  # known bounds: 0 <= V - (t - log t) <= e/(e-1) log t/t
            excess = v - large(t)
            most = Decimal("1.5820") * t.ln() / t
            trial.exactly(
                -(Decimal(10) ** -50) <= excess <= most, "t - log t is no approximation", t=float(t)
            )


LAMBERT = stated(
    "Section 3, V(t) = W(e^t)",
    draw=_draw_lambert_w,
    check=_check_lambert_w,
    says={"slope": lambda v: v / (1 + v), "small": small, "large": large},
    wrong={
        "slope 1/(1+V)": {"slope": lambda v: 1 / (1 + v)},
        "slope V": {"slope": lambda v: v},
        "t + log t": {"large": lambda t: t + t.ln()},
        "e^t/2": {"small": lambda t: t.exp() / 2},
    },
)


# ==========================================================================================
# The Householder steps of section 3 (arXiv version) for V(t) = W(e^t), and what they leave.
#
# With g = 1/f, f(x) = x + log x - t, the step of order d adds the quotient of the Taylor coefficients
# d - 1 and d of g at x; order 1 is Newton's method. The error is raised to the power d + 1.
# ==========================================================================================


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


def _draw_householder(rng: Rng) -> Inputs:
    return {"v": Fraction(int(rng.integers(1, 400)), int(rng.choice([7, 40, 400])))}


def _check_householder(trial: Trial, *, v: Fraction, steps: int, order: int, bits: int) -> None:
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


ONE = stated("Section 3, one Householder step", draw=_draw_householder, check=_check_householder)

TWO = ONE.also("Section 3, two Householder steps")
