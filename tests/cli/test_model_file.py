"""Model files: nothing is lost, nothing of them is run, and what is wrong with one is said."""

import hashlib
import io
import json
import os
import pickle
import resource
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from fast import MultilabelClassifier, TopKLogisticRegression, TopKSVC
from verification import InvalidArgumentError, load_model
from verification.app.model_file import ModelFileError, packed
from verification.app.preprocessing import SCALINGS, scaler
from verification.app.trained_model import Model, in_order
from verification.report.render import replace_files

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def trained(scale: str = "none", sparse: bool = False, **options: Any) -> Model:
    made = TopKLogisticRegression if options.pop("logistic", False) else TopKSVC
    classifier, transform = made(**{"C": 0.1, "random_state": 0, **options}), scaler(scale, sparse)
    model = classifier if transform is None else make_pipeline(transform, classifier)
    return Model(model.fit(X, NAMES), scale, ("a", "b", "c", "d"))


@pytest.fixture(scope="module")
def good() -> bytes:
    return packed(trained("standard"))


def opened(data: bytes, folder: Path) -> Model:
    path = folder / "model.refsolve"
    path.write_bytes(data)
    return load_model(path)


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes], pack: int = zipfile.ZIP_STORED, sums: bool = True) -> bytes:
    """An archive by somebody who can compute checksums."""
    if sums:
        rest = {n: d for n, d in parts.items() if n != "SHA256SUMS"}
        lines = "".join(f"{hashlib.sha256(d).hexdigest()}  {n}\n" for n, d in rest.items())
        parts = {**rest, "SHA256SUMS": lines.encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", pack) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        *({"scale": scale} for scale in SCALINGS),
        {"scale": "standard", "sparse": True, "gamma": 1.0, "k": 2, "fit_intercept": True},
        {"logistic": True, "k": 2, "truncated": True},
    ],
    ids=str,
)
def test_a_file_holds_the_model_to_the_last_bit(options: dict[str, Any], tmp_path: Path) -> None:
    model = trained(**options)
    data = packed(model)
    found = opened(data, tmp_path)
    np.testing.assert_array_equal(
        found.estimator.decision_function(X), model.estimator.decision_function(X)
    )
    np.testing.assert_array_equal(found.predict(X), model.estimator.predict(X))
    for name in ("dual_gap_", "primal_objective_", "dual_objective_", "n_iter_", "solver_"):
        assert getattr(found.classifier, name) == getattr(model.classifier, name)
    assert found.classifier.get_params() == model.classifier.get_params()
    assert (found.scale, found.columns, found.certified) == (model.scale, model.columns, True)
    assert packed(found) == data
    told = replace(model, trained_on=("0a", "1b"))
    assert opened(packed(told), tmp_path).trained_on == told.trained_on
    (tmp_path / "model.refsolve").write_bytes(data)
    assert (tmp_path / "model.refsolve").stat().st_size == len(data)


@pytest.mark.parametrize(
    "labels", [np.array([7, 9]), np.array([True, False]), np.array([3, 250], np.uint8), ["é", "ü"]]
)
def test_labels_of_every_kind(labels: Any, tmp_path: Path) -> None:
    y = np.asarray(labels)[(Y > 0).astype(int)]
    model = TopKSVC(C=0.1).fit(X, y)
    found = opened(packed(Model(model)), tmp_path).predict(X)
    np.testing.assert_array_equal(found, model.predict(X))
    assert found.dtype == y.dtype


def test_names_of_several_labels(tmp_path: Path) -> None:
    labels = ("a", "b")
    model = Model(MultilabelClassifier(C=0.1).fit(X, Y[:, None] < [1, 2]), labels=labels)
    found = opened(packed(model), tmp_path)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    assert found.labels == labels
    for wrong in (["a"], ["a", "a"], None):
        parts = members(packed(model))
        described(labels=wrong)(parts)
        with pytest.raises(ModelFileError, match="labels"):
            opened(archive_of(parts), tmp_path)


