"""What a fit claims follows from its attributes: every estimator, solver and loss, on features of every form."""

import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _estimators import (
    ENTROPY,
    HINGE,
    ONE_EACH,
    RANKERS,
    SIGNED,
    SOLVERS,
    VARIANTS,
    labelled,
    outliers,
)
from _problems import assert_same_optimum, bags, classes, privileged, quietly, relevant
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fast import (
    APSVM,
    LatentAPSVM,
    MultilabelClassifier,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKSVC,
    TopPush,
)
from fast.errors import CollapseWarning
from verification.certificates.fitted import judge_claims

INFERENCES = ("divide_and_conquer", "greedy", "search", "select", "all", "numpy")


def powers(seed):
    """Features that are too many to be solved to rounding whatever tol is."""
    X, y = classes(seed, n=120)
    return np.hstack([X, X**2, X**3] * 4) / 4.0, y


def tied(X, y):
    """Repeated rows, zero rows, equal scores."""
    X = np.round(X)
    X[::7] = 0.0
    return X, y


def quick(model, data, tol, **more):
    """A row of the table: the model, its data, and what else a fit is given."""
    return model.set_params(tol=tol), data, more


def rows():
    """Every estimator, solver and loss, by name."""
    for solver, variant, k, C in itertools.product(
        dict(SOLVERS), ("alpha", "beta"), (1, 2, 3, 5), (0.1,)
    ):
        for gamma in (0.0, 0.7):
            if (solver, gamma) in SOLVERS and (variant, k) != ("beta", 1):
                given = {"k": k, "variant": variant, "gamma": gamma, "C": C, "solver": solver}
                tol = 1e-2 if solver == "sdca" else 1e-5
                yield quick(HINGE(**given, max_iter=3000), classes(0, n=60, m=6, spread=1.2), tol)
    for (variant, k), C, tol in itertools.product(VARIANTS, (1e-3, 10.0, 1e3), (1e-2, 1e-10)):
        model = ENTROPY(k=k, variant=variant, C=C, max_iter=500)
        yield quick(model, powers(1), tol)
    for solver, (variant, k) in itertools.product(("sdca", "fista"), VARIANTS[:4]):
        model = ENTROPY(k=k, variant=variant, C=0.3, solver=solver, max_iter=2000, random_state=0)
        yield quick(model, classes(3, n=300, m=6, d=16), 1e-6)
    for solver, C in itertools.product(RANKERS, (0.01, 1.0, 30.0)):
        yield quick(APSVM(C=C, solver=solver), relevant(1), 1e-4)
        yield quick(APSVM(C=C, solver=solver, ramp=True), outliers(1), 1e-4)
        for seed in (1, 2):
            yield quick(LatentAPSVM(C=C, solver=solver), bags(seed), 1e-4)
        easy = APSVM(C=10.0, solver=solver, easy_fraction={0.01: 0.25, 1.0: 0.75, 30.0: 1.0}[C])
        yield quick(easy, relevant(1, n=80, shift=2.5), 1e-4)
    for method in INFERENCES:
        yield quick(APSVM(C=3.0, method=method), tied(*relevant(2)), 1e-6)
    groups = np.arange(60) % 4
    yield quick(APSVM(C=3.0), relevant(3), 1e-4, groups=groups)
    yield quick(APSVM(C=20.0, ramp=True), outliers(2), 1e-4, groups=groups)
    yield quick(LatentAPSVM(C=5.0), bags(7, n=60), 1e-4, groups=np.arange(60) % 3)
    for k, C in ((None, 0.1), (5, 5.0), (40, 5.0)):
        yield quick(RecallAtK(k=k, C=C), relevant(9, n=120, d=4, shift=1.5), 1e-5)
    for k, C in ((None, 0.02), (None, 1.0), (2, 0.02)):
        yield quick(RecallAtK(k=k, C=C), classes(5, n=40, m=4, d=3), 1e-6)
    for C in (0.05, 1.0, 50.0):
        yield quick(TopPush(C=C), relevant(9, n=300, d=6, shift=5.0), 1e-7)
        for n, m, d in ((90, 4, 3), (24, 3, 20)):
            yield quick(TopPush(C=C), classes(5, n=n, m=m, d=d), 1e-8)
    known = {"hinge": ("proximal", "sdca"), "entropy": ("lbfgs",), "logistic": ("newton", "lbfgs")}
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], 60)
    for (make, loss), C in itertools.product(SIGNED, (1e-3, 1.0, 30.0)):
        X, y = labelled() if make is MultilabelClassifier else classes(0, n=60, m=4)
        given = {"gamma": 0.5, "random_state": 0, "C": C, "fit_intercept": C == 1.0}
        more = ("newton",) * (make is OneVsAllClassifier)
        for solver in dict.fromkeys(("auto", *known.get(loss, ("sdca", "lbfgs")), *more)):
            for data in ((X, y), tied(X, y)):
                model = make(loss, solver=solver, **given)
                yield quick(model, data, 1e-6, sample_weight=weight)
    kernels = itertools.product((2, 3), ("linear", "rbf"), ("linear", "rbf"))
    for m, kernel, kernel_z in kernels:
        X, y, Z = privileged(1, n=50, classes=m)
        model = SVM2KClassifier(0.5, 2.0, 0.7, 0.1, kernel, kernel_z, 0.3, 0.3)
        yield quick(model, (X, y), 1e-6, Z=Z, sample_weight=1.0 + np.arange(50) % 2)
    pairs = [("linear", "linear"), ("rbf", "linear"), ("linear", "rbf"), ("poly", "rbf")]
    X, y, Z = privileged(1)
    weight = np.random.default_rng(1).integers(0, 3, len(y)) + 0.5 * (y == 1)
    for loss, (kernel, kernel_z), delta, nonneg in itertools.product(
        ("squared_hinge", "hinge"), pairs, (0.0, 0.5), (None, True, False)
    ):
        model = SVMPlusClassifier(
            loss,
            3.0,
            0.5,
            kernel,
            kernel_z,
            0.3,
            0.2,
            2,
            1.0,
            nonneg_slack=nonneg,
            free_slack=delta,
        )
        yield quick(model, (X, y), 1e-5, Z=Z, sample_weight=weight)


