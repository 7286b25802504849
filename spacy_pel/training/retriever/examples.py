"""From a corpus and a knowledge base to tokenised examples on disk, which serve as a cache for later trainings."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...corpora import read_corpus
from ...encoders.bi_encoder import BiEncoder
from ...encoders.pretrained import tokenizer_rules
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...kb.compare import prefix_hint, warn_of_other_ids
from ...types import Document, MentionInText, Numbers, Rows
from ...util import atomic_path, fingerprint, hash_strings, logger, progress
from ...util.arrays import offsets_of
from ...util.files import open_text
from .example_store import ExampleStore, TokenWriter
from .settings import RunSettings

_CHUNK = 20_000  # sequences tokenised at a time: bounds the memory of Python lists
_VERSION = 4  # of the files; other versions are ignored


class LinkedMention(NamedTuple):
    """A mention with an entity in the knowledge base.

    document: id of the document.
    mention: in its text.
    ids: as annotated.
    entities: numbers of its entities among the live ones.
    """

    document: str
    mention: MentionInText
    ids: tuple[str, ...]
    entities: Numbers


def cached_examples(settings: RunSettings, kb: KnowledgeBase, encoder: BiEncoder, folder: Path) -> ExampleStore:
    """Map the examples of a training from a cache; make them if they are missing.

    Entries are named by a fingerprint of all that they depend on: knowledge base, corpus, limit,
    tokenizer and templates. Several trainings may share a cache.

    Args:
        settings: names the corpus.
        folder: the cache.

    Returns:
        Memory-mapped.

    Raises:
        PelError: if no mention can be used, or the disk is full.
    """
    positives, limit = settings.pel.positives, settings.pel.training.limit
    with_names = positives.name > 0 or positives.alias_share > 0
    corpus = settings.paths.required("train")
    open_text(corpus).close()  # raises our error for a missing file before any work
    key = fingerprint(_VERSION, kb.fingerprint, corpus, _reading(encoder), limit, with_names)
    entry = Path(folder) / f"examples-{key}"
    if entry.is_dir():
        try:
            store = ExampleStore.open(entry)
        except PelError as err:
            logger.warning("%s", err)
        else:
            logger.info("Using the tokenised examples in %s", entry)
            return store
    # raises if there are none, before anything is written
    mentions = linked_mentions(kb, read_corpus(corpus))
    mentions = mentions[:limit] if limit else mentions
    with atomic_path(entry) as part:
        write_examples(part, kb, mentions, encoder, with_names=with_names)
    return ExampleStore.open(entry)


def _reading(encoder: BiEncoder) -> str:
    """A hash of all that determines an encoder's tokens."""
    tokenizer = encoder.tokenizer
    templates = [
        [template.registered_name, template.settings]
        for template in (encoder.mention_template, encoder.entity_template)
    ]
    return fingerprint(templates, type(tokenizer).__name__, tokenizer.get_vocab(), tokenizer_rules(tokenizer))


def linked_mentions(kb: KnowledgeBase, documents: Iterable[Document], *, part: str = "training") -> list[LinkedMention]:
    """Select the mentions to train on. NIL mentions, composite ones (they have no single entity) and those
    whose ids are not in the KB are left out, with a message.

    Args:
        part: "training" or "dev", for the error.

    Returns:
        In the order of the documents.

    Raises:
        PelError: if there is none.
    """
    number_of_row = live_numbers(kb)
    linked: list[LinkedMention] = []
    skipped = {"NIL": 0, "composite": 0, "not in the KB": 0}
    example = ""
    for document in documents:
        for mention in document.mentions:
            rows = kb.rows(mention.ids) if mention.ids else np.zeros(0, dtype=np.int64)
            entities = number_of_row[rows[rows >= 0]]
            if not mention.ids:
                skipped["NIL"] += 1
            elif mention.composite:
                skipped["composite"] += 1
            elif not len(entities):
                skipped["not in the KB"] += 1
                example = example or mention.ids[0]
            else:
                text = MentionInText(document.text, mention.start, mention.end)
                linked.append(LinkedMention(document.id, text, mention.ids, entities))
    left_out = ", ".join(f"{n:,} {reason}" for reason, n in skipped.items() if n) or "none"
    if not linked:
        raise PelError(Errors.E311.format(part=part, skipped=left_out, hint=prefix_hint(kb, example)))
    logger.info("Mentions with an entity: %s; left out: %s", f"{len(linked):,}", left_out)
    n_outside = skipped["not in the KB"]
    warn_of_other_ids(kb, n_outside=n_outside, n=len(linked) + n_outside, example=example)
    return linked


