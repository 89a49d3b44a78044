"""Refits to another problem that are refused or interrupted, and what the model may be afterwards."""

import functools
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import _problems
import numpy as np
from sklearn.base import clone

import fast
from fast import (
    APSVM,
    LatentAPSVM,
    MultilabelClassifier,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
)
from verification.certificates.fitted import judge_claims
from verification.verdicts.verdict import Verdict

FAST = str(Path(fast.__file__).parent)
Line = tuple[str, int]


class Refit:
    """A fitted model, and the data of another problem: other labels, another width."""

    def __init__(self, model: Any, old: tuple[Any, ...], new: tuple[Any, ...], **more: Any) -> None:
        self.model, self.old, self.new, self.more = model, old, new, more
        self.kept = b""

    def fitted(self) -> Any:
        """A model that was fitted to the old problem; the same one each time."""
        if not self.kept:
            self.kept = pickle.dumps(clone(self.model).fit(*self.old))
        return pickle.loads(self.kept)

    def fit(self, model: Any) -> Any:
        """To the new problem."""
        return model.fit(*self.new, **self.more)

    @staticmethod
    def state(model: Any) -> bytes:
        """All that the model is."""
        return pickle.dumps(vars(model))

    def outcome(self, model: Any, before: bytes) -> str:
        """Whether the model is the old one, or one of the new problem that says the truth of itself."""
        if self.state(model) == before:
            return "old"
        X, y, *Z = self.new
        assert model.n_features_in_ == np.shape(X[0])[-1]
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        assert set(model.predict(X)) <= set(y)
        if hasattr(model, "coef_"):
            assert model.coef_.shape[1] == model.n_features_in_
        said = judge_claims(model, X, y, **self.more, **({"Z": Z[0]} if Z else {}))
        assert said.verdict is Verdict.PASS, said.message
        if hasattr(model, "coef_"):  # with a kernel it is of another problem
            assert model.history_["gap"][-1] <= model.dual_gap_
        return "new"


def named(X: Any, y: Any, *more: Any) -> tuple[Any, ...]:
    """The same problem with letters as labels."""
    return (X, np.array(list("uvwxyz"))[np.asarray(y, dtype=int)], *more)


_TWO = _problems.classes(0, n=12, m=3, d=2), named(*_problems.classes(1, n=16, m=4, d=3))
_RANKED = _problems.relevant(0, n=10, d=2), named(*_problems.relevant(1, n=14, d=3))
_PLUS = _problems.privileged(0, n=12, d=2), named(*_problems.privileged(1, n=18, d=3, classes=3))
REFITS = {
    "hinge": Refit(TopKSVC(k=2, C=0.03, warm_start=True, tol=1e-2, random_state=0), *_TWO),
    "hinge, kernel": Refit(
        TopKSVC(C=0.03, kernel="rbf", gamma=0.5, tol=1e-2, random_state=0), *_TWO
    ),
    "hinge, interior": Refit(
        TopKSVC(k=2, C=0.3, solver="interior", tol=1e-2, random_state=0), *_TWO
    ),
    "one-vs-all": Refit(OneVsAllClassifier("logistic", C=0.3, warm_start=True, tol=1e-2), *_TWO),
    "multilabel": Refit(MultilabelClassifier("entropy", C=0.3, tol=1e-2, random_state=0), *_TWO),
    "entropy": Refit(TopKLogisticRegression(k=2, fit_intercept=True, tol=1e-2), *_TWO),
    "truncated": Refit(TopKLogisticRegression(k=2, truncated=True, tol=1e-2), *_TWO),
    "AP": Refit(APSVM(warm_start=True, tol=1e-2), *_RANKED, groups=np.arange(14) % 2),
    "AP, ramp": Refit(APSVM(ramp=True, tol=1e-2), *_RANKED),
    "AP, easy": Refit(APSVM(easy_fraction=0.5, C=0.1, tol=1e-2), *_RANKED),
    "recall": Refit(RecallAtK(warm_start=True, tol=1e-2), *_RANKED),
    "top push": Refit(TopPush(warm_start=True, tol=1e-2), *_RANKED),
    "recall, classes": Refit(RecallAtK(C=0.1, warm_start=True, tol=1e-2), *_TWO),
    "top push, classes": Refit(TopPush(warm_start=True, tol=1e-2), *_TWO),
    "latent": Refit(
        LatentAPSVM(C=0.3, warm_start=True, tol=1e-2),
        _problems.bags(0, n=8, d=2),
        named(*_problems.bags(1, n=12, d=3)),
    ),
    "plus": Refit(SVMPlusClassifier(C=3.0, free_slack=0.3, tol=1e-2), *_PLUS),
    "plus, hinge": Refit(SVMPlusClassifier(loss="hinge", tol=1e-2, free_slack=0.3), *_PLUS),
    "plus, kernels": Refit(
        SVMPlusClassifier(kernel="rbf", kernel_z="rbf", loss="hinge", tol=1e-2), *_PLUS
    ),
    "two views": Refit(SVM2KClassifier(C=3.0, tol=1e-2), *_PLUS),
    "plain": Refit(SVMPlusClassifier(C=3.0, tol=1e-2), _PLUS[0][:2], _PLUS[1][:2]),
}


@functools.cache
def lines_in(code: CodeType) -> frozenset[int | None]:
    """Line numbers of a function."""
    return frozenset(line for *_, line in code.co_lines())


def traced(run: Callable[[], Any], at_line: Callable[[FrameType], None], of: Line | None) -> None:
    """Run with ``at_line`` called before each line of fast/, or only in functions around one."""

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            at_line(frame)
        return local

    def begun(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if of is None:
            return local if code.co_filename.startswith(FAST) else None
        return local if code.co_filename == of[0] and of[1] in lines_in(code) else None

    before = sys.gettrace()
    sys.settrace(begun)
    try:
        run()
    finally:
        sys.settrace(before)


OUTCOMES = {
    MemoryError: {"old, MemoryError", "new, MemoryError"},
    KeyboardInterrupt: {
        "old, KeyboardInterrupt", "new, KeyboardInterrupt",
        "new, ConvergenceWarning", "new, CollapseWarning",
        "new, nothing",  # its gap was small enough already
    },
}  # fmt: skip


def lines_of(refit: Refit) -> list[Line]:
    """The lines of fast/ that a refit reaches, in order."""
    seen: dict[Line, None] = {}
    refit.fit(refit.fitted())  # imports what is imported when it is needed
    model = refit.fitted()

    def note(frame: FrameType) -> None:
        seen[frame.f_code.co_filename, frame.f_lineno] = None

    traced(lambda: refit.fit(model), note, None)
    assert refit.outcome(model, b"") == "new"
    return list(seen)


def refit_that_fails(refit: Refit, line: Line, kind: type[BaseException], skip: int = 0) -> str:
    """An exception at a line, when it is reached for the first time (or later): what came of it."""
    model, left = refit.fitted(), skip
    before = refit.state(model)

    def fail(frame: FrameType) -> None:
        nonlocal left
        if frame.f_lineno == line[1]:
            left -= 1
            if left < 0:
                left = sys.maxsize
                raise kind

    said = "nothing"
    try:
        traced(lambda: refit.fit(model), fail, line)
    except BaseException as error:
        said = type(error).__name__
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have failed to do so
    return f"{refit.outcome(model, before)}, {said}"
