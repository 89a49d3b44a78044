"""Pointwise risk: min over g in R^m of sum_y p_y L(y, g), optionally with g_i <= g_j (``behind``).

p is divided by its sum; "x" holds one dual row per class. Piecewise linear losses of few classes are
certified exactly, by a rational linear program, and need no dual point. Relative figures are those of
R(0), since the least risk may be 0; it need not be attained where some p_y are 0.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.errors import InvalidParameterError, RefsolveError
from refsolve.models import pointwise_risk as declared
from refsolve.proofs import families
from refsolve.proofs.certificate import Real
from refsolve.proofs.model import ModelCertificate, Proof
from verification.errors import NoDualPointError, VerificationError
from verification.models import ModelTask, Params, Side, Violation, _shrink
from verification.models._erm_families import convex, fits, labelled, parameters, trained
from verification.models._erm_families import finalize as _settle

EPS = float(np.finfo(float).eps)
#: Classes up to which a rational linear program settles the risk of a hinge.
EXACT = 4
#: Objects whose risk is piecewise linear, and what k they have where they have none.
LINEAR = {"multiclass_hinge": 1, "topk_hinge_alpha": None, "topk_hinge_beta": None}


def _given(params: Params) -> dict[str, Any]:
    behind = params["behind"]
    return {
        "loss": params["loss"],
        "p": params["p"],
        "costs": params["costs"],
        "behind": None if behind is None else tuple(int(i) for i in behind),
        **parameters(params),
    }


def _error(params: Params, g: np.ndarray) -> float:
    """Rounding of R(g) in double precision: d terms of the size of the margins, per class."""
    costs = 1.0 if params["costs"] is None else float(params["costs"].max())
    return 8 * (len(g) + 4) ** 2 * EPS * (2 * float(np.abs(g).max(initial=0.0)) + costs)


def _certified(params: Params, primal: Mapping[str, Any], dual: Side) -> ModelCertificate:
    """The certificate, whose scale is at least R(0)."""
    g = np.asarray(primal["g"], dtype=np.float64)
    start = declared.certificate(g=np.zeros(len(g)), **_given(params))
    bounds: dict[str, Any] = {}
    if dual is None and (found := _exact(params, g)) is not None:
        risk, least, gap = (float(v) for v in (*found, found[0] - found[1]))
        name, error, bounds = (
            "R(g) - min R, exact",
            0.0,
            {"primal": risk, "dual": least, "gap": gap},
        )
    else:
        proof = declared.certificate(g=g, x=None if dual is None else dual["x"], **_given(params))
        name, error, risk, gap = "Fenchel-Young gaps", _error(params, g), proof.value, proof.gap
    sums = Real(risk), Real(risk - gap), np.array([gap]), Real(0)
    made = ModelCertificate.of(Proof(*sums, {name: gap}, Real(error)))
    return replace(made, scale=max(made.scale, start.value), **bounds)


@functools.lru_cache(maxsize=512)
def _least(p: tuple[Fraction, ...], object_name: str, k: int) -> Fraction:
    from verification.paper_statements import risk as risks

    maker = (
        risks.hinge_beta_pieces if object_name == "topk_hinge_beta" else risks.hinge_alpha_pieces
    )
    loss = [maker(len(p), k, y) for y in range(len(p))]
    return risks.minimisers(list(p), loss).least


def _exact(params: Params, g: np.ndarray) -> tuple[Fraction, Fraction] | None:
    """R(g) and the least risk as fractions; None for another loss, more classes, costs or an order."""
    from verification.paper_statements import risk as risks

    object_name, m = params["loss"], len(g)
    if object_name not in LINEAR or m > EXACT:
        return None
    if params["costs"] is not None or params["behind"] is not None:
        return None
    k = LINEAR[object_name] or int(params["k"])
    p = [Fraction(float(v)) for v in params["p"]]
    p = [v / sum(p) for v in p]
    maker = (
        risks.hinge_beta_pieces if object_name == "topk_hinge_beta" else risks.hinge_alpha_pieces
    )
    loss = [maker(m, k, y) for y in range(m)]
    risk = risks.risk(p, loss, [Fraction(float(v)) for v in g])
    return risk, _least(tuple(p), object_name, k)


# ---- instances --------------------------------------------------------------------------------

Rng = np.random.Generator
Maker = Callable[[Rng, int], Params]


def _stream(maker: Maker) -> Callable[[Rng, int], Iterator[Params]]:
    def generate(rng: Rng, largest: int) -> Iterator[Params]:
        while True:
            for loss in rng.permutation([s for s in trained() if not labelled(s)]):
                m = int(rng.integers(2, min(largest, 6) + 1))
                yield TASK.finalize(
                    {"k": None, "gamma": None, "loss": str(loss)} | maker(rng, m), rng
                )

    return generate


def _random(rng: Rng, m: int) -> Params:
    return {"p": rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 5.0]))) + 1e-3}


def _ties(rng: Rng, m: int) -> Params:
    return {"p": rng.choice([1.0, 2.0, 4.0], size=m)}


def _with_zeros(rng: Rng, m: int) -> Params:
    p = rng.choice([0.0, 0.25, 0.5], size=m)
    p[:2] = 0.5, 0.25
    return {"p": rng.permutation(p)}


def _nearly_certain(rng: Rng, m: int) -> Params:
    p = 10.0 ** rng.uniform(-6, -2, m)
    p[rng.integers(m)] = 1.0
    return {"p": p}


def _ends(rng: Rng, m: int) -> Params:
    return _random(rng, m) | {"k": int(rng.choice([1, m - 1]))}


def _ordered(rng: Rng, m: int) -> Params:
    return _random(rng, m) | {"behind": rng.permutation(m)[:2].astype(np.int64)}


def _with_costs(rng: Rng, m: int) -> Params:
    costs = rng.choice([0.5, 1.0, 2.0], size=(m, m))
    np.fill_diagonal(costs, 0.0)
    return _random(rng, m) | {"costs": costs}


class PointwiseRisk(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("g",), "dual": ("x",)}
    families = {
        "random": _stream(_random),
        "ties": _stream(_ties),
        "zero probabilities": _stream(_with_zeros),
        "nearly certain": _stream(_nearly_certain),
        "k at its ends": _stream(_ends),
        "order": _stream(_ordered),
        "costs": _stream(_with_costs),
    }

    def shapes(self, params: Params) -> dict[str, tuple[int, ...]]:
        """Scores g (m,); x (m, d), d = m - 1 for the multiclass family."""
        m = len(params["p"])
        return {"g": (m,), "x": (m, families.of(catalogue.load(params["loss"])).size(m))}

    def valid(self, params: Params) -> bool:
        """At least two classes that occur, k <= m - 1, two different classes behind."""
        p, k, behind, costs = params["p"], params["k"], params["behind"], params["costs"]
        if p.ndim != 1 or p.size < 2 or p.min() < 0 or np.count_nonzero(p) < 2:
            return False
        if (
            params["loss"] not in (*convex("multiclass"), *convex("ova"))
            or not np.isfinite(p).all()
        ):
            return False
        names = catalogue.load(params["loss"]).SPEC.names
        if (k is None) == ("k" in names) or (params["gamma"] is None) == ("gamma" in names):
            return False
        if k is not None and not 1 <= k <= p.size - 1:
            return False
        if not fits(params["beta"], names, p.size):
            return False
        if params["gamma"] is not None and not 0 < params["gamma"] < np.inf:
            return False
        if behind is not None and (
            behind.shape != (2,)
            or behind[0] == behind[1]
            or not 0 <= behind.min() <= behind.max() < p.size
        ):
            return False
        if costs is None:
            return True
        return bool(
            costs.shape == (p.size, p.size) and costs.min() >= 0 and not np.diag(costs).any()
        )

    def finalize(self, params: Params, rng: np.random.Generator) -> Params:
        """Give a loss that was fixed the parameters that it has, and only those."""
        labels = np.arange(len(params["p"]))
        settled = _settle({**params, "y": labels}, rng)
        del settled["y"]
        return settled

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer classes, plain arguments, round probabilities."""
        axes = {"p": (0,)} | ({"costs": (0, 1)} if params["costs"] is not None else {})
        if params["behind"] is None:
            for smaller in _shrink.fewer(params, axes, {}):
                if smaller["beta"] is not None:
                    smaller["beta"] = smaller["beta"][: len(smaller["p"]) - 1]
                yield smaller
                if params["k"] is not None and params["k"] > 1:
                    yield {**smaller, "k": params["k"] - 1}
        yield from _shrink.smaller_k(params)
        yield from _shrink.defaults(params, {"behind": None, "costs": None, "gamma": 1.0})
        yield from _shrink.rounder(params, "p", "gamma", "costs")

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of g and x; of g alone, exactly or with the gradients at g as a dual point."""
        if primal is None:
            raise NoDualPointError("g=None: a dual point of the risk determines no scores")
        try:
            return _certified(params, primal, dual)
        except InvalidParameterError as error:  # of g or x: numbers whose squares no float holds
            raise OverflowError(str(error)) from error

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """Upper bound on R(g)."""
        return self.certify(params, primal, None).primal

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """Lower bound on every risk, from x moved onto the dual's constraints."""
        return self.certify(params, {"g": np.zeros(len(params["p"]))}, dual).dual

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What rounding g to doubles may cost."""
        return 0.0 if primal is None else _error(params, np.asarray(primal["g"], dtype=np.float64))

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """The order that is asked of g; the domain of x and the balance of its rows."""
        found = {}
        if primal is not None and params["behind"] is not None:
            i, j = params["behind"]
            g = primal["g"]
            size = 1.0 + float(np.abs(g).max())
            found[f"g_{i} <= g_{j}"] = Violation(max(0.0, float(g[i] - g[j])), size, EPS * size)
        if dual is not None:
            zero = np.zeros(len(params["p"]))
            given = _given(params) | {"behind": None}
            try:
                proof = declared.certificate(g=zero, x=dual["x"], **given)
            except InvalidParameterError as error:
                raise OverflowError(str(error)) from error
            name = "x_y in the domain of the conjugate, sum_y p_y block(x_y) = 0"
            if params["behind"] is None:
                found[name] = Violation(proof.violation, 1.0, 16 * (len(zero) + 4) * EPS)
        return found

    def mistakes(self, params: Params) -> Iterator[tuple[str, Params]]:
        """Problems that are solved in the place of this one."""
        if params["k"] is not None:
            for step in (-1, 1):
                yield (
                    f"it is optimal for k = {params['k'] + step}",
                    {**params, "k": params["k"] + step},
                )
        if params["behind"] is not None:
            yield "it is optimal without the asked order", {**params, "behind": None}
        if params["costs"] is not None:
            yield "it is optimal without costs", {**params, "costs": None}
            yield "it is optimal for the transposed costs", {**params, "costs": params["costs"].T}

    def witness(self, params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
        """The oracle's scores and dual rows."""
        import refsolve

        asked = {name: v for name, v in _given(params).items() if v is not None}
        try:
            found = refsolve.solve("pointwise_risk.primal", **asked)
        except RefsolveError as error:
            raise VerificationError(str(error)) from error
        return {"g": np.asarray(found.x)}, {"x": np.asarray(found.dual)}


TASK = PointwiseRisk()
