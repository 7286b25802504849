"""What all KB readers share: filters, counted repairs, and errors that name the file and the line."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections import Counter as CounterType
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ...errors import Errors, PelError, Warnings, closest, quoted, shortened
from ...types import NIL, Entity
from ...util import logger
from ...util.files import guarded, raw_lines
from .fields import FIELDS
from .repair import counts_text, is_clean, repaired
from .umls_types import expand_types

_N_NAMED = 5  # entities that a warning names ...
_N_KEYS_NAMED = 10  # ... and columns or keys
_N_KEYS = 1000  # that are kept for it: a file may have any number of them
_N_VALUES = 10  # of a filter that a message lists
_ID_PREFIX = re.compile(r"\D+|.")


class Place(NamedTuple):
    """Where a record is: a file and a line (0 = the format has no meaningful lines)."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else str(self.path)


class KBReaderBase(ABC):
    """A reader implements ``read``; the base filters, repairs and counts.

    For every entity: the filters first (an entity that is filtered out is not checked), then runs of
    white space become one blank, then the repairs of ``repair.py``. Repairs are counted in ``report``
    by kind, or are errors if ``strict``. Three kinds are counted here only:

    * ``bad_encoding``: bytes that are not UTF-8 become U+FFFD.
    * ``carriage_return``: a CR within a line, which may be two lines in fact, is white space.
    * ``lost_redirect``: a retired id whose successor is in no file. A history of ids may cover more
      than the KB, so this is never an error.

    Args:
        types: keep entities with any of these types; None = all. The
            named set "st21pv" stands for MedMentions' 21 UMLS types and their descendants.
        id_prefix: keep entities whose id starts with this; "" = all.
        strict: turn repairs into errors.
    """

    report: dict[str, int]  # repair -> count, of the last iteration
    redirects: dict[str, str]  # retired id -> live id, complete after the iteration
    # other ids that are no longer used -> ids that may replace them, most often none; complete after the
    # iteration, and only if notes_obsolete: a build has no use for them. Then redirects may lead to any id
    obsolete: dict[str, tuple[str, ...]]
    notes_obsolete = False
    source: dict[str, Any]  # origin, version, licence, files
    about: dict[str, Any] = {"origin": "", "version": "", "licence": ""}  # written by each reader
    _is_warned = False  # of another encoding, in this iteration
    _n_left_out: int  # entities that cannot be kept, in this iteration ...
    _left_out: list[str]  # and the first of them, with their places
    ids_are_unique = False  # True = the format's order rules out duplicates: no set of ids is kept
    one_line_per_id = False  # True = entities of one id with different names may be a mistake: a warning
    _first_names: dict[str, str]  # then, what was read in this iteration: id -> "FILE:LINE:NAME" ...
    _files: list[Path]  # ... and the files
    _n_renamed: int  # entities with a known id and another name ...
    _renamed: list[str]  # and the first of them
    _unread: dict[str, tuple[Place, str]]  # name of a column or a key -> where it is first, what may be meant
    asked: dict[str, dict[str, Collection[str]]]  # filter -> values asked for -> what they stand for
    has: dict[str, CounterType[str]]  # filter -> values that the files have
    unread = ("keys", "")  # what they are, and what else than renaming makes them be read

    def __init__(self, *, types: list[str] | None = None, id_prefix: str = "", strict: bool = False):
        self.types = frozenset(expand_types(types)) if types else None
        self.id_prefix = id_prefix
        self.asked = {
            "id prefix": {id_prefix: {id_prefix}} if id_prefix else {},
            "types": {kind: expand_types([kind]) for kind in types or ()},
        }
        self.strict = strict
        self.report = {}
        self.redirects = {}
        self.obsolete = {}
        self.source = {}
        self.begin([])

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
        self.begin(paths)
        seen: set[str] = set()
        cleaned: dict[str, str] = {}  # id -> as the file has it, where that differs
        n_read = n_kept = 0
        for place, entity in guarded(self.read(paths), type(self).__name__, paths):
            n_read += 1
            kept = self.checked(place, entity)
            if kept is None:
                continue
            given, entity_id = entity.concept_id, kept.concept_id
            known = cleaned.get(entity_id, entity_id)
            if given != known and (self.ids_are_unique or entity_id in seen):
                self.fail(
                    place,
                    expected="ids that differ by more than blanks and control characters",
                    got=f"{given!r} and {known!r}",
                    todo="Make them equal if they mean the same entity.",
                )
            if given != entity_id:
                cleaned[entity_id] = given
            if self.one_line_per_id:
                self._compare_names(place, kept)
            if not self.ids_are_unique and kept.concept_id in seen:
                self.repair("duplicate_id", place, f"the id {kept.concept_id} occurs before")
            else:
                n_kept += 1
            if not self.ids_are_unique:
                seen.add(kept.concept_id)
            yield kept
        if not n_kept and (unmatched := self._unmatched()):
            raise PelError(Errors.E144.format(paths=", ".join(map(str, paths)), filters=unmatched))
        self.warn_of_left_out()
        if not n_kept:
            raise PelError(Errors.E120.format(paths=", ".join(map(str, paths)) or "no files"))
        if not self.ids_are_unique:
            self._settle_redirects(seen)
        what = "entity" if n_read == 1 else "entities"
        logger.info(f"{n_read:,} {what} read, {n_kept:,} kept, repairs: {counts_text(self.report)}")

    def checked(self, place: Place, entity: Entity) -> Entity | None:
        """Filter an entity and repair it, as calling the reader does.

        Args:
            place: where it is.
            entity: as the file has it.

        Returns:
            None = it is not wanted, or cannot be kept.

        Raises:
            PelError: if a field is not text; at any fault if the reader is strict.
        """
        try:
            if not self.wants(entity.concept_id, entity.types):
                return None
            kept = self._repaired(place, entity)
        except (TypeError, AttributeError):  # from a field that is not text
            self.fail(place, expected="an entity whose fields are text", got=quoted(entity.to_json()))
        if kept is None:
            self._n_left_out += 1
            if self._n_left_out <= _N_NAMED:
                named = quoted(entity.concept_id.strip() or entity.canonical_name.strip())
                self._left_out.append(f"{place} ({named})")
        return kept

    def warn_of_left_out(self) -> None:
        """Log which columns or keys are not read, which ids have several names, what was left out, and which
        filters match nothing."""
        if unmatched := self._unmatched():
            logger.warning(Warnings.W144.format(filters=unmatched))
        if self._unread:
            # first those that are misspelt
            named = sorted(self._unread.items(), key=lambda one: not one[1][1])[:_N_KEYS_NAMED]
            first = named[0][1][0]
            names = [_unread_name(name, "" if at == first else str(at), meant) for name, (at, meant) in named]
            listed = _listed(names, len(self._unread), ", ")
            kind, todo = self.unread
            known = self.known_names()
            logger.warning(Warnings.W107.format(place=first, kind=kind, names=listed, known=known, todo=todo))
        if self._n_renamed:
            cases = _listed(self._renamed, self._n_renamed, "; ")
            logger.warning(Warnings.W108.format(n=self._n_renamed, cases=cases))
        if self._n_left_out:
            places = _listed(self._left_out, self._n_left_out, "; ")
            logger.warning(Warnings.W106.format(n=self._n_left_out, places=places))

    def leave_unread(self, place: Place, name: str, meant: str) -> None:
        """Remember a column or a key that no field uses, for the warning at the end.

        Args:
            place: where it is.
            name: what it is called.
            meant: the known name that may be meant; "" = none.
        """
        if len(self._unread) < _N_KEYS:
            self._unread.setdefault(name, (place, meant))

    def known_names(self) -> str:
        """The names of columns or keys that are read."""
        return ", ".join(FIELDS)

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
        if self.types is None:
            return True
        types = list(types)
        self.has["types"].update(types)
        return not self.types.isdisjoint(types)

    def _unmatched(self) -> str:
        """The values of filters that match nothing, and those in the files; "" = all match."""
        faults = []
        for name, asked in self.asked.items():
            has = self.has[name]
            missing = [value for value, wanted in asked.items() if not any(map(has.__contains__, wanted))]
            if missing and has:  # what another filter leaves nothing for is not at fault
                folded = {value.casefold(): value for value in has}
                meant = [folded.get(closest(value.casefold(), folded), "") for value in missing]
                hints = [f" (perhaps {quoted(one)} was meant)" if one else "" for one in meant]
                named = ", ".join(quoted(value) + hint for value, hint in zip(missing, hints, strict=True))
                common = [quoted(value) for value, _ in has.most_common(_N_VALUES)]
                faults.append(f"{name} {named}; the files have {_listed(common, len(has), ', ')}")
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

    def fail(self, place: Place, *, expected: str, got: object, todo: str = "Fix the file.") -> NoReturn:
        """Raises:
        PelError: always, naming the place.
        """
        raise PelError(Errors.E002.format(expected=expected, path=place, got=got, todo=todo))

    def lines(self, path: Path) -> Iterator[tuple[Place, str]]:
        """Stream the lines of a text file (plain or gzipped), without their ends and without a BOM.

        Args:
            path: the file.

        Yields:
            A place and a line; empty lines too.

        Raises:
            PelError: if the file is missing, a damaged .gz, or (strict) not UTF-8.
        """
        for place, raw in self.raw_lines(path):
            line = self.decode(place, raw)
            line = (line.removeprefix("\ufeff") if place.line == 1 else line).rstrip("\r\n")
            if "\r" in line:
                self.repair("carriage_return", place, "a CR within the line")
            yield place, line

    def raw_lines(self, path: Path) -> Iterator[tuple[Place, bytes]]:
        """Stream the lines of a file (plain or gzipped) as they are."""
        for number, raw in raw_lines(path):
            yield Place(path, number), raw

    def decode(self, place: Place, raw: bytes) -> str:
        """The text of UTF-8 bytes; other bytes are a repair."""
        try:
            return raw.decode("utf8")
        except UnicodeDecodeError as err:
            self.repair("bad_encoding", place, f"the line is not UTF-8 ({err.reason})")
            if not self._is_warned:
                self._is_warned = True
                shown = shortened(raw.decode("utf8", errors="replace").strip(), 60)
                logger.warning(Warnings.W104.format(place=place, got=shown))
            return raw.decode("utf8", errors="replace")

    def begin(self, paths: Sequence[Path]) -> None:
        """Forget what the last iteration has reported; calling the reader does so, too.

        Args:
            paths: what is read now.
        """
        # always the same objects, so that they can be passed on before the iteration
        for kept in (self.report, self.redirects, self.obsolete, self.source):
            kept.clear()  # type: ignore[attr-defined]
        self._is_warned = False
        self.has = {name: Counter() for name in self.asked}
        self._n_left_out, self._left_out = 0, []
        self._first_names, self._n_renamed, self._renamed = {}, 0, []
        self._files, self._unread = [], {}
        self.source.update(self.about, files=[path.name for path in paths])

    def _repaired(self, place: Place, entity: Entity) -> Entity | None:
        if _is_tidy(entity):
            return entity

        def count(kind: str, entity_id: str) -> None:
            self.repair(kind, place, f"fault in the entity {entity_id!r}")

        return repaired(_tidied(entity), count)

    def _compare_names(self, place: Place, entity: Entity) -> None:
        """Remember where an entity is and what it is called; count it if its id had another name before."""
        entity_id, name = entity.concept_id, entity.canonical_name
        known = self._first_names.get(entity_id)
        if known is None:
            # one string: millions of them are smaller than millions of tuples
            if self._files[-1:] != [place.path]:
                self._files.append(place.path)
            self._first_names[entity_id] = f"{len(self._files) - 1}:{place.line}:{name}"
            return
        file, line, first = known.split(":", 2)
        if first.casefold() == name.casefold():
            return
        self._n_renamed += 1
        if self._n_renamed <= _N_NAMED:
            before = f"{quoted(first)} ({Place(self._files[int(file)], int(line))})"
            self._renamed.append(f"{quoted(entity_id)} is {before} and {quoted(name)} ({place})")

    def _settle_redirects(self, live: Container[str]) -> None:
        # a live id needs no redirect; chains are followed to their live end
        settled: dict[str, str] = {}
        for old in self.redirects:
            if old in live:
                continue
            new, passed = self.redirects[old], {old}
            while new not in live and new in self.redirects and new not in passed:
                passed.add(new)
                new = self.redirects[new]
            if new in live or self.notes_obsolete:  # the knowledge base may have it
                settled[old] = new
                self.obsolete.pop(old, None)
            if new not in live and self.types is None and not self.id_prefix:
                self.report["lost_redirect"] = self.report.get("lost_redirect", 0) + 1
        self.redirects.clear()
        self.redirects.update(settled)


