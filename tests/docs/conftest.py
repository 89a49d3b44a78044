"""Every browser that is installed opens the pages."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module", params=["chromium", "firefox-esr"])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A browser that is driven; tests look at what it complained of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parent))
        driver = importlib.import_module("browser" if request.param == "chromium" else "firefox")
    if driver.program() is None:
        pytest.skip(f"not installed: apt-get install {request.param}")
    try:
        one = driver.Browser()
    except (RuntimeError, OSError) as error:
        pytest.skip(f"{request.param} is there and does not start: {error}")
    yield one
    one.close()
