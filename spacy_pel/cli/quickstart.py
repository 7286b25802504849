"""The command ``quickstart``: from a table of codes to a pipeline that links them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import Errors, PelError
from ..pipeline.saved import FACTORY, linker_names, load_pipeline, load_spacy, saved_part
from ..util import atomic_path
from ._app import pel_cli
from ._encoder import default_pipeline, encoder_folder
from ._kb import reader_of
from ._output import JSON, emit, key_values, message
from ._settings import make_reader, parse_settings

if TYPE_CHECKING:
    from spacy.language import Language

    from ..index.row_encoders import ResumableEncoder
    from ..kb import KnowledgeBase

_NAME_FINDER = "pel_name_finder"
_ABBREVIATIONS = ("pel_abbreviation_detector", "abbreviation_detector")  # the second is scispaCy's
_N_SHOWN = 3  # entities in the example text
# settings of a linker that its encoder depends on; its calibration is that of another knowledge base, with
# annotated text: on ontologies without, it takes half of the linkable mentions for NIL
_TAKEN = ("encoder", "max_length", "expand_abbreviations")
# NIL threshold: P(NIL) of a name of the table is below 0.1, but that of "MI" in a text that says
# "mitral insufficiency (MI)" is not, where the table has it as myocardial infarction
_NAMES_LINKED = 0.5

_HEAD = ("mention", "id", "P(right)", "name")
_PYTHON = """\
import spacy