def _listed(first: Sequence[str], n: int, separator: str) -> str:
    """The first of n, and how many more there are."""
    more = n - len(first)
    return separator.join([*first, f"{more:,} more"] if more else first)


def _unread_name(name: str, place: str, meant: str) -> str:
    said = [place, f"perhaps '{meant}' was meant" if meant else ""]
    remarks = "; ".join(filter(None, said))
    return quoted(name) + (f" ({remarks})" if remarks else "")


def _is_tidy(entity: Entity) -> bool:
    """True = there is nothing to tidy or to repair."""
    name, aliases = entity.canonical_name, entity.aliases
    spaced = "  " in "|".join((name, *aliases, entity.definition or ""))
    return is_clean(entity) and not spaced and name not in aliases and entity.concept_id != NIL


def _tidied(entity: Entity) -> Entity:
    name = _tidy(entity.canonical_name)
    aliases = dict.fromkeys(alias for alias in map(_tidy, entity.aliases) if alias not in ("", name))
    types = dict.fromkeys(filter(None, (kind.strip() for kind in entity.types)))
    definition = _tidy(entity.definition or "") or None
    return Entity(entity.concept_id.strip(), name, tuple(aliases), tuple(types), definition)


def _tidy(name: str) -> str:
    return " ".join(name.split())
