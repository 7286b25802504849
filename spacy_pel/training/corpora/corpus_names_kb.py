"""The KB reader for annotated text: every gold id becomes an entity named by its mentions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.formats.jsonl import read_corpus
from ...kb.readers.reader_base import KBReaderBase
from ...registry import registry
from ...types import Entity
from ...util.files import Place


@registry.pel_kb_readers("spacy-pel.CorpusNamesKB.v1")
@dataclass(kw_only=True, eq=False)
class CorpusNamesKB(KBReaderBase):
    """Reads corpora (JSON lines, see ``spacy_pel.corpora``) as entities named by their surface forms.

    Surface forms that differ only in case count as one, in their most frequent
    spelling (ties: with fewer capitals). The form in the most documents is the canonical name (ties:
    the most mentions, the shortest, then the first in the alphabet), the others are aliases in the same
    order. A mention with several ids names each of them; a composite mention names
    none. Types are the labels of the mentions.

    What annotators mark need not be a name: "FH2D" as *no*. A merge takes the forms of a source with ``forms`` as
    evidence instead.

    Args:
        types: keep entities with any of these mention labels; None = all.
        id_prefix: keep ids that start with this.
        strict: turn repairs into errors.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        for path in paths:
            names: dict[str, Counter[str]] = defaultdict(Counter)
            documents: dict[str, Counter[str]] = defaultdict(Counter)  # case aside
            labels: dict[str, Counter[str]] = defaultdict(Counter)
            for document in read_corpus(path):
                in_document: set[tuple[str, str]] = set()
                for mention in document.mentions:
                    if mention.composite and len(mention.ids) > 1:
                        continue
                    surface = " ".join(document.text[mention.start : mention.end].split())
                    for entity_id in mention.ids:
                        names[entity_id][surface] += 1
                        labels[entity_id][mention.label] += 1
                        in_document.add((entity_id, surface.casefold()))
                for entity_id, form in in_document:
                    documents[entity_id][form] += 1
            for entity_id in sorted(names):
                name, *others = rank_surfaces(names[entity_id], documents[entity_id])
                types = tuple(label for label, _ in labels[entity_id].most_common() if label)
                yield Place(path), Entity(entity_id, name, tuple(others), types)


def rank_surfaces(counts: Counter[str], documents: Counter[str]) -> list[str]:
    """Order the surface forms of one entity.

    Args:
        counts: how often each form was seen.
        documents: in how many documents each casefolded form was seen.

    Returns:
        One spelling of each form, the best first.
    """
    spellings: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for surface, count in counts.items():
        capitals = sum(letter.isupper() for letter in surface)
        spellings[surface.casefold()].append((-count, capitals, surface))
    totals = {form: sum(count for count, _, _ in found) for form, found in spellings.items()}
    forms = sorted(totals, key=lambda form: (-documents[form], totals[form], len(form), form))
    return [min(spellings[form])[2] for form in forms]
