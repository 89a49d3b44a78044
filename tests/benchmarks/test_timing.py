"""Clocks and ratios; no test here asserts a time."""

import numba
from threadpoolctl import threadpool_info

from verification.benchmarks import projections
from verification.benchmarks.timing import median_ratio, one_thread, paired


def test_ratios_are_those_of_pairs_not_of_medians() -> None:
    assert median_ratio([1.0, 20.0, 3.0], [1.0, 10.0, 1.0]) == 2.0


def test_pairs_take_turns() -> None:
    calls: list[str] = []
    first, second = paired(lambda: calls.append("a"), lambda: calls.append("b"), 3)
    assert calls == ["a", "b"] * 3
    assert len(first) == len(second) == 3
    assert min(first + second) >= 0.0


def test_one_thread_limits_both_pools_and_gives_them_back() -> None:
    before = numba.get_num_threads()
    with one_thread():
        assert numba.get_num_threads() == 1
        assert {
            pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
        } <= {1}
    assert numba.get_num_threads() == before


def test_grid_has_every_set_size_and_k() -> None:
    cases = list(projections.grid())
    assert len(cases) == len(set(cases)) == 3 * 4 * 3 + 4
    assert {stem for stem, _, _ in cases} == set(projections.SETS)


def test_measure_reports_positive_figures_for_a_small_case() -> None:
    timing = projections.measure("simplex", 10, None, repeats=1, rows=50)
    assert min(timing.seconds, timing.sort_ratio, timing.oracle_ratio) > 0.0
