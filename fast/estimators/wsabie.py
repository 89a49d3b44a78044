"""Wsabie: the WARP loss by stochastic gradients, which is not convex."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fast._interrupts import let_through
from fast._validation import moderate, number
from fast.errors import InvalidTypeError
from fast.estimators._prediction import ClassScores
from fast.estimators._settings import (
    Classifier,
    check_count,
    check_data,
    encode,
    generator,
    transaction,
)
from fast.solvers import warp


@dataclass(eq=False, repr=False)
class WsabieClassifier(ClassScores, Classifier):
    """Linear multiclass model of the WARP loss, by stochastic gradient steps; no certificate, no optimum.

    The mean over the examples of H_r/r sum of max(0, 1 + f_v - f_y) over the r wrong classes v with
    f_v > f_y - 1, H_r = 1 + 1/2 + ... + 1/r: a class that is pushed down weighs more near the top. f = W x,
    or f = U V x with ``rank``. That is **not convex**: no dual bounds it, the result depends on
    ``random_state``, ``learning_rate`` and ``epochs``, and there is no ``dual_gap_``. For a certified
    model for k guesses see :class:`fast.TopKSVC` and :class:`fast.TopKLogisticRegression`.

    In a step wrong classes are drawn until one, the q-th, violates the margin, at most n_classes - 1 of
    them; r is estimated by (n_classes - 1)//q.

    Parameters
    ----------
    rank : int or None, default=None
        Of W = U V: classes and features are embedded in so many dimensions, V from a random start.
        None trains W itself, from 0.
    epochs : int, default=30
        Passes over the examples, each in an order of its own.
    learning_rate : float, default=0.1
        Length of the first steps, which falls to 0 linearly, where rows of X have mean square 1: the
        scale of X has no influence. With ``rank`` a step is divided by ||V x||^2 or ||U_y - U_v||^2 where
        one of them exceeds 1.
    max_norm : float or None, default=None
        Bound on the length of each row of W in that unit, or of U, and of V in units of its start; the
        authors bound the columns of V, too, not its rows. None: no bound.
    random_state : int, RandomState instance or None, default=None
        Of the orders, the drawn classes and V. None is 0; None and an integer give the same bits again.
    verbose : int, default=0
        1 prints the loss after each epoch.

    Attributes
    ----------
    coef_ : ndarray (n_classes, n_features)
        W after the epoch with the least training loss, also of those before Ctrl-C.
    intercept_ : ndarray (n_classes,)
        Zeros.
    classes_ : ndarray (n_classes,)
    class_embedding_, feature_embedding_ : ndarray (n_classes, rank), (rank, n_features)
        U and V, with ``rank``.
    loss_ : float
        The mean of the loss at ``coef_``, with the ranks r themselves: an upper bound on its least value.
    history_ : dict of ndarray
        "epoch" and "loss" after it.
    n_iter_ : int
        Epochs done.

    Notes
    -----
    No intercept, no sample weights. This is Wsabie without the changes of the version "Wsabie++" that Lapin
    et al. (2015) compare with.

    References
    ----------
    Weston, Bengio, Usunier, "Wsabie: Scaling Up To Large Vocabulary Image Annotation", IJCAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import WsabieClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> bool(WsabieClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    rank: int | None = None
    epochs: int = 30
    learning_rate: float = 0.1
    max_norm: float | None = None
    random_state: Any = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # without a constant feature
        return tags

    @transaction
    def fit(self, X: Any, y: Any) -> Any:
        """Train for ``epochs``.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features)
            float64 or float32; CSR stays CSR.
        y : array (n_samples,)
            At least two classes.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A parameter is outside its range (the message says which, and the fix).
        ValueError
            From scikit-learn: nan, inf, wrong shapes, mismatched rows.

        Warns
        -----
        ConvergenceWarning
            Stopped by Ctrl-C; the best model so far is kept.
        """
        epochs = check_count("epochs", self.epochs, "pass 30")
        rank = None if self.rank is None else check_count("rank", self.rank, "pass None or 32")
        rate = moderate("learning_rate", number("learning_rate", self.learning_rate, positive=True))
        bound = np.inf
        if self.max_norm is not None:
            bound = moderate("max_norm", number("max_norm", self.max_norm, positive=True))
        if not isinstance(self.verbose, int | np.integer):
            raise InvalidTypeError("verbose", repr(self.verbose), "0 or 1", "pass verbose=1")
        X, y = check_data(self, X, y)
        self.classes_, encoded = encode(y)

        def report(epoch: int, loss: float) -> None:
            let_through()
            if self.verbose:
                print(f"epoch {epoch}: loss {loss:.6g}")

        found = warp.train(
            X, encoded, len(self.classes_), rank=rank, epochs=epochs, rate=rate, bound=bound,
            rng=generator(self.random_state), report=report,
        )  # fmt: skip
        self.coef_, self.intercept_ = found.W, np.zeros(len(found.W))
        if found.V is not None:
            self.class_embedding_, self.feature_embedding_ = found.U, found.V
        self.n_iter_, self.loss_ = len(found.history), float(min(found.history))
        losses = np.array(found.history)
        self.history_ = {"epoch": np.arange(1, len(losses) + 1), "loss": losses}
        if not found.interrupted:
            return []
        message = f"WsabieClassifier was interrupted after {self.n_iter_} of {epochs} epochs"
        return [
            ConvergenceWarning(f"{message}; the best model is kept. Fit it again for the others")
        ]

    def _scores(self, X: Any) -> np.ndarray:
        return np.asarray(self._new(X) @ self.coef_.T)
