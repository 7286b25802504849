"""From a corpus and a knowledge base to tokenised examples on disk."""

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...corpora.preprocessing import original_id
from ...encoders.bi_encoder import BiEncoder
from ...encoders.templates.ragged_writer import RaggedWriter
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...kb.id_coverage import prefix_hint, warn_of_other_ids
from ...types import Document, MentionInText
from ...util import hash_strings, logger, normalize_alias, progress
from ...util.ragged import offsets_of
from .example_store import ExampleStore

_CHUNK = 20_000  # sequences tokenised at a time: bounds the memory of Python lists


class LinkedMention(NamedTuple):
    """A mention with an entity in the knowledge base: the document's id, that of its original, the mention,
    its ids as annotated, and the numbers of its entities among the live ones."""

    document: str
    original: str
    mention: MentionInText
    ids: tuple[str, ...]
    places: NDArray[np.int64]


def build_examples(
    kb: KnowledgeBase,
    documents: Iterable[Document],
    encoder: BiEncoder,
    *,
    limit: int = 0,
    with_names: bool = True,
    show_progress: bool = False,
) -> ExampleStore:
    """Tokenise a corpus and a knowledge base for training, in memory; ``cached_examples`` keeps them.

    Args:
        kb: gives the entities; all of its live ones can be negatives.
        documents: gold mentions, see ``linked_mentions``.
        encoder: its templates and tokenizer.
        limit: use only the first mentions, at most this many; 0 = all.
        with_names: tokenise names too; False if the settings use none.

    Returns:
        The examples.

    Raises:
        PelError: if no mention can be used.
    """
    mentions = linked_mentions(kb, documents)
    mentions = mentions[:limit] if limit else mentions
    with tempfile.TemporaryDirectory(prefix="spacy_pel_examples_") as holder:
        folder = Path(holder) / "examples"
        write_examples(folder, kb, mentions, encoder, with_names=with_names, show_progress=show_progress)
        return ExampleStore.open(folder, mapped=False)


def linked_mentions(kb: KnowledgeBase, documents: Iterable[Document]) -> list[LinkedMention]:
    """Select the mentions to train on. NIL mentions, composite ones (they have no single entity) and those
    whose ids are not in the KB are left out, with a message.

    Returns:
        In the order of the documents.

    Raises:
        PelError: if there is none.
    """
    place = places_of_rows(kb)
    found: list[LinkedMention] = []
    skipped = {"NIL": 0, "composite": 0, "not in the KB": 0}
    example = ""
    for document in documents:
        for mention in document.mentions:
            rows = kb.rows(mention.ids) if mention.ids else np.zeros(0, dtype=np.int64)
            places = place[rows[rows >= 0]]
            if not mention.ids:
                skipped["NIL"] += 1
            elif mention.composite:
                skipped["composite"] += 1
            elif not len(places):
                skipped["not in the KB"] += 1
                example = example or mention.ids[0]
            else:
                text = MentionInText(document.text, mention.start, mention.end)
                found.append(LinkedMention(document.id, original_id(document), text, mention.ids, places))
    if not found:
        raise PelError(Errors.E311.format(skipped=skipped, hint=prefix_hint(kb, example)))
    logger.info("Mentions with an entity: %d; left out: %s", len(found), skipped)
    n_outside = skipped["not in the KB"]
    warn_of_other_ids(kb, n_outside=n_outside, n=len(found) + n_outside, example=example)
    return found


def places_of_rows(kb: KnowledgeBase) -> NDArray[np.int64]:
    """(n_rows,) the number of each KB row among the live ones; -1 = retired."""
    place = np.full(kb.n_rows, -1, dtype=np.int64)
    place[kb.live_rows] = np.arange(len(kb.live_rows))
    return place


def mention_keys(mentions: Iterable[tuple[str, int, int]]) -> NDArray[np.uint64]:
    """Hashes of (document id, start, end)."""
    return hash_strings([f"{document}\x1f{start}\x1f{end}" for document, start, end in mentions])


def write_examples(
    folder: Path,
    kb: KnowledgeBase,
    mentions: Sequence[LinkedMention],
    encoder: BiEncoder,
    *,
    with_names: bool,
    show_progress: bool,
) -> None:
    """Write the files that ``ExampleStore.open`` maps, chunk by chunk: memory stays bounded.

    Args:
        folder: must not exist.
        mentions: from ``linked_mentions``.
        with_names: see ``build_examples``.
    """
    folder.mkdir(parents=True)
    with RaggedWriter(folder / "mentions") as writer:
        for chunk in progress(_chunks(mentions), description="Tokenising mentions", show=show_progress):
            writer.append(encoder.mention_template.tokenize(encoder.tokenizer, [m.mention for m in chunk]))
    _save_gold(folder / "mention", [mention.places for mention in mentions])
    keys = mention_keys((m.document, m.mention.start, m.mention.end) for m in mentions)
    np.save(folder / "mention_key.npy", keys)
    np.save(folder / "mention_document.npy", hash_strings([mention.original for mention in mentions]))
    np.save(folder / "mention_form.npy", _forms([mention.mention.surface for mention in mentions]))
    _write_entities(folder, kb, encoder, with_names, show_progress)


def _write_entities(folder: Path, kb: KnowledgeBase, encoder: BiEncoder, with_names: bool, show: bool) -> None:
    place, tokenizer, template = places_of_rows(kb), encoder.tokenizer, encoder.entity_template
    owners: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    forms: list[NDArray[np.uint64]] = [np.zeros(0, dtype=np.uint64)]
    gold: list[NDArray[np.int64]] = []
    with ExitStack() as stack:
        cards, names = (stack.enter_context(RaggedWriter(folder / name)) for name in ("cards", "names"))
        bare = stack.enter_context(RaggedWriter(folder / "bare_names"))
        bare.append(encoder.mention_template.tokenize(tokenizer, []))  # of the same kind if there are none
        for chunk in progress(_chunks(kb.live_rows), description="Tokenising entities", show=show):
            entities = [kb.entity_at(int(row)) for row in chunk]
            cards.append(template.tokenize(tokenizer, entities))
            if not with_names:
                continue
            of_each = [list(dict.fromkeys([e.canonical_name, *e.aliases])) for e in entities]
            texts = [name for own in of_each for name in own]
            owner = np.repeat(place[chunk], [len(own) for own in of_each])
            owners.append(owner)
            forms.append(_forms(texts))
            for part in _chunks(texts):
                names.append(template.tokenize_names(tokenizer, part))
                in_no_context = [MentionInText(name, 0, len(name)) for name in part]
                bare.append(encoder.mention_template.tokenize(tokenizer, in_no_context))
            # all entities with this name are right answers
            for own, rows in zip(owner, kb.rows_of_aliases(texts), strict=True):
                namesakes = place[rows]
                gold.append(np.union1d(namesakes[namesakes >= 0], [own]).astype(np.int64))
    np.save(folder / "name_entity.npy", np.concatenate(owners))
    np.save(folder / "name_form.npy", np.concatenate(forms))
    _save_gold(folder / "name", gold)


def _forms(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hashes of texts in normal form: equal ones are the same surface form."""
    return hash_strings([normalize_alias(text) for text in texts])


def _save_gold(path: Path, places: Sequence[NDArray[np.int64]]) -> None:
    members = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    lengths = np.array([len(own) for own in places], dtype=np.int64)
    np.save(path.with_name(f"{path.name}_gold.npy"), members)
    np.save(path.with_name(f"{path.name}_gold_offsets.npy"), offsets_of(lengths))


def _chunks(items: Any) -> list[Any]:
    return [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
