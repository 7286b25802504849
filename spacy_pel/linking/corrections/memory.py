"""The memory of a linker: a log of corrections that only grows, and a vector of each."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from ...errors import Errors, PelError, Warnings, quoted, shortened
from ...index.annotated_text import AliasPriors
from ...kb import KnowledgeBase
from ...types import NIL, Masks, Vectors
from ...util import logger, read_json, read_jsonl, write_json, write_jsonl
from ...util.console import now
from ...util.saved_folder import check_folder, reading, write_folder
from ..query import Queries
from .learned import Correction, Learned
from .matching import LearnedMentions

KIND, VERSION = "memory", 1
_LOG, _VECTORS, _META = "log.jsonl", "vectors.npy", "meta.json"
_LARGEST = 1e6  # number in a vector


def check_by(by: Any) -> None:
    """Raises:
    PelError: if this is not a line of text that can be saved.
    """
    if not isinstance(by, str) or not by.isprintable():  # nor are lone surrogates
        got = shortened(repr(by))
        raise PelError(Errors.E011.format(expected="by: the name of who corrects, as text in one line", got=got))


class Memory:
    """Learned mentions. Nothing is ever removed from the log: undoing one adds a line.

    Args:
        encoder_fingerprint: of the encoder that computed the vectors; "" = there are none.

    Attributes:
        log: all lines, in order; "action" is "learn" or "undo".
    """

    def __init__(self, encoder_fingerprint: str = ""):
        self.encoder_fingerprint = encoder_fingerprint
        self.log: list[dict[str, Any]] = []
        self._learned: dict[int, Learned] = {}
        self._vectors: dict[int, Vectors] = {}  # (width,) each
        self._undone: set[int] = set()  # ids
        self._mentions: tuple[Any, Any, LearnedMentions] | None = None  # links ask for them for each batch

    def __len__(self) -> int:
        """Learned mentions in effect."""
        return len(self.learned)

    def __bool__(self) -> bool:
        return bool(self.log)

    @property
    def next_id(self) -> int:
        """Of the next line."""
        return len(self.log) + 1

    @property
    def learned(self) -> list[Learned]:
        """What is in effect: neither undone, nor replaced by a later correction of
        the same mention in the same text."""
        last = {entry.key: entry for entry in self._learned.values() if entry.id not in self._undone}
        return sorted(last.values(), key=lambda entry: entry.id)

    def add(self, entries: Sequence[Learned], vectors: Vectors | None) -> None:
        """Add entries with consecutive ids from ``next_id``.

        Args:
            vectors: (n, width), of rows of the index; None without an encoder.
        """
        for number, entry in enumerate(entries):
            self._append({"action": "learn", **asdict(entry)})
            if vectors is not None:
                self._vectors[entry.id] = np.array(vectors[number], dtype=np.float32)

    def undo(self, ids: Iterable[int], *, by: str = "") -> list[Learned]:
        """Undo entries.

        Args:
            ids: of entries that are not undone yet.
            by: who undoes them.

        Returns:
            These entries.

        Raises:
            PelError: if there is no such entry, or it is undone; nothing is changed then.
        """
        wanted = list(dict.fromkeys(ids))
        check_by(by)
        for entry_id in wanted:
            if entry_id not in self._learned or entry_id in self._undone:
                got = f"{entry_id}, which is undone" if entry_id in self._undone else shortened(repr(entry_id))
                known = [str(other) for other in self._learned if other not in self._undone]
                raise PelError(Errors.E534.format(got=got, known=", ".join(known[-20:]) or "none"))
        for entry_id in wanted:
            self._append({"action": "undo", "id": self.next_id, "at": now(), "by": by, "undoes": int(entry_id)})
        return [self._learned[entry_id] for entry_id in wanted]

    def _append(self, line: dict[str, Any]) -> None:
        if line["id"] != self.next_id:
            raise ValueError(f"the line {self.next_id} has the id {line['id']!r}")
        if line["action"] == "learn":
            self._learned[line["id"]] = Learned(**{name: value for name, value in line.items() if name != "action"})
        elif line["action"] == "undo" and line["undoes"] in self._learned:
            self._undone.add(line["undoes"])
        else:
            raise ValueError(f"the line {self.next_id} undoes {line.get('undoes')!r}")
        self.log.append(line)
        self._mentions = None

    def learned_mentions(self, kb: KnowledgeBase, priors: AliasPriors | None = None) -> LearnedMentions:
        """What is in effect, over the rows of this knowledge base; computed once, until
        either changes. For the counts of annotated text see ``LearnedMentions``."""
        memo = kb.memo  # another object after each change
        if self._mentions is None or self._mentions[0] is not memo or self._mentions[1] is not priors:
            pairs = [(entry, self._vectors.get(entry.id)) for entry in self.learned]
            self._mentions = (memo, priors, LearnedMentions.of(kb, pairs, priors))
        return self._mentions[2]

    # -- disk, processes ---------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_mentions": None}

    def to_disk(self, path: Path) -> None:
        """Write a folder: the log as JSON lines, the vectors, the fingerprint of the encoder."""
        with write_folder(Path(path), kind=KIND, version=VERSION) as part:
            write_jsonl(part / _LOG, self.log)
            if self._vectors:
                none = np.full_like(next(iter(self._vectors.values())), np.nan)
                np.save(part / _VECTORS, np.stack([self._vectors.get(entry_id, none) for entry_id in self._learned]))
            write_json(part / _META, {"encoder_fingerprint": self.encoder_fingerprint})

    @classmethod
    def from_disk(cls, path: Path) -> "Memory":
        """As saved.

        Raises:
            PelError: if the folder is missing or damaged.
        """
        path = Path(path)
        check_folder(path, kind=KIND, version=VERSION)
        with reading(path, KIND, "a log and a vector of each entry"):
            memory = cls(str(read_json(path / _META)["encoder_fingerprint"]))
            for line in read_jsonl(path / _LOG):
                memory._append(line)
            if (path / _VECTORS).is_file():
                # mapped: the shape in the header is compared with the size of the file
                vectors = np.array(open_memmap(path / _VECTORS, mode="r"))
                if vectors.ndim != 2 or vectors.dtype != np.float32 or (np.abs(vectors) > _LARGEST).any():
                    raise ValueError(f"{_VECTORS} has the shape {vectors.shape}, or too large numbers")
                pairs = zip(memory._learned, vectors, strict=True)
                memory._vectors = {entry_id: vector for entry_id, vector in pairs if np.isfinite(vector).all()}
        return memory

    def check_made_with(self, encoder: Any) -> None:
        """Without vectors on either side, the forms of the mentions decide alone.

        Args:
            encoder: reads the mentions.

        Raises:
            PelError: if the vectors are those of another encoder.
        """
        if encoder is None or not self._vectors:
            return
        ours, widths = encoder.fingerprint, {len(vector) for vector in self._vectors.values()}
        if self.encoder_fingerprint != ours or widths != {encoder.width}:
            raise PelError(Errors.E535.format(theirs=self.encoder_fingerprint, ours=ours))


def make_entries(
    kb: KnowledgeBase,
    memory: Memory,
    queries: Queries,
    corrections: Sequence[Correction],
    masks: Masks,
    before: Sequence[str],
    *,
    by: str,
) -> tuple[list[Learned], list[int]]:
    """Entries of what is new, and which corrections these are.

    Args:
        kb: the entities.
        memory: what is learned already.
        queries: the mentions, as the linker reads them.
        corrections: of the same mentions.
        masks: for each mention the rows of the KB that its label allows; None = all.
        before: the linker's answers.
        by: who corrected them.

    Raises:
        PelError: if an answer cannot be learned, or all of them may be the linker's own.
    """
    known = {entry.key: _said(entry) for entry in memory.learned}
    entries: list[Learned] = []
    new: list[int] = []
    n_own = 0
    for number, (query, correction, was) in enumerate(zip(queries, corrections, before, strict=True)):
        answer = _checked_id(kb, correction)
        mask = None if masks is None else masks[number]
        if mask is not None and answer != NIL and not mask[kb.row(answer)]:
            raise PelError(Errors.E533.format(label=query.label, id=answer, text=_described(correction)))
        entry = Learned.of(correction, query, id=memory.next_id + len(entries), by=by, before=was, after=answer)
        if known.get(entry.key) == _said(entry):
            continue
        if not correction.explicit and entry.before == entry.after:
            n_own += 1
        else:
            known[entry.key] = _said(entry)
            entries.append(entry)
            new.append(number)
    if n_own and n_own == len(corrections):
        raise PelError(Errors.E532)
    if n_own:
        logger.warning(Warnings.W550.format(n=n_own, of=len(corrections)))
    return entries, new


def _said(entry: Learned) -> tuple[str, str, bool]:
    return entry.after, entry.form, entry.always


def _checked_id(kb: KnowledgeBase, correction: Correction) -> str:
    """The answer; the successor of an id that has one."""
    answer = correction.kb_id
    if answer == NIL:
        return NIL
    live = kb.resolve(answer) if isinstance(answer, str) else None
    if live is None:
        is_retired = isinstance(answer, str) and kb.is_retired(answer)
        why = "is retired without a successor" if is_retired else "the knowledge base lacks"
        raise PelError(Errors.E530.format(text=_described(correction), id=quoted(answer), why=why))
    return live


def _described(correction: Correction) -> str:
    return quoted(correction.surface) + (f" ({correction.where})" if correction.where else "")
