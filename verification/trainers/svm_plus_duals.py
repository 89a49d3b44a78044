"""Cross-check of SVM2+'s dual (4): the oracle, SMO, LIBSVM and the production solver.

Each solver returns multipliers alpha of min 1/2 <alpha, (K yy' + Q) alpha> - sum alpha, and each is
judged alone, by the scale-invariant gap 1 - (S m/q)^2 of its alpha, recomputed with a Q that is
never inverted. That they agree proves nothing and is not asked; only the certified intervals of the
optimum must overlap, since two that do not prove a certificate wrong.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from verification.benchmarks.records import Record, Section
from verification.certificates import plus_model
from verification.instances.instance import Instance
from verification.instances.svm_plus import EPS, OBJECTS, instances
from verification.trainers import libsvm_recipes
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Result, Verdict

Array = np.ndarray[Any, Any]
PROBLEM = f"{OBJECTS[0]}.dual"
#: Relative gap that each solver has to reach; LIBSVM that or its own bound, if it stops by itself.
TOLERANCES = {"production": 1e-6, "SMO": 1e-6, "LIBSVM": libsvm_recipes.TOLERANCE, "oracle": 1e-6}
#: C/lam from which pairs of multipliers (SMO) may not get there.
STIFF = 1e6
#: Most steps: pairs of multipliers crawl where H is ill-conditioned.
LONGEST = {"SMO": 1_000_000, "LIBSVM": 200_000}
SECTION = Section(
    "SVM2+: the dual by four solvers",
    "Gap of each solver's multipliers, 1 - (S m/q)^2, computed anew; steps on pairs (SMO) may fail where "
    f"C/lam >= {STIFF:g}, LIBSVM (kernels in float32) where it does not stop, and else it may be off by its own bound.",
)


def kernels(given: dict[str, Any]) -> tuple[Array, Array, Array]:
    """K, Q and y of the examples of positive weight."""
    from fast.svm_plus.deformed_kernel import deformed_kernel

    weight = given.get("sample_weight")
    kept = np.ones(len(given["y"]), bool) if weight is None else weight > 0
    X, Z = given["X"][kept], given["Z"][kept]
    omega = None if weight is None else weight[kept]
    Q = deformed_kernel(given["C"], given["lam"], Z=Z, sample_weight=omega)
    return X @ X.T, Q, given["y"][kept]


def box(given: dict[str, Any]) -> float:
    """(C sum w_i + lam)/2: each class holds half of sum alpha = 2 optimum <= C sum w_i + lam."""
    weight = given.get("sample_weight")
    total = len(given["y"]) if weight is None else float(np.sum(weight))
    return 0.5 * (given["C"] * total + given["lam"])


def by_smo(given: dict[str, Any]) -> Array:
    """Our SMO without a box, in float64."""
    from fast.svm_plus import smo

    K, Q, y = kernels(given)
    H = K * np.outer(y, y) + Q
    return smo.solve(H, y, 0.5 * TOLERANCES["SMO"], max_iter=LONGEST["SMO"]).alpha


def by_libsvm(given: dict[str, Any], limit: float | None = None) -> libsvm_recipes.Answer:
    """Scikit-learn's SVC on K + Q * yy', whose box does not bind; a smaller ``limit`` would."""
    K, Q, y = kernels(given)
    upper = np.full(len(y), box(given) if limit is None else limit)
    recipe = libsvm_recipes.Recipe(K + Q * np.outer(y, y), upper)
    return libsvm_recipes.by_libsvm(recipe, y, LONGEST["LIBSVM"])


def by_production(given: dict[str, Any]) -> Array:
    """What the estimator calls with kernels: SMO, Newton, interior point."""
    from fast.models.svm_plus_squared_hinge import train_kernel

    K, Q, y = kernels(given)
    options: dict[str, Any] = {"tol": 0.5 * TOLERANCES["production"], "check_definite": False}
    result = train_kernel(K, y, given["C"], given["lam"], Q=Q, **options)
    return np.asarray(result.alpha)


def by_oracle(given: dict[str, Any]) -> Array:
    """CVXPY on the factored dual; `refsolve.errors.OracleUncertainError` if nobody could certify it."""
    import refsolve

    weight = given.get("sample_weight")
    alpha = np.asarray(refsolve.solve(PROBLEM, **given).x)
    return alpha if weight is None else alpha[weight > 0]


Solver = Callable[[dict[str, Any]], "Array | libsvm_recipes.Answer"]
SOLVERS: dict[str, Solver] = {
    "production": by_production,
    "SMO": by_smo,
    "LIBSVM": by_libsvm,
    "oracle": by_oracle,
}


def certify(given: dict[str, Any], alpha: Array) -> ModelCertificate:
    """The certificate of multipliers of the examples of positive weight."""
    weight = given.get("sample_weight")
    full = np.zeros(len(given["y"]))
    full[slice(None) if weight is None else weight > 0] = alpha
    return plus_model.of_multipliers(plus_model.problem(loss="squared_hinge", **given), full)


def examine(
    instance: Instance, solvers: Mapping[str, Solver] | None = None
) -> dict[str, Judgement]:
    """A judgement of every solver on one instance.

    Gaps are relative. SMO is expected to fail where C/lam >= `STIFF`, LIBSVM where it does not stop.
    An oracle without certificate is uncertain.
    """
    from refsolve.errors import OracleUncertainError

    given, found, proofs = instance.params, {}, {}
    for name, solver in (SOLVERS if solvers is None else solvers).items():
        tolerance = TOLERANCES.get(name, 1e-6)
        try:
            answer = solver(given)
            lost = name == "SMO" and given["C"] >= STIFF * given["lam"]
            if isinstance(answer, libsvm_recipes.Answer):
                tolerance, lost, answer = answer.limit, not answer.bounded, answer.alpha
            proof = certify(given, answer)
        except OracleUncertainError as error:
            found[name] = Judgement(Verdict.INCONCLUSIVE, message=str(error))
            continue
        proofs[name] = proof
        gap = proof.relative_gap if np.isfinite(proof.gap) else np.inf
        verdict = Verdict.PASS if gap <= tolerance else Verdict.FAIL
        if verdict is Verdict.FAIL and lost:
            verdict = Verdict.EXPECTED_FAILURE
        if name == "oracle" and verdict is Verdict.FAIL:
            verdict = Verdict.INCONCLUSIVE
        message = "" if verdict is Verdict.PASS else f"gap {gap:.3g}, to reach {tolerance:.3g}"
        found[name] = Judgement(verdict, gap, tolerance, message=message)
    highest = max(proofs, key=lambda name: proofs[name].dual)
    lowest = min(proofs, key=lambda name: proofs[name].primal)
    slack = 64 * len(given["y"]) * EPS * proofs[lowest].primal
    if proofs[highest].dual > proofs[lowest].primal + slack:
        message = f"D = {proofs[highest].dual!r} of {highest} exceeds P = {proofs[lowest].primal!r} of {lowest}"
        found[highest] = Judgement(Verdict.FAIL, message=message)
    return found


def verify_duals(profile: str = "quick", seed: int = 0) -> Report:
    """A report like those of `verification.verify`, a result per solver and instance."""
    start = time.perf_counter()
    results = tuple(
        Result.of(name, instance, judgement)
        for instance in instances(profile, seed)
        for name, judgement in examine(instance).items()
    )
    return Report(PROBLEM, profile, seed, results, time.perf_counter() - start, "fast")


def records(report: Report) -> list[Record]:
    """Per solver what it was judged on and the worst gap, for C/lam below and from `STIFF` on."""
    found = []
    for name in SOLVERS:
        mine = [r for r in report.results if r.check == name]
        worst: dict[bool, list[float]] = {False: [], True: []}
        for r in mine:
            if r.gap is not None and r.instance is not None:
                worst[r.instance["C"] >= STIFF * r.instance["lam"]].append(r.gap)
        figures = {
            "instances": len(mine),
            "asked_for": TOLERANCES[name],
            "worst_gap": max(worst[False], default=None),
            f"C/lam >= {STIFF:g}": max(worst[True], default=None),
            "failed": sum(r.verdict.is_bad for r in mine),
        }
        bounds = {"instances": 1.0}, {"failed": 0.0}
        found.append(Record({"solver": name}, figures, *bounds))
    return found
