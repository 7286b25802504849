"""Entities from RxNorm: its RRF tables, which have the columns of the UMLS."""

from collections.abc import Callable, Iterable

from ...registry import registry
from .rrf import RrfTables
from .umls_kb import UmlsKB

# of RxNorm's own names, in the order of the UMLS
_TERM_TYPES = "SCD SBD SCDG SCDGP SBDG BPCK GPCK IN PSN MIN SCDF SCDFP SBDF SBDFP SCDC DFG DF SBDC BN PIN TMSY SY ET"
# what a broader concept is to the first one of a row: an ingredient to a brand, a part to a combination or a pack
_BROADER = frozenset("has_tradename inverse_isa has_form ingredient_of part_of contained_in".split())


@registry.pel_kb_readers("spacy-pel.RxNormKB.v1")
class RxNormKB(UmlsKB):
    """Reads RXNCONSO, and RXNSTY, RXNATOMARCHIVE, RXNCUI and (if asked for) RXNREL if they are there: the folder
    rrf of a release.

    The settings are those of UmlsKB.

    * Ids: RXCUIs. Some have names of other vocabularies only; ``sources=["RXNORM"]`` leaves them out.
    * Names: RxNorm's own first, by term type, then those of other vocabularies as in the file.
    * Parents: by isa, tradename_of, form_of, has_ingredient, has_part and contains.
    * Redirects: RXCUIs that were merged into one that is kept: by RXNCUI, unless one became several, else by
      the atoms of RXNATOMARCHIVE, RxNorm's own first.
    """

    origin = "RxNorm, U.S. National Library of Medicine"
    licence = "RxNorm's own names are free to use; those of other vocabularies need the UMLS licence"
    ids_are_unique = False  # the tables are not sorted as text
    prefix = "RXN"
    release = r"(?<!\d)[01]\d[0-3]\d20\d\d(?!\d)"

    def _ranks(self, tables: RrfTables) -> dict[tuple[str, str], int]:
        return {("RXNORM", kind): rank for rank, kind in enumerate(reversed(_TERM_TYPES.split()))}

    def _parents(self, tables: RrfTables) -> Callable[[str], Iterable[str]]:
        parents: dict[str, dict[str, None]] = {}
        for row in tables.rows("RXNREL"):
            cui, other, label, source = row[0], row[4], row[7], row[10]
            if label in _BROADER and cui and other not in ("", cui) and self._of_source(source):
                parents.setdefault(cui, {})[other] = None
        return lambda cui: parents.get(cui, ())

    def _read_history(self, tables: RrfTables, live: object) -> None:
        archived = [(row[13] == "RXNORM", row[12], row[15]) for row in tables.rows("RXNATOMARCHIVE")]
        # the surest last
        self.redirects.update((old, new) for _, old, new in sorted(archived) if new and new != old)
        for old, _, _, cardinality, new, *_ in tables.rows("RXNCUI"):
            if cardinality == "1" and new and new != old:
                self.redirects[old] = new
            elif new != old:
                self.note_obsolete(old, *filter(None, [new]))
