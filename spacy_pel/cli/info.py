"""The commands ``explain``, ``verify`` and ``info``, which look at a pipeline or another saved folder."""

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ..pipeline.saved import load_pipeline
from ..util import read_json
from ..util.config import import_code
from ..util.files import files_below, folder_size, unexpected
from ..util.parsing import check_unicode
from ._app import CODE, pel_cli
from ._kb import open_kb
from ._options import Pipeline, PipelineOrFolder, argument, option
from ._output import emit, key_values, text_table
from .kb_facts import kb_facts, kb_text

_N_CANDIDATES = 5


@pel_cli.command("explain", rich_help_panel="Link")
def explain(
    pipeline: Pipeline,
    text: Annotated[str, argument("TEXT", "The text to link.")],
    mention: Annotated[int | None, option("N", "Explain only this mention of the text; the first is 1.", min=1)] = None,
) -> None:
    """Link a text and print the evidence for the candidates of each mention: cosines, counts, spelling, and what
    each candidate is.

    Example: spacy-pel explain assets/pel_medmentions "CF was severe." --mention 1
    """
    from ..pipeline.mentions import mention_spans

    check_unicode({"text": text}, "TEXT")
    nlp, _, component = load_pipeline(pipeline)
    doc = nlp(text)
    spans = mention_spans(doc, component.spans_key)
    if mention is not None and mention > len(spans):
        raise PelError(Errors.E676.format(n=len(spans), got=mention))
    explanations = [component.explain(span) for span in (spans if mention is None else spans[mention - 1 : mention])]
    texts = [explanation.to_text(_N_CANDIDATES) for explanation in explanations] or ["No mentions were found."]
    shortened = [replace(one, candidates=one.candidates[:_N_CANDIDATES]) for one in explanations]
    emit({"mentions": [asdict(one) for one in shortened]}, lambda _: "\n\n".join(texts))


@pel_cli.command("verify", rich_help_panel="Link")
def verify(path: PipelineOrFolder) -> None:
    """Read every file and compare its size and SHA-256 hash with the manifest.

    The files of spaCy's own components have no manifest.

    Example: spacy-pel verify assets/pel_medmentions
    """
    from ..util.saved_folder import is_hidden, verify_folders

    folders = verify_folders(path)
    covered = {Path(folder["folder"]) for folder in folders}
    files = (file for file in files_below(path) if file.is_file() and not is_hidden(file, path))
    n_others = sum(covered.isdisjoint(file.parents) for file in files)
    emit({"folders": folders, "files_without_manifest": n_others}, _text)


def _text(result: dict[str, Any]) -> str:
    keys, folders = ("folder", "kind", "files"), result["folders"]
    rows = [[*(str(one[key]) for key in keys), _megabytes(one["bytes"]), "as saved"] for one in folders]
    table = text_table(["folder", "kind", "files", "size", ""], rows, numbers=False)
    return f"{table}\n{result['files_without_manifest']} files of spaCy's own have no manifest."


_FOLDERS = ("encoder", "index", "kb")  # of a linker
_N_NAMES = 3  # in the text that is linked


@pel_cli.command("info", rich_help_panel="Link")
def info(ctx: typer.Context, path: PipelineOrFolder) -> None:
    """Show what a pipeline is made of, and what it needs: load time, memory, and the time of the first link, measured
    now in a process of its own.

    Of another folder (knowledge base, index, encoder, generator, ranker), show what it says of itself.

    Example: spacy-pel info assets/pel_medmentions
    """
    from ..util.saved_folder import MANIFEST

    if (path / "config.cfg").is_file():
        # imports and memory of this process would not count
        with ProcessPoolExecutor(1, get_context("spawn"), import_code, (ctx.meta[CODE],)) as process:
            result = process.submit(pipeline_facts, path).result()
        emit(result, pipeline_text)
    elif (path / MANIFEST).is_file():
        emit(_folder_facts(path), _folder_text)
    else:
        other = "a file" if path.exists() else "no such folder"
        got = "a folder without config.cfg and manifest.json" if path.is_dir() else other
        raise unexpected(path, "a pipeline, or a folder that a command has written", got, "Check the path.")


