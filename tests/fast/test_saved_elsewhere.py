"""What skops and MLflow save of an estimator they load as the same estimator, where they are installed."""

import numpy as np
import pytest
from _estimators import ONE_EACH
from _problems import classes, privileged
from sklearn.base import BaseEstimator, clone

import fast

FITS = {type(model).__name__: (model, data) for model, data in ONE_EACH.values()}
FITS |= {
    "SVMPlusClassifier": (fast.SVMPlusClassifier(tol=1e-4), privileged(2)),
    "WsabieClassifier": (fast.WsabieClassifier(random_state=0), classes(0, n=60, m=4)),
    "LatentAPSVM": (None, None),  # a map of its user's own, a function, is none of its numbers
}
SAVED = [name for name, (model, _) in FITS.items() if model is not None]


def fitted(name):
    model, (X, *labels) = FITS[name]
    return clone(model).fit(X, *labels), X


def same(again, model, X):
    assert type(again) is type(model)
    assert vars(again).keys() == vars(model).keys()
    np.testing.assert_array_equal(again.coef_, model.coef_)
    for method in {"predict", "decision_function", "predict_topk"} & set(dir(model)):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


def test_every_estimator_is_saved() -> None:
    public = (getattr(fast, name) for name in dir(fast) if name != "torch")  # which may not be installed
    known = {c.__name__ for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)}
    assert known <= set(FITS)


@pytest.mark.parametrize("name", SAVED)
def test_skops_loads_what_it_dumped(name) -> None:
    io = pytest.importorskip("skops.io", reason="not installed: pip install skops")
    model, X = fitted(name)
    data = io.dumps(model)
    same(io.loads(data, trusted=io.get_untrusted_types(data=data)), model, X)


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.filterwarnings("ignore:.*Any type hint:UserWarning")  # MLflow's, of a form for its own servers
def test_mlflow_loads_what_it_saved(name, tmp_path) -> None:
    sklearn = pytest.importorskip("mlflow.sklearn", reason="not installed: pip install mlflow-skinny")
    model, X = fitted(name)
    sklearn.save_model(model, tmp_path / "m", serialization_format="cloudpickle", pip_requirements=["refsolve"])
    same(sklearn.load_model(str(tmp_path / "m")), model, X)
    served = sklearn.pyfunc.load_model(str(tmp_path / "m"))  # as MLflow serves it
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
