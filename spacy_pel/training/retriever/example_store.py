"""The training examples: tokenised once, in arrays that are written in chunks and mapped from disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...encoders.token_arrays import RaggedTokens
from ...errors import Errors, PelError
from ...types import Numbers
from ...util.arrays import offsets_of
from ..batching import LabelIndex

_IDS, _OFFSETS = "ids.int32", "offsets.npy"  # of some sequences


@dataclass
class ExampleStore:
    """The data that batches are made of. Entities are numbered 0..n_entities in KB order.

    Example numbers below len(mentions) are mentions, higher ones are bare names.

    mentions: the corpus's gold mentions, each in its context.
    mention_gold: for each mention the numbers of its gold entities; the first is the target.
    mention_key: (n,) uint64, hashes of document, start and end.
    names, name_entity: every name of every entity, as entity text.
    name_gold: for each name the numbers of all entities that have it, in normal form.
    bare_names: the same names as mentions without context.
    cards: one card per entity.
    """

    mentions: RaggedTokens
    mention_gold: LabelIndex
    mention_key: NDArray[np.uint64]
    names: RaggedTokens
    bare_names: RaggedTokens
    name_entity: Numbers
    name_gold: LabelIndex
    cards: RaggedTokens
    mention_entity: Numbers
    mentions_of: LabelIndex
    names_of: LabelIndex

    @property
    def n_entities(self) -> int:
        return len(self.cards)

    def entity_of(self, examples: Numbers) -> Numbers:
        """(n,) number of the entity of each example, of several the first."""
        n_mentions = len(self.mentions)
        is_mention = examples < n_mentions
        entity = np.empty(len(examples), dtype=np.int64)
        entity[is_mention] = self.mention_entity[examples[is_mention]]
        entity[~is_mention] = self.name_entity[examples[~is_mention] - n_mentions]
        return entity

    def gold(self, examples: Numbers) -> list[Numbers]:
        """Numbers of the gold entities of each example."""
        n_mentions = len(self.mentions)
        return [
            self.mention_gold[example] if example < n_mentions else self.name_gold[example - n_mentions]
            for example in examples.tolist()
        ]

    def anchors(self, examples: Numbers) -> RaggedTokens:
        """What the mention tower reads of each example; ascending numbers."""
        n_mentions = len(self.mentions)
        is_mention = examples < n_mentions
        return RaggedTokens.concatenate(
            [self.mentions.take(examples[is_mention]), self.bare_names.take(examples[~is_mention] - n_mentions)]
        )

    @classmethod
    def open(cls, folder: Path) -> "ExampleStore":
        """Map what ``write_examples`` wrote.

        Raises:
            PelError: if a file is missing or damaged.
        """
        try:
            tokens: Any = {name: _map_tokens(folder / name) for name in ("mentions", "cards", "names", "bare_names")}
            mention_gold, name_gold = (
                LabelIndex(_mapped(folder / f"{kind}_gold.npy"), _mapped(folder / f"{kind}_gold_offsets.npy"))
                for kind in ("mention", "name")
            )
            mention_key, name_entity = (_mapped(folder / f"{name}.npy") for name in ("mention_key", "name_entity"))
        except (OSError, ValueError, EOFError) as err:
            raise PelError(Errors.E326.format(path=folder, got=err)) from err
        # every mention has a gold entity
        target = mention_gold.values[mention_gold.offsets[:-1]].astype(np.int64)
        n_entities = len(tokens["cards"])
        arrays: Any = {"mention_key": mention_key, "name_entity": name_entity, "mention_entity": target}
        gold: Any = {"mention_gold": mention_gold, "name_gold": name_gold}
        mentions_of, names_of = (LabelIndex.from_labels(labels, n_entities) for labels in (target, name_entity))
        return cls(**tokens, **arrays, **gold, mentions_of=mentions_of, names_of=names_of)


def _mapped(path: Path) -> NDArray[Any]:
    return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]


def _map_tokens(folder: Path) -> RaggedTokens:
    """The sequences of a ``TokenWriter``, memory-mapped."""
    file, offsets = folder / _IDS, _mapped(folder / _OFFSETS)
    if file.stat().st_size != 4 * offsets[-1]:
        raise ValueError(f"{file} has {file.stat().st_size} bytes, not {4 * offsets[-1]}")
    return RaggedTokens(np.memmap(file, "<i4", "r") if offsets[-1] else np.zeros(0, np.int32), offsets)


class TokenWriter:
    """Writes sequences to a folder, chunk by chunk.

    Args:
        folder: made here.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self.folder = folder
        self._lengths: list[Numbers] = [np.zeros(0, dtype=np.int64)]
        self._file: Any = (folder / _IDS).open("wb")

    def append(self, tokens: RaggedTokens) -> None:
        """Args:
        tokens: the next sequences.
        """
        self._file.write(np.ascontiguousarray(tokens.values, dtype="<i4").data)
        self._lengths.append(tokens.lengths)

    def close(self) -> None:
        """Write what is buffered, and where each sequence begins."""
        self._file.close()
        np.save(self.folder / _OFFSETS, offsets_of(np.concatenate(self._lengths)))
