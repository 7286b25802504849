"""Candidate generators by themselves: loaded from a folder, and their recall@k before ranking."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..candidates.generator_base import check_origin
from ..errors import Errors, PelError
from ..evaluation.metrics.all_metrics import compute_metrics
from ..evaluation.outcomes import Flags, Outcomes, Prediction
from ..evaluation.predict import IsSeen, gold_prediction
from ..kb import KnowledgeBase
from ..kb.compare import no_known_id
from ..registry import registry
from ..types import CandidateGenerator, Document, MentionInText
from ..util import progress
from ..util.saved_folder import read_part, reading

RECALL_AT = (1, 2, 4, 8, 16, 32, 64)
_CHUNK = 1024  # mentions at a time


def load_generator(path: str | Path, *, kb: KnowledgeBase | None = None) -> CandidateGenerator:
    """Load a generator from its folder.

    Args:
        path: the folder.
        kb: if given, the generator must have been built from it.

    Returns:
        Ready to find candidates, once it is bound to an encoder and an index if it
        needs them.

    Raises:
        PelError: if the folder is damaged, or was built from another knowledge base.
    """
    path = Path(path)
    meta = read_part(path, kind="generator")
    if kb is not None:
        check_origin(path, kb)
    with reading(path, "generator"):
        generator = registry.pel_candidates.get(meta["generator"])(**meta["settings"])
    return generator.from_disk(path)  # type: ignore[no-any-return]


class LinkableMentions(NamedTuple):
    """The mentions of a corpus whose entity is in the knowledge base.

    Attributes:
        predictions: with the gold ids, still without candidates.
        mentions: the input of a generator.
        n_nil: number of NIL mentions, which are left out.
    """

    predictions: list[Prediction]
    mentions: list[MentionInText]
    n_nil: int

    @classmethod
    def read(cls, kb: KnowledgeBase, documents: Iterable[Document], is_seen: IsSeen) -> "LinkableMentions":
        """Those of these documents.

        Raises:
            PelError: if there is no mention, or none whose entity is in the knowledge base.
        """
        found = cls([], [], 0)
        n, n_with_ids, example = 0, 0, ""
        for document in documents:
            for mention in document.mentions:
                n += 1
                n_with_ids += bool(mention.ids)
                prediction = gold_prediction(kb, document, mention, is_seen)
                example = example or next(iter(prediction.outside), "")
                if prediction.gold:
                    found.predictions.append(prediction)
                    found.mentions.append(MentionInText(document.text, mention.start, mention.end))
        if not n:
            raise PelError(Errors.E620)
        if not n_with_ids:
            raise PelError(Errors.E625.format(n=n))
        if not found.predictions:
            raise no_known_id(kb, n=n_with_ids, example=example)
        return found._replace(n_nil=n - len(found.predictions))


def measure_generator(
    kb: KnowledgeBase, generator: CandidateGenerator, gold: LinkableMentions, *, split: bool
) -> dict[str, Any]:
    """Measure recall@k and speed of one generator.

    Args:
        kb: the entities.
        generator: built from ``kb``.
        gold: the mentions whose entities are to be found.
        split: also measure seen and unseen entities separately.

    Returns:
        "recall@k" with "_low" and "_high", "mentions_per_second", "candidates" (mean
        number per mention), and with ``split`` the same recall under "seen" and "unseen".
    """
    ranks, n_candidates, seconds = [], 0, 0.0
    starts = range(0, len(gold.mentions), _CHUNK)
    for start in progress(starts, description=generator.registered_name):
        block = slice(start, start + _CHUNK)
        started = time.perf_counter()
        table = generator.find_candidates(kb, gold.mentions[block], top_k=max(RECALL_AT))
        seconds += time.perf_counter() - started
        n_candidates += int(table.filled.sum())
        for kb_rows, prediction in zip(table.kb_rows, gold.predictions[block], strict=True):
            prediction.candidates = [(entity_id, 0.0) for entity_id in kb.ids_at(kb_rows[kb_rows >= 0])]
            ranks.append(prediction.rank)
            prediction.candidates = []
    outcomes = Outcomes.of(gold.predictions)._replace(rank=np.array(ranks, dtype=np.int64))
    row: dict[str, Any] = _recall(outcomes)
    if split:
        for name, chosen in (("seen", outcomes.seen), ("unseen", ~outcomes.seen)):
            row[name] = _recall(_only(outcomes, chosen)) if chosen.any() else None
    n = len(gold.mentions)
    row.update(candidates=n_candidates / n, mentions_per_second=n / max(seconds, 1e-9), seconds=seconds)
    return row


def _recall(outcomes: Outcomes) -> dict[str, Any]:
    metrics = compute_metrics(outcomes, ks=RECALL_AT)
    return {"n": metrics["n"], **{key: value for key, value in metrics.items() if key.startswith("recall@")}}


def _only(outcomes: Outcomes, chosen: Flags) -> Outcomes:
    part = Outcomes._make(column[chosen] for column in outcomes)
    # renumbered, so that documents without such a mention are not drawn
    return part._replace(document=np.unique(part.document, return_inverse=True)[1].astype(np.int64))
