"""One of each estimator, loss and solver, with data on which it is done soon."""

from functools import partial

import numpy as np
from _problems import classes, privileged, relevant

from fast import (
    APSVM,
    NDCGSVM,
    MultilabelClassifier,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
)

HINGE = partial(TopKSVC, random_state=0)
ENTROPY = TopKLogisticRegression
RANKERS = ("bundle", "cutting_plane")
VARIANTS = [("alpha", 1), ("alpha", 2), ("alpha", 4), ("beta", 2), ("beta", 4)]
SOLVERS = [("active", 0.0), ("active", 0.7), ("newton", 0.7), ("sdca", 0.0), ("sdca", 0.7)]
SOLVERS += [("fista", 0.7), ("interior", 0.0)]
SIGNED = [
    (make, loss)
    for make in (OneVsAllClassifier, MultilabelClassifier)
    for loss in make.object_names
]


def labelled(seed=0):
    """Features, and six labels that depend on them."""
    X, rng = classes(seed, n=60, m=4)[0], np.random.default_rng(seed)
    return X, (X @ rng.standard_normal((4, 6)) + rng.standard_normal((60, 6))) > 0.7


def outliers(seed=0, n=60):
    X, y = relevant(seed, n)
    X[:3] *= -6.0
    return X, y


CLASSES, RANKED = classes(1, n=60, m=6, spread=1.2), relevant(8)
ONE_EACH = {
    f"{solver} {gamma}": (HINGE(k=2, C=0.1, gamma=gamma, solver=solver, tol=tol), CLASSES)
    for (solver, gamma), tol in zip(SOLVERS, (1e-5,) * 3 + (1e-2,) * 2 + (1e-5,) * 2, strict=True)
}
ONE_EACH |= {
    f"entropy {variant} {k}": (ENTROPY(k=k, variant=variant, C=0.3, tol=1e-9), CLASSES)
    for variant, k in (("alpha", 1), ("alpha", 3), ("beta", 3))
}
ONE_EACH |= {solver: (APSVM(C=3.0, solver=solver, tol=1e-6), RANKED) for solver in RANKERS}
ONE_EACH["ndcg"] = NDCGSVM(C=3.0, tol=1e-6), RANKED
ONE_EACH |= {
    "ramp": (APSVM(C=20.0, ramp=True, tol=1e-4), outliers(1)),
    "easy": (APSVM(C=10.0, easy_fraction=0.75, tol=1e-4), relevant(1, n=80, shift=2.5)),
    "recall": (RecallAtK(C=5.0, tol=1e-5), relevant(9, n=120, d=4, shift=1.5)),
    "recall, classes": (RecallAtK(C=1.0, tol=1e-6), classes(5, n=40, m=4, d=3)),
    "top push": (TopPush(C=1.0, tol=1e-8), relevant(9, n=300, d=6, shift=5.0)),
    "top push, classes": (TopPush(C=1.0, tol=1e-8), classes(5, n=24, m=3, d=20)),
    "one-vs-all": (OneVsAllClassifier(C=0.3, tol=1e-6, random_state=0), classes(0, n=60, m=4)),
    "logistic": (OneVsAllClassifier("logistic", tol=1e-6, random_state=0), classes(0, n=60, m=4)),
    "multilabel": (MultilabelClassifier(C=0.3, tol=1e-6, random_state=0), labelled()),
    "two views": (SVM2KClassifier(0.5, tol=1e-6), privileged(2)),
}
