"""A trained model as one file: JSON and plain arrays in a zip, with checksums. Loading runs nothing of it.

The members, none of them compressed::

    model.json     what `_described` says: version, estimator, parameters, classes, columns, scaling, certificate
    coef.npy, intercept.npy, the arrays of the scaling (scaling_mean_.npy, ...), what fills missing values
    (fill.npy) and, of several labels, threshold.npy, float64
    SHA256SUMS     of all the others, as sha256sum writes them

A checksum finds accidents, no forgery: who can change the file can change that too. The certificate is
what the training found; only training data can show it again.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verification.app.model_fields import AGAIN, Fields, ModelFileError
from verification.app.preprocessing import FILLS, SCALINGS, columns_transformer, scaler
from verification.app.trained_model import Model
from verification.errors import DataFileError
from verification.instances import npz
from verification.instances.files import check_regular
from verification.report.environment import version

SUFFIX = ".refsolve"
FORMAT, VERSION = "refsolve model", 2
ESTIMATORS = ("TopKSVC", "TopKLogisticRegression", "APSVM", "SVMPlusClassifier", "MultilabelClassifier")  # fmt: skip
#: Names under which the certificate stands in the file, and on the estimator.
CERTIFICATE = {
    "primal": "primal_objective_", "dual": "dual_objective_", "relative_gap": "dual_gap_",
}  # fmt: skip
DTYPES = ("str", "bool", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)))
#: Bytes that the classes' names may take as an array.
LONGEST = 2**28


# -- writing --------------------------------------------------------------------------------------


def packed(model: Model) -> bytes:
    """The file of a model; the same model gives the same bytes."""
    classifier = model.classifier
    arrays = {"coef": classifier.coef_, "intercept": classifier.intercept_}
    if model.labels:
        arrays["threshold"] = np.array(classifier.threshold_)
    filling, scaling = _steps(model)
    for name in SCALINGS[model.scale] if scaling is not None else ():
        arrays[f"scaling_{name}"] = getattr(scaling, name)
    if filling is not None:
        arrays["fill"] = filling.statistics_
    text = json.dumps(_described(model), indent=1, allow_nan=False)
    members = {"model.json": text.encode()} | {f"{n}.npy": _npy(a) for n, a in arrays.items()}
    sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items())
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in {**members, "SHA256SUMS": "".join(sums).encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # its date is 1980-01-01
    return stream.getvalue()


def _steps(model: Model) -> tuple[Any, Any]:
    """The fitted imputer and scaler of the numbers, None where there is none."""
    if not hasattr(model.estimator, "steps"):
        return None, None
    first = model.estimator[0]
    if not model.framed:
        return None, first
    chain = first.named_transformers_.get("numbers")
    steps = [step for _, step in getattr(chain, "steps", [])]
    filling = steps[0] if model.impute is not None and steps else None
    return filling, steps[-1] if model.scale != "none" and steps else None


def _described(model: Model) -> dict[str, Any]:
    classifier = model.classifier
    classes = classifier.classes_
    return {
        "format": FORMAT,
        "version": VERSION,
        "refsolve": model.written_by,
        "estimator": type(classifier).__name__,
        "parameters": classifier.get_params(),
        "classes": classes.tolist(),
        "classes_dtype": "str" if classes.dtype.kind == "U" else classes.dtype.name,
        "n_features": int(model.estimator.n_features_in_),
        "columns": None if model.columns is None else list(model.columns),
        "apart": list(model.apart),
        "positive": model.positive,
        "group": model.group,
        **({"labels": list(model.labels)} if model.labels else {}),
        **({"features": list(model.features)} if model.features else {}),
        **({} if model.index_base is None else {"index_base": model.index_base}),
        **({"trained_on": list(model.trained_on)} if model.trained_on else {}),
        **({"booleans": list(model.booleans)} if model.booleans else {}),
        "scaling": model.scale,
        "centred": bool(getattr(_steps(model)[1], "with_mean", False)),
        "imputation": model.impute,
        "categories": {name: list(values) for name, values in model.categories.items()},
        "certificate": {
            **{name: _plain(_total(getattr(classifier, own))) for name, own in CERTIFICATE.items()},
            "tol": _plain(classifier.tol),
            "certified": model.certified,
            "iterations": int(classifier.n_iter_),
            "solver": str(classifier.solver_),
        },
    }


def _total(value: Any) -> float:
    """Of several problems, as SVM+ has a class each, the sum; the gap is one number."""
    return float(np.sum(value))


def _plain(value: Any) -> float | str:
    return float(value) if math.isfinite(value) else str(float(value))


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array, "<f8"), allow_pickle=False)
    return stream.getvalue()


# -- reading --------------------------------------------------------------------------------------


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model that ``refsolve train`` wrote. Nothing of the file is run, whoever wrote it.

    Parameters
    ----------
    path : of the file

    Raises
    ------
    ModelFileError
        No such file, no model, a pickle (of older versions), damage, another version, or parts that do
        not belong together.
    """
    where = os.fspath(path)
    try:
        data, sizes = _verified(where)
        given = Fields(json.loads(data, parse_constant=_refuse), f"{where}, model.json")
        return _model(given, sizes, where)
    except OSError as error:
        raise ModelFileError(
            f"cannot read {where}: {error.strerror or error}; expected a model file"
        ) from None
    except MemoryError:
        raise ModelFileError(f"{where} holds more than the memory of this machine") from None
    except ModelFileError:
        raise
    except DataFileError as error:
        raise ModelFileError(f"a damaged model file: {error}") from error
    except npz.SPOILT as error:
        raise ModelFileError(
            f"{where} is a damaged model file ({str(error)[:200] or type(error).__name__}); {AGAIN}"
        ) from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} in model.json")