def live_numbers(kb: KnowledgeBase) -> Numbers:
    """(n_rows,) the number of each KB row among the live ones; -1 = retired."""
    numbers = np.full(kb.n_rows, -1, dtype=np.int64)
    numbers[kb.live_rows] = np.arange(len(kb.live_rows))
    return numbers


def mention_keys(mentions: Iterable[tuple[str, int, int]]) -> NDArray[np.uint64]:
    """Hashes of (document id, start, end)."""
    return hash_strings([f"{document}\x1f{start}\x1f{end}" for document, start, end in mentions])


def write_examples(
    folder: Path, kb: KnowledgeBase, mentions: Sequence[LinkedMention], encoder: BiEncoder, *, with_names: bool = True
) -> None:
    """Write the files that ``ExampleStore.open`` maps, chunk by chunk: memory stays bounded.

    Args:
        folder: must not exist.
        kb: gives the entities; all of its live ones can be negatives.
        mentions: from ``linked_mentions``.
        encoder: its templates and tokenizer.
        with_names: tokenise names too; False if the settings use none.
    """
    folder.mkdir(parents=True)
    with closing(TokenWriter(folder / "mentions")) as writer:
        for chunk in progress(_chunks(mentions), description="Tokenising mentions"):
            writer.append(encoder.mention_template.tokenize(encoder.tokenizer, [m.mention for m in chunk]))
    _save_gold(folder / "mention", [mention.entities for mention in mentions])
    keys = mention_keys((m.document, m.mention.start, m.mention.end) for m in mentions)
    np.save(folder / "mention_key.npy", keys)
    _write_entities(folder, kb, encoder, with_names)


def _write_entities(folder: Path, kb: KnowledgeBase, encoder: BiEncoder, with_names: bool) -> None:
    number_of_row, tokenizer, template = live_numbers(kb), encoder.tokenizer, encoder.entity_template
    owners: list[Numbers] = [np.zeros(0, dtype=np.int64)]
    gold: list[Rows] = []
    writers = [closing(TokenWriter(folder / name)) for name in ("cards", "names", "bare_names")]
    with writers[0] as cards, writers[1] as names, writers[2] as bare:
        for chunk in progress(_chunks(kb.live_rows), description="Tokenising entities"):
            entities = [kb.entity_at(int(row)) for row in chunk]
            cards.append(template.tokenize(tokenizer, entities))
            if not with_names:
                continue
            names_of_each = [list(dict.fromkeys([e.canonical_name, *e.aliases])) for e in entities]
            texts = [name for entity_names in names_of_each for name in entity_names]
            owner = np.repeat(number_of_row[chunk], [len(entity_names) for entity_names in names_of_each])
            owners.append(owner)
            for part in _chunks(texts):
                names.append(template.tokenize_names(tokenizer, part))
                without_context = [MentionInText(name, 0, len(name)) for name in part]
                bare.append(encoder.mention_template.tokenize(tokenizer, without_context))
            # all entities with this name are right answers
            for entity, rows in zip(owner, kb.rows_of_aliases(texts), strict=True):
                namesakes = number_of_row[rows]
                gold.append(np.union1d(namesakes[namesakes >= 0], [entity]).astype(np.int64))
    np.save(folder / "name_entity.npy", np.concatenate(owners))
    _save_gold(folder / "name", gold)


def _save_gold(path: Path, entities: Sequence[Numbers]) -> None:
    lengths = np.array([len(numbers) for numbers in entities], dtype=np.int64)
    np.save(path.with_name(f"{path.name}_gold.npy"), np.concatenate([np.zeros(0, dtype=np.int64), *entities]))
    np.save(path.with_name(f"{path.name}_gold_offsets.npy"), offsets_of(lengths))


def _chunks(items: Any) -> list[Any]:
    return [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
