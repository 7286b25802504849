"""Candidate generators: E443-E459."""


class CandidateErrors:
    E443 = (
        "[PEL-E443] The candidate generator at {path} was built from another knowledge base (its fingerprint "
        "is {theirs}, yours is {ours}). Rebuild it with: spacy-pel candidates build KB OUT --generator NAME"
    )
    E444 = (
        "[PEL-E444] The generator {generator} has not been built yet. Call build() with a knowledge base, or "
        "from_disk() with a folder written by `candidates build`."
    )
    E445 = (
        "[PEL-E445] Invalid settings of the generator '{generator}': {got}. Write lists and parts as JSON: "
        "--set 'char_ngrams=[2, 5]'."
    )
    E446 = "[PEL-E446] Expected a knowledge base with names to search, got {got}. Check what it was built from."
    E447 = "[PEL-E447] Expected {expected} for the setting '{setting}' of {generator}, got {got}. Fix the setting."
    E448 = (
        "[PEL-E448] Expected the knowledge base that the generator {generator} was built from, with at "
        "least {least} rows, got one with {n} rows. Pass the right knowledge base, or rebuild the "
        "generator."
    )
    E449 = (
        "[PEL-E449] The generator {generator} needs the encoder and the index of a pipeline and cannot be "
        "built on its own. Name the pipeline with --pipeline, or add the generator to it with: spacy-pel "
        "candidates add"
    )
    E450 = (
        "[PEL-E450] Expected candidate generator folders with different names, got {got}. Give each its "
        "own label with LABEL=FOLDER."
    )
    E456 = (
        "[PEL-E456] The generator {generator} compares vectors and needs an encoder and an index, got "
        "neither. Use it in a Linker or a component that has both, or call bind(encoder, index)."
    )
    E457 = (
        "[PEL-E457] The generator {generator} compares vectors and needs an encoder and an index, but there "
        "is no {missing}. Pass both, or use a generator without vectors, e.g. spacy-pel.TfIdf.v1."
    )
    E458 = (
        "[PEL-E458] {generator} compares vectors, but the linker of the pipeline {path} has no encoder. Use "
        "a pipeline whose linker has an encoder and an index."
    )
