"""Losses on torch tensors with the defects that such losses have: each asked in the form that shows it."""

from collections.abc import Callable
from typing import Any

from verification.bridges.torch_losses import ACCURACY, IGNORED, candidate, torch
from verification.faulty_solvers import wrong_step
from verification.reference_solvers import torch_losses as sound
from verification.reference_solvers.torch_losses import others, reduced, whole

Loss = Callable[..., Any]


def wrong_loss(problem: str, form: str = "rows", **options: Any) -> Callable[[Loss], Loss]:
    """The decorator of a wrong loss, asked in a form; its docstring says what is wrong."""

    def solver(loss: Loss) -> Loss:
        return candidate(loss, problem, form)

    options = {"needs": ("torch",), "accuracy": ACCURACY.get(form), **options}
    return wrong_step(problem, solver, **options)


def wrong_row(problem: str, form: str = "rows", **options: Any) -> Callable[[Loss], Loss]:
    """The same of what a single row's loss is."""

    def solver(loss: Loss) -> Loss:
        return candidate(whole(loss), problem, form)

    options = {"needs": ("torch",), "accuracy": ACCURACY.get(form), **options}
    return wrong_step(problem, solver, **options)


def softplus(v: Any) -> Any:
    """log(1 + e^v) without a threshold."""
    return torch.logaddexp(v, torch.zeros_like(v))


# -- what training asks ----------------------------------------------------------------------


@wrong_loss("softmax.value", "mean")
def torch_ignored_in_the_mean(f: Any, y: Any, **given: Any) -> Any:
    """Ignored rows lose nothing, but are counted in the mean."""
    total = reduced(sound.softmax, f, y, **{**given, "reduction": "sum"})
    kept = torch.where(y == IGNORED, 0, y)
    return total / given["weight"][kept].sum()


@wrong_loss("softmax.value", "mean")
def torch_mean_over_weighted_rows(f: Any, y: Any, **given: Any) -> Any:
    """The mean of weighted losses is divided by the number of rows, not by the sum of their weights."""
    total = reduced(sound.softmax, f, y, **{**given, "reduction": "sum"})
    return total / (y != IGNORED).sum()


@wrong_loss("topk_hinge_alpha.value", "sum")
def torch_sum_is_a_mean(f: Any, y: Any, **given: Any) -> Any:
    """reduction="sum" divides by the rows."""
    return reduced(sound.hinge_alpha, f, y, **given) / (y != IGNORED).sum()


@wrong_loss("topk_hinge_beta.gradient", "mean")
def torch_weights_of_the_sorted_classes(f: Any, y: Any, weight: Any = None, **given: Any) -> Any:
    """A row's weight is that of the class it predicts, not of its label."""
    values = reduced(sound.hinge_beta, f, y, **{**given, "reduction": "none"})
    w = torch.where(y == IGNORED, 0.0, weight[f.argmax(-1)])
    return (values * w).sum() / torch.where(y == IGNORED, 0.0, weight[y.clamp(min=0)]).sum()


@wrong_loss("softmax.gradient", "mean")
def torch_ignored_rows_are_class_zero(f: Any, y: Any, **given: Any) -> Any:
    """The label of ignored rows is clamped to class 0, and they are learnt from."""
    return reduced(sound.softmax, f, y.clamp(min=0), **given)


@wrong_loss("softmax.value", "smoothed")
def torch_smoothing_without_the_truth(
    f: Any, y: Any, label_smoothing: float = 0.0, **given: Any
) -> Any:
    """Smoothed labels keep 1 - e at the truth, and spread e over all classes but it."""
    m = f.shape[-1]
    every = reduced(sound.softmax, f, y, label_smoothing=1.0, **given)
    own = reduced(sound.softmax, f, y, **given)
    return (1 - label_smoothing) * own + label_smoothing * (m * every - own) / (m - 1)


@wrong_loss("topk_hinge_alpha.value", "smoothed")
def torch_smoothing_counts_the_truth_twice(
    f: Any, y: Any, label_smoothing: float = 0.0, **given: Any
) -> Any:
    """The mass at the truth is not reduced by what is spread: the labels' masses sum to 1 + e."""
    every = reduced(sound.hinge_alpha, f, y, label_smoothing=1.0, **given)
    return reduced(sound.hinge_alpha, f, y, **given) + label_smoothing * every


# -- layouts and state -----------------------------------------------------------------------


@wrong_loss("softmax.value", "square")
def torch_classes_in_dimension_one(f: Any, y: Any, **given: Any) -> Any:
    """Classes are taken from dimension 1, which goes unnoticed in square batches: no shape differs."""
    return whole(sound.softmax)(f if f.ndim < 2 else f.movedim(1, -1), y, **given)


