"""Linking a Spark data frame."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..corpora.formats.tables import METADATA
from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..util import fingerprint
from ..util.xrefs import vocabulary_name
from .batch import batch_schema, link_batch, process_pipeline

_ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")


def link_dataframe(
    df: Any,
    pipeline: str,
    *,
    text: str = "text",
    id: str = "id",
    n_candidates: int = 5,
    batch_size: int = 1,
    threads: int = 1,
    device: str | None = None,
    codes: Sequence[str] = (),
    code: Sequence[str] = (),
) -> Any:
    """Link the rows of a data frame, lazily, with ``mapInArrow``. Each Python worker of an executor loads the
    pipeline once; spacy-pel must be installed there.

    Args:
        df: with the columns ``text`` (null = nothing to link) and ``id``, and perhaps "meta" (JSON). Other columns
            are added to "meta".
        pipeline: its folder, at the same path on every node; or a .zip or .tar.gz of that folder's files,
            which is sent to the executors.
        text, id: names of these columns.
        n_candidates: how many candidates to keep per mention.
        batch_size: documents that the components process together, see ``link_batch``.
        threads: of each Python worker; give it as many as ``spark.task.cpus``.
        device: torch device of the encoder, e.g. "cuda"; None = the CPU.
        codes: vocabularies whose codes to add, e.g. ["MESH"], see ``KnowledgeBase.codes``.
        code: Python files with parts of the pipeline that are your own, at the same paths on every node.

    Returns:
        A row for each row, of ``batch_schema``: "id", "text", "mentions" and "meta". The schema's version is in the
        metadata of "mentions", as a data frame has none of its own.

    Raises:
        PelError: if pyspark is not installed or a column is missing; what is wrong with the pipeline
            is known once Spark runs it.
    """
    try:
        from pyspark.sql.pandas.types import from_arrow_schema
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="link_dataframe", package="pyspark", extra="spark")) from err

    for name, argument in ((text, "text"), (id, "id")):
        if name not in df.columns:
            got = ", ".join(df.columns)
            raise PelError(Errors.E632.format(name=name, got=got, argument=argument))
    names_of_codes = tuple(map(vocabulary_name, codes))
    if "all" in names_of_codes:  # Spark wants the columns before a worker opens the knowledge base
        raise PelError(Errors.E116.format(wanted="the names of vocabularies as 'codes'", got="'all'"))
    settings: Any = {"text": text, "id": id, "n_candidates": n_candidates, "batch_size": batch_size}
    path, sent = str(pipeline), None
    if path.endswith(_ARCHIVES):
        # two archives of one name, or a new one in its place, would be unpacked to one folder
        status = Path(path).stat() if Path(path).is_file() else None
        seen = fingerprint([path, status and [status.st_size, status.st_mtime_ns]])
        sent = f"{Path(path).name.split('.')[0]}-{seen[:8]}"
        df.sparkSession.sparkContext.addArchive(f"{path}#{sent}")

    def link(batches: Iterator[Any]) -> Iterator[Any]:
        loaded = process_pipeline(_on_executor(path, sent), threads=threads, device=device, code=code)
        of_codes = Codes(loaded.component.kb, names_of_codes)
        for batch in batches:
            yield link_batch(loaded, batch, codes=of_codes, **settings)

    schema = from_arrow_schema(batch_schema(names_of_codes))
    schema["mentions"].metadata = METADATA
    return df.mapInArrow(link, schema)


def _on_executor(path: str, sent: str | None) -> str:
    if sent is None:
        return path
    from pyspark import SparkFiles

    folder = Path(SparkFiles.get(sent))
    if not (folder / "config.cfg").is_file():  # the archive may hold the folder rather than its files
        folders = [config.parent for config in folder.glob("*/config.cfg")]
        folder = folders[0] if len(folders) == 1 else folder
    return str(folder)
