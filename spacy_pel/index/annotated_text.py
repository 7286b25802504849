"""What annotated text says about entities: which surface forms named them, and how often."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..types import Entity, MentionInText, Rows
from ..util import counted_form, hash_strings, normalize_alias
from ..util.arrays import look_up, offsets_of
from ..util.arrow_files import write_arrays
from ..util.names import NOT_WORD, compatible
from .row_table import map_arrays

if TYPE_CHECKING:
    from ..kb import KnowledgeBase

PRIORS = "priors.arrow"


class AliasPriors:
    """Counts of (surface form, entity), like the prior probabilities of spaCy's KB.

    Three parallel arrays sorted by surface form and entity. Surface forms are stored as 64-bit hashes;
    the probability that two of a million share a hash is 3e-8.

    Args:
        surface_hashes: ascending.
        kb_rows: rows of the knowledge base; -1 = none of its entities.
        counts: how often the surface form named the entity.
    """

    def __init__(
        self, surface_hashes: NDArray[np.uint64], kb_rows: NDArray[np.int32], counts: NDArray[np.int32]
    ) -> None:
        self.surface_hashes = surface_hashes
        self.kb_rows = kb_rows
        self._counts = counts
        order = np.argsort(kb_rows, kind="stable")[np.count_nonzero(kb_rows < 0) :]
        self._entities, firsts = np.unique(kb_rows[order], return_index=True)
        self._totals = np.add.reduceat(counts[order], firsts) if len(firsts) else counts[:0]

    def __len__(self) -> int:
        return len(self.surface_hashes)

    @classmethod
    def build(cls, surfaces: Iterable[str], kb_rows: Rows) -> "AliasPriors":
        """Count.

        Args:
            surfaces: mentions as written in the text.
            kb_rows: the entity that each of them names.

        Returns:
            The counts.
        """
        hashes = hash_strings(list(map(counted_form, surfaces)))
        return cls.summed(hashes, kb_rows.astype(np.int32), np.ones(len(hashes), dtype=np.int32))

    @classmethod
    def empty(cls) -> "AliasPriors":
        """Of no mentions."""
        return cls.build((), np.zeros(0, np.int64))

    def merged(self, more: "AliasPriors") -> "AliasPriors":
        """The sum of these counts and others."""
        if not len(more):
            return self
        return AliasPriors.summed(
            np.concatenate([self.surface_hashes, more.surface_hashes]),
            np.concatenate([self.kb_rows, more.kb_rows]),
            np.concatenate([self._counts, more._counts]),
        )

    def redirected(self, successors: NDArray[np.int32]) -> "AliasPriors":
        """With the counts of other entities: for each row of the knowledge base the one that gets its counts."""
        kb_rows = np.where(self.kb_rows < 0, self.kb_rows, successors[self.kb_rows])
        return AliasPriors.summed(self.surface_hashes, kb_rows, self._counts)

    @classmethod
    def summed(cls, hashes: NDArray[np.uint64], kb_rows: NDArray[np.int32], counts: NDArray[np.int32]) -> "AliasPriors":
        """Sum the counts of equal pairs; the arrays may be in any order."""
        order = np.lexsort((kb_rows, hashes))
        hashes, kb_rows, counts = hashes[order], kb_rows[order], counts[order]
        new = np.ones(len(hashes), dtype=np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (kb_rows[1:] != kb_rows[:-1])
        firsts = np.flatnonzero(new)
        totals = np.add.reduceat(counts, firsts).astype(np.int32) if len(firsts) else counts
        return cls(hashes[firsts], kb_rows[firsts], totals)

    def counts(
        self, surfaces: Sequence[str], *, normalized: bool = False, of_entities: bool = False
    ) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        """Look up surface forms. A plain word in capitals that is counted nowhere is read as the word: a whole text may
        be in capitals.

        Args:
            surfaces: surface forms.
            normalized: they are in the form of the counts already (see ``util.counted_form``).
            of_entities: leave out row -1.

        Returns:
            Ragged KB rows and counts of all surface forms, and (n + 1,) offsets:
            surface form i has those at ``offsets[i]:offsets[i + 1]``.
        """
        forms = list(surfaces if normalized else map(counted_form, surfaces))
        start, stop = self._places(forms)
        if acronyms := [number for number in np.flatnonzero(start == stop).tolist() if forms[number].isupper()]:
            start[acronyms], stop[acronyms] = self._places([forms[number].lower() for number in acronyms])
        if of_entities:  # row -1 comes first
            known = np.flatnonzero(start < stop)
            start[known] += self.kb_rows[start[known]] < 0
        offsets = offsets_of(stop - start)
        positions = np.repeat(start - offsets[:-1], stop - start) + np.arange(offsets[-1])
        return self.kb_rows[positions].astype(np.int64), self._counts[positions].astype(np.int64), offsets

    def _places(self, forms: Sequence[str]) -> tuple[Rows, Rows]:
        hashes = hash_strings(forms)
        return np.searchsorted(self.surface_hashes, hashes), np.searchsorted(self.surface_hashes, hashes, side="right")

    def total(self, kb_rows: Rows) -> NDArray[np.int64]:
        """How often each entity was named by any surface form."""
        if len(self._entities) == 0:
            return np.zeros(len(kb_rows), dtype=np.int64)
        position, known = look_up(self._entities, kb_rows)
        return np.where(known, self._totals[position], 0).astype(np.int64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The three arrays by name."""
        return {"surface": self.surface_hashes, "kb_row": self.kb_rows, "count": self._counts}

    def to_disk(self, path: Path, file: str = PRIORS) -> None:
        """Write the arrays to a file of a folder."""
        write_arrays(Path(path) / file, self.columns())

    @classmethod
    def from_disk(cls, path: Path, file: str = PRIORS) -> "AliasPriors":
        """Map the arrays of a file into memory."""
        arrays = map_arrays(Path(path) / file)
        return cls(arrays["surface"], arrays["kb_row"], arrays["count"])


