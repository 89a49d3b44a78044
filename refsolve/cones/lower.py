"""Lower bounds on a cone program that hold whatever a solver did.

For every w and every z in the dual cone, with r = Pw + q + A'z, convexity and <z, s> >= 0 give at
every feasible x

    f(x) >= -1/2 w'Pw - b'z + r'x + 1/2 (x - w)'P(x - w).

What is left is the least of r'x + 1/2 sum d_i (x_i - w_i)^2 over what is known of x, coordinate by
coordinate: a range, a curvature d_i, or r_i = 0 exactly. A residual that is not zero where nothing is
known is removed by a change of z that is proven to exist, not computed: of the size eta, inside the
dual cone because z has that much room there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.membership import into_dual, room
from refsolve.cones.nearby import Equations, Unproven, rounded
from refsolve.cones.program import ConeProgram


@dataclass(frozen=True)
class LowerBound:
    """A number that no feasible point is below.

    Attributes
    ----------
    value : Fraction or None
        None if nothing could be proven.
    reason : str
        Why not.
    by : tuple of str
        What the bound rests on: "ranges", "curvature", "exact multipliers".
    """

    value: Fraction | None
    reason: str = ""
    by: tuple[str, ...] = ()


def lower_bound(
    program: ConeProgram,
    z: Array,
    w: Array,
    lo: Array,
    hi: Array,
    curvature: Array | None,
) -> LowerBound:
    """Bound from multipliers ``z`` and a point ``w``, neither of which is believed.

    Parameters
    ----------
    program : ConeProgram
    z : (m,) array
        Brought into the dual cone first.
    w : (n,) array
        Where the quadratic part is linearised.
    lo, hi : (n,) arrays
        Ranges that every feasible point worth looking at keeps (`ranges`).
    curvature : (n,) array or None
        d with P - diag(d) positive semidefinite; None: not certain, nothing follows.
    """
    if curvature is None:
        return LowerBound(None, "the quadratic part is not certain to be convex")
    if not (np.all(np.isfinite(z)) and np.all(np.isfinite(w))):
        return LowerBound(None, "the multipliers or the point are not finite")
    z = into_dual(program, z)
    if not np.all(np.isfinite(z)):
        return LowerBound(None, "the multipliers are too far outside the dual cone")
    at = Dyadic.of(w)
    Pw = product(program.P, at)
    slope = Pw + Dyadic.of(program.q)
    r = slope + product(program.A.T, Dyadic.of(z))
    free = (curvature <= 0) & ~_one_sided(r, lo, hi)
    eta = np.zeros(len(z))
    spread = np.zeros(len(program.q))
    by: list[str] = []
    if np.any(free & ~r.zero):
        try:
            columns = np.flatnonzero((curvature <= 0) & ~(np.isfinite(lo) & np.isfinite(hi)))
            z, eta = _without_residual(program, z, slope, columns)
        except Unproven as refused:
            return LowerBound(None, str(refused))
        if not room(program, z, eta):
            return LowerBound(None, "the multipliers have no room inside the dual cone")
        r = slope + product(program.A.T, Dyadic.of(z))
        # the residual of those columns is exactly 0 at the point that exists near z
        numbers = r.numbers.copy()
        numbers[columns] = 0
        r = Dyadic(numbers, r.bits)
        with np.errstate(over="ignore"):
            spread = _above(abs(program.A.T) @ eta, program.A.shape[0])
        spread[columns] = 0.0
        if not np.all(np.isfinite(spread)):
            return LowerBound(None, "the equations are too badly scaled")
        by.append("exact multipliers")
    b = Dyadic.of(program.b)
    value = -(at * Pw).total() / 2 - (b * Dyadic.of(z)).total()
    value -= (Dyadic.of(np.abs(program.b)) * Dyadic.of(eta)).total()
    rest = _least(r, spread, at, lo, hi, curvature, by)
    if rest is None:
        return LowerBound(None, "a variable without a range has a residual of its own")
    return LowerBound(value + rest, by=tuple(dict.fromkeys(by)))


def _one_sided(r: Dyadic, lo: Array, hi: Array) -> Array:
    """Where r_i x_i is bounded from below by the range."""
    sign = np.array([(v > 0) - (v < 0) for v in r.numbers.tolist()])
    return (sign == 0) | ((sign > 0) & np.isfinite(lo)) | ((sign < 0) & np.isfinite(hi))


def _above(values: Array, terms: int) -> Array:
    """Floats above sums of nonnegative products."""
    return np.asarray(values) * (1 + 4 * (terms + 4) * np.finfo(float).eps) + 1e-300


def _without_residual(
    program: ConeProgram, z: Array, slope: Dyadic, columns: Array
) -> tuple[Array, Array]:
    """Multipliers near ``z`` around which, within eta, A'z = -slope has a solution in ``columns``."""
    weight = _freedom(program, z)
    rows = np.flatnonzero(weight > 0)
    whole = program.A.tocsc()[:, columns].T.tocsr()
    target = -(slope[columns] + product(whole, Dyadic.of(z)))
    equations = Equations(
        whole[:, rows], weight[rows], np.abs(rounded(target)), (whole, -slope[columns])
    )
    change, eta_rows = equations.near(target)
    moved, eta = z.copy(), np.zeros(len(z))
    total = Dyadic.of(z[rows]) + change
    moved[rows] = total.above()
    # z is kept as floats: what rounding moved is added to eta
    eta[rows] = eta_rows + (Dyadic.of(moved[rows]) - total).above()
    eta[rows] = np.nextafter(eta[rows], np.inf)
    if not (np.all(np.isfinite(moved)) and np.all(np.isfinite(eta))):
        raise Unproven("the equations are too badly scaled")
    return moved, eta


