"""An encoder without weights: hashed character n-grams. For tests and as a sparse baseline."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from ..registry import registry
from ..types import Entity, MentionInText, Vectors
from ..util import fingerprint, normalize_alias
from ..util.arrays import unit_length
from ..util.config import PartSettings
from ..util.saved_folder import read_part, reading, write_part


@registry.pel_encoders("spacy-pel.HashEmbed.v1")
class HashEmbed(PartSettings):
    """Sums of hashed character 3-grams (feature hashing, with signs), scaled to length 1.

    It compares spelling only, needs no training and no files, and is the same on every machine.

    Args:
        width: dimensions of the vectors.
        context_weight: weight of the words around a mention against its own n-grams.
    """

    registered_name = "spacy-pel.HashEmbed.v1"

    def __init__(self, *, width: int = 256, context_weight: float = 0.1):
        self.width = width
        self.context_weight = context_weight

    @property
    def fingerprint(self) -> str:
        return fingerprint("HashEmbed.v1", self.width, self.context_weight)

    def initialize(self) -> None:
        """Nothing to load."""

    def encode_mentions(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), unit length."""
        surfaces = self.encode_names([mention.surface for mention in mentions])
        context = self.encode_names([m.text[max(0, m.start - 40) : m.end + 40] for m in mentions])
        return unit_length(surfaces + self.context_weight * context)

    def encode_mention_rows(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), as ``encode_mentions``."""
        return self.encode_mentions(mentions)

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors:
        """(n, width), unit length; from the canonical names."""
        return self.encode_names([entity.canonical_name for entity in entities])

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """(n, width), unit length."""
        vectors = np.zeros((len(names), self.width), dtype=np.float32)
        for row, name in enumerate(names):
            hashes = self._hashes(normalize_alias(name))
            np.add.at(vectors[row], [h % self.width for h in hashes], [1 - 2 * (h >> 31) for h in hashes])
        return unit_length(vectors)

    def to_disk(self, path: Path) -> None:
        """Write the settings to a folder."""
        with write_part(path, kind="encoder", name=self.registered_name, settings=self.settings):
            pass

    def from_disk(self, path: Path) -> "HashEmbed":
        """Read the settings from a folder.

        Raises:
            PelError: if it is missing, damaged, or another encoder's.
        """
        saved = read_part(Path(path), kind="encoder", name=self.registered_name)
        with reading(Path(path), "encoder", "encoder.json with all settings"):
            self.width, self.context_weight = saved["settings"]["width"], saved["settings"]["context_weight"]
        return self

    @staticmethod
    def _hashes(name: str) -> list[int]:
        padded = f" {name} "
        grams: Iterable[str] = (padded[i : i + 3] for i in range(max(1, len(padded) - 2)))
        return [crc32(gram.encode("utf8")) for gram in grams]