def test_columns_go_by_name(good: bytes, tmp_path: Path) -> None:
    model = opened(good, tmp_path)
    right = model.predict(X)
    order = [2, 0, 3, 1]
    np.testing.assert_array_equal(model.predict(X[:, order], ["c", "a", "d", "b"]), right)
    assert (model.predict(X[:, order]) != right).any()
    pa = pytest.importorskip("pyarrow")
    for kind in (pd.DataFrame, pa.table):
        frame = kind({name: X[:, j] for name, j in zip("cadbz", [*order, 0], strict=True)})
        np.testing.assert_array_equal(model.predict(frame), right)
    with pytest.raises(InvalidArgumentError, match=r"lacks the columns \['b'\]"):
        model.predict(pd.DataFrame(X[:, order], columns=list("cade")))
    np.testing.assert_array_equal(model.predict(X.tolist(), ["a", "b", "c", "d"]), right)
    for names in (["a", "b", "c", "e"], ["a", "b", "c"], ["a", "a", "c", "d"]):
        with pytest.raises(InvalidArgumentError, match="not those of the training data"):
            model.predict(X, names)


def test_columns_of_one_name_keep_their_places() -> None:
    assert in_order(X, ["a", "a", "b", "c"], ("a", "a", "b", "c")) is X
    with pytest.raises(InvalidArgumentError, match="if no name occurs twice"):
        in_order(X, ["a", "b", "a", "c"], ("a", "a", "b", "c"))


