"""The commands of the group ``corpus``: statistics, abbreviations, and the undoing of preprocessing."""

from pathlib import Path
from typing import Annotated, Any

from ...cli._app import command_group
from ...cli._options import Corpus, Files, KBForTypes, Settings, TextColumn, argument, option
from ...cli._output import emit, first_rows, key_values, type_rows
from ...errors import Errors, PelError

corpus_cli = command_group("corpus", "Inspect corpora and undo their preprocessing.", panel="Corpora")


@corpus_cli.command("info")
def corpus_info(corpus: Corpus, kb: KBForTypes = None) -> None:
    """Count mentions, entities, NIL, ambiguous surface forms and types. With --json, also the number of entities by
    their number of mentions.

    Example: spacy-pel corpus info corpus/train.jsonl --kb corpus/kb
    """
    from ...cli._kb import open_kb
    from ...corpora import read_corpus
    from ..corpora.corpus_facts import corpus_facts

    facts = {"corpus": str(corpus), **corpus_facts(read_corpus(corpus), open_kb(kb) if kb else None)}
    if not facts["mentions"]:
        raise PelError(Errors.E620)
    emit(facts, _text)


def _text(facts: dict[str, Any]) -> str:
    flat = {key.replace("_", " "): value for key, value in facts.items() if not isinstance(value, dict)}
    return key_values({**flat, **first_rows("label", facts["labels"]), **type_rows(facts.get("types", {}))})


@corpus_cli.command("restore")
def corpus_restore(
    source: Annotated[Path, argument("INPUT", "The preprocessed corpus, a folder of `evaluate`, or a file of `link`.")],
    output: Annotated[Path, argument("OUT", "The folder or .jsonl file to write.")],
    corpus: Annotated[Path, option("FILE", "For a folder, the preprocessed corpus; for a file, the original one.")],
) -> None:
    """Map the mentions of a preprocessed corpus back to the original texts.

    Example: spacy-pel corpus restore metrics/expanded metrics/restored --corpus corpus/dev_expanded.jsonl
    """
    from ...corpora import read_corpus, read_links
    from ...util import write_jsonl
    from ..corpora.restore import restore_run, restored

    result: dict[str, Any] = {"output": str(output)}
    if source.is_dir():
        metrics = restore_run(source, read_corpus(corpus), output, corpus=corpus)
        result.update(mentions=metrics["n"], documents=metrics["n_documents"])
    else:
        originals = {document.id: document for document in read_corpus(corpus)}
        result["documents"] = write_jsonl(output, restored(read_links(source), originals, corpus))
    emit(result)


@corpus_cli.command("abbreviations")
def corpus_abbreviations(
    texts: Annotated[Path, argument("TEXTS", "Texts in any format that `link` reads.")],
    output: Annotated[Path, argument("OUT", "The table to write: .tsv or .tsv.gz.")],
    text_column: TextColumn = None,
    reader: Annotated[str | None, option("NAME", "Read TEXTS as a corpus, with a reader of `convert`.")] = None,
    settings: Settings = None,
    kb: Annotated[Files, option("FOLDER", "Also read the names and definitions of this KB (repeatable).")] = None,
) -> None:
    """Collect the abbreviations that texts define: short form, long form, uses and documents.

    The table is for `kb add PIPELINE OUT`: the pipeline then knows what a short form stands for in texts that do not
    define it. You can edit it: a line is an abbreviation, with tabs between the columns.

    Example: spacy-pel corpus abbreviations abstracts.txt abbreviations.tsv --kb my_pipeline
    """
    from ...abbreviations.inventory import write_inventory
    from ...cli._kb import open_kb
    from ...cli._settings import make_reader, parse_settings
    from ...engines.corpus import Columns, Corpus
    from ...util import progress
    from ..corpora.corpus_facts import AbbreviationCounts

    if reader is None:
        documents = Corpus(texts, columns=Columns(text_column))
    else:
        documents = make_reader("pel_corpus_readers", reader, parse_settings(settings or []))([texts])
    counts = AbbreviationCounts()
    counts.add_texts(progress(documents, description="Reading texts"))
    for opened in map(open_kb, kb or ()):
        counts.add_entities(progress(opened.entities(), description="Reading names", total=len(opened)))
    abbreviations = counts.abbreviations()
    write_inventory(output, abbreviations)
    n_short = len({entry.short_form for entry in abbreviations})
    result = {"output": str(output), "short_forms": n_short, "long_forms": len(abbreviations)}
    emit(result)
