"""SVMPlusClassifier inside scikit-learn's tools: Z goes with its examples, routed or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from fast import SVMPlusClassifier
from fast.errors import InvalidParameterError, InvalidTypeError


def problem(seed=0, n=90, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, 4)) + 1.2 * np.eye(classes, 4)[y]
    Z = np.column_stack([X @ rng.standard_normal((4, 2)), y == X[:, :classes].argmax(axis=1)])
    weight = rng.uniform(0.5, 2.0, n)
    order = rng.permutation(n)
    return X[order], np.array(["a", "b", "c"])[y[order]], Z[order], weight[order]


X, y, Z, weight = problem()
MODEL = SVMPlusClassifier(C=2.0, free_slack=0.5)
CV = StratifiedKFold(3)
SPLITS = list(CV.split(X, y))


def by_hand(train, test, weighted=False, model=MODEL, given=Z):
    fitted = SVMPlusClassifier(**model.get_params())
    fitted.fit(X[train], y[train], given[train], sample_weight=weight[train] if weighted else None)
    return fitted.score(X[test], y[test])


HAND = [by_hand(*split) for split in SPLITS]
HAND_WEIGHTED = [by_hand(*split, weighted=True) for split in SPLITS]


def test_the_privileged_features_matter_here():
    assert [SVMPlusClassifier(C=2.0).fit(X[a], y[a]).score(X[b], y[b]) for a, b in SPLITS] != HAND
    assert HAND != HAND_WEIGHTED


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_without_routing(form):
    given = form(Z)
    splits = [by_hand(*split, given=given) for split in SPLITS]
    found = cross_val_score(MODEL, X, y, cv=CV, params={"Z": given})
    np.testing.assert_array_equal(found, splits)
    params = {"Z": given, "sample_weight": weight}
    found = cross_val_score(MODEL, X, y, cv=CV, params=params)
    hand = [by_hand(*split, weighted=True, given=given) for split in SPLITS]
    np.testing.assert_array_equal(found, hand)
    search = GridSearchCV(MODEL, {"C": [0.01, 2.0], "lam": [1.0]}, cv=CV).fit(X, y, Z=given)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(splits), rel=1e-12)
    assert search.best_estimator_.n_privileged_features_in_ == 3
    if form is np.asarray:
        np.testing.assert_array_equal(splits, HAND)


def test_with_routing():
    with config_context(enable_metadata_routing=True):
        model = SVMPlusClassifier(**MODEL.get_params())
        model.set_fit_request(Z=True, sample_weight=True).set_score_request(sample_weight=False)
        params = {"Z": Z, "sample_weight": weight}
        found = cross_val_score(model, X, y, cv=CV, params=params)
        np.testing.assert_array_equal(found, HAND_WEIGHTED)
        search = GridSearchCV(model, {"C": [0.01, 2.0]}, cv=CV).fit(X, y, **params)
        mean = pytest.approx(np.mean(HAND_WEIGHTED), rel=1e-12)
        assert search.cv_results_["mean_test_score"][1] == mean
        only_z = SVMPlusClassifier(**MODEL.get_params()).set_fit_request(Z=True)
        found = cross_val_score(only_z, X, y, cv=CV, params={"Z": Z})
        np.testing.assert_array_equal(found, HAND)
        with pytest.raises(UnsetMetadataPassedError, match="Z"):
            cross_val_score(SVMPlusClassifier(), X, y, params={"Z": Z}, cv=CV)


@pytest.mark.parametrize("routed", [True, False])
def test_pipelines(routed):
    scaled = StandardScaler().fit_transform(X)
    direct = SVMPlusClassifier(**MODEL.get_params()).fit(scaled, y, Z)
    with config_context(enable_metadata_routing=routed):
        model = SVMPlusClassifier(**MODEL.get_params())
        name = "Z"
        if routed:
            model.set_fit_request(Z=True)
        else:
            name = "svmplusclassifier__Z"
        pipe = make_pipeline(StandardScaler(), model).fit(X, y, **{name: Z})
        np.testing.assert_array_equal(pipe[-1].coef_, direct.coef_)
        np.testing.assert_array_equal(pipe[-1].correction_coef_, direct.correction_coef_)
        grid = {"svmplusclassifier__C": [0.1, 2.0]}
        search = GridSearchCV(pipe, grid, cv=CV).fit(X, y, **{name: Z})
        assert search.predict(X).shape == y.shape
        found = cross_val_predict(pipe, X, y, cv=CV, params={name: Z}, method="decision_function")
        assert found.shape == (len(y), 3)


@pytest.mark.parametrize("routed", [True, False])
def test_calibrated_probabilities_of_searched_models(routed):
    with config_context(enable_metadata_routing=routed):
        model = SVMPlusClassifier(free_slack=0.5)
        if routed:
            model.set_fit_request(Z=True)
        calibrated = CalibratedClassifierCV(model, cv=CV).fit(X, y, Z=Z)
        found = calibrated.predict_proba(X)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert (calibrated.classes_[found.argmax(axis=1)] == y).mean() > 0.5
        assert all(
            each.estimator.n_privileged_features_in_ == 3
            for each in calibrated.calibrated_classifiers_
        )


@pytest.mark.parametrize("routed", [True, False])
def test_lists_are_refused_because_nobody_splits_them(routed):
    lists = Z.tolist()
    with pytest.raises(InvalidTypeError, match=r"^Z: a list.*Fix: pass np\.asarray\(Z\)"):
        SVMPlusClassifier().fit(X, y, lists)
    with config_context(enable_metadata_routing=routed):
        model = SVMPlusClassifier(free_slack=0.5)
        if routed:
            model.set_fit_request(Z=True)
        search = GridSearchCV(model, {"C": [1.0]}, cv=CV, error_score="raise")
        with pytest.raises(InvalidParameterError, match=r"^Z: "):
            search.fit(X, y, Z=lists)


def test_precomputed_kernels_in_a_search():
    K = rbf_kernel(X, gamma=0.3)
    model = SVMPlusClassifier(kernel="precomputed", free_slack=0.5)
    found = cross_val_score(model, K, y, cv=CV, params={"Z": Z})
    named = SVMPlusClassifier(kernel="rbf", gamma=0.3, free_slack=0.5)
    np.testing.assert_array_equal(found, cross_val_score(named, X, y, cv=CV, params={"Z": Z}))
    model = SVMPlusClassifier(kernel_z="precomputed", free_slack=0.5)
    with pytest.raises(InvalidParameterError, match=r"^Z: .*shape.*Z loses rows only"):
        cross_val_score(model, X, y, cv=CV, params={"Z": Z @ Z.T}, error_score="raise")


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    privileged = pandas.DataFrame(Z, columns=["u", "v", "w"])
    found = cross_val_score(MODEL, frame, pandas.Series(y), cv=CV, params={"Z": privileged})
    np.testing.assert_array_equal(found, HAND)


def test_tags_and_requests():
    tags = get_tags(SVMPlusClassifier())
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_class
    assert tags.input_tags.sparse
    assert not tags.input_tags.pairwise
    assert get_tags(SVMPlusClassifier(kernel="precomputed")).input_tags.pairwise
    assert set(SVMPlusClassifier().get_metadata_routing().fit.requests) == {"Z", "sample_weight"}
