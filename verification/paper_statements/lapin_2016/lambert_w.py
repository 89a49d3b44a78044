"""The function V(t) = W(e^t) of section 3: equation, slope, and its two approximations."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import DIGITS, Log, decimal, log
from verification.paper_statements._rational import Function
from verification.paper_statements.lapin_2016 import stated


def equation(w: Fraction) -> Log:
    """T = w + log w, of which w = V(t) is the solution: w e^w = e^t."""
    return log(w) + w


def _draw(rng: Rng) -> Inputs:
    low = Fraction(int(rng.integers(1, 60)), int(rng.choice([1, 7, 60])))
    return {"low": low, "high": low + Fraction(int(rng.integers(1, 30)), 20)}


def small(t: Decimal) -> Decimal:
    """e^t, for t << 0."""
    return t.exp()


def large(t: Decimal) -> Decimal:
    """T - log t, for t >> 0."""
    return t - t.ln()


def _check(
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
    draw=_draw,
    check=_check,
    says={"slope": lambda v: v / (1 + v), "small": small, "large": large},
    wrong={
        "slope 1/(1+V)": {"slope": lambda v: 1 / (1 + v)},
        "slope V": {"slope": lambda v: v},
        "t + log t": {"large": lambda t: t + t.ln()},
        "e^t/2": {"small": lambda t: t.exp() / 2},
    },
)