ROWS = {f"{i} {row[0]}": row for i, row in enumerate(rows())}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_fit_claims_follows_from_its_attributes(name):
    model, data, more = ROWS[name]
    model = quietly(clone(model), *data, ignored=(ConvergenceWarning, CollapseWarning), **more)
    assert model.dual_gap_ <= model.tol
    if getattr(model, "solver", "auto") != "auto":
        assert model.solver_ == model.solver
    check_certificate(model, *data, **more)


# ---- features of every form -----------------------------------------------------------------------
def strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]


SAME = {"strided": strided, "int": lambda X: X.astype(np.int32), "list": np.ndarray.tolist}
FORMS = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "coo": sp.coo_array,
    "float32": np.float32,
    "float32 csr": lambda X: sp.csr_array(X.astype(np.float32)),
    "fortran": np.asfortranarray,
    **SAME,
}


def on_whole_numbers(name, form, intercept):
    """A fit of the model to features that no form rounds."""
    model, (X, y, *Z) = ONE_EACH[name]
    X = np.rint(2 * X)
    model = clone(model)
    if intercept:
        model.set_params(fit_intercept=True)
    return model.fit(FORMS.get(form, np.asarray)(X), y, *Z), X, y, {"Z": Z[0]} if Z else {}


dense_fit = functools.cache(lambda name, intercept: on_whole_numbers(name, "dense", intercept)[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ONE_EACH)
def test_features_of_every_form_have_one_optimum(name, form):
    takes = hasattr(ONE_EACH[name][0], "fit_intercept")
    for intercept in (False, True)[: 1 + takes]:
        model, X, y, Z = on_whole_numbers(name, form, intercept)
        dense = dense_fit(name, intercept)
        assert model.coef_.dtype == np.float64
        check_certificate(model, X, y, **Z)
        if name not in ("ramp", "easy", "two views"):  # which rounding may lead to another problem
            assert_same_optimum(model, dense, model.tol)
        if form in SAME and isinstance(model, TopKSVC):
            np.testing.assert_array_equal(model.coef_, dense.coef_)
        found = model.decision_function(FORMS[form](X))
        np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-7, atol=1e-6)


