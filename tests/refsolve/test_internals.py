"""What stands behind an answer: by definition in rational arithmetic, by the papers' formulas, and beside fast."""

import importlib
import re
from fractions import Fraction

import numpy as np
import pytest

import fast
import refsolve
from refsolve import catalogue, exact
from refsolve._internals import exactly
from refsolve.errors import InvalidParameterError, UnknownProblemError

SETS = catalogue.object_names("sets")
ONE, ZERO, INFINITE = Fraction(1), Fraction(0), float("inf")


def drawn(name, rng):
    """Arguments of a projection, small rational numbers with ties; r = 0, x = 0 and full sets occur."""
    d = int(rng.integers(1, 7))
    size = int(rng.choice([1, 4]))
    a = [Fraction(int(v), 2) for v in rng.integers(-6 * size, 6 * size + 1, d)]
    r = Fraction(int(rng.choice([0, 1, 2, 3, 8])), int(rng.choice([1, 2])))
    k = int(rng.integers(1, d + 2))
    rho = Fraction(int(rng.choice([0, 1, 3])), 2)
    given = {
        "topk_cone": {"k": k, "rho": rho},
        "topk_simplex_alpha": {"k": k, "r": r, "rho": rho},
        "topk_simplex_beta": {"k": k, "r": r, "rho": rho},
        "simplex": {"r": r, "rho": rho},
        "capped_simplex": {
            "r": r,
            "cap": r / 2 ** (d.bit_length() - 1) + Fraction(int(rng.integers(0, 3)), 2),
        },
        "bipartite_simplex": {"r": r, "y": [int(v) for v in rng.integers(0, 2, d)]},
        "knapsack": _knapsack(rng, d),
        "knapsack_at_most": _knapsack(rng, d, Fraction(int(rng.integers(0, 5)), 2)),
        "cardinality_polymatroid": {
            "beta": sorted(r * int(v) for v in rng.integers(0, 3, d))[::-1]
        },
    }.get(name, {"r": r})
    return {"a": a, **given}


def _knapsack(rng, d, more=ZERO):
    b = [Fraction(int(v)) for v in rng.integers(-2, 3, d)]
    b[0] = b[0] or ONE
    low = [Fraction(int(v)) if v > -2 else -INFINITE for v in rng.integers(-2, 1, d)]
    high = [INFINITE if v > 2 else Fraction(int(v)) for v in rng.integers(0, 4, d)]
    inside = [max(lo, min(hi, ZERO)) for lo, hi in zip(low, high, strict=True)]
    capacity = more + sum(map(lambda u, v: u * v, b, inside))
    return {"b": b, "low": low, "high": high, "capacity": capacity}


def ends(name, given, found):
    """Lower and upper end of every entry, from the definition of the set."""
    d = len(given["a"])
    if name.startswith("knapsack"):
        return given["low"], given["high"]
    high = {
        "topk_simplex_alpha": lambda: sum(found["x"]) / given["k"],
        "topk_cone": lambda: sum(found["x"]) / given["k"],
        "topk_simplex_beta": lambda: given["r"] / given["k"],
        "capped_simplex": lambda: given["cap"],
        "box": lambda: given["r"],
    }.get(name, lambda: INFINITE)()
    return [ZERO] * d, [high] * d


def test_every_exact_projection_says_what_stands_behind_it():
    assert set(exact.object_names()) == set(SETS)
    for name in SETS:
        assert callable(importlib.import_module(f"refsolve.exact.{name}").internals)


