"""Pairs of a mapping table in the SSSOM format."""

import csv
from pathlib import Path
from typing import Iterator, NamedTuple, Sequence

from ....errors import Errors, PelError
from ....util import read_lines


class Mapping(NamedTuple):
    """One line of a mapping table; the label is "" if the table has none."""

    subject_id: str
    object_id: str
    subject_label: str


_NEEDED = ("subject_id", "predicate_id", "object_id")


def read_sssom(path: Path, *, predicates: Sequence[str] = ("skos:exactMatch",)) -> Iterator[Mapping]:
    """Stream the pairs of an SSSOM table.

    path (Path): the file, plain or gzipped; lines that begin with # are its header.
    predicates (Sequence[str]): the relations that count.
    YIELDS (Mapping): subject, object and the subject's label.
    RAISES (PelError): if a needed column is missing.
    """
    lines = (line + "\n" for _, line in read_lines(path) if not line.startswith("#"))
    rows = csv.DictReader(lines, delimiter="\t")
    missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
    if missing:
        raise PelError(
            Errors.E002.format(
                expected=f"an SSSOM table with the columns {', '.join(_NEEDED)}",
                path=path,
                got=f"a table without {', '.join(missing)}",
                todo="Check the file.",
            )
        )
    for row in rows:
        if row["predicate_id"] in predicates:
            yield Mapping(row["subject_id"], row["object_id"], row.get("subject_label") or "")