class Executed:
    """What a pickle runs when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, ("/tmp/this-is-never-made-by-a-model-file",)


def test_what_need_not_end_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.refsolve")
    for path in (tmp_path / "pipe.refsolve", Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="need not end"):
            load_model(path)


def test_a_pickle_is_never_opened(good: bytes, tmp_path: Path) -> None:
    for name in ("old.joblib", "old.refsolve"):
        path = tmp_path / name
        path.write_bytes(pickle.dumps(Executed()))
        with pytest.raises(ModelFileError, match=r"looks like a pickle.*train the model again"):
            load_model(path)
    parts = members(good) | {"coef.npy": npy(np.full((3, 4), Executed(), object))}
    with pytest.raises(ModelFileError, match="objects"):
        opened(archive_of(parts), tmp_path)
    assert not Path("/tmp/this-is-never-made-by-a-model-file").exists()


def described(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        parts["model.json"] = json.dumps(json.loads(parts["model.json"]) | changes).encode()

    return change


def within(part: str, **changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        data = json.loads(parts["model.json"])
        described(**{part: data[part] | changes})(parts)

    return change


def member(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda parts: parts.update({name: data})


CLAIM = npy(np.zeros((3, 4))).replace(b"(3, 4), }           ", b"(3, 400000000000), }")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda parts: parts.pop("model.json"), r"lacks the member model\.json"),
        (lambda parts: parts.pop("coef.npy"), r"lacks the member 'coef\.npy'"),
        (lambda parts: parts.pop("scaling_mean_.npy"), r"lacks the member 'scaling_mean_\.npy'"),
        (member("extra.py", b"print()"), r"too many, 'extra\.py'"),
        (described(format="other"), "'other' of version 2"),
        (described(version=1), "this refsolve .* reads a 'refsolve model' of version 2: train it again"),
        (described(estimator="os.system"), "expected one of TopKSVC"),
        (described(scaling="eval"), "expected one of standard, minmax"),
        (described(scaling=["none"]), "expected one of standard, minmax"),
        (described(classes=["setosa"]), "at least two"),
        (described(classes=["a", "c", "b"]), "classes in order"),
        (described(classes=["a", 2, "b"]), "all of type str"),
        (described(classes=["a", "b", "c", "d"]), r"coef\.npy: float64 of shape \(3, 4\).*\(4, 4\)"),
        (described(classes=["a", "b", "x" * 2**25]), "at most 268435456 bytes"),
        (described(classes=[1, 2, 2**70], classes_dtype="int64"), "numbers of type int64"),
        (described(classes_dtype="object"), "classes_dtype is 'object'"),
        (described(n_features=5), "null or 5 names"),
        (described(n_features=-1, columns=None), "damaged|expected"),
        (described(n_features=True, columns=None), "n_features is True"),
        (described(columns=["a", "b", "c", 4]), "null or 4 names"),
        (described(parameters=[]), "expected an object"),
        (described(parameters={}), "C is missing"),
        (described(trained_on=["0a", 4]), r"trained_on is .*; expected null or a list of texts"),
        (described(positive=3), "positive is 3; expected a name or null"),
        (described(positive="setosa"), "positive is 'setosa'; expected null"),
        (within("parameters", kernel="rbf"), "'linear'"),
        (within("parameters", k=3), "1 <= k <= 2"),
        (within("parameters", verbose="yes"), "verbose is 'yes'; expected a value like 0"),
        (within("parameters", callback="os.system"), "callback is 'os.system'; expected parameters"),
        (within("certificate", certified=False), "what relative_gap and tol say"),
        (within("certificate", relative_gap="small"), "relative_gap is 'small'; expected a number"),
        (within("certificate", tol=1.0), "what relative_gap and tol say"),
        (member("model.json", b"[]"), "expected an object"),
        (member("model.json", b"{"), "damaged"),
        (member("model.json", b"\xff"), "damaged"),
        (member("model.json", b'{"a": NaN}'), "NaN"),
        (member("model.json", b"[" * 100_000), "damaged"),
        (member("coef.npy", b"nothing"), "damaged"),
        (member("coef.npy", CLAIM), "claims shape"),
        (member("coef.npy", npy(np.zeros((3, 4), np.float32))), r"float32 .*expected float64"),
        (member("coef.npy", npy(np.full((3, 4), np.nan))), "nan, inf"),
        (member("scaling_scale_.npy", npy(np.zeros(4))), "scale <= 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    change: Callable[[dict[str, bytes]], Any], says: str, good: bytes, tmp_path: Path
) -> None:
    parts = members(good)
    change(parts)
    with pytest.raises(ModelFileError, match=says) as info:
        opened(archive_of(parts), tmp_path)
    assert "model.refsolve" in str(info.value)
    assert len(str(info.value)) < 1200


def test_damage_is_found(good: bytes, tmp_path: Path) -> None:
    parts = members(good)
    coef = bytearray(parts["coef.npy"])
    coef[-1] ^= 1
    spoilt = [
        b"",
        b"PK\x03\x04",
        b"a text",
        good[: len(good) // 2],
        archive_of(parts, zipfile.ZIP_DEFLATED),
        archive_of(parts | {"coef.npy": bytes(coef)}, sums=False),
        archive_of({n: d for n, d in parts.items() if n != "SHA256SUMS"}, sums=False),
        archive_of(parts | {"SHA256SUMS": b"\xff"}, sums=False),
    ]
    stream = io.BytesIO(good)
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("coef.npy", parts["coef.npy"])
    spoilt.append(stream.getvalue())
    for data in spoilt:
        with pytest.raises(ModelFileError, match=r"model\.refsolve"):
            opened(data, tmp_path)
    place = good.rindex(b"coef.npy") - 46  # in the directory at the end of the archive
    huge = (2**31 - 2).to_bytes(4, "little") * 2
    with pytest.raises(ModelFileError, match="no longer than the file"):
        opened(good[: place + 20] + huge + good[place + 28 :], tmp_path)
    with pytest.raises(ModelFileError, match="No such file"):
        load_model(tmp_path / "none.refsolve")
    with pytest.raises(ModelFileError, match="directory"):
        load_model(tmp_path)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_bytes_are_read_or_refused(good: bytes, tmp_path_factory: Any, data: Any) -> None:
    """Changed bytes are found by a checksum, or are in what a zip holds twice."""
    text = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(text))) if data.draw(st.booleans()) else len(text)
    try:
        found = opened(bytes(text[:cut]), tmp_path_factory.getbasetemp())
    except ModelFileError:
        return
    assert packed(found) == good


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    first, second = tmp_path / "model.refsolve", tmp_path / "model.json"
    first.write_bytes(b"old")
    first.chmod(0o600)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(InvalidArgumentError, match="what was there is kept"):
            replace_files({first: b"new", second: b"x" * 5000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [p.name for p in tmp_path.iterdir()] == ["model.refsolve"]
    assert first.read_bytes() == b"old"
    replace_files({first: b"new", second: b"more"})
    assert (first.read_bytes(), second.read_bytes()) == (b"new", b"more")
    assert len(list(tmp_path.iterdir())) == 2
    assert first.stat().st_mode & 0o777 == 0o600
