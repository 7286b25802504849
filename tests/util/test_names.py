"""Names in normal form."""

import re
import unicodedata

import numpy as np

from spacy_pel.util import normalize_alias
from spacy_pel.util.names import runs_of


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


def test_invisible_characters_and_apostrophes_that_are_letters():
    assert normalize_alias("dia\u00adbe\u200btes\ufeff") == "diabetes"
    assert normalize_alias("Parkinson\u02bcs \u00b4x\u00b4") == "parkinson s x"


def test_runs_have_the_offsets_of_the_text():
    text = "\ufeffTNF\u03b1, Sjo\u0308gren\u2019s dia\u00adbetes "
    text += "\uff28\uff34\uff2e \ufb01x 5\u00b5g \u03b1\u03bb\u03c6\u03b1"
    words, starts, ends = runs_of(text)
    assert " ".join(words) == "tnf alpha sjogren s diabetes htn fix 5 mu g \u03b1\u03bb\u03c6\u03b1"
    shown = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert shown[:5] == ["TNF", "\u03b1", "Sjo\u0308gren", "s", "dia\u00adbetes"] and shown[7:10] == [
        "5",
        "\u00b5",
        "g",
    ]
    assert runs_of("IL-1beta").words == runs_of("il 1\u03b2").words == ["il", "1", "beta"]
    assert runs_of("IL-1\u0392 X", fold=False).words == ["IL", "1", "beta", "X"]
    assert runs_of("").words == runs_of("\u2014").words == []
