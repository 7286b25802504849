"""The training examples: tokenised once, in arrays that are mapped from disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...encoders.templates import MentionTokens, MentionWindows, RaggedTokens
from ...encoders.templates.ragged_writer import SPANS
from ...errors import Errors, PelError
from ..members import MembersByLabel


@dataclass
class ExampleStore:
    """The data that batches are made of. Entities are numbered 0..n_entities in KB order.

    Example numbers below len(mentions) are mentions, higher ones are bare names.

    mentions: the corpus's gold mentions, each in its context.
    mention_gold: for each mention the numbers of its gold entities; the first is the target.
    mention_key: (n,) uint64, hashes of document, start and end.
    mention_document, mention_form: (n,) uint64, hashes of document, and of the surface form in normal form.
    names, name_entity: every name of every entity, as entity text.
    name_form: a hash of each name in normal form.
    name_gold: for each name the numbers of all entities that have it, in normal form.
    bare_names: the same names as mentions without context.
    cards: one card per entity.
    """

    mentions: MentionTokens
    mention_gold: MembersByLabel
    mention_key: NDArray[np.uint64]
    mention_document: NDArray[np.uint64]
    mention_form: NDArray[np.uint64]
    names: RaggedTokens
    bare_names: MentionTokens
    name_entity: NDArray[np.int64]
    name_form: NDArray[np.uint64]
    name_gold: MembersByLabel
    cards: RaggedTokens
    mention_entity: NDArray[np.int64]
    mentions_of: MembersByLabel
    names_of: MembersByLabel

    @property
    def n_entities(self) -> int:
        return len(self.cards)

    def entity_of(self, examples: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) number of the entity of each example, of several the first."""
        n_mentions = len(self.mentions)
        is_mention = examples < n_mentions
        entity = np.empty(len(examples), dtype=np.int64)
        entity[is_mention] = self.mention_entity[examples[is_mention]]
        entity[~is_mention] = self.name_entity[examples[~is_mention] - n_mentions]
        return entity

    def gold(self, examples: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Numbers of the gold entities of each example."""
        n_mentions = len(self.mentions)
        return [
            self.mention_gold[example] if example < n_mentions else self.name_gold[example - n_mentions]
            for example in examples.tolist()
        ]

    def anchors(self, examples: NDArray[np.int64]) -> MentionTokens:
        """What the mention tower reads of each example; ascending numbers."""
        n_mentions = len(self.mentions)
        is_mention = examples < n_mentions
        kind: Any = type(self.mentions)
        return kind.concatenate(  # type: ignore[no-any-return]
            [self.mentions.take(examples[is_mention]), self.bare_names.take(examples[~is_mention] - n_mentions)]
        )

    @classmethod
    def open(cls, folder: Path, *, mapped: bool = True) -> "ExampleStore":
        """Open what ``build_examples`` wrote.

        Args:
            mapped: leave the tokens on disk; False = read them, the folder may be deleted.

        Raises:
            PelError: if a file is missing or damaged.
        """
        mode: Literal["r"] | None = "r" if mapped else None
        try:
            tokens: Any = {
                name: _read_tokens(folder / name, mode) for name in ("mentions", "cards", "names", "bare_names")
            }
            arrays = {
                name: np.load(folder / f"{name}.npy", mmap_mode=mode)
                for name in (*_KEYS, *_gold("mention"), *_gold("name"))
            }
        except (OSError, ValueError, EOFError) as err:
            raise PelError(Errors.E326.format(path=folder, got=err)) from err
        mention_gold, name_gold = (
            MembersByLabel(*(arrays[name] for name in _gold(kind))) for kind in ("mention", "name")
        )
        target = _firsts(mention_gold)
        n_entities = len(tokens["cards"])
        return cls(
            **tokens,
            mention_gold=mention_gold,
            **{name: arrays[name] for name in _KEYS},
            name_gold=name_gold,
            mention_entity=target,
            mentions_of=MembersByLabel.from_labels(target, n_entities),
            names_of=MembersByLabel.from_labels(arrays["name_entity"], n_entities),
        )


_KEYS = ("mention_key", "mention_document", "mention_form", "name_entity", "name_form")
_TOKENS = ("ids", "offsets")


def _read_tokens(folder: Path, mode: Literal["r"] | None) -> MentionTokens:
    tokens = RaggedTokens(*(np.load(folder / f"{part}.npy", mmap_mode=mode) for part in _TOKENS))
    if not (folder / SPANS).is_file():
        return tokens
    return MentionWindows(tokens, np.load(folder / SPANS, mmap_mode=mode))


def _gold(kind: str) -> list[str]:
    return [f"{kind}_gold", f"{kind}_gold_offsets"]


def _firsts(groups: MembersByLabel) -> NDArray[np.int64]:
    """The first member of each group; none may be empty."""
    return groups.values[groups.offsets[:-1]].astype(np.int64)
