"""Lets the tests of this folder share their naive twins."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