def _freedom(program: ConeProgram, z: Array) -> Array:
    """How far each multiplier may move, roughly (a proposal; `room` decides)."""
    free = np.zeros(len(z))
    low, high = program.zero, program.zero + program.nonneg
    free[:low] = 1.0 + np.abs(z[:low])
    free[low:high] = z[low:high]
    for rows in program.second_order:
        free[rows] = max(z[rows.start] - float(np.linalg.norm(z[rows][1:])), 0.0)
    for start in program.exponential.tolist():
        u, v, w = z[start : start + 3].tolist()
        if u < 0:
            with np.errstate(over="ignore"):
                free[start : start + 3] = max(
                    min(-u, w + u * float(np.exp(min(v / u - 1, 700)))), 0
                )
    return free


def _least(
    r: Dyadic, spread: Array, w: Dyadic, lo: Array, hi: Array, curvature: Array, by: list[str]
) -> Fraction | None:
    """Least of sum (r_i -+ spread_i) x_i + d_i/2 (x_i - w_i)^2 over the ranges; None if there is none."""
    total = Fraction(0)
    for i, (residual_zero, extra) in enumerate(zip(r.zero, spread.tolist(), strict=True)):
        d = Fraction(float(curvature[i]))
        if residual_zero and extra == 0 and d >= 0:
            continue
        residual = r.fraction(i)
        ends = [residual - Fraction(extra), residual + Fraction(extra)]
        options = []
        if d > 0:
            here = w.fraction(i)
            options.append(min(e * here - e * e / (2 * d) for e in ends))
        corners = [_at_end(e, float(lo[i]), float(hi[i])) for e in ends]
        if all(corner is not None for corner in corners):
            options.append(min(corner for corner in corners if corner is not None))
        if d < 0:  # what the form may lack of being convex
            if not (np.isfinite(lo[i]) and np.isfinite(hi[i])):
                return None
            far = max(abs(Fraction(float(e[i])) - w.fraction(i)) for e in (lo, hi))
            options = [option + d / 2 * far * far for option in options]
        if not options:
            return None
        by.append("curvature" if d > 0 and options[0] == max(options) else "ranges")
        total += max(options)
    return total


def _at_end(slope: Fraction, lo: float, hi: float) -> Fraction | None:
    """Least of slope * x over [lo, hi]."""
    if slope == 0:
        return Fraction(0)
    end = lo if slope > 0 else hi
    return slope * Fraction(end) if np.isfinite(end) else None
