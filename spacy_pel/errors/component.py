"""The spaCy component and the linker: E500-E599."""


class ComponentErrors:
    E500 = (
        "entity_types maps '{label}' to {types}, but the KB has no such types or ids. Its types: {known}. "
        "Fix the setting."
    )
    E501 = "Expected gold mentions whose entities are in the KB, got none among {n}. Use a corpus of this KB.{hint}"
    E502 = (
        "The component '{name}' has no {missing} yet. Load a trained pipeline with spacy.load(), or set kb_loader, "
        "encoder_loader and index_loader in [initialize.components.{name}] and call nlp.initialize()."
    )
    E503 = 'Expected reranker = null or a part, e.g. {{"@pel_rankers":"spacy-pel.CrossEncoder.v1"}}, got {got}.'
    E504 = "Expected a mention template with a length limit, but the encoder {encoder} has none. Leave out max_length."
    E510 = 'Expected generator = null or a part, e.g. {{"@pel_candidates":"spacy-pel.TfIdf.v1"}}, got {got}.'
    E511 = "{kind} needs vectors, but {missing} is null. Set both, or use a generator without vectors."
    E512 = "{kind} does not use vectors, so {idle} would have no effect. Set encoder and index to null."
    E513 = "'{name}' has a {setting}_loader, but {setting} is null. Set {setting}, or remove the loader."
    E514 = "'{name}' needs '{transformer}' of spacy-transformers before it, got {got}. Or set transformer = null."
    E515 = (
        "'{transformer}' does not give the states of the encoder of '{name}': expected a cosine of {least} or more, "
        "got {got:.3f}. Load its weights from the encoder's folder 'mention' and freeze them, or set transformer = "
        "null."
    )
    E516 = (
        "With transformer = '{transformer}', '{name}' needs an encoder with the template spacy-pel.DocumentWindows.v1, "
        "got {got}. Use configs/document_minilm.cfg, or set transformer = null."
    )
    E518 = 'Expected {expected}, got {got}. Example: {name} = {{"@{registry}":"{example}"}}'
    E519 = "Prediction sets need a calibration. Fit it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    E530 = "Expected a live entity or 'NIL' for the mention {text}, got {id}, which {why}. Check the id."
    E531 = "Expected offsets within the {last} characters of {text}{where}, got {got}. Fix the offsets."
    E532 = "Expected mentions with a corrected kb_id_, got none. An id that the linker gave is no correction."
    E533 = "entity_types does not allow '{id}' for the label '{label}' of {text}. Change the setting, or the id."
    E534 = "Expected ids of learned mentions that are in effect, got {got}. Known: {known}."
    E535 = "The learned mentions were encoded with {theirs}, not {ours}. Load their pipeline, or call forget()."
    E536 = "Expected {expected}, got {got}."
    E521 = "'{name}' needs the linker '{linker}', but the pipeline has only: {got}. Fix linker in [components.{name}]."
    E522 = "The component '{name}' is not trained. Train it with 'spacy train', or load a trained pipeline."
    E523 = "Expected labelled mentions to train '{name}' on, got none. Check paths.train."
    E524 = "'{name}' has {columns} tags, two per label and one, but got {n} labels: {got}. Add the component again."
    E525 = (
        "Expected '{name}' of the teacher {teacher} to be a pel_mention_tagger with the labels {labels}, got labels: "
        "{got}. Train both on the same labels."
    )
    E526 = "Expected {where} to name labels, their ids or groups, got '{got}'{hint}. Labels: {labels}."
    E507 = "Expected {name} to be {expected}, got {got}. Change this setting of the component."


class ComponentWarnings:
    W502 = "No NIL threshold for the label '{label}' could be fitted; it uses that of all mentions: {reason}"
    W500 = (
        "None of the {n} mentions is NIL, so only the evidence weights were refitted; the NIL model, threshold and "
        "P(right) are unchanged. Use a corpus with NIL mentions."
    )
    W504 = "{similarity} compares tokens, but an index has one vector per text. See: spacy-pel ranker add --help"
    W505 = (
        "'{name}' has no NIL threshold, so each mention with a candidate is linked. Fit one: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W506 = (
        "'{name}' is not calibrated: default weights decide on NIL. Fit your own with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W507 = (
        "P(right) and coverage were not calibrated: this needs {n} documents, any four fifths of which have NIL and "
        "other mentions. Use a larger corpus."
    )
    W509 = "'{name}' has another knowledge base now, so its {n} learned corrections are gone. Teach them again."
    W510 = "The pipeline does not find {n} of {of} corrected mentions, e.g. {example}. Add e.g. pel_name_finder."
    W511 = (
        "No semantic type or group has the label '{got}'{hint}. If no mention has it either, change labels_keep or "
        "labels_discard."
    )
    W550 = "{n} of {of} mentions already have the id that the linker gives, so they are not corrections."
    W551 = "{n} of {of} learned corrections repeat the linker's answer. Unless they were confirmed, use --undo."
    W508 = (
        "'{name}' has coverage = {coverage}, but no calibration for sets. Fit it with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W503 = (
        "'{name}' was calibrated with the reranker {saved}, now has {now}. Recalibrate it with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W501 = (
        "'{name}' was calibrated with {saved}, but now has {now}. Recalibrate it with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
