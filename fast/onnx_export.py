"""Linear models as ONNX, by converters for skl2onnx: alone, or at the end of a pipeline.

>>> from fast.onnx_export import register
>>> register()  # doctest: +SKIP
>>> skl2onnx.to_onnx(pipeline, X[:1])  # doctest: +SKIP

The graph has two outputs: the label, and scores (n, n_classes), which are probabilities where the model has
any. One-score models (AP-SVM, SVM+ of two classes) give the columns -f and f.
"""

from typing import Any

import numpy as np

from fast.errors import InvalidParameterError
from fast.estimators.ap_svm import APSVM
from fast.estimators.svm_plus import SVMPlusClassifier
from fast.estimators.topk_logistic_regression import TopKLogisticRegression
from fast.estimators.topk_svc import TopKSVC

ESTIMATORS = (TopKSVC, TopKLogisticRegression, APSVM, SVMPlusClassifier)


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
        raise ImportError("ONNX export needs skl2onnx: install refsolve[onnx]") from error
    for kind in ESTIMATORS:
        update_registered_converter(
            kind, _alias(kind), _shapes, _convert, overwrite=True, parser=_parse
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


def _linear(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts, a row per class."""
    if not hasattr(model, "coef_"):
        raise InvalidParameterError(
            "kernel",
            repr(getattr(model, "kernel", None)),
            "'linear'",
            "only linear models are exported",
        )
    W, b = model.coef_, model.intercept_
    if len(W) == 1:
        return np.vstack([-W, W]), np.concatenate([-b, b])
    return W, b


def _shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    text = model.classes_.dtype.kind in "UO"
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
    W, b = _linear(model)
    value = given
    if not double:
        value = OnnxCast(given, to=guess_proto_type(operator.outputs[1].type), op_version=opset)
    scores = OnnxGemm(value, W.T.astype(real), b.astype(real), op_version=opset)
    best = OnnxArgMax(scores, axis=1, keepdims=0, op_version=opset)
    classes = model.classes_
    classes = classes.astype(str) if classes.dtype.kind in "UO" else classes.astype(np.int64)
    label = OnnxReshape(
        OnnxArrayFeatureExtractor(classes, best, op_version=opset),
        np.array([-1], np.int64),
        op_version=opset,
        output_names=[operator.outputs[0].full_name],
    )
    names = [operator.outputs[1].full_name]
    if hasattr(model, "predict_proba"):
        told = OnnxSoftmax(scores, axis=1, op_version=opset, output_names=names)
    else:
        told = OnnxReshape(
            scores, np.array([-1, len(classes)], np.int64), op_version=opset, output_names=names
        )
    label.add_to(scope, container)
    told.add_to(scope, container)
