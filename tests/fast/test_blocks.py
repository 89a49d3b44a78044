"""Models on rows that are read in blocks: the same problem, certified, with no bit left to threads."""

import errno
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import Cut, objectives
from sklearn.base import clone

from fast import TopKLogisticRegression, TopKSVC, datasets
from fast._threads import ordered_map
from fast.data import examine, rows
from fast.data.constant import with_ones
from fast.errors import InvalidParameterError
from fast.families import named
from fast.solvers import checkpoint, passes
from fast.solvers.curvature_pairs import MEMORY
from fast.solvers.passes import in_pairs
from fast.solvers.quasi_newton import QuasiNewtonSolver

N, M, D = 1500, 24, 110


class Held(Cut):
    """Of which a block is a view."""

    def read(self, rows):
        return self.X[rows]


@pytest.fixture(scope="module")
def features():
    X, y = datasets.make_deep_features(N, M, D, random_state=0)
    return X.astype(np.float32), y


@pytest.fixture(params=["npy", "half", "parquet", "cut"])
def source(request, features, tmp_path):
    X, y = features
    if request.param == "cut":
        return Cut(X, (7, 7, 8, 900)), X
    if request.param == "parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        table = pa.table({f"x{j}": X[:, j] for j in range(D)} | {"y": y})
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=400)
        return rows(tmp_path / "x.parquet", label="y"), X
    X = X.astype(np.float16 if request.param == "half" else np.float32)
    np.save(tmp_path / "x.npy", X)
    return rows(tmp_path / "x.npy"), X.astype(np.float32)


LOSSES = {
    "softmax": (TopKLogisticRegression(C=3.0), named("softmax")),
    "top-3": (TopKLogisticRegression(C=3.0, k=3), named("topk_entropy_alpha", k=3)),
    "smooth": (TopKSVC(C=3.0, gamma=1.0), named("smooth_topk_hinge_alpha", k=1, gamma=1.0)),
}


@pytest.mark.parametrize("case", LOSSES)
def test_a_memory_map_keeps_no_dual_of_all_rows(case, features, tmp_path):
    """n x m numbers would be more than the features, which stay on disk; the weights are the array's."""
    X, y = features
    np.save(tmp_path / "x.npy", X)
    model = clone(LOSSES[case][0]).set_params(solver="lbfgs")
    mapped = clone(model).fit(np.load(tmp_path / "x.npy", mmap_mode="r"), y)
    assert not hasattr(mapped, "dual_coef_")
    np.testing.assert_array_equal(mapped.coef_, model.fit(X, y).coef_)
    assert model.dual_coef_.shape == (len(y), len(model.classes_))
    assert max(mapped.dual_gap_, model.dual_gap_) <= model.tol


