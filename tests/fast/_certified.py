"""What a fitted model claims, against the certificate that `verification` makes of its attributes."""

import numpy as np
from _naive_ap_svm import check_descent
from _naive_entropy_erm import check_truncated

from verification.certificates.fitted import judge_claims, trained


def check_certificate(model, X, y, sample_weight=None, *, slack=None, **data):
    """P, D and gap are not better than the truth, and hardly worse; ``data``: groups, Z.

    Returns the certificate, or those of the classes of an SVM+. A model that is not convex is certified
    for its last convex step, and its descent is followed.
    """
    if hasattr(model, "truncated_objectives_"):
        return check_truncated(model, X, y)
    slack = slack or (1e-9 if data.get("Z") is None else 1e-7)
    found = trained(model, X, y, sample_weight, **data)
    said = judge_claims(model, X, y, sample_weight, **data)
    assert said.ok, said.message
    parts = getattr(found, "parts", (found,))
    claims = (model.primal_objective_, model.dual_objective_)
    gaps = getattr(model, "dual_gaps_", model.dual_gap_)
    for part, primal, dual, gap in zip(parts, *map(np.ravel, (*claims, gaps)), strict=True):
        scale = max(abs(part.primal), abs(part.dual))
        room = slack * scale + 4 * part.error + 1e-12 * model.C
        assert abs(primal - part.primal) <= room
        assert abs(dual - part.dual) <= room
        assert abs(gap * scale - part.gap) <= room
    if hasattr(model, "objectives_"):
        check_descent(model, X, y, slack, data.get("groups"))
    history = model.history_
    if hasattr(model, "fit_intercept"):
        assert set(history) == {"iteration", "time", "primal", "dual", "gap"}
        least = (
            0 if hasattr(model, "object_names") else 1
        )  # quasi-Newton of signed scores begins anew
        assert (np.diff(history["iteration"]) >= least).all()
        assert (np.diff(history["primal"]) <= slack * history["primal"][1:]).all()
        assert history["gap"][-1] == model.dual_gap_
        assert history["iteration"][-1] == model.n_iter_
    elif "class" in history:
        check_classes(model)
    return found if parts == (found,) else parts


def check_classes(model):
    """The history of an SVM+: the checks of each class, which only get better and end at the model."""
    history = model.history_
    assert set(history) == {"class", "iteration", "time", "primal", "dual", "gap"}
    assert (history["iteration"] > 0).sum() == model.n_iter_
    claims = (model.primal_objective_, model.dual_objective_, model.dual_gaps_)
    for j, (primal, dual, gap) in enumerate(zip(*map(np.ravel, claims), strict=True)):
        own = {name: column[history["class"] == j] for name, column in history.items()}
        steps = own["iteration"].tolist()
        assert steps in ([0], list(range(1, len(steps) + 1)))  # [0]: interrupted before the first
        assert (np.diff(own["primal"]) <= 1e-9 * own["primal"][1:]).all()
        # the last one is claimed, and rounded outwards
        rounding = np.where(np.arange(1, len(steps)) < len(steps) - 1, 1e-14, 1e-9)
        assert (np.diff(own["dual"]) >= -rounding * np.abs(own["dual"][1:])).all()
        assert (np.diff(own["time"]) >= 0.0).all()
        assert (own["primal"][-1], own["dual"][-1], own["gap"][-1]) == (primal, dual, gap)
