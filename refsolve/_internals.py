"""What stands behind an answer, by the papers' symbols: for people who port a projection or an inference.

Everything follows from an exact answer, whose certificate is 0, and the conditions of optimality; nothing is
read from an algorithm. Numbers are rational until they are rounded at the end.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue, exact
from refsolve.arguments import check_example, take
from refsolve.errors import InvalidParameterError
from refsolve.exact import average_precision
from refsolve.proofs import families
from refsolve.proofs.ranking_losses import RankingLoss


def internals(problem: str, /, **arguments: Any) -> dict[str, Any]:
    """What stands behind the answer of an operation, by the papers' symbols.

    Parameters
    ----------
    problem : str
        "<set>.projection", "<loss>.value" of a loss of one class, or an operation of "average_precision" or "ndcg".
    **arguments
        Those of the operation (``refsolve show NAME``), of one instance.

    Returns
    -------
    dict
        Of a projection: ``x``, its sum ``s``, and, where the set has them, the thresholds ``t`` and ``u`` of
        x = clip(a - t, 0, u), the indices ``U`` at the upper end, ``M`` strictly between and ``L`` at the lower
        end, the sum ``p`` of the multipliers of the caps, and the multiplier ``lambda`` of the bound on the sum:
        t = rho s + lambda - p/k where the caps are s/k, else t = rho s + lambda. Where M is empty t is the
        largest that fits, and at x = 0 all entries are in L.
        Of a value: ``a`` with a_j = f_j - f_y, the costs ``c``, the classes by falling a + c as ``order``, and
        ``psi_k`` = max(0, (a + c)_[k]).
        Of average precision: samples by falling score as ``positives`` and ``negatives``; ``delta`` (N, P + 1),
        delta_j(i) for i = 1..P+1; ``opt`` (N,), the last i of 1..P+1 that attains the largest one; the
        ``inversions`` of that ranking, its loss ``Delta``, the coefficients ``Psi`` of Psi(R) - Psi(R*) in the
        samples, and the ``value``.

    Raises
    ------
    UnknownProblemError
        No such operation.
    InvalidParameterError
        It has no internals here, or an argument is outside its declared range.

    Examples
    --------
    >>> found = internals("topk_simplex_alpha.projection", a=[1.5, 1.0, 0.75, -1.0], k=2)
    >>> {name: found[name] for name in ("t", "u", "U", "M", "L", "lambda")}
    {'t': 0.625, 'u': 0.5, 'U': (0,), 'M': (1, 2), 'L': (3,), 'lambda': 0.8125}
    """
    return {name: _rounded(value) for name, value in exactly(problem, arguments).items()}


def exactly(problem: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same in Fractions."""
    object_name, operation = catalogue.split(problem)
    module, given = catalogue.load(object_name), dict(arguments)
    if operation == "projection":
        return _projection(object_name, given)
    if families.is_ranking(module):
        return _ranking(module.LOSS, take(given, "scores"), take(given, "y"), **given)
    of_a_loss = operation == "value" and catalogue.kind(object_name) == "losses"
    if of_a_loss and families.of(module).name == "multiclass":
        return _margins(object_name, given)
    raise InvalidParameterError(
        "problem", problem,
        "a projection, the value of a loss of one class, or an operation of average_precision or ndcg",
        "take refsolve.solve: its answer has a dual point and a certificate",
    )  # fmt: skip


def _projection(object_name: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the set's exact projection says of itself."""
    a, rho = take(given, "a"), given.pop("rho", 0)
    point, weight, checked = exact.taken(object_name, a, rho, dict(given))
    solver = importlib.import_module(f"refsolve.exact.{object_name}")
    if not hasattr(solver, "internals"):
        raise InvalidParameterError(
            "problem", f"{object_name}.projection", "a set whose exact projection has internals",
            f"write internals(a, x, ...) beside project in {solver.__name__}",
        )  # fmt: skip
    x = list(exact.project(object_name, a, rho=rho, **given).x)
    biased = {"rho": weight} if catalogue.has_rho(catalogue.load(object_name)) else {}
    return {"x": x, **solver.internals(point, x, **biased, **checked)}


def _margins(object_name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Score differences, costs, their order, and psi_k, of all classes."""
    scores, y, costs = take(given, "scores"), take(given, "y"), given.pop("costs", None)
    scores, y, loss = check_example(object_name, "scores", scores, y, given)
    own = np.asarray(loss.check_costs(costs, y), dtype=float)
    f, c = ([Fraction(float(v)) for v in row] for row in (scores, np.insert(own, y, 0.0)))
    a = [v - f[y] for v in f]
    z = [v + cost for v, cost in zip(a, c, strict=True)]
    order = tuple(sorted(range(len(z)), key=lambda j: -z[j]))
    kth = z[order[min(int(loss.params.get("k", 1)), len(z)) - 1]]
    return {"a": a, "c": c, "order": order, "psi_k": max(Fraction(0), kth)}


def _ranking(of: RankingLoss, scores: Any, y: Any, **unknown: Any) -> dict[str, Any]:
    """The terms of the most violated ranking."""
    for name, value in unknown.items():
        raise InvalidParameterError(name, value, "one of: scores, y", f"drop {name}")
    best = average_precision.greedy(scores, y, of)
    delta = [average_precision.sums(column) for column in average_precision.gains(scores, y, of)]
    opt = [len(row) - row[::-1].index(max(row)) for row in delta]  # the last maximiser
    s, up = average_precision.checked(scores, y)
    above, below = average_precision.by_score(s, up)
    unit = Fraction(2, len(above) * len(below))
    psi = [(-v if p else v) * unit for v, p in zip(best.inversions, up, strict=True)]
    return {
        "positives": tuple(above), "negatives": tuple(below), "delta": delta, "opt": opt,
        "inversions": list(best.inversions), "Delta": best.delta, "Psi": psi, "value": best.value,
    }  # fmt: skip


def _rounded(value: Any) -> Any:
    """Numbers as floats, lists as arrays; tuples of indices stay as they are."""
    if isinstance(value, Fraction):
        return float(value)
    return np.array([_rounded(v) for v in value]) if isinstance(value, list) else value