def _verified(where: str) -> tuple[bytes, list[str]]:
    """The text of model.json and the names of the arrays, after all checksums agree."""
    check_regular(where)
    with open(where, "rb") as stream:
        start = stream.read(4)
    if start != b"PK\x03\x04":
        if start[:1] == b"\x80" or where.endswith((".joblib", ".pkl", ".pickle")):
            raise ModelFileError(
                f"{where} looks like a pickle, as older versions wrote models; it is not opened, as that "
                f"could run any code. Expected a {SUFFIX} file: train the model again with `refsolve train`"
            )
        raise ModelFileError(f"{where} is no model file; expected what `refsolve train` writes")
    size = os.path.getsize(where)
    with zipfile.ZipFile(where) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        for name in ("model.json", "SHA256SUMS"):
            if name not in infos:
                raise ModelFileError(f"{where} lacks the member {name}; {AGAIN}")
        if len(infos) != len(archive.infolist()) or len(infos) > 16:
            raise ModelFileError(f"{where} has members more than once, or too many; {AGAIN}")
        for name, info in infos.items():
            if info.compress_type or info.flag_bits & 1 or info.file_size > size:
                raise ModelFileError(
                    f"{where}, {name}: expected a member that is neither compressed nor encrypted, "
                    f"and no longer than the file; {AGAIN}"
                )
        lines = archive.read("SHA256SUMS").decode("ascii").splitlines()
        sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        names = [name for name in infos if name != "SHA256SUMS"]
        for name in sorted({*names, *sums}):
            data = archive.read(name) if name in infos else b""
            if name not in infos or sums.get(name) != hashlib.sha256(data).hexdigest():
                raise ModelFileError(
                    f"{where}, {name}: the checksum is not that in SHA256SUMS; the file was damaged or "
                    f"changed: {AGAIN}"
                )
        return archive.read("model.json"), names


def _check_version(given: Fields, where: str) -> None:
    if given.data.get("format") != FORMAT or given.data.get("version") != VERSION:
        raise ModelFileError(
            f"{where} is a {given.data.get('format')!r:.40} of version "
            f"{given.data.get('version')!r:.40}, written by refsolve {given.data.get('refsolve')!r:.40}; "
            f"this refsolve {version('refsolve')} reads a {FORMAT!r} of version {VERSION}: train it again, or read it "
            "with the refsolve that wrote it"
        )


