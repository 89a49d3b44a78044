"""Slacks pushed into their cones by one variable each: what a solver's rounding lacks (a proposal)."""

from __future__ import annotations

import numpy as np

from refsolve._types import Array
from refsolve.cones.enclosure import exact as as_is
from refsolve.cones.enclosure import exponential, times
from refsolve.cones.program import ConeProgram


def pushed(program: ConeProgram, x: Array, free: Array, far: Array) -> Array:
    """Move free variables so that cones which are just missed hold.

    Each violated row (or head) is mended by the variable that raises it and disturbs the fewest others,
    equations most of all.

    Parameters
    ----------
    program : ConeProgram
    x : (n,) array
    free : (n,) array of bool
    far : (m,) array
        How far each row, or the head of each cone, is outside.
    """
    A = program.rows
    count = np.diff(program.columns.indptr).astype(float)
    in_equations = np.asarray(abs(A[: program.zero]).sum(axis=0)).ravel() > 0
    price = np.where(free, count + 1e6 * in_equations, np.inf)
    lack, target, sign = far.copy(), np.arange(len(far)), -np.ones(len(far))
    if program.exp:
        heads = program.exponential
        lifted, lowered = _ways(program, x, far)
        # the first entry down, or the last one up where nothing that may move is in the first
        able = ((A[heads] != 0) @ free) & np.isfinite(lowered)
        lack[heads] = np.where(able, lowered, lifted)
        target[heads], sign[heads] = np.where(able, heads, heads + 2), np.where(able, 1.0, -1.0)
    up, down = np.zeros(len(x)), np.zeros(len(x))

    def moves(row: Array, columns: Array, rise: Array, short: Array) -> None:
        """Of entries of rows: the cheapest variable of each row moves by what the row is short of."""
        able = (rise != 0) & np.isfinite(price[columns]) & np.isfinite(short)
        row, columns, rise, short = row[able], columns[able], rise[able], short[able]
        order = np.lexsort((price[columns], row))
        first = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
        with np.errstate(all="ignore"):
            step = short[first] / rise[first] * (1 + 1e-9)
        np.maximum.at(up, columns[first], step)
        np.minimum.at(down, columns[first], step)

    slopes = _slopes(program, x, far)
    for i, (columns, rise) in slopes.items():
        moves(0 * columns, columns, rise, np.full(len(columns), lack[i]))
    wrong = np.flatnonzero(far[program.zero :] > 0) + program.zero
    wrong = wrong[~np.isin(wrong, list(slopes))]
    part = A[target[wrong]]
    at = np.repeat(np.arange(len(wrong)), np.diff(part.indptr))
    moves(at, part.indices, sign[wrong][at] * part.data, lack[wrong][at])
    way = up + down
    return np.where(way != 0, np.nextafter(x + way, np.where(way > 0, np.inf, -np.inf)), x)


def _ways(program: ConeProgram, x: Array, far: Array) -> tuple[Array, Array]:
    """What the last entry of each exponential cone lacks, and by what the first one is too large."""
    s = as_is(program.b) + -times(program.rows, x)
    u, v, w = (s.middle[program.exponential + i] for i in range(3))
    wrong = far[program.exponential] > 0
    with np.errstate(all="ignore"):
        need = v * exponential(as_is((u / v).astype(float)))[1]
        lift = np.maximum(need - w, 0) + 1e-15 * np.abs(need)
        lower = np.maximum(u - v * np.log(w / v), 0) + 1e-15 * (np.abs(u) + v)
        ways = [np.where(wrong & (v > 0), way, np.where(wrong, np.inf, 0)) for way in (lift, lower)]
        lifted, lowered = (way.astype(float) for way in ways)
    return lifted, np.where(np.isnan(lowered), np.inf, lowered)


def _slopes(program: ConeProgram, x: Array, far: Array) -> dict[int, tuple[Array, Array]]:
    """How the depth of a point inside violated second-order and other cones grows with each variable."""
    found = {}
    wrong = [rows for rows in program.second_order if far[rows.start] > 0] if program.soc else []
    for rows in wrong:
        part = program.rows[rows]
        tail = program.b[rows][1:] - part[1:] @ x
        size = float(np.linalg.norm(tail))
        if 0 < size < np.inf:
            gain = np.concatenate(([-1.0], tail / size)) @ part
            columns = np.unique(part.indices)
            found[rows.start] = columns, np.asarray(gain).ravel()[columns]
    for block, rows in program.more:
        if far[rows.start] > 0:
            part = program.rows[rows]
            gain = -(block.slope(program.b[rows] - part @ x) @ part)
            columns = np.unique(part.indices)
            found[rows.start] = columns, np.asarray(gain).ravel()[columns]
    return found
