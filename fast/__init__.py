"""Production implementations: numba kernels and scikit-learn estimators.

Everything below is imported at its first use, so that ``import fast`` costs nothing:
``fast.TopKSVC``, ``fast.TopKLogisticRegression``, ``fast.OneVsAllClassifier``,
``fast.MultilabelClassifier``, ``fast.APSVM``, ``fast.NDCGSVM``, ``fast.LatentAPSVM``, ``fast.SVMPlusClassifier``,
``fast.SVM2KClassifier``, ``fast.TopPush``, ``fast.RecallAtK``, ``fast.WsabieClassifier``,
``fast.regularization_path``, ``fast.probe``, ``fast.audit``, ``fast.threads``, and the subpackages ``functions``,
``sets``, ``losses``, ``kernels``, ``models``, ``solvers``, ``ranking``, ``svm_plus``, ``data``,
``estimators`` with ``metrics``, ``datasets`` and ``errors``; and ``torch``, which needs torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fast._numba import warmup as warmup
    from fast._threads import threads as threads
    from fast.auditing import audit as audit
    from fast.estimators.ap_svm import APSVM as APSVM
    from fast.estimators.latent_ap_svm import LatentAPSVM as LatentAPSVM
    from fast.estimators.multilabel import MultilabelClassifier as MultilabelClassifier
    from fast.estimators.ndcg_svm import NDCGSVM as NDCGSVM
    from fast.estimators.one_vs_all import OneVsAllClassifier as OneVsAllClassifier
    from fast.estimators.recall_at_k import RecallAtK as RecallAtK
    from fast.estimators.svm_2k import SVM2KClassifier as SVM2KClassifier
    from fast.estimators.svm_plus import SVMPlusClassifier as SVMPlusClassifier
    from fast.estimators.top_push import TopPush as TopPush
    from fast.estimators.topk_logistic_regression import (
        TopKLogisticRegression as TopKLogisticRegression,
    )
    from fast.estimators.topk_svc import TopKSVC as TopKSVC
    from fast.estimators.wsabie import WsabieClassifier as WsabieClassifier
    from fast.path import regularization_path as regularization_path
    from fast.probing import probe as probe

_EXPORTS = {
    "APSVM": "fast.estimators.ap_svm",
    "LatentAPSVM": "fast.estimators.latent_ap_svm",
    "MultilabelClassifier": "fast.estimators.multilabel",
    "NDCGSVM": "fast.estimators.ndcg_svm",
    "OneVsAllClassifier": "fast.estimators.one_vs_all",
    "RecallAtK": "fast.estimators.recall_at_k",
    "SVM2KClassifier": "fast.estimators.svm_2k",
    "SVMPlusClassifier": "fast.estimators.svm_plus",
    "TopKLogisticRegression": "fast.estimators.topk_logistic_regression",
    "TopKSVC": "fast.estimators.topk_svc",
    "TopPush": "fast.estimators.top_push",
    "WsabieClassifier": "fast.estimators.wsabie",
    "audit": "fast.auditing",
    "probe": "fast.probing",
    "regularization_path": "fast.path",
    "threads": "fast._threads",
    "warmup": "fast._numba",
}
_MODULES = (
    "data",
    "datasets",
    "errors",
    "estimators",
    "functions",
    "kernels",
    "losses",
    "metrics",
    "models",
    "ranking",
    "sets",
    "solvers",
    "svm_plus",
    "torch",
)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    elif name == "__version__":
        metadata = importlib.import_module("importlib.metadata")
        try:
            value = metadata.version("refsolve")
        except metadata.PackageNotFoundError:  # this package alone
            value = metadata.version("refsolve-fast")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS, *_MODULES})
