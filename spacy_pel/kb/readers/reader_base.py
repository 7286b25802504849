"""What all KB readers share: filters, counted repairs, and errors that name the file and the line."""

import codecs
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from ...errors import Errors, PelError, Warnings, listed, quoted, shortened
from ...types import Entity
from ...types.semantic_types import did_you_mean_value, expand_types, listed_values, shown_value
from ...util import Place, guarded, logger, raw_lines, unexpected
from ...util.parsing import json_objects
from ..repair import NO_FAULTS, counts_text, ends_of_chains, is_obsolete, repaired, tidied, with_plain_names

_N_NAMED = 5  # entities that a warning names ...
_N_KEYS_NAMED = 10  # ... and columns or keys
_N_KEYS = 1000  # that are kept for it: a file may have any number of them
_ID_PREFIX = re.compile(r"\D+|.")


def _as_windows_1252(err: UnicodeError) -> tuple[str, int]:
    """What bytes that are not UTF-8 mean, as old programs write them: letters, and a few signs."""
    assert isinstance(err, UnicodeDecodeError)
    code = err.object[err.start]
    is_known = code >= 0xA0 or 0x91 <= code <= 0x97
    return bytes([code]).decode("cp1252") if is_known else "\ufffd", err.start + 1


codecs.register_error("spacy_pel.windows-1252", _as_windows_1252)


