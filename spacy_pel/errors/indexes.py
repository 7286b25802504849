"""Index, candidates, combiners and rankers: E400-E499."""


class IndexErrors:
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
    E413 = (
        "[PEL-E413] Expected row_bytes that divide the width, and vectors to learn from, but came "
        "{came}. Use another row_bytes, or FaissFlat."
    )
    E420 = (
        "[PEL-E420] Expected mentions whose entity is among their candidates, but none of {n} is. "
        "Does the corpus use the ids of the knowledge base, and was the index built from it?"
    )
    E421 = (
        "[PEL-E421] Expected weights for {expected}, but the saved combiner has them for {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E430 = (
        "[PEL-E430] Expected the model folder of a ranker at {path}, but {came}. "
        "Train one with: spacy-pel rank-train CONFIG --output DIR"
    )
    E431 = (
        "[PEL-E431] Expected a trained or pretrained ranker, but this one has no weights yet. Call "
        "initialize() with a 'name' set, or from_disk() with a model folder."
    )
    E433 = (
        "[PEL-E433] Expected a bi-encoder as the encoder of a DualEncoder, but {came} came. Name one with "
        '@pel_encoders = "spacy-pel.BiEncoder.v1", or leave it out.'
    )
    E432 = (
        "[PEL-E432] Expected a length that the transformer can read, but it is {length} and the transformer "
        "reads {most} word pieces. Set a smaller length."
    )