def _model(given: Fields, members: list[str], where: str) -> Model:
    import fast

    _check_version(given, where)

    written_by = given.take("refsolve", "the version that wrote it", str)
    kind = getattr(fast, given.one_of("estimator", ESTIMATORS))
    classes = _classes(given)
    m, p = len(classes), given.take("n_features", "an integer >= 1", int)
    if p < 1:
        raise given.refuse("n_features", "an integer >= 1")
    columns = _names(given, "columns", p)
    found = kind(**_parameters(given.within("parameters"), kind().get_params(), m))
    scale = given.one_of("scaling", tuple(SCALINGS))
    impute = given.take("imputation", f"null or one of {', '.join(FILLS)}", str, type(None))
    if impute is not None and impute not in FILLS:
        raise given.refuse("imputation", f"null or one of {', '.join(FILLS)}")
    categories = _categories(given, columns or tuple(map(str, range(p))))
    q = p - len(categories)
    d = q + sum(map(len, categories.values()))
    several = kind is fast.MultilabelClassifier
    rows = m if m > 2 or several or kind in (fast.TopKSVC, fast.TopKLogisticRegression) else 1
    shapes: dict[str, Any] = {"coef": (rows, d), "intercept": (rows,)}
    shapes |= {f"scaling_{name}": (q,) for name in SCALINGS[scale] if q}
    shapes |= {"threshold": ()} if several else {}
    shapes |= {"fill": (q,)} if impute is not None and q else {}
    arrays = _arrays(where, members, shapes)
    certificate = given.within("certificate")
    vars(found).update(
        classes_=classes,
        n_features_in_=d,
        coef_=arrays["coef"],
        intercept_=arrays["intercept"],
        n_iter_=certificate.take("iterations", "an integer", int),
        solver_=certificate.take("solver", "the name of an algorithm", str),
        **{own: certificate.number(name) for name, own in CERTIFICATE.items()},
    )
    labels = _names(given, "labels", m) if several else None
    if several:
        if len(set(labels or ())) < m:
            raise given.refuse("labels", f"{m} names")
        vars(found).update(multilabel_=True, threshold_=float(arrays["threshold"]))
    estimator = _prepared(given, found, arrays, columns, categories, impute, scale)
    apart = _names(given, "apart", None) or ()
    positive, group = given.optional("positive"), given.optional("group")
    if positive is not None and classes.dtype != bool:
        raise given.refuse("positive", "null, where the classes are not false and true")
    features = (_names(given, "features", None) or ()) if "features" in given.data else ()
    sums = (_names(given, "trained_on", None) or ()) if "trained_on" in given.data else ()
    base = given.take("index_base", "0 or 1", int) if "index_base" in given.data else None
    if base not in (None, 0, 1):
        raise given.refuse("index_base", "0 or 1")
    booleans = (_names(given, "booleans", None) or ()) if "booleans" in given.data else ()
    if not set(booleans) <= set(columns or map(str, range(p))) - set(categories):
        raise given.refuse("booleans", "names of features that are no categories")
    known = (columns, impute, categories, apart, positive, group, written_by)
    model = Model(estimator, scale, *known, labels or (), features, base, sums, booleans)
    if (
        certificate.data.get("certified") is not model.certified
        or certificate.number("tol") != found.tol
    ):
        raise certificate.refuse("certified", "what relative_gap and tol say")
    return model


def _names(given: Fields, name: str, length: int | None) -> tuple[str, ...] | None:
    names = given.take(name, "names or null", list, type(None))
    if names is None:
        return None
    if length not in (None, len(names)) or any(type(c) is not str for c in names):
        raise given.refuse(
            name, "null or a list of texts" if length is None else f"null or {length} names, one per feature"
        )
    return tuple(names)


def _categories(given: Fields, columns: Sequence[str]) -> dict[str, list[str]]:
    found = given.take("categories", "values by the names of features", dict)
    for name, values in found.items():
        texts = type(values) is list and values and all(type(v) is str for v in values)
        if name not in columns or not texts or values != sorted(set(values)):
            raise given.refuse("categories", "sorted values by the names of features")
    return dict(found)


