"""The spaCy component and the linker: E500-E599."""


class ComponentErrors:
    E500 = (
        "[PEL-E500] entity_types maps the label '{label}' to the types {types}, but no entity of the KB "
        "has them, so such mentions could only be NIL. Types of the KB: {known}. Fix the setting."
    )
    E501 = (
        "[PEL-E501] Expected gold mentions whose entities are in the KB, got none among {n} mentions. "
        "Use a corpus annotated with this KB.{hint}"
    )
    E502 = (
        "[PEL-E502] The component '{name}' is not ready: it has no {missing} yet. Load a trained pipeline "
        "with spacy.load(), or set kb_loader, encoder_loader and index_loader in "
        "[initialize.components.{name}] and call nlp.initialize()."
    )
    E503 = (
        "[PEL-E503] Expected reranker to be null or a part of the registry pel_rankers, got {got}. Example: "
        'reranker = {{"@pel_rankers":"spacy-pel.CrossEncoder.v1"}}'
    )
    E504 = (
        "[PEL-E504] Expected a mention template with a length limit, but the encoder {encoder} has none. "
        "Leave max_length out."
    )
    E510 = (
        "[PEL-E510] Expected generator to be null or a part of the registry pel_candidates, got {got}. "
        'Example: generator = {{"@pel_candidates":"spacy-pel.TfIdf.v1"}}'
    )
    E511 = (
        "[PEL-E511] With {kind}, candidates come from the vectors of an encoder and index, but {missing} is "
        "null. Set both, or set a generator that needs neither."
    )
    E512 = (
        "[PEL-E512] The generator {kind} does not use vectors, so {idle} would have no effect. Set "
        "encoder = null and index = null, or combine the generator with spacy-pel.BiEncoderCandidates.v1 "
        "in spacy-pel.EnsembleCandidates.v1."
    )
    E513 = (
        "[PEL-E513] There is a {setting}_loader, but {setting} of the component '{name}' is null. Set "
        "{setting} in [components.{name}], or leave the loader out."
    )
    E514 = (
        "[PEL-E514] The component '{name}' expected an enabled component '{transformer}' before it, the transformer "
        "of spacy-transformers, whose states it reads; got {got}. Add it (pip install 'spacy-pel[trf]'), or set "
        "transformer = null."
    )
    E515 = (
        "[PEL-E515] The component '{name}' reads mentions from the states of '{transformer}', but these are not "
        "those of its own encoder: expected a cosine of at least {least}, got {got:.3f}. Load the "
        "transformer's weights from the folder 'mention' of the encoder, and keep them frozen in training; or set "
        "transformer = null."
    )
    E516 = (
        "[PEL-E516] With transformer = '{transformer}', the component '{name}' expected an encoder with the mention "
        "template spacy-pel.DocumentWindows.v1, got {got}. Train one with configs/document_minilm.cfg, or set "
        "transformer = null."
    )
    E518 = '[PEL-E518] Expected {expected}, got {got}. Example: {name} = {{"@{registry}":"{example}"}}'
    E519 = "[PEL-E519] Sets of answers need a calibration. Fit it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    E530 = (
        "[PEL-E530] Expected the id of a live entity, or 'NIL', for the mention {text}, got {id}, which {why}. Check "
        "the id, or add the entity first."
    )
    E531 = (
        "[PEL-E531] Expected offsets of a mention in the {last} characters of the text {text}{where}, got {got}. Fix "
        "the offsets."
    )
    E532 = (
        "[PEL-E532] Expected mentions with a corrected kb_id_ (an id or 'NIL') in the documents, got none: mentions "
        "whose id is the one that this component gave, or gives them now, do not count. Correct their ids."
    )
    E533 = (
        "[PEL-E533] Expected an entity that mentions with the label '{label}' may be linked to, got '{id}' for the "
        "mention {text}: the setting entity_types excludes it. Change the setting, or the id."
    )
    E534 = "[PEL-E534] Expected ids of learned mentions that are in effect, got {got}. Known: {known}."
    E535 = (
        "[PEL-E535] The learned mentions were encoded with {theirs}, but the component has {ours}. Load the pipeline "
        "they belong to, or call forget() first."
    )
    E536 = "[PEL-E536] Expected {expected}, got {got}."
    E521 = (
        "[PEL-E521] The component '{name}' finds the names that the linker '{linker}' knows, but the pipeline has "
        "no such linker, only: {got}. Set linker in [components.{name}] to the name of the linker, or remove "
        "'{name}'."
    )
    E522 = (
        "[PEL-E522] Expected a trained detector, but the component '{name}' has no labels. Train it with 'spacy "
        "train', or load a trained pipeline."
    )
    E523 = (
        "[PEL-E523] Expected mentions with labels to train the component '{name}' on, got none in the training "
        "corpus. Check paths.train."
    )
    E524 = (
        "[PEL-E524] Expected labels for the {columns} tags of the model of the component '{name}' (two for each label, "
        "and one), got labels for {n}: {got}. Add the component again to train it on other labels."
    )
    E507 = "[PEL-E507] Expected {name} to be {expected}, got {got}. Change this setting of the component."