def pipeline_facts(path: Path) -> dict[str, Any]:
    """Load a pipeline, link a text, and tell what it is and what that took. Call it in a new process.

    Args:
        path: its folder.

    Raises:
        PelError: as ``load_pipeline``.
    """
    from ..util.processes import machine_note, memory_in_use

    started = time.perf_counter()
    from ..encoders.backend import CPU, chosen_precision
    from ..pipeline.detectors.name_search import example_text
    from ..pipeline.factory import detector_layers

    nlp, name, component = load_pipeline(path)
    seconds, memory = {"load": time.perf_counter() - started}, memory_in_use()
    text = example_text(component.kb, _N_NAMES)
    started = time.perf_counter()
    nlp(text)
    seconds["first_link"] = time.perf_counter() - started
    meta, linker, index, encoder = nlp.meta, component.linker, component.index, component.encoder
    settings = nlp.config["components"][name]
    blocks = [(part, block) for part, block in settings.items() if isinstance(block, dict)]
    read_by = [("encoder", encoder), ("reranker", linker.reranker and linker.reranker.ranker), *detector_layers(nlp)]
    backends: list[tuple[str, Any]] = [(part, getattr(reader, "backend", None)) for part, reader in read_by]
    set_to = {part: backend.precision for part, backend in backends if hasattr(backend, "precision")}
    calibration = {"nil_threshold": linker.nil_threshold, "by_label": linker.label_thresholds}
    return {
        "name": f"{meta['lang']}_{meta['name']}",
        "version": meta["version"],
        "licence": meta["license"],
        "folder": str(nlp.path),
        "bytes": {"all": folder_size(nlp.path), **{part: folder_size(nlp.path / name / part) for part in _FOLDERS}},
        "components": {one: nlp.get_pipe_meta(one).factory for one in nlp.pipe_names},
        "linker": name,
        "parts": {part: block[key] for part, block in blocks for key in block if key.startswith("@")},
        "kb": kb_facts(component.kb),
        "index": None if index is None else index.meta,
        "encoder": None if encoder is None else {"width": encoder.width, "fingerprint": encoder.fingerprint},
        "precision": {part: precision or chosen_precision(CPU) for part, precision in set_to.items()},
        "calibration": {**calibration, "n_mentions": sum(linker.decider.confidence.n_mentions.values())},
        "corrections": len(component.learned),
        "seconds": seconds,
        "memory": {"loaded": memory, "linked": memory_in_use()},
        "machine": machine_note(),
    }


def pipeline_text(facts: dict[str, Any]) -> str:
    """The text of ``pipeline_facts``."""
    keys = ("licence", "folder", "components", "linker", "parts", "calibration", "corrections", "seconds", "machine")
    rows = {"pipeline": f"{facts['name']} {facts['version']}", **{key: facts[key] for key in keys}}
    rows["precision"] = facts["precision"]
    rows["size"] = {part: _megabytes(n) for part, n in facts["bytes"].items()}
    for moment, used in facts["memory"].items():
        rows[f"memory, {moment}"] = used and {kind: _megabytes(n) for kind, n in used.items()}
    if index := facts["index"]:
        rows["index"] = {"rows": index["rows"], **index["live_rows"], **index["index"]["settings"]}
    return f"{key_values(rows)}\n\n{kb_text(facts['kb'])}"


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def _folder_facts(path: Path) -> dict[str, Any]:
    from ..kb.store_writer import KIND
    from ..util.saved_folder import read_manifest

    manifest = read_manifest(path, "saved folder")
    kind = manifest["kind"]
    facts = {"kind": kind, "format": manifest["format"], "folder": str(path), "bytes": folder_size(path)}
    if kind == KIND:
        return {**facts, "kb": kb_facts(open_kb(path))}
    found = (path / name for name in ("meta.json", f"{kind}.json") if (path / name).is_file())
    return {**facts, **{key: value for file in found for key, value in read_json(file).items()}}


def _folder_text(facts: dict[str, Any]) -> str:
    rows = {**facts, "bytes": _megabytes(facts["bytes"])}
    kb = rows.pop("kb", None)
    return key_values(rows) if kb is None else f"{key_values(rows)}\n{kb_text(kb)}"
