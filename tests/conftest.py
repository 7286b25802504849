"""Lets tests import ``benchmarks``, which is not part of the package. Appended, not put first:
an installed spacy_pel must win over the sources, and ``make test`` insists on it."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))

if os.environ.get("PEL_TEST_INSTALLED"):
    import spacy_pel

    if Path(spacy_pel.__file__).parents[1] == ROOT:
        raise RuntimeError(f"Expected an installed spacy_pel, but came the sources in {ROOT}. Use make test.")
