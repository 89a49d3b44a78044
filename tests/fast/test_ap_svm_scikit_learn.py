"""APSVM inside scikit-learn's tools: selection, pipelines, routed queries."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from fast import APSVM
from fast.errors import InvalidParameterError


def problem(seed=0, queries=9, size=12):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), size)
    y = (np.arange(len(groups)) % size) < 3
    X = rng.standard_normal((len(groups), 4)) + 0.8 * y[:, None] * [1, 0, 0, 0] + groups[:, None]
    order = rng.permutation(len(y))
    return X[order], y[order], groups[order]


X, y, groups = problem()


def by_hand(model, test):
    return model.score(X[test], y[test], groups[test])


def test_queries_are_routed_to_fit_score_and_splitter():
    splits = list(GroupKFold(3).split(X, y, groups))
    hand = [by_hand(APSVM(C=3.0).fit(X[a], y[a], groups=groups[a]), b) for a, b in splits]
    with config_context(enable_metadata_routing=True):
        model = APSVM(C=3.0).set_fit_request(groups=True).set_score_request(groups=True)
        found = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": groups})
        np.testing.assert_array_equal(found, hand)
        search = GridSearchCV(model, {"C": [0.1, 3.0]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
        assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(hand), rel=1e-12)
        pipe = make_pipeline(StandardScaler().set_fit_request(), model)
        pipe.fit(X, y, groups=groups)
        scaled = StandardScaler().fit_transform(X)
        direct = APSVM(C=3.0).fit(scaled, y, groups=groups)
        np.testing.assert_array_equal(pipe[-1].coef_, direct.coef_)
        assert pipe.score(X, y, groups=groups) == direct.score(scaled, y, groups)
        search = GridSearchCV(pipe, {"apsvm__C": [3.0]}, cv=GroupKFold(3))
        assert 0.0 < search.fit(X, y, groups=groups).best_score_ <= 1.0


def test_queries_that_nobody_asked_for_are_an_error():
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(UnsetMetadataPassedError, match="groups"),
    ):
        cross_val_score(APSVM(), X, y, params={"groups": groups}, cv=3)


def test_queries_without_routing_reach_fit_alone():
    found = cross_val_score(APSVM(C=3.0), X, y, cv=GroupKFold(3), groups=groups,
                            params={"groups": groups})  # fmt: skip
    splits = GroupKFold(3).split(X, y, groups)
    hand = [APSVM(C=3.0).fit(X[a], y[a], groups=groups[a]).score(X[b], y[b]) for a, b in splits]
    np.testing.assert_array_equal(found, hand)


def test_splitting_a_query_is_explained():
    model = APSVM().fit(X, y, groups=groups)
    half = np.flatnonzero(~y | (groups > 0))  # query 0 has lost its positives
    with pytest.raises(InvalidParameterError, match=r"in query .*0.*whole queries"):
        by_hand(model, half)


def test_tags():
    tags = get_tags(APSVM())
    assert tags.estimator_type == "classifier"
    assert not tags.classifier_tags.multi_class
    assert tags.input_tags.sparse
    requests = APSVM().get_metadata_routing()
    assert set(requests.fit.requests) == {"groups", "easy_mask", "query_weight"}
    assert set(requests.score.requests) == {"groups", "sample_weight"}