@pytest.mark.parametrize("case", LOSSES)
def test_what_is_claimed_of_a_model_on_blocks_is_true(case, source, features):
    (blocks, X), (_, y) = source, features
    model, loss = LOSSES[case]
    model.set_params(tol=1e-5, random_state=0)
    model.fit(blocks, None if blocks.labels is not None else y)
    assert not hasattr(model, "dual_coef_")
    W, ones = model.coef_, np.full(N, 3.0)
    p = loss.gradient(X.astype(float) @ W.T, y) * 3.0
    A = -p
    A[np.arange(N), y] = 0.0
    primal, dual = objectives(loss, X.astype(float), y, ones, W, np.maximum(-A, 0.0))
    scale = 1e-9 * primal
    assert primal <= model.primal_objective_ <= primal + scale
    assert dual + scale >= model.dual_objective_
    assert model.dual_gap_ <= 1e-5
    whole = model.fit(X, y)
    assert whole.dual_objective_ <= primal
    assert dual <= whole.primal_objective_ * (1.0 + 1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_number_of_threads_changes_no_bit(features, intercept, monkeypatch):
    monkeypatch.setattr(passes, "AT_ONCE", 100 * M)
    monkeypatch.setattr(passes, "LEAST", 100)
    X, y = features
    found = []
    for n_jobs in (1, 2, 3):
        model = TopKLogisticRegression(C=3.0, fit_intercept=intercept, n_jobs=n_jobs)
        found.append(model.set_params(random_state=0).fit(Cut(X, (7, 7, 8, 900)), y))
    first = found[0]
    for other in found[1:]:
        np.testing.assert_array_equal(first.coef_, other.coef_)
        np.testing.assert_array_equal(first.intercept_, other.intercept_)
        assert first.dual_gap_ == other.dual_gap_
        assert first.n_iter_ == other.n_iter_
    assert first.intercept_.any() == intercept


def test_predictions_by_blocks_are_those_of_an_array(source, features):
    (blocks, X), (_, y) = source, features
    model = TopKLogisticRegression(C=3.0).fit(X, y)
    for name in ("predict", "predict_topk", "decision_function", "predict_proba"):
        f = getattr(model, name)
        np.testing.assert_allclose(f(blocks), f(X), rtol=1e-5, atol=1e-6)
    assert model.score(blocks, y) == model.score(X, y)


def test_dask_arrays_are_predicted_by_chunks_and_share_what_passes_found(features):
    da = pytest.importorskip("dask.array")
    (X, y), most = features, []
    chunks = da.from_array(X, chunks=(400, D)).map_blocks(
        lambda block: most.append(len(block)) or block, dtype=X.dtype, meta=X[:0]
    )
    model = TopKLogisticRegression(fit_intercept=True, tol=1e-2, random_state=0)
    blocks = rows(chunks)
    model.fit(blocks, y)
    one, again = with_ones(blocks), with_ones(blocks)
    assert one.path_cache is again.path_cache is blocks.path_cache["with ones"]
    assert len(one.path_cache) > 1
    np.testing.assert_array_equal(model.predict(chunks), model.predict(X))
    assert max(most) == 400
    for nobody in (X[:0], blocks.array[:0], Cut(X[:0])):
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(nobody)


def test_sparse_groups_get_a_column_of_ones():
    X = sp.random_array((9, 4), density=0.5, format="csr", random_state=0)
    np.testing.assert_array_equal(
        with_ones(Cut(X, (5,)))[:].toarray(), np.c_[X.toarray(), np.ones(9)]
    )


def test_a_run_that_is_stopped_keeps_what_is_certified(features):
    X, y = features
    with pytest.warns(Warning, match="stopped after 3 iterations"):
        model = TopKLogisticRegression(C=100.0, tol=1e-8, max_iter=3).fit(Cut(X, (500,)), y)
    assert model.dual_gap_ > 1e-8
    primal = 0.5 * (model.coef_**2).sum()
    primal += 100.0 * named("softmax").value(X @ model.coef_.T, y).sum()
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-6)


def test_groups_may_be_sparse(features):
    X, y = features
    X = np.where(abs(X) > 0.05, X, 0.0)
    found = TopKLogisticRegression(tol=1e-6, random_state=0).fit(Cut(sp.csr_array(X), (7, 900)), y)
    dense = TopKLogisticRegression(tol=1e-6, random_state=0).fit(X, y)
    assert found.dual_gap_ <= 1e-6
    assert max(found.dual_objective_, dense.dual_objective_) <= min(
        found.primal_objective_, dense.primal_objective_
    )


def test_a_fit_holds_six_pairs_and_few_arrays_of_the_size_of_the_weights(
    monkeypatch,
):
    monkeypatch.setattr(passes, "AT_ONCE", 1 << 16)
    monkeypatch.setattr(passes, "LEAST", 1)
    X, y = datasets.make_deep_features(1500, 500, 512, random_state=0)
    X = X.astype(np.float32)
    blocks = Held(X, (300, 700))
    model = TopKLogisticRegression(C=100.0, random_state=0).fit(blocks, y)  # kernels are compiled
    tracemalloc.start()
    try:
        model.fit(Held(X, (300, 700)), y)
        peak = tracemalloc.get_traced_memory()[1] / model.coef_.nbytes
    finally:
        tracemalloc.stop()
    assert model.n_iter_ > MEMORY + 1
    assert peak <= 22.0  # 37 with ten pairs in float64


def test_no_more_is_read_than_a_fit_needs(features, monkeypatch):
    X, y = features
    blocks, reads, one = Cut(X, (7, 900)), [], Cut.read
    monkeypatch.setattr(Cut, "read", lambda *given: reads.append(given[1]) or one(*given))
    model = TopKLogisticRegression(random_state=0).fit(blocks, y)
    # examined, sample, eigenbasis, class sums (the first step), the other steps, the certificate
    assert len(reads) / len(blocks.groups) <= model.n_iter_ + 4