@pytest.mark.parametrize("name", [s for s in SETS if s != "cardinality_polymatroid"])
def test_the_thresholds_clip_and_the_multipliers_prove_optimality(name):
    rng = np.random.default_rng(3610)
    kinds = set()
    for _ in range(400):
        given = drawn(name, rng)
        found = exactly(f"{name}.projection", given)
        a, x, rho = given["a"], found["x"], given.get("rho", ZERO)
        low, high = ends(name, given, found)
        parts = {n: found.get(n, ()) for n in ("U", "M", "L")}
        assert sorted(i for part in parts.values() for i in part) == list(range(len(a)))
        sizes = [abs(v) for v in x] if name == "l1_ball" else x
        for i, v in enumerate(sizes):
            end = "L" if v == low[i] else "U" if v == high[i] else "M"
            assert i in parts[end]
        kinds.add(tuple(n for n, part in parts.items() if part))
        # stationarity: a - x - rho s 1 = lambda (gradient of the sum) + nu - mu, nu >= 0 on U, mu >= 0 on L
        multiplier, t, s = found.get("lambda", ZERO), found.get("t", ZERO), sum(x)
        pull = [ONE] * len(a)
        if name.startswith("knapsack"):
            pull = given["b"]
        if name == "l1_ball":
            pull = [ONE if v >= 0 else -ONE for v in a]
        if name == "bipartite_simplex":
            side = given["y"]
            assert sum(v for v, up in zip(x, side, strict=True) if up) == found["s"]
            rest = [v - u - (found["q"] - t if up else found["q"] + t)
                    for v, u, up in zip(a, x, side, strict=True)]  # fmt: skip
            assert multiplier == 2 * found["q"]
        else:
            rest = [v - u - rho * s - multiplier * w for v, u, w in zip(a, x, pull, strict=True)]
        if name == "l1_ball":
            rest = [v * w for v, w in zip(rest, pull, strict=True)]
        share = found["p"] / given["k"] if name in ("topk_simplex_alpha", "topk_cone") else ZERO
        if name.startswith("topk"):
            assert t == rho * s + multiplier - share
            assert found["u"] == high[0]
        nu = [v + share for v in rest]  # what the caps and the lower ends pay
        for i, v in enumerate(nu):
            if low[i] < high[i] or share:
                assert v == 0 or (
                    v > 0 if i in parts["U"] else i in parts["L"] and (v < 0 or s == 0)
                )
        if share or (name in ("topk_simplex_alpha", "topk_cone")):
            assert sum(max(v, ZERO) for v in nu) == found["p"]
        bound = found["s"] if name in ("l1_ball", "bipartite_simplex") else s
        if name in ("topk_simplex_alpha", "topk_simplex_beta", "l1_ball", "bipartite_simplex"):
            assert multiplier >= 0
            assert multiplier == 0 or bound == given["r"]
        if name == "topk_cone":
            assert multiplier == 0
        if name == "knapsack_at_most":
            assert multiplier >= 0
            spent = sum(map(lambda u, v: u * v, pull, x))
            assert spent == given["capacity"] if multiplier else spent <= given["capacity"]
    assert len(kinds) > 2


def test_the_multipliers_of_the_sums_of_the_largest_entries_prove_optimality():
    rng, pooled = np.random.default_rng(3616), 0
    for _ in range(700):
        rho = Fraction(int(rng.integers(0, 3)), 2)
        given = {**drawn("cardinality_polymatroid", rng), "rho": rho}
        found = exactly("cardinality_polymatroid.projection", given)
        x, t, rest = found["x"], found["t"], found["lambda"]
        a = [v - rho * sum(x) for v in given["a"]]
        order = sorted(range(len(a)), key=lambda i: (-t[i], -a[i]))
        assert x == [max(v, ZERO) - fall for v, fall in zip(a, t, strict=True)]
        assert sorted(found["M"] + found["L"]) == list(range(len(a)))
        assert all(x[i] > 0 for i in found["M"])
        assert min(rest) >= 0
        for j, price in enumerate(rest):
            room = sum(given["beta"][: j + 1]) - sum(x[i] for i in order[: j + 1])
            assert room >= 0
            assert price * room == 0
            assert t[order[j]] == sum(rest[j:])
        pooled += len({v for v in t if v > 0}) < sum(v > 0 for v in t)
    assert pooled > 30


def test_lemma_3_of_the_2015_paper_has_the_thresholds_of_the_cone():
    rng = np.random.default_rng(3611)
    met = 0
    for _ in range(600):
        given = drawn("topk_cone", rng)
        found = exactly("topk_cone.projection", given)
        U, M, a, k, rho = found["U"], found["M"], given["a"], given["k"], given["rho"]
        if not M:
            continue
        met += 1
        upper, middle = sum(a[i] for i in U), sum(a[i] for i in M)
        D = (k - len(U)) ** 2 + (len(U) + rho * k**2) * len(M)
        u = (len(M) * upper + (k - len(U)) * middle) / D
        t0 = (len(U) * (1 + rho * k) * middle - (k - len(U) + rho * k * len(M)) * upper) / D
        assert (u, t0 + rho * u * k) == (found["u"], found["t"])
    assert met > 50


@pytest.mark.parametrize("name", SETS)
def test_the_kernels_of_fast_have_the_same_projection(name):
    rng = np.random.default_rng(3612)
    for _ in range(40):
        given = drawn(name, rng)
        numbers = {n: np.array([float(u) for u in v]) if isinstance(v, list) and n != "y"
                   else float(v) if isinstance(v, Fraction) else v for n, v in given.items()}  # fmt: skip
        found = refsolve.internals(f"{name}.projection", **numbers)
        x = np.asarray(getattr(fast.sets, name).project(numbers.pop("a"), **numbers))
        np.testing.assert_allclose(x, found["x"], atol=1e-13 * (1 + abs(found["x"]).max()))
        if name in ("topk_cone", "topk_simplex_alpha", "topk_simplex_beta"):
            # what a port has besides x is what it is checked against
            a = np.array([float(v) for v in given["a"]])
            clipped = np.clip(a - found["t"], 0, found["u"])
            np.testing.assert_allclose(clipped, x, atol=1e-13 * (1 + abs(a).max()))
            assert all(x[list(found["M"])] > 0)
            np.testing.assert_allclose(x[list(found["U"])], found["u"], rtol=1e-13)


