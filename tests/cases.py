"""Long lists of cases: one a line in ``fixtures/cases``, under the name of their test."""

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("fixtures") / "cases"


def cases(file: str, test: str) -> list[Any]:
    """What a test is parametrized with."""
    return yaml.safe_load((FOLDER / f"{file}.yaml").read_text(encoding="utf8"))[test]
