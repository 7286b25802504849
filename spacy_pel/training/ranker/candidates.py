"""The candidates that a ranker is trained and evaluated on, found by the linker's generator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...linking import Linker, MentionQuery
from ...types import Document, Numbers, RankedRows, Rows
from ...util import atomic_path, fingerprint, logger, normalize_alias, progress
from ...util.arrays import best_first, numbered

MakeQueries = Callable[[Document], list[MentionQuery]]
_CHUNK = 1024  # mentions per step of the progress bar


@dataclass
class RankMentions:
    """Mentions whose entity is in the KB, in corpus order.

    queries: (n,).
    gold: (n,) KB rows of each, any of them is right.
    document: (n,) int64, number of the document; those made from one original have one number.
    """

    queries: list[MentionQuery]
    gold: list[Rows]
    document: Numbers

    def __len__(self) -> int:
        return len(self.queries)

    @classmethod
    def read(
        cls,
        linker: Linker,
        documents: Sequence[Document],
        make_queries: MakeQueries,
        *,
        limit: int,
        seed: int,
        whole_documents: bool = False,
    ) -> "RankMentions":
        """Select mentions. NIL and composite mentions and ids that are not in the KB are left out, with a
        message.

        Args:
            limit: maximum number of mentions, drawn with the seed; 0 = all.
            whole_documents: draw whole documents up to the limit; only the last one is cut.
        """
        usable: list[tuple[int, int]] = []  # document, mention
        gold: list[Rows] = []
        for number, document in enumerate(documents):
            for position, mention in enumerate(document.mentions):
                rows = linker.gold_rows(mention.ids)
                blank = not normalize_alias(document.text[mention.start : mention.end])
                if len(rows) and not mention.composite and not blank:
                    usable.append((number, position))
                    gold.append(rows)
        n_all = sum(len(document.mentions) for document in documents)
        logger.info("%d mentions; left out, as NIL, composite or not in the KB: %d", len(gold), n_all - len(gold))
        originals, original = numbered(document.id for document in documents)
        chosen = np.arange(len(gold))
        if limit and limit < len(gold):
            rng = np.random.default_rng([seed, 20])
            if whole_documents:
                turn = rng.permutation(len(originals))
                chosen = np.argsort(turn[original[[number for number, _ in usable]]], kind="stable")[:limit]
            else:
                chosen = rng.choice(len(gold), limit, replace=False)
            chosen = np.sort(chosen)
        owner = np.array([usable[i][0] for i in chosen], dtype=np.int64)
        # making queries may run an abbreviation detector: only for these documents
        made = {number: make_queries(documents[number]) for number in np.unique(owner).tolist()}
        queries = [made[usable[i][0]][usable[i][1]] for i in chosen]
        return cls(queries, [gold[i] for i in chosen], original[owner])


def cached_candidates(path: Path, linker: Linker, mentions: RankMentions, *, n: int) -> RankedRows:
    """Find candidates, or read those of an earlier run.

    Args:
        path: an .npz file.
        linker: finds and scores them; its reranker is not used.
        n: candidates per mention.

    Returns:
        (n of mentions, n), best first, by the combiner's scores.
    """
    key = _key(linker, mentions, n)
    try:
        with np.load(path, allow_pickle=False) as saved:
            if str(saved["key"]) == key:
                return RankedRows(saved["kb_rows"], saved["scores"])
    except (OSError, ValueError, KeyError, BadZipFile):
        pass  # they are found again
    candidates = RankedRows(np.full((len(mentions), n), -1), np.full((len(mentions), n), -np.inf, np.float32))
    starts = range(0, len(mentions), _CHUNK)
    for start in progress(starts, description="Finding candidates"):
        chunk = slice(start, start + _CHUNK)
        kb_rows, scores = find_best(linker, mentions.queries[chunk], n)
        candidates.kb_rows[chunk, : kb_rows.shape[1]] = kb_rows
        candidates.scores[chunk, : kb_rows.shape[1]] = scores
    with atomic_path(path) as new, new.open("wb") as file:
        np.savez(file, key=key, **candidates._asdict())
    return candidates


def find_best(linker: Linker, queries: list[MentionQuery], n: int) -> RankedRows:
    """The best candidates of mentions, by the combiner's scores; n of each, or as many as there are."""
    table = linker.evidence(queries, in_context=True)
    scores = linker.decider.combiner(table)
    order = best_first(scores)[:, :n]
    return RankedRows(np.take_along_axis(table.kb_rows, order, axis=1), np.take_along_axis(scores, order, axis=1))


def _key(linker: Linker, mentions: RankMentions, n: int) -> str:
    """A hash of all that determines the candidates."""
    types: dict[str, list[str]] = {k: sorted(v) for k, v in linker.entity_types.items()}
    texts = [f"{query.start}:{query.end}:{query.label}:{query.text}" for query in mentions.queries]
    combiner = [type(linker.decider.combiner).__name__, linker.decider.combiner.state()]
    parts = linker.fingerprints.values()
    return fingerprint(*parts, combiner, types, n, mentions.document.tobytes(), *texts)