def test_the_terms_of_average_precision_are_those_of_equation_5_and_their_sum_is_the_loss():
    rng = np.random.default_rng(3613)
    for _ in range(40):
        P, N = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        scores = rng.integers(-8, 9, P + N) / 4
        y = rng.permutation([1] * P + [0] * N)
        found = refsolve.internals("average_precision.value", scores=scores, y=y)
        s, t = (scores[list(found[n])] for n in ("positives", "negatives"))
        assert all(np.diff(s) <= 0)
        assert all(np.diff(t) <= 0)
        for j in range(1, N + 1):
            delta = [
                sum((j / (j + k) - (j - 1) / (j + k - 1)) / P - 2 * (s[k - 1] - t[j - 1]) / (P * N)
                    for k in range(i, P + 1))
                for i in range(1, P + 2)
            ]  # fmt: skip
            np.testing.assert_allclose(found["delta"][j - 1], delta, atol=1e-13)
            best = found["delta"][j - 1].max()
            assert found["delta"][j - 1, found["opt"][j - 1] - 1] == best
            assert not (found["delta"][j - 1, found["opt"][j - 1] :] == best).any()
        assert found["value"] == pytest.approx(found["delta"].max(axis=1).sum(), abs=1e-13)
        assert found["value"] == pytest.approx(found["Delta"] + found["Psi"] @ scores, abs=1e-13)
        # the ranks that fast finds, and its value
        inference = fast.losses.average_precision.loss_augmented_inference(scores, y)
        np.testing.assert_allclose(inference.coefficients, found["Psi"], atol=1e-13)
        assert inference.value == pytest.approx(found["value"], abs=1e-12)


def test_psi_k_is_the_k_th_largest_of_all_margin_violations():
    rng = np.random.default_rng(3614)
    for _ in range(60):
        m = int(rng.integers(2, 7))
        f, y, k = rng.integers(-4, 5, m) / 2, int(rng.integers(m)), int(rng.integers(1, m))
        found = refsolve.internals("topk_hinge_alpha.value", scores=f, y=y, k=k)
        z = found["a"] + found["c"]
        np.testing.assert_array_equal(z, f - f[y] + (np.arange(m) != y))
        assert found["psi_k"] == max(0.0, np.sort(z)[::-1][k - 1])
        assert list(z[list(found["order"])]) == sorted(z, reverse=True)
        assert found["psi_k"] <= fast.losses.topk_hinge_alpha.value(f, y, k=k)
    own = refsolve.internals("softmax.value", scores=[0.0, 2.0], y=0)
    assert (list(own["c"]), own["psi_k"]) == ([0.0, 0.0], 2.0)


@pytest.mark.parametrize(
    ("problem", "given", "message"),
    [
        ("simplex.project", {"a": [1.0]}, "simplex.projection"),
        ("simplex.projection", {}, "a is missing"),
        ("simplex.projection", {"a": [1.0], "k": 2}, "k = 2: expected one of: r"),
        ("box.projection", {"a": [1.0], "rho": 1.0}, "no rho: this set has none"),
        ("softmax.prox", {"v": [1.0]}, "problem = 'softmax.prox'"),
        ("ova_hinge.value", {"scores": [1.0, 2.0], "y": 0}, "problem = 'ova_hinge.value'"),
        ("softmax.value", {"scores": [1.0, 2.0], "y": 0, "k": 1}, "k = 1"),
        ("average_precision.value", {"scores": [1.0, 2.0], "y": [0, 1], "k": 1}, "k = 1"),
        ("average_precision.value", {"scores": [1.0, 2.0]}, "y is missing"),
    ],
)
def test_what_has_no_internals_and_bad_arguments_are_named(problem, given, message):
    with pytest.raises((InvalidParameterError, UnknownProblemError), match=re.escape(message)):
        refsolve.internals(problem, **given)


def test_nothing_that_is_given_is_changed():
    a = np.array([0.9, 0.4, -0.2])
    refsolve.internals("topk_simplex_alpha.projection", a=a, k=2)
    np.testing.assert_array_equal(a, [0.9, 0.4, -0.2])
