"""The losses on tensors, one function each; what they share stands in `fast.torch._faces`."""

from functools import partial
from typing import Any, Unpack

import torch
from torch import Tensor

from fast.errors import InvalidParameterError
from fast.torch._entropies import BETA, TRUNCATED, Entropy
from fast.torch._faces import (
    LABELLED,
    PARAMETERS,
    Options,
    Rules,
    documented,
    label_margins,
    multiclass,
    multilabel,
)
from fast.torch._function import rows
from fast.torch._hinges import Hinge
from fast.torch._inputs import (
    check_gamma,
    check_indicator,
    check_number,
    check_reduction,
    check_scores,
)
from fast.torch._ranking import Rankings
from fast.torch._signed import LOGISTIC, SMOOTH, Bipartite, OneVsAll, Uniform
from fast.torch._smooth import Simplex, Smooth

RULES = {
    "multiclass_hinge": Rules(Hinge, 1.0),
    "topk_hinge_alpha": Rules(Hinge, 1.0),
    "topk_hinge_beta": Rules(partial(Hinge, beta=True), 1.0, bounded=False),
    "squared_topk_hinge": Rules(partial(Hinge, squared=True), 1.0),
    "smooth_topk_hinge_alpha": Rules(Smooth, 1.0),
    "smooth_topk_hinge_beta": Rules(partial(Smooth, beta=True), 1.0, bounded=False),
    "softmax": Rules(Entropy, linear=True),
    "topk_entropy_alpha": Rules(Entropy),
    "topk_entropy_beta": Rules(partial(Entropy, variant=BETA), bounded=False),
    "truncated_topk_entropy": Rules(partial(Entropy, variant=TRUNCATED)),
    "sparsemax": Rules(Simplex, linear=True),
    "ova_hinge": Rules(OneVsAll, 1.0, signed=True),
    "ova_smooth_hinge": Rules(partial(OneVsAll, kind=SMOOTH), 1.0, signed=True),
    "ova_logistic": Rules(partial(OneVsAll, kind=LOGISTIC), signed=True),
}
ANY_TOP = "int, default 1", "At least 1; beyond m - 1 only the factor 1/k changes."
ALL_MARGINS = (
    "float or Tensor, shape (m,) or (..., m), optional",
    "Margins c_j of all classes; default {cost}.",
)


def _rows(
    name: str,
    scores: Tensor,
    y: Tensor,
    parameters: dict[str, Any],
    /,
    **options: Unpack[Options],
) -> Tensor:
    return multiclass(name, RULES[name], scores, y, parameters, **options)


@documented("1")
def multiclass_hinge(scores: Tensor, y: Tensor, **options: Unpack[Options]) -> Tensor:
    """Multiclass hinge max{0, max_j z_j}, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1 at a largest z_j; 0 where the loss is 0. Crammer and Singer 2001.
    """
    return _rows("multiclass_hinge", scores, y, {}, **options)


@documented("1")
def topk_hinge_alpha(
    scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]
) -> Tensor:
    """Top-k hinge max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1/k at k largest z_j; 0 where the loss is 0. Lapin, Hein and Schiele 2015, equation (3).
    """
    return _rows("topk_hinge_alpha", scores, y, {"k": k}, **options)


@documented("1", k=ANY_TOP)
def topk_hinge_beta(scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]) -> Tensor:
    """Top-k hinge S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1/k at those of k largest z_j that are positive. Lapin, Hein and Schiele 2015, equation (5).
    """
    return _rows("topk_hinge_beta", scores, y, {"k": k}, **options)


@documented("1")
def squared_topk_hinge(
    scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]
) -> Tensor:
    """Squared top-k hinge max{0, S_k(z)/k}^2/2, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: the hinge over k at k largest z_j.
    """
    return _rows("squared_topk_hinge", scores, y, {"k": k}, **options)


@documented("1")
def smooth_topk_hinge_alpha(
    scores: Tensor, y: Tensor, *, k: int = 1, gamma: float = 1.0, **options: Unpack[Options]
) -> Tensor:
    """Smooth top-k hinge (<z,p> - ||p||^2/2)/gamma, p the projection of z on Delta_k^alpha(gamma).

    z_j = f_j - f_y + c_j over the m - 1 other classes; gradient p/gamma. Lapin, Hein and Schiele 2016,
    Propositions 6 and 10.
    """
    given = {"k": k, "gamma": check_gamma(gamma)}
    return _rows("smooth_topk_hinge_alpha", scores, y, given, **options)


