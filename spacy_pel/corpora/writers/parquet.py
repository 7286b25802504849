"""Parquet: one row per document, its mentions as a list of structures."""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...util import atomic_path

VERSION = 1  # of the schema
METADATA = {"spacy_pel.links": str(VERSION)}
_ROWS = 1000  # of a row group


def write_parquet(path: Path, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> None:
    """Write linked documents as Parquet, atomically.

    The columns are the keys of the JSON lines, but a candidate is a structure of "id" and "score", as a list
    in Parquet has one type, "codes" is a structure with a list for each vocabulary, and "meta" is a string of JSON.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text", "mentions" and "meta".
        codes: the vocabularies whose codes the mentions have.

    Raises:
        PelError: if the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = link_schema(codes)
    stream = iter(records)
    with atomic_path(path) as part, pq.ParquetWriter(part, schema) as writer:
        while rows := [link_row(record) for record in islice(stream, _ROWS)]:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def link_schema(codes: Sequence[str] = ()) -> Any:
    """The schema of linked documents, one a row, with its version as the metadata "spacy_pel.links".

    Args:
        codes: the vocabularies whose codes the mentions have.
    """
    import pyarrow as pa

    text, number, texts = pa.string(), pa.float64(), pa.list_(pa.string())
    candidates = pa.list_(pa.struct([("id", text), ("score", number)]))
    place = {"start": pa.int64(), "end": pa.int64(), "text": text, "label": text, "ids": texts}
    scores = dict.fromkeys(("score", "nil_score", "probability"), number)
    reported = {"codes": pa.struct([(name, texts) for name in codes])} if codes else {}
    answer = {"kb_id": text, "name": text, **scores, "id_set": texts, **reported, "candidates": candidates}
    mentions = pa.list_(pa.struct(list((place | answer).items())))
    fields = [("id", text), ("text", text), ("mentions", mentions), ("meta", text)]
    return pa.schema(fields, metadata=METADATA)


def link_row(record: dict[str, Any]) -> dict[str, Any]:
    """A line of ``link`` as a row of ``link_schema``; no "mentions" stay null."""
    mentions = record["mentions"] and [
        {**found, "candidates": [{"id": key, "score": score} for key, score in found["candidates"]]}
        for found in record["mentions"]
    ]
    meta = json.dumps(record.get("meta") or {}, ensure_ascii=False)
    return {**record, "mentions": mentions, "meta": meta}