@dataclass(kw_only=True, eq=False)
class KBReaderBase(ABC):
    """A reader implements ``read``; the base filters, repairs and counts.

    For every entity: the filters first (an entity that is filtered out is not checked), then runs of
    white space become one blank and cross references get their usual spelling, then the repairs of
    ``repair.py``. Repairs are counted in ``report`` by kind, or are errors if ``strict``. Three kinds are
    counted here only:

    * ``bad_encoding``: bytes that are not UTF-8 are read as Windows-1252, or become U+FFFD.
    * ``carriage_return``: a CR within a line, which may be two lines in fact, is white space.
    * ``lost_redirect``: a retired id whose successor is in no file. A history of ids may cover more
      than the KB, so this is never an error.

    Args:
        types: keep entities with any of these types; None = all. The
            named set "st21pv" stands for MedMentions' 21 UMLS types and their descendants.
        id_prefix: keep entities whose id starts with this; "" = all.
        strict: turn repairs into errors.
    """

    types: list[str] | None = None
    id_prefix: str = ""
    strict: bool = False

    origin: ClassVar[str] = ""  # for ``source``, as the licence
    licence: ClassVar[str] = ""
    ids_are_unique: ClassVar[bool] = False  # True = the format's order rules out duplicates: no set of ids is kept
    filters: ClassVar[bool] = False  # True = ``read`` streams only what ``wants``
    is_release: ClassVar[bool] = True  # False = a file need not say all that its maker says of an entity
    # True = entities of one id with different names may be a mistake: a warning
    one_line_per_id: ClassVar[bool] = False
    # what is called unread in a warning, and what else than renaming makes it be read
    unread_kind: ClassVar[tuple[str, str]] = ("keys", "")

    def __post_init__(self) -> None:
        self.wanted_types = frozenset(expand_types(self.types)) if self.types else None
        # filter -> values asked for -> what they stand for
        self.asked: dict[str, dict[str, Collection[str]]] = {
            "id prefix": {self.id_prefix: {self.id_prefix}} if self.id_prefix else {},
            "types": {name: expand_types([name]) for name in self.types or ()},
        }
        self.notes_obsolete = False  # a build has no use for what these ids are
        self._begin([])

    def _begin(self, paths: Sequence[Path]) -> None:
        """Forget what the last iteration has reported."""
        files = [path.name for path in paths]
        self.source: dict[str, Any] = {"origin": self.origin, "version": "", "licence": self.licence, "files": files}
        self.source["name"] = self.origin or (files or [""])[0]
        self.report: dict[str, int] = {}  # repair -> count
        self.redirects: dict[str, str] = {}  # retired id -> live id, complete after the iteration
        # Other ids that are no longer used -> ids that may replace them, most often none; complete after the
        # iteration, and only if notes_obsolete. Then redirects may lead to any id.
        self.obsolete: dict[str, tuple[str, ...]] = {}
        self.retired: dict[str, str | None] = {}  # likewise: ids that a line retires -> successor ...
        self.places: dict[str, Place] = {}  # and where the line is
        self.has: dict[str, Counter[str]] = {name: Counter() for name in self.asked}  # filter -> values in the files
        self._cases: dict[str, list[str]] = {}  # warning at the end -> the first cases that it names ...
        self._n_cases: Counter[str] = Counter()  # and how many there are
        self._first_names: dict[str, str] = {}  # id -> name, if one_line_per_id
        self._unread: dict[str, Place] = {}  # column or key -> where it is first

    @abstractmethod
    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """Stream the entities as the files have them; may set ``redirects`` and ``source``."""

    def __call__(self, paths: Sequence[Path]) -> Iterator[Entity]:
        """Stream the wanted entities of the files.

        Args:
            paths: UTF-8 files (plain or gzipped) or folders, depending on the format.

        Yields:
            With a name, and aliases without blanks and repetitions. An id that occurs
            several times is counted as ``duplicate_id`` and yielded each time: the knowledge base
            merges its entities.

        Raises:
            PelError: if a file is missing or broken, or no entity is left.
        """
        paths = [Path(path) for path in paths]
        self._begin(paths)
        seen: set[str] = set()
        n_read = n_kept = 0
        for place, entity in guarded(self.read(paths), type(self).__name__, paths):
            n_read += 1
            if (kept := self._checked(place, entity)) is None:
                continue
            if self.one_line_per_id:
                self._compare_names(place, kept)
            if kept.concept_id in seen:
                self.repair("duplicate_id", place, f"the id {kept.concept_id} occurs before")
            else:
                n_kept += 1
            if not self.ids_are_unique:
                seen.add(kept.concept_id)
            yield kept
        is_empty = not n_kept and not self.retired
        if is_empty and (unmatched := self._unmatched()):
            raise PelError(Errors.E144.format(paths=", ".join(map(str, paths)), filters=unmatched))
        self._warn_of_left_out()
        if is_empty:
            raise PelError(Errors.E120.format(paths=", ".join(map(str, paths)) or "no files"))
        if not self.ids_are_unique:
            self._settle_redirects(seen)
        what = "entity" if n_read == 1 else "entities"
        logger.info(f"{n_read:,} {what} read, {n_kept:,} kept, repairs: {counts_text(self.report)}")

    def _checked(self, place: Place, entity: Entity) -> Entity | None:
        """Filter an entity and repair it; None = it is not wanted, or cannot be kept."""

        def count(kind: str, entity_id: str) -> None:
            if kind in NO_FAULTS:
                self.report[kind] = self.report.get(kind, 0) + 1
            else:
                self.repair(kind, place, f"fault in the entity {entity_id!r}")

        try:
            if not self.filters and not self.wants(entity.concept_id, entity.types):
                return None
            if is_obsolete(entity.canonical_name):
                count("obsolete_label", entity.concept_id)
                self.note_obsolete(entity.concept_id.strip())
                return None
            kept = repaired(tidied(with_plain_names(entity, count)), count)
        except (TypeError, AttributeError) as err:  # from a field that is not text
            raise unexpected(place, "an entity whose fields are text", quoted(entity.to_json())) from err
        if kept is None:
            name = quoted(entity.concept_id.strip() or entity.canonical_name.strip())
            self._note_case(Warnings.W106, f"{place} ({name})")
        return kept

    def _warn_of_left_out(self) -> None:
        """Log which columns or keys are not read, which ids have several names, what was left out, and which
        filters match nothing."""
        if unmatched := self._unmatched():
            logger.warning(Warnings.W144.format(filters=unmatched))
        if self._unread:
            (_, first), *_ = named = list(self._unread.items())[:_N_KEYS_NAMED]
            names = [quoted(name) + ("" if place == first else f" ({place})") for name, place in named]
            kind, todo = self.unread_kind
            facts = {"kind": kind, "names": listed(names, len(self._unread), ", "), "todo": todo}
            logger.warning(Warnings.W107.format(place=first, known=self.known_names(), **facts))
        for warning, cases in self._cases.items():
            n = self._n_cases[warning]
            logger.warning(warning.format(n=n, cases=listed(cases, n, "; ")))

    def leave_unread(self, place: Place, name: str) -> None:
        """Remember where a column or a key is that no field uses, for the warning at the end."""
        if len(self._unread) < _N_KEYS:
            self._unread.setdefault(name, place)

    def known_names(self) -> str:
        """The names of columns or keys that are read."""
        return ", ".join(field.name for field in fields(Entity))

    def note_obsolete(self, old: str, *perhaps: str) -> None:
        """Note that an id is no longer used, for the update of a knowledge base.

        Args:
            old: the id. An id that an entity or a redirect has, too, does not count.
            perhaps: ids that may replace it; one that surely does is a redirect.
        """
        if self.notes_obsolete:
            self.obsolete[old] = tuple(dict.fromkeys((*self.obsolete.get(old, ()), *perhaps)))

    def wants(self, entity_id: str, types: Iterable[str]) -> bool:
        """Whether an entity with this id and these types passes the filters."""
        if self.id_prefix:
            is_wanted = entity_id.strip().startswith(self.id_prefix)
            prefix = self.id_prefix if is_wanted else "".join(_ID_PREFIX.findall(entity_id.strip())[:1])
            self.has["id prefix"][prefix] += 1
            if not is_wanted:
                return False
        if self.wanted_types is None:
            return True
        types = list(types)
        self.has["types"].update(types or [""])
        return not self.wanted_types.isdisjoint(types)

    def _unmatched(self) -> str:
        """The values of filters that match nothing, and those in the files; "" = all match."""
        faults = []
        for name, asked in self.asked.items():
            has = self.has[name]
            missing = [value for value, wanted in asked.items() if has.keys().isdisjoint(wanted)]
            if missing and has:  # what another filter leaves nothing for is not at fault
                named = ", ".join(shown_value(value) + did_you_mean_value(value, has) for value in missing)
                faults.append(f"{name} {named}; the files have {listed_values(has)}")
        return "; ".join(faults)

    def repair(self, kind: str, place: Place, fault: str) -> None:
        """Count a repair.

        Args:
            kind: a key of ``report``.
            place: where the fault is.
            fault: the fault, in words.

        Raises:
            PelError: if the reader is strict.
        """
        if self.strict:
            raise PelError(Errors.E121.format(place=place, kind=kind, fault=fault))
        self.report[kind] = self.report.get(kind, 0) + 1
        logger.debug("%s: %s (%s)", place, fault, kind)

    def lines(self, path: Path) -> Iterator[tuple[Place, str]]:
        """Stream the lines of a text file (plain or gzipped), without their ends and without a BOM.

        Args:
            path: the file.

        Yields:
            A place and a line; empty lines too.

        Raises:
            PelError: if the file is missing, a damaged .gz, or (strict) not UTF-8.
        """
        for number, raw in raw_lines(path):
            place = Place(path, number)
            line = self.decode(place, raw)
            line = (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
            if "\r" in line:
                self.repair("carriage_return", place, "a CR within the line")
            yield place, line

    def records(self, path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Stream the objects of JSON lines, or of one array.

        Raises:
            PelError: as ``lines``, and at a line that is not an object.
        """
        return ((Place(path, at), record) for at, record in json_objects(path, self.numbered_lines(path)))

    def numbered_lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """As ``lines``, with numbers in place of places."""
        return ((place.line, line) for place, line in self.lines(path))

    def decode(self, place: Place, raw: bytes) -> str:
        """The text of UTF-8 bytes; other bytes are a repair."""
        try:
            return raw.decode("utf8")
        except UnicodeDecodeError as err:
            text = raw.decode("utf8", errors="spacy_pel.windows-1252")
            if "bad_encoding" not in self.report and not self.strict:
                logger.warning(Warnings.W104.format(place=place, got=shortened(text.strip(), 60)))
            self.repair("bad_encoding", place, f"the line is not UTF-8 ({err.reason})")
            return text

    def _compare_names(self, place: Place, entity: Entity) -> None:
        """Remember what an entity is called; count it if its id had another name before."""
        first = self._first_names.setdefault(entity.concept_id, entity.canonical_name)
        if first.casefold() != entity.canonical_name.casefold():
            now = f"{quoted(entity.canonical_name)} ({place})"
            self._note_case(Warnings.W108, f"{quoted(entity.concept_id)} is {quoted(first)} and {now}")

    def _note_case(self, warning: str, case: str) -> None:
        self._n_cases[warning] += 1
        if self._n_cases[warning] <= _N_NAMED:
            self._cases.setdefault(warning, []).append(case)

    def _settle_redirects(self, live: Container[str]) -> None:
        """Drop the redirects of live ids, and follow chains to their live end."""
        settled: dict[str, str] = {}
        for old, new in ends_of_chains(self.redirects, live).items():
            if old in live:
                continue
            if new in live or self.notes_obsolete:  # the knowledge base may have it
                settled[old] = new
                self.obsolete.pop(old, None)
            if new not in live and self.wanted_types is None and not self.id_prefix:
                self.report["lost_redirect"] = self.report.get("lost_redirect", 0) + 1
        self.redirects = settled
