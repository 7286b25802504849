"""The error browser of a report: errors in their context, with names."""

from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

from ...corpora import read_corpus
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ..prediction import Prediction
from .error_cases import ErrorCase
from .report_html import ShownEntity, ShownError

_CONTEXT = 160  # characters on each side
Texts = Dict[str, List[str]]  # document id -> its texts; corpora may share an id


def texts_of(paths: Iterable[Path], cases: Iterable[ErrorCase]) -> Texts:
    """RETURNS (Texts): the texts of the documents that the errors are in.

    paths (Iterable[Path]): corpora.
    cases (Iterable[ErrorCase]): errors.
    """
    wanted = {case.prediction.doc for case in cases}
    texts: Texts = {}
    for path in paths:
        for document in read_corpus(path):
            if document.id in wanted:
                texts.setdefault(document.id, []).append(document.text)
    return texts


def shown_error(
    run: str, case: ErrorCase, *, texts: Optional[Texts], kb: Optional[KnowledgeBase]
) -> ShownError:
    """An error as the page shows it.

    run (str): the run's name.
    case (ErrorCase): the error.
    texts (Optional[Texts]): where the mention's context is; None = show the mention alone.
    kb (Optional[KnowledgeBase]): knows the names; None = show ids alone.
    RAISES (PelError): if the texts are not those that were evaluated.
    """
    one = case.prediction
    before, after = ("", "") if texts is None else _context(run, one, texts)
    return ShownError(
        run=run,
        kind=case.kind,
        types=list(dict.fromkeys([one.label, *one.types])),
        before=before,
        mention=one.text,
        after=after,
        place=f"{one.doc}, {one.start}–{one.end}",
        said=one.kb_id,
        why=case.why,
        entities=_entities(case, kb),
    )


def _context(run: str, one: Prediction, texts: Texts) -> Tuple[str, str]:
    if one.doc not in texts:
        raise PelError(Errors.E685.format(run=run, came=f"the document '{one.doc}' is not there"))
    for text in texts[one.doc]:
        if text[one.start : one.end] == one.text:
            before, after = text[: one.start], text[one.end :]
            return _cut(before[::-1])[::-1], _cut(after)
    found = texts[one.doc][0][one.start : one.end]
    raise PelError(
        Errors.E685.format(run=run, came=f"at {one.start} of '{one.doc}' stands {found!r}, not {one.text!r}")
    )


def _cut(text: str) -> str:
    """The first characters, up to the last space among them."""
    if len(text) <= _CONTEXT:
        return text
    kept = text[:_CONTEXT]
    return (kept[: kept.rfind(" ")] if " " in kept else kept) + " …"


def _entities(case: ErrorCase, kb: Optional[KnowledgeBase]) -> List[ShownEntity]:
    one = case.prediction

    def shown(entity_id: str, place: str, score: Optional[float], *, is_gold: bool) -> ShownEntity:
        return ShownEntity(entity_id, _name(kb, entity_id), place, score, is_gold, entity_id == one.kb_id)

    outside = [shown(found, "not in KB", None, is_gold=True) for found in one.outside]
    missed = [
        shown(found, "not found", None, is_gold=True) for found in one.gold if found not in case.gold_found
    ]
    candidates = [
        shown(found, str(rank), score, is_gold=found in one.gold)
        for rank, (found, score) in enumerate(one.candidates, start=1)
    ]
    further_down = [
        shown(found, str(rank), score, is_gold=True)
        for found, (rank, score) in case.gold_found.items()
        if rank > len(one.candidates)
    ]
    return [*outside, *missed, *candidates, *further_down]


def _name(kb: Optional[KnowledgeBase], entity_id: str) -> str:
    live = kb.resolve(entity_id) if kb is not None else None
    return kb[live].canonical_name if kb is not None and live is not None else ""
