"""An inventory of abbreviations: what short forms stand for, and how often, in texts and in a knowledge base; and
the entities that its long forms name."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import quoted
from ..index.annotated_text import AliasPriors
from ..util import hash_strings, progress, read_lines
from ..util.arrays import best_first
from ..util.files import PathLike, Place, first_bytes, unexpected
from ..util.parsing import read_rows
from ..util.writing import write_text
from .definitions import normal_form

if TYPE_CHECKING:  # "corpus abbreviations" links nothing
    from ..linking import Linker

COLUMNS = ("short_form", "long_form", "uses", "documents")
_LONGEST_HEADER = 1_000  # bytes
_ENTITIES = 3  # of a long form at most
_MIN_SHARE = 0.05  # of its uses
_UNIT = 1000  # counts of a use
_MOST = 1 << 27  # counts of an entry: sums must fit 32 bits

Shares = list[tuple[int, float]]  # rows of the knowledge base, -1 = no entity


class Abbreviation(NamedTuple):
    """A short form and one of its long forms.

    Attributes:
        short_form, long_form: as written; of a long form the most frequent spelling.
        uses: how often the short form stands for it; for the names of an entity 1.
        documents: in how many texts or entities.
    """

    short_form: str
    long_form: str
    uses: int
    documents: int


def write_inventory(path: PathLike, abbreviations: Iterable[Abbreviation]) -> None:
    """Write a table that a person can edit: tab-separated, with a header."""
    with write_text(path) as file:
        file.writelines("\t".join(map(str, entry)) + "\n" for entry in (COLUMNS, *abbreviations))


def is_inventory(path: Path) -> bool:
    """Whether a file begins like an inventory."""
    if not path.is_file():  # a folder, or nothing: for the readers of entities
        return False
    header = first_bytes(path, _LONGEST_HEADER).decode("utf-8-sig", errors="replace").partition("\n")[0]
    return set(COLUMNS[:2]) <= set(map(str.strip, header.split("\t")))


def read_inventory(path: Path) -> list[Abbreviation]:
    """Read what ``write_inventory`` wrote, perhaps edited. Empty lines are ignored; without the column "documents",
    there is one.

    Raises:
        PelError: if a line is no entry; names the line.
    """
    rows = read_rows(path, read_lines(path), {"abbreviations": COLUMNS[:3]})
    return [_entry(cells, place) for _, place, cells in rows]


def _entry(cells: dict[str, str], place: Place) -> Abbreviation:
    short, long_form, uses, documents = (cells.get(column, "").strip() for column in COLUMNS)
    if not short or not long_form:
        expected = "a short form, a long form and its uses, between tabs"
        raise unexpected(place, expected, quoted("\t".join(cells.values())))
    counts = [uses, documents or "1"]
    for text in counts:
        if not (text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
            raise unexpected(place, "a whole number above 0 as a count", quoted(text))
    return Abbreviation(short, long_form, *map(int, counts))


def link_long_forms(
    linker: "Linker", uses: Iterable[tuple[str, str, int]], *, show_progress: bool = False
) -> AliasPriors:
    """Link each long form by itself, and divide its uses among its candidates and NIL.

    Args:
        linker: with the knowledge base that the counts are for.
        uses: short form, long form, and how often it stands for it.
        show_progress: show a progress bar.

    Returns:
        Counts of uses by short form and entity, see ``abbreviation_counts``.
    """
    linker, listed = linker.without_memory(), list(uses)
    forms = list(dict.fromkeys(long_form for _, long_form, _ in listed))
    starts = range(0, len(forms), linker.batch_size)
    shares: dict[str, Shares] = {}
    for start in progress(starts, description="Linking long forms", show=show_progress):
        batch = forms[start : start + linker.batch_size]
        shares.update(zip(batch, _link(linker, batch), strict=True))
    return abbreviation_counts(
        (short, row, share * n) for short, long_form, n in listed for row, share in shares[long_form]
    )


def _link(linker: "Linker", forms: list[str]) -> list[Shares]:
    """P(entity | form) of the best candidates of each form, and the rest for NIL."""
    from ..linking.query import MentionQuery

    ranked = linker.rank([MentionQuery(form, 0, len(form)) for form in forms], linker.top_k)
    shares = linker.decider.shares(ranked.table, ranked.scores)
    if linker.decider.decides_without_threshold:
        shares *= 1.0 - np.clip(ranked.nil_scores, 0.0, 1.0)[:, None]
    shares[shares < _MIN_SHARE] = 0.0
    best = best_first(shares)[:, :_ENTITIES]
    rows = np.take_along_axis(ranked.table.kb_rows, best, axis=1)
    shares = np.take_along_axis(shares, best, axis=1)
    rest = np.maximum(1.0 - shares.sum(axis=1), 0.0)
    return [
        [(-1, nil), *zip(its_rows, its_shares, strict=True)]
        for nil, its_rows, its_shares in zip(rest.tolist(), rows.tolist(), shares.tolist(), strict=True)
    ]


def abbreviation_counts(entries: Iterable[tuple[str, int, float]]) -> AliasPriors:
    """Count the uses of short forms that an inventory lists.

    Args:
        entries: short form as written, row of the knowledge base (-1 = no entity), and uses.

    Returns:
        Counts whose surface forms are normal forms and whose unit is a thousandth of a use; row -1 has the uses of
        long forms that name no entity. What does not look like a short form is left out.
    """
    counted = ((normal_form(short), row, min(round(_UNIT * uses), _MOST)) for short, row, uses in entries)
    usable = [(form, row, count) for form, row, count in counted if form and count]
    forms, rows, counts = zip(*usable, strict=True) if usable else ((), (), ())
    hashes = hash_strings(list(forms))
    return AliasPriors.summed(hashes, np.array(rows, dtype=np.int32), np.array(counts, dtype=np.int32))
