"""Linear probes: certified models along C, what they are chosen on, protocols, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import fast
from fast import TopKLogisticRegression
from fast.data import rows
from fast.errors import InvalidParameterError
from fast.families import named
from fast.metrics import topk_accuracy
from fast.path import AT_ONCE, accuracies, fits
from fast.probing import LOSSES, PRESETS, probe
from fast.solvers import initial_hessian

X, Y = fast.datasets.make_deep_features(900, 6, 8, random_state=0)
NAMES = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])[Y]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_model_is_certified_and_the_best_is_chosen_by_its_guesses(loss):
    found = probe(X[:600], NAMES[:600], (X[600:], NAMES[600:]), [10.0, 0.1, 1.0], loss=loss, k=2)
    assert found.certified
    assert found.complete
    np.testing.assert_array_equal(found.Cs, [0.1, 1.0, 10.0])
    assert found.ks == (1, 2, 5)
    for j, model in enumerate(found.models):
        alone = type(model)(**model.get_params()).fit(X[:600], NAMES[:600])
        assert model.dual_objective_ <= alone.primal_objective_ * (1 + 1e-12)
        assert alone.dual_objective_ <= model.primal_objective_ * (1 + 1e-12)
        scores = model.decision_function(X[600:])
        for shares, k in zip(found.accuracies, found.ks, strict=True):
            exact = topk_accuracy(NAMES[600:], scores, k, classes=model.classes_)
            assert shares[j] == pytest.approx(exact, abs=1e-12)
    assert found.best is found.models[int(np.argmax(found.accuracies[1]))]
    assert found.models[0].k == (1 if loss == "softmax" else 2)


def test_without_validation_a_tenth_of_each_class_is_held_out_and_given_back():
    seen = []
    found = probe(X, NAMES, Cs=[0.1, 1.0], report=lambda C, state: seen.append((C, state.gap)))
    again = probe(X, NAMES, Cs=[0.1, 1.0])
    np.testing.assert_array_equal(found.accuracies, again.accuracies)
    assert found.judged_on == "rows that were held out"
    assert {C for C, _ in seen} == {0.1, 1.0}
    whole = fast.TopKLogisticRegression(C=found.best.C).fit(X, NAMES)
    assert found.best.dual_objective_ <= whole.primal_objective_ * (1 + 1e-12)
    assert whole.dual_objective_ <= found.best.primal_objective_ * (1 + 1e-12)
    assert found.models[0].primal_objective_ < 0.95 * whole.C * 900 * np.log(6)


def test_protocols():
    assert {name: len(preset.Cs) for name, preset in PRESETS.items()} == {
        "clip": 97, "dinov2": 45, "mteb": 1,
    }  # fmt: skip
    found = probe(rows(X), Y, preset="mteb")
    assert len(found.models) == 10
    assert set(found.Cs) == {1.0}
    assert len(np.unique(found.accuracies[0])) > 1
    few = probe(sp.csr_array(X), Y, preset="mteb", Cs=[2.0])
    np.testing.assert_allclose(few.Cs, 2.0)
    with pytest.raises(InvalidParameterError, match=r"^preset: .*clip.*dinov2.*mteb"):
        probe(X, Y, preset="vtab")


def test_a_path_reads_files_once_for_what_all_its_fits_need(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    source, seen = rows(tmp_path / "x.npy"), []
    read = type(source).read
    monkeypatch.setattr(type(source), "read", lambda s, at: seen.append(at) or read(s, at))
    model = fast.TopKLogisticRegression(C=1.0, fit_intercept=True, random_state=0)
    alone = clone(model).fit(source, Y)
    first = len(seen)
    again = clone(model).fit(source, Y)
    assert len(seen) - first <= first - 3  # examined with their scales, decomposed, sampled
    np.testing.assert_array_equal(alone.coef_, again.coef_)
    found = probe(source, NAMES, (X, NAMES), [0.1, 1.0, 10.0])
    assert found.certified
    inside = probe(X, NAMES, (X, NAMES), [0.1, 1.0, 10.0])
    np.testing.assert_allclose(found.accuracies, inside.accuracies, atol=0.01)


def test_accuracy_goes_by_blocks(monkeypatch):
    model = fast.TopKLogisticRegression().fit(X, Y)
    whole, some = accuracies([model], X, Y, [1, 3]), np.arange(900) % 3 == 1
    part = accuracies([model], X[some], Y[some], [1, 3])
    assert len(Y) * 6 < AT_ONCE
    monkeypatch.setattr(fast.path, "AT_ONCE", 6 * 128)
    for given in (X, rows(X), sp.csr_array(X), rows(sp.csr_array(X))):
        np.testing.assert_allclose(accuracies([model], given, Y, [1, 3]), whole, atol=1e-12)
        np.testing.assert_allclose(accuracies([model], given, Y, [1, 3], some), part, atol=1e-12)


def test_a_report_ends_a_probe_with_what_there_is():
    found = probe(X, Y, Cs=[0.1, 1.0, 10.0], report=lambda C, state: C == 1.0)
    assert not found.complete
    np.testing.assert_array_equal(found.Cs, [0.1, 1.0])
    assert found.best in found.models


def test_a_report_hears_of_every_pass():
    F, labels = fast.datasets.make_deep_features(1500, 20, 100, random_state=0)
    heard = []

    def report(C, state):
        heard.append((C, state.passes, state.estimate, state.n_iter))

    found = probe(F, labels, (F, labels), Cs=[1.0, 100.0], report=report)
    passes = [at for C, at, _, _ in heard if C == 100.0]
    assert sorted({*passes}) == list(range(1, max(passes) + 1))
    assert max(passes) <= found.passes[1]
    assert all(0.0 <= estimate < np.inf for _, _, estimate, _ in heard)
    assert {n for C, _, _, n in heard if C == 100.0} == {0, found.passes[1]}


@pytest.mark.filterwarnings("ignore:.* stopped after 1 iter")
def test_a_report_that_ends_the_last_fit_or_a_draw_is_heard():
    ended = probe(X, Y, Cs=[0.1, 1.0], report=lambda C, state: C == 1.0, tol=1e-9)
    assert not ended.complete
    assert len(probe(X, Y, preset="mteb", report=lambda C, state: True).models) == 1


def test_ctrl_c_outside_of_fits_and_in_the_last_one_keeps_what_there_is(monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    calls = []

    def last(*given, watch, **options):
        calls.append(options)
        return fits(*given, watch=interrupt if len(calls) == 2 else watch, **options)

    monkeypatch.setattr(fast.probing, "fits", last)
    with pytest.warns(UserWarning, match="was interrupted"):
        ended = probe(X, Y, Cs=[1.0], tol=1e-9, folder=tmp_path / "kept")
    assert not ended.complete
    assert ended.best is ended.models[0]
    count = iter(range(3))
    monkeypatch.setattr(
        fast.probing, "accuracies", lambda *g: accuracies(*g) if next(count) < 1 else interrupt()
    )
    ended = probe(X, Y, Cs=[0.1, 1.0])
    assert not ended.complete
    np.testing.assert_array_equal(ended.Cs, [0.1])
    with pytest.raises(KeyboardInterrupt):
        probe(X, Y, Cs=[0.1, 1.0])


@pytest.mark.parametrize("kind", ["array", "file", "csr"])
def test_models_of_other_data_of_equal_shape_are_refused(kind, tmp_path):
    other = X.copy()
    other[800] *= 2.0  # far from the first rows
    both = [X, other] if kind != "csr" else [sp.csr_array(X), sp.csr_array(other)]
    if kind == "file":
        for i, given in enumerate(both):
            np.save(tmp_path / f"{i}.npy", given)
        both = [rows(tmp_path / f"{i}.npy") for i in range(2)]
    folder = tmp_path / "kept"
    first = probe(both[0], Y, Cs=[0.1], folder=folder)
    again = probe(both[0], Y, Cs=[0.1], folder=folder, report=lambda *_: pytest.fail("trained"))
    np.testing.assert_array_equal(first.best.coef_, again.best.coef_)
    with pytest.raises(InvalidParameterError, match="of other data") as caught:
        probe(both[1], Y, Cs=[0.1], folder=folder)
    assert caught.value.argument == "folder"


def test_models_that_are_found_have_names_classes_and_nothing_of_another_C(tmp_path):
    pd = pytest.importorskip("pandas")
    frame, labels = pd.DataFrame(X).add_prefix("x"), NAMES.astype(object)
    for _ in range(2):
        found = probe(frame, labels, Cs=[0.1], folder=tmp_path / "kept").best
        assert found.feature_names_in_[0] == "x0"
        assert found.classes_.tolist() == sorted({*NAMES})
    model, folder = fast.TopKLogisticRegression(), tmp_path / "fits"
    assert all(hasattr(m, "dual_coef_") for m, _ in fits(model, X, Y, [0.1], folder=folder))
    (_, held) = (m for m, _ in fits(model, X, Y, [0.01, 0.1], folder=folder))
    assert not hasattr(held, "dual_coef_")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidParameterError, match=r"^folder: .*file"):
        probe(X, Y, Cs=[0.1], folder=tmp_path / "file")


def test_labels_of_validation_data_may_come_with_a_source():
    judged = rows(X[600:])
    with pytest.raises(InvalidParameterError, match=r"^validation: .*without labels"):
        probe(X, Y, (judged, None), [0.1])
    judged.labels = Y[600:]
    found = probe(X, Y, (judged, None), [0.1])
    assert found.accuracies[0] == accuracies([found.best], X[600:], Y[600:], [1])[0]
    seen = fast.TopKLogisticRegression().fit(X, Y, eval_set=[(judged, None), (X[600:], Y[600:])])
    values = seen.evals_result_
    np.testing.assert_array_equal(values["eval_0"]["loss"], values["eval_1"]["loss"])


@pytest.mark.parametrize("loss", ["softmax", "hinge"])
def test_a_path_that_was_ended_goes_on_and_smooth_ones_to_the_same_bits(loss, tmp_path):
    np.save(tmp_path / "x.npy", X)
    source, Cs = rows(tmp_path / "x.npy"), [0.1, 1.0, 10.0]

    def interrupt(C, state):
        if C == 10.0 and state.passes != 1:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="was interrupted"):
        ended = probe(source, NAMES, Cs=Cs, loss=loss, folder=tmp_path / "kept", report=interrupt)
    assert not ended.complete
    seen = []
    again = probe(
        source,
        NAMES,
        Cs=Cs,
        loss=loss,
        folder=tmp_path / "kept",
        report=lambda C, _: seen.append(C),
    )
    assert again.complete
    assert set(seen) <= {10.0, again.best.C}
    whole = probe(source, NAMES, Cs=Cs, loss=loss, folder=tmp_path / "anew")
    for one, other in zip([*again.models, again.best], [*whole.models, whole.best], strict=True):
        assert one.dual_gap_ <= 1e-3
        if loss == "softmax":
            np.testing.assert_array_equal(one.coef_, other.coef_)
            assert one.dual_gap_ == other.dual_gap_
    with pytest.raises(InvalidParameterError, match="of other data"):
        probe(source, NAMES[::-1], Cs=Cs, loss=loss, folder=tmp_path / "kept")


def test_ctrl_c_ends_a_probe_with_what_there_is():
    def interrupt(C, state):
        if C == 1.0:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="was interrupted"):
        found = probe(X, Y, Cs=[0.1, 1.0, 10.0], report=interrupt, tol=1e-9)
    assert not found.complete
    assert not found.certified
    np.testing.assert_array_equal(found.Cs, [0.1, 1.0])


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("loss", {"loss": "softmin"}),
        ("Cs", {"Cs": [1.0, -1.0]}),
        ("Cs", {"Cs": []}),
        ("y", {"y": None}),
        ("k", {"k": 6}),
        ("validation", {"validation": (X[:, :3], Y)}),
        ("validation", {"validation": (X, Y[:5])}),
        ("validation", {"validation": (X, Y + 1)}),
        ("validation", {"y": np.arange(900)}),
    ],
)
def test_what_cannot_be_probed_is_refused_before_training(argument, given):
    with pytest.raises(InvalidParameterError) as caught:
        probe(X, **{"y": Y, **given}, report=lambda C, state: pytest.fail("trained"))
    assert caught.value.argument == argument


@pytest.mark.parametrize("C", [0.1, 30.0])
def test_fits_of_a_path_share_what_they_found_and_keep_the_dual_only_if_asked(C, monkeypatch):
    X, y = fast.datasets.make_deep_features(1500, 24, 110, random_state=0)
    model, grams, one = TopKLogisticRegression(tol=1e-3, random_state=0), [], initial_hessian.gram
    monkeypatch.setattr(initial_hessian, "gram", lambda *given: grams.append(1) or one(*given))
    for dual in (True, False):
        grams.clear()
        found = [m for m, _ in fits(model, X, y, [C, 2.0 * C, 4.0 * C], dual=dual)]
        assert len(grams) == 1
        for fitted in found:
            assert fitted.solver_ == "lbfgs"
            assert fitted.dual_gap_ <= 1e-3
            assert hasattr(fitted, "dual_coef_") == dual
            P = 0.5 * (fitted.coef_**2).sum()
            P += fitted.C * named("softmax").value(X @ fitted.coef_.T, y).sum()
            assert P <= fitted.primal_objective_ <= P * (1.0 + 1e-9)
