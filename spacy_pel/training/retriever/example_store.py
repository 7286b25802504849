"""The training examples: tokenised once, in arrays that are written in chunks and mapped from disk."""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from typing_extensions import Self

from ...encoders.token_arrays import RaggedTokens
from ...errors import Errors, PelError
from ...util.arrays import offsets_of
from ..batching import LabelIndex


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
    name_entity: NDArray[np.int64]
    name_gold: LabelIndex
    cards: RaggedTokens
    mention_entity: NDArray[np.int64]
    mentions_of: LabelIndex
    names_of: LabelIndex

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

    def anchors(self, examples: NDArray[np.int64]) -> RaggedTokens:
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
            tokens: Any = {
                name: RaggedTokens.from_disk(folder / name) for name in ("mentions", "cards", "names", "bare_names")
            }
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


_MANY = 10**15  # an upper bound, so that the header fits any count


class RaggedWriter:
    """Appends to the files that ``RaggedTokens.from_disk`` maps.

    Args:
        path: the folder; made here.
    """

    def __init__(self, path: Path):
        path.mkdir(parents=True)
        self.path = path
        self._lengths: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._file: Any = (path / "ids.npy").open("wb")
        self._header = self._write_header(_MANY)

    def append(self, tokens: RaggedTokens) -> None:
        """Args:
        tokens: the next sequences.
        """
        self._file.write(np.ascontiguousarray(tokens.values, dtype="<i4").data)
        self._lengths.append(tokens.lengths)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lengths = np.concatenate(self._lengths)
        self._file.seek(0)
        if self._write_header(int(lengths.sum())) != self._header:
            raise RuntimeError("numpy wrote a header of another length")
        self._file.close()
        np.save(self.path / "offsets.npy", offsets_of(lengths))

    def _write_header(self, count: int) -> int:
        npy.write_array_header_1_0(self._file, {"descr": "<i4", "fortran_order": False, "shape": (count,)})
        return int(self._file.tell())
