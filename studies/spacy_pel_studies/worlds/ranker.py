"""A ranker of unseen worlds: trained on candidates from joined worlds, used on those of each other world."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_pel.candidates.evidence import candidate_table
from spacy_pel.candidates.form_cache import FormCache
from spacy_pel.candidates.generator_base import GeneratorBase
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery
from spacy_pel.linking.finder import CandidateFinder
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.settings import read_rank_settings
from spacy_pel.training.retriever.dev import nearest_entities
from spacy_pel.types import (
    CandidateTable,
    Document,
    Encoder,
    Mask,
    MentionInText,
    RankedRows,
    Ranker,
    RankingTask,
    Scores,
)

from .ranking import DEPTH, Ranking
from .worlds import JOINER, world_numbers

_BATCH = 1024  # mentions linked together


class NearestEntities(GeneratorBase[Any]):
    """The nearest entities by their best row, as ``by_encoder`` finds them: no names, no priors."""

    registered_name = "the nearest entities of a world"
    needs_encoder = True

    def bind(self, encoder: Encoder, index: EntityIndex) -> None:
        """Set the encoder and the index to search with."""
        self.encoder, self.index = encoder, index

    def find_candidates(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[NDArray[np.bool_] | None] | None = None,
        top_k: int = DEPTH,
    ) -> CandidateTable:
        """At most DEPTH candidates per mention; mentions with the same mask are
        searched together."""
        masks = allowed or [None] * len(mentions)
        members: dict[int, list[int]] = {}
        for number, mask in enumerate(masks):
            members.setdefault(id(mask), []).append(number)
        lists: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = [(np.zeros(0, np.int64), np.zeros(0, np.float32))]
        lists *= len(mentions)
        for numbers in members.values():
            own = [mentions[number] for number in numbers]
            found = nearest_entities(
                kb, self.index, self.encoder, own, top_k=min(top_k, DEPTH), allowed=masks[numbers[0]]
            )
            for number, of_mention in zip(numbers, found.lists, strict=True):
                lists[number] = of_mention
        return candidate_table(kb, RankedRows.of(lists), mentions)


class WorldFinder(CandidateFinder):
    """Finds candidates within the world that a query's label names."""

    rows: dict[str, Mask]  # by world

    def masks(self, queries: Sequence[MentionQuery]) -> list[Mask] | None:
        return [self.rows[query.label] for query in queries]


class ByCosine:
    """Scores an entity by its cosine. Nothing is fitted."""

    is_probability = False

    def __call__(self, table: CandidateTable) -> Scores:
        """(n, k), -inf where there is no candidate."""
        return np.where(table.filled, table.features["name"], -np.inf).astype(np.float32)

    def fit(self, table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> None:
        """Nothing to learn."""

    def state(self) -> dict[str, Any]:
        """Empty, there is nothing to keep."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Nothing to load."""


class WorldLinker(Linker):
    """Finds candidates in a joined knowledge base, for each mention within its own world: that of the query's
    label, see ``world_queries``.

    Args:
        kb: from ``join_worlds``.
        encoder: the retriever.
    """

    def __init__(self, kb: KnowledgeBase, encoder: Encoder):
        kinds = ("card", "alias")
        index = EntityIndex.build(kb, encoder, index=FaissIVF(flat_below=None), kinds=kinds, show_progress=True)
        parts = (kb, encoder, index, ByCosine(), NetworkNil())
        super().__init__(*parts, top_k=DEPTH, batch_size=_BATCH, read_context="always", generator=NearestEntities())
        self.finder = WorldFinder(kb, self.generator, None, {}, FormCache(1), self.finder.reader)
        self.finder.rows = {}
        numbers, live = world_numbers(kb), kb.live_rows
        for number in np.unique(numbers):
            own = live[numbers == number]
            mask = np.zeros(kb.n_rows, dtype=np.bool_)
            mask[own] = True
            self.finder.rows[kb.ids_at(own[:1])[0].partition(JOINER)[0]] = mask


def world_queries(document: Document) -> list[MentionQuery]:
    """Of a document of joined worlds; the label of each is its world."""
    world = document.id.partition(JOINER)[0]
    return [MentionQuery(document.text, m.start, m.end, world) for m in document.mentions]


class WorldRanker:
    """Trains a ranker on the nearest entities of joined worlds, and reranks those of other worlds.

    Args:
        config: with a [ranker] section; its paths are set here.
        joined: "kb", "train" and "dev", from ``join_worlds``.
        output: see ``RankTrainer``.
        overrides: settings of the config, by their dotted names.
        gpu_id: -1 = CPU.

    Raises:
        PelError: if the config is not one of a ranker.
    """

    def __init__(
        self, config: Path, joined: Mapping[str, Path], output: Path, *, overrides: Mapping[str, Any], gpu_id: int = -1
    ):
        paths = {f"paths.{name}": str(joined[name]) for name in ("train", "dev")}
        self.settings = read_rank_settings(config, {**overrides, **paths})
        self.kb_path, self.output, self.gpu_id = joined["kb"], output, gpu_id

    @property
    def n(self) -> int:
        """Candidates of a mention that are read."""
        return self.settings.ranker.candidates.n

    def train(self, encoder: Encoder, *, resume: bool = False) -> Ranker:
        """Train on the candidates of a retriever.

        Returns:
            The best model by accuracy on the dev mentions of the training worlds.
        """
        linker = WorldLinker(KnowledgeBase.from_disk(self.kb_path), encoder)
        trainer = RankTrainer(self.settings, self.output, linker=linker, queries=world_queries, gpu_id=self.gpu_id)
        trainer.run(resume=resume)
        ranker: Ranker = trainer.ranker.from_disk(self.output / "model-best")
        if self.gpu_id >= 0:
            trainer.recipe.objective().towers.to(f"cuda:{self.gpu_id}")
        return ranker


def by_ranker(
    kb: KnowledgeBase,
    ranker: Ranker,
    mentions: Sequence[MentionInText],
    nearest: Sequence[Ranking],
    *,
    n: int,
    show_progress: bool = False,
) -> list[Ranking]:
    """Rerank the first candidates of each mention by the ranker alone; unread ones rank below, in their old
    order. Recall@1 is then the unnormalised accuracy (Wiatrak et al. 2022, Appendix B): a mention whose
    entity the retriever missed is an error.

    Args:
        nearest: from ``by_encoder``.
        n: candidates of a mention to read.

    Returns:
        One per mention.
    """
    first = [list(ranking)[:n] for ranking in nearest]
    kb_rows = np.full((len(first), n), -1, dtype=np.int64)
    for rows, own in zip(kb_rows, first, strict=True):
        rows[: len(own)] = own
    read = ranker.score(RankingTask.of(mentions, kb_rows, kb.entity_at), show_progress=show_progress)
    reranked = []
    for own, ranking, scored in zip(first, nearest, read.tolist(), strict=True):
        scores = dict(zip(own, scored, strict=False))
        ordered = dict(sorted(scores.items(), key=lambda item: -item[1]))  # stable
        floor = min(ordered.values(), default=0.0) - 1.0
        unread = [row for row in ranking if row not in ordered]
        ordered.update({row: floor - number for number, row in enumerate(unread)})
        reranked.append(ordered)
    return reranked
