"""The spaCy component and the linker: E500-E599."""


class ComponentErrors:
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
        "[PEL-E503] Expected reranker to be null or a part of the registry pel_rankers, but {came} came. "
        'Example: reranker = {{"@pel_rankers":"spacy-pel.CrossEncoder.v1"}}'
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
    E509 = (
        "[PEL-E509] Expected the component '{name}' to have a reranker, as there is a reranker_loader, but it is "
        "null. Set reranker in [components.{name}], or leave the loader out."
    )
    E510 = (
        "[PEL-E510] Expected generator to be null or a part of the registry pel_candidates, but {came} came. "
        'Example: generator = {{"@pel_candidates":"spacy-pel.TfIdf.v1"}}'
    )
    E511 = (
        "[PEL-E511] Expected an encoder and an index, as {kind} is set and candidates come from their vectors, but "
        "{missing} is null. Set both, or set a generator that needs none."
    )
    E512 = (
        "[PEL-E512] Expected encoder and index to be null, as the generator {kind} reads no vectors, but {idle} is "
        "set and would do nothing. Set encoder = null and index = null, or put the generator beside "
        "spacy-pel.BiEncoderCandidates.v1 in spacy-pel.EnsembleCandidates.v1."
    )
    E513 = (
        "[PEL-E513] Expected no {given} for the component '{name}', as its encoder and index are null. Leave the "
        "loader out of [initialize.components.{name}]."
    )
    E514 = (
        "[PEL-E514] Expected the component '{name}' to have a generator, as there is a generator_loader, but it is "
        "null. Set generator in [components.{name}], or leave the loader out."
    )
    E507 = (
        "[PEL-E507] Expected {name} of at least {least}, but it is {value}. Set a larger value in the "
        "settings of the component."
    )


class ComponentWarnings:
    W502 = "[PEL-W502] The label '{label}' gets no NIL threshold of its own and shares that of all mentions: {came}"
    W500 = (
        "[PEL-W500] None of the {n} mentions is NIL, so NIL model and threshold stay as they were, though the weights "
        "of the evidence are new. Calibrate on a corpus that holds mentions whose entity the KB lacks."
    )
    W504 = (
        "[PEL-W504] The similarity {similarity} compares tokens, but an index has one vector "
        "of each text: candidates are ordered by these alone. Let tokens order them by the same model as a ranker: "
        "spacy-pel rank-add PIPELINE MODEL OUT"
    )
    W503 = (
        "[PEL-W503] The component '{name}' was calibrated with the reranker {saved}, but has {now} now. Its NIL "
        "model and threshold are not used; calibrate anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    W501 = (
        "[PEL-W501] The component '{name}' was calibrated with {saved}, but its config now says {now}. What was "
        "learned is not used; calibrate anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
