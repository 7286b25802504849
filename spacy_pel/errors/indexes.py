"""Index, candidates, combiners and rankers: E400-E499."""


class IndexErrors:
    E401 = "The index at {path} has another {what} ({theirs}, yours is {ours}). Rebuild it with: spacy-pel index"
    E402 = "Expected vectors of the shape (n, {expected}), got {got}. Use the encoder of the index, or rebuild it."
    E403 = "The index is new and has no width yet. Call train() or from_disk() first."
    E404 = (
        "Expected at least {least} training vectors, and pca <= their width, for codes '{codes}' and pca {pca}, got "
        "{n} of width {width}. Use codes 'fp16' and no pca for a small KB."
    )
    E405 = "Expected kinds of rows among {known}, got {got}. Fix the setting 'kinds'."
    E406 = "Expected entities to index, but the knowledge base is empty. Check what it was built from."
    E407 = "Expected rows, but the {n_documents} documents mention no entity of the KB. Add the kind 'card' or 'alias'."
    E410 = "Expected the encoder of the index ({theirs}), got {ours}. Rebuild the index with: spacy-pel index"
    E411 = "Expected the index with the fingerprint {expected} at {path}, got {got}. Put it back, or load again."
    E412 = "Expected codes among {known}, got '{got}'. Fix the setting 'codes'."
    E413 = "Expected row_bytes that divide the width, and training vectors, got {got}. Change them, or use FaissFlat."
    E414 = "Expected no {setting} with codes = {codes}, got {value}. Leave one of the two out."
    E416 = (
        "Expected an index with full vectors (codes fp32, no pca; or fp16 for fp16) at {path}, got {got}. Build it "
        "once with --codes fp32, update that one, and compress copies with: spacy-pel recode"
    )
    E417 = "{fault} These settings come from the index at {path}: {kept}. Change them, too."
    E420 = "Expected mentions with their entity among the candidates, got none among {n}. Check that ids agree."
    E421 = "Expected weights for {expected}, but the combiner has them for {got}. Refit it: spacy-pel calibrate"
    E431 = "This ranker has no weights yet. Call initialize() with a 'name' set, or from_disk() with a model folder."
    E433 = "Expected a bi-encoder (spacy-pel.BiEncoder.v1) as the encoder of a DualEncoder, got {got}."
