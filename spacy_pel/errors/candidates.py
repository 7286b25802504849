"""Generators of candidates: E440-E459."""


class CandidateErrors:
    E440 = "[PEL-E440] Expected at least 1 candidate for each mention, but top_k is {top_k}. Mend it."
    E441 = (
        "[PEL-E441] Expected {expected} in the folder {path} of a candidate generator, but came {came}. "
        "Build it anew with: spacy-pel candidates-build KB OUT --generator NAME"
    )
    E442 = (
        "[PEL-E442] Expected the folder of a generator {expected} at {path}, but it holds {came}. Name another "
        "folder, or set that generator in the config."
    )
    E443 = (
        "[PEL-E443] The candidate generator at {path} was built from another knowledge base (fingerprint "
        "{theirs}, the one given has {ours}). Build it anew with: spacy-pel candidates-build KB OUT "
        "--generator NAME"
    )
    E444 = (
        "[PEL-E444] Expected a generator that is built, but {generator} is new. Call build() with a knowledge "
        "base, or from_disk() with a folder of candidates-build."
    )
    E445 = (
        "[PEL-E445] Expected other settings of the generator '{generator}', but came {came}. Lists and parts "
        "are written as JSON: --set 'char_ngrams=[2, 5]'."
    )
    E446 = (
        "[PEL-E446] Expected a knowledge base with names to find, but {came}. Check what it was built from."
    )
    E447 = (
        "[PEL-E447] Expected {expected} for the setting '{setting}' of {generator}, but came {came}. Mend it."
    )
    E448 = (
        "[PEL-E448] Expected the knowledge base that the generator {generator} was built from, with {least} rows "
        "at least, but came one of {n}. Give that one, or build the generator anew."
    )
    E449 = (
        "[PEL-E449] The generator {generator} needs the encoder and the index of a pipeline, and is not built by "
        "itself. Name the pipeline in --pipeline, or add the generator to it with: spacy-pel candidates-add"
    )
    E450 = (
        "[PEL-E450] Expected folders of candidate generators with different names, or LABEL=FOLDER, but came "
        "{came}."
    )
    E456 = (
        "[PEL-E456] Expected an encoder and an index for the generator {generator}, which works on their vectors, "
        "but none came. Use it in a Linker or a component that has both, or call bind(encoder, index)."
    )
    E457 = (
        "[PEL-E457] Expected an encoder and an index, as the generator {generator} works on their vectors, but there "
        "is no {missing}. Give both, or take a generator that needs none, e.g. spacy-pel.TfIdf.v1."
    )
    E458 = (
        "[PEL-E458] Expected an encoder in the pipeline {path}, as {generator} works on vectors, but its linker has "
        "none. Name a pipeline whose linker has an encoder and an index."
    )
