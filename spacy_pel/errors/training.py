"""Text, encoders, losses, negatives and training: E300-E399."""


class TrainingErrors:
    E301 = "Expected {name} >= {least}, got {value}. Set a larger value."
    E302 = (
        "This encoder has no weights. Set its name (a folder, package:NAME or a Hugging Face model) and call "
        "initialize(), or read a model folder with from_disk()."
    )
    E303 = (
        "'{name}' is not a folder, an installed package ('package:NAME') or a model on the Hugging Face Hub that can "
        "be loaded: {got}. Check the name, or download the model first."
    )
    E305 = "Expected store = 'float32' or 'float16', got '{value}'."
    E307 = "Expected a random model as 'random:layers=1,width=32' in '{name}', got {got}. Known sizes: {known}."
    E304 = "The checkpoint at {path} cannot be read: {got}. Delete that folder to start a new training."
    E308 = "Expected a part of the registry 'pel_similarities', got {value}. Fix [pel.encoder.similarity]."
    E310 = "Invalid training config {path}: {got}. Fix the config or the override; see docs/configuration.md."
    E311 = (
        "Expected training mentions whose ids are in the KB, got none; left out: {skipped}. Check that corpus and KB "
        "use the same ids.{hint}"
    )
    E312 = "The checkpoint at {path} belongs to another config or data. Choose another --output, or delete that folder."
    E313 = "Expected paths.{name} in the config, but it is not set. Set it there or give --paths.{name} PATH."
    E314 = "{path} holds a training. Run the same command with --resume to continue, or choose another --output."
    E315 = "Expected pel.training.dev.metric to be one of {known}, got '{value}'."
    E316 = "Expected the CUDA device {gpu_id}, but {got}. Check nvidia-smi, or use --gpu-id -1 for the CPU."
    E317 = (
        "Expected dev mentions whose ids are in the KB, got none. Check that paths.dev and paths.kb use the same "
        "ids.{hint}"
    )
    E318 = (
        "Expected at least one batch per epoch for each of {world} processes, got {got}. Use fewer processes or "
        "smaller batches."
    )
    E319 = (
        "Expected entities with two names or more to train on, got none in {path}. Add a knowledge base with "
        "synonyms, or hold out fewer names: lower pel.training.dev.n_mentions."
    )
    E320 = "The table of mined negatives at {path} is incomplete: {got}. Delete the output folder and train again."
    E321 = "Expected a percentage of hard negatives between 0 and 100, got {value}."
    E322 = "Expected a negative sampler as the part '{name}', got {got}. Name a registered one with @pel_negatives."
    E323 = (
        "Expected at least {least} mined negatives per mention, got {got} from {where}. Mine more, or reduce the depth."
    )
    E324 = "Expected mined negatives of the training mentions in {path}, but {got}. Mine them with: spacy-pel mine"
    E325 = "Expected an index of the kinds {known} for mining, got '{value}'."
    E326 = "The tokenised examples at {path} are incomplete: {got}. Delete that folder; it will be rebuilt."
    E330 = (
        "Expected [pel.mixing] or [pel.regularizer], got both. A regularizer perturbs input embeddings, which mixed "
        "negatives do not have. Set one of the sections to null."
    )
    E331 = (
        "A ranker that is trained on groups of mentions needs a similarity of pooled vectors, but {got} compares "
        "tokens. Use Euclidean, DotProduct or Cosine, or load a trained bi-encoder as a DualEncoder."
    )
    E332 = "Expected {name} > 0, got {value}."
    E333 = "Expected offset to be a number, null or 'learned', got '{value}'."
    E334 = "Expected 0 <= overlap < 1, got {value}. 0.5 makes windows that overlap by half."
    E335 = (
        "{template} needs pooling = 'mention' and a similarity of pooled vectors, got '{pooling}' and {similarity}. "
        "Set these, or use spacy-pel.MarkedContext.v1."
    )
    E336 = (
        "Expected a fast tokenizer, which gives offsets, got {got}. Use a model with one, or the template "
        "spacy-pel.MarkedContext.v1."
    )
    E337 = "Expected a template of mentions with markers for {what}, got {template}. Use spacy-pel.MarkedContext.v1."
    E338 = "{path} holds a finished training without its checkpoint. Choose another --output, or delete that folder."
    E346 = "Expected {name} >= 0, got {value}. Set a larger value."
    E347 = "Expected a trainable ranker as ranker.model, got {got}. Recipes are registered for: {known}."
    E348 = "{name} cannot be trained with ranker.{section}: {why}. Leave the section [ranker.{section}] out."
    E350 = "Expected a weight from 0 to 1, got {weight}."
    E351 = (
        "Expected encoders that differ only in their weights, but these also differ in: {differing}. Average encoders "
        "with the same [pel.encoder]."
    )
    E352 = (
        "Expected max_length of at most {most}, the limit of the transformer, got {got}. Decrease it in "
        "TransformerTok2Vec."
    )
    E353 = (
        "The transformer has no weights. Set name of spacy-pel.TransformerTok2Vec.v1 to a folder, package:NAME or a "
        "Hugging Face model and train the pipeline, or load a trained one."
    )
    E354 = "Expected rate > 0, the transformer's share of the learning rate, got {value}."
    E355 = "Expected layers from 1 to {most}, those of the transformer, got {got}. Leave layers out to keep all."
    E390 = "Invalid ranker config {path}: {got}. Fix the config; configs/ranker_sapbert.cfg shows every key."
    E391 = (
        "Expected the documents of the pipeline's index, whose mentions are held out in turn, but the index has {what} "
        "and these documents give {got}, or different ones. Fix paths.mentions, or set ranker.candidates.folds = 0 if "
        "the index never saw the training documents."
    )
    E392 = (
        "Expected mentions in {what} whose entities are in the pipeline's KB, got none. Check that both use the same "
        "ids."
    )
    E393 = "Expected ranker.model.top_k >= ranker.candidates.n = {n}, got {top_k}. Set top_k to {n}."


class TrainingWarnings:
    W300 = (
        "mixed_precision = 'bf16' is 3 to 20 times slower than float32 on this processor. Set 'auto', or use --gpu-id."
    )
