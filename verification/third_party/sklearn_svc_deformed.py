"""``SVC(kernel="precomputed")`` on the deformed kernel K + yy' Q: the dual of SVM2+."""

import warnings
from typing import Any

import numpy as np

from verification.adapters.estimators import support_values

PROBLEM = "svm_plus_squared_hinge.dual"
PACKAGES = ("scikit-learn",)
FIXED = {"tol": 1e-3}
#: Without a limit, which is the default, some instances never end.
STEPS = 1_000_000
FOUND = """LIBSVM solves SVM2+ this way: 70 of 71 models have a relative duality gap of at most
1e-3. One does not, with C = 1e5 and privileged features that say so much that w is 0: entries of
the kernel beside C then lie far apart, LIBSVM caches them in single precision, and it takes steps
without end (none within two minutes; the candidate stops it after a million, which scikit-learn
announces with a warning)."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.svm import SVC

X = np.array(
    [[-0.5514249249374944, 1.050062826654304], [2.5742333454447213, 1.2148592136423149],
     [-0.24180675802642906, -2.13177079323219], [0.9830252840691619, -1.0544271010395059],
     [-0.48054485348347525, -0.7496092756909022], [-1.8196336931227486, 0.4905062269436166]]
)
y, C, lam = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), 1e5, 1e-3
z = [-1.1937562374722797, -0.5584146570768992, 1.2937968668248705, -1.739112296539464,
     -1.3154513661127498, -0.5674022441716585]
Z = np.column_stack([z, np.ones(6)])
Q = Z @ np.linalg.solve(lam * np.eye(2) + C * Z.T @ Z, Z.T)
H = X @ X.T * np.outer(y, y) + Q
with warnings.catch_warnings(action="ignore"):
    model = SVC(C=(6 * C + lam) / 2, kernel="precomputed", max_iter=1_000_000)
    model.fit(H * np.outer(y, y), y)
alpha = np.zeros(6)
alpha[model.support_] = np.abs(model.dual_coef_[0])
better = np.array([170474.14758197588, 250.40054684919934, 118955.90382060563, 148766.76591944168,
                   10569.949097418543, 150982.83403370916])
returned, right = (a.sum() - a @ H @ a / 2 for a in (alpha, better))
"""


def candidate(
    X: Any = None, *, y: Any, Z: Any = None, C: float, lam: float, K: Any = None, Kz: Any = None
) -> dict[str, Any]:
    """The dual has no box; half of C n + lambda is one that is never active."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    from refsolve.models.svm_plus_squared_hinge import deformed_kernel

    Q = deformed_kernel(Z=Z, Kz=Kz, C=C, lam=lam)
    gram = X @ X.T if K is None else K
    deformed = gram + np.outer(y, y) * Q
    box = (C * len(y) + lam) / 2
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = SVC(C=box, kernel="precomputed", max_iter=STEPS).fit(deformed, y)
    return {"alpha": support_values(model, len(y))}
