"""Training by passes at scale: the benchmark, its simulated cluster, and what the page's record promises."""

from pathlib import Path

import numpy as np
import pytest

from verification.benchmarks import scale
from verification.benchmarks.scale import Cluster, Size, simulated

RECORD = Path(__file__).parents[2] / "docs" / "records" / "scale.jsonl"
EVEN = [1.0]


def test_a_fit_in_a_process_of_its_own() -> None:
    run = scale.measure(Size(3000, 20, 30), 1)
    assert run.size.n == 3000
    assert run.gap <= scale.TOL
    assert 0 < run.passes < 60
    assert run.seconds > run.pass_seconds > 0.0
    assert 0.0 < run.share < 1.0
    assert 50.0 < run.megabytes < 2000.0
    assert run.forecast > 0.0
    assert np.mean(run.blocks) == pytest.approx(1.0, abs=0.5)


def test_a_file_is_what_the_generator_would_give(tmp_path: Path) -> None:
    scale.make_file(Size(20_000, 8, 5), tmp_path)
    X, y = np.load(tmp_path / "x.npy"), np.load(tmp_path / "y.npy")
    assert X.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(X.astype(float), axis=1), 1.0, atol=2e-3)
    assert np.ptp(np.bincount(y)) <= 1
    means = np.array([X[y == j].astype(float).mean(axis=0) for j in range(5)])
    other = np.array([X[-2000:][y[-2000:] == j].astype(float).mean(axis=0) for j in range(5)])
    assert abs(means - other).max() < 0.1 < abs(means).max()  # blocks have the same classes


def test_a_simulated_pass_takes_what_work_messages_and_losses_take() -> None:
    size = Size(2**20, 1000, 2**10)  # four tasks
    message = 1.0 + 8e6 * 1.024
    quiet = Cluster(2, bandwidth=1.0, latency=1.0, slow=0.0, failures=0.0)
    assert simulated(size, quiet, 100.0, EVEN) == pytest.approx(50.0 + 2 * message)
    fast = Cluster(4, bandwidth=np.inf, latency=0.0, slow=0.0, failures=0.0)
    assert simulated(size, fast, 100.0, EVEN) == pytest.approx(25.0)
    assert simulated(size, Cluster(4, np.inf, 0.0, 1.0, 0.0), 100.0, EVEN) == pytest.approx(50.0)
    # everybody fails once, at a time of its own, and comes back a minute later
    often = simulated(size, Cluster(4, np.inf, 0.0, 0.0, np.inf), 100.0, EVEN)
    assert 25.0 + scale.RESTART < often < 2 * (25.0 + scale.RESTART)
    many = Size(10**9, 100, 1000)
    times = [simulated(many, Cluster(w), 1e5, [0.8, 1.0, 1.2]) for w in (1, 10, 100)]
    assert times == [simulated(many, Cluster(w), 1e5, [0.8, 1.0, 1.2]) for w in (1, 10, 100)]
    assert times[0] > 5 * times[1] > 25 * times[2]


def test_the_record_is_what_the_page_promises() -> None:
    runs, ahead = scale.read(RECORD)
    assert [run.size for run in runs] == list(scale.SIZES)
    assert [forecast.size for forecast in ahead] == list(scale.AHEAD)
    for run in runs:
        assert run.gap <= scale.TOL
        assert run.passes <= 20
        assert run.megabytes <= 1500.0
        assert 0.5 < run.pass_seconds / run.forecast < 2.0
    assert runs[-1].share >= 0.6
