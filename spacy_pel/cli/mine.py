"""The command ``mine``: writes hard negatives of a corpus to a file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._encoder import encoder_folder
from ._output import JSON, emit, key_values, message
from ._training import GpuId


@pel_cli.command("mine")
def mine(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder.")],
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="The model folder, e.g. training/model-best, or a pipeline folder, for its encoder."
        ),
    ],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, .jsonl or .jsonl.gz.")],
    depth: Annotated[int, typer.Option(metavar="N", min=1, help="Entities per mention.")] = 64,
    index: Annotated[
        str, typer.Option(metavar="NAME", help="flat = exact; ivf = approximate, for millions of entities.")
    ] = "flat",
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Only the first N mentions; 0 = all.")] = 0,
    backend: Annotated[
        str | None, typer.Option(metavar="NAME", help="Inference backend, e.g. torchbackend or openvinobackend.")
    ] = None,
    gpu_id: GpuId = -1,
    as_json: bool = JSON,
) -> None:
    """Find the nearest wrong entities of each mention in the whole knowledge base.

    Writes one line per mention: {"doc", "start", "end", "text", "gold", "rank", "negatives":
    [[id, score], ...]}, the nearest first; "rank" is that of the gold entity, null if it is not
    found. `train` takes the file as --paths.negatives.

    Example: spacy-pel mine corpus/kb training/model-best corpus/train.jsonl training/negatives.jsonl
    """
    from ..corpora import read_corpus
    from ..encoders import load_encoder
    from ..kb import KnowledgeBase
    from ..registry import registry
    from ..training.negatives.top_k import INDEX_KINDS
    from ..training.retriever.examples import linked_mentions
    from ..training.retriever.mine_corpus import mine_corpus, mined_records
    from ..util import write_jsonl

    if index not in INDEX_KINDS:
        raise PelError(Errors.E325.format(known=", ".join(INDEX_KINDS), value=index))
    chosen = registry.resolve_short("pel_backends", backend)() if backend else None
    knowledge = KnowledgeBase.from_disk(kb)
    mentions = linked_mentions(knowledge, read_corpus(corpus))
    mentions = mentions[:limit] if limit else mentions
    encoder = load_encoder(encoder_folder(model), backend=chosen)
    if gpu_id >= 0:
        _to_gpu(encoder, gpu_id)
    message(f"Mining for {len(mentions):,} mentions among {len(knowledge):,} entities")
    mined, result = mine_corpus(knowledge, encoder, mentions, depth=depth, index=index, show_progress=True)
    write_jsonl(out, mined_records(knowledge, mentions, mined))
    result["output"] = str(out)
    emit(result, as_json=as_json, text=key_values)


def _to_gpu(encoder: Any, gpu_id: int) -> None:
    from ..training.device import check_gpu

    check_gpu(gpu_id)
    towers: dict[str, Any] = getattr(encoder, "towers", None) or {}
    for tower in towers.values():
        tower.to(f"cuda:{gpu_id}")