def _prepared(
    given: Fields, classifier: object, arrays: dict[str, np.ndarray], columns: tuple[str, ...] | None,
    categories: dict[str, list[str]], impute: str | None, scale: str,
) -> Any:  # fmt: skip
    """The classifier behind what prepares its features: built anew, then given its numbers."""
    from sklearn.pipeline import make_pipeline

    centred = given.take("centred", "true or false", bool)
    if impute is None and not categories:
        step = scaler(scale, sparse=scale == "standard" and not centred)
        _fill(step, arrays, scale)
        return classifier if step is None else make_pipeline(step, classifier)
    import pandas as pd

    names = columns or tuple(map(str, range(given.data["n_features"])))
    transform = columns_transformer(names, categories, scale, impute)
    row = {name: categories[name][0] if name in categories else 0.0 for name in names}
    transform.fit(pd.DataFrame([row]))
    chain = transform.named_transformers_.get("numbers")
    for step in [step for _, step in getattr(chain, "steps", [])]:
        if hasattr(step, "statistics_"):
            step.statistics_ = arrays["fill"]
        else:
            _fill(step, arrays, scale)
    return make_pipeline(transform, classifier)


def _fill(step: object, arrays: dict[str, np.ndarray], scale: str) -> None:
    fitted = {name: arrays[f"scaling_{name}"] for name in SCALINGS[scale] if step is not None}
    if fitted:
        vars(step).update(n_features_in_=len(arrays["scaling_scale_"]), **fitted)


def _classes(given: Fields) -> np.ndarray:
    names = given.take("classes", "a list of at least two classes", list)
    dtype = given.one_of("classes_dtype", DTYPES)
    kind = {"str": str, "bool": bool}.get(dtype, int)
    if len(names) < 2 or any(type(name) is not kind for name in names):
        raise given.refuse("classes", f"at least two, all of type {dtype}")
    if kind is str and 4 * len(names) * max(map(len, names)) > LONGEST:
        raise given.refuse("classes", f"names that take at most {LONGEST} bytes")
    try:
        classes = np.array(names, dtype)
    except OverflowError:
        raise given.refuse("classes", f"numbers of type {dtype}") from None
    if not (classes[1:] > classes[:-1]).all():
        raise given.refuse("classes", "classes in order, each once")
    return classes


def _parameters(given: Fields, defaults: Mapping[str, Any], m: int) -> dict[str, Any]:
    """Parameters of the constructor: plain values of the types of the defaults."""
    if unknown := sorted(set(given.data) - set(defaults)):
        raise given.refuse(unknown[0], "parameters that this version knows")
    found = {}
    for name, default in defaults.items():
        kinds: tuple[type, ...] = (float, int) if type(default) is float else (type(default),)
        if name == "random_state":
            kinds = (int, type(None))
        if name == "class_weight" and given.data.get(name) == "balanced":
            kinds = (str,)
        found[name] = given.take(name, f"a value like {default!r}", *kinds)
    if found.get("kernel", "linear") != "linear":
        raise given.refuse("kernel", "'linear'")
    if not 1 <= found.get("k", 1) < m:
        raise given.refuse("k", f"1 <= k <= {m - 1}, for {m} classes")
    return found


def _arrays(where: str, members: list[str], shapes: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays, all of float64, finite and of the shapes that model.json tells."""
    wanted = {"model.json", *(f"{name}.npy" for name in shapes)}
    if odd := sorted(wanted.symmetric_difference(members)):
        said = "lacks the member" if odd[0] in wanted else "has a member too many,"
        raise ModelFileError(f"{where} {said} {odd[0]!r:.80}; {AGAIN}")
    found = npz.read(where, list(shapes))
    for name, array in found.items():
        if array.dtype != "<f8" or array.shape != shapes[name]:
            raise ModelFileError(
                f"{where}, {name}.npy: {array.dtype} of shape {array.shape}; expected float64 of shape "
                f"{shapes[name]}; {AGAIN}"
            )
        low = 0.0 if name == "scaling_scale_" else -np.inf
        if not ((array > low) & (array < np.inf)).all():
            raise ModelFileError(
                f"{where}, {name}.npy: nan, inf or a scale <= 0; expected finite numbers; {AGAIN}"
            )
    return {name: np.array(array) for name, array in found.items()}
