"""The command ``recode``: a smaller or faster copy of an index, without re-embedding."""

from pathlib import Path
from typing import Annotated

import typer

from ._app import pel_cli
from ._output import JSON, emit, key_values
from .index import make_vector_index


@pel_cli.command("recode")
def recode(
    index: Annotated[
        Path, typer.Argument(metavar="INDEX", help="The index folder to copy, best with fp16 or fp32 codes.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The index folder to write.")],
    index_type: Annotated[str, typer.Option(metavar="NAME", help="The type of vector index.")] = "faissivf",
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
    as_json: bool = JSON,
) -> None:
    """Copy an index in another form, in seconds and without re-embedding. By default it keeps its
    codes, and a large index gets the lists of faissivf.

    Example: spacy-pel recode training/index training/index_small --index-type faisspq
    """
    from ..index import EntityIndex
    from ..index import recode as copy

    small = copy(EntityIndex.from_disk(index), make_vector_index(index_type, codes, pca, row_bytes))
    small.to_disk(out)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    emit({**small.meta, "megabytes": size / 1e6}, as_json=as_json, text=key_values)
