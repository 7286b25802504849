"""Batches of groups, each with the mentions of one entity in one document, and the plan of an epoch."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...encoders.templates import RaggedTokens
from ...kb import KnowledgeBase
from ...util import normalize_alias
from ..entity_texts import EntityTexts
from ..label_index import LabelIndex
from .candidates import Candidates, RankMentions
from .pair_batches import tokenize_entities


class GroupStore:
    """Mentions in groups, and the entities of each group; each text is tokenised once. The negatives of a
    group are the candidates of all of its mentions, without their gold entities. The gold entity is the
    positive even where it is not among the candidates: a choice, the paper does not say.

    Args:
        kb: holds the entities.
        mentions: (n,); one with several gold entities belongs to the first.
        candidates: theirs.
        encoder: its templates and tokenizer.
        hidden_share: share of the groups whose surface forms are left out of their entities' names.
        rng: draws the hidden groups.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        mentions: RankMentions,
        candidates: Candidates,
        *,
        encoder: BiEncoder,
        hidden_share: float = 0.0,
        rng: np.random.Generator | None = None,
    ):
        keys = np.stack([mentions.document, [gold[0] for gold in mentions.gold]], axis=1)
        _, labels = np.unique(keys, axis=0, return_inverse=True)
        labels = labels.reshape(-1).astype(np.int64)
        self.groups = LabelIndex.from_labels(labels, int(labels.max()) + 1)
        hidden = (rng or np.random.default_rng(0)).random(len(self.groups)) < hidden_share
        self.positives = np.empty(len(self.groups), dtype=np.int64)
        self.negatives: list[NDArray[np.int64]] = []
        texts = EntityTexts(kb)
        for number in range(len(self.groups)):
            members = self.groups[number]
            surfaces = {normalize_alias(mentions.queries[i].surface) for i in members if hidden[number]}
            left_out = tuple(sorted(surfaces))
            gold = np.concatenate([mentions.gold[i] for i in members])
            wrong = np.setdiff1d(candidates.kb_rows[members], [*gold, -1])
            self.positives[number] = texts.position(int(mentions.gold[members[0]][0]), left_out)
            positions = [texts.position(int(row), left_out) for row in wrong]
            self.negatives.append(np.array(positions, dtype=np.int64))
        in_text = [query.in_text for query in mentions.queries]
        template: Any = encoder.mention_template  # with markers: a sequence for each mention
        self.mentions: RaggedTokens = template.tokenize(encoder.tokenizer, in_text)
        self.entities = tokenize_entities(encoder.entity_template, encoder.tokenizer, texts.entities)

    def __len__(self) -> int:
        return len(self.mentions)


class GroupPlan(NamedTuple):
    """One batch: its groups, and the seed for drawing among their mentions."""

    groups: NDArray[np.int64]
    seed: int


@dataclass
class GroupBatch:
    """n mentions in g groups, and the e entities of these groups.

    mention_ids, mention_mask: (n, length) int64.
    groups: (n,) int64, of each mention, from 0 on.
    entity_ids, entity_mask: (e, length) int64.
    positives: (g,) int64, the right entity of each group.
    negatives: (g, e) bool, the wrong ones.
    seed: for drawing among the mentions.
    """

    mention_ids: NDArray[np.int64]
    mention_mask: NDArray[np.int64]
    groups: NDArray[np.int64]
    entity_ids: NDArray[np.int64]
    entity_mask: NDArray[np.int64]
    positives: NDArray[np.int64]
    negatives: NDArray[np.bool_]
    seed: int

    def __len__(self) -> int:
        return len(self.groups)


@dataclass
class GroupPlanner:
    """Plans epochs and builds batches; everything follows from (seed, epoch). A group is never split.

    We read the batch size of Le & Nguyen (2023, section 4.4) as a number of anchors: "all mentions within a
    cluster are fed to the model concurrently", and the time goes down with "the lower number of training
    batches" (section 4.5.2). Where a group has one anchor, a batch of 32 is 32 groups with all of their
    mentions, about 64 on MedMentions; where every mention is an anchor, it is 32 mentions.

    Args:
        store: mentions and entities.
        batch_size: maximum number of groups, or of mentions, in a batch.
        count_groups: True = ``batch_size`` counts groups, so that all batches but the last have this
            many; False = it counts mentions, and a group that is larger than a batch gets its own batch.
        pad_id: the tokenizer's padding id.
    """

    store: GroupStore
    _: KW_ONLY
    batch_size: int
    count_groups: bool = False
    pad_id: int
    seed: int

    @property
    def batches_per_epoch(self) -> int:
        """Of the first epoch; others may have one more or less where mentions are counted."""
        return len(self.plan(0))

    def plan(self, epoch: int) -> list[GroupPlan]:
        """All groups, each once, in a random order."""
        rng = np.random.default_rng([self.seed, 24, epoch])
        sizes = np.diff(self.store.groups.offsets)
        if self.count_groups:
            sizes = np.ones_like(sizes)
        batches: list[list[int]] = []
        room = 0
        for group in rng.permutation(len(sizes)).tolist():
            if sizes[group] > room or not batches:
                batches.append([])
                room = self.batch_size
            batches[-1].append(group)
            room -= int(sizes[group])
        return [GroupPlan(np.array(batch), int(rng.integers(2**62))) for batch in batches]

    def build(self, plan: GroupPlan, number: int = 0) -> GroupBatch:
        """Of a plan's groups."""
        store = self.store
        members = [store.groups[group] for group in plan.groups]
        wrong = [store.negatives[group] for group in plan.groups]
        used: Any = np.unique(np.concatenate([store.positives[plan.groups], *wrong]))
        negatives = np.zeros((len(plan.groups), len(used)), dtype=np.bool_)
        for group, positions in enumerate(wrong):
            negatives[group, np.searchsorted(used, positions)] = True
        return GroupBatch(
            *store.mentions.padded(np.concatenate(members), self.pad_id),
            np.repeat(np.arange(len(members)), [len(numbers) for numbers in members]),
            *store.entities.padded(used, self.pad_id),
            np.searchsorted(used, store.positives[plan.groups]),
            negatives,
            plan.seed,
        )