def test_what_cannot_be_trained_on_is_refused(features):
    X, y = features
    bad = X.copy()
    bad[1234, 56] = np.nan
    blocks = Cut(X, (500,))
    with pytest.raises(InvalidParameterError, match="row 1234, column 56: nan"):
        TopKLogisticRegression().fit(Cut(bad, (500,)), y)
    with pytest.raises(InvalidParameterError, match="has no labels"):
        TopKLogisticRegression().fit(blocks)
    for path_cache in ({}, {"examined": examine(blocks)}):  # as after a fit
        blocks.path_cache.update(path_cache)
        with pytest.raises(InvalidParameterError, match="class numbers"):
            TopKLogisticRegression().fit(blocks, y[1:])
    with pytest.raises(InvalidParameterError, match="1 masked entry"):
        TopKLogisticRegression().fit(blocks, np.ma.masked_array(y, np.arange(N) == 3))
    with pytest.raises(InvalidParameterError, match="'linear'"):
        TopKLogisticRegression(kernel="rbf").fit(blocks, y)
    with pytest.raises(InvalidParameterError, match="truncated"):
        TopKLogisticRegression(k=2, truncated=True).fit(blocks, y)
    with pytest.raises(InvalidParameterError, match=r"'newton' for .* on rows in blocks"):
        TopKLogisticRegression(solver="newton").fit(blocks, y)


@pytest.mark.parametrize("parts", range(1, 12))
def test_sums_in_pairs_are_a_tree_that_depends_on_their_number(parts):
    rng = np.random.default_rng(parts)
    given = [rng.standard_normal(3) for _ in range(parts)]

    def tree(some):
        if len(some) == 1:
            return some[0]
        left = 1 << ((len(some) - 1).bit_length() - 1)
        return tree(some[:left]) + tree(some[left:])

    expected = tree(given)
    (found,) = in_pairs([part.copy()] for part in given)
    np.testing.assert_array_equal(found, expected)
    assert list(ordered_map(len, [[1], [], [1, 2]], 2)) == [1, 0, 2]


class Stop(Exception):
    """As if the machine were switched off."""


def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits(features, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)  # written after every step
    X, y = features
    blocks, file = Cut(X, (7, 900)), tmp_path / "run.npz"
    model = TopKLogisticRegression(C=100.0, tol=1e-9, random_state=0)
    whole = model.fit(blocks, y)
    W, history = whole.coef_, whole.history_
    steps = iter(range(9))
    one = QuasiNewtonSolver._search
    lost = "the machine is off"

    def search(*given):
        if next(steps, None) is None:
            raise Stop(lost)
        return one(*given)

    monkeypatch.setattr(QuasiNewtonSolver, "_search", search)
    with pytest.raises(Stop):
        model.fit(blocks, y, checkpoint=file)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.npz"]
    passes = []
    at = QuasiNewtonSolver._at
    monkeypatch.setattr(QuasiNewtonSolver, "_search", one)
    monkeypatch.setattr(QuasiNewtonSolver, "_at", lambda *g: passes.append(1) or at(*g))
    resumed = model.fit(blocks, y, checkpoint=file)
    np.testing.assert_array_equal(resumed.coef_, W)
    assert resumed.dual_gap_ == history["gap"][-1]
    np.testing.assert_array_equal(resumed.history_["primal"], history["primal"])
    assert len(passes) < resumed.n_iter_ - 5


def test_a_checkpoint_of_something_else_is_refused(features, tmp_path, monkeypatch):
    X, y = features
    blocks, file = Cut(X, (500,)), tmp_path / "run.npz"
    model = TopKLogisticRegression(tol=1e-2, random_state=0).fit(blocks, y, checkpoint=file)
    held = file.read_bytes()
    with pytest.raises(InvalidParameterError, match="of other data, labels"):
        model.set_params(C=2.0).fit(blocks, y, checkpoint=file)
    other = X.copy()
    other[-1] = other[0]
    for same_but_one_row in (Cut(other, (500,)), other):
        with pytest.raises(InvalidParameterError, match="of other data"):
            model.set_params(C=1.0, solver="lbfgs").fit(same_but_one_row, y, checkpoint=file)
    with pytest.raises(InvalidParameterError, match="folder is not there"):
        model.fit(blocks, y, checkpoint=tmp_path / "none" / "run.npz")
    file.write_bytes(held[:-100])
    with pytest.raises(InvalidParameterError, match="no checkpoint"):
        model.set_params(C=1.0).fit(blocks, y, checkpoint=file)
    with pytest.raises(InvalidParameterError, match="solver 'lbfgs'"):
        TopKSVC().fit(X, y, checkpoint=file)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file.write_bytes(held)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(
        InvalidParameterError, match=r"No space left on device.*last state is whole"
    ):
        model.set_params(tol=1e-6).fit(blocks, y, checkpoint=file)
    assert file.read_bytes() == held
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.npz"]
