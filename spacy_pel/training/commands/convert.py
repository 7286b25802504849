"""The command ``convert``: corpora of many formats to the corpus format, or to spaCy's."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from ...cli._app import command_group
from ...cli._options import Files, Texts, argument, flag, option
from ...cli._output import emit
from ...cli._settings import make_reader, parse_settings, split_names
from ...errors import Errors, PelError, Warnings, did_you_mean
from ...pipeline.saved import load_spacy
from ...types import DOC_ID, Document
from ...util import atomic_path, logger
from ...util.config import known_language
from ...util.console import percent

_WARNING_SHARE, _ERROR_SHARE = 0.05, 0.5  # of dropped mentions


convert_cli = command_group("convert", "Convert corpora.", panel="Corpora")


@convert_cli.command("convert", rich_help_panel="Corpora")
def convert(
    out: Annotated[Path, argument("OUT", "The file to write: .jsonl, .jsonl.gz, or .spacy.")],
    files: Annotated[list[Path], argument("FILE", "The corpus: files or folders, depending on the reader.")],
    reader: Annotated[
        str,
        option(
            "NAME",
            "pubtator, bioc, brat, conll, docbin, jsonl (doccano, Prodigy), st21pv, craft, gsc, zeshel, or registered.",
        ),
    ],
    split: Annotated[Files, option("FILE", "Keep documents in this list of ids or corpus (repeatable).")] = None,
    without: Annotated[Files, option("FILE", "Leave out documents in this list or corpus (repeatable).")] = None,
    ids_by: Annotated[
        Path | None, option("KB", "Replace other ids by those of this KB or pipeline, through its cross references.")
    ] = None,
    vocabulary: Annotated[str, option("NAME", "The vocabulary of ids without a prefix, for --ids-by, e.g. MESH.")] = "",
    keep_unlinked: Annotated[bool, flag("--keep-unlinked", "Keep mentions for which --ids-by finds no id.")] = False,
    labels_by: Annotated[
        Path | None, option("KB", "Label mentions by semantic type, as the corpus has it or else this KB or pipeline.")
    ] = None,
    settings: Annotated[Texts, option("NAME=VALUE", "Of the reader or STEP.NAME (repeatable).", "--set")] = None,
    preprocess: Annotated[str | None, option("NAMES", "Steps with commas; `corpus restore` undoes them.")] = None,
    strict: Annotated[bool, flag("--strict", "Fail if a mention's string is not at its offsets.")] = False,
    keep_going: Annotated[bool, flag("--keep-going", "Go on even if over half of the mentions are dropped.")] = False,
    dev_share: Annotated[
        float, option("NUMBER", "Move this share of documents, by hash, to --dev-out.", min=0.0, max=1.0)
    ] = 0.0,
    dev_out: Annotated[Path | None, option("FILE", "The file for these documents.")] = None,
    nlp: Annotated[str, option("PIPELINE", "For .spacy: a language, or a pipeline whose tokenizer is used.")] = "en",
) -> None:
    """Convert a corpus to JSON lines with mentions, and verify every offset.

    Example: spacy-pel convert corpus/test.jsonl --reader pubtator corpus_pubtator.txt.gz
    --split corpus_pubtator_pmids_test.txt --set strip_prefix=UMLS:
    """
    from ...cli._kb import open_kb
    from ..corpora.preparation import OwnIds, TypeLabels

    if bool(dev_share) != (dev_out is not None):
        raise PelError(Errors.E210.format(got="--dev-share" if dev_share else "--dev-out"))
    of_reader = parse_settings(settings or [])
    of_steps = {name: of_reader.pop(name) for name in list(of_reader) if "." in name}
    part = make_reader("pel_corpus_readers", reader, {**of_reader, **({"strict": True} if strict else {})})
    steps = _make_steps(preprocess or "", of_steps)
    documents = _selected(part, _checked(part, files, keep_going=keep_going), split or [], without or [])
    by_kb: dict[str, Any] = {}
    if ids_by is not None:
        by_kb["ids"] = OwnIds(open_kb(ids_by), vocabulary=vocabulary, keep=keep_unlinked)
    elif vocabulary or keep_unlinked:
        raise PelError(Errors.E215.format(got="--vocabulary" if vocabulary else "--keep-unlinked"))
    if labels_by is not None:
        by_kb["labels"] = TypeLabels(open_kb(labels_by))
    for change in by_kb.values():
        documents = change(documents)
    write = partial(_write, steps=list(steps.values()), nlp=nlp)
    if dev_out is None:
        written = [write(out, documents)]
    else:
        from ..corpora.preparation import split_by_hash

        train, dev = split_by_hash(documents, dev_share)  # before preprocessing: windows of one document stay together
        written = [write(out, train), write(dev_out, dev)]
    report = dict(part.report)
    mismatches = report["mismatches"] / report["mentions"] if report["mentions"] else 0.0
    result = {"reader": reader, "read": report, "mismatch_share": mismatches, "written": written}
    result |= {name: dict(change.report) for name, change in by_kb.items()}
    if steps:
        result["preprocessed"] = {name: dict(step.report) for name, step in steps.items()}
    emit(result, _text)


def _make_steps(names: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Create the preprocessing steps.

    Args:
        names: short or full names with commas, in their order; "" = none.
        settings: values by "STEP.NAME".

    Returns:
        By name, in this order.

    Raises:
        PelError: if a name or a setting is unknown, or a name is repeated.
    """
    wanted = split_names(names)
    if len(set(wanted)) < len(wanted):
        raise PelError(Errors.E243.format(got=names))
    by_step: dict[str, dict[str, Any]] = {name: {} for name in wanted}
    for setting, value in settings.items():
        step, _, name = setting.rpartition(".")
        if step not in by_step:
            names = ", ".join(wanted) or "(none is named)"
            raise PelError(Errors.E242.format(known=names, got=setting, hint=did_you_mean(step, wanted)))
        by_step[step][name] = value
    return {step: make_reader("pel_preprocessors", step, values) for step, values in by_step.items()}


