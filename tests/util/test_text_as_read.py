"""The text as it is read, and the way back."""

import time

import pytest

from spacy_pel.util.reading import read

# names and numbers that look like marks
AS_GIVEN = [
    "p < 0.05 and > 3, a <b and c> d, <18 years",
    "IL-2(1) iron(II) t(8;21) B[a]P 5-HT(2A) beta(2) PGE(2) B(12)",
    "bicyclo[2.2.1]heptane benzo[1,2-b] patient(s) CD4(+) [3H]",
    "CYP2D6*4 HLA-B**27 3`-end a_b [3H](S)",
    "HTN\nCOPD -\nasthma",
    f"asthma {'-' * 40}",
]
READ = {
    # tags and entities
    "He had <b>asthma</b>.": "He had asthma.",
    "<p class='x'>asthma</p><BR/>CO<sub>2</sub>": "\n\nasthma\n\n\n\nCO2",
    "<jats:p>a <jats:italic>H. pylori</jats:italic></jats:p>": "\n\na H. pylori\n\n",
    "<style>b {x}</style>asthma<!-- no -->": "\n\nasthma",
    "cough &amp; fever&nbsp;&bull; Sj&ouml;gren, Crohn&#8217;s R&D;": "cough & fever • Sjögren, Crohn’s R&D;",
    "&amp;nbsp;&lt;b&gt;asthma&lt;/b&gt;[1]": " asthma",
    # citations
    "asthma[1], COPD[1,2] and gout.[4] COVID-19[5-7] (MI)[8] [3]": "asthma, COPD and gout. COVID-19 (MI) [3]",
    "asthma(1) and COPD(2), asthma.(3) asthma[a] asthma[note 1]": "asthma and COPD, asthma. asthma asthma",
    "asthma¹ and pneumonia²,³. 10⁹ cm² Ca²⁺ IL⁶": "asthma and pneumonia. 10⁹ cm² Ca²⁺ IL⁶",
    "asthma<sup>1,2</sup> asthma<xref rid='b'>3</xref> 10<sup>9</sup>": "asthma asthma 109",
    r"asthma\cite{x}, gout~\citep[p. 2]{y} \textit{asthma} \alpha": r"asthma, gout asthma \alpha",
    # Markdown
    "**rheumatoid arthritis** ~~asthma~~ __gout__ `HTN`": "rheumatoid arthritis asthma gout HTN",
    "[asthma](http://x.org/a) ![gout](/g.png) [[COPD]]": "asthma gout COPD",
    # line ends
    "rheuma-\ntoid kid-\r\nney hyper-\n  tensive anti\u00ad\nbody": "rheumatoid kidney hypertensive antibody",
    "Non-\nsmall cell X-\nray IL-\n6 TNF-\nalpha Epstein-\nBarr": "Non-small cell X-ray IL-6 TNF-alpha Epstein-Barr",
    "blood-\nstream pre-\nand post-\noperative HIV-\npositive": "bloodstream pre- and postoperative HIV-positive",
    "a knee-joint; knee-\njoint; a knee-cap; knee-\ncap": "a knee-joint; knee-joint; a knee-cap; knee-cap",
    "> with rheuma-\n> toid\n>> arthritis\n> 30": "with rheumatoid\narthritis\n> 30",
    # what is not seen, and long runs of signs
    "\ufeffasthma\u200b ast\u00adhma\x00COPD": "asthma asthma COPD",
    f"asthma {'$%' * 50} COPD": "asthma $ COPD",
}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text):
    assert read(text).text == READ[text]


@pytest.mark.parametrize("text", AS_GIVEN)
def test_what_is_read_as_it_is(text):
    assert read(text).text == text
    assert read(text).places is None


@pytest.mark.parametrize("text", READ)
def test_the_way_to_the_text_as_given_and_back(text):
    reading = read(text)
    place = 0
    for word in reading.text.split():
        place = reading.text.index(word, place)
        ((start, end),) = reading.given([(place, place + len(word))])
        assert text[start] == word[0] or text[start] in "&\\"
        assert reading.read([(start, end)]) == [(place, place + len(word))]
        place += len(word)


def test_a_mention_of_nothing_that_is_read_is_empty():
    reading = read("<b>asthma</b> cough")
    assert reading.read([(0, 3), (9, 13)]) == [(0, 0), (6, 6)]
    assert reading.given(reading.read([(0, 13)])) == [(3, 9)]


@pytest.mark.parametrize(
    "unit",
    [
        "$",
        "$%",
        "<",
        "<b =",
        "&amp;",
        "a[1]",
        "[a](http:",
        "\\citecite",
        "**",
        "`a",
        "a-\n",
        "\n> ",
        "a¹",
        "[[a|",
        "aaaa(1,",
    ]
    + ["US$", "<script>", "aaa<sup>1", "\\textbf{", "\x00", " ", "a"],
)
def test_reading_takes_linear_time(unit):
    started = time.perf_counter()
    read(f"asthma {unit * (200_000 // len(unit))} end")
    assert time.perf_counter() - started < 10  # quadratic: minutes
