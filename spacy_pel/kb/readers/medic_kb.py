"""Entities from MEDIC, CTD's disease vocabulary, in the text form of DNorm and BioSyn."""

import html
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ...errors import quoted
from ...registry import registry
from ...types import Entity
from ...util.files import Place, unexpected
from .reader_base import KBReaderBase


@registry.pel_kb_readers("spacy-pel.MedicKB.v1")
class MedicKB(KBReaderBase):
    """Reads lines ``id[|id…]||name[|synonym…]``; following lines of the same id are one entity.

    Ids become those of the corpora: "MESH:D012345" -> "D012345", a bare number -> "OMIM:…".
    The first id of a line is the entity's, the others are redirects to it; an id that
    follows two entities goes to the first (``ambiguous_redirect``). XML entities are unescaped.

    Attributes:
        types: keep entities with any of these types (all are "disease").
        id_prefix: keep entities whose id starts with this, e.g. "OMIM:".
        strict: turn repairs into errors.
    """

    origin = "MEDIC, Comparative Toxicogenomics Database (CTD)"
    licence = "CTD's terms: free for research, commercial use needs CTD's permission"

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The entities of the rows."""
        for path in paths:
            for entity_id, group in groupby(self._rows(path), key=lambda row: row[1][0]):
                rows = list(group)
                for place, ids, _ in rows:
                    for other in filter(None, ids[1:]):
                        owner = self.redirects.setdefault(other, entity_id)
                        if owner != entity_id:
                            self.repair("ambiguous_redirect", place, f"{other} belongs to {owner} already")
                name, *synonyms = (name for _, _, names in rows for name in names)
                yield rows[0][0], Entity(entity_id, name, tuple(synonyms), ("disease",))

    def _rows(self, path: Path) -> Iterator[tuple[Place, list[str], list[str]]]:
        """The ids and the names of each row."""
        for place, line in self.lines(path):
            if not line.strip():
                continue
            ids, bars, names = line.partition("||")
            if not bars:
                raise unexpected(place, "id[|id…]||name[|synonym…]", quoted(line))
            yield place, list(map(_corpus_id, ids.split("|"))), list(map(html.unescape, names.split("|")))


def _corpus_id(entity_id: str) -> str:
    entity_id = entity_id.strip()
    return f"OMIM:{entity_id}" if entity_id.isdigit() else entity_id.removeprefix("MESH:")
