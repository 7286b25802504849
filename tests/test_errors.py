"""Codes of errors and warnings."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_each_code_has_one_text():
    files = [*(ROOT / "spacy_pel" / "errors").glob("*.py"), ROOT / "studies" / "spacy_pel_studies" / "errors.py"]
    codes = Counter(code for file in files for code in re.findall(r"^    ([EW]\d{3}) =", file.read_text("utf8"), re.M))
    assert len(codes) > 300
    assert [code for code, n in codes.items() if n > 1] == []
