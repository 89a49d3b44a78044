"""The seventh set: right ports only, each with its problem and what it promises."""

from typing import Any

from verification.selftest.written import right_seventh_losses as losses
from verification.selftest.written import right_seventh_models as models
from verification.selftest.written import right_seventh_sets as sets

SOFTMAX = {"fixed": {"loss": "softmax"}}
#: A solver, its problem, and the options of verify.
PORTS: list[tuple[Any, str, dict[str, Any]]] = [
    (sets.simplex_condat, "simplex.projection", {}),
    (sets.simplex_rows, "simplex.projection", {}),
    (sets.Box(), "box.projection", {}),
    (sets.capped_by_brent, "capped_simplex.projection", {"accuracy": 1e-8}),
    (sets.knapsack_exact, "knapsack.projection", {}),
    (sets.HeapBall(), "l1_ball.projection", {}),
    (sets.topk_simplex, "topk_simplex_alpha.projection", {}),
    (sets.cone, "topk_cone.projection", {"accuracy": 1e-9}),
    (sets.beta_compiled, "topk_simplex_beta.projection", {}),
    (sets.bipartite_newton, "bipartite_simplex.projection", {}),
    (losses.softmax_streamed, "softmax.value", {}),
    (losses.SoftmaxGradient(), "softmax.gradient", {}),
    (losses.softmax_conjugate, "softmax.conjugate", {}),
    (losses.hinge_prox, "multiclass_hinge.prox", {}),
    (losses.hinge_update, "multiclass_hinge.sdca_update", {}),
    (losses.topk_alpha_value, "topk_hinge_alpha.value", {}),
    (losses.topk_beta_gradient, "topk_hinge_beta.gradient", {}),
    (losses.topk_beta_single, "topk_hinge_beta.value", {}),
    (losses.topk_alpha_conjugate, "topk_hinge_alpha.conjugate", {}),
    (losses.squared_prox, "squared_topk_hinge.prox", {}),
    (losses.squared_value, "squared_topk_hinge.value", {}),
    (losses.sparsemax_gradient, "sparsemax.gradient", {}),
    (losses.sparsemax_value, "sparsemax.value", {}),
    (losses.multilabel_gradient, "multilabel_hinge.gradient", {}),
    (losses.multilabel_smooth_value, "multilabel_smooth_hinge.value", {}),
    (losses.multilabel_entropy_gradient, "multilabel_entropy.gradient", {}),
    (losses.ova_prox, "ova_hinge.prox", {}),
    (losses.ova_logistic_update, "ova_logistic.sdca_update", {}),
    (losses.ova_logistic_partial, "ova_logistic.value", {}),
    (losses.ap_inference, "average_precision.loss_augmented_inference", {}),
    (losses.ap_value, "average_precision.value", {}),
    (losses.lambert_scalar, "lambert_w_exp.value", {}),
    (losses.truncated_gradient, "truncated_topk_entropy.gradient", {}),
    (losses.entropy_beta_gradient, "topk_entropy_beta.gradient", {}),
    (losses.entropy_alpha_value, "topk_entropy_alpha.value", {}),
    (losses.smooth_alpha_gradient, "smooth_topk_hinge_alpha.gradient", {}),
    (losses.smooth_beta_value, "smooth_topk_hinge_beta.value", {}),
    (models.svm_primal, "svm.primal", {}),
    (models.svm_dual, "svm.dual", {}),
    (models.binary_svm_free, "binary_svm.primal", {"fixed": {"bias": "free"}}),
    (models.top_push_pair, "top_push.dual", {}),
    (models.recall_primal, "recall_at_k.primal", {}),
    (models.softmax_newton, "multiclass_erm.primal", SOFTMAX),
    (models.softmax_risk, "pointwise_risk.primal", SOFTMAX),
]