@wrong_loss("topk_hinge_alpha.value", "square")
def torch_strides_are_not_read(f: Any, y: Any, **given: Any) -> Any:
    """The memory of the scores is read as if it were contiguous."""
    strides = torch.empty(f.shape, device="meta").stride()
    return whole(sound.hinge_alpha)(torch.as_strided(f, f.shape, strides), y, **given)


@wrong_row("softmax.value")
def torch_changes_its_scores(f: Any, y: Any, costs: Any = None) -> Any:
    """The largest score is subtracted in place; the loss is right."""
    with torch.no_grad():
        f -= f.amax(-1, keepdim=True)
    return sound.softmax(f, y, costs)


@wrong_row("multiclass_hinge.value", "square")
def torch_branches_on_the_first_row(f: Any, y: Any, costs: Any = None) -> Any:
    """Whether the margin is kept is decided for the whole batch by its first row."""
    z = others(f, y, costs, 1.0).amax(-1)
    return z if bool(z.reshape(-1)[:1] > 0) else 0.0 * z


@wrong_loss("softmax.gradient", "later")
def torch_backward_of_the_last_forward(f: Any, y: Any, **given: Any) -> Any:
    """The probabilities are kept in the module: two forward passes, and the first one's gradient is lost."""
    _KEPT["slopes"] = torch.autograd.functional.vjp(
        lambda a: whole(sound.softmax)(a, y, **given).sum(), f.detach()
    )[1]
    value = whole(sound.softmax)(f, y, **given)
    if f.requires_grad:
        value = value.detach() + 0.0 * f.sum(-1)
        f.register_hook(lambda g: g + _KEPT["slopes"])
    return value


_KEPT: dict[str, Any] = {}


# -- gradients -------------------------------------------------------------------------------


@wrong_row("multiclass_hinge.gradient")
def torch_truth_is_detached(f: Any, y: Any, costs: Any = None) -> Any:
    """The score of the truth is detached: no gradient there."""
    own = torch.take_along_dim(f, y[..., None], -1)
    return torch.relu((others(f, y, costs, 1.0) + own - own.detach()).amax(-1))