# ---- weights ----------------------------------------------------------------------------------------
WEIGHTED = {
    f"{solver} {gamma}": (
        HINGE(k=2, C=0.02, gamma=gamma, solver=solver, tol=1e-6, max_iter=4000),
        classes(1),
    )
    for solver, gamma in SOLVERS[:4]
}
WEIGHTED |= {
    f"entropy {variant} {k}": (ENTROPY(k=k, variant=variant, C=0.2, tol=1e-10), classes(7))
    for variant, k in VARIANTS
}
WEIGHTED |= {
    f"{make.__name__} {loss}": (
        make(loss, C=0.1, tol=1e-8),
        classes(1) if make is OneVsAllClassifier else labelled(),
    )
    for make, loss in SIGNED
}
WEIGHTED["two views"] = SVM2KClassifier(standardize_z=False, tol=1e-8), privileged(4)
WEIGHTED |= {
    f"plus {loss} {kernel}": (
        SVMPlusClassifier(loss, kernel=kernel, gamma=0.3, free_slack=0.1, tol=1e-8),
        privileged(11),
    )
    for loss in ("squared_hinge", "hinge")
    for kernel in ("linear", "rbf")
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_repeat_and_remove(name):
    model, (X, y, *Z) = WEIGHTED[name]
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeat = np.repeat(np.arange(len(y)), weight)
    more = [{"Z": rows} for rows in (*Z, *(z[repeat] for z in Z))] or [{}, {}]
    weighted = clone(model).fit(X, y, sample_weight=weight.astype(float), **more[0])
    repeated = clone(model).fit(X[repeat], y[repeat], **more[1])
    check_certificate(weighted, X, y, weight, **more[0])
    check_certificate(repeated, X[repeat], y[repeat], **more[1])
    assert np.less_equal(weighted.dual_objective_, repeated.primal_objective_).all()
    assert np.less_equal(repeated.dual_objective_, weighted.primal_objective_).all()
    dual = (
        weighted.dual_coef_.toarray() if sp.issparse(weighted.dual_coef_) else weighted.dual_coef_
    )
    assert not (dual if len(dual) == len(y) else dual.T)[weight == 0].any()


@pytest.mark.parametrize("model", [HINGE(k=2), ENTROPY(k=2), OneVsAllClassifier()], ids=repr)
def test_class_weights_and_C_are_weights_of_the_examples(model):
    X, y = classes(3)
    y[y == 4] = np.where(np.arange((y == 4).sum()) < 3, 4, 0)
    given = {0: 0.5, 1: 0.0, 2: 3.0}
    for class_weight, factor in (
        (given, np.array([given.get(c, 1.0) for c in y])),
        ("balanced", len(y) / (5 * np.bincount(y)[y])),
    ):
        one = clone(model).set_params(tol=1e-7, class_weight=class_weight).fit(X, y)
        assert one.classes_.tolist() == [0, 1, 2, 3, 4]
        check_certificate(one, X, y)
        other = clone(model).set_params(tol=1e-7).fit(X, y, sample_weight=factor)
        assert_same_optimum(one, other, 1e-5)
    heavy = clone(model).set_params(tol=1e-7, C=0.05).fit(X, y, sample_weight=np.full(len(y), 8.0))
    assert_same_optimum(heavy, clone(model).set_params(tol=1e-7, C=0.4).fit(X, y), 1e-5)


# ---- warm starts ------------------------------------------------------------------------------------
WARM = {
    f"{solver} {gamma}": (
        HINGE(k=2, gamma=gamma, solver=solver, C=0.01, tol=1e-5), classes(13, n=400, m=8, d=10)
    )
    for solver, gamma in SOLVERS[:3]
}  # fmt: skip
WARM |= {
    "entropy": (ENTROPY(C=1.9, tol=1e-8), classes(12, n=500, m=6, d=10)),
    "AP": (APSVM(C=10.0, tol=1e-4), relevant(15, n=300, d=20, part=0.1)),
    "easy": (APSVM(C=10.0, tol=1e-4, easy_fraction=0.5), relevant(9, n=80, shift=2.5)),
    "ramp": (APSVM(C=20.0, tol=1e-4, ramp=True), outliers(4)),
    "latent": (LatentAPSVM(C=5.0, tol=1e-4), bags(9)),
    "recall": (RecallAtK(C=5.0, tol=1e-5), relevant(9, n=120, d=4, shift=1.5)),
    "recall, classes": (RecallAtK(C=1.0, tol=1e-6), classes(5, n=40, m=4, d=3)),
    "top push": (TopPush(C=0.5, tol=1e-7), relevant(9, n=300, d=6, shift=5.0)),
    "top push, classes": (TopPush(C=1.0, tol=1e-8), classes(5, n=90, m=4, d=3)),
    "one-vs-all": (OneVsAllClassifier(C=1.0, tol=1e-4), classes(0, n=60, m=4)),
    "multilabel": (MultilabelClassifier("entropy", tol=1e-4), labelled()),
}


def work(model):
    return getattr(model, "n_oracle_calls_", model.n_iter_)


@pytest.mark.parametrize("name", WARM)
def test_warm_starts_along_a_path_of_C(name):
    model, data = WARM[name]
    warm, spared = clone(model).set_params(warm_start=True), 0
    for factor in (1.0, 1.05, 1.1, 1.15):
        warm.set_params(C=factor * model.C).fit(*data)
        assert warm.dual_gap_ <= warm.tol
        check_certificate(warm, *data)
        cold = clone(warm).fit(*data)
        spared += work(cold) - work(warm)
        if not hasattr(warm, "objectives_"):
            assert_same_optimum(warm, cold, warm.tol)
    before, ended = work(warm), getattr(warm, "objectives_", [0.0])[-1]
    again = work(warm.fit(*data))
    check_certificate(warm, *data)
    if hasattr(warm, "objectives_"):  # it begins where it ended
        assert warm.objectives_[0] == pytest.approx(ended, rel=1e-12)
    else:
        assert spared > -hasattr(model, "object_names")
        assert again <= max(2, before)


CHANGES = ("features", "labels", "rows", "names", "dtype", "C", "k", "intercept", "zeros")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", WARM)
def test_warm_starts_stay_certified_when_the_problem_changes(name, change):
    model, (X, y) = WARM[name]
    model = clone(model).set_params(warm_start=True, max_iter=3000).fit(X, y)
    each = [*X] if isinstance(X, list) else [X]
    if change == "features":
        each = [np.hstack([part, part[:, ::-1]]) for part in each]
    elif change == "labels":
        y = np.roll(y, 1, axis=0)
    elif change == "names":
        y = ~y if y.dtype == bool else y + 1
    elif change == "dtype":
        each = [part.astype(np.float32) for part in each]
    elif change == "C":
        model.set_params(C=1e-3 * model.C)
    elif change in ("k", "intercept"):
        given = {"k": 3} if change == "k" else {"fit_intercept": True}
        if not given.keys() <= model.get_params().keys() or isinstance(model, RecallAtK):
            return
        model.set_params(**given)
    elif change == "zeros":
        each = [np.where(np.abs(part[:, :1]) < 0.4, 0.0, part) for part in each]
    X = each if isinstance(X, list) else each[0]
    if change == "rows":
        X, y = X[:-10], y[:-10]
    model.fit(X, y)
    assert model.dual_gap_ <= model.tol
    check_certificate(model, X, y)
    if change in ("rows", "names", "labels", "k") and name == "active 0.0":  # no dual of it
        cold = clone(model).fit(X, y)
        np.testing.assert_array_equal(cold.coef_, model.coef_)
        assert cold.n_iter_ == model.n_iter_


# ---- scales -----------------------------------------------------------------------------------------
SCALED = {
    f"{solver} {gamma}": (HINGE(k=2, C=1.0, gamma=gamma, solver=solver), classes(8, n=30))
    for solver, gamma in SOLVERS
}
SCALED |= {solver: (APSVM(C=3.0, solver=solver), relevant(13, n=30)) for solver in RANKERS}
SCALED |= {
    "easy": (APSVM(C=3.0, easy_fraction=1.0), relevant(9, n=30, shift=3.0)),
    "entropy": (ENTROPY(k=2), classes(8, n=30)),
    "recall": (RecallAtK(), relevant(13, n=30)),
    "top push": (TopPush(), relevant(13, n=30)),
    "one-vs-all": (OneVsAllClassifier(), classes(8, n=30)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SCALED)
def test_features_of_any_scale_are_certified_or_said_not_to_be(name, dtype):
    """Nothing but a ConvergenceWarning is said; squares of W may underflow in the naive sums."""
    model, (X, y) = SCALED[name]
    wide = 300 if dtype is np.float64 and isinstance(model, TopKSVC) else 30
    for power in (-wide, -160, -60, -25, -6, 6, 15, 18, 30, 60):
        if abs(power) > wide:
            continue
        with np.errstate(under="ignore"):
            scaled = (X * 10.0**power).astype(dtype)
        fitted = quietly(clone(model).set_params(max_iter=30), scaled, y)
        assert np.isfinite(fitted.coef_).all()
        assert 0.0 <= fitted.dual_gap_ <= (1.0 if isinstance(model, TopKSVC) else 2.0)
        assert fitted.dual_objective_ <= fitted.primal_objective_ * (1 + 1e-9)
        if abs(power) <= 25:
            assert judge_claims(fitted, scaled, y).ok
        if abs(power) <= 25 and (isinstance(model, TopKSVC) or power == -6):  # hardly weaker
            check_certificate(fitted, scaled, y)


@pytest.mark.parametrize("name", SCALED)
def test_mixed_scales_and_copies_and_zero_rows(name):
    model, (X, y) = SCALED[name]
    X = X.copy()
    X[::5] = 0.0
    X[1:20:5] = X[2:21:5]  # the same point with different labels
    for scale in (1.0, np.resize([1e-8, 1.0, 1e3, 0.0], X.shape[1])):
        for given in (X * scale, sp.csr_array(X * scale)):
            fitted = quietly(clone(model).set_params(max_iter=200), given, y)
            check_certificate(fitted, X * scale, y)
