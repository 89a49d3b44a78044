"""Support vector machine for average precision."""

from dataclasses import dataclass
from typing import ClassVar

from fast.estimators._ranking_svm import RankingSVM
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss


@dataclass(eq=False, repr=False)
class APSVM(RankingSVM):
    """Linear ranker of two classes that maximises average precision, with a certified duality gap.

    Minimises P(w) = 1/2 ||w||^2 + C L(X w), L(s) = max over rankings R of
    1 - AP(R) + <s, Psi(R) - Psi(R*)>, Psi(R) = 1/(P N) sum over positives i and negatives j of
    +-(s_i - s_j), + where R puts i above j: convex, and at least 1 - AP of the worst ranking of
    the scores. With ``groups``, L is the mean over queries, weighted with ``query_weight``. Examples
    have no weights: average precision is that of a list, and no convex loss of it knows what half
    an example is.

    Compare it with logistic regression, which was as good or better in test AP, averaged over the
    classes of every data set tried.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser, > 0; not divided by n, the loss is one number.
    method : str, default="divide_and_conquer"
        How the most violated ranking is found; see
        :func:`fast.losses.average_precision.loss_augmented_inference`. All are exact and agree.
    easy_fraction : float, default=0.0
        0 <= easy_fraction <= 1. If positive (AP-SVM-APPX), a binary SVM with the same C is trained
        first; of the examples that it separates with margin >= 1, this fraction with the largest
        margins becomes linear constraints y_i (w x_i + b) >= 1, and L is that of the others.
    tol : float, default=1e-3
        Training stops at a relative duality gap (P - D)/max(|P|, |D|) <= tol.
    max_iter : int, default=1000
        Bound on iterations, for ``ramp`` of each convex step; each ends with a certificate.
    solver : {"auto", "bundle", "cutting_plane"}, default="auto"
        See :mod:`fast.solvers.structured`; "cutting_plane" is the slower reference.
    ramp : bool, default=False
        Minimise the structured ramp loss instead, max_R [1 - AP(R) + <s, Psi(R)>] -
        max_R <s, Psi(R)>, which is not convex: convex steps (CCCP) from logistic regression on,
        each certified, at most 50. It reaches a stationary point.
    warm_start : bool, default=False
        Begin at the last weights, also with ``ramp``, and at the last rankings if the labels and
        queries are the same.
    random_state : int, RandomState instance or None, default=None
        Unused; every estimator here has it.
    verbose : int, default=0
        1 shows a progress bar (digits of the gap), 2 prints each certificate.

    Attributes
    ----------
    coef_ : ndarray (1, n_features)
        w.
    intercept_ : ndarray (1,)
        Minus the threshold of ``predict``, which maximises accuracy on the training data: average
        precision does not depend on it. Among equally good ones the middle of the widest gap
        between two scores, then the lowest; with ``groups`` one threshold for all queries.
    classes_ : ndarray (2,)
        ``classes_[1]`` is the positive class, to be ranked first.
    primal_objective_, dual_objective_, dual_gap_ : float
        P at ``coef_``, D at ``dual_coef_``, and their relative difference, rounded outwards:
        no claim is better than the truth. For ``ramp`` they belong to the last convex step.
    dual_coef_ : ndarray (m,)
        Weights >= 0 of m rankings, with sum at most C (the rest is R*'s).
    rankings_ : ndarray of int32 (m, n_samples)
        These rankings by inversions within the query: for a positive the negatives above it, for
        a negative the positives below it.
    n_iter_, n_oracle_calls_ : int
        Iterations, and most violated rankings that were computed.
    history_ : dict of ndarray
        "iteration", "time" (seconds), "primal", "dual", "gap", "oracle_calls" and "active"
        (negatives above some positive in the last ranking) at each certificate.
    solver_ : str
        The algorithm that ran.
    easy_mask_ : ndarray of bool (n_samples,)
        With easy examples: which they are.
    easy_dual_coef_ : ndarray (n_samples,)
        With easy examples: multipliers >= 0 of their constraints, 0 at the others.
    easy_intercept_ : float
        With easy examples: b of their constraints, which scores do not contain.
    objectives_ : ndarray
        For ``ramp``: 1/2 ||w||^2 + C times the ramp loss, at the start and after each convex step;
        it never increases. ``n_rounds_`` is the number of steps, and ``history_`` has their "round".
    reference_ranking_ : ndarray of int32 (n_samples,)
        For ``ramp``: inversions of the ranking at which the last step's second maximum was fixed.

    References
    ----------
    Mohapatra, Jawahar, Kumar, "Efficient Optimization for Average Precision SVM", NIPS 2014;
    Yue, Finley, Radlinski, Joachims, "A Support Vector Method for Optimizing Average Precision",
    SIGIR 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fast import APSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> model = APSVM(C=10.0, tol=1e-4).fit(X / 16, y == 3)
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    >>> bool(model.score(X / 16, y == 3) > 0.9)
    True
    """

    object_name: ClassVar[str] = "average_precision"
    loss: ClassVar[RankLoss] = AVERAGE_PRECISION