@dataclass(frozen=True)
class FormsInText:
    """What annotated text calls an entity.

    Attributes:
        counts: how often, for the commonest forms that can be read, in normal form. The index keeps hashes: what no
            entity has as a name cannot be read.
        n_others: how many other forms there are.
        n_mentions: of the entity, by any form.
    """

    counts: dict[str, int]
    n_others: int
    n_mentions: int

    @classmethod
    def of(cls, priors: AliasPriors, kb: "KnowledgeBase", entity: Entity, n: int = 10) -> "FormsInText":
        """The n commonest forms of an entity of the KB, which may be retired."""
        places = np.flatnonzero(priors.kb_rows == kb.find_ids([entity.concept_id])[0])
        hashes, numbers = (column[places] for column in (priors.surface_hashes, priors.columns()["count"]))
        own = list(map(counted_form, (entity.canonical_name, *entity.aliases)))
        names = dict(zip(hash_strings(own).tolist(), own, strict=True))
        found = zip(hashes.tolist(), kb.stored.names_of_hashes(hashes), numbers.tolist(), strict=True)
        read = {form: count for value, name, count in found if (form := names.get(value, name)) is not None}
        commonest = dict(sorted(read.items(), key=lambda item: (-item[1], item[0]))[:n])
        return cls(commonest, len(places) - len(commonest), int(numbers.sum()))

    def __str__(self) -> str:
        rest = self.n_mentions - sum(self.counts.values())
        numbers = self.counts | ({"others": rest} if rest else {})
        return " · ".join(f"{form} {count:,}" for form, count in numbers.items())


def unmarked(mentions: Iterable[MentionInText]) -> AliasPriors:
    """Count the places of texts that have the form of a mention where none is marked. They name no entity: a form that
    is marked twice in nine thousand places, such as "patients", says little of what it means. Words of a marked mention
    are no such places: "lupus erythematosus" does not say that "lupus" is nothing.

    Args:
        mentions: the marked ones whose entity is known.
    """
    spans: dict[str, set[tuple[int, int]]] = {}
    for mention in mentions:
        spans.setdefault(mention.text, set()).add((mention.start, mention.end))
    surfaces = {text[start:end] for text, of_text in spans.items() for start, end in of_text}
    forms = set(map(counted_form, surfaces))
    forms |= {form.lower() for form in forms}
    beginnings = {" ".join(words[:n]) for words in map(str.split, forms) for n in range(1, len(words) + 1)}

    @cache
    def read(word: str) -> str:
        """As ``AliasPriors.counts`` reads it. Capitals count in single words only."""
        form = counted_form(word)
        return form if form in forms else form.lower()

    normalize_word = cache(normalize_alias)
    places: Counter[str] = Counter()
    for text, of_text in spans.items():
        last = 0
        for start, end in [*sorted(of_text), (len(text), len(text))]:
            words = NOT_WORD.sub(" ", compatible(text[last:start])).split()
            last = max(last, end)
            normal, found = list(map(normalize_word, words)), []
            for first, form in enumerate(map(read, words)):
                stop = first + 1
                while form in beginnings and stop <= len(words):
                    found.append(form)
                    stop += 1
                    form = " ".join(normal[first:stop])
            places.update(found)
    counts = {form: places[form] for form in forms & set(places)}
    rows, numbers = np.full(len(counts), -1, dtype=np.int32), np.array(list(counts.values()), dtype=np.int32)
    return AliasPriors.summed(hash_strings(list(counts)), rows, numbers)
