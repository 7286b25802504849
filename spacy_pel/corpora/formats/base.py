"""What formats share. Readers: settings, verified mentions, counts, and values that are refused, not converted.
Writers: texts for lines and columns, with all offsets unchanged."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError, quoted
from ...types import Document, Mention
from ...util.parsing import check_unicode, guarded
from ..offsets import OffsetCheck, new_report
from ..policy import tidy


@dataclass(kw_only=True, eq=False)
class CorpusReaderBase(ABC):
    """A reader implements ``read``; the base counts, orders mentions and has the shared settings.

    Args:
        label: the label of every mention; None = as the source has it.
        strip_prefix: taken off the ids that have it, e.g. "MESH:" or "UMLS:".
        strict: a mention whose text differs from the text at its offsets is an error;
            otherwise it is moved by at most three characters or left out, and counted.
    """

    label: str | None = None
    strip_prefix: str = ""
    strict: bool = False

    def __post_init__(self) -> None:
        self._begin()

    @abstractmethod
    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        """Stream the documents of the files."""

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]:
        """Stream the documents of the files, with verified mentions in order.

        Args:
            paths: files (plain or gzipped) or folders, depending on the format.

        Yields:
            The documents in the order of the source.

        Raises:
            PelError: if a file is missing or damaged, or there is no document; at the end, if there was annotation
                and none of it could be read.
        """
        paths = [Path(path) for path in paths]
        self._begin()
        for document in guarded(self.tidied(paths), type(self).__name__, paths):
            self.report["documents"] += 1
            yield document
        if not self.report["documents"]:
            but = f" but {n:,} that were rejected or ignored" if (n := self.report.get("not_accepted")) else ""
            raise PelError(Errors.E206.format(paths=", ".join(map(str, paths)) or "no files", but=but))
        if self.unread and not self.report["mentions"]:
            got = ", ".join(f"{what} ({n:,})" for what, n in self.unread.most_common(5))
            raise PelError(Errors.E217.format(paths=", ".join(map(str, paths)), got=got))

    def tidied(self, paths: Sequence[Path]) -> Iterator[Document]:
        """Stream the documents with their mentions in order."""
        for document in self.read(paths):
            document.mentions = tidy(document.mentions, self.report)
            ids = [entity_id for mention in document.mentions for entity_id in mention.ids]
            # ids of documents may be file names
            check_unicode({"id": document.id, "text": document.text, "ids": ids}, ", ".join(map(str, paths)))
            yield document

    def count(self, key: str, n: int = 1) -> None:
        """Count something in ``report``."""
        self.check.count(key, n)

    def add(
        self,
        document: Document,
        spans: Sequence[tuple[int, int]],
        surface: str,
        *,
        label: str,
        ids: tuple[str, ...],
        composite: bool = False,
        where: str,
    ) -> None:
        """Add a mention to a document, if its text is found at its offsets.

        Args:
            spans: its parts; several = a discontinuous mention, which
                becomes the covering span and is listed in the document's meta.
        """
        place = self.check(document.text, spans, surface, where=where)
        if place is None:
            return
        if len(spans) > 1:
            self.count("discontinuous")
            listed: list[dict[str, Any]] = document.meta.setdefault("discontinuous", [])
            parts = [list(span) for span in sorted(spans)]
            listed.append({"start": place[0], "end": place[1], "spans": parts})
        label = label if self.label is None else self.label
        document.mentions.append(Mention(*place, label=label, ids=ids, composite=composite))

    def lose(self, key: str, where: str, expected: str) -> None:
        """Count a mention whose text is in none of the files.

        Raises:
            PelError: if the reader is strict.
        """
        if self.strict:
            raise wrong_format(type(self).__name__.removesuffix("Corpus").lower(), where, expected, "none")
        self.count("mentions")
        self.count(key)
        self.check.drop(f"{where}: expected {expected}, got none")

    def _begin(self) -> None:
        self.unread: Counter[str] = Counter()  # annotation in a form that is not read, named for the error
        self.report: dict[str, int] = new_report()
        self.check = OffsetCheck(self.report, strict=self.strict)


def wrong_format(reader: str, where: object, expected: str, got: str) -> PelError:
    """The error for a file that is not in the format of a reader.

    Args:
        reader: its short name.
        where: the file, and the line or document.
    """
    return PelError(Errors.E207.format(where=where, expected=expected, got=got, reader=reader))


def stem_of(path: Path) -> str:
    """The name of a file without .gz and its ending, for documents without an id."""
    return Path(path.name.removesuffix(".gz")).stem


def whole_number(value: Any) -> int:
    """A number of characters or tokens, given as an integer or its digits.

    Raises:
        ValueError: if it is anything else, also for more digits than a text can have characters.
    """
    if isinstance(value, str) and len(value) < 16 and value.strip().isdecimal():
        return int(value)
    if type(value) is not int or abs(value) >= 10**15:
        raise ValueError(f"expected a whole number, got {quoted(value)}")
    return value


def id_text(value: Any) -> str:
    """An id, which may be given as an integer.

    Raises:
        ValueError: if it is anything else.
    """
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise ValueError(f"expected an id, got {quoted(value)}")


def text_or_empty(value: Any) -> str:
    """A text; "" for None.

    Raises:
        ValueError: if it is anything else.
    """
    if value is None or isinstance(value, str):
        return value or ""
    raise ValueError(f"expected text, got {quoted(value)}")


NO_ID = "-"  # of NIL, as PubTator Central writes it
_OTHER_LINE_END = re.compile(r"[\t\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")  # all but \n, and tabs


def one_line(text: str) -> str:
    """A text of the same length, with a blank for each line end and tab."""
    return plain_lines(text).replace("\n", " ")


def plain_lines(text: str) -> str:
    r"""A text of the same length, in which lines end in \n alone; with a blank for each other
    line end and tab."""
    return _OTHER_LINE_END.sub(" ", text)
