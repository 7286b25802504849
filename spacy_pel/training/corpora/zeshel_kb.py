"""Entities from the pages of a wiki, as in ZESHEL (Logeswaran et al. 2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...kb.readers.reader_base import KBReaderBase
from ...registry import registry
from ...types import Entity
from ...util.config import check_range
from ...util.files import Place, unexpected
from .zeshel_files import json_files, world_of

_KEYS = ("document_id", "title", "text")


@registry.pel_kb_readers("spacy-pel.ZeshelKB.v1")
@dataclass(kw_only=True, eq=False)
class ZeshelKB(KBReaderBase):
    """Reads ``{"document_id", "title", "text"}``, one page per line, from ``documents/<world>.json``
    or the folder of these files. Each page is an entity: its title the name, its first words the
    definition. There are no other names; the type is the world, so that a knowledge base of
    several wikis can still be separated.

    Args:
        n_words: number of words from the start of a page that define its entity.
        skip_title: leave out the title with which ZESHEL begins every text.
        types: keep these worlds; None = all.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    origin = "ZESHEL (Logeswaran et al. 2019), wikis of FANDOM"
    licence = "CC BY-SA, as stated at github.com/lajanugen/zeshel"

    n_words: int = 128
    skip_title: bool = True

    def __post_init__(self) -> None:
        check_range("n_words", self.n_words, least=0)
        super().__post_init__()

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The pages in the order of the files."""
        for path in json_files(paths):
            for place, record in self.records(path):
                if not all(isinstance(record.get(key), str) for key in _KEYS):
                    expected = '{"document_id", "title", "text"}, all of them strings'
                    todo = "Pass the files of ZESHEL's folder documents."
                    raise unexpected(place, expected, ", ".join(record) or "no keys", todo)
                page_id, title, text = (record[key] for key in _KEYS)
                words = text.split(maxsplit=self.n_words + len(title) + 1)
                if self.skip_title:
                    words = words[_title_length(title, words) :]
                yield place, Entity(page_id, title, (), (world_of(path),), " ".join(words[: self.n_words]) or None)


def _title_length(title: str, words: Sequence[str]) -> int:
    """The number of words that repeat the title, tokenised: "Tyler ( 2012 )" for "Tyler (2012)"."""
    left = "".join(title.split())
    for position, word in enumerate(words):
        if not left:
            return position
        if not left.startswith(word):
            return 0
        left = left[len(word) :]
    return 0 if left else len(words)
