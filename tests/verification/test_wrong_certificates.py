"""The trusted core against exact arithmetic; every wrong certificate is refuted by it."""

import json
from pathlib import Path

import numpy as np
import pytest

from refsolve import certificates
from refsolve.proofs import projection
from refsolve.sets import box
from verification import InvalidArgumentError
from verification.selftest.certificates import exact, matrix
from verification.selftest.certificates.matrix import CHECKS, StalePatchError, patched, refuted_by
from verification.selftest.certificates.patches import WRONG, Wrong

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORD = json.loads((DOCS / "certificates.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("seed", [0, 1])
def test_right_certificates_pass(check, seed):
    CHECKS[check](seed)


def test_there_are_enough_of_them():
    assert len(WRONG) >= 60
    assert len({patch.target for patch in WRONG.values()}) >= 30


@pytest.mark.parametrize("name", WRONG)
def test_refuted(name, monkeypatch):
    """By the check that the record names, which spares the others."""
    first = RECORD["rows"].get(name, {"check": ""})["check"]
    monkeypatch.setattr(matrix, "CHECKS", {first: CHECKS[first]} if first else CHECKS)
    with patched(WRONG[name]):
        check, said = refuted_by()
    assert check
    assert said


def test_the_record_is_that_of_the_library():
    """docs/faulty_solvers.md has the command that writes it anew."""
    functions = {name: row["function"] for name, row in RECORD["rows"].items()}
    assert functions == {name: patch.target for name, patch in WRONG.items()}
    assert RECORD["survivors"] == []
    assert RECORD["certificates"] == RECORD["refuted"] == len(WRONG)
    assert RECORD["right"] == dict.fromkeys(CHECKS, True)


def test_the_defect_is_seen_wherever_the_function_was_imported_and_gone_afterwards():
    x, a = [0.0, 0.0], np.array([1.0, 0.5])
    right = certificates.projection("box", x, a)
    with patched(WRONG["value_without_the_bias"]):
        pass
    with patched(WRONG["feasible_by_decree"]):
        assert certificates.projection("box", [2.0, 0.0], a).violation == 0
        assert projection.projection(box, np.array([2.0, 0.0]), a, 0.0, r=1.0).violation == 0
    assert certificates.projection("box", [2.0, 0.0], a).violation == 1
    assert certificates.projection("box", x, a) == right


def test_a_piece_that_is_not_there_is_no_mutant():
    for piece, target in (
        ("no such text", "projection"),
        ("x", "projection"),
        ("x", "Certificate"),
    ):
        patch = Wrong("stale", f"refsolve.proofs.projection:{target}", piece, "", "nothing")
        with pytest.raises(StalePatchError, match=r"stale|no function"), patched(patch):
            pass


def test_a_survivor_is_reported(monkeypatch):
    harmless = Wrong("harmless", "refsolve.proofs.certificate:up", "2.0**-50", "2.0**-49", "none")
    monkeypatch.setattr(
        matrix, "WRONG", {"harmless": harmless, "infinite_everywhere": WRONG["infinite_everywhere"]}
    )
    monkeypatch.setattr(matrix, "CHECKS", {"conjugates": CHECKS["conjugates"]})
    found = matrix.run()
    assert found.survivors == ("harmless",)
    assert not found.ok
    assert found.to_dict()["refuted"] == 1
    assert "SURVIVED" in str(matrix.document(found))

    def unfair(seed):
        raise exact.RefutedError("unfair")

    monkeypatch.setattr(matrix, "CHECKS", {"unfair": unfair})
    assert matrix.run().right == {"unfair": "unfair"}
    assert not matrix.run().ok
    with pytest.raises(InvalidArgumentError, match="expected"):
        matrix.run("no_such*")


def test_quadratic_programs_by_their_faces():
    rows = (((-1, 0), 0, False), ((0, -1), 0, False), ((1, 1), 1, True))
    rows = tuple((tuple(exact.vector(g)), exact.Fraction(h), e) for g, h, e in rows)
    H, c = exact.form(2, exact.Fraction(1)), exact.vector([2.0, 0.5])
    x, least = exact.minimum(H, c, rows)
    assert (tuple(x), least) == ((1, 0), exact.Fraction(-3, 2))
    assert set(exact.vertices(rows)) == {(1, 0), (0, 1)}
    assert exact.support(rows, c) == 2
