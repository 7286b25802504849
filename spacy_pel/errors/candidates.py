"""Candidate generators: E443-E459."""


class CandidateErrors:
    E443 = "{path} was built from another knowledge base ({theirs}, yours is {ours}). Build the generator again."
    E444 = "The generator {generator} has not been built. Call build() or from_disk() first."
    E445 = "Invalid settings of '{generator}': {got}. Write lists and parts as JSON: --set 'char_ngrams=[2, 5]'."
    E446 = "Expected a knowledge base with names to search, got {got}. Check what it was built from."
    E447 = "Expected {expected} for the setting '{setting}' of {generator}, got {got}. Fix the setting."
    E448 = "Expected the knowledge base of {generator}, with {least} rows or more, got {n} rows. Rebuild the generator."
    E449 = "{generator} needs the encoder and index of a pipeline. Give --pipeline, or use: spacy-pel candidates add"
    E450 = "Expected generator folders with different names, got {got}. Set labels with LABEL=FOLDER."
    E456 = "{generator} compares vectors and needs an encoder and an index. Call bind(encoder, index) first."
    E457 = "{generator} compares vectors, but there is no {missing}. Pass one, or use e.g. spacy-pel.TfIdf.v1."
    E458 = "{generator} needs an encoder and an index, which the pipeline {path} lacks. Use another pipeline."
