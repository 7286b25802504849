"""ZESHEL (Logeswaran et al. 2019): mentions as JSON lines with token offsets into the pages of wikis, and these pages
as entities. Pages are in ``documents/<world>.json``, mentions in ``mentions/<split>.json``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from ...corpora.formats.base import CorpusReaderBase, wrong_format
from ...kb.readers.reader_base import KBReaderBase
from ...registry import registry
from ...types import Document, Entity
from ...util import numbered_jsonl
from ...util.files import Place, unexpected


def json_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files, and for a folder the .json and .json.gz files in it, by name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if world_of(file) != file.name)
        else:
            yield path


def world_of(path: Path) -> str:
    """The world whose pages a file holds, e.g. "starwars" for starwars.json.gz."""
    return path.name.removesuffix(".gz").removesuffix(".json")


_N_WORDS = 128  # of a page, that define its entity: no card is longer
_PAGE = ("document_id", "title", "text")
_MENTION = ("mention_id", "context_document_id", "label_document_id", "text", "category", "corpus")
Key = tuple[str, str]  # a world and a page in it
Row = tuple[str, dict[str, Any]]  # file and line of a mention, and its record


@registry.pel_corpus_readers("spacy-pel.ZeshelCorpus.v1")
@dataclass(kw_only=True, eq=False)
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

    worlds: list[str] | None = None

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        pages, mention_files = _pages_and_mentions(paths)
        mentions: dict[Key, list[Row]] = {}
        for where, record in _rows(mention_files, _MENTION):
            if type(record.get("start_index")) is not int or type(record.get("end_index")) is not int:
                got = f"{record.get('start_index')!r} and {record.get('end_index')!r}"
                raise wrong_format("zeshel", where, "start_index and end_index as whole numbers", got)
            if self.worlds is None or record["corpus"] in self.worlds:
                mentions.setdefault((record["corpus"], record["context_document_id"]), []).append((where, record))
        worlds = {world for world, _ in mentions}
        if without := sorted(worlds - {world_of(path) for path in pages}):
            expected = f"the pages of every world with mentions (or the setting 'worlds'), {without[0]}.json too"
            got = f"no file {', '.join(f'{world}.json' for world in without)}"
            raise wrong_format("zeshel", ", ".join(map(str, pages)), expected, got)
        for path in pages:
            world = world_of(path)
            if world in worlds:
                for _, page in _rows([path], _PAGE):
                    if rows := mentions.pop((world, page["document_id"]), None):
                        yield self._document(page, world, rows)
        for where, _ in chain.from_iterable(mentions.values()):
            self.lose("no_page", where, "the page of a mention")

    def _document(self, page: dict[str, Any], world: str, rows: Sequence[Row]) -> Document:
        tokens = page["text"].split()
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
        listed: list[dict[str, Any]] = []
        meta = {"world": world, "title": page["title"], "mentions": listed}
        document = Document(page["document_id"], " ".join(tokens), meta=meta)
        for where, row in rows:
            span = len(document.text), len(document.text)  # there is no text there: a mismatch
            if 0 <= row["start_index"] <= row["end_index"] < len(tokens):
                span = starts[row["start_index"]], starts[row["end_index"] + 1] - 1
            label, entity_id = row["category"], row["label_document_id"].removeprefix(self.strip_prefix)
            ids = (entity_id,) if row["label_document_id"] else ()
            n_before = len(document.mentions)
            self.add(document, [span], row["text"], label=label, ids=ids, where=f"{where}, {page['document_id']}")
            for mention in document.mentions[n_before:]:
                about = {"mention_id": row["mention_id"], "category": label}
                listed.append({"start": mention.start, "end": mention.end, **about})
        return document


def _pages_and_mentions(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that hold pages, and those that hold mentions."""
    pages, mentions = [], []
    for path in json_files(paths):
        keys = set(next((record for _, record in numbered_jsonl(path)), {}))
        if keys >= set(_MENTION):
            mentions.append(path)
        elif keys >= set(_PAGE):
            pages.append(path)
        else:
            expected = f"the keys of a page ({', '.join(_PAGE)}) or of a mention ({', '.join(_MENTION)})"
            raise wrong_format("zeshel", path, expected, ", ".join(sorted(keys)) or "an empty file")
    if not pages or not mentions:
        got = f"no file of {'pages' if mentions else 'mentions'}"
        raise wrong_format("zeshel", ", ".join(map(str, paths)) or "no files", "files of pages and of mentions", got)
    return pages, mentions


def _rows(files: Sequence[Path], keys: Sequence[str]) -> Iterator[Row]:
    for path in files:
        for number, record in numbered_jsonl(path):
            if wrong := [key for key in keys if not isinstance(record.get(key), str)]:
                expected, got = f"strings for {', '.join(keys)}", f"no string for {', '.join(wrong)}"
                raise wrong_format("zeshel", f"{path}, line {number}", expected, got)
            yield f"{path}, line {number}", record


@registry.pel_kb_readers("spacy-pel.ZeshelKB.v1")
class ZeshelKB(KBReaderBase):
    """Reads ``{"document_id", "title", "text"}``, one page per line, from ``documents/<world>.json``
    or the folder of these files. Each page is an entity: its title the name, its first words after
    the title the definition. There are no other names; the type is the world, so that a knowledge base of
    several wikis can still be separated.

    Args:
        types: keep these worlds; None = all.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    origin = "ZESHEL (Logeswaran et al. 2019), wikis of FANDOM"
    licence = "CC BY-SA, as stated at github.com/lajanugen/zeshel"

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The pages in the order of the files."""
        for path in json_files(paths):
            for place, record in self.records(path):
                if not all(isinstance(record.get(key), str) for key in _PAGE):
                    expected = '{"document_id", "title", "text"}, all of them strings'
                    todo = "Pass the files of ZESHEL's folder documents."
                    raise unexpected(place, expected, ", ".join(record) or "no keys", todo)
                page_id, title, text = (record[key] for key in _PAGE)
                words = text.split(maxsplit=_N_WORDS + len(title) + 1)
                words = words[_title_length(title, words) :][:_N_WORDS]
                yield place, Entity(page_id, title, (), (world_of(path),), " ".join(words) or None)


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