@wrong_row("topk_hinge_beta.gradient")
def torch_others_are_detached(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """The k largest scores are detached: the gradient is at the truth alone."""
    return sound.hinge_beta(torch.where(_own(f, y), f, f.detach()), y, k, costs)


def _own(f: Any, y: Any) -> Any:
    return torch.arange(f.shape[-1]) == y[..., None]


@wrong_row("topk_hinge_alpha.gradient")
def torch_no_gradient_at_ties(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """What counts is above the (k+1)-th largest: entries equal to it have no gradient."""
    z = others(f, y, costs, 1.0)
    after = z.topk(min(k + 1, z.shape[-1])).values[..., -1:] if k < z.shape[-1] else z.amin() - 1
    some = torch.where(z > after, z, z.detach())
    return torch.relu(some.topk(k).values.sum(-1) / k)


@wrong_row("topk_hinge_beta.gradient")
def torch_every_tie_has_its_gradient(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """All margins equal to the k-th largest have gradient 1/k, however many there are."""
    z = torch.relu(others(f, y, costs, 1.0))
    among = (z >= z.topk(k).values[..., -1:]) & (z > 0)
    return torch.where(among, z, 0.0).sum(-1) / k


@wrong_row("softmax.gradient")
def torch_upstream_is_ignored(f: Any, y: Any, costs: Any = None) -> Any:
    """The backward pass forgets the gradient that comes from above, as it is 1 in every first test."""
    slopes = torch.autograd.functional.vjp(lambda a: sound.softmax(a, y, costs).sum(), f.detach())[
        1
    ]
    zero = 0.0 * f
    if zero.requires_grad:
        zero.register_hook(lambda g: g * 0.0)
        f.register_hook(lambda g: g + slopes)
    return sound.softmax(f.detach(), y, costs) + zero.sum(-1)


@wrong_row("softmax.gradient")
def torch_probability_less_one(f: Any, y: Any, costs: Any = None) -> Any:
    """The entry at the truth is p_y - 1: no digit of it is left once p_y is nearly 1."""
    shifted = f if costs is None else f + torch.where(_own(f, y), 0.0, costs)
    return -torch.take_along_dim(torch.log_softmax(shifted, -1), y[..., None], -1)[..., 0]


@wrong_row("softmax.gradient")
def torch_scores_are_clamped(f: Any, y: Any, costs: Any = None) -> Any:
    """Scores are clamped to [-50, 50] against overflow: no gradient beyond."""
    return sound.softmax(f.clamp(-50, 50), y, costs)


@wrong_row("smooth_topk_hinge_beta.gradient")
def torch_gamma_is_lost(f: Any, y: Any, k: int = 1, gamma: float = 1.0, costs: Any = None) -> Any:
    """The gradient is that of gamma times the loss."""
    value = sound.smooth_beta(f, y, k, gamma, costs)
    return value.detach() + gamma * (value - value.detach())


@wrong_row("smooth_topk_hinge_beta.gradient")
def torch_few_bisections(f: Any, y: Any, k: int = 1, gamma: float = 1.0, costs: Any = None) -> Any:
    """Twenty steps of bisection: seven digits of the threshold in float64, too."""
    return sound.smooth_beta(f, y, k, gamma, costs, steps=20)


# -- values ----------------------------------------------------------------------------------


@wrong_row("topk_hinge_alpha.value")
def torch_one_more_than_k(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """The mean is over the k + 1 largest."""
    return sound.hinge_alpha(f, y, min(k + 1, f.shape[-1] - 1), costs)


@wrong_row("topk_hinge_alpha.value", erratum="lapin_2015/proposition_3")
def torch_truth_among_the_k(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """The k largest are taken of all classes: the truth is among them with margin 0."""
    z = others(f, y, costs, 1.0)
    return torch.relu(torch.cat([z, torch.zeros_like(z[..., :1])], -1).topk(k).values.sum(-1) / k)


@wrong_row("multiclass_hinge.value")
def torch_margin_on_the_truth(f: Any, y: Any, costs: Any = None) -> Any:
    """The margin is added to all scores, that of the truth among them: it cancels."""
    c = torch.ones_like(f) if costs is None else costs
    moved = f + c + torch.where(_own(f, y), 1.0 - c, 0.0)
    return torch.relu(others(moved, y, torch.zeros_like(f), 0.0).amax(-1))


@wrong_row("truncated_topk_entropy.value")
def torch_truncates_one_more(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """The k largest of the others are left out, not k - 1."""
    return sound.truncated(f, y, min(k + 1, f.shape[-1] - 1), costs)


@wrong_row("softmax.value")
def torch_sum_is_not_stabilised(f: Any, y: Any, costs: Any = None) -> Any:
    """The exponentials are summed as they are, and overflow."""
    return torch.log1p(torch.exp(others(f, y, costs, 0.0)).sum(-1))


@wrong_row("softmax.value", "autocast")
def torch_sums_in_half_precision(f: Any, y: Any, costs: Any = None) -> Any:
    """Where autocast is on exponentials are added in bfloat16; the scores keep their precision."""
    u = others(f, y, costs, 0.0)
    top = u.amax(-1, keepdim=True)
    kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else f.dtype
    return softplus(torch.exp(u - top).to(kind).sum(-1).to(f.dtype).log() + top[..., 0])


@wrong_row("softmax.value", "autocast")
def torch_autocast_rounds_the_scores(f: Any, y: Any, costs: Any = None) -> Any:
    """Scores of full precision are rounded where autocast is on."""
    kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else f.dtype
    return sound.softmax(f.to(kind), y, costs).to(f.dtype)


@wrong_row("softmax.gradient")
def torch_computes_in_single_precision(f: Any, y: Any, costs: Any = None) -> Any:
    """Scores of float64 are computed with in float32."""
    return sound.softmax(f.float(), y, None if costs is None else costs.float()).to(f.dtype)


@wrong_row("softmax.value")
def torch_switches_to_the_hard_loss(f: Any, y: Any, costs: Any = None) -> Any:
    """Where the truth leads by log m the smooth loss is replaced by the hard one: 0, without gradient.

    A public smooth top-k loss has such a switch "for stability", at a lead of log 1000: among 1000 classes with
    equal scores but for that lead it says 0 where the loss is .69.
    """
    u = others(f, y, costs, 0.0)
    far = -u.amax(-1) > float(torch.tensor(f.shape[-1] * 1.0).log())
    return torch.where(far, torch.relu(u.amax(-1)), sound.softmax(f, y, costs))


@wrong_row("ova_logistic.value")
def torch_logarithms_end_at_100(f: Any, y: Any, costs: Any = None) -> Any:
    """`binary_cross_entropy` of probabilities: logarithms are clamped at -100, small losses are lost."""
    own = _own(f, y)
    f = f if costs is None else torch.where(own, f - costs, f + costs)
    p = torch.sigmoid(f)
    found = torch.nn.functional.binary_cross_entropy(p, own.to(f.dtype), reduction="none")
    return found.sum(-1)


@wrong_row("ova_logistic.gradient")
def torch_mean_over_the_classes(f: Any, y: Any, costs: Any = None) -> Any:
    """`binary_cross_entropy_with_logits`: a mean over the classes, not their sum."""
    own = _own(f, y)
    f = f if costs is None else torch.where(own, f - costs, f + costs)
    return softplus(torch.where(own, -f, f)).mean(-1)
