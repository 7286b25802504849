"""The command ``convert``: corpora of many formats to the corpus format, or to spaCy's."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError, Warnings
from ..types import Document
from ..util import logger
from ._app import pel_cli
from ._output import JSON, emit
from ._settings import make_reader, make_steps, parse_settings, split_settings

_WARNING_SHARE, _ERROR_SHARE = 0.05, 0.5  # of dropped mentions


@pel_cli.command("convert")
def convert(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="What to write: .jsonl, .jsonl.gz, or .spacy for spaCy.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="The corpus: files or folders, depending on the reader.")
    ],
    reader: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The format: pubtator, bioc, brat, st21pv, craft, gsc, zeshel, docbin, jsonl, mentionlist, "
            "or any registered.",
        ),
    ],
    split: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Keep the documents whose ids are in this file, one per line (repeatable)."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the reader as NAME=VALUE, e.g. strip_prefix=MESH:, or of a step as "
            "STEP.NAME=VALUE, e.g. sentencewindows.neighbours=2 (repeatable).",
        ),
    ] = None,
    preprocess: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Steps in order, separated by commas: expandabbreviations, lowercase, sentencewindows, "
            "longestmentions, or any registered. `corpus restore` undoes them.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if a mention's string is not at its offsets.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Write the corpus even if over half of the mentions are dropped.")
    ] = False,
    dev_share: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            min=0.0,
            max=1.0,
            help="Move this share of the documents to --dev-out, by a hash of their ids.",
        ),
    ] = 0.0,
    dev_out: Annotated[Path | None, typer.Option(metavar="FILE", help="The file for these documents.")] = None,
    nlp: Annotated[
        str, typer.Option(metavar="PIPELINE", help="For .spacy: a language, or a pipeline whose tokenizer is used.")
    ] = "en",
    as_json: bool = JSON,
) -> None:
    """Convert a corpus to JSON lines with mentions; every offset is verified.

    Example: spacy-pel convert corpus/test.jsonl --reader pubtator corpus_pubtator.txt.gz
    --split corpus_pubtator_pmids_test.txt --set strip_prefix=UMLS:
    """
    if bool(dev_share) != (dev_out is not None):
        raise PelError(Errors.E210.format(got="--dev-share" if dev_share else "--dev-out"))
    given, of_steps = split_settings(parse_settings(settings or []))
    if strict:
        given["strict"] = True
    part = make_reader("pel_corpus_readers", reader, given)
    steps = make_steps(preprocess or "", of_steps)
    keep = _kept(part, _checked(part, files, keep_going=keep_going), split or [])
    write = _writer(nlp, list(steps.values()))
    if dev_out is None:
        written = [write(out, keep)]
    else:
        from ..corpora import split_by_hash

        fit, dev = split_by_hash(keep, dev_share)  # before preprocessing: windows of one document stay together
        written = [write(out, fit), write(dev_out, dev)]
    report = dict(part.report)
    changed = {name: dict(step.report) for name, step in steps.items()}
    share = report["mismatches"] / report["mentions"] if report["mentions"] else 0.0
    emit(
        {
            "reader": reader,
            "read": report,
            "mismatch_share": share,
            **({"preprocessed": changed} if changed else {}),
            "written": written,
        },
        as_json=as_json,
        text=_text,
    )


def _checked(part: Any, files: list[Path], *, keep_going: bool) -> Iterator[Document]:
    """The documents of the reader. A large share of dropped mentions is an error, raised before anything is
    written; a smaller one is a warning."""
    ids: set[str] = set()
    for document in part(files):
        if document.id in ids:
            part.report["duplicate_ids"] = part.report.get("duplicate_ids", 0) + 1
        ids.add(document.id)
        yield document
    n, total = part.report["dropped"], part.report["mentions"]
    share = n / total if total else 0.0
    shown = {"n": n, "total": total, "share": share, "examples": "; ".join(part.check.examples)}
    if share > _ERROR_SHARE and not keep_going:
        raise PelError(Errors.E250.format(paths=", ".join(map(str, files)), **shown))
    if share > _WARNING_SHARE:
        logger.warning(Warnings.W250.format(**shown))


def _kept(part: Any, documents: Iterator[Document], splits: list[Path]) -> Iterator[Document]:
    """The documents that the split lists name; all without a list."""
    if not splits:
        yield from documents
        return
    from ..corpora import read_ids

    wanted: set[str] = set(chain.from_iterable(map(read_ids, splits)))
    found: set[str] = set()
    for document in documents:
        if document.id in wanted:
            found.add(document.id)
            yield document
    if not found:
        raise PelError(Errors.E212.format(path=", ".join(map(str, splits)), n=len(wanted)))
    part.report["ids_not_found"] = len(wanted - found)


def _writer(nlp_name: str, steps: list[Any]) -> Callable[[Path, Iterable[Document]], dict[str, Any]]:
    def write(path: Path, documents: Iterable[Document]) -> dict[str, Any]:
        from ..corpora import write_corpus
        from ..corpora.preprocessing import preprocess

        counts: dict[str, Any] = {"path": str(path), "documents": 0, "mentions": 0, "nil": 0}
        counted = _count(preprocess(documents, steps), counts)
        if path.suffix == ".spacy":
            from ..corpora.spacy_reader import to_docbin

            left_out: dict[str, int] = {}
            to_docbin(path, counted, _load_nlp(nlp_name), left_out)
            counts.update(misaligned=left_out.get("misaligned", 0), overlapping=left_out.get("overlapping", 0))
        else:
            write_corpus(path, counted)
        return counts

    return write


def _count(documents: Iterable[Document], counts: dict[str, Any]) -> Iterator[Document]:
    for document in documents:
        counts["documents"] += 1
        counts["mentions"] += len(document.mentions)
        counts["nil"] += sum(not mention.ids for mention in document.mentions)
        yield document


def _load_nlp(name: str) -> Any:
    import spacy

    try:
        return spacy.load(name) if Path(name).exists() or "_" in name else spacy.blank(name)
    except (OSError, ImportError) as err:
        expected = "a language code or a spaCy pipeline"
        raise PelError(Errors.E213.format(expected=expected, got=name, option="--nlp")) from err


def _text(result: dict[str, Any]) -> str:
    read = result["read"]
    lines = [
        f"{read['documents']:,} documents read, {read['mentions']:,} mentions; text and offsets differ in "
        f"{result['mismatch_share']:.2%} ({read['repaired']:,} repaired, {read['dropped']:,} dropped)"
    ]
    shown = {"documents", "mentions", "mismatches", "repaired", "dropped"}
    lines += [f"{key.replace('_', ' ')}: {count:,}" for key, count in read.items() if key not in shown]
    for counted in result.get("preprocessed", {}).values():
        lines += [f"{key.replace('_', ' ')}: {count:,}" for key, count in counted.items()]
    for part in result["written"]:
        counts = ", ".join(f"{count:,} {key}" for key, count in part.items() if key != "path")
        lines.append(f"{part['path']}: {counts}")
    return "\n".join(lines)