@documented("1", k=ANY_TOP)
def smooth_topk_hinge_beta(
    scores: Tensor, y: Tensor, *, k: int = 1, gamma: float = 1.0, **options: Unpack[Options]
) -> Tensor:
    """Smooth top-k hinge (<z,p> - ||p||^2/2)/gamma, p the projection of z on Delta_k^beta(gamma).

    z_j = f_j - f_y + c_j over the m - 1 other classes; gradient p/gamma. Lapin, Hein and Schiele 2016,
    Propositions 6 and 10.
    """
    given = {"k": k, "gamma": check_gamma(gamma)}
    return _rows("smooth_topk_hinge_beta", scores, y, given, **options)


@documented()
def softmax(scores: Tensor, y: Tensor, **options: Unpack[Options]) -> Tensor:
    """Softmax loss log(1 + sum_j e^{u_j}), u_j = f_j - f_y + c_j over the m - 1 other classes.

    Relative accuracy where `torch.nn.functional.cross_entropy` has an absolute one: near certainty that loses
    digits, and its gradient at the true class, 1 - p_y, with them.
    """
    return _rows("softmax", scores, y, {}, **options)


@documented()
def topk_entropy_alpha(
    scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]
) -> Tensor:
    """Top-k entropy loss log(1 + e^v), the softmax loss with its dual restricted to Delta_k^alpha(1).

    v = rho log k + sum_U u/k + (1-rho) log(Z/(1-rho)), rho = |U|/k, U the capped classes;
    u_j = f_j - f_y + c_j over the m - 1 other classes. Lapin, Hein and Schiele 2016, Proposition 8.
    """
    return _rows("topk_entropy_alpha", scores, y, {"k": k}, **options)


@documented(k=ANY_TOP)
def topk_entropy_beta(
    scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]
) -> Tensor:
    """Top-k entropy loss rho log k + sum_U u/k + (1-rho) log((1+Z)/(1-rho)), rho = |U|/k.

    The softmax loss with its dual restricted to Delta_k^beta(1); U are the capped classes, Z sums e^u over the
    rest; u_j = f_j - f_y + c_j over the m - 1 other classes.
    """
    return _rows("topk_entropy_beta", scores, y, {"k": k}, **options)


@documented()
def truncated_topk_entropy(
    scores: Tensor, y: Tensor, *, k: int = 1, **options: Unpack[Options]
) -> Tensor:
    """Truncated top-k entropy log(1 + sum_J e^{u_j}), J the m - k smallest of the other classes.

    u_j = f_j - f_y + c_j. Not convex for k >= 2; gradient of the piece that is kept. Lapin, Hein and
    Schiele 2016, equation (15).
    """
    return _rows("truncated_topk_entropy", scores, y, {"k": k}, **options)


@documented()
def sparsemax(scores: Tensor, y: Tensor, **options: Unpack[Options]) -> Tensor:
    """Sparsemax loss: the max over p in the simplex of <f + c,p> - ||p||^2/2 + 1/2 - f_y.

    Gradient p - e_y, p the projection of f + c on the simplex. Martins and Astudillo 2016.
    """
    return _rows("sparsemax", scores, y, {}, **options)


@documented("1", costs=ALL_MARGINS)
def ova_hinge(scores: Tensor, y: Tensor, **options: Unpack[Options]) -> Tensor:
    """One-vs-all hinge sum_j max{0, z_j} over all m classes.

    z_j = f_j + c_j at j != y and z_y = c_y - f_y. Subgradient 1 where z_j > 0, else 0.
    """
    return _rows("ova_hinge", scores, y, {}, **options)


@documented("1", costs=ALL_MARGINS)
def ova_smooth_hinge(
    scores: Tensor, y: Tensor, *, gamma: float = 1.0, **options: Unpack[Options]
) -> Tensor:
    """Smooth one-vs-all hinge sum_j (z_j p_j - p_j^2/2)/gamma, p = clip(z, 0, gamma).

    z_j = f_j + c_j at j != y and z_y = c_y - f_y.
    """
    return _rows("ova_smooth_hinge", scores, y, {"gamma": check_gamma(gamma)}, **options)


@documented(costs=ALL_MARGINS)
def ova_logistic(scores: Tensor, y: Tensor, **options: Unpack[Options]) -> Tensor:
    """One-vs-all logistic loss sum_j log(1 + e^{z_j}) over all m classes.

    z_j = f_j + c_j at j != y and z_y = c_y - f_y.
    """
    return _rows("ova_logistic", scores, y, {}, **options)