class ComponentWarnings:
    W502 = (
        "[PEL-W502] No NIL threshold could be fitted for the label '{label}', so it uses the threshold "
        "of all mentions: {reason}"
    )
    W500 = (
        "[PEL-W500] None of the {n} mentions is NIL, so only the evidence weights were refitted; NIL "
        "model and threshold are unchanged, and P(right), the probability that an answer is correct, is not calibrated. "
        "Calibrate on a corpus with mentions whose entity is not in the KB."
    )
    W504 = (
        "[PEL-W504] The similarity {similarity} compares tokens, but an index has one vector per text, so "
        "candidates are ordered by these vectors. To order them by tokens, add the same model as a ranker: "
        "spacy-pel ranker add PIPELINE MODEL OUT"
    )
    W505 = (
        "[PEL-W505] The component '{name}' has no NIL threshold: every mention with a candidate is linked, however "
        "unlikely. Fit one with: spacy-pel calibrate PIPELINE CORPUS.jsonl, or set threshold."
    )
    W506 = (
        "[PEL-W506] The component '{name}' is not calibrated: NIL is decided by the default weights of its NIL "
        "model, fitted on other text. Fit your own with: spacy-pel calibrate PIPELINE CORPUS.jsonl, or set "
        "threshold."
    )
    W507 = (
        "[PEL-W507] P(right), the probability that an answer is correct, and coverage were not calibrated: that needs "
        "{n} documents, of which any four fifths have NIL and other mentions. Calibrate on a larger corpus."
    )
    W509 = (
        "[PEL-W509] The component '{name}' was given another knowledge base, so the {n} corrections that it had learned "
        "for the old one are gone. Teach them again, or load the old pipeline."
    )
    W510 = (
        "[PEL-W510] The pipeline does not find {n} of {of} corrected mentions in their own texts, e.g. {example}, so "
        "these corrections have no effect. Add a component that finds them, e.g. entity_ruler or pel_name_finder."
    )
    W550 = (
        "[PEL-W550] Of {of} mentions with an id, {n} have the id that the linker gives them. They are not corrections "
        "and were not learned."
    )
    W551 = (
        "[PEL-W551] Of {of} corrections that were learned, {n} have the id that the linker gave anyway. If they are its "
        "own answers and nobody confirmed them, undo them with --undo."
    )
    W508 = (
        "[PEL-W508] The component '{name}' has coverage = {coverage}, but sets need a calibration, so there are "
        "none. Fit it with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W503 = (
        "[PEL-W503] The component '{name}' was calibrated with the reranker {saved}, but now has {now}. Its "
        "NIL model and threshold are not used; recalibrate with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W501 = (
        "[PEL-W501] The component '{name}' was calibrated with {saved}, but its config now has {now}. "
        "The calibration is not used; recalibrate with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
