"""Index, candidates, combiners and rankers: E400-E499."""


class IndexErrors:
    E401 = (
        "[PEL-E401] The index at {path} was built with another {what} (fingerprint {theirs}, yours is "
        "{ours}). Rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E402 = (
        "[PEL-E402] Expected vectors of the shape (n, {expected}), like those in the index, got {got}. Use "
        "the encoder that the index was built with, or rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E403 = "[PEL-E403] The index is new and has no width yet. Call train() or from_disk() first."
    E404 = (
        "[PEL-E404] Expected at least {least} training vectors, and a pca of at most their width, for an "
        "index with codes '{codes}' and pca {pca}, got {n} of width {width}. Use codes 'fp16' and no pca "
        "for a small knowledge base."
    )
    E405 = "[PEL-E405] Expected kinds of rows among {known}, got {got}. Fix the setting 'kinds'."
    E406 = "[PEL-E406] Expected entities to index, but the knowledge base is empty. Check what it was built from."
    E407 = (
        "[PEL-E407] Expected at least one row, but the {n_documents} documents mention no entity of the "
        "knowledge base. Add the kind 'card' or 'alias', or use text annotated with the ids of this "
        "knowledge base."
    )
    E410 = (
        "[PEL-E410] Expected the encoder that the index was built with (fingerprint {theirs}), got another "
        "one ({ours}). Use the former, or rebuild the index with: spacy-pel index KB MODEL OUT"
    )
    E411 = (
        "[PEL-E411] Expected the index with the fingerprint {expected} at {path}, got {got}. Put it back, or "
        "load the folder again."
    )
    E412 = "[PEL-E412] Expected codes among {known}, got '{got}'. Fix the setting 'codes'."
    E413 = (
        "[PEL-E413] Expected row_bytes that divide the width, and vectors to train on, got {got}. Use "
        "another row_bytes, or FaissFlat."
    )
    E414 = "[PEL-E414] Expected no {setting} with codes = {codes}, got {value}. Leave one of the two out."
    E416 = (
        "[PEL-E416] Expected an index that keeps its vectors in full (codes fp32, no pca), or in fp16 to update one "
        "in fp16, at {path}, got {got}. Build it once with --codes fp32, update that one, and compress copies of "
        "it with: spacy-pel recode INDEX OUT --codes int8"
    )
    E417 = (
        "[PEL-E417] {given} was given, but {kept} is kept from the index at {path}, and they exclude each other. "
        "Give {missing} as well, or leave {given} out."
    )
    E420 = (
        "[PEL-E420] Expected mentions whose gold entity is among their candidates, got none among {n} "
        "mentions. Check that the corpus uses the ids of the knowledge base, and that the index was "
        "built from it."
    )
    E421 = (
        "[PEL-E421] Expected weights for {expected}, but the saved combiner has them for {got}. Refit it "
        "with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E431 = (
        "[PEL-E431] This ranker has no weights yet. Call initialize() with a 'name' set, or from_disk() with "
        "a model folder."
    )
    E433 = (
        "[PEL-E433] Expected a bi-encoder as the encoder of a DualEncoder, got {got}. Set @pel_encoders = "
        '"spacy-pel.BiEncoder.v1", or leave it out.'
    )
    E432 = (
        "[PEL-E432] Expected at most {most} word pieces, the limit of the transformer, got a length of "
        "{length}. Set a smaller length."
    )
