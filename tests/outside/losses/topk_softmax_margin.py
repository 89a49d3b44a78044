"""Top-k entropy with a margin: softmax-margin where k = 1 (Gimpel and Smith 2010)."""

from dataclasses import replace

from refsolve.losses import topk_entropy_beta

SPEC = replace(topk_entropy_beta.SPEC, title="Top-k softmax-margin", notes=())

generator = topk_entropy_beta.generator
default_cost = 1.0
dual_set = topk_entropy_beta.dual_set
value, conjugate = topk_entropy_beta.value, topk_entropy_beta.conjugate
