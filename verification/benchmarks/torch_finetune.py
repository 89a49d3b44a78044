"""Fine-tune a convolutional network with each loss, as Lapin et al. 2016 do in their Table 5, in minutes.

Two digits of 8 x 8 pixels (scikit-learn's ``load_digits``) stand side by side under noise, which is drawn anew
for every batch: 100 classes, ten pairs of each to learn from, so that top-1 and top-5 differ. No image is in two
of the three parts. For each seed a network is trained with
cross-entropy, and goes on from there with each loss, in the same order of rows, at two step sizes, of which
the validation pairs choose one by top-k accuracy, k that of the loss. What is compared is the top-1 to top-5
accuracy on the test pairs, loss against softmax on the same seed.

``python docs/_ext/records.py torch_finetune`` does it.
"""

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import t
from sklearn.datasets import load_digits

from verification.report.environment import commit, version

#: Object -> the k that it is tried with; smooth losses have gamma = 1.
LOSSES = {
    "softmax": (1,),
    "topk_hinge_alpha": (1, 3, 5),
    "topk_hinge_beta": (3, 5),
    "smooth_topk_hinge_alpha": (1, 3, 5),
    "smooth_topk_hinge_beta": (3, 5),
    "topk_entropy_alpha": (3, 5),
    "topk_entropy_beta": (3, 5),
    "truncated_topk_entropy": (3, 5),
}
RATES = (0.01, 0.05)
TOPS = range(1, 6)
NOISE = 0.4
CLASSES = 100
BATCH = 100
Loss = Callable[..., Any]


def pairs(seed: int, sizes: tuple[int, int, int]) -> list[tuple[Any, Any]]:
    """Images (n, 1, 8, 16) and classes 10 a + b of three parts; no digit's image is in two of them."""
    import torch

    images, digits = load_digits(return_X_y=True)
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(digits))
    found: list[tuple[Any, Any]] = []
    for part, n in zip(np.array_split(order, 3), sizes, strict=True):
        own = [part[digits[part] == c] for c in range(10)]
        y = np.arange(n) % CLASSES  # as many of each class
        left, right = (
            np.array([generator.choice(own[c]) for c in half]) for half in (y // 10, y % 10)
        )
        rows = np.concatenate([images[side].reshape(n, 1, 8, 8) for side in (left, right)], -1) / 16
        if found:  # to learn from, they are as they are
            rows += generator.normal(scale=NOISE, size=rows.shape)
        found.append((torch.tensor(rows, dtype=torch.float32), torch.tensor(y)))
    return found


def network(seed: int) -> Any:
    """Two convolutions and a linear head."""
    from torch import manual_seed, nn

    manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 2 * 4, CLASSES),
    )  # fmt: skip


def train(net: Any, rows: Any, y: Any, loss: Loss, rate: float, epochs: int, seed: int) -> None:
    """Stochastic gradient descent with momentum; the rate falls by a cosine."""
    import torch

    steps = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(steps, epochs)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for some in torch.randperm(len(y), generator=generator).split(BATCH):
            steps.zero_grad()
            noise = torch.empty_like(rows[some]).normal_(0.0, NOISE, generator=generator)
            loss(net(rows[some] + noise), y[some]).backward()
            steps.step()
        falling.step()


def accuracy(net: Any, rows: Any, y: Any) -> list[float]:
    """Top-1 to top-5: fewer than k other classes score as much as the truth, or more."""
    import torch

    with torch.no_grad():
        f = net(rows)
    above = (f >= f.gather(1, y[:, None])).sum(1) - 1
    return [float((above < k).double().mean()) for k in TOPS]


def losses() -> Iterator[tuple[str, int, Loss]]:
    """Object, k, and the mean loss of scores (n, m)."""
    for object_name, ks in LOSSES.items():
        function = getattr(importlib.import_module("fast.torch"), object_name)
        for k in ks:
            own = {} if object_name == "softmax" else {"k": k}
            yield object_name, k, lambda f, y, function=function, own=own: function(f, y, **own)


def one_seed(seed: int, sizes: tuple[int, int, int], epochs: tuple[int, int]) -> dict[str, Any]:
    """Accuracies on the test pairs before and after fine-tuning with each loss."""
    from copy import deepcopy

    from torch.nn.functional import cross_entropy

    fitted, chosen, test = pairs(seed, sizes)
    start = network(seed)
    train(start, *fitted, cross_entropy, 0.05, epochs[0], seed)
    found: dict[str, Any] = {"pretrained": {"top": accuracy(start, *test)}}
    for object_name, k, loss in losses():
        tried = []
        for rate in RATES:
            net = deepcopy(start)
            train(net, *fitted, loss, rate, epochs[1], seed)
            tried.append((accuracy(net, *chosen)[k - 1], -rate, net))
        _, rate, net = max(tried, key=lambda one: one[:2])
        found[f"{object_name}, k = {k}"] = {"rate": -rate, "top": accuracy(net, *test)}
    return found


def measured(
    seeds: int = 5,
    sizes: tuple[int, int, int] = (1000, 1000, 5000),
    epochs: tuple[int, int] = (40, 8),
) -> dict[str, Any]:
    """All seeds; per loss the rates chosen and the accuracies (seeds, 5)."""
    start = time.perf_counter()
    runs = [one_seed(seed, sizes, epochs) for seed in range(seeds)]
    rows = {
        name: {key: [run[name][key] for run in runs] for key in runs[0][name]} for name in runs[0]
    }
    return {
        "commit": commit(),
        "torch": version("torch"),
        "seeds": seeds,
        "sizes": list(sizes),
        "epochs": list(epochs),
        "noise": NOISE,
        "rates": list(RATES),
        "seconds": round(time.perf_counter() - start, 1),
        "losses": rows,
    }


def differences(record: dict[str, Any]) -> dict[str, np.ndarray]:
    """Per loss and top-1 to top-5: mean difference to softmax, seed by seed, and its standard error."""
    own = np.array(record["losses"]["softmax, k = 1"]["top"])
    found = {}
    for name, row in record["losses"].items():
        if name != "softmax, k = 1":
            d = np.array(row["top"]) - own
            found[name] = np.stack([d.mean(0), d.std(0, ddof=1) / np.sqrt(len(d))])
    return found


def beyond_noise(record: dict[str, Any]) -> dict[str, list[int]]:
    """Losses, and the k at which their top-k accuracy differs from softmax by more than seeds do.

    Student's t test, two-sided, at 5 % shared by the losses compared.
    """
    found = {name: d for name, d in differences(record).items() if name != "pretrained"}
    seeds = len(record["losses"]["pretrained"]["top"])
    bound = t.ppf(1.0 - 0.05 / (2 * len(found)), seeds - 1)
    beyond = {
        name: [k for k in TOPS if abs(mean[k - 1]) > bound * max(error[k - 1], 1e-12)]
        for name, (mean, error) in found.items()
    }
    return {name: ks for name, ks in beyond.items() if ks}
