"""Puts the folder on the path, for the helpers in _references.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