nlp = spacy.load({path!r})
for ent in nlp({text!r}).ents:
    print(ent.text, ent.kb_id_, ent._.pel_name, ent._.pel_probability)"""


@pel_cli.command("quickstart")
def quickstart(
    codes: Annotated[
        Path,
        typer.Argument(
            metavar="CODES.csv",
            help="A table with a header: code, name, synonyms (with | between them), type. Also another file "
            "or folder that `kb build` reads, or a KB folder.",
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The pipeline folder to write.")],
    ner: Annotated[
        str | None,
        typer.Option(
            metavar="PIPELINE",
            help="Find mentions with the components of this pipeline, e.g. assets/pel_medmentions: also "
            "those worded in another way, or not in the table (NIL).",
        ),
    ] = None,
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases", help="Find the names of the table, in any case. The default without --ner; with it, both."
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="A model or pipeline folder with an encoder; default: that of --ner if it has one, or of "
            "the default pipeline.",
        ),
    ] = None,
    reader: Annotated[
        str | None, typer.Option(metavar="NAME", help="The format, as for `kb build`; default: by the file name.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the reader, e.g. 'list_separator=;' (repeatable)."
        ),
    ] = None,
    lang: Annotated[str, typer.Option(metavar="CODE", help="The language of the text, without --ner.")] = "en",
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The text to link as an example; default: one made of names.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing pipeline.")] = False,
    as_json: bool = JSON,
) -> None:
    """Make a pipeline from a table of codes or an ontology, without training: knowledge base, index and
    mention finder.

    Without --ner, the mentions are the names of the table and the abbreviations that a text defines for
    them, and each is linked, unless the text defines it as something else. With --ner, a mention may be NIL:
    the default NIL weights decide until you `calibrate` on annotated text of your own.

    Example: spacy-pel quickstart codes.csv my_pipeline
    """
    from ..pipeline.detectors.name_patterns import example_names, example_text
    from ..pipeline.mentions import mention_spans
    from ..pipeline.records import mention_record

    started = time.perf_counter()
    if out.exists() and not (overwrite and (out / "config.cfg").is_file()):
        raise PelError(Errors.E658.format(path=out, got=_kind(out)))
    own = Path(ner) if ner and (Path(ner) / "config.cfg").is_file() else None
    if encoder is None and own is not None and saved_part(own, "encoder"):
        encoder = str(own)
    source = _source(Path(encoder) if encoder else default_pipeline("--encoder"))
    with_names = phrases or ner is None
    nlp = _finder(ner, lang)
    with atomic_path(out) as part:
        part.mkdir()
        kb = _knowledge_base(codes, part / FACTORY / "kb", reader, settings or [])
        vectors = _add_linker(nlp, kb, source, out)
        n_names = _add_names(nlp) if with_names else 0
        if ner is None:
            linker: Any = nlp.get_pipe(FACTORY).linker  # type: ignore[attr-defined]
            linker.calibrated_threshold, linker.calibrated_by_label = _NAMES_LINKED, {}
        nlp.to_disk(part)
        loaded = load_pipeline(part)  # an unusable pipeline is not kept
        doc = loaded.nlp(text or example_text(example_names(loaded.component.kb, _N_SHOWN)))
        spans = mention_spans(doc, loaded.component.spans_key)
        mentions = [mention_record(loaded.component, span, _N_SHOWN) for span in spans]
    vectors.finish()
    result = {
        "output": str(out),
        "entities": len(kb),
        "names": len(kb) + kb.meta["counts"]["aliases"],
        "phrases": n_names,
        "repairs": {**kb.source.get("repairs", {}), **kb.meta["report"]},
        "components": nlp.pipe_names,
        "seconds": time.perf_counter() - started,
        "text": doc.text,
        "mentions": mentions,
        "python": _PYTHON.format(path=str(out), text=doc.text),
    }
    emit(result, as_json=as_json, text=_summary)


def _finder(ner: str | None, lang: str) -> "Language":
    """A pipeline that finds mentions, or one that finds nothing yet; with a detector of
    abbreviations and without linkers.

    Raises:
        PelError: if there is no such pipeline or language.
    """
    import spacy

    if ner is not None:
        nlp = load_spacy(ner)
        for name in linker_names(nlp):
            nlp.remove_pipe(name)
    else:
        try:
            nlp = spacy.blank(lang)
        except ImportError as err:
            expected = "a language code such as en"
            raise PelError(Errors.E213.format(expected=expected, got=lang, option="--lang")) from err
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    if factories.isdisjoint(_ABBREVIATIONS):
        nlp.add_pipe(_ABBREVIATIONS[0], config={"mentions": True})
    return nlp


def _knowledge_base(codes: Path, path: Path, reader: str | None, settings: list[str]) -> "KnowledgeBase":
    from ..kb import KnowledgeBase
    from ..kb.readers.from_reader import build_from_reader

    if reader is None and (codes / "meta.json").is_file():
        return KnowledgeBase.from_disk(codes)
    reader = reader or reader_of(codes)
    given = parse_settings(settings)
    made = make_reader("pel_kb_readers", reader, given)
    about = {"reader": reader, "settings": given}
    return build_from_reader(made, [codes], path, source=about, show_progress=True)


class _Source(NamedTuple):
    """Where the encoder comes from.

    Attributes:
        folder: of the encoder.
        settings: of the linker that it comes from, as far as they matter to it.
    """

    folder: Path
    settings: dict[str, Any]


def _kind(path: Path) -> str:
    """What is at a path."""
    if not path.is_dir():
        return "a file"
    if (path / "config.cfg").is_file():
        return "a pipeline"
    return "a folder that is no pipeline" if any(path.iterdir()) else "an empty folder"


def _source(model: Path) -> _Source:
    """Of a model folder, or of the linker in a pipeline folder."""
    from ..util.config import load_config
    from ..util.saved_part import read_part

    folder = encoder_folder(model)
    settings = {"encoder": {"@pel_encoders": read_part(folder, kind="encoder")["encoder"]}}
    if folder == model:
        return _Source(folder, settings)
    config = load_config(model / "config.cfg")["components"][folder.parent.name]
    settings.update({name: config[name] for name in _TAKEN if name in config})
    return _Source(folder, settings)


def _add_linker(nlp: "Language", kb: "KnowledgeBase", source: _Source, out: Path) -> "ResumableEncoder":
    """Embed the knowledge base and add a linker for it.

    Args:
        nlp: gets the linker as its last component.
        kb: the entities.
        source: the encoder.
        out: computed vectors are kept next to it.

    Returns:
        To be finished once the pipeline is saved.
    """
    from ..encoders import load_encoder
    from ..index import EntityIndex
    from ..index.row_encoders import ResumableEncoder

    encoder = load_encoder(source.folder)
    vectors = ResumableEncoder(encoder, out.with_name(f"{out.name}.parts"))
    component: Any = nlp.add_pipe(FACTORY, config=source.settings)
    message(f"Embedding {len(kb):,} entities")
    index = EntityIndex.build(kb, vectors, index=component.vector_index, kinds=component.row_kinds, show_progress=True)
    component.initialize(
        lambda: [], kb_loader=lambda: kb, encoder_loader=lambda _: encoder, index_loader=lambda *_: index
    )
    return vectors


def _add_names(nlp: "Language") -> int:
    """Add a component that finds the names of the knowledge base, after those that find mentions: it keeps
    theirs where they are longer.

    Returns:
        How many names it searches for.
    """
    for name in nlp.pipe_names:
        if nlp.get_pipe_meta(name).factory == _NAME_FINDER:  # the detector's pipeline was made with it
            nlp.remove_pipe(name)
    detectors = [name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns]
    place: dict[str, Any] = {"after": detectors[-1]} if detectors else {"first": True}
    finder: Any = nlp.add_pipe(_NAME_FINDER, name="name_finder", config={"linker": FACTORY}, **place)
    return len(finder)


def _summary(result: dict[str, Any]) -> str:
    from ..util.columns import EMPTY, aligned

    facts = {key: result[key] for key in ("output", "entities", "names", "repairs", "seconds")}
    rows = []
    for found in result["mentions"]:
        # None: another component has given it an id
        probability = EMPTY if found["probability"] is None else f"{found['probability']:.2f}"
        rows.append((found["text"], found["kb_id"], probability, found["name"] or EMPTY))
    linked = "\n".join(aligned(_HEAD, rows, longest=60)) if rows else "No mention was found."
    return "\n\n".join([key_values(facts), result["text"], linked, result["python"]])
