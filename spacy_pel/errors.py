"""The only exception that users see, and all error and warning texts: what was expected, what was found, what to
do."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

_LONGEST = 1000  # characters of an error: some quote what they found


class PelError(ValueError):
    """A user-facing error with a code. The command line prints its text and exits with 2.

    The text is one line without control characters; of a long one the middle is left out.

    Args:
        text: an error text, filled in.
    """

    def __init__(self, text: str = "") -> None:
        line, half = one_line(text), _LONGEST // 2
        super().__init__(line if len(line) <= _LONGEST else f"{line[: half - 1]}…{line[-half:]}")


def one_line(text: str) -> str:
    """A text without line ends and control characters, which could rewrite a terminal, and
    without lone surrogates, which it cannot show."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _shown(char) for char in text)


def _shown(char: str) -> str:
    return " " if char.isspace() else ascii(char)[1:-1]


def shortened(text: str, n: int = 200) -> str:
    """A text for an error, cut after n characters."""
    return text if len(text) <= n else f"{text[:n]}…"


def quoted(value: object) -> str:
    """The start of a value's repr, for an error; a value may be long or deeply nested."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 100
    return shortened(short.repr(value), 200)


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A question to append to a clause about an unknown word; empty if no known word is close."""
    match = closest(word, (other for other in known if other != word), cutoff=cutoff)
    return f" (did you mean '{match}'?)" if match else ""


