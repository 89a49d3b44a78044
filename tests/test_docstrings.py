"""Every example in a docstring says what it prints."""

import doctest
import importlib
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.test_import_rules import PACKAGES, ROOT

FILES = [
    file.relative_to(ROOT).with_suffix("")
    for package in PACKAGES
    for file in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("file", FILES, ids=str)
def test_examples_in_docstrings(file):
    name = ".".join(file.parts).removesuffix(".__init__")
    if "torch" in file.parts:
        pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
