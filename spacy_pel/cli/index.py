"""The command ``index``."""

import time
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Errors, PelError
from ..util.files import folder_size
from ._app import pel_cli
from ._options import KB, Backend, Codes, Files, Model, NewIndex, RowBytes, option
from ._output import emit, message
from ._saved_pipeline import encoder_folder
from ._settings import make_reader, split_names

if TYPE_CHECKING:
    from ..kb import KnowledgeBase


@pel_cli.command("index", rich_help_panel="Train")
def index(
    kb: KB,
    model: Model,
    out: NewIndex,
    kinds: Annotated[str | None, option("NAMES", "Rows: card, alias, mention, form. [default: card,alias]")] = None,
    mentions: Annotated[Files, option("FILE", "Training corpus, for mentions, forms and counts (repeatable).")] = None,
    max_mentions: Annotated[int | None, option("N", "Maximum number of mention rows per entity.", min=1)] = None,
    topics: Annotated[bool, typer.Option(help="Also keep the words and the entities of each annotated text.")] = True,
    index_type: Annotated[str | None, option("NAME", "The type of vector index. [default: faissivf]")] = None,
    codes: Codes = None,
    row_bytes: RowBytes = None,
    backend: Backend = None,
    update: Annotated[Path | None, option("FOLDER", "Reuse vectors of an index of this model with fp32 codes.")] = None,
) -> None:
    """Embed the names of a knowledge base and write an index folder.

    Until the index is written, OUT.parts keeps the vectors in 32 bits per number. After an interruption, run the
    same command again.

    Example: spacy-pel index corpus/kb training/model-best training/index
    --kinds card,alias,mention --mentions corpus/train.jsonl --codes int8
    """
    from ..corpora import read_corpus
    from ..encoders.pretrained import load_encoder
    from ..index import TEXT_KINDS, EntityIndex
    from ..index.row_encoders import ResumableEncoder, ReusingEncoder
    from ..kb import KnowledgeBase
    from ..registry import registry

    old = None if update is None else EntityIndex.from_disk(update)
    wanted = split_names(kinds) if kinds is not None else list(old.kinds) if old else ["card", "alias"]
    if set(wanted) & set(TEXT_KINDS) and not mentions:
        raise PelError(Errors.E630)
    vectors = make_vector_index(index_type, codes, row_bytes, like=old)
    chosen = registry.resolve_short("pel_backends", backend)() if backend else None
    started = time.perf_counter()
    knowledge = KnowledgeBase.from_disk(kb)
    if mentions:
        _check_ids(mentions, knowledge)
    loaded = load_encoder(encoder_folder(model), backend=chosen)
    encoder = ResumableEncoder(loaded, out.with_name(f"{out.name}.parts"), backend=backend or "")
    reusing = None if old is None else ReusingEncoder(encoder, old, vectors)
    if old is not None and len(old.priors) and not mentions:
        message("The old index counts the surface forms of annotated text. To keep them, add --mentions")
    message(f"Embedding {'what has changed among ' if reusing else ''}{len(knowledge):,} entities")
    documents = chain.from_iterable(read_corpus(path) for path in mentions or ())
    rows: dict[str, Any] = {"kinds": wanted, "max_mentions_per_entity": max_mentions, "with_topics": topics}
    rows |= {"documents": documents, "show_progress": True}
    built = EntityIndex.build(knowledge, reusing or encoder, index=vectors, **rows)
    built.to_disk(out)
    encoder.finish()
    if encoder.n_resumed:
        message(f"Resumed: {encoder.n_resumed:,} vectors were computed before the interruption")
    counts = reusing.counts(built.rows) if reusing else {}
    result = {**built.meta, **counts, "megabytes": folder_size(out) / 1e6, "seconds": time.perf_counter() - started}
    emit(result)


def _check_ids(paths: Iterable[Path], kb: "KnowledgeBase") -> None:
    """Before embedding, which may take hours. RAISES (PelError): if no mention has an entity of the knowledge base."""
    from ..corpora import read_corpus

    n = 0
    for document in chain.from_iterable(map(read_corpus, paths)):
        n += len(document.mentions)
        if any(kb.row(entity_id) >= 0 for mention in document.mentions for entity_id in mention.ids):
            return
    raise PelError(Errors.E501.format(n=n, hint=""))


def make_vector_index(name: str | None, codes: str | None, row_bytes: int | None = None, *, like: Any = None) -> Any:
    """Make a vector index from the options of the command line.

    Args:
        name: its type; None = as ``like``, or faissivf.
        codes, row_bytes: its settings; None = as ``like``, if that has the same type, or the default.
        like: another one.

    Returns:
        An empty one.

    Raises:
        PelError: if there is no such kind or setting, or one excludes another, also of ``like``.
    """
    from ..registry import registry

    given = {"codes": codes, "row_bytes": row_bytes}
    settings = {key: value for key, value in given.items() if value is not None}
    name = name or (like.vectors.name if like is not None else "faissivf")
    full_name = registry.parts("pel_indexes").get(name, name)
    kept = like.vectors.settings if like is not None and like.vectors.name == full_name else {}
    return make_reader("pel_indexes", name, {**kept, **settings})
