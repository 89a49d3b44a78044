"""Linear models as ONNX, by converters for skl2onnx: alone, or at the end of a pipeline.

>>> from fast.onnx_export import register
>>> register()  # doctest: +SKIP
>>> skl2onnx.to_onnx(pipeline, X[:1])  # doctest: +SKIP

The graph has two outputs: the label, and scores (n, n_classes), which are probabilities where the model has
any, else those of `decision_function`: with two classes the columns -f and f. The option ``raw_scores`` of
skl2onnx asks for the latter of every model: sigmoid calibration, stacking, bagging, voting, one-vs-rest and searches
set it, and are exported with these models as with scikit-learn's. (skl2onnx 1.20 rounds isotonic calibration to the
nearest knot, and asks no pipeline inside `CalibratedClassifierCV` for raw scores, of whatever model: scale outside.)
Labels are integers from -2^63 to 2^63 - 1, booleans (0 and 1) or strings.
"""

from typing import Any

import numpy as np

from fast.errors import InvalidParameterError
from fast.estimators.ap_svm import APSVM
from fast.estimators.svm_plus import SVMPlusClassifier
from fast.estimators.topk_logistic_regression import TopKLogisticRegression
from fast.estimators.topk_svc import TopKSVC

ESTIMATORS = (TopKSVC, TopKLogisticRegression, APSVM, SVMPlusClassifier)
#: Pipelines hand their default on, zipmap=True: scores are a tensor all the same.
OPTIONS = {"raw_scores": [True, False], "zipmap": [True, False]}
#: Pipelines hand their default on, zipmap=True: scores are a tensor all the same.
OPTIONS = {"raw_scores": [True, False], "zipmap": [True, False]}


def register() -> None:
    """Tell skl2onnx how to convert the linear estimators of this package.

    Raises
    ------
    ImportError
        skl2onnx is not installed.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("ONNX export needs skl2onnx: in a clone of refsolve, pip install '.[onnx]'") from error
    for kind in ESTIMATORS:
        update_registered_converter(
            kind, _alias(kind), _shapes, _convert, overwrite=True, parser=_parse, options=OPTIONS
        )


def _alias(kind: type) -> str:
    return f"Refsolve{kind.__name__}"


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Two tensors come out, not a list of dictionaries."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    operator.outputs.append(scope.declare_local_variable("label", Int64TensorType()))
    operator.outputs.append(scope.declare_local_variable("scores", FloatTensorType()))
    return operator.outputs


def _linear(model: Any, raw: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts, a row per class; of raw scores of two classes those of -f and f."""
    if not hasattr(model, "coef_"):
        raise InvalidParameterError(
            "kernel",
            repr(getattr(model, "kernel", None)),
            "'linear'",
            "only linear models are exported",
        )
    W, b = model.coef_, model.intercept_
    if raw and len(W) == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    if len(W) == 1:
        return np.vstack([-W, W]), np.concatenate([-b, b])
    return W, b


def _labels(classes: np.ndarray) -> np.ndarray:
    """Labels as int64 or strings, the only ones that a graph has."""
    kind = classes.dtype.kind
    if kind in "UT" or (kind == "O" and all(isinstance(label, str) for label in classes)):
        return classes.astype(str)
    if kind in "biuf":
        with np.errstate(invalid="ignore"):
            whole = classes.astype(np.int64)
        if all(int(a) == b for a, b in zip(whole, classes.tolist(), strict=True)):
            return whole
    raise InvalidParameterError(
        "y",
        f"labels of {classes.dtype}, such as {classes[-1]!r}",
        "integers from -2^63 to 2^63 - 1, or strings: an ONNX graph has no others",
        "fit with y.astype(str), or with numbers of the classes",
    )


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    text = _labels(model.classes_).dtype.kind == "U"
    operator.outputs[0].type = (StringTensorType if text else Int64TensorType)([rows])
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    wanted = DoubleTensorType if double else FloatTensorType
    operator.outputs[1].type = wanted([rows, len(model.classes_)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.algebra.onnx_ops import (
        OnnxArgMax,
        OnnxArrayFeatureExtractor,
        OnnxCast,
        OnnxGemm,
        OnnxReshape,
        OnnxSoftmax,
    )
    from skl2onnx.common.data_types import DoubleTensorType, guess_proto_type

    model, given, opset = operator.raw_operator, operator.inputs[0], container.target_opset
    double = isinstance(given.type, DoubleTensorType)
    real = np.float64 if double else np.float32
    probable = hasattr(model, "predict_proba")
    raw = container.get_options(model).get("raw_scores", not probable)
    if not raw and not probable:  # as OneVsRestClassifier asks
        raise InvalidParameterError(
            "raw_scores",
            f"False for {type(model).__name__}, which has no probabilities",
            "True",
            "export with options={id(m): {'raw_scores': True}}, m the whole model, or calibrate it first",
        )
    W, b = _linear(model, raw)
    value = given
    if not double:
        value = OnnxCast(given, to=guess_proto_type(operator.outputs[1].type), op_version=opset)
    scores = OnnxGemm(value, W.T.astype(real), b.astype(real), op_version=opset)
    best = OnnxArgMax(scores, axis=1, keepdims=0, op_version=opset)
    classes = _labels(model.classes_)
    label = OnnxReshape(
        OnnxArrayFeatureExtractor(classes, best, op_version=opset),
        np.array([-1], np.int64),
        op_version=opset,
        output_names=[operator.outputs[0].full_name],
    )
    names = [operator.outputs[1].full_name]
    if not raw:
        told = OnnxSoftmax(scores, axis=1, op_version=opset, output_names=names)
    else:
        told = OnnxReshape(
            scores, np.array([-1, len(classes)], np.int64), op_version=opset, output_names=names
        )
    label.add_to(scope, container)
    told.add_to(scope, container)
