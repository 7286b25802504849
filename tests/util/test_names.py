"""Names in normal form."""

import re
import unicodedata

import numpy as np

from spacy_pel.util import normalize_alias


def slowly(text):
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", " ", folded).strip() or folded.strip()


def test_ascii_and_other_letters_have_one_normal_form():
    rng = np.random.default_rng(0)
    ascii_texts = ["".join(map(chr, rng.integers(0, 128, size=rng.integers(0, 12)))) for _ in range(3000)]
    texts = [*ascii_texts, *(text + "ﬁß\xa0É" for text in ascii_texts[:300]), " _-. ", "", "\t"]
    assert [normalize_alias(text) for text in texts] == [slowly(text) for text in texts]
    assert normalize_alias("Fibroblast growth_factor-1 ") == "fibroblast growth factor 1"
    assert normalize_alias(" -- ") == "--"
