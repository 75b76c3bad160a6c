"""The benchmark's driver as it is, on records and results made up here: no server, no program."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
