"""Evidence of surface forms alone, from an index with a small encoder, for tests of what names say."""

from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF


def gather(kb, *surfaces, documents=(), allowed=None):
    """One mention for each surface form."""
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), documents=documents)
    return find_candidates(kb, index, encoder.encode_names(surfaces), surfaces, allowed=allowed)


def marked(kb, table, names):
    """For each mention and feature the ids of the candidates that have
    it."""
    marks = {name: table.filled & (table.features[name] == 1) for name in names}
    return [
        {name: sorted(kb.ids_at(rows[marks[name][number]])) for name in names}
        for number, rows in enumerate(table.kb_rows)
    ]


def pairs_of(table):
    """The pairs of a table of words, where "_" stands for a blank."""
    words = [word.replace("_", " ") for word in table.split()]
    return list(zip(words[::2], words[1::2], strict=True))
