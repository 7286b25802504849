"""All error and warning texts: what was expected, what came, what to do.

Codes: 0xx general, 1xx knowledge base, 2xx corpora, 3xx text, encoders and training,
4xx index and combiners, 5xx component, 6xx evaluation and command line.
"""


class PelError(ValueError):
    """A user-facing error with a code. The command line prints its text and exits with 2."""


class Errors:
    """Texts of PelError, to be filled by ``str.format``."""

    # general
    E001 = (
        "[PEL-E001] No part named '{name}' in the registry '{registry}'. Known: {known}. "
        "Check the spelling, or register the part with an entry point."
    )
    E002 = "[PEL-E002] Expected {expected} at {path}, but {came}. {todo}"
    E003 = (
        "[PEL-E003] '{feature}' needs the package '{package}', which is not installed. "
        "Install it with: pip install 'spacy-pel[{extra}]'"
    )
    # knowledge base: E100-E199
    E100 = (
        "[PEL-E100] Expected the id of an entity of this knowledge base of {n} entities, but came '{id}'. "
        "Check the spelling and which knowledge base this is."
    )
    E101 = (
        "[PEL-E101] Expected ids that the knowledge base lacks, but it has '{id}' already. "
        "Use update() to change an entity, and give each id once."
    )
    E102 = "[PEL-E102] Expected entities to write to {path}, but none came. Check the source and the filters."
    E103 = (
        "[PEL-E103] Expected a knowledge base folder at {path}, but {came}. "
        "Build one with: spacy-pel kb build OUT --reader NAME FILE"
    )
    E104 = (
        "[PEL-E104] Expected entities without faults, but {entity} has one ({kind}). "
        "Mend the source, or build without --strict: it is repaired and counted then."
    )
    E105 = "[PEL-E105] Expected text in all fields of an entity, but came {entity}. Mend the source."
    E106 = (
        "[PEL-E106] Expected a knowledge base of format {expected} at {path}, but it has format {came}. "
        "Build it anew from its source with this version of spacy_pel."
    )
    E107 = (
        "[PEL-E107] Expected at most 2 GiB to turn into bytes, but this knowledge base has {n_bytes} bytes. "
        "Save it with to_disk() instead."
    )
    E108 = (
        "[PEL-E108] Expected the bytes of a knowledge base, but {came}. Use what to_bytes() gave, unchanged."
    )
    E109 = (
        "[PEL-E109] Expected the knowledge base {expected} at {path}, but there is {came} now. "
        "Put it back, or open the folder anew."
    )
    E110 = (
        "[PEL-E110] Expected a row of this knowledge base from 0 to {last}, but came {row}. "
        "Is the index of another knowledge base in use? Rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E111 = (
        "[PEL-E111] Expected a new folder or a knowledge base to replace at {path}, but {came}. "
        "Choose another folder."
    )
    E112 = (
        "[PEL-E112] Expected a live successor for '{id}', but '{came}' is retired along with it. "
        "Name the entity that stays."
    )
    E120 = (
        "[PEL-E120] Expected at least one entity from {paths}, but none came through. "
        "Check the files, and the filters for types, id prefix, sources and languages."
    )
    E121 = "[PEL-E121] {place}: {came} ({kind}). Mend the file, or read without strict: it is repaired then."
    E122 = (
        "[PEL-E122] Expected semantic types of the UMLS such as T047, but came {unknown}. "
        "Check the ids against the UMLS Semantic Network."
    )
    E140 = "[PEL-E140] Expected synonym scopes among {known}, but came {came}. Mend the setting 'scopes'."
    E141 = (
        "[PEL-E141] Expected for each column one of {known} or null, with an 'id' among them, but came {came}. "
        "Mend the setting 'columns'."
    )
    E142 = "[PEL-E142] The merge config cannot be used: {where}: {came}. Mend the named setting."
    E143 = (
        "[PEL-E143] Expected at least one entity from the sources {sources}, but none is left. "
        "Check 'id_pattern', 'id_xref' and the files."
    )
    # corpora: E200-E299
    E201 = (
        "[PEL-E201] {where}: expected the mention {expected!r} at characters {spans}, but the text there "
        "is {came!r}. Mend the offsets, or convert the source without --strict."
    )
    E202 = (
        '[PEL-E202] {where}: expected a document {{"id", "text", "mentions": [{{"start", "end", "label", '
        '"ids": []}}]}}, but came {came}. Make the file with the command `spacy-pel convert`.'
    )
    E203 = (
        '[PEL-E203] {where}: expected {{"pmid", "sentences": [{{"tokens", "mentions": [{{"start", "end", '
        '"cui", "text"}}]}}]}}, but came {came}. Is this the tokenised MedMentions?'
    )
    E204 = "[PEL-E204] The share of development documents must lie between 0 and 1, but came {came}."
    E205 = (
        "[PEL-E205] {where}: expected a PubTator line of document {pmid} (PMID|t|title, PMID|a|abstract, "
        "then PMID, start, end, text, type, id with tabs), but came {came!r}."
    )
    E206 = "[PEL-E206] Expected documents in {paths}, but there are none. Check the files and the reader."
    E207 = (
        "[PEL-E207] {where}: expected {expected}, but came {came}. Check that the files belong to the reader "
        "'{reader}'."
    )
    E208 = "[PEL-E208] The reader '{reader}' has no setting {came}. Its settings: {known}."
    E209 = (
        "[PEL-E209] Expected other values for settings of the reader '{reader}', but came {came}. "
        "Lists are written as JSON: --set 'ontologies=[\"CL\"]'."
    )
    E210 = "[PEL-E210] Expected both --dev-share and --dev-out, or none of them, but came {came} alone."
    E211 = "[PEL-E211] Expected a setting as NAME=VALUE, but came {came!r}. Example: --set strip_prefix=MESH:"
    E212 = (
        "[PEL-E212] Expected documents with the ids in {path}, but none of these {n} ids is in the corpus. "
        "Check that list and corpus belong together."
    )
    E213 = (
        "[PEL-E213] Expected a language code or a spaCy pipeline, but {came!r} is neither. "
        "Check --nlp, or install the pipeline."
    )
    # text, encoders, training: E300-E399
    E301 = "[PEL-E301] Expected {name} of at least {least}, but it is {value}. Set a larger value."
    E302 = (
        "[PEL-E302] Expected a trained or pretrained encoder, but this one has no weights yet. Call "
        "initialize() with a 'name' set, or from_disk() with a model folder."
    )
    E303 = (
        "[PEL-E303] Expected the pretrained model '{name}' as a folder, an installed package "
        "('package:NAME') or an id known to the Hugging Face hub, but it could not be loaded: {came}. "
        "Check the name, or download the model first."
    )
    E305 = "[PEL-E305] Expected store to be 'float32' or 'float16', but it is '{value}'."
    E306 = (
        "[PEL-E306] Expected an encoder of the kind that wrote {path}, but the folder holds {found}. "
        "Known: {known}. Train or save an encoder there first."
    )
    E307 = (
        "[PEL-E307] Expected a random model as 'random:layers=1,width=32' in '{name}', but came {came}. "
        "Known sizes: {known}."
    )
    E304 = (
        "[PEL-E304] Expected a model folder written by spacy_pel at {path}, but {came}. "
        "Train a model with: spacy-pel train CONFIG --output DIR"
    )
    E310 = (
        "[PEL-E310] Expected a training config in spaCy's format with known keys in {path}, but: {came}. "
        "Mend the config; configs/pel_minilm.cfg shows every key."
    )
    E311 = (
        "[PEL-E311] Expected training mentions whose ids are in the knowledge base, but there is none; "
        "left out: {skipped}. Check that corpus and knowledge base use the same ids."
    )
    E312 = (
        "[PEL-E312] Expected a checkpoint of this config and data at {path}, but it belongs to another "
        "run. Choose another --output, or leave out --resume to start anew."
    )
    E313 = (
        "[PEL-E313] Expected paths.{name} in the config, but it is not set. "
        "Set it there or give --paths.{name} PATH."
    )
    E314 = (
        "[PEL-E314] Expected an empty or new output folder, but {path} holds a training. Give --resume to "
        "go on with it, or choose another --output."
    )
    E315 = "[PEL-E315] Expected pel.training.dev.metric to be one of {known}, but it is '{value}'."
    E316 = (
        "[PEL-E316] Expected the CUDA device {gpu_id}, but {came}. Check nvidia-smi, or use --gpu-id -1 to "
        "train on the CPU."
    )
    E317 = (
        "[PEL-E317] Expected dev mentions whose ids are in the knowledge base, but there is none. Check that "
        "paths.dev and paths.kb use the same ids."
    )
    # index, combiners: E400-E499
    E400 = (
        "[PEL-E400] Expected {expected} in the index folder {path}, but came {came}. "
        "Build it anew with: spacy-pel index KB MODEL OUT"
    )
    E401 = (
        "[PEL-E401] The index at {path} was built with another {what} (it had the fingerprint {theirs}, the one "
        "given has {ours}). Build it anew with: spacy-pel index KB MODEL OUT"
    )
    E402 = (
        "[PEL-E402] Expected vectors of the shape (n, {expected}), as the index holds them, but came {came}. "
        "Use the encoder that the index was built with, or rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E403 = (
        "[PEL-E403] Expected an index with a width, but this one is new. Call train() or from_disk() first."
    )
    E404 = (
        "[PEL-E404] An index with codes '{codes}' and pca {pca} needs at least {least} vectors of at least that "
        "width to learn from, but came {n} of width {width}. Use codes 'fp16' and no pca for a small knowledge base."
    )
    E405 = "[PEL-E405] Expected kinds of rows among {known}, but came {came}. Mend the setting 'kinds'."
    E406 = "[PEL-E406] Expected entities to index, but the knowledge base has none. Check what it was built from."
    E407 = (
        "[PEL-E407] Expected at least one row, but the {n_documents} documents have no mention of an entity of the "
        "knowledge base. Add the kind 'card' or 'alias', or give text annotated with this knowledge base's ids."
    )
    E408 = (
        "[PEL-E408] Expected at most 2 GiB to turn into bytes, but this index has {n_bytes} bytes. "
        "Save it with to_disk() instead."
    )
    E409 = "[PEL-E409] Expected the bytes of an index, but came others. Use what to_bytes() gave, unchanged."
    E410 = (
        "[PEL-E410] Expected the encoder that the index was built with (fingerprint {theirs}), but came another "
        "({ours}). Use that one, or rebuild the index with: spacy-pel index KB MODEL OUT"
    )
    E411 = (
        "[PEL-E411] Expected the index {expected} at {path}, but there is {came} now. "
        "Put it back, or open the folder anew."
    )
    E412 = "[PEL-E412] Expected codes among {known}, but came '{came}'. Mend the setting 'codes'."
    E420 = (
        "[PEL-E420] Expected mentions whose entity is among their candidates, but none of {n} is. "
        "Does the corpus use the ids of the knowledge base, and was the index built from it?"
    )
    E421 = (
        "[PEL-E421] Expected weights for {expected}, but the saved combiner has them for {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    # component: E500-E599
    E500 = (
        "[PEL-E500] entity_types allows the label '{label}' the types {types}, but no entity of the KB has "
        "them. Types of the KB: {known}. Mend the setting: such mentions could only be NIL."
    )
    E501 = (
        "[PEL-E501] Expected gold mentions whose entities are in the KB, but none of {n} is. "
        "Does the corpus use the ids of this KB?"
    )
    E502 = (
        "[PEL-E502] Expected the component '{name}' to be ready, but it has no {missing} yet. Load a trained "
        "pipeline with spacy.load(), or set kb_loader, encoder_loader and index_loader in "
        "[initialize.components.{name}] and call nlp.initialize()."
    )
    E503 = (
        "[PEL-E503] Expected reranker to be null, but {came} came: no reranker can be used yet. "
        "Leave the setting out."
    )
    E504 = (
        "[PEL-E504] Expected a mention template with a length limit, but the encoder {encoder} has none. "
        "Leave max_length out."
    )
    E505 = (
        "[PEL-E505] The component '{name}' holds {size} GiB, and bytes can hold {limit} GiB at most. "
        "Save it with nlp.to_disk(): files have no limit and are memory-mapped."
    )
    E508 = (
        "[PEL-E508] Expected the bytes that a component '{name}' gave by to_bytes(), but {came} came. "
        "Load the pipeline that they were made with."
    )
    E507 = (
        "[PEL-E507] Expected {name} of at least {least}, but it is {value}. Set a larger value in the "
        "settings of the component."
    )
    # evaluation, command line: E600-E699
    E600 = (
        "[PEL-E600] Expected config overrides of the form --section.key value, but '{came}' came. "
        "See the command's --help for its own options."
    )
    E610 = (
        "[PEL-E610] Expected mentions of both kinds, linkable and NIL, to fit the NIL model, but {n_nil} of "
        "{n} are NIL. Use a development set with mentions whose entity the KB lacks."
    )
    E611 = (
        "[PEL-E611] Expected a NIL model fitted on {expected}, but this one was fitted on {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E620 = (
        "[PEL-E620] Expected a corpus with gold mentions, but it holds none. Check the file: one JSON object "
        'per line with "text" and "mentions".'
    )
    E621 = (
        "[PEL-E621] Expected gold ids of the pipeline's KB, but it knows none of the ids of {n} mentions, e.g. "
        "'{example}'. Use a corpus with ids of this KB, or a pipeline whose KB has these ids."
    )
    E630 = (
        "[PEL-E630] Expected annotated text for the rows of kind 'mention', but none came. "
        "Add: --mentions CORPUS.jsonl (training text only)."
    )
    E631 = "[PEL-E631] The index type '{name}' does not take the settings {came}. Leave them out."
    E640 = (
        "[PEL-E640] Expected texts in one of the formats {known}, but '{came}' came for {path}. "
        "Name the format with --format."
    )
    E641 = (
        '[PEL-E641] {where}: expected a "text" with the document\'s text, but came {came}. Rename the column.'
    )
    E642 = "[PEL-E642] Expected an output file of the kinds {known}, but {path} came. Rename it."
    E643 = (
        "[PEL-E643] Expected no parts of an earlier run, but {folder} holds some. Add --resume to go on with "
        "them, or delete the folder to start anew."
    )
    E644 = (
        "[PEL-E644] Expected to go on with the same input, pipeline and settings, but changed since the run that "
        "left {folder}: {changed}. Delete the folder to start anew."
    )
    E645 = "[PEL-E645] Expected texts to link, but {path} holds none. Check the path and --format."
    E650 = "[PEL-E650] The pipeline {path} cannot be loaded: {came}. Assemble it anew."
    E651 = (
        "[PEL-E651] Expected a pipeline with the component '{factory}' at {path}, but it has: {came}. "
        "Add the component, or name another pipeline."
    )
    E660 = (
        "[PEL-E660] Expected one place to store the calibration, but --apply-to and --output came. Name one."
    )
    E661 = (
        "[PEL-E661] Expected a {part} of the kind {expected} in the pipeline {path}, but it has a {came}. "
        "Both pipelines must be assembled with the same parts."
    )
    E670 = (
        "[PEL-E670] Expected a KB with entities at {path}, but it is empty. Build it with: spacy-pel kb build OUT "
        "--reader NAME FILE"
    )
    E671 = (
        "[PEL-E671] Expected gold ids of the KB {kb} in {path}, but it knows none of them. Use the KB that the "
        "corpus was annotated with."
    )
    E601 = "[PEL-E601] The config {path} cannot be used: {came}. Mend the named setting."


class Warnings:
    """Texts of warnings and log messages that name something the user should know."""

    # knowledge base: W100-W199
    W100 = "[PEL-W100] Entities were repaired on their way into the knowledge base: {counts}."
    # corpora: W200-W299
    W201 = (
        "[PEL-W201] {path}: of {mentions} mentions, {misaligned} lie inside tokens and {overlapping} overlap "
        "a longer one; doc.ents leaves them out."
    )
    # text, encoders, training: W300-W399
    # index, combiners: W400-W499
    # component: W500-W599
    W500 = (
        "[PEL-W500] None of the {n} mentions is NIL, so NIL model and threshold stay as they were. Calibrate "
        "on a corpus that holds mentions whose entity the KB lacks."
    )
    W501 = (
        "[PEL-W501] The component '{name}' was calibrated with {saved}, but its config now says {now}. What was "
        "learned is not used; calibrate anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    # evaluation, command line: W600-W699
    W600 = (
        "[PEL-W600] The config of {path} sets threshold = {value}, which wins over the calibrated one. "
        "Set it to null to use the calibration."
    )
