"""What was found for a surface form is kept: most mentions of a stream repeat one."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from weakref import WeakSet

import numpy as np

from ..types import CandidateTable

_caches: "WeakSet[FormCache]" = WeakSet()


class FormCache:
    """Candidate tables of the surface forms that were used last. It may be used from several threads; a forked
    process goes on with a copy.

    Args:
        megabytes: memory at most; a form with 64 candidates takes about 5 kB.
    """

    def __init__(self, megabytes: float):
        self.megabytes = megabytes
        self._empty()
        _caches.add(self)

    def _empty(self) -> None:
        self._slots: OrderedDict[Hashable, int] = OrderedDict()  # least recently used first
        self._table: CandidateTable | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def __call__(self, keys: Sequence[Hashable], find: Callable[[list[int]], CandidateTable]) -> CandidateTable:
        """Look up surface forms, and find those that are new.

        Args:
            keys: (n,), n > 0, all that the candidates of each depend on.
            find: the candidates of those at the given positions, one for each distinct new key.

        Returns:
            (n,)
        """
        first: dict[Hashable, int] = {}
        for position, key in enumerate(keys):
            first.setdefault(key, position)
        parts = []
        with self._lock:
            slots = {key: self._slots[key] for key in first if key in self._slots}
            for key in slots:
                self._slots.move_to_end(key)
            if self._table is not None and len(slots) == len(first):
                return self._table.take(np.array([slots[key] for key in keys]))
            if self._table is not None and slots:
                parts.append(self._table.take(np.array(list(slots.values()))))
        if new := [key for key in first if key not in slots]:
            parts.append(find([first[key] for key in new]))
            with self._lock:
                self._store(new, parts[-1])
        row = {key: number for number, key in enumerate([*slots, *new])}
        return CandidateTable.concatenate(parts).take(np.array([row[key] for key in keys]))

    def _store(self, keys: Sequence[Hashable], table: CandidateTable) -> None:
        if self._table is None or self._table.kb_rows.shape[1] < table.kb_rows.shape[1]:
            self._slots.clear()
            # untouched pages of zeros take no memory
            n_bytes = sum(array.nbytes for array in table.arrays) / len(table)
            self._table = table.zeros(int(self.megabytes * 1e6 / n_bytes))
        rows = range(len(keys))[-len(self._table) :] if len(self._table) else range(0)
        slots = []
        for row in rows:
            slot = self._slots.get(keys[row], len(self._slots))  # another thread may have found it, too
            if slot == len(self._table):
                slot = self._slots.popitem(last=False)[1]
            self._slots[keys[row]] = slot
            slots.append(slot)
        if slots:
            self._table.put(np.array(slots), table.take(np.array(rows)))


def _empty_held() -> None:
    """A thread that a forked process lacks would hold the lock for ever, and may have stored half a form."""
    for cache in list(_caches):
        if cache._lock.locked():
            cache._empty()
        cache._lock = threading.Lock()  # Python says so only once a thread that has waited for it goes on


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_empty_held)
