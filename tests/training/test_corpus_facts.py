"""What corpus info counts, by hand; and the abbreviations that texts and entities define."""

from spacy_pel.abbreviations.inventory import Abbreviation
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.corpora.corpus_facts import AbbreviationCounts, corpus_facts
from spacy_pel.types import Document, Entity, Mention


def mention(text, surface, *ids, label="L", nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(surface, start + 1)
    return Mention(start, start + len(surface), label, ids, composite="+" in ids)


TEXT = "A cold and the Cold, cold fever"
FIRST = [
    mention(TEXT, "cold", "C1"),
    mention(TEXT, "Cold", "C2"),
    mention(TEXT, "cold", "C1", nth=1, label=""),
    mention(TEXT, "fever", "C3", "OLD"),
]
SECOND = [Mention(0, 5, "L", ("C3",)), Mention(6, 11, "L", ("X",)), Mention(12, 13)]
DOCUMENTS = [Document("1", TEXT, FIRST), Document("2", "fever fever x", SECOND)]


def test_counts_without_a_kb():
    facts = corpus_facts(DOCUMENTS)
    assert (facts["documents"], facts["mentions"], facts["nil"], facts["several_ids"]) == (2, 7, 1, 1)
    assert facts["entities"] == 5 and facts["surfaces"] == 2
    assert facts["ambiguous_surfaces"] == 2 and facts["mentions_of_ambiguous_surfaces"] == 6
    assert facts["labels"] == {"L": 5, "–": 2} and "share_in_kb" not in facts and "types" not in facts
    # C1 twice in one document, C3 once in each of two
    assert facts["mentions_per_entity"] == {"1": 3, "2": 2}
    assert facts["mentions_per_entity_and_document"] == {"1": 5, "2": 1}


def test_counts_with_a_kb():
    cold, fever = Entity("C1", "cold", types=("T1",)), Entity("C3", "fever", types=("T1", "T2"))
    kb = KnowledgeBase([cold, Entity("C2", "chill"), fever, Entity("OLD", "pyrexia")])
    kb.retire(["OLD"], {"OLD": "C3"})
    facts = corpus_facts(DOCUMENTS, kb)
    assert (facts["in_kb"], facts["outside_kb"], facts["entities"], facts["entities_in_kb"]) == (5, 1, 4, 3)
    assert facts["share_in_kb"] == 5 / 6
    assert facts["types"] == {"T1": 4, "T2": 2, "–": 2}  # neither C2 nor X has one
    # "C3, OLD" is C3 alone: of "fever" only the X is another meaning
    assert facts["ambiguous_surfaces"] == 2 and facts["mentions_per_entity"] == {"1": 2, "2": 2}


def test_counts_uses_and_documents_of_texts():
    counts = AbbreviationCounts()
    counts.add_texts(
        [
            Document("1", "Adenosine triphosphate (ATP) was low. ATP rose, and ATP fell."),
            Document("2", "We gave adenosine\ntriphosphate (ATP)."),
            Document("3", "Adenosine triphosphate rose; ATP fell."),  # defines nothing
            Document("4", "The anterior tibial pulse (ATP) was weak."),
        ]
    )
    assert counts.abbreviations() == [
        Abbreviation("ATP", "Adenosine triphosphate", 4, 2),
        Abbreviation("ATP", "anterior tibial pulse", 1, 1),
    ]


def test_counts_entities_whose_names_spell_each_other_out():
    counts = AbbreviationCounts()
    counts.add_entities(
        [
            Entity("C1", "Adenosine Triphosphate", ("ATP", "adenosine 5-triphosphate", "Striadyne")),
            Entity("C2", "adenosine triphosphate assay", ("ATP",)),
            Entity("C3", "ATP", ("Adenosine triphosphate",)),
            Entity("C4", "Anemia", ("low hemoglobin (LH)", "HB")),
            Entity("C5", "NAD", (), definition="Nicotinamide adenine dinucleotide (NAD) is a coenzyme."),
            Entity("C6", "Pulse", ("APT",), definition="Felt at the wrist (or the neck)."),
        ]
    )
    found = {entry[:2]: entry[2:] for entry in counts.abbreviations()}
    assert found.pop(("ATP", "adenosine triphosphate assay")) == (1, 1)
    assert found == {("ATP", "Adenosine Triphosphate"): (2, 2), ("NAD", "Nicotinamide adenine dinucleotide"): (1, 1)}
