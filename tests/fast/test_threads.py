"""Threads: results in order, errors, interrupts, forks, joblib, and the limit of BLAS."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import fast
from fast import _rows, losses, sets
from fast._threads import all_true, at_most, one_blas_thread, ordered_map, resolve
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.families import named

rng = np.random.default_rng(3)
SCORES = 3.0 * rng.normal(size=(61, 9))
WEIGHTS = rng.uniform(size=61)


def test_what_n_jobs_means() -> None:
    assert [resolve(None), resolve(1), resolve(np.int64(3))] == [1, 1, 3]
    assert resolve(-1) == joblib.cpu_count()
    assert resolve(-1000) == 1
    with joblib.parallel_config("threading", n_jobs=3):
        assert resolve(None) == 3
    for wrong in (True, 1.5, "2"):
        with pytest.raises(InvalidTypeError, match="n_jobs"):
            resolve(wrong)
    with pytest.raises(InvalidParameterError, match="n_jobs: 0"):
        resolve(0)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order_and_few_are_held(n_jobs: int) -> None:
    taken, running, most = [], [], [0]

    def items() -> Iterator[int]:
        for i in range(20):
            taken.append(i)
            yield i

    def work(i: int) -> int:
        running.append(i)
        most[0] = max(most[0], len(running))
        time.sleep(0.002 if i % 3 else 0.0)
        running.remove(i)
        return i * i

    for i, result in enumerate(ordered_map(work, items(), n_jobs)):
        assert result == i * i
        assert len(taken) <= i + 1 + (n_jobs if n_jobs > 1 else 0)
    assert i == 19
    assert most[0] <= n_jobs


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_error_in_order_is_raised_and_no_thread_is_left(n_jobs: int) -> None:
    def work(i: int) -> int:
        if i >= 4:
            time.sleep(0.01 if i == 4 else 0.0)
            raise ValueError(str(i))
        return i

    threads = threading.active_count()
    seen = []
    with pytest.raises(ValueError, match=r"^4$"):
        seen.extend(ordered_map(work, range(100), n_jobs))
    assert threading.active_count() == threads
    early = ordered_map(work, range(100), n_jobs)
    assert next(early) == 0
    early.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads


def test_the_callers_errstate_is_the_workers() -> None:
    one = np.ones(1)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(ordered_map(lambda i: one / 0.0, range(4), 2))


def test_work_that_fails_is_not_gone_on_with() -> None:
    threads, done = threading.active_count(), []

    def work(i: int) -> bool:
        done.append(i)
        time.sleep(0.002)
        if i == wrong and error is not None:
            raise error
        return i != wrong

    wrong, error = -1, None
    assert all_true(work, range(20), 3)
    assert sorted(done) == list(range(20))
    wrong = 3
    for error in (None, ValueError("3"), KeyboardInterrupt()):
        done.clear()
        if error is None:
            assert not all_true(work, range(1000), 3)
        else:
            with pytest.raises(type(error)):
                all_true(work, range(1000), 3)
        assert len(done) < 20
        assert threading.active_count() == threads


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # Python 3.12
def test_a_child_of_fork_has_threads_of_its_own() -> None:
    work = ordered_map(lambda i: i, range(10), 2)
    with one_blas_thread():
        assert next(work) == 0  # the parent's pool is at work
        child = os.fork()
        if child == 0:
            with one_blas_thread(), fast.threads(2):
                sets.simplex.project(np.ones((1 << 10, 1 << 9)))  # work for two
                os._exit(sum(ordered_map(lambda i: i, range(10), 2)))
        deadline = time.monotonic() + 20.0
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
            time.sleep(0.005)
        if ended[0] == 0:
            os.kill(child, 9)
            os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended[1]) == 45
    assert sum(work) == 45


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_has_left() -> None:
    before = blas_threads()
    start = threading.Barrier(4)

    def inside(i: int) -> set[int]:
        start.wait()
        with one_blas_thread():
            time.sleep(0.002 * i)
            return blas_threads()

    with ThreadPoolExecutor(4) as pool:
        assert set.union(*pool.map(inside, range(4))) == {1}
    assert blas_threads() == before


# ---- batches --------------------------------------------------------------------------------------


def batches() -> dict[str, Callable[[np.ndarray], Any]]:
    """Every operation on rows, by name, as a function of the rows."""
    found: dict[str, Callable[[np.ndarray], Any]] = {"lambert": fast.functions.lambert_w_exp.value}
    own = {"k": 2, "y": rng.integers(0, 2, SCORES.shape), "r": WEIGHTS, "cap": WEIGHTS + 0.2}
    own |= {"b": SCORES, "low": -9.0, "high": np.full(9, 9.0), "capacity": 0.1 * WEIGHTS}
    own |= {"beta": np.linspace(1.0, 0.0, 9)}
    for object_name in (n for n in dir(sets) if hasattr(getattr(sets, n), "project")):
        project = getattr(sets, object_name).project
        names = project.__wrapped__ if hasattr(project, "__wrapped__") else project
        known = names.__code__.co_varnames[1 : names.__code__.co_argcount]
        given = {n: own[n] for n in known if n in own}
        found[f"{object_name} project"] = lambda a, p=project, g=given: p(a, **g)
    for object_name in set(dir(losses)) - {"average_precision", "ndcg"}:
        if not hasattr(getattr(losses, object_name), "value"):
            continue
        loss = named(object_name)
        y: Any = rng.integers(0, 9, 61)
        if loss.indicated:
            y = np.eye(9, dtype=int)[y]
        labels = {"y": y} if loss.indicated else {}
        for operation in loss.operations:
            arguments = {
                "value": {"y": y, "sample_weight": WEIGHTS},
                "gradient": {
                    "y": y,
                    "costs": np.where(np.eye(9)[y] if y.ndim == 1 else y, 0.0, 0.5),
                },
                "sdca_update": {"y": y, "k_ii": WEIGHTS, "sample_weight": WEIGHTS},
                "prox": {"t": 1.0 + WEIGHTS, **labels},
            }.get(operation, labels)
            method = getattr(loss, operation)
            found[f"{object_name} {operation}"] = lambda a, f=method, g=arguments: f(a, **g)
    return found


BATCHES = batches()


@pytest.mark.parametrize("name", sorted(BATCHES))
def test_a_batch_has_the_same_bits_for_any_number_of_threads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = BATCHES[name]
    monkeypatch.setattr(_rows, "CHUNK", 45)
    a = np.abs(SCORES) / 40.0 if "conjugate" in name else SCORES
    wrong = a.copy()
    wrong[50, 3] = np.nan
    for rows in (a, a.astype(np.float32), np.asfortranarray(a)):
        alone = run(rows)
        for n_jobs in (2, 5):
            with monkeypatch.context() as small, fast.threads(n_jobs):
                small.setattr(_rows, "TASK", 20)
                np.testing.assert_array_equal(run(rows), alone)
                with pytest.raises(InvalidParameterError, match=r"\[50, 3\] = nan|\[453\] = nan"):
                    run(wrong)


def test_small_batches_are_computed_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr(_rows, "all_true", lambda f, i, n: started.append(n) or all(map(f, i)))
    with fast.threads(4):
        sets.simplex.project(np.ones((_rows.TASK // 4, 7)))
        assert started == []
        sets.simplex.project(np.ones((_rows.TASK // 4, 8)))
        sets.simplex.project(np.ones((_rows.TASK // 4, 13)))
        assert [*ordered_map(lambda _: at_most(9), range(3), 2)] == [1, 1, 1]  # none in threads
        with fast.threads(1):
            assert at_most(9) == 1
        assert at_most(9) == 4
    assert started == [2, 3]
    assert at_most(9) == 1


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_batches_in_joblibs_workers_and_eight_threads(backend: str) -> None:
    a = rng.normal(size=(1 << 13, 1 << 7))
    expected = sets.simplex.project(a)

    def project(n_jobs: int) -> bool:
        import fast

        with fast.threads(n_jobs):
            return np.array_equal(fast.sets.simplex.project(a), expected)

    workers = 8 if backend == "threading" else 2
    found = joblib.Parallel(workers, backend=backend)(
        joblib.delayed(project)(n_jobs) for n_jobs in (2, -1, 3, 2, 2, 2, 2, 2)[:workers]
    )
    assert found == [True] * workers
