"""The KB reader for knowledge bases of this package."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...registry import registry
from ...types import Entity
from ...util.files import Place
from ..knowledge_base import KnowledgeBase
from .reader_base import KBReaderBase


@registry.pel_kb_readers("spacy-pel.SavedKB.v1")
class SavedKB(KBReaderBase):
    """Reads KB folders: the entities that are not retired, with the redirects of the others.

    Args:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        for path in paths:
            kb = KnowledgeBase.from_disk(path)
            about = kb.source
            self.source.update(origin=about.get("name") or about.get("origin", ""), licence=about.get("licence", ""))
            redirects = kb.redirects()
            self.redirects.update(redirects)
            for entity, live in kb.items():
                if live:
                    yield Place(path), entity
                elif entity.concept_id not in redirects:
                    self.note_obsolete(entity.concept_id)
