"""Columns are known by their names, and labels are what they say, wherever a model meets data."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

import fast
from fast._validation import data_frame, label_array
from fast.data import Source, rows
from fast.data.columns import feature_names
from fast.errors import ColumnWarning, InvalidParameterError, InvalidTypeError, UnjudgedWarning
from fast.estimators._settings import encode, seed_of
from fast.metrics import average_precision, topk_accuracy
from fast.path import accuracies

rng = np.random.default_rng(32)
X = rng.standard_normal((80, 3)) * [1.0, 10.0, 100.0]
Y = np.where(X[:, 0] > 0.0, "yes", "no").astype(object)
COLUMNS = dict(zip("abc", X.T, strict=True))
ESTIMATORS = [
    fast.TopKLogisticRegression(C=10.0),
    fast.TopKSVC(),
    fast.TopKSVC(kernel="rbf"),
    fast.OneVsAllClassifier(random_state=0),
    fast.MultilabelClassifier(random_state=0),
    fast.APSVM(),
    fast.TopPush(),
    fast.RecallAtK(),
    fast.SVMPlusClassifier(),
    fast.SVM2KClassifier(),
    fast.WsabieClassifier(random_state=0),
]


def frame(names: str) -> pd.DataFrame:
    return pd.DataFrame({name: COLUMNS[name] for name in names})


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


FRAMES = {
    "pandas": pd.DataFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "polars": polars,
    "narwhals": lambda columns: pytest.importorskip("narwhals").from_native(pa.table(columns)),
}


def parquet(folder, names, **more):
    path = folder / f"{names}.parquet"
    table = pa.table({name: COLUMNS[name] for name in names} | more)
    pq.write_table(table, path, row_group_size=30)
    return path


def name_of(estimator):
    return repr(estimator).replace("Classifier", "")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_a_source_is_read_by_the_names_of_the_fit(estimator, tmp_path):
    """Also where its columns include the label, another one, or a model was fitted on a frame."""
    model = estimator.fit(rows(frame("abc")), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    expected = model.decision_function(frame("abc"))
    whole = parquet(tmp_path, "cab", label=Y)
    turned = [rows(whole, label="label"), rows(frame("cab")), rows([whole, whole], label="label")]
    for source in turned:
        found = model.decision_function(source)
        np.testing.assert_allclose(found[:80], expected, rtol=1e-12, atol=1e-12)
        assert model.score(source, np.resize(Y, len(source))) == model.score(frame("abc"), Y)
    with pytest.warns(ColumnWarning, match=r"1 column left out.*: 'd'$"):
        found = model.predict(rows(parquet(tmp_path, "ca", d=X[:, 0], b=X[:, 1])))
    np.testing.assert_array_equal(found, model.predict(frame("abc")))
    with pytest.raises(InvalidParameterError, match=r"^X: no column 'b' among 'c', 'a'"):
        model.predict(rows(frame("ca")))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame("cab"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_data_frames_of_any_library_keep_their_names(kind, estimator):
    given = FRAMES[kind](COLUMNS)
    model = estimator.fit(given, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    check_is_fitted(model)
    inside = type(estimator)(**estimator.get_params()).fit(X, Y)
    np.testing.assert_allclose(
        model.decision_function(given), inside.decision_function(X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(given), inside.predict(X))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(FRAMES[kind]({name: COLUMNS[name] for name in "bac"}))


def test_files_name_their_features_and_arrays_after_them_are_told_of(tmp_path):
    source = rows(parquet(tmp_path, "abc", label=Y), label="label")
    model = fast.TopKLogisticRegression().fit(source)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.save(tmp_path / "x.npy", X)
    for nameless in (X, rows(X), rows(tmp_path / "x.npy")):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert model.score(nameless, Y) == model.score(source, Y)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
    pq.write_table(pa.table({"image": lists}), tmp_path / "lists.parquet")
    listed = rows(tmp_path / "lists.parquet")
    assert feature_names(listed) is None
    assert not hasattr(fast.TopKLogisticRegression().fit(listed, Y), "feature_names_in_")


def test_columns_are_chosen_where_rows_are_read(tmp_path):
    source = rows(parquet(tmp_path, "abc", d=X[:, 0]))
    some = source.select(["c", "a"])
    assert (some.shape, some.columns, source.columns) == ((80, 2), ["c", "a"], [*"abcd"])
    np.testing.assert_array_equal(some[:], X[:, [2, 0]])
    assert source.select([*"abcd"]) is source
    for other in (Source.select(source, ["c", "a"]), rows([source, source]).select(["c", "a"])):
        assert other[:80].flags.c_contiguous
        np.testing.assert_array_equal(other[:80], X[:, [2, 0]])
        assert other.place(3) == source.place(3)
    table = pd.DataFrame(np.eye(3), columns=[*"abc"]).astype(pd.SparseDtype(float, 0.0))
    sparse = rows(table)
    assert sp.issparse(sparse[:])
    np.testing.assert_array_equal(sparse.select(["c", "a"])[:].toarray(), np.eye(3)[:, [2, 0]])


def test_the_same_names_in_another_order_are_one_data_set(tmp_path):
    both = rows([parquet(tmp_path, "abc"), parquet(tmp_path, "bca")])
    np.testing.assert_array_equal(both[:], np.vstack([X, X]))
    assert rows([frame("abc"), frame("cab")]).columns == [*"abc"]
    other = frame("ab").assign(d=1.0)
    with pytest.raises(InvalidParameterError, match="columns a, b, d; expected a, b, c"):
        rows([parquet(tmp_path, "abc"), rows(other)])


@pytest.mark.parametrize("kind", ["pandas", "arrow", "polars", "file"])
def test_a_probe_and_its_validation_data_agree_by_name(kind, tmp_path):
    def made(names):
        if kind == "file":
            return rows(parquet(tmp_path, names))
        return FRAMES[kind]({name: COLUMNS[name] for name in names})

    here, there = made("abc"), made("cab")
    options = {"Cs": [0.1, 10.0], "tol": 1e-6}
    right = fast.probe(X, Y, (X, Y), **options)
    found = fast.probe(here, Y, (there, Y), **options)
    assert found.best.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(found.accuracies, right.accuracies)
    np.testing.assert_array_equal(accuracies(found.models, there, Y, [1]), found.accuracies)
    assert fast.probe(here, Y, preset="mteb", tol=0.01).best.feature_names_in_[0] == "a"
    with pytest.raises(InvalidParameterError, match=r"^validation: no column 'c' among"):
        fast.probe(here, Y, (made("ba"), Y), **options)
    again = {"folder": tmp_path / "kept", **options}
    for _ in range(2):
        assert fast.probe(here, Y, **again).best.feature_names_in_.tolist() == ["a", "b", "c"]


def test_watched_data_paths_and_certificates_go_by_name(tmp_path):
    source, turned = rows(parquet(tmp_path, "abc")), rows(parquet(tmp_path, "cab", more=X[:, 0]))
    sets = {"frame": (frame("bca"), Y), "file": (turned, Y), "same": (source, Y)}
    with pytest.warns(ColumnWarning, match=r"^eval_set file: 1 column left out.*'more'"):
        model = fast.TopKLogisticRegression(C=10.0).fit(source, Y, eval_set=sets)
    seen = [model.evals_result_[name]["loss"] for name in sets]
    np.testing.assert_allclose(seen[0], seen[2], rtol=1e-12)
    np.testing.assert_allclose(seen[1], seen[2], rtol=1e-12)
    with pytest.warns(ColumnWarning):
        bound = model.certificate(turned, Y).bound
    assert bound == model.certificate(source, Y).bound
    path = fast.regularization_path(fast.TopKSVC(max_iter=5000), source, Y, [0.1, 10.0])
    assert all(fitted.feature_names_in_[2] == "c" for fitted in path)
    np.testing.assert_array_equal(
        path.accuracies(frame("cab"), Y, [1]), path.accuracies(source, Y, [1])
    )


def test_privileged_features_and_bags_go_by_name():
    Z = frame("abc") * 2.0
    model = fast.SVM2KClassifier().fit(X, Y, Z)
    both = model.decision_function(X, Z)
    np.testing.assert_allclose(model.decision_function(X, Z[["c", "a", "b"]]), both)
    np.testing.assert_allclose(model.decision_function(X, Z.to_numpy()), both)
    with pytest.raises(InvalidParameterError, match=r"^Z: no column 'b'"):
        model.correction_function(Z[["a", "c"]])
    bags = [frame("abc")[i : i + 2] for i in range(0, 80, 2)]
    mixed = [bag[["b", "c", "a"]] if i % 2 else bag for i, bag in enumerate(bags)]
    y = np.arange(40) % 3 == 0
    latent = fast.LatentAPSVM(max_iter=20).fit(mixed, y)
    assert latent.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(latent.decision_function(mixed), latent.decision_function(bags))


def test_frames_that_nobody_can_read_are_refused_by_name():
    with pytest.raises(InvalidParameterError, match=r"^X: .*'a' 2 times.*every column once"):
        fast.TopKSVC().fit(pd.DataFrame(X, columns=["a", "a", "b"]), Y)
    with pytest.raises(InvalidTypeError, match=r"^X: could not convert string"):
        rows(frame("ab").assign(c="red"))
    lazy = pytest.importorskip("polars").LazyFrame(COLUMNS)
    with pytest.raises(InvalidTypeError, match=r"^X: a lazy polars frame.*X\.collect\(\)"):
        fast.TopKSVC().fit(lazy, Y)
    dask = pytest.importorskip("dask.dataframe").from_pandas(frame("abc"), npartitions=2)
    with pytest.raises(InvalidTypeError, match=r"^X: a Dask data frame"):
        fast.APSVM().fit(dask, Y)
    assert data_frame("X", X) is None
    assert data_frame("X", pd.Series(Y)) is None


# -- labels ---------------------------------------------------------------------------------------

TEXT, BOOL = Y, Y == "yes"
LABELS = {
    "boolean": (pd.Series(BOOL, dtype="boolean"), [False, True]),
    "boolean array": (pd.array(BOOL, dtype="boolean"), [False, True]),
    "bool[pyarrow]": (pd.Series(BOOL, dtype="bool[pyarrow]"), [False, True]),
    "bool objects": (BOOL.astype(object), [False, True]),
    "bool categories": (pd.Series(BOOL, dtype="category"), [False, True]),
    "Arrow bool": (pa.array(BOOL), [False, True]),
    "Int64": (pd.Series(BOOL + 3, dtype="Int64"), [3, 4]),
    "int64[pyarrow]": (pd.Series(BOOL + 3, dtype="int64[pyarrow]"), [3, 4]),
    "int categories": (pd.Series(BOOL + 3, dtype="category"), [3, 4]),
    "str": (pd.Series(TEXT, dtype="str"), ["no", "yes"]),
    "string": (pd.Series(TEXT, dtype="string"), ["no", "yes"]),
    "dictionary": (
        pd.Series(TEXT, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
        ["no", "yes"],
    ),
    "categories": (pd.Categorical(TEXT, ["yes", "no", "maybe"]), ["no", "yes"]),
    "Arrow dictionary": (pa.array(TEXT).dictionary_encode(), ["no", "yes"]),
    "Arrow chunks": (pa.chunked_array([TEXT[:9], TEXT[9:]]), ["no", "yes"]),
    "list": (TEXT.tolist(), ["no", "yes"]),
}
MISSING = {
    "str": pd.Series([None, *TEXT[1:]], dtype="str"),
    "string": pd.Series([None, *TEXT[1:]], dtype="string"),
    "objects": np.array([pd.NA, *TEXT[1:]], object),
    "Arrow text": pd.Series([None, *TEXT[1:]], dtype=pd.ArrowDtype(pa.string())),
    "boolean": pd.Series([None, *BOOL[1:]], dtype="boolean"),
    "bool[pyarrow]": pd.Series([None, *BOOL[1:]], dtype="bool[pyarrow]"),
    "bool objects": np.array([pd.NA, *BOOL[1:]], object),
    "Int64": pd.Series([None, *(BOOL[1:] + 3)], dtype="Int64"),
    "categories": pd.Series([None, *TEXT[1:]], dtype="category"),
    "Arrow": pa.array([None, *TEXT[1:]]),
    "list of text": [float("nan"), *TEXT[1:]],
    "floats": np.array([np.nan, *BOOL[1:]]),
    "dates": np.array(["NaT", *["2026-01-01"] * 79], "datetime64[D]"),
}
USES = {
    "fit": lambda y: fast.TopKLogisticRegression().fit(X, y).classes_,
    "fit to a source": lambda y: fast.TopKLogisticRegression().fit(ON_DISK[0], y).classes_,
    "probe": lambda y: fast.probe(X, y, Cs=[1.0]).best.classes_,
    "validation": lambda y: fast.probe(X, y, (X, y), Cs=[1.0]).best.classes_,
    "rank": lambda y: fast.TopPush().fit(X, y).classes_,
    "multilabel": lambda y: fast.MultilabelClassifier().fit(X, y).classes_,
    "wsabie": lambda y: fast.WsabieClassifier(random_state=0).fit(X, y).classes_,
    "latent": lambda y: fast.LatentAPSVM(max_iter=3).fit(X[:, None], y).classes_,
}
ON_DISK = []


@pytest.fixture(scope="module", autouse=True)
def on_disk(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "x.npy"
    np.save(path, X)
    ON_DISK[:] = [rows(path)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_column_type_are_the_classes_they_say(kind, use):
    y, classes = LABELS[kind]
    found = USES[use](y)
    assert found.tolist() == classes
    assert {type(label) for label in found.tolist()} == {type(label) for label in classes}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_refused_by_its_row(kind, use):
    with pytest.raises(InvalidParameterError, match=r" in row 0; expected a label for every row"):
        USES[use](MISSING[kind])


def test_labels_of_polars_are_the_classes_they_say():
    pl = pytest.importorskip("polars")
    for y, classes in (
        (pl.Series(TEXT.tolist()), ["no", "yes"]),
        (pl.Series(TEXT.tolist(), dtype=pl.Categorical), ["no", "yes"]),
        (pl.Series(BOOL), [False, True]),
    ):
        assert fast.TopKSVC().fit(X, y).classes_.tolist() == classes
        with pytest.raises(InvalidParameterError, match=r"^y: None in row 0"):
            fast.TopKSVC().fit(X, y.shift(1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", LABELS)
def test_scores_and_metrics_take_the_labels_that_a_fit_takes(kind):
    y, classes = LABELS[kind]
    model = fast.TopKLogisticRegression(C=10.0).fit(X, y, eval_set=[(X, y)])
    plain = fast.TopKLogisticRegression(C=10.0).fit(X, BOOL)
    assert model.score(X, y) == plain.score(X, BOOL) > 0.9
    assert model.evals_result_["eval_0"]["accuracy"][-1] == plain.score(X, BOOL)
    scores = np.column_stack([-X[:, 0], X[:, 0]])
    assert topk_accuracy(y, scores, 1, classes=classes) == 1.0
    if classes == [False, True]:
        assert average_precision(y, X[:, 0]) == 1.0
    ranker = fast.TopPush().fit(X, y)
    assert ranker.score(X, y) == fast.TopPush().fit(X, BOOL).score(X, BOOL)
    many = pd.Series(np.arange(80) % 3, dtype="Int64")
    mapped = fast.TopPush(max_iter=9).fit(X, many)
    assert mapped.score(X, many) == np.mean(mapped.predict(X) == many.to_numpy())
    with pytest.raises(InvalidParameterError, match="y_true: None in row 1"):
        topk_accuracy([classes[0], None], scores[:2], 1, classes=classes)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([*TEXT[:79], 3], "labels of several types: int, str"),
        (np.array([*TEXT[:79], 3], object), "labels of several types: int, str"),
        (np.where(BOOL, b"x", b"y"), r"bytes; expected text or numbers.*np\.char\.decode"),
    ],
)
def test_labels_that_are_no_labels_are_refused(y, said):
    for use in ("fit", "fit to a source", "probe"):
        with pytest.raises(InvalidTypeError, match=said):
            USES[use](y)


def test_plain_labels_are_what_they_were():
    for y in (np.arange(3), np.array([1.5, 2.0]), np.array(["a", "b"]), BOOL):
        assert label_array("y", y) is y
    assert label_array("y", ["a", "b"]).dtype == "U1"
    assert label_array("y", None) is None


# -- measured on nothing --------------------------------------------------------------------------

THREE = np.array(["a"] * 40 + ["b"] * 35 + ["c"] * 5)


def untrained(C, state):
    pytest.fail("trained")


@pytest.mark.parametrize(
    ("argument", "given", "said"),
    [
        ("validation", {"validation": (X[:0], THREE[:0])}, "no rows"),
        ("validation", {"validation": X}, "a pair"),
        ("validation", {"validation": (X, np.eye(3)[[0] * 80])}, r"shape \(80, 3\)"),
        ("validation", {"validation": (X, pd.Series([None, *THREE[1:]]))}, " in row 0"),
        ("y", {"y": np.eye(3, dtype=int)[[0, 1, 2, 0] * 20]}, "a vector of labels.*Multilabel"),
        ("y", {"y": THREE[:, None, None]}, "a vector of labels"),
        ("preset", {"y": np.repeat(np.arange(10), 8), "preset": "mteb"}, "all 80 of them"),
    ],
)
def test_nothing_to_measure_on_is_refused_before_training(argument, given, said):
    with pytest.raises(InvalidParameterError, match=said) as caught:
        fast.probe(X, **{"y": THREE, "Cs": [1.0], **given}, report=untrained)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "given",
    [{"preset": "mteb"}, {"validation": (X[:75], THREE[:75])}, {"validation": (X[:75], "column")}],
)
def test_a_class_that_is_never_judged_is_named(given):
    if given.get("validation", ("", ""))[1] is not None and "preset" not in given:
        rows_, y = given["validation"]
        given = {"validation": (rows_, THREE[:75, None] if isinstance(y, str) else y)}
    with pytest.warns(UnjudgedWarning, match=r"of 1 of 3 classes: 'c';"):
        found = fast.probe(X, THREE[:, None], Cs=[1.0], **given)
    assert found.unjudged == ("c",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fast.probe(X, THREE, (X, THREE), Cs=[1.0]).unjudged == ()


def test_no_metric_is_of_no_rows():
    model = fast.TopKLogisticRegression().fit(X, THREE)
    for call in (
        lambda: accuracies([model], X[:0], THREE[:0], [1]),
        lambda: accuracies([model], X, THREE, [1], np.zeros(80, bool)),
        lambda: accuracies([model], rows(X[:0]), THREE[:0], [1]),
    ):
        with pytest.raises(InvalidParameterError, match="at least one row"):
            call()
    with pytest.raises(ValueError, match="0 sample"):
        model.score(X[:0], THREE[:0])
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X, THREE, eval_set=[(X[:0], THREE[:0])])
    own = np.eye(3, dtype=int)[np.unique(THREE, return_inverse=True)[1]]
    for loss in ("hinge", "entropy"):
        with pytest.raises(InvalidParameterError, match=r"^eval_set: no right label in eval_0"):
            fast.MultilabelClassifier(loss=loss).fit(X, own, eval_set=[(X, 0 * own)])


@pytest.mark.parametrize(
    "y",
    [
        np.array([-100, 100, 27] * 100, np.int8),
        np.array([2**63, 2**63 + 2] * 3, np.uint64),
        np.array([-(2**62), 5 - 2**62, 1 - 2**62] * 3),
        np.array([7, 9, 7, 100_000]),
        np.array([True, False, True]),
        np.array([2.0, -1.0, 2.0, -1.0]),
    ],
)
def test_classes_are_counted_or_sorted(y: np.ndarray) -> None:
    classes, encoded = encode(y)
    expected = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(encoded, expected[1])
    assert (classes.dtype, encoded.dtype) == (y.dtype, np.int64)


def test_seeds_are_what_a_generator_draws_first() -> None:
    for given in (0, 7, np.int64(7)):
        drawn = np.random.RandomState(given).randint(2**31 - 1)
        assert seed_of(given) == seed_of(given) == drawn
    assert seed_of(None) == seed_of(0)
    state = np.random.RandomState(7)
    assert seed_of(state) == seed_of(7) != seed_of(state)
