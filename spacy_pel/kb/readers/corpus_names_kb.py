"""The KB reader for annotated text: every gold id becomes an entity named by its mentions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.readers.jsonl_corpus import read_corpus
from ...registry import registry
from ...types import Entity
from ...util.place import Place
from .reader_base import KBReaderBase


@registry.pel_kb_readers("spacy-pel.CorpusNamesKB.v1")
@dataclass(kw_only=True, eq=False)
class CorpusNamesKB(KBReaderBase):
    """Reads corpora (JSON lines, see ``spacy_pel.corpora``) as entities named by their surface forms.

    Surface forms that differ only in case count as one, in their most frequent
    spelling (ties: with fewer capitals). The most frequent form is the canonical name (ties:
    the shortest, then the first in the alphabet), the others are aliases by falling
    frequency. A mention with several ids names each of them; a composite mention names
    none. Types are the labels of the mentions.

    Args:
        min_count: take surface forms that name the entity at least this often.
        types: keep entities with any of these mention labels; None = all.
        id_prefix: keep ids that start with this.
        strict: turn repairs into errors.
    """

    min_count: int = 1

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        for path in paths:
            names: dict[str, Counter] = defaultdict(Counter)
            labels: dict[str, Counter] = defaultdict(Counter)
            for document in read_corpus(path):
                for mention in document.mentions:
                    if mention.composite and len(mention.ids) > 1:
                        continue
                    surface = " ".join(document.text[mention.start : mention.end].split())
                    for entity_id in mention.ids:
                        names[entity_id][surface] += 1
                        labels[entity_id][mention.label] += 1
            for entity_id in sorted(names):
                ranked = rank_surfaces(names[entity_id], min_count=self.min_count)
                if ranked:
                    types = tuple(label for label, _ in labels[entity_id].most_common() if label)
                    yield Place(path), Entity(entity_id, ranked[0], tuple(ranked[1:]), types)


def rank_surfaces(counts: Counter, *, min_count: int = 1) -> list[str]:
    """Order the surface forms of one entity.

    Args:
        counts: how often each form was seen.
        min_count: leave out forms (case aside) seen less often.

    Returns:
        One spelling of each form, the best first.
    """
    spellings: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for surface, count in counts.items():
        capitals = sum(letter.isupper() for letter in surface)
        spellings[surface.casefold()].append((-count, capitals, surface))
    totals = {form: sum(count for count, _, _ in found) for form, found in spellings.items()}
    forms = sorted((form for form in totals if -totals[form] >= min_count), key=lambda f: (totals[f], len(f), f))
    return [min(spellings[form])[2] for form in forms]
