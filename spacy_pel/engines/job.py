"""What to link, from where to where; how is the business of an engine."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..corpora.document_stream import HOPELESS
from ..errors import Errors, PelError
from ..types import NIL
from .documents import Columns


@dataclass(frozen=True)
class LinkJob:
    """A corpus to link.

    Attributes:
        pipeline: the pipeline's folder, or the name of an installed pipeline package.
        input, output: paths; an engine says which kinds it reads and writes.
        format_name: format of the input; "auto" = by its name and content.
        to: format of the output; "auto" = by its name.
        n_candidates: how many candidates to write per mention.
        part_size: documents per saved part; None = the engine decides.
        resume: continue an interrupted run.
        overwrite: replace an output that exists.
        text_column, id_column: columns or keys of the input, see ``Columns``.
        codes: vocabularies whose codes to add to each mention, or "all".
        omop_concepts: for OMOP, Athena's CONCEPT.csv, or "" = without concept ids.
        code: Python files with parts of the pipeline that are the user's own, which each worker imports.
    """

    pipeline: str
    input: str
    output: str
    format_name: str = "auto"
    to: str = "auto"
    n_candidates: int = 5
    part_size: int | None = None
    resume: bool = False
    overwrite: bool = False
    text_column: str | None = None
    id_column: str | None = None
    codes: tuple[str, ...] = ()
    omop_concepts: str = ""
    code: tuple[str, ...] = ()

    @property
    def columns(self) -> Columns:
        """The columns of text and id."""
        return Columns(self.text_column, self.id_column)


@runtime_checkable
class Engine(Protocol):
    """Links a corpus. Its class is registered in ``pel_engines`` and takes its settings as keywords, among
    them ``n_process`` (int) and ``batch_size`` (int or None), which ``link`` gives to every engine.
    """

    def __call__(self, job: LinkJob) -> dict[str, Any]:
        """Link a corpus; on an error, what was linked is kept for ``job.resume``.

        Returns:
            "documents", "mentions" and "nil" of the whole output, "resumed_after"
            (documents that an earlier run had linked), "seconds" and "documents_per_second" of this run.
            "without_text" is the number of documents that have none, where it is known and not 0; "left_out",
            where there are any, has "id" and "error" of each document that the pipeline failed on, and
            "left_out_in" is the file with the same.

        Raises:
            PelError: if the input or the pipeline cannot be used, the pipeline failed on all documents,
                or the output exists.
        """
        ...


def usual_part_size(n_documents: int) -> int:
    """Documents per part: a 50th of them, 10 to 1,000."""
    return min(1000, max(10, n_documents // 50))


def count(records: Iterable[dict[str, Any]]) -> dict[str, int]:
    """ "documents", "mentions" and "nil" of linked documents, and "left_out"."""
    counts = {"documents": 0, "mentions": 0, "nil": 0, "left_out": 0}
    for record in records:
        if "error" in record:
            counts["left_out"] += 1
        else:
            counts["documents"] += 1
            counts["mentions"] += len(record["mentions"])
            counts["nil"] += sum(mention["kb_id"] == NIL for mention in record["mentions"])
    return counts


def check_some_linked(counts: dict[str, int], records: list[dict[str, Any]], *, is_all: bool = False) -> None:
    """Check that it is documents that are at fault, and not the pipeline.

    Args:
        counts: so far.
        records: the last ones, which have "id" and "error" where a document was left out.
        is_all: whether no more documents follow.

    Raises:
        PelError: if many documents, or all, were left out and none was linked.
    """
    if not counts["documents"] and counts["left_out"] >= (1 if is_all else HOPELESS):
        first = next(record for record in records if "error" in record)
        raise PelError(Errors.E605.format(n=counts["left_out"], id=first["id"], got=first["error"]))


def summary(
    counts: dict[str, int],
    *,
    resumed_after: int,
    seconds: float = 0.0,
    left_out: list[dict[str, Any]],
    left_out_in: str,
    without_text: int = 0,
) -> dict[str, Any]:
    """What an engine returns.

    Args:
        counts: of the whole output.
        resumed_after: documents that an earlier run had linked or left out.
        seconds: of this run.
        left_out: "id" and "error" of the documents that the pipeline failed on.
        left_out_in: the file that has them, too.
        without_text: documents of the input without text.
    """
    n_new = counts["documents"] + len(left_out) - resumed_after
    result: dict[str, Any] = {name: counts[name] for name in ("documents", "mentions", "nil")}
    if without_text:
        result["without_text"] = without_text
    if left_out:
        result |= {"left_out": left_out, "left_out_in": left_out_in}
    rate = n_new / max(seconds, 1e-9)
    return {**result, "resumed_after": resumed_after, "seconds": round(seconds, 4), "documents_per_second": rate}
