"""The spaCy component and the linker: E500-E599."""


class ComponentErrors:
    E500 = (
        "entity_types maps '{label}' to the types {types}, which no entity of the KB has. Types of the KB: {known}. "
        "Fix the setting."
    )
    E501 = (
        "Expected gold mentions whose entities are in the KB, got none among {n}. Use a corpus annotated with this "
        "KB.{hint}"
    )
    E502 = (
        "The component '{name}' has no {missing} yet. Load a trained pipeline with spacy.load(), or set kb_loader, "
        "encoder_loader and index_loader in [initialize.components.{name}] and call nlp.initialize()."
    )
    E503 = (
        "Expected reranker to be null or a registered part, got {got}. Example: "
        '{{"@pel_rankers":"spacy-pel.CrossEncoder.v1"}}'
    )
    E504 = "Expected a mention template with a length limit, but the encoder {encoder} has none. Leave out max_length."
    E510 = (
        "Expected generator to be null or a registered part, got {got}. Example: "
        '{{"@pel_candidates":"spacy-pel.TfIdf.v1"}}'
    )
    E511 = "{kind} needs vectors, but {missing} is null. Set both, or use a generator without vectors."
    E512 = (
        "{kind} does not use vectors, so {idle} would have no effect. Set encoder = null and index = null, or combine "
        "it with BiEncoderCandidates in EnsembleCandidates."
    )
    E513 = (
        "There is a {setting}_loader, but {setting} of '{name}' is null. Set {setting} in [components.{name}], or "
        "remove the loader."
    )
    E514 = (
        "The component '{name}' needs '{transformer}' of spacy-transformers before it, got {got}. Add it (pip install "
        "'spacy-pel[trf]'), or set transformer = null."
    )
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
    E530 = (
        "Expected a live entity or 'NIL' for the mention {text}, got {id}, which {why}. Check the id, or add the "
        "entity."
    )
    E531 = "Expected offsets within the {last} characters of {text}{where}, got {got}. Fix the offsets."
    E532 = (
        "Expected mentions with a corrected kb_id_ in the documents, got none. An id that the linker gave itself is no "
        "correction."
    )
    E533 = (
        "entity_types does not allow '{id}' for the label '{label}' of the mention {text}. Change the setting, or the "
        "id."
    )
    E534 = "Expected ids of learned mentions that are in effect, got {got}. Known: {known}."
    E535 = (
        "The learned mentions were encoded with {theirs}, but the component has {ours}. Load their pipeline, or call "
        "forget()."
    )
    E536 = "Expected {expected}, got {got}."
    E521 = (
        "'{name}' needs the linker '{linker}', whose names it finds, but the pipeline has only: {got}. Fix linker in "
        "[components.{name}]."
    )
    E522 = "The component '{name}' is not trained. Train it with 'spacy train', or load a trained pipeline."
    E523 = "Expected labelled mentions to train '{name}' on, got none. Check paths.train."
    E524 = (
        "The model of '{name}' has {columns} tags (two per label, and one), got {n} labels: {got}. Add the component "
        "again to train it on other labels."
    )
    E525 = (
        "Expected '{name}' of the teacher {teacher} to be a pel_mention_tagger with the labels {labels}, got labels: "
        "{got}. Train both on the same labels."
    )
    E507 = "Expected {name} to be {expected}, got {got}. Change this setting of the component."


class ComponentWarnings:
    W502 = "No NIL threshold for the label '{label}' could be fitted; it uses that of all mentions: {reason}"
    W500 = (
        "None of the {n} mentions is NIL, so only the evidence weights were refitted; the NIL model, threshold and "
        "P(right) are unchanged. Use a corpus with NIL mentions."
    )
    W504 = (
        "{similarity} compares tokens, but an index has one vector per text. To rerank by tokens: spacy-pel ranker add "
        "PIPELINE MODEL OUT"
    )
    W505 = (
        "The component '{name}' has no NIL threshold: every mention with a candidate is linked. Fit one with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl, or set threshold."
    )
    W506 = (
        "The component '{name}' is not calibrated: default weights, fitted on other text, decide on NIL. Fit your own "
        "with: spacy-pel calibrate PIPELINE CORPUS.jsonl, or set threshold."
    )
    W507 = (
        "P(right) and coverage were not calibrated: this needs {n} documents, any four fifths of which have NIL and "
        "other mentions. Use a larger corpus."
    )
    W509 = (
        "'{name}' was given another knowledge base, so the {n} corrections learned for the old one are gone. Teach "
        "them again."
    )
    W510 = (
        "The pipeline does not find {n} of {of} corrected mentions in their own texts, e.g. {example}, so these have "
        "no effect. Add a component that finds them, e.g. pel_name_finder."
    )
    W550 = (
        "{n} of {of} mentions already have the id that the linker gives. They are not corrections and were not learned."
    )
    W551 = (
        "{n} of {of} learned corrections have the id that the linker gave anyway. If nobody confirmed them, undo them "
        "with --undo."
    )
    W508 = (
        "'{name}' has coverage = {coverage}, but no calibration for sets. Fit it with: spacy-pel calibrate PIPELINE "
        "CORPUS.jsonl"
    )
    W503 = (
        "'{name}' was calibrated with the reranker {saved}, but now has {now}. Its NIL model and threshold are not "
        "used. Recalibrate it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W501 = (
        "'{name}' was calibrated with {saved}, but its config now has {now}. The calibration is not used. Recalibrate "
        "it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
