"""The training examples: tokenised once, kept as arrays."""

from dataclasses import dataclass
from typing import Iterable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from ..encoders.bi_encoder import BiEncoder
from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..text import RaggedTokens
from ..types import Document, MentionInText
from ..util import logger, progress
from .groups import Groups

_CHUNK = 20_000  # sequences tokenised at a time: bounds the memory of Python lists


@dataclass
class ExampleStore:
    """Everything that a batch is made of. Entities are counted 0..n_entities in KB order.

    mentions: marked contexts of the corpus's gold mentions.
    mention_gold: for each mention the positions of its gold entities, the first is the target.
    names, name_entity: every name of every entity, as entity text.
    bare_names: the same names as mentions without context.
    cards: one card an entity.
    """

    mentions: RaggedTokens
    mention_gold: List[NDArray[np.int64]]
    mention_entity: NDArray[np.int64]
    names: RaggedTokens
    bare_names: RaggedTokens
    name_entity: NDArray[np.int64]
    cards: RaggedTokens
    mentions_of: Groups
    names_of: Groups

    @property
    def n_entities(self) -> int:
        return len(self.cards)


def build_examples(
    kb: KnowledgeBase,
    documents: Iterable[Document],
    encoder: BiEncoder,
    *,
    limit: int = 0,
    with_names: bool = True,
    show_progress: bool = False,
) -> ExampleStore:
    """Tokenise a corpus and a knowledge base for training.

    kb (KnowledgeBase): gives the entities; all of its live ones can be negatives.
    documents (Iterable[Document]): gold mentions; NIL mentions and ids that the KB lacks are
        left out, with a message. A composite mention has no single entity: left out too.
    encoder (BiEncoder): its templates and tokenizer.
    limit (int): use only the first so many mentions; 0 = all.
    with_names (bool): tokenise names too; False where the settings use none.
    RETURNS (ExampleStore): the examples.
    RAISES (PelError): if not one mention can be used.
    """
    place = np.full(kb.n_rows, -1, dtype=np.int64)
    place[kb.live_rows] = np.arange(len(kb.live_rows))
    texts, gold = _usable_mentions(kb, documents, place, limit)
    names: List[str] = []
    name_entity: List[int] = []
    cards: List[RaggedTokens] = []
    for chunk in _chunks(list(range(len(kb.live_rows)))):
        entities = [kb.entity_at(int(kb.live_rows[i])) for i in chunk]
        cards.append(encoder.entity_template.tokenize(encoder.tokenizer, entities))
        for position, entity in zip(chunk, entities, strict=True):
            distinct = dict.fromkeys([entity.canonical_name, *entity.aliases]) if with_names else ()
            names += distinct
            name_entity += [position] * len(distinct)
    starts = np.array([ids[0] for ids in gold], dtype=np.int64)
    return ExampleStore(
        mentions=_tokenize_mentions(encoder, texts, "Tokenising mentions", show_progress),
        mention_gold=gold,
        mention_entity=starts,
        names=RaggedTokens.concatenate(
            [encoder.entity_template.tokenize_names(encoder.tokenizer, chunk) for chunk in _chunks(names)]
        ),
        bare_names=_tokenize_mentions(
            encoder, [MentionInText(name, 0, len(name)) for name in names], "Tokenising names", show_progress
        ),
        name_entity=np.array(name_entity, dtype=np.int64),
        cards=RaggedTokens.concatenate(cards),
        mentions_of=Groups.from_labels(starts, len(kb.live_rows)),
        names_of=Groups.from_labels(np.array(name_entity, dtype=np.int64), len(kb.live_rows)),
    )


def _usable_mentions(
    kb: KnowledgeBase, documents: Iterable[Document], place: NDArray[np.int64], limit: int
) -> "tuple[List[MentionInText], List[NDArray[np.int64]]]":
    texts: List[MentionInText] = []
    gold: List[NDArray[np.int64]] = []
    skipped = {"NIL": 0, "composite": 0, "not in the KB": 0}
    for document in documents:
        for mention in document.mentions:
            rows = kb.rows(mention.ids) if mention.ids else np.zeros(0, dtype=np.int64)
            positions = place[rows[rows >= 0]]
            if not mention.ids:
                skipped["NIL"] += 1
            elif mention.composite:
                skipped["composite"] += 1
            elif not len(positions):
                skipped["not in the KB"] += 1
            else:
                texts.append(MentionInText(document.text, mention.start, mention.end))
                gold.append(positions)
    if not texts:
        raise PelError(Errors.E311.format(skipped=skipped))
    logger.info("Training mentions: %d; left out: %s", len(texts), skipped)
    return (texts[:limit], gold[:limit]) if limit else (texts, gold)


def _tokenize_mentions(
    encoder: BiEncoder, texts: Sequence[MentionInText], description: str, show: bool
) -> RaggedTokens:
    chunks = list(_chunks(texts))
    return RaggedTokens.concatenate(
        [
            encoder.mention_template.tokenize(encoder.tokenizer, chunk)
            for chunk in progress(chunks, description=description, show=show)
        ]
    )


def _chunks(items: Sequence) -> Iterable[Sequence]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
