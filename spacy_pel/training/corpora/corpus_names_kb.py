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
from ...util.names import runs_of

_STEM = 4  # letters that words with a meaning in common begin with


@registry.pel_kb_readers("spacy-pel.CorpusNamesKB.v1")
@dataclass(kw_only=True, eq=False)
class CorpusNamesKB(KBReaderBase):
    """Reads corpora (JSON lines, see ``spacy_pel.corpora``) as entities named by their surface forms.

    Surface forms that differ only in case count as one, in their most frequent
    spelling (ties: with fewer capitals). The form in the most documents is the canonical name (ties:
    the most mentions, the shortest, then the first in the alphabet), the others are aliases in the same
    order. A mention with several ids names each of them; a composite mention names
    none. Types are the labels of the mentions.

    Annotators also mark words that do not name the entity ("FH2D" as *no*). A form in a single document that
    is unlike all forms in several documents is left out if it is also a form of another entity.

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
            ranked = {entity_id: rank_surfaces(names[entity_id], documents[entity_id]) for entity_id in sorted(names)}
            odd = {entity_id: odd_forms(forms, documents[entity_id]) for entity_id, forms in ranked.items()}
            plausible = {form for entity_id, forms in ranked.items() for form in forms if form not in odd[entity_id]}
            for entity_id, forms in ranked.items():
                forms = [form for form in forms if form not in odd[entity_id] or form not in plausible]
                if forms:
                    types = tuple(label for label, _ in labels[entity_id].most_common() if label)
                    yield Place(path), Entity(entity_id, forms[0], tuple(forms[1:]), types)


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


def odd_forms(ranked: Sequence[str], documents: Counter[str]) -> set[str]:
    """The forms in a single document that are unlike all forms in several: no words begin alike, and neither
    abbreviates the other. If no form is in several documents, none is odd.

    Args:
        ranked: surface forms of one entity.
        documents: in how many documents each casefolded form was seen.
    """
    single = [form for form in ranked if documents[form.casefold()] < 2]
    usual = [form for form in ranked if documents[form.casefold()] > 1]
    stems = {stem for form in usual for stem in _stems(form)}
    letters = ["".join(runs_of(form).words) for form in usual]

    def is_odd(form: str) -> bool:
        short = "".join(runs_of(form).words)
        alike = not stems.isdisjoint(_stems(form))
        return not alike and not any(_abbreviates(*sorted((short, other), key=len)) for other in letters)

    return {form for form in single if is_odd(form)} if usual else set()


def _stems(form: str) -> list[str]:
    return [word[:_STEM] for word in runs_of(form).words if len(word) >= _STEM]


def _abbreviates(short: str, long: str) -> bool:
    """Whether the letters of a short form are in a name in this order, the first one first."""
    rest = iter(long)
    return short[:1] == long[:1] and all(letter in rest for letter in short)
