"""What annotated text says about entities: which surface forms named them, how often, and which texts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..types import Entity, MentionInText, Rows, Scores, Vectors
from ..util import counted_form, hash_strings, normalize_alias
from ..util.arrays import look_up, offsets_of, row_products, softmax
from ..util.arrow_files import write_arrays
from ..util.names import NOT_WORD, compatible
from .row_table import map_arrays

if TYPE_CHECKING:
    from ..kb import KnowledgeBase

PRIORS = "priors.arrow"
_VECTORS, _PAIRS = "topic_vectors.npy", "topic_pairs.arrow"
# of an entity that no annotated text names, and of a mention without a text around it: topics say nothing
UNKNOWN = 0.009
TEMPERATURE = 0.05  # of the softmax over texts; on MedMentions dev it spreads over some 40 of 2,371
_TEXTS_KEPT = 256  # vectors of texts that are not read again


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


class Topics:
    """Annotated texts near a text say which entities it is about:

        P(e | text) = sum over annotated texts d that name e of softmax_d(cos(text, d) / TEMPERATURE)

    Args:
        vectors: (n, width), the texts; of length 1.
        kb_rows: (p,) ascending, the entity of each pair of entity and text; each pair once.
        texts: (p,) the text of each pair.
    """

    def __init__(self, vectors: NDArray[np.float16], kb_rows: NDArray[np.int32], texts: NDArray[np.int32]):
        self.vectors = vectors
        self.kb_rows = kb_rows
        self.texts = texts
        self._entities, lengths = np.unique(kb_rows, return_counts=True)
        self._offsets = offsets_of(lengths)
        self._float32: Vectors | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def build(cls, vectors: NDArray[Any], kb_rows: Sequence[Rows]) -> "Topics":
        """Pair texts with their entities.

        Args:
            vectors: (n, width), of length 1.
            kb_rows: for each text the entities that it names, with repeats.
        """
        distinct = [np.unique(rows) for rows in kb_rows]
        rows = np.concatenate([np.zeros(0, np.int64), *distinct])
        texts = np.repeat(np.arange(len(distinct)), [len(rows) for rows in distinct])
        order = np.argsort(rows, kind="stable")
        return cls(vectors.astype(np.float16), rows[order].astype(np.int32), texts[order].astype(np.int32))

    def redirected(self, successors: NDArray[np.int32]) -> "Topics":
        """With the texts of other entities: for each row of the knowledge base the one that gets its texts."""
        pairs = np.unique(np.stack([successors[self.kb_rows], self.texts]), axis=1)
        return Topics(self.vectors, *pairs)

    def shares(self, vectors: Vectors, texts: Rows, kb_rows: Rows) -> Scores:
        """P(entity | text) of pairs.

        Args:
            vectors: (u, width), of texts; of length 1.
            texts: (m,) the text of each pair.
            kb_rows: (m,) its entity.

        Returns:
            (m,), from 0 to 1; UNKNOWN where no annotated text names the entity.
        """
        result = np.full(len(kb_rows), UNKNOWN, dtype=np.float32)
        if not len(self) or not len(self._entities):
            return result
        if self._float32 is None:
            self._float32 = self.vectors.astype(np.float32)
        weights = softmax(row_products(vectors, self._float32) / TEMPERATURE)
        position, known = look_up(self._entities, kb_rows)
        for text in range(len(vectors)):
            pairs = np.flatnonzero(known & (texts == text))
            shares = np.add.reduceat(weights[text][self.texts], self._offsets[:-1])
            result[pairs] = shares[position[pairs]]
        return result

    def columns(self) -> dict[str, NDArray[Any]]:
        """The pairs by name."""
        return {"kb_row": self.kb_rows, "text": self.texts}

    def to_disk(self, path: Path) -> None:
        """Write the files to a folder."""
        np.save(path / _VECTORS, self.vectors, allow_pickle=False)
        write_arrays(path / _PAIRS, self.columns())

    @classmethod
    def from_disk(cls, path: Path) -> "Topics":
        """Map those of a folder into memory.

        Raises:
            ValueError: if the files are damaged, or do not fit together.
        """
        try:
            vectors = np.load(path / _VECTORS, mmap_mode="r", allow_pickle=False)
        except EOFError as err:
            raise ValueError(f"{_VECTORS} is cut off") from err
        pairs = map_arrays(path / _PAIRS)
        kb_rows, texts = pairs["kb_row"], pairs["text"]
        fits = vectors.ndim == 2 and vectors.dtype == np.float16 and len(kb_rows) == len(texts)
        if not fits or (np.diff(kb_rows) < 0).any() or (texts < 0).any() or (texts >= len(vectors)).any():
            raise ValueError(f"{_VECTORS} and {_PAIRS} do not fit together")
        return cls(vectors, kb_rows, texts)


def build_topics(
    encoder: Any, texts: Sequence[str], kb_rows: Sequence[Rows], *, show_progress: bool = False
) -> Topics | None:
    """Encode annotated texts.

    Args:
        encoder: the encoder of the index.
        texts: the texts.
        kb_rows: the entities that each of them names; texts without one are left out.

    Returns:
        None if there is no such text, or the encoder does not read texts.
    """
    used = [number for number, rows in enumerate(kb_rows) if len(rows)]
    # not in the protocol: an encoder may read mentions and names only
    encode_texts = getattr(encoder, "encode_texts", None)
    if not used or encode_texts is None:
        return None
    vectors = encode_texts([texts[number] for number in used], show_progress=show_progress)
    return Topics.build(vectors, [kb_rows[number] for number in used])


class TopicReader:
    """Gives P(entity | text) to the candidates of batches of mentions.

    Texts that were read a short time ago are not read again: a batch may end in the middle of a text, and a text
    is asked for by surface forms and again in context.

    Args:
        encoder: the encoder of the index, with ``encode_texts``.
        topics: those of the index.
    """

    def __init__(self, encoder: Any, topics: Topics):
        self.encoder = encoder
        self.topics = topics
        self._read: Mapping[str, Vectors] = {}

    def shares(self, texts: Sequence[str], kb_rows: Rows) -> Scores:
        """P(entity | text) of candidates.

        Args:
            texts: (n,) the text around each mention; "" = there is none.
            kb_rows: (n, k) candidates, -1 = none.

        Returns:
            (n, k), see ``Topics.shares``; UNKNOWN without a text.
        """
        result = np.full(kb_rows.shape, UNKNOWN, dtype=np.float32)
        last = self._read  # another thread may replace it
        distinct = [text for text in dict.fromkeys(texts) if text]
        new = [text for text in distinct if text not in last]
        read = {**last, **dict(zip(new, self.encoder.encode_texts(new) if new else (), strict=True))}
        self._read = dict(list(read.items())[-max(_TEXTS_KEPT, len(distinct)) :])
        number_of = {text: number for number, text in enumerate(distinct)}
        which = np.array([number_of.get(text, -1) for text in texts], dtype=np.int64)
        known = (kb_rows >= 0) & (which >= 0)[:, None]
        if known.any():
            vectors = np.stack([read[text] for text in distinct])
            result[known] = self.topics.shares(vectors, which[np.nonzero(known)[0]], kb_rows[known])
        return result