def closest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known word that is closest to a word, capitals ignored; empty if none is close."""
    by_form = {other.casefold(): other for other in known}
    return next((by_form[form] for form in get_close_matches(word.casefold(), by_form, n=1, cutoff=cutoff)), "")


def listed(first: Sequence[str], n: int, separator: str = ", ") -> str:
    """The first of n texts, and how many more there are."""
    more = n - len(first)
    return separator.join([*first, f"{more:,} more"] if more else first)


class WithCodes(type):
    """Puts its code before a text: ``Errors.E001`` is "[PEL-E001] No part named …"."""

    def __getattribute__(cls, name: str) -> Any:
        value = super().__getattribute__(name)
        return value if name.startswith("_") or not isinstance(value, str) else f"[PEL-{name}] {value}"


class Errors(metaclass=WithCodes):
    """Texts of PelError, to be filled by ``str.format``."""

    # Errors of all parts: E000-E099
    E001 = "No part named '{name}' in the registry '{registry}'{hint}. Known: {known}. Check the spelling; for a part of your own, add --code FILE."
    E002 = "Expected {expected} at {path}, got {got}. {todo}"
    E003 = "{feature} needs the package '{package}'. Install it with: pip install 'spacy-pel[{extra}]'"
    E004 = "Expected {expected} in the {kind} at {path}, got {got}. The files are damaged: copy or rebuild them."
    E005 = "Expected format version {expected} in the {kind} at {path}, got {got}. Rebuild it with this spacy-pel."
    E006 = "The {kind} holds {size} GiB, but bytes hold at most {limit}. Use to_disk(), which has no limit."
    E007 = "Expected a folder with a saved {kind} at {path}, got {got}. Check the path."
    E008 = "Expected the bytes of a saved {kind}, got {got}. Use what to_bytes() returned, unchanged."
    E009 = "The {kind} at {path} needs '{name}', which is not in the registry '{registry}'. Install its package."
    E010 = "Expected the {kind} {expected} at {path}, got {got}. Name another folder, or set that {kind} in the config."
    E011 = "Expected {expected}, got {got}."
    E012 = "Expected data for the reader '{reader}' at {place}, got something else. Check reader and file; --verbose shows more."
    E013 = "Unexpected {got}. Files given: {files}. If they are intact, run with --verbose and report the traceback."
    E014 = "Another process is changing {path}; it has not ended in {seconds} seconds. Nothing was changed; try again."
    E015 = "Unexpected {got} at {place}. Correct this file; --verbose shows the traceback."
    E016 = "Expected {what} among {known}, got {got}. Fix the setting '{setting}'."
    E017 = "Expected the {kind} with the fingerprint {expected} at {path}, got {got}. Put it back, or load again."

    # Knowledge base: E100-E199
    E100 = "Expected the id of one of {n:,} entities, got '{id}'. Check the spelling, and that this is the right KB."
    E102 = "Expected entities to write to {path}, got none. Check the source and the filters."
    E105 = "Expected text in all fields of an entity, got {entity}. Fix the source."
    E110 = "Expected a row from 0 to {last}, got {row}. If the index belongs to another KB, rebuild it: spacy-pel index"
    E111 = "Expected a new folder or a knowledge base to replace at {path}, got {got}. Choose another folder."
    E112 = "Expected a successor for '{id}' that stays, but '{got}' is retired along with it. Name another entity."
    E113 = "Expected each id once in one call, got '{id}' twice. Merge the two entities."
    E114 = "Expected a live entity, but '{id}' is retired ({successor}). Bring it back with add_entities() or kb.put()."
    E115 = "Expected a list of {wanted}, got {got}. Write [{got}]."
    E117 = "Expected an entity with a name and an id other than 'NIL', got {entity}. Change the id or the name."
    E118 = 'Expected a dictionary from ids to names such as {{"C0000001": "New name"}}, got {got}.'
    E119 = "Expected a name for '{id}', got an empty one. To stop linking an entity, retire it."
    E120 = "Expected at least one entity from {paths}, got none. Check the files, and the filters for types and ids."
    E121 = "{place}: {fault} ({kind}). Fix the file, or read it without strict to repair and count it."
    E122 = "Expected semantic types of the UMLS such as T047, got {unknown}. Check the ids."
    E123 = "Expected {expected} at {place}, got '{id}', {fault}. Nothing was changed; fix the line."
    E125 = "Expected a complete release with --retire-missing, but it lacks {n:,} of {total:,} entities, such as '{example}'. Nothing was changed. Check the file and the filters, or list the ids to retire in a file of changes."
    E126 = "Expected the id of an edited entity, got '{id}'. List the edits with: spacy-pel kb edits KB"
    E127 = "Expected an id, or a name or code that one entity has, got '{text}'{hint}. Check the spelling and the KB."
    E128 = "Expected vocabularies in which the KB has codes, got {got}{hint}. It has (entities): {known}."
    E129 = "Expected KIND=N, a number for one of {known}, got '{got}'. Fix --most."
    E141 = "Expected an 'id', and else {known} or null, as columns of {path}, got {got}. Fix the setting 'columns'."
    E142 = "Invalid merge config {path}: {got}. Fix this setting."
    E143 = "Expected entities from {sources} of the merge config {path}, got none. Check 'id_pattern', 'id_xref' and the files."
    E144 = "No entity from {paths} passes the filters. Nothing matches the {filters}. Change the filter."
    E145 = "Expected the id of an entity of the files, got '{id}'{hint}. Check the id and the other filters."
    E146 = "Expected is-a parents to keep what is below {ids}, got none. Read a source with parents: an ontology, or the UMLS or RxNorm with --set relations=true."
    E147 = "Expected sources whose names may be passed on, got {sources}. Leave these sources out. If you know that the names of one without a known licence may be passed on, name it with --allow, or give its licence to `kb add`."

    # Corpora: E200-E299
    E201 = "{where}: expected {expected} at characters {spans}, got {got}. Fix the offsets, or have such mentions moved or left out: --set strict=false, without --strict."
    E202 = '{where}: expected a document {{"id", "text", "mentions": [{{"start", "end", "label", "ids": []}}]}}, got {got}. Fix the line, or convert the file with its --reader.'
    E203 = (
        "{where}: expected annotation under {known}, got {got}, which is not read. Rename it, or name another --reader."
    )
    E205 = "{where}: expected a PubTator line of document {pmid}, with bars or with tabs, got {got!r}."
    E206 = "Expected documents in {paths}, got none{but}. Check the files and the reader."
    E207 = "{where}: expected {expected}, got {got}. Check that '{reader}' is the right reader for these files."
    E208 = "'{reader}' has no setting {got}{hint}. Its settings: {known}."
    E209 = "Expected the setting {name} of '{reader}' to be {expected}, got {got}. Write lists and objects as JSON."
    E210 = "Expected both --dev-share and --dev-out or neither, got only {got}."
    E211 = "Expected a setting as NAME=VALUE, got {got!r}. Example: --set strip_prefix=MESH:"
    E214 = "Expected ids or cross references of the KB, got none among {n:,} mentions, whose ids look like {example!r}. Pass a KB with xrefs, and name the vocabulary of ids without a prefix, e.g. --vocabulary MESH."
    E215 = "Expected --ids-by KB with {got}, got none. Pass a KB with cross references, or omit {got}."
    E219 = '{path} is an output of `link`, whose ids are answers, not annotation. If you have corrected them (the key "ids"; an empty list = NIL), make a corpus with: spacy-pel convert GOLD.jsonl --reader jsonl {path}'
    E217 = "Expected mentions in {paths}, got none, but {got}. See the reader's settings (--set), or fix the files."
    E212 = "None of the {n} ids in {path} is in the corpus. Check that the list belongs to this corpus."
    E213 = "Expected {expected}, got {got!r}. Check {option}, or install the package that has it."
    E238 = 'Expected meta "original" as preprocessing writes it, got {got}. Preprocess again, or rename the key.'
    E239 = "Expected a span within {length} characters, got {start} to {end}. Use the corpus of these offsets."
    E240 = "{path} has no document with the id '{document}'. Pass the corpus that {what}."
    E241 = "{path}: characters {start} to {end} are outside '{document}'. Pass the corpus before preprocessing."
    E242 = "Expected a setting of one of the steps {known}, got '{got}'{hint}. Name the step with --preprocess."
    E243 = "Expected each preprocessing step once, got {got}. Name each step once, in the order of use."
    E248 = "{path} has another text of '{document}' ({length} characters). Pass the corpus before preprocessing."
    E250 = "{n:,} of {total:,} ({share:.0%}) mentions of {paths} are not at their offsets. {examples}. Check the reader, its settings and the source, or write the other mentions with --keep-going."
    E251 = "{path}: expected one base for all offsets, but of {n:,} that match the text, {counts}; {example}. Count all characters from the start of the document."

    # Text, encoders, losses, negatives and training: E300-E399
    E301 = "Expected {name} {wanted}, got {value}. Change it."
    E302 = "This encoder has no weights. Set its name and call initialize(), or load a folder with from_disk()."
    E303 = "Expected a folder, package:NAME or a Hugging Face model, got '{name}': {got}. Check the name, or give a folder."
    E307 = "Expected a random model as 'random:layers=1,width=32' in '{name}', got {got}. Known sizes: {known}."
    E304 = "The checkpoint at {path} cannot be read: {got}. Delete that folder to start a new training."
    E308 = "Expected a part of the registry 'pel_similarities', got {value}. Fix [pel.encoder.similarity]."
    E310 = "Invalid training config {path}: {got}. Fix the config or the override; see docs/configuration.md."
    E311 = "Expected {part} mentions with ids of the KB, got none; left out: {skipped}. Check the ids.{hint}"
    E312 = "The checkpoint at {path} belongs to another config or data. Choose another --output, or delete that folder."
    E313 = "Expected paths.{name} in the config, but it is not set. Set it there or give --paths.{name} PATH."
    E314 = "{path} holds a training. Run the same command with --resume to continue, or choose another --output."
    E316 = "Expected the CUDA device {gpu_id}, but {got}. Check nvidia-smi, or use --gpu-id -1 for the CPU."
    E320 = "The table of mined negatives at {path} is incomplete: {got}. Delete the output folder and train again."
    E323 = "Expected {least} or more mined negatives per mention, got {got}. Mine with --depth {least}."
    E324 = "Expected mined negatives of the training mentions in {path}, but {got}. Mine them with: spacy-pel mine"
    E326 = "The tokenised examples at {path} are incomplete: {got}. Delete that folder; it will be rebuilt."
    E336 = "Expected a fast tokenizer, which gives offsets, got {got}. Use a model with one."
    E338 = "{path} holds a finished training without its checkpoint. Choose another --output, or delete that folder."
    E347 = "Expected a trainable ranker as ranker.model, got {got}. Recipes are registered for: {known}."
    E348 = "{name} cannot be trained with ranker.{section}: {why}. Leave the section [ranker.{section}] out."
    E351 = "Expected encoders that differ in their weights alone, but they also differ in: {differing}."
    E352 = "Expected max_length of at most {most}, the transformer's limit, got {got}. Decrease it."
    E353 = "The transformer has no weights. Set the name of TransformerTok2Vec.v1, or load a trained pipeline."
    E354 = "Expected two pipelines with '{name}' of the same labels and layers. Train both from the same start."
    E356 = "The names of '{names}' need pel_mention_tagger, which gives them its mentions. Use it, or set names = null."
    E355 = "Expected layers from 1 to {most}, those of the transformer, got {got}. Leave layers out to keep all."
    E390 = "Invalid ranker config {path}: {got}. Fix the config; configs/ranker_sapbert.cfg shows every key."
    E392 = "Expected mentions in {what} whose entities are in the pipeline's KB, got none. Check the ids."
    E393 = "Expected ranker.model.top_k >= ranker.candidates.n = {n}, got {top_k}. Set top_k to {n}."

    # Index, candidates, combiners and rankers: E400-E499
    E401 = "The index at {path} has another {what} ({theirs}, yours is {ours}). Rebuild it with: spacy-pel index"
    E402 = "Expected vectors of the shape (n, {expected}), got {got}. Use the encoder of the index, or rebuild it."
    E403 = "The index is new and has no width yet. Call train() or from_disk() first."
    E404 = "Expected training vectors for codes '{codes}', got none. Use codes 'fp16' for a small KB."
    E406 = "Expected entities to index, but the knowledge base is empty. Check what it was built from."
    E407 = "Expected rows, but the documents mention no entity of the KB. Add the kind 'card' or 'alias'."
    E410 = "Expected the encoder of the index ({theirs}), got {ours}. Rebuild the index with: spacy-pel index"
    E413 = "Expected row_bytes that divide the width, and training vectors, got {got}. Change them, or use 'fp16'."
    E414 = "Expected no {setting} with codes = {codes}, got {value}. Leave one of the two out."
    E416 = "Expected vectors of fp32 (fp16 for fp16) at {path}, got {got}. Build with --codes fp32, and shorter copies by --update."
    E420 = "Expected mentions with their entity among the candidates, got none among {n}. Check that ids agree."
    E421 = "Expected weights for {expected}, but the combiner has them for {got}. Refit it: spacy-pel calibrate"
    E431 = "This ranker has no weights yet. Call initialize() with a 'name' set, or from_disk() with a model folder."

    # Candidate generators: E443-E459
    E443 = "{path} was built from another knowledge base ({theirs}, yours is {ours}). Build the generator again."
    E444 = "The generator {generator} has not been built. Call build() or from_disk() first."
    E446 = "Expected a knowledge base with names to search, got {got}. Check what it was built from."
    E447 = "Expected {expected} for the setting '{setting}' of {generator}, got {got}. Fix the setting."
    E448 = "Expected the knowledge base of {generator}, with {least} rows or more, got {n} rows. Rebuild the generator."
    E449 = "{generator} needs the encoder and index of a pipeline. Give --pipeline, or use: spacy-pel candidates add"
    E450 = "Expected folders of generators, or --pipeline, got neither. Build one with: spacy-pel candidates build"
    E456 = "{generator} compares vectors and needs an encoder and an index. Call bind(encoder, index) first."
    E457 = "{generator} compares vectors, but there is no {missing}. Pass one, or use e.g. spacy-pel.TfIdf.v1."
    E458 = "{generator} needs an encoder and an index, which the pipeline {path} lacks. Use another pipeline."

    # The spaCy component and the linker: E500-E599
    E500 = "entity_types maps '{label}' to {types}, which the KB lacks. Its types: {known}. Fix the setting."
    E501 = "Expected gold mentions whose entities are in the KB, got none among {n}. Use a corpus of this KB.{hint}"
    E502 = "The component '{name}' has no {missing} yet. Load a trained pipeline, or set kb_loader, encoder_loader and index_loader and call nlp.initialize()."
    E503 = 'Expected reranker = null or a part, e.g. {{"@pel_rankers":"spacy-pel.CrossEncoder.v1"}}, got {got}.'
    E504 = "Expected a mention template with a length limit, but the encoder {encoder} has none. Leave out max_length."
    E511 = "{kind} needs vectors, but {parts} is null. Set both, or use a generator without vectors."
    E512 = "{kind} does not use vectors, so {parts} would have no effect. Set encoder and index to null."
    E513 = "'{name}' has a {setting}_loader, but {setting} is null. Set {setting}, or remove the loader."
    E518 = 'Expected {expected}, got {got}. Example: {name} = {{"@{registry}":"{example}"}}'
    E519 = "Prediction sets need a calibration. Fit it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    E530 = "Expected a live entity or 'NIL' for the mention {text}, got {id}, which {why}. Check the id."
    E531 = "Expected offsets within the {last} characters of {text}{where}, got {got}. Fix the offsets."
    E532 = "Expected mentions with a corrected kb_id_, got none. An id that the linker gave is no correction."
    E533 = "entity_types does not allow '{id}' for the label '{label}' of {text}. Change the setting, or the id."
    E534 = "Expected ids of learned mentions that are in effect, got {got}. Known: {known}."
    E535 = "The learned mentions were encoded with {theirs}, not {ours}. Load their pipeline, or call forget()."
    E537 = "Expected types of the KB or ids in it, got {types}. Its types: {known}. Fix the types of the terms."
    E521 = "'{name}' needs the linker '{linker}', but the pipeline has only: {got}. Fix linker in [components.{name}]."
    E522 = "The component '{name}' is not trained. Train it with 'spacy train', or load a trained pipeline."
    E523 = "Expected labelled mentions to train '{name}' on, got none. Check paths.train."
    E524 = "'{name}' has {columns} tags, two per label and one, but got {n} labels: {got}. Add the component again."
    E525 = "Expected the teacher {teacher} to have '{name}' with the labels {labels}, got {got}. Train both on them."
    E526 = "Expected {where} to name labels, their ids or groups, got '{got}'{hint}. Labels: {labels}."
    E507 = "Expected {name} to be {expected}, got {got}. Change this setting of the component."

    # NIL, evaluation, reports and the command line: E600-E699
    E600 = "Expected overrides like --section.key value, got '{got}'. See the command's --help for its own options."
    E601 = "The config {path} cannot be used: {got}. Fix this setting."
    E605 = "The pipeline failed on all of the first {n} documents; on '{id}': {got}. Fix the pipeline."
    E606 = "The pipeline failed on the document '{id}': {got}. Fix the pipeline, or leave out this text."
    E607 = "The pipeline failed on all {n} documents. Fix the pipeline."
    E610 = "Expected linkable and NIL mentions, but {n_nil} of {n} are NIL. Use a corpus with both."
    E611 = "Expected a NIL model fitted on {expected}, got one fitted on {got}. Refit it with: spacy-pel calibrate"
    E613 = "Expected a NIL precision above 0 and at most 1, got {got}. Fix --precision."
    E614 = "No threshold has a NIL precision of {expected}; the best is {best} on {n} mentions. Lower --precision."
    E615 = "P(NIL) was fitted on vectors of width {expected}, got {got}. Refit it with: spacy-pel calibrate"
    E620 = 'Expected a corpus with gold mentions, got none. Each line is a JSON object with "text" and "mentions".'
    E621 = "The KB has none of the gold ids of {n} mentions, e.g. '{example}' (it has ids such as '{own}'). Use a corpus annotated with this KB.{hint}"
    E624 = "The pipeline's KB is empty. Add entities with: spacy-pel kb add PIPELINE ENTITIES.jsonl"
    E625 = "Expected mentions with ids, but all {n} are NIL. Recall counts mentions whose entity is in the KB."
    E626 = "Expected --fold as PIPELINE=CORPUS, got {got!r}. Example: --fold training/fold_0=corpus/fold_0.jsonl"
    E630 = "Rows of kind 'mention' or 'form' need annotated text. Add: --mentions CORPUS.jsonl (training text only)."
    E632 = "Expected the column '{name}', got the columns {got}. Name the right one with '{argument}'."
    E633 = "Expected strings in the column '{name}', got {got}. Convert it, or name another column."
    E634 = "Expected a path, or a URI of a file system that Arrow can open, got {path}: {got}. Fix it."
    E637 = "The Ray job failed: {got}. What was linked is kept: continue with --resume, see more with --verbose."
    E638 = "{path} is finished, but {changed} since. Add --overwrite to replace it, or choose another file."
    E639 = "Expected texts as {known} with {option}, got {got}, which has no columns. Leave the option out."
    E640 = "Expected texts in one of the formats {known}, got {got}. Rename the file, or name its format where --help has an option for that."
    E641 = "{where}: expected a column or key '{name}', got {got}. Name the right one with {option}."
    E642 = "Expected an output whose name ends in {known}, got {path}. {todo}"
    E643 = "{folder} holds an interrupted run. Add --resume to continue it, or --overwrite to start over."
    E644 = "Cannot resume the run in {folder}: {changed} since it began. Repeat its command, or start over with --overwrite alone."
    E645 = "Expected texts to link, but {path} holds none. Check the path and --format."
    E646 = "Expected one of the formats {known}, got '{got}'. Fix --to."
    E647 = "Expected {wanted} to replace at {path}, got {got}. Choose another output."
    E648 = "Expected .txt or BioC files in {path}, got {n_txt} .txt and {n_bioc} .xml or .json. Choose with --format."
    E649 = "Expected an output apart from the input, got {path}. Choose another file or folder."
    E650 = "The pipeline {path} cannot be loaded: {got}. Import what it lacks with --code FILE, or assemble it again."
    E651 = "Expected a pipeline with the component '{factory}' at {path}, got: {got}. Choose another pipeline."
    E653 = "Expected a bi-encoder, a ranker made of one or a pipeline at {path}, but {got}. Choose another model."
    E655 = "{path} is the KB of a pipeline, whose index must change with it. Use: spacy-pel kb add {pipeline} FILE"
    E656 = "Expected a model, or a pipeline with one linker and encoder, at {path}, got {got}. {todo}"
    E657 = "{path} exists. Add --overwrite to replace it, or choose another file."
    E658 = "Expected a new folder at {path}, got {got}. Choose another, or replace a pipeline with --overwrite."
    E659 = "Expected a file ending in {known} (or also .gz), or a META folder of the UMLS, got {got}. {todo}"
    E692 = "Expected integers as ids of documents, as OMOP's note_id is one, got {got}. Name their column: --id-column"
    E690 = "Expected --to omop and --codes with --omop-concepts, got no {got}. Example: --to omop --codes RXNORM"
    E602 = "Expected {owner} with {option}, got none. Add it, or leave {option} out."
    E691 = "Expected a table of links with the columns document, id and name, got the columns {got}. Migrate what `link` wrote, or a corpus."
    E698 = "Expected files of one kind, got {first} ('{reader}') and {path} ('{other}'). Name one with --reader."
    E699 = "The code at {place} cannot be imported: {got}. Fix it; --verbose shows where it failed."
    E660 = "Expected --apply-to or --output, got both. Use one of them."
    E661 = "Expected the {part} {expected} in the pipeline {path}, got {got}. Use pipelines with the same parts."
    E622 = "Expected --keep-weights with --also, which fits P(right) of links alone. Add it, or leave --also out."
    E663 = "Expected texts with mentions, but the pipeline found none in {path}. Does it have a component such as ner?"
    E664 = "Expected --refit-weights with --fold, got --keep-weights. Folds serve to fit weights."
    E665 = "{where}: expected text in '{key}', got {got}. Convert it to a string."
    E666 = "Expected the default pipeline as package {name} or at {path}, got neither. Install it, or give {option}."
    E667 = "Expected a pipeline folder of your own, got the installed package {name}, which pip may replace. Change a copy: python -c \"import spacy; spacy.load('{name}').to_disk('my_pipeline')\""
    E668 = "A worker process was killed or crashed. If memory ran out, use fewer processes. Continue with: --resume"
    E669 = "{folder} is in use by {got}. Wait for it, end it, or choose another output."
    E670 = "Expected texts with ids in {path}, got none. See: spacy-pel check --help"
    E623 = "Expected --ask with --output, --text-column and --seed at most: it fits nothing. Leave the others out."
    E672 = '{where}: expected {{"text": "…", "start": 0, "end": 4, "kb_id": "an id or NIL"}}, got {got}. Fix the line.'
    E689 = '{where}: expected a decision with the texts "id", "term" and "kb_id", got {got}. Fix the line.'
    E673 = "Expected one of CORRECTIONS, --list and --undo, got {got}. See: spacy-pel teach --help"
    E674 = "Expected corrections in {path}, got none. See: spacy-pel teach --help"
    E675 = "{path} was changed by another process. Nothing was saved; run the command again."
    E676 = "Expected a mention from 1 to {n}, got {got}. Fix --mention."
    E680 = "{path} is not an evaluation: it has no {name}. Make one with: spacy-pel evaluate"
    E681 = "{path}: expected predictions as `spacy-pel evaluate` writes them, got {got}. Evaluate again."
    E682 = "Expected the same mentions, but {a} has {n_a} and {b} {n_b}; {n} are in only one, e.g. {example}."
    E683 = "Expected the same gold ids, but {n} mentions differ, e.g. {example}: {gold_a} in {a}, {gold_b} in {b}."
    E684 = "Expected predictions with types of the KB, but {path} has none. Pass the KB with --kb, or evaluate again."
    E685 = "Expected the corpus that {run} was evaluated on, but {got}. Pass it with --corpus."
    E686 = "Expected the folder of a KB or of a pipeline, but {path} has no {missing}. Choose another folder."
    E687 = "{path} has abbreviations, for which the options for entities have no meaning. Leave these options out."
    E688 = "Expected a pipeline with an index to add abbreviations to, got {path}. Pass the folder of the pipeline."

    # The command serve: E720-E742
    E720 = 'The command serve needs the extra "serve". Install it with: pip install "spacy-pel[serve]"'
    E721 = "Cannot listen on {host}, port {port}: {got}. Choose others with --host and --port."
    E723 = "The answer took longer than {seconds} seconds. Send fewer or shorter texts, or try again later."
    E724 = "The server is busy: {n} requests are waiting. Try again later."
    E725 = "The server is stopping. Try again later."
    E726 = "Expected a text of at most {most:,} characters, got {got:,} in {where}. Split it."
    E727 = "Expected at most {most:,} {what} in a request, got {got:,}. Send several requests."
    E728 = "Expected a body of at most {most:,} bytes. Send several requests."
    E729 = "Expected the header Content-Type: application/json, got {got}."
    E730 = "The host {got} is not served here. If it is a name of this machine, add: --allow-host NAME"
    E731 = "Requests from other sites are refused, got one from {got}."
    E732 = "Expected the whole request within {seconds} seconds. Send it faster, or less of it."
    E734 = "The knowledge base has no entity with the id {got}."
    E735 = "Another process changed the memory of the pipeline. Nothing was learned or undone; try again."
    E736 = "Expected an offset from 0 to {last}, and a mention that is not empty, got {start} to {end}."
    E737 = "Nothing is at {got}. The page / uses this server, and /docs describes it."
    E738 = "The server failed, which is a bug. Its log has the details."
    E739 = "This request does not fit: {got}. The page /docs describes each call."
    E740 = "Expected a body that is not compressed, got the header Content-Encoding: {got}. Send it uncompressed."
    E741 = "Expected all terms to be mapped, got {got:,} of {n:,}. Try again later."
    E742 = "Expected an answer to each term, but the pipeline failed on {n:,}. Decide on them first."


class Warnings(metaclass=WithCodes):
    """Texts of warnings, and of log messages that users should see."""

    # Knowledge base: E100-E199
    W100 = "Entities were repaired while the knowledge base was built: {counts}."
    W103 = "The KB lacks the ids of {n_outside} of {n} annotated mentions, e.g. '{example}' (it has ids such as '{own}'): they count as NIL, or are left out of training. Use the KB of the annotation.{hint}"
    W106 = "Left out, without a name or an id, or with the id 'NIL': {n:,}, such as {cases}. Complete or remove them."
    W104 = "Bytes at {place} are no UTF-8, read as '{got}'. If that is not right, convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE_UTF8"
    W107 = "{place}: {kind} that are not read: {names}. Known {kind}: {known}. Rename those that are needed{todo}."
    W108 = "Lines that repeat an earlier id with another name: {n:,}, such as {cases}. Lines with one id are one entity, and these names are its aliases. Give different entities different ids."
    W101 = "{place}: the column '{column}' has no '|', so each of its cells is read as one text, as in {cell}. If {separator} separates texts, write '|' instead, or set list_separator to {separator}; if not, to '|'."
    W144 = "Nothing matches the {filters}. Check the filter."
    W146 = "{n:,} of {total:,} ids look like names and their names like codes, such as {case}. If these columns are exchanged, set them: --set 'columns={columns}'"
    W147 = "Ids that a spreadsheet may have changed: {n:,}, such as {cases}. Leading zeros, last digits and what became a date are lost: format the column as text and export the table again."
    W145 = "{paths}: no concept file of SNOMED CT, so inactive concepts are read like active ones. Pass sct2_Concept_… too, or the folder Snapshot."

    # Corpora: E200-E299
    W250 = "{n:,} of {total:,} mentions ({share:.0%}) are left out, as the text at their offsets differs. {examples}."
    W251 = "{path}: offsets are read as {base}: so {n:,} of {total:,} match the text, but only {standard:,} as characters from its start."
    W203 = "{path} is an output of `link` without a correction in {n:,} mentions: its ids count as annotation."
    W202 = "{path}: {n:,} mentions have other ids than the kb_id that `link` gave. The ids count, as corrections."
    W201 = "{path}: of {mentions} mentions, {misaligned} cut tokens and {overlapping} overlap; doc.ents lacks them."

    # Text, encoders, losses, negatives and training: E300-E399
    W300 = "mixed_precision = 'bf16' is 3 to 20 times slower here than float32. Set 'auto', or use --gpu-id."
    W303 = "The pipeline's index has {n} counts of annotated text. If they include the training corpus, the candidates are too good: use a pipeline whose index was built without --mentions."
    W302 = "The files of '{source}' lack weights, which start as random: {missing}. Check that it is an encoder."
    W301 = "The untrained model was best: {metric} {before} at step 0, then {best}. Change learn_rate or steps."

    # The spaCy component and the linker: E500-E599
    W500 = "None of the {n} mentions is NIL: only the evidence weights were refitted. Use a corpus with NIL mentions."
    W504 = "{similarity} compares tokens, but an index has one vector per text. See: spacy-pel ranker add --help"
    W505 = "'{name}' has no NIL threshold, so each mention with a candidate is linked. Fit one: spacy-pel calibrate"
    W506 = "'{name}' is not calibrated: default weights decide on NIL. Fit your own with: spacy-pel calibrate"
    W507 = "P(right) was not calibrated, which needs {n} documents with NIL and other mentions. Use a larger corpus."
    W509 = "'{name}' has another knowledge base now, so its {n} learned corrections are gone. Teach them again."
    W510 = "The pipeline does not find {n} of {of} corrected mentions, e.g. {example}. Add e.g. pel_name_finder."
    W511 = "No type or group has the label '{got}'{hint}. Unless mentions have it, fix labels_keep or labels_discard."
    W512 = "'{name}' can link nothing in this document: {what}. Put it behind the component that sets them."
    W513 = "The list '{list}' has {id} for {form}, but the knowledge base lacks it. Fix the list, or add the entity."
    W550 = "{n} of {of} mentions already have the id that the linker gives, so they are not corrections."
    W551 = "{n} of {of} learned corrections repeat the linker's answer. Use --undo for those that nobody confirmed."
    W552 = "{form}: {why}, so this correction decides in its own text only. Use --always to make it decide everywhere."
    W508 = "'{name}' has coverage = {coverage}, but no calibration for sets. Fit it with: spacy-pel calibrate"
    W503 = "'{name}' was calibrated with {what} {saved}, now has {now}. Recalibrate it with: spacy-pel calibrate"

    # NIL, evaluation, reports and the command line: E600-E699
    W605 = "The pipeline failed on {n}, left out of the output: {shown}. All with reasons: {path}"
    W606 = "The pipeline failed on the document '{id}', whose mentions count as wrong: {got}"
    W600 = "The config of {path} sets threshold = {value}, which overrides the calibration. Set it to null to use that."
    W607 = "{n:,} of {of:,} decisions are left out: the list has no such row, or the knowledge base lacks their id."
    W608 = "The pipeline failed on the term '{term}' of row {row}, which is left to decide: {got}"
    W601 = "{n} passages of {path} overlap earlier text and were moved behind it: later offsets differ."
