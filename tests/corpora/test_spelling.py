"""Strings of mentions that differ from the text in spelling alone."""

import pytest

from spacy_pel.corpora.offsets import same_but_spelling


@pytest.mark.parametrize(
    "text,normalised",
    [
        ("TNF-α", "TNF-alpha"),
        ("IL-1ß", "IL-1b"),  # a sharp s for a beta
        ("NF‐κB", "NF-kappa B"),
        ("SARS‐CoV‐2", "SARS CoV 2"),
        ("SARSCoV-2", "SARS-CoV-2"),
        ("Sjögren’s", "Sjogren's"),
        ("Me\u0301nie\u0300re", "Ménière"),
        ("Ørsted", "Orsted"),
        ("CD4⁺", "CD4+"),
        ("type\u00a02\n diabetes", "Type 2 diabetes"),
        ("broncho\u00adspasm", "bronchospasm"),
    ],
)
def test_the_same(text, normalised):
    assert same_but_spelling(text, normalised) and same_but_spelling(normalised, text)


@pytest.mark.parametrize(
    "text,other",
    [
        ("asthma", "asthna"),
        ("TNF-α", "TNF-b"),
        ("TNF-", "TNF-a"),
        ("IL-1-2", "IL-12"),
        ("CD4+", "CD4"),
        ("Δ", ""),
        ("rash", "a rash"),
    ],
)
def test_another_string(text, other):
    assert not same_but_spelling(text, other) and not same_but_spelling(other, text)
