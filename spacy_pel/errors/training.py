"""Text, encoders, losses, negatives and training: E300-E399."""


class TrainingErrors:
    E301 = "[PEL-E301] Expected {name} >= {least}, got {value}. Set a larger value."
    E302 = (
        "[PEL-E302] Expected a trained or pretrained encoder, but this one has no weights. Set its name "
        "(a folder, package:NAME, or a name on the Hugging Face Hub) and call initialize(), or read a "
        "model folder with from_disk()."
    )
    E303 = (
        "[PEL-E303] Expected the pretrained model '{name}' as a folder, an installed package "
        "('package:NAME') or a name on the Hugging Face Hub, but it could not be loaded: {got}. Check "
        "the name, or download the model first."
    )
    E305 = "[PEL-E305] Expected store = 'float32' or 'float16', got '{value}'."
    E307 = (
        "[PEL-E307] Expected a random model as 'random:layers=1,width=32' in '{name}', got {got}. Known sizes: {known}."
    )
    E304 = (
        "[PEL-E304] Expected a checkpoint of a training at {path}, but it cannot be read: {got}. "
        "Delete that folder to start a new training."
    )
    E308 = (
        "[PEL-E308] Expected a similarity from the registry 'pel_similarities', got {value}. Add a "
        "section [pel.encoder.similarity] with @pel_similarities, or leave it out to use the cosine."
    )
    E310 = (
        "[PEL-E310] Expected a training config in spaCy's format with known keys in {path}, but: {got}. "
        "Fix the config or the override; docs/configuration.md lists all settings."
    )
    E311 = (
        "[PEL-E311] Expected training mentions whose ids are in the knowledge base, got none; "
        "left out: {skipped}. Check that corpus and knowledge base use the same ids.{hint}"
    )
    E312 = (
        "[PEL-E312] Expected a checkpoint of this config and data at {path}, but it belongs to a "
        "different run. Choose another --output, or delete that folder to start a new training."
    )
    E313 = (
        "[PEL-E313] Expected paths.{name} in the config, but it is not set. Set it there or give --paths.{name} PATH."
    )
    E314 = (
        "[PEL-E314] Expected an empty or new output folder, but {path} holds a training. Give --resume to "
        "continue it, or choose another --output."
    )
    E315 = "[PEL-E315] Expected pel.training.dev.metric to be one of {known}, got '{value}'."
    E316 = "[PEL-E316] Expected the CUDA device {gpu_id}, but {got}. Check nvidia-smi, or use --gpu-id -1 for the CPU."
    E317 = (
        "[PEL-E317] Expected dev mentions whose ids are in the knowledge base, got none. Check that "
        "paths.dev and paths.kb use the same ids.{hint}"
    )
    E318 = (
        "[PEL-E318] Expected at least one batch per epoch for each of the {world} processes, got {got}. "
        "Use fewer processes, a smaller training.batch_size or more mentions."
    )
    E319 = (
        "[PEL-E319] Expected entities with two names or more to train on, got none in {path}. Choose a "
        "knowledge base with synonyms, or hold out fewer names: lower pel.training.dev.n_mentions."
    )
    E320 = (
        "[PEL-E320] Expected a complete table of mined negatives at {path}, but: {got}. Delete the output folder "
        "and restart the training."
    )
    E321 = "[PEL-E321] Expected a percentage of hard negatives between 0 and 100, got {value}."
    E322 = (
        "[PEL-E322] Expected a negative sampler as the part '{name}', got {got}. Name a registered one "
        "with @pel_negatives."
    )
    E323 = (
        "[PEL-E323] Expected at least {least} mined negatives per mention for this sampler, got {got} "
        "from {where}. Mine more negatives, or reduce the depth of the sampler."
    )
    E324 = (
        "[PEL-E324] Expected mined negatives of the training mentions in {path}, but {got}. Mine them with: "
        "spacy-pel mine KB MODEL CORPUS.jsonl OUT.jsonl"
    )
    E325 = "[PEL-E325] Expected an index of the kinds {known} for mining, got '{value}'."
    E326 = (
        "[PEL-E326] Expected complete files of tokenised examples at {path}, but: {got}. Delete that folder; it "
        "will be rebuilt."
    )
    E330 = (
        "[PEL-E330] Expected either [pel.mixing] or [pel.regularizer], got both. A regularizer perturbs "
        "the input embeddings of negatives, but mixed negatives have none: they combine the vectors of "
        "two texts, one of them the positive. Set one of the sections to null."
    )
    E331 = (
        "[PEL-E331] Expected a similarity of pooled vectors for a ranker that is trained on groups of "
        "mentions, but {got} compares tokens, and the anchor of a group has no token vectors. Train a "
        "bi-encoder with 'spacy-pel train' and load it as a DualEncoder, or use Euclidean, DotProduct or "
        "Cosine."
    )
    E332 = "[PEL-E332] Expected {name} > 0, got {value}."
    E333 = "[PEL-E333] Expected offset to be a number, null or 'learned', got '{value}'."
    E334 = "[PEL-E334] Expected 0 <= overlap < 1, got {value}. 0.5 makes windows that overlap by half."
    E335 = (
        "[PEL-E335] Expected pooling = 'mention' and a similarity of pooled vectors with {template}, where "
        "a mention is the mean over its pieces, got pooling = '{pooling}' and {similarity}. Set these, or "
        "use spacy-pel.MarkedContext.v1."
    )
    E336 = (
        "[PEL-E336] Expected a fast tokenizer, which gives offsets, got {got}. Use a model with one; "
        "as the template of mentions, spacy-pel.MarkedContext.v1 takes any."
    )
    E337 = (
        "[PEL-E337] Expected a template of mentions with markers for {what}, got {template}. Use "
        "spacy-pel.MarkedContext.v1."
    )
    E338 = (
        "[PEL-E338] Expected an empty or new output folder, but {path} holds a finished training without its "
        "checkpoint, which cannot be continued. Choose another --output, or delete that folder."
    )
    E346 = "[PEL-E346] Expected {name} >= 0, got {value}. Set a larger value."
    E347 = "[PEL-E347] Expected a trainable ranker as ranker.model, got {got}. Recipes are registered for: {known}."
    E348 = "[PEL-E348] {name} cannot be trained with ranker.{section}: {why}. Leave the section [ranker.{section}] out."
    E350 = "[PEL-E350] Expected a weight from 0 to 1, got {weight}."
    E351 = (
        "[PEL-E351] Expected two encoders that differ in their weights only, but these also differ in: "
        "{differing}. Average encoders that were trained from the same model with the same [pel.encoder]."
    )
    E352 = (
        "[PEL-E352] Expected max_length of at most {most}, the longest input of the transformer, got {got}. "
        "Decrease it in the section of spacy-pel.TransformerTok2Vec.v1."
    )
    E353 = (
        "[PEL-E353] Expected weights of the transformer, got none. Set name in the section of "
        "spacy-pel.TransformerTok2Vec.v1 to a folder, package:NAME, or a name on the Hugging Face Hub, and "
        "train the pipeline; or load one that was trained."
    )
    E354 = "[PEL-E354] Expected rate > 0, the transformer's share of the learning rate, got {value}."
    E390 = (
        "[PEL-E390] Expected a config in spaCy's format with a [ranker] section and known keys in {path}, but: "
        "{got}. Fix the config; configs/ranker_sapbert.cfg shows every key."
    )
    E391 = (
        "[PEL-E391] Expected the documents that the pipeline's index was built with, because their "
        "mentions are held out of it in turn, but the index has {what} and these documents give {got}, "
        "or different ones. Name the corpora in paths.mentions, or set ranker.candidates.folds = 0 if "
        "the index never saw the training documents."
    )
    E392 = (
        "[PEL-E392] Expected mentions in {what} whose entities are in the pipeline's KB, got none. Check that "
        "corpus and KB use the same ids."
    )
    E393 = "[PEL-E393] Expected ranker.model.top_k >= ranker.candidates.n = {n}, got {top_k}. Set top_k to {n}."


class TrainingWarnings:
    W300 = (
        "[PEL-W300] mixed_precision = 'bf16' on a processor without bfloat16 units: 3 to 20 times as slow as "
        "float32. Set mixed_precision = 'auto', or train on a GPU with --gpu-id."
    )
