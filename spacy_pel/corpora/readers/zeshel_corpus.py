"""ZESHEL: mentions as JSON lines with token offsets into the pages of wikis, given together."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import Errors, PelError
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl
from .reader_base import CorpusReaderBase
from .zeshel_files import json_files, world_of

_PAGE = ("document_id", "title", "text")
_MENTION = ("mention_id", "context_document_id", "label_document_id", "text", "category", "corpus")
Key = tuple[str, str]  # a world and a page in it


class _Given(NamedTuple):
    """A mention as the file gives it."""

    where: str
    mention_id: str
    first: int  # token, inclusive
    last: int
    text: str
    label_id: str
    category: str


@registry.pel_corpus_readers("spacy-pel.ZeshelCorpus.v1")
class ZeshelCorpus(CorpusReaderBase):
    """Reads a split's file of mentions (``mentions/train.json``: mention_id, context_document_id,
    label_document_id, start_index, end_index, text, category, corpus) with the pages of its worlds
    (``documents/<world>.json``, or the folder). The first line of a file shows which kind it is.

    The indices count white-space tokens, both ends inclusive. A document's text is its page's
    tokens joined by blanks; its meta has the ``world`` and, for each mention, the ``mention_id``
    and ``category``. Only pages with mentions become documents, and one at a time is kept in
    memory. Counted in ``report`` as ``no_page``: mentions on a page that the files lack.

    Args:
        worlds: keep the mentions of these wikis; None = all.
        label: the label of every mention; None = its category, e.g. "LOW_OVERLAP".
        strip_prefix: taken off the ids that have it.
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    def __init__(
        self, *, worlds: list[str] | None = None, label: str | None = None, strip_prefix: str = "", strict: bool = False
    ) -> None:
        super().__init__(label=label, strip_prefix=strip_prefix, strict=strict)
        self.worlds = None if worlds is None else frozenset(worlds)

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        pages, mentions = self._sorted(list(json_files(paths)), paths)
        wanted = self._mentions(mentions)
        without = sorted({world for world, _ in wanted} - {world_of(path) for path in pages})
        if without:
            raise self._unexpected(
                ", ".join(map(str, pages)),
                f"the pages of every world with mentions (or the setting 'worlds'), {without[0]}.json too",
                f"no file {', '.join(f'{world}.json' for world in without)}",
            )
        for path in pages:
            world = world_of(path)
            if any(key[0] == world for key in wanted):
                for number, record in numbered_jsonl(path):
                    self._check(record, _PAGE, f"{path}, line {number}")
                    given = wanted.pop((world, record["document_id"]), None)
                    if given is not None:
                        yield self._document(record, world, given)
        for lost in wanted.values():
            self._no_page(lost)

    def _sorted(self, files: list[Path], paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
        """Which files hold pages, which mentions?"""
        pages, mentions = [], []
        for path in files:
            keys = set(next((record for _, record in numbered_jsonl(path)), {}))
            if keys >= set(_MENTION):
                mentions.append(path)
            elif keys >= set(_PAGE):
                pages.append(path)
            else:
                expected = f"the keys of a page ({', '.join(_PAGE)}) or of a mention ({', '.join(_MENTION)})"
                raise self._unexpected(str(path), expected, ", ".join(sorted(keys)) or "an empty file")
        if not pages or not mentions:
            kinds = "pages" if mentions else "mentions"
            shown = ", ".join(map(str, paths)) or "no files"
            raise self._unexpected(shown, "files of pages and of mentions", f"no file of {kinds}")
        return pages, mentions

    def _mentions(self, files: Sequence[Path]) -> dict[Key, list[_Given]]:
        wanted: dict[Key, list[_Given]] = {}
        for path in files:
            for number, record in numbered_jsonl(path):
                where = f"{path}, line {number}"
                self._check(record, _MENTION, where)
                first, last = record.get("start_index"), record.get("end_index")
                if type(first) is not int or type(last) is not int:
                    got = f"{first!r} and {last!r}"
                    raise self._unexpected(where, "start_index and end_index as whole numbers", got)
                world = record["corpus"]
                if self.worlds is None or world in self.worlds:
                    given = _Given(
                        where,
                        record["mention_id"],
                        first,
                        last,
                        record["text"],
                        record["label_document_id"],
                        record["category"],
                    )
                    wanted.setdefault((world, record["context_document_id"]), []).append(given)
        return wanted

    def _document(self, page: dict[str, Any], world: str, mentions: Sequence[_Given]) -> Document:
        tokens = page["text"].split()
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
        listed: list[dict[str, Any]] = []
        meta = {"world": world, "title": page["title"], "mentions": listed}
        document = Document(page["document_id"], " ".join(tokens), meta=meta)
        for given in mentions:
            outside = len(document.text), len(document.text)  # there is no text there: a mismatch
            inside = 0 <= given.first <= given.last < len(tokens)
            span = (starts[given.first], starts[given.last + 1] - 1) if inside else outside
            ids = (given.label_id.removeprefix(self.strip_prefix),) if given.label_id else ()
            before = len(document.mentions)
            self.add(
                document,
                [span],
                given.text,
                label=given.category,
                ids=ids,
                where=f"{given.where}, {page['document_id']}",
            )
            if len(document.mentions) > before:
                place = document.mentions[-1]
                about = {"mention_id": given.mention_id, "category": given.category}
                listed.append({"start": place.start, "end": place.end, **about})
        return document

    def _no_page(self, mentions: Sequence[_Given]) -> None:
        for given in mentions:
            if self.strict:
                raise self._unexpected(given.where, "a mention on one of the pages", "one of a missing page")
            self.count("mentions")
            self.count("no_page")
            self.check.drop(f"{given.where}: expected a mention on one of the pages, got another page")

    def _check(self, record: dict[str, Any], keys: Sequence[str], where: str) -> None:
        wrong = [key for key in keys if not isinstance(record.get(key), str)]
        if wrong:
            raise self._unexpected(where, f"strings for {', '.join(keys)}", f"no string for {', '.join(wrong)}")

    def _unexpected(self, where: str, expected: str, got: str) -> PelError:
        return PelError(Errors.E207.format(where=where, expected=expected, got=got, reader="zeshel"))
