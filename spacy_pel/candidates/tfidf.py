"""Sparse candidates: names that share letters or words with the surface."""

from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..evidence.name_features import candidate_table
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateTable, MentionInText, RankedRows, Rows
from ..util import fingerprint, logger, normalize_alias
from ..util.ragged import offsets_of, owners, places_in_pieces
from .built import check_built
from .distinct_entities import Mask, find_entities
from .names import NameTable
from .saved import read_arrays, read_folder, reading, write_arrays, write_folder
from .sparse_rows import FoundRows
from .vectorized_names import VectorizedNames, char_vectorizer, word_vectorizer

_NAMES = "names.npz"


@registry.pel_candidates("spacy-pel.TfIdf.v1")
class TfIdf:
    """Names by the cosine of their tf-idf vectors with the surface's (Le & Nguyen 2023, section "Candidate
    retrieval"): one list by character n-grams, one by words without stop words.

    The two lists are merged name by name: a name that stands in both comes once, with the better of its two
    cosines, and the names are ordered by that; equal ones in the order of the knowledge base. The best k of
    the merged list are exactly the k best by the better cosine. Names are compared in normal form (see
    ``util.normalize_alias``). The merged list is walked until there are k distinct entities.

    Entities that are added later are weighed by the document frequencies of the first build.

    char_ngrams (Optional[Sequence[int]]): shortest and longest run of characters; None = none.
    word_ngrams (Optional[Sequence[int]]): shortest and longest run of words; None = none.
    """

    registered_name = "spacy-pel.TfIdf.v1"
    needs_encoder = False

    def __init__(
        self,
        *,
        char_ngrams: Optional[Sequence[int]] = (2, 5),
        word_ngrams: Optional[Sequence[int]] = (1, 1),
    ):
        self._set(char_ngrams, word_ngrams)
        self._table: Optional[NameTable] = None
        self._kinds: Dict[str, VectorizedNames] = {}
        self._kb_fingerprint = ""

    def _set(self, char_ngrams: Any, word_ngrams: Any) -> None:
        self.char_ngrams = _checked("char_ngrams", char_ngrams)
        self.word_ngrams = _checked("word_ngrams", word_ngrams)
        if self.char_ngrams is None and self.word_ngrams is None:
            raise PelError(
                Errors.E447.format(
                    expected="characters or words",
                    setting="char_ngrams",
                    generator=self.registered_name,
                    got="null for both",
                )
            )

    @property
    def settings(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): those it was made with, as JSON."""
        ranges = {"char_ngrams": self.char_ngrams, "word_ngrams": self.word_ngrams}
        return {name: None if one is None else list(one) for name, one in ranges.items()}

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): changes with the settings and the knowledge base."""
        return fingerprint(self.registered_name, self.settings, self._kb_fingerprint)

    def bind(self, encoder: Any, index: Any) -> None:
        """Nothing to bind: letters are compared, not vectors."""

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Count n-grams in the names of a knowledge base.

        RAISES (PelError): if it has no names.
        """
        table, names = NameTable.build(kb, kb.live_rows, normalize_alias, show_progress=show_progress)
        if not names:
            raise PelError(Errors.E446.format(got="none"))
        if show_progress:  # scikit-learn says nothing meanwhile
            logger.info("Weighing the n-grams of %s names", f"{len(names):,}")
        self._kinds = {kind: VectorizedNames.fit(made, names) for kind, made in self._vectorizers().items()}
        self._table, self._kb_fingerprint = table, kb.fingerprint

    def generate(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Optional[Sequence[Mask]] = None,
        top_k: int = 64,
    ) -> CandidateTable:
        """RETURNS (CandidateTable): entities by their most similar name; "name" is its cosine."""
        table = check_built(self, self._table, kb)

        def search(texts: Sequence[str], k: int, mask: Mask) -> Tuple[RankedRows, NDArray[np.bool_]]:
            usable = table.usable(mask)
            lists = [kind.search(texts, k, usable) for kind in self._kinds.values()]
            found = merge_best(lists, k, len(table))
            more = np.any([np.diff(one.offsets) >= k for one in lists], axis=0)
            return table.entities(found.rows, found.scores, found.offsets, mask), more

        ranked = find_entities(search, kb, mentions, fold=normalize_alias, allowed=allowed, top_k=top_k)
        return candidate_table(kb, ranked, mentions)

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Follow a change of the knowledge base; document frequencies stay as they were.

        kb_rows (NDArray[int64]): rows that were added, updated or retired.
        """
        table = check_built(self, self._table, kb)
        names = table.change(kb, kb_rows, normalize_alias)
        for kind in self._kinds.values():
            kind.add(names)
        self._kb_fingerprint = kb.fingerprint

    def to_disk(self, path: Path) -> None:
        """Write the n-grams, their weights and the vectors of the names to a folder."""
        table = check_built(self, self._table)

        def fill(part: Path) -> None:
            write_arrays(part / _NAMES, table.columns())
            for name, kind in self._kinds.items():
                kind.to_disk(part, name)

        write_folder(self, Path(path), fill, kb_fingerprint=self._kb_fingerprint)

    def from_disk(self, path: Path) -> "TfIdf":
        """Read a folder. The saved settings replace the present ones.

        RAISES (PelError): if it is missing, damaged, or another generator's.
        """
        path = Path(path)
        meta = read_folder(path, self.registered_name)
        with reading(path):
            self._set(meta["settings"]["char_ngrams"], meta["settings"]["word_ngrams"])
            table = NameTable.of(read_arrays(path / _NAMES))
            kinds = {
                name: VectorizedNames.from_disk(path, name, vectorizer)
                for name, vectorizer in self._vectorizers().items()
            }
            if any(len(kind) != len(table) for kind in kinds.values()):
                raise ValueError("vectors and names of different numbers")
        self._table, self._kinds, self._kb_fingerprint = table, kinds, meta["kb_fingerprint"]
        return self

    def _vectorizers(self) -> Dict[str, Any]:
        made = {}
        if self.char_ngrams is not None:
            made["char"] = char_vectorizer(self.char_ngrams)
        if self.word_ngrams is not None:
            made["word"] = word_vectorizer(self.word_ngrams)
        return made


def merge_best(lists: Sequence[FoundRows], k: int, n_rows: int) -> FoundRows:
    """Merge lists of the same queries: each row once with its best score; equal scores by row.

    lists (Sequence[FoundRows]): the best k rows each.
    k (int): rows to keep for each query.
    n_rows (int): rows in all.
    RETURNS (FoundRows): best first.
    """
    keys = np.concatenate([owners(one.offsets) * n_rows + one.rows for one in lists])
    pairs, places = np.unique(keys, return_inverse=True)
    best = np.full(len(pairs), -np.inf, dtype=np.float32)
    np.maximum.at(best, places, np.concatenate([one.scores for one in lists]))
    queries, rows = np.divmod(pairs, n_rows)
    counts = np.bincount(queries, minlength=len(lists[0].offsets) - 1)
    order = np.lexsort((rows, -best, queries))
    order = order[places_in_pieces(offsets_of(counts)) < k]
    return FoundRows(rows[order], best[order], offsets_of(np.minimum(counts, k)))


def _checked(setting: str, given: Optional[Sequence[int]]) -> Optional[Tuple[int, int]]:
    if given is None:
        return None
    values: List[int] = list(given)
    if len(values) != 2 or not 1 <= values[0] <= values[1]:
        raise PelError(
            Errors.E447.format(
                expected="a shortest and a longest length, 1 or more",
                setting=setting,
                generator=TfIdf.registered_name,
                got=values,
            )
        )
    return (values[0], values[1])