@documented("1 on N and 0 on P", **LABELLED)
def multilabel_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    reduction: str = "mean",
    costs: float | Tensor | None = None,
) -> Tensor:
    """Multilabel hinge max{0, max z_N + max z_P}, z = f + c on N = {y = 0} and c - f on P = {y = 1}.

    0 where N or P is empty. Subgradient: 1 at a largest z of N, -1 at one of P. Crammer and Singer 2003.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    return multilabel(Bipartite(label_margins(costs)), f, right, reduction, costs)


@documented("1 on N and 0 on P", **LABELLED)
def multilabel_smooth_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    gamma: float = 1.0,
    reduction: str = "mean",
    costs: float | Tensor | None = None,
) -> Tensor:
    """Smooth multilabel hinge (<z,p> - ||p||^2/2)/gamma, p the projection on the bipartite simplex.

    z = f + c on N = {y = 0} and c - f on P = {y = 1}; p >= 0 has the same sum <= gamma on both.
    Lapin, Hein and Schiele 2018.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    loss = Bipartite(label_margins(costs), check_gamma(gamma))
    return multilabel(loss, f, right, reduction, costs)


@documented("0", **LABELLED)
def multilabel_entropy(
    scores: Tensor,
    y: Tensor,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
) -> Tensor:
    """Multilabel cross-entropy log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}.

    nan where P is empty: that row has no target. Lapin, Hein and Schiele 2018.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    return multilabel(
        Uniform(check_number("label_smoothing", label_smoothing, 1.0)),
        f,
        right,
        reduction,
        costs,
        signed=False,
    )


@documented(
    scores=(
        "Tensor, shape (..., n)",
        f"One query per row. {PARAMETERS['scores'][1].split('. ')[-1]}",
    ),
    y=("Tensor, shape (..., n)", "1 (or True) for positives; 0 or -1 for negatives."),
    groups=(
        "Tensor of int, shape (n,), optional",
        "Numbers of the queries, in any order, for a vector of scores of several queries.",
    ),
    reduction=LABELLED["reduction"],
    returns=("Tensor", "A number, or losses of shape (...) for 'none'; the mean is over queries."),
)
def average_precision(
    scores: Tensor, y: Tensor, *, groups: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Losses max over rankings R of 1 - AP(R) + <s, Psi(R) - Psi(R*)>, at least 1 - AP of the scores.

    Loss-augmented: differentiable almost everywhere, with the coefficients of the most violated ranking as
    subgradient, -2 c_i/(P N) at positives with c_i negatives above them. A query without positives or
    without negatives has loss 0; rows of one sample each are refused. Pairs of samples are looked at in blocks
    of 262 144: time is O(n^2) for rows of n samples, memory O(n), but O(n^2) where calls are traced or
    transformed. Mohapatra, Jawahar and Kumar 2014, equation (4).
    """
    f = check_scores(scores, 1)
    if (
        f.ndim > 1 and f.shape[-1] == 1
    ):  # a vector may be the last batch, rows are all of one length
        raise InvalidParameterError(
            "scores",
            f"shape {tuple(f.shape)}, queries of one sample each, whose loss is 0 whatever they are",
            "the samples of a query on the last axis",
            "pass scores.squeeze(-1) and y.squeeze(-1) for one query, and groups for several",
        )
    check_reduction(reduction)
    right = check_indicator(y, f).long()
    if groups is None:
        return rows(Rankings(), f, right, reduction)
    whole = isinstance(groups, torch.Tensor) and not groups.is_floating_point()
    if not whole or groups.shape != f.shape or f.ndim != 1:
        raise InvalidParameterError(
            "groups",
            f"shape {tuple(getattr(groups, 'shape', ()))} beside scores {tuple(f.shape)}"
            + ("" if whole else ", not integers"),
            "vectors: a query's whole number for each score",
            "pass rows of scores without groups where all queries have one length",
        )
    if reduction == "none":
        raise InvalidParameterError(
            "reduction",
            "'none' with groups",
            "'mean' or 'sum': how many queries there are, only the data say",
            "pass the queries one by one",
        )
    total = rows(Rankings(), f, 2 * groups.long() + right)
    if reduction == "sum":
        return total
    ordered = groups.sort().values
    return total / ((ordered[1:] != ordered[:-1]).sum() + 1)
