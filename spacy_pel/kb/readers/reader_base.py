"""What all KB readers share: filters, checks, counted repairs, and places in their errors."""

import zlib
from abc import ABC, abstractmethod
from gzip import BadGzipFile
from pathlib import Path
from typing import (
    Any,
    Collection,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from ...errors import Errors, PelError
from ...types import Entity
from ...util import logger, open_text
from .umls_types import expand_types


class Place(NamedTuple):
    """Where a record stands: a file and a line (0 = the format has no lines to speak of)."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else str(self.path)


class KBReaderBase(ABC):
    """A reader writes ``read``; the base filters, checks and counts.

    In this order, for every entity: the filters (an entity that is not wanted is looked at no
    further), empty ids, empty names, tidy aliases, duplicate ids. Faults that can be mended are
    counted in ``report`` by kind, or are errors if ``strict``:

    * ``empty_id``, ``nameless``: the entity is left out.
    * ``empty_name``: the first alias becomes the name.
    * ``duplicate_id``: the first entity stays, later ones are left out.
    * ``bad_encoding``: bytes that are not UTF-8 become U+FFFD.

    ``lost_redirect`` counts retired ids whose successor no file has; a history of ids may well
    be wider than the KB, so this is never an error.

    types (Optional[Collection[str]]): keep entities with any of these types; None = all. The
        named set "st21pv" stands for MedMentions' 21 UMLS types and their descendants.
    id_prefix (str): keep entities whose id starts so; "" = all.
    strict (bool): turn repairs into errors.
    """

    report: Dict[str, int]  # repair -> count, of the last iteration
    redirects: Dict[str, str]  # retired id -> live id, complete after the iteration
    source: Dict[str, Any]  # origin, version, licence, files
    about: Dict[str, Any] = {"origin": "", "version": "", "licence": ""}  # written by each reader
    ids_are_unique = False  # True = the format's order rules out duplicates: no set of ids is kept

    def __init__(self, *, types: Optional[Collection[str]] = None, id_prefix: str = "", strict: bool = False):
        self.types = frozenset(expand_types(types)) if types else None
        self.id_prefix = id_prefix
        self.strict = strict
        self.report = {}
        self.redirects = {}
        self.source = {}
        self._begin([])

    @abstractmethod
    def read(self, paths: Sequence[Path]) -> Iterator[Tuple[Place, Entity]]:
        """Stream the entities as the files have them; may set ``redirects`` and ``source``."""

    def __call__(self, paths: Sequence[Path]) -> Iterator[Entity]:
        """Stream the wanted entities of the files.

        paths (Sequence[Path]): files (UTF-8, packed or not) or folders, as the format wants.
        YIELDS (Entity): with distinct ids, a name, and aliases without blanks and repetitions.
        RAISES (PelError): if a file is missing or broken, or no entity is left.
        """
        paths = [Path(path) for path in paths]
        self._begin(paths)
        seen: Set[str] = set()
        n_read = n_kept = 0
        for place, entity in self._guarded(paths):
            n_read += 1
            if not self.wants(entity.concept_id, entity.types):
                continue
            mended = self._mend(place, entity)
            if mended is None:
                continue
            if not self.ids_are_unique:
                if mended.concept_id in seen:
                    self.repair("duplicate_id", place, f"the id {mended.concept_id} stood before")
                    continue
                seen.add(mended.concept_id)
            n_kept += 1
            yield mended
        if not n_kept:
            raise PelError(Errors.E120.format(paths=", ".join(map(str, paths)) or "no files"))
        if not self.ids_are_unique:
            self._settle_redirects(seen)
        logger.info("%d entities read, %d kept, repairs: %s", n_read, n_kept, self.report or "none")

    def wants(self, entity_id: str, types: Iterable[str]) -> bool:
        """RETURNS (bool): does an entity of this id and these types pass the filters?"""
        if not entity_id.strip().startswith(self.id_prefix):
            return False
        return self.types is None or not self.types.isdisjoint(types)

    def repair(self, kind: str, place: Place, fault: str) -> None:
        """Count a repair.

        kind (str): a key of ``report``.
        place (Place): where the fault is.
        fault (str): the fault, in words.
        RAISES (PelError): if the reader is strict.
        """
        if self.strict:
            raise PelError(Errors.E121.format(place=place, kind=kind, fault=fault))
        self.report[kind] = self.report.get(kind, 0) + 1
        logger.debug("%s: %s (%s)", place, fault, kind)

    def fail(self, place: Place, *, expected: str, got: object, todo: str = "Fix the file.") -> NoReturn:
        """RAISES (PelError): always, naming the place."""
        raise PelError(Errors.E002.format(expected=expected, path=place, got=got, todo=todo))

    def lines(self, path: Path) -> Iterator[Tuple[Place, str]]:
        """Stream the lines of a text file (or .gz), without their ends and without a BOM.

        path (Path): the file.
        YIELDS (Tuple[Place, str]): a place and a line; empty lines too.
        RAISES (PelError): if the file is missing, a damaged .gz, or (strict) not UTF-8.
        """
        for place, raw in self.raw_lines(path):
            line = self.decode(place, raw)
            yield place, (line.removeprefix("\ufeff") if place.line == 1 else line).rstrip("\r\n")

    def raw_lines(self, path: Path) -> Iterator[Tuple[Place, bytes]]:
        """Stream the lines of a file (or .gz) as they are."""
        number = 0
        with open_text(path) as file:
            try:
                for number, raw in enumerate(file.buffer, start=1):  # type: ignore[attr-defined]
                    yield Place(path, number), raw
            except (EOFError, OSError, zlib.error) as err:
                self.fail(
                    Place(path, number + 1),
                    expected="a readable file",
                    got=f"a fault: {err}",
                    todo="Download the file again.",
                )

    def decode(self, place: Place, raw: bytes) -> str:
        """RETURNS (str): the text of UTF-8 bytes; other bytes are a repair."""
        try:
            return raw.decode("utf8")
        except UnicodeDecodeError as err:
            self.repair("bad_encoding", place, f"the line is not UTF-8 ({err.reason})")
            return raw.decode("utf8", errors="replace")

    def _begin(self, paths: Sequence[Path]) -> None:
        # the same objects throughout, so that they can be handed on before the iteration
        for kept in (self.report, self.redirects, self.source):
            kept.clear()  # type: ignore[attr-defined]
        self.source.update(self.about, files=[path.name for path in paths])

    def _guarded(self, paths: Sequence[Path]) -> Iterator[Tuple[Place, Entity]]:
        # a parser that opens files itself knows no lines and lets these through
        try:
            yield from self.read(paths)
        except (UnicodeDecodeError, EOFError, BadGzipFile, zlib.error) as err:
            raise PelError(
                Errors.E002.format(
                    expected="readable UTF-8",
                    path=", ".join(map(str, paths)),
                    got=f"a fault: {err}",
                    todo="Fix the file, or download it again.",
                )
            ) from err

    def _mend(self, place: Place, entity: Entity) -> Optional[Entity]:
        entity_id = entity.concept_id.strip()
        if not entity_id:
            self.repair("empty_id", place, "the id is empty")
            return None
        name = _tidy(entity.canonical_name)
        aliases = list(dict.fromkeys(filter(None, map(_tidy, entity.aliases))))
        if not name:
            if not aliases:
                self.repair("nameless", place, f"{entity_id} has neither a name nor an alias")
                return None
            self.repair("empty_name", place, f"{entity_id} has an empty name")
            name = aliases[0]
        types: List[str] = list(dict.fromkeys(filter(None, (kind.strip() for kind in entity.types))))
        return Entity(
            concept_id=entity_id,
            canonical_name=name,
            aliases=tuple(alias for alias in aliases if alias != name),
            types=tuple(types),
            definition=_tidy(entity.definition or "") or None,
        )

    def _settle_redirects(self, live: Collection[str]) -> None:
        # an id that is live needs no redirect; chains are followed to their live end
        settled: Dict[str, str] = {}
        for old in self.redirects:
            if old in live:
                continue
            new, passed = self.redirects[old], {old}
            while new not in live and new in self.redirects and new not in passed:
                passed.add(new)
                new = self.redirects[new]
            if new in live:
                settled[old] = new
            elif self.types is None and not self.id_prefix:
                self.report["lost_redirect"] = self.report.get("lost_redirect", 0) + 1
        self.redirects.clear()
        self.redirects.update(settled)


def _tidy(name: str) -> str:
    return " ".join(name.split())
