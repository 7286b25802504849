"""What to link, from where to where; how is the business of an engine."""

from dataclasses import dataclass
from typing import Any, Dict, Iterable, Optional, Protocol, runtime_checkable

from ..types import NIL


@dataclass(frozen=True)
class LinkJob:
    """A corpus to link.

    pipeline (str): the pipeline's folder, or the name of an installed pipeline package.
    input, output (str): paths; an engine says which kinds it reads and writes.
    format_name (str): format of the input; "auto" = by its name and content.
    to (str): format of the output; "auto" = by its name.
    n_candidates (int): how many candidates to write per mention.
    part_size (Optional[int]): documents per saved part; None = the engine decides.
    resume (bool): continue an interrupted run.
    overwrite (bool): replace an output that exists.
    """

    pipeline: str
    input: str
    output: str
    format_name: str = "auto"
    to: str = "auto"
    n_candidates: int = 5
    part_size: Optional[int] = None
    resume: bool = False
    overwrite: bool = False


@runtime_checkable
class Engine(Protocol):
    """Links a corpus. Its class is registered in ``pel_engines`` and takes its settings as keywords, among
    them ``n_process`` (int) and ``batch_size`` (Optional[int]), which ``link`` gives to every engine.
    """

    def __call__(self, job: LinkJob) -> Dict[str, Any]:
        """Link a corpus; on an error, what was linked is kept for ``job.resume``.

        RETURNS (Dict[str, Any]): "documents", "mentions" and "nil" of the whole output, "resumed_after"
            (documents that an earlier run had linked), "seconds" and "documents_per_second" of this run.
            "without_text" is the number of documents that have none, where it is known and not 0.
        RAISES (PelError): if the input or the pipeline cannot be used, or the output exists.
        """
        ...


def usual_part_size(n_documents: int) -> int:
    """RETURNS (int): documents per part: a 50th of them, 10 to 1,000."""
    return min(1000, max(10, n_documents // 50))


def count(records: Iterable[Dict[str, Any]]) -> Dict[str, int]:
    """RETURNS (Dict[str, int]): "documents", "mentions" and "nil" of linked documents."""
    counts = {"documents": 0, "mentions": 0, "nil": 0}
    for record in records:
        counts["documents"] += 1
        counts["mentions"] += len(record["mentions"])
        counts["nil"] += sum(found["kb_id"] == NIL for found in record["mentions"])
    return counts


def summary(
    counts: Dict[str, int], *, resumed_after: int, seconds: float, without_text: int = 0
) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): what an engine returns.

    counts (Dict[str, int]): of the whole output.
    resumed_after (int): documents that an earlier run had linked.
    seconds (float): of this run.
    without_text (int): documents of the input without text.
    """
    return {
        **counts,
        **({"without_text": without_text} if without_text else {}),
        "resumed_after": resumed_after,
        "seconds": seconds,
        "documents_per_second": (counts["documents"] - resumed_after) / max(seconds, 1e-9),
    }
