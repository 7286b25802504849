"""The out-of-KB data set of Wiatrak et al. 2022, Appendix D, from any corpus and knowledge base."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.compare import prefix_hint
from spacy_pel.types import Document, Entity
from spacy_pel.util import atomic_path, read_json, write_json, write_jsonl

from ..errors import StudyErrors
from .checks import Lengths, split_counts, surface_overlap, zero_shot
from .choice import Choice
from .mentions import Naming, distinct_rows, namings, rows_of_ids, without_removed

REPORT = "report.json"
FORMAT = "spacy-pel-okb"
Choose = Callable[[KnowledgeBase, list[int]], Choice]


def build_okb(
    kb_path: Path, out: Path, corpora: Mapping[str, Path], choose: Choose, *, show_progress: bool = False
) -> dict[str, Any]:
    """Remove entities from a KB, and make their mentions NIL.

    Writes ``out/kb`` (the KB without them), ``out/NAME.jsonl`` for each corpus (the original ids are in
    each document's meta, under "okb"), ``out/removed.jsonl`` (the entities, which
    ``kb add`` can add again) and ``out/report.json``.

    Args:
        kb_path: the KB folder; it is not changed.
        out: the folder to write; an earlier data set there is replaced.
        corpora: split -> its JSON lines. The split "train", or else the first
            one, decides which entities were seen.
        choose: takes the KB and the rows of the entities that occur, returns those to remove.
        show_progress: show a progress bar.

    Returns:
        The report.

    Raises:
        PelError: if no entity is removed or no mention becomes NIL, or ``out`` holds something else.
    """
    _check_target(out, [kb_path, *corpora.values()])
    kb = KnowledgeBase.from_disk(kb_path)
    documents = {name: list(read_corpus(path)) for name, path in corpora.items()}
    rows = rows_of_ids(kb, (document for split in documents.values() for document in split))
    if not rows:
        given = (m.ids for split in documents.values() for document in split for m in document.mentions)
        example = next((ids[0] for ids in given if ids), "")
        paths = ", ".join(map(str, corpora.values()))
        raise PelError(StudyErrors.E671.format(kb=kb_path, path=paths, hint=prefix_hint(kb, example)))
    choice = choose(kb, sorted(set(rows.values())))
    splits = {name: namings(split, rows, choice.removed) for name, split in documents.items()}
    if not any(naming.is_okb for split in splits.values() for naming in split):
        raise PelError(StudyErrors.E234.format(n=int(choice.removed.sum()), by=choice.by))
    report = _report(kb, choice, documents, splits)
    lengths = {"removed": Lengths(), "removed_in_corpus": Lengths(), "kb": Lengths()}
    named = distinct_rows([naming for split in splits.values() for naming in split])
    removed: list[Entity] = []

    def kept() -> Iterator[Entity]:
        for row, (entity, live) in enumerate(kb.items()):
            if not live:
                continue
            lengths["kb"].add(entity)
            if not choice.removed[row]:
                yield entity
                continue
            removed.append(entity)
            lengths["removed"].add(entity)
            if row in named:
                lengths["removed_in_corpus"].add(entity)

    with atomic_path(out) as part:
        part.mkdir()
        source = {**kb.source, "okb": {"from": kb.fingerprint, "by": choice.by, **choice.settings}}
        redirects = _redirects(kb, choice)
        smaller = KnowledgeBase.build(
            kept(), part / "kb", source=source, redirects=redirects, show_progress=show_progress
        )
        for name, split in documents.items():
            write_corpus(part / f"{name}.jsonl", (without_removed(one, rows, choice.removed) for one in split))
        write_jsonl(part / "removed.jsonl", (entity.to_json() for entity in removed))
        report["entities"] = {"before": len(kb), "removed": len(removed), "left": len(smaller)}
        report["kb_fingerprint"] = smaller.fingerprint
        report["description_lengths"] = {name: counted.summary() for name, counted in lengths.items()}
        write_json(part / REPORT, report)
    return report


def _report(
    kb: KnowledgeBase, choice: Choice, documents: Mapping[str, list[Document]], splits: Mapping[str, list[Naming]]
) -> dict[str, Any]:
    train = "train" if "train" in splits else next(iter(splits))
    counts = split_counts(splits, choice)
    for name, split in documents.items():
        counts[name]["documents"] = len(split)
    return {
        "format": FORMAT,
        "by": choice.by,
        **choice.settings,
        "from_fingerprint": kb.fingerprint,
        "part_entities": {part: int(mask.sum()) for part, mask in choice.parts.items()},
        "splits": counts,
        "seen_in": train,
        "zero_shot": zero_shot(splits, train),
        "surface_overlap": surface_overlap(splits),
    }


def _redirects(kb: KnowledgeBase, choice: Choice) -> dict[str, str]:
    """Redirects to an entity that is kept."""
    redirects = kb.redirects()
    rows = kb.rows(list(redirects))
    kept = (row >= 0 and not choice.removed[row] for row in rows.tolist())
    return {old: new for (old, new), stays in zip(redirects.items(), kept, strict=True) if stays}


def _check_target(out: Path, inputs: list[Path]) -> None:
    if out.exists() and not out.is_dir():
        raise PelError(StudyErrors.E235.format(path=out, got="a file"))
    if any(out.resolve() in path.resolve().parents or out.resolve() == path.resolve() for path in inputs):
        raise PelError(StudyErrors.E235.format(path=out, got="the folder of the input"))
    if not out.is_dir() or not any(out.iterdir()):
        return
    known = (out / REPORT).is_file() and read_json(out / REPORT)
    if not isinstance(known, dict) or known.get("format") != FORMAT:
        raise PelError(StudyErrors.E235.format(path=out, got="a folder with other files"))
