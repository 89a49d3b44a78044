"""The command line as tests use it."""

import json

import pytest
from typer.testing import CliRunner, Result

from verification.cli import app


def run(*words: object, code: int | None = 0) -> Result:
    """What a command printed; it has to end with this exit code, unless any will do."""
    result = CliRunner().invoke(app, [str(w) for w in words])
    assert code in (None, result.exit_code), result.output
    return result


def data(*words: object, code: int = 0) -> dict:
    """What a command printed as JSON, in which no number is infinite."""
    return json.loads(run(*words, "--json", code=code).stdout, parse_constant=pytest.fail)


def refused(*words: object) -> str:
    """What a command that was used wrongly says of it, on one line."""
    return " ".join(run(*words, code=2).stderr.split())
