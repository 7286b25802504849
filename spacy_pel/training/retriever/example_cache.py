"""A cache of tokenised examples: the same data is not tokenised twice."""

import json
from pathlib import Path

from ...corpora import read_corpus
from ...encoders.bi_encoder import BiEncoder
from ...errors import PelError
from ...kb import KnowledgeBase
from ...util import atomic_path, fingerprint, logger, open_text
from .example_store import ExampleStore
from .examples import linked_mentions, write_examples
from .settings import RunSettings

_VERSION = 2  # of the files; other versions are ignored


def cached_examples(
    settings: RunSettings, kb: KnowledgeBase, encoder: BiEncoder, folder: Path, *, show_progress: bool = False
) -> ExampleStore:
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
    with_names = positives.name > 0 or positives.alias_share > 0 or settings.pel.rows is not None
    corpus = settings.paths.required("train")
    open_text(corpus).close()  # raises our error for a missing file before any work
    key = fingerprint(_VERSION, kb.fingerprint, Path(corpus), _reading(encoder), limit, with_names)
    entry = Path(folder) / f"examples-{key}"
    if entry.is_dir():
        try:
            store = ExampleStore.open(entry)
        except PelError as err:
            logger.warning("%s", err)
        else:
            logger.info("Using the tokenised examples in %s", entry)
            return store
    mentions = linked_mentions(kb, read_corpus(corpus))  # raises if there are none, before anything is written
    mentions = mentions[:limit] if limit else mentions
    with atomic_path(entry) as part:
        write_examples(part, kb, mentions, encoder, with_names=with_names, show_progress=show_progress)
    return ExampleStore.open(entry)


def _reading(encoder: BiEncoder) -> str:
    """A hash of all that determines an encoder's tokens."""
    tokenizer = encoder.tokenizer
    templates = [
        [template.registered_name, template.settings]
        for template in (encoder.mention_template, encoder.entity_template)
    ]
    rules = {}
    if getattr(tokenizer, "backend_tokenizer", None) is not None:
        rules = json.loads(tokenizer.backend_tokenizer.to_str())
        rules = {key: rules.get(key) for key in ("normalizer", "pre_tokenizer", "model", "added_tokens")}
    return fingerprint(templates, type(tokenizer).__name__, tokenizer.get_vocab(), rules)
