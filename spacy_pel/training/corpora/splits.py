"""Splits of a corpus: by lists of ids, and by hashes of them, also where a document was made from another one."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ...corpora.formats.jsonl import read_corpus
from ...errors import Errors, PelError
from ...types import Document, original_id
from ...util import read_lines
from ...util.files import unexpected


def read_ids(path: str | Path) -> set[str]:
    """Read the document ids of a corpus (JSON lines), or a list of ids, one per line (e.g. MedMentions' PMID lists).

    Raises:
        PelError: if there is none in the file.
    """
    ids = {line.strip() for _, line in read_lines(path)} - {""}
    if any(line.startswith("{") for line in ids):
        ids = {original_id(document) for document in read_corpus(path)}
    if not ids:
        todo = "Pass the split list of your corpus, or a corpus."
        raise unexpected(path, "document ids, one per line", "an empty file", todo)
    return ids


def split_by_hash(documents: Iterable[Document], share: float) -> tuple[list[Document], list[Document]]:
    """Split off a development set; it does not depend on the order of the documents.

    The documents whose ids have the smallest BLAKE2b hash (64 bits) go to the development
    part, ``round(share * n)`` of the n distinct ids; all documents of an id go together, and so do those that
    were made from one.

    Args:
        documents: the corpus.
        share: between 0 and 1.

    Returns:
        The rest and the development part, in
        the order of the corpus.
    """
    if not 0.0 <= share <= 1.0:
        raise PelError(Errors.E204.format(got=share))
    documents = list(documents)
    ranked = _ranked({original_id(document) for document in documents})
    chosen = set(ranked[: round(share * len(ranked))])
    fit = [document for document in documents if original_id(document) not in chosen]
    dev = [document for document in documents if original_id(document) in chosen]
    return fit, dev


def folds(documents: Iterable[Document], n: int) -> list[set[str]]:
    """Split a corpus into parts of nearly equal size; they do not depend on the order of the documents.

    Args:
        documents: the corpus.
        n: how many parts.

    Returns:
        The original ids of each part, by their hashes; the first is what ``split_by_hash``
        splits off with a share of 1 / n.

    Raises:
        PelError: if there are fewer ids than parts.
    """
    ranked = _ranked({original_id(document) for document in documents})
    if len(ranked) < n:
        raise PelError(Errors.E218.format(n=n, got=len(ranked)))
    ends = [round(number / n * len(ranked)) for number in range(n + 1)]
    return [set(ranked[start:end]) for start, end in zip(ends, ends[1:], strict=False)]


def _ranked(ids: Iterable[str]) -> list[str]:
    return sorted(ids, key=lambda name: (hashlib.blake2b(name.encode("utf8"), digest_size=8).digest(), name))
