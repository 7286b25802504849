"""The share of new entities in a corpus, estimated from a sample of it before it is linked."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from ..corpora.document_stream import process_documents
from ..linking import MentionQuery
from ..linking.linker import NewShare
from ..types import Document
from .saved import LoadedPipeline

CorpusShare = NewShare | Literal["corpus"]
_FEWEST, _MOST = 20, 200  # documents of a sample


def sample_step(n_documents: int) -> int:
    """Every how many-th document is in the sample: a 20th of them, 20 to 200."""
    return max(1, n_documents // min(_MOST, max(_FEWEST, n_documents // 20)))


def use_new_share(
    loaded: LoadedPipeline,
    new_share: CorpusShare,
    sample: Iterable[Document],
    *,
    queries: Callable[[Document], list[MentionQuery]] | None = None,
) -> dict[str, Any]:
    """Set the share of new entities that a pipeline assumes.

    Args:
        loaded: the pipeline.
        new_share: the setting, or "corpus" = as estimated from the sample.
        sample: of the corpus; read if it is needed.
        queries: gives the mentions of a document; None = the pipeline finds them.

    Returns:
        "new_share", for the summary; empty where the pipeline does not know the share in its calibration's text, by
        which nothing can be shifted.
    """
    nlp, name, component = loaded
    if component.linker.home_share is None:
        return {}
    if new_share == "corpus" and queries is not None:
        new_share = component.linker.estimate_new_share([query for document in sample for query in queries(document)])
    elif new_share == "corpus":
        with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]), nlp.memory_zone():
            processed = process_documents(nlp, sample, batch_size=nlp.batch_size)
            new_share = component.estimate_new_share(doc for one in processed for _, doc in one.pieces)
    component.new_share = new_share
    return {"new_share": new_share}
