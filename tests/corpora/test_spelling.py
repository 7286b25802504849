"""Strings of mentions that differ from the text in spelling alone."""

import pytest

from spacy_pel.corpora.offsets import same_but_spelling


@pytest.mark.parametrize(
    "text,normalised",
    [
        ("TNF-α", "TNF-a"),
        ("TNF-α", "TNF-alpha"),
        ("IL-1β", "IL-1b"),
        ("IL-1ß", "IL-1b"),  # a sharp s for a beta
        ("Weiß", "Weiss"),
        ("λ phage", "lambda-phage"),
        ("NF‐κB", "NF-kappa B"),
        ("5 µm", "5 um"),
        ("ΔF508", "deltaF508"),
        ("beta-catenin", "β-catenin"),
        ("SARS‐CoV‐2", "SARS CoV 2"),
        ("SARS−CoV–2", "SARS-CoV-2"),
        ("SARSCoV-2", "SARS-CoV-2"),
        ("Sjögren’s", "Sjogren's"),
        ("Ménière", "MENIERE"),
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
        ("TNF-", "TNF"),
        ("IL-1-2", "IL-12"),
        ("CD4+", "CD4"),
        ("β", "alpha"),
        ("Δ", ""),
        ("type 1", "type 2"),
        ("rash", "a rash"),
    ],
)
def test_another_string(text, other):
    assert not same_but_spelling(text, other) and not same_but_spelling(other, text)