def _checked(part: Any, files: list[Path], *, keep_going: bool) -> Iterator[Document]:
    """The documents of the reader, equal ones once. A large share of dropped mentions is an error, raised
    before anything is written; a smaller one is a warning."""
    contents: dict[str, set[int]] = {}  # hashes by id
    for document in part(files):
        content, same_id = hash((document.text, *document.mentions)), contents.setdefault(document.id, set())
        if same_id:
            part.count("repeated_documents" if content in same_id else "duplicate_ids")
        if content not in same_id:
            same_id.add(content)
            yield document
    n, total = part.report["dropped"], part.report["mentions"]
    share = n / total if total else 0.0
    dropped = {"n": n, "total": total, "share": share, "examples": "; ".join(part.check.examples)}
    if share > _ERROR_SHARE and not keep_going:
        raise PelError(Errors.E250.format(paths=", ".join(map(str, files)), **dropped))
    if share > _WARNING_SHARE:
        logger.warning(Warnings.W250.format(**dropped))


def _selected(part: Any, documents: Iterator[Document], splits: list[Path], without: list[Path]) -> Iterator[Document]:
    """The documents whose ids are in the split lists, or all if there are none, but not those in the other lists."""
    from ..corpora.preparation import read_ids

    wanted, unwanted = (set(chain.from_iterable(map(read_ids, paths))) for paths in (splits, without))
    missing, n_left_out = set(wanted), 0
    for document in documents:
        missing.discard(document.id)
        if document.id in unwanted:
            n_left_out += 1
        elif document.id in wanted or not splits:
            yield document
    if splits and missing == wanted:
        raise PelError(Errors.E212.format(path=", ".join(map(str, splits)), n=len(wanted)))
    if splits:
        part.report["ids_not_found"] = len(missing)
    if without:
        part.report["documents_left_out"] = n_left_out


def _write(path: Path, documents: Iterable[Document], *, steps: list[Any], nlp: str) -> dict[str, Any]:
    from ...corpora import write_corpus
    from ..preprocessing import preprocess

    counts: dict[str, Any] = {"path": str(path), "documents": 0, "mentions": 0, "nil": 0}

    def counted() -> Iterator[Document]:
        for document in preprocess(documents, steps):
            counts["documents"] += 1
            counts["mentions"] += len(document.mentions)
            counts["nil"] += sum(not mention.ids for mention in document.mentions)
            yield document

    if path.suffix == ".spacy":
        report: Counter[str] = Counter()
        to_docbin(path, counted(), _load_nlp(nlp), report)
        counts.update(misaligned=report["misaligned"], overlapping=report["overlapping"])
    else:
        write_corpus(path, counted())
    return counts


def _load_nlp(name: str) -> Any:
    import spacy

    if Path(name).exists() or "_" in name:
        return load_spacy(name)
    with known_language(name, "--nlp"):
        return spacy.blank(name)


def _text(result: dict[str, Any]) -> str:
    of_kb = (result.get(change, {}) for change in ("ids", "labels"))
    reports = [result["read"], *of_kb, *result.get("preprocessed", {}).values()]
    lines = [f"{name.replace('_', ' ')}: {count:,}" for report in reports for name, count in report.items()]
    lines.append(f"text and offsets differ in {percent(result['mismatch_share'])} of the mentions")
    for written in result["written"]:
        counts = ", ".join(f"{count:,} {name}" for name, count in written.items() if name != "path")
        lines.append(f"{written['path']}: {counts}")
    return "\n".join(lines)


def to_docbin(path: str | Path, documents: Iterable[Document], nlp: Any, report: Counter[str]) -> int:
    """Write documents as a .spacy file, e.g. for ``spacy evaluate``; the ids go to ``doc.user_data``.

    Args:
        path: the file.
        documents: what to write.
        nlp: its tokenizer cuts the texts.
        report: counts as in ``with_gold``.

    Returns:
        The number of documents.
    """
    from spacy.tokens import DocBin

    from ...corpora.formats.docbin import with_gold

    docbin = DocBin(store_user_data=True)
    for document in documents:
        doc = with_gold(nlp.make_doc(document.text), document, report)
        doc.user_data[DOC_ID] = document.id
        docbin.add(doc)
    with atomic_path(path) as part:
        docbin.to_disk(part)
    return len(docbin)
