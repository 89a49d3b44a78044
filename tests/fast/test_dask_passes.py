"""Fits on the workers of a cluster: the bits of a fit here, whatever happens to the workers."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

from fast import TopKLogisticRegression, datasets
from fast.data import groups_ahead, rows
from fast.errors import ClusterError, InvalidParameterError
from fast.solvers.quasi_newton import QuasiNewtonSolver

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
get_task_stream = distributed.get_task_stream
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of processes that are killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
N, M, D = 2000, 24, 110


@pytest.fixture(scope="module")
def data():
    X, y = datasets.make_deep_features(N, M, D, random_state=0)
    return da.from_array(X.astype(np.float32), chunks=((300, 0, 900, 1, 799), D)), y


@pytest.fixture
def model():
    return TopKLogisticRegression(C=30.0, tol=1e-4, fit_intercept=True, n_jobs=1, random_state=0)


def same(found, expected):
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    assert found.dual_gap_ == expected.dual_gap_


def test_lost_workers_and_a_lost_scheduler(data, model, tmp_path, monkeypatch):
    X, y = data
    here = clone(model).fit(X, y)  # no client: chunk by chunk in this process
    assert here.solver_ == "lbfgs"
    steps, one = [], QuasiNewtonSolver._search

    def search(*given):
        steps.append(1)
        if len(steps) in happen:
            happen[len(steps)]()
        return one(*given)

    monkeypatch.setattr(QuasiNewtonSolver, "_search", search)
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(n_workers=1, silence_logs=50, **options)
    with distributed.Client(cluster) as client:

        def kill():  # in the next pass; the nanny starts another worker, which comes late
            pid = min(client.run(os.getpid).values())
            threading.Timer(0.005, os.kill, (pid, signal.SIGKILL)).start()

        happen = {2: lambda: cluster.scale(2), 4: kill, 6: kill}
        found = model.fit(X, da.from_array(y, chunks=500))
        assert len(steps) > 6
        same(found, here)
        cluster.scale(4)
        client.wait_for_workers(4, timeout=60)
        steps.clear()
        with get_task_stream(client) as tasks:
            happen = {5: kill}  # one of four
            same(model.fit(X, y), here)
        summed = {t["worker"] for t in tasks.data if "sums_of_chunk" in str(t["key"])}
        assert len(summed) >= 4
        bad = X.map_blocks(lambda b: np.where(np.arange(len(b))[:, None] == 200, np.nan, b))
        with pytest.raises(InvalidParameterError, match="from row 0 on, row 200, column 0: nan"):
            model.fit(bad, y)
        file, begun = tmp_path / "run.npz", []
        steps.clear()
        closing = threading.Timer(0.005, cluster.close)
        happen = {5: lambda: (begun.append(time.monotonic()), closing.start())}
        with pytest.raises(ClusterError, match="goes on from the last step"):
            model.fit(X, y, checkpoint=file)
        assert time.monotonic() - begun[0] < 30.0
    happen = {}
    same(model.fit(X, y, checkpoint=file), here)


def test_without_a_client_the_scheduler_in_use_computes_the_chunks(data, model):
    X, y = data
    assert rows(X).client is None
    model.set_params(tol=1e-2)
    np.testing.assert_array_equal(
        model.fit(X, y).predict(rows(X)), model.predict(np.asarray(X.compute()))
    )


def test_rows_are_read_on_the_workers_of_the_client(data):
    def worked(block):
        distributed.get_worker()  # raises elsewhere
        return block

    X, _ = data
    source = rows(X.map_blocks(worked, dtype=X.dtype, meta=np.empty((0, D), X.dtype)))
    with (
        distributed.Client(
            processes=False, n_workers=1, dashboard_address=":0", set_as_default=False
        ) as client,
        client.as_current(),
        dask.config.set(scheduler="synchronous"),
    ):
        assert source.client is client
        found = [part for _, part in groups_ahead(source)]
    np.testing.assert_array_equal(np.concatenate(found), X.compute())
