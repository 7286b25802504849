"""The command ``index``: embeds a knowledge base."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._encoder import encoder_folder
from ._output import JSON, emit, key_values, message


@pel_cli.command("index")
def index(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder.")],
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="The model folder, e.g. training/model-best, or a pipeline folder, for its encoder."
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The index folder to write.")],
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Rows of an entity: card, alias, mention; separated by commas. [default: card,alias]"
        ),
    ] = None,
    mentions: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Annotated corpus (JSON lines) for the mention rows and the counts of surface forms "
            "(repeatable). Use training text only.",
        ),
    ] = None,
    max_mentions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of mention rows per entity.")
    ] = None,
    topics: Annotated[
        bool, typer.Option(help="Also keep a vector of each annotated text, and which entities it names.")
    ] = True,
    index_type: Annotated[
        str | None, typer.Option(metavar="NAME", help="The type of vector index. [default: faissivf]")
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Precision of the rows: fp32, fp16 or int8; with faissivf also pq."),
    ] = None,
    pca: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Width after a PCA rotation; default: no PCA.")
    ] = None,
    row_bytes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Bytes of a row (pq); default: a quarter of the width.")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="NAME", help="Inference backend, e.g. torchbackend or openvinobackend.")
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="An index of the same model with fp32 codes, perhaps OUT itself. Its vectors are reused; "
            "only what has changed is embedded. Kinds, type and codes stay the same unless they are given.",
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Embed the names of a knowledge base and write an index folder.

    Vectors are kept in OUT.parts, in 32 bits a number, until the index is written: after an interruption,
    run the same command again.

    Example: spacy-pel index corpus/kb training/model-best training/index
    --kinds card,alias,mention --mentions corpus/train.jsonl --codes int8
    """
    from itertools import chain

    from ..corpora import read_corpus
    from ..encoders import load_encoder
    from ..index import EntityIndex
    from ..index.row_encoders import ResumableEncoder, ReusingEncoder, check_reusable
    from ..kb import KnowledgeBase
    from ..registry import registry

    old = None if update is None else EntityIndex.from_disk(update)
    if old is not None:
        check_reusable(old)
    if kinds is None:
        wanted = list(old.kinds) if old else ["card", "alias"]
    else:
        wanted = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    if "mention" in wanted and not mentions:
        raise PelError(Errors.E630)
    vectors = make_vector_index(index_type, codes, pca, row_bytes, like=old)
    chosen = registry.resolve_short("pel_backends", backend)() if backend else None
    started = time.perf_counter()
    knowledge = KnowledgeBase.from_disk(kb)
    encoder = ResumableEncoder(
        load_encoder(encoder_folder(model), backend=chosen), out.with_name(f"{out.name}.parts"), backend=backend or ""
    )
    reusing = None if old is None else ReusingEncoder(encoder, old, vectors)
    if old is not None and len(old.priors) and not mentions:
        message("The old index counts the surface forms of annotated text. To keep such counts, add --mentions")
    message(f"Embedding {'what has changed among ' if reusing else ''}{len(knowledge):,} entities")
    built = EntityIndex.build(
        knowledge,
        reusing or encoder,
        index=vectors,
        kinds=wanted,
        documents=chain.from_iterable(read_corpus(path) for path in mentions or ()),
        max_mentions_per_entity=max_mentions,
        with_topics=topics,
        show_progress=True,
    )
    built.to_disk(out)
    encoder.finish()
    if encoder.n_resumed:
        message(f"Resumed: {encoder.n_resumed:,} vectors were computed before the interruption")
    size = sum(path.stat().st_size for path in Path(out).rglob("*") if path.is_file())
    counts = reusing.counts(built.rows) if reusing else {}
    result = {**built.meta, **counts, "megabytes": size / 1e6, "seconds": time.perf_counter() - started}
    emit(result, as_json=as_json, text=key_values)


def make_vector_index(
    name: str | None, codes: str | None, pca: int | None, row_bytes: int | None = None, *, like: Any = None
) -> Any:
    """Make a vector index from the options of the command line.

    Args:
        name: its type; None = as ``like``, or faissivf.
            codes, pca, row_bytes: its settings; None = as ``like``, if that has the same type, or the default.
        like: another one.

    Returns:
        An empty one.

    Raises:
        PelError: if there is no such kind or setting, or a setting excludes one of ``like``.
    """
    from ..registry import registry

    said = {"codes": codes, "pca": pca, "row_bytes": row_bytes}
    settings = {key: value for key, value in said.items() if value is not None}
    name = name or (like.vectors.name if like is not None else "faissivf")
    full_name = registry.parts("pel_indexes").get(name, name)
    kept = like.vectors.settings if like is not None and like.vectors.name == full_name else {}

    def make(settings: dict[str, Any]) -> Any:
        try:
            return registry.resolve_short("pel_indexes", name)(**settings)
        except TypeError as err:
            raise PelError(Errors.E631.format(name=name, got=_options(said))) from err

    if like is None or not kept:
        return make(settings)
    try:
        return make({**kept, **settings})
    except PelError as err:
        make(settings)  # raises, if they exclude each other
        others = {key: kept[key] for key in said if key not in settings and kept.get(key) is not None}
        shown = " and ".join(f"{key} = {value}" for key, value in others.items())
        raise PelError(
            Errors.E417.format(
                given=_options(settings), kept=shown, path=like.path, missing=_options(others, values=False)
            )
        ) from err


def _options(settings: Mapping[str, Any], *, values: bool = True) -> str:
    """Those that are set, as on the command line."""
    options = {f"--{key.replace('_', '-')}": value for key, value in settings.items() if value is not None}
    return " ".join(f"{option} {value}" if values else option for option, value in options.items())
