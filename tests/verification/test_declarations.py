"""Declarations agree with themselves and with their printed formulas, and wrong ones are found out."""

import numpy as np
import pytest

from refsolve import catalogue
from verification import declarations
from verification.declarations import models
from verification.declarations.printed import Names, UnreadableError, number, read
from verification.faulty_solvers import declarations as mutants

WRONG = mutants.discover()


@pytest.mark.parametrize("object_name", catalogue.object_names())
def test_a_declaration_agrees_with_itself(object_name):
    assert declarations.problems(object_name) == []


@pytest.mark.parametrize("mutant", WRONG, ids=[m.name for m in WRONG])
def test_a_wrong_declaration_is_found(mutant):
    assert mutants.found_in(mutant)


def test_there_are_wrong_ones_of_every_kind_and_they_leave_nothing_behind():
    kinds = {m.kind for m in WRONG}
    wanted = {
        "value",
        "conjugate",
        "domain",
        "dual set",
        "generator",
        "constraints",
        "maps",
        "SPEC",
    }
    assert wanted <= kinds
    assert len(WRONG) >= 60
    assert len({m.name for m in WRONG}) == len(WRONG)
    mutant = next(m for m in WRONG if m.new == "topk_simplex_alpha.constraints(x, k, 0.97)")
    before = catalogue.load(mutant.object_name).conjugate
    with mutant.applied():
        assert catalogue.load(mutant.object_name).conjugate is not before
    assert catalogue.load(mutant.object_name).conjugate is before


@pytest.mark.parametrize(
    "new", ["return cp.pos(top) / (k + 1)", "topk_simplex_alpha.constraints(x, k, 0.97)"]
)
@pytest.mark.parametrize("d", [3, 64])
def test_the_oracle_s_conjugate_is_the_supremum_of_the_value_on_the_declared_domain(new, d):
    import refsolve

    mutant = next(m for m in WRONG if m.new == new)
    asked = {"x": np.pad([0.49, 0.49], (0, d - 2)), "k": 2}
    assert refsolve.solve("topk_hinge_alpha.conjugate", **asked).status == "certified"
    with mutant.applied():
        assert refsolve.solve("topk_hinge_alpha.conjugate", **asked).status != "certified"


def test_every_model_has_a_case():
    assert set(models.CASES) == set(catalogue.object_names("models"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/2||x||^2 - <c,x>", 2.5 - 4),
        ("max{0, S_k(x)/k}", 1.5),
        ("sum_j x_j log x_j + 1", 2 * np.log(2) + 1),
        ("(1-s) |c| e^0", None),
        ("sum_j max(0, x_j - 1)^2", 1),
        ("min_t t + 1/2 (-t)_+^2 + 1/2 sum_j (x_j - t)_+^2", None),
        ("k sum_i (x_i - t)_+,  t such that <1,x> - t = 2", 2),
        ("u,  u the least integer >= 0 with u >= s - 1", 2),
        ("0 if s <= 1, else +inf", np.inf),
    ],
)
def test_formulas_are_read(text, value):
    given = {"x": np.array([1.0, 2.0]), "c": np.array([0.0, 2.0]), "k": 2, "d": 2}
    if value is None:
        number(text.partition(",  ")[0], Names(given))
        return
    (first, *_), names = read(text, given)
    assert number(text if " if " in text else first, names) == pytest.approx(value)


@pytest.mark.parametrize("text", ["x +", "q x", "x = 2 x", "max{0, x", "x ? 2"])
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(UnreadableError):
        number(text, Names({"x": 1.0}))
