"""Judges of the one-vs-all and multilabel hinges, against their definitions."""

import numpy as np
from _references import tells

from verification import Instance, certificates
from verification.instances import families
from verification.instances.drawing import valid


def test_rows_of_labels_are_drawn_as_they_must_be():
    drawn = families.draw("multilabel_entropy.value", "random", 200, seed=0)
    assert all(i["y"].any() for i in drawn)
    hinges = families.draw("multilabel_hinge.value", "random", 200, seed=0)
    assert any(not i["y"].any() for i in hinges)
    assert any(i["y"].all() for i in hinges)
    one = drawn[0]
    assert not valid(one.with_params(y=np.zeros_like(one["y"])))
    assert not valid(one.with_params(y=one["y"][:-1]))
    inside = families.draw("multilabel_hinge.conjugate", "random", 60, seed=0)
    values = [float(certificates.expected(i)) for i in inside]
    assert sum(np.isfinite(values)) > 20 < 60 - sum(np.isfinite(values)) + 21


def test_an_equation_holds_up_to_rounding():
    """The two sides of a dual point sum to the same only up to rounding: that is inside."""
    x = np.array([0.1, 0.2, 0.3])
    assert x[0] + x[1] != x[2]
    instance = Instance.of("multilabel_hinge.conjugate", x=x, y=np.array([0, 0, 1]), costs=None)
    tells(instance, right=[-(x[0] + x[1])], wrong=[np.inf])
    off = instance.with_params(x=np.array([0.1, 0.2, 0.31]))
    tells(off, right=[np.inf], wrong=[-0.3])
