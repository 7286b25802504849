"""How often a surface form named an entity in annotated text."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..types import Rows
from ..util import hash_strings, normalize_alias
from ..util.arrow_files import read_arrays, write_arrays
from ..util.ragged import offsets_of

_FILE = "priors.arrow"
Counts = NDArray[np.int32]


class AliasPriors:
    """Counts of (normalised surface form, entity), like the prior probabilities of spaCy's KB.

    Three parallel arrays sorted by surface form and entity. Surface forms are stored as 64-bit hashes;
    the probability that two of a million share a hash is 3e-8.

    Args:
        surface_hashes: ascending.
        kb_rows: rows of the knowledge base.
        counts: how often the surface form named the entity.
    """

    def __init__(self, surface_hashes: NDArray[np.uint64], kb_rows: NDArray[np.int32], counts: Counts):
        self.surface_hashes = surface_hashes
        self.kb_rows = kb_rows
        self._counts = counts
        order = np.argsort(kb_rows, kind="stable")
        self._entities, firsts = np.unique(kb_rows[order], return_index=True)
        self._totals = np.add.reduceat(counts[order], firsts) if len(firsts) else counts[:0]

    def __len__(self) -> int:
        return len(self.surface_hashes)

    @classmethod
    def build(cls, surfaces: Iterable[str], kb_rows: Rows) -> "AliasPriors":
        """Count.

        Args:
            surfaces: mentions as written in the text.
            kb_rows: the entity that each of them names.

        Returns:
            The counts.
        """
        hashes = hash_strings([normalize_alias(surface) for surface in surfaces])
        order = np.lexsort((kb_rows, hashes))
        hashes, rows = hashes[order], kb_rows[order].astype(np.int32)
        new = np.ones(len(hashes), dtype=np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
        firsts = np.flatnonzero(new)
        counts = np.diff(np.append(firsts, len(hashes))).astype(np.int32)
        return cls(hashes[firsts], rows[firsts], counts)

    def plus(self, surfaces: Sequence[str], kb_rows: Rows) -> "AliasPriors":
        """These counts and those of more mentions; see ``build``."""
        more = AliasPriors.build(surfaces, kb_rows)
        if not len(more):
            return self
        hashes = np.concatenate([self.surface_hashes, more.surface_hashes])
        rows = np.concatenate([self.kb_rows, more.kb_rows])
        counts = np.concatenate([self._counts, more._counts])
        order = np.lexsort((rows, hashes))
        hashes, rows = hashes[order], rows[order]
        new = np.ones(len(hashes), dtype=np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
        firsts = np.flatnonzero(new)
        return AliasPriors(hashes[firsts], rows[firsts], np.add.reduceat(counts[order], firsts))

    def counts(
        self, surfaces: Sequence[str], *, normalized: bool = False
    ) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        """Look up surface forms.

        Args:
            surfaces: surface forms.
            normalized: they are in normal form already (see ``util.normalize_alias``).

        Returns:
            Ragged KB rows and counts of all surface forms, and (n + 1,) offsets:
            surface form i has those at ``offsets[i]:offsets[i + 1]``.
        """
        wanted = hash_strings(surfaces if normalized else list(map(normalize_alias, surfaces)))
        start = np.searchsorted(self.surface_hashes, wanted, side="left")
        stop = np.searchsorted(self.surface_hashes, wanted, side="right")
        lengths = stop - start
        offsets = offsets_of(lengths)
        places = np.repeat(start - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self.kb_rows[places].astype(np.int64), self._counts[places].astype(np.int64), offsets

    def total(self, kb_rows: Rows) -> NDArray[np.int64]:
        """How often each entity was named by any surface form."""
        if len(self._entities) == 0:
            return np.zeros(len(kb_rows), dtype=np.int64)
        place = np.minimum(np.searchsorted(self._entities, kb_rows), len(self._entities) - 1)
        return np.where(self._entities[place] == kb_rows, self._totals[place], 0).astype(np.int64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The three arrays by name."""
        return {"surface": self.surface_hashes, "kb_row": self.kb_rows, "count": self._counts}

    def to_disk(self, path: Path) -> None:
        """Write the arrays to a folder."""
        write_arrays(Path(path) / _FILE, self.columns())

    @classmethod
    def from_disk(cls, path: Path) -> "AliasPriors":
        """Map the arrays of a folder into memory."""
        arrays = read_arrays(pa.memory_map(str(Path(path) / _FILE)).read_buffer())
        return cls(arrays["surface"], arrays["kb_row"], arrays["count"])
