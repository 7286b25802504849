"""Text, encoders, losses, negatives and training: E300-E399."""


class TrainingErrors:
    E301 = "Expected {name} {wanted}, got {value}. Change it."
    E302 = "This encoder has no weights. Set its name and call initialize(), or load a folder with from_disk()."
    E303 = (
        "'{name}' is no folder, package:NAME or Hugging Face model that can be loaded: {got}. "
        "Check the name, or give a folder."
    )
    E305 = "Expected store = {expected}, got '{value}'."
    E307 = "Expected a random model as 'random:layers=1,width=32' in '{name}', got {got}. Known sizes: {known}."
    E304 = "The checkpoint at {path} cannot be read: {got}. Delete that folder to start a new training."
    E308 = "Expected a part of the registry 'pel_similarities', got {value}. Fix [pel.encoder.similarity]."
    E310 = "Invalid training config {path}: {got}. Fix the config or the override; see docs/configuration.md."
    E311 = "Expected training mentions with ids of the KB, got none; left out: {skipped}. Check the ids.{hint}"
    E312 = "The checkpoint at {path} belongs to another config or data. Choose another --output, or delete that folder."
    E313 = "Expected paths.{name} in the config, but it is not set. Set it there or give --paths.{name} PATH."
    E314 = "{path} holds a training. Run the same command with --resume to continue, or choose another --output."
    E316 = "Expected the CUDA device {gpu_id}, but {got}. Check nvidia-smi, or use --gpu-id -1 for the CPU."
    E317 = "Expected dev mentions with ids of the KB, got none. Check paths.dev and paths.kb.{hint}"
    E318 = "Expected a batch per epoch for each of {world} processes, got {got}. Use fewer, or smaller batches."
    E319 = "Expected entities with two names or more, got none in {path}. Add synonyms, or lower dev.n_mentions."
    E320 = "The table of mined negatives at {path} is incomplete: {got}. Delete the output folder and train again."
    E322 = "Expected a negative sampler as the part '{name}', got {got}. Name a registered one with @pel_negatives."
    E323 = "Expected {least} or more mined negatives per mention, got {got} from {where}. Mine more, or lower depth."
    E324 = "Expected mined negatives of the training mentions in {path}, but {got}. Mine them with: spacy-pel mine"
    E325 = "Expected an index of the kinds {known} for mining, got '{value}'."
    E326 = "The tokenised examples at {path} are incomplete: {got}. Delete that folder; it will be rebuilt."
    E331 = "Groups of mentions need a similarity of pooled vectors, not {got}. Use Euclidean, DotProduct or Cosine."
    E333 = "Expected offset to be a number, null or 'learned', got '{value}'."
    E335 = "{template} needs pooling = 'mention' and pooled vectors, got '{pooling}' and {similarity}. Set these."
    E336 = "Expected a fast tokenizer, which gives offsets, got {got}. Or use spacy-pel.MarkedContext.v1."
    E337 = "Expected a template of mentions with markers for {what}, got {template}. Use spacy-pel.MarkedContext.v1."
    E338 = "{path} holds a finished training without its checkpoint. Choose another --output, or delete that folder."
    E347 = "Expected a trainable ranker as ranker.model, got {got}. Recipes are registered for: {known}."
    E348 = "{name} cannot be trained with ranker.{section}: {why}. Leave the section [ranker.{section}] out."
    E351 = "Expected encoders that differ in their weights alone, but they also differ in: {differing}."
    E352 = "Expected max_length of at most {most}, the transformer's limit, got {got}. Decrease it."
    E353 = "The transformer has no weights. Set the name of TransformerTok2Vec.v1, or load a trained pipeline."
    E356 = (
        "The names of '{names}' need pel_mention_tagger, whose training text tells how often each is a mention. "
        "Use it, or set names = null."
    )
    E355 = "Expected layers from 1 to {most}, those of the transformer, got {got}. Leave layers out to keep all."
    E390 = "Invalid ranker config {path}: {got}. Fix the config; configs/ranker_sapbert.cfg shows every key."
    E391 = (
        "Expected the documents of the pipeline's index, whose mentions are held out in turn, but the index has {what} "
        "and these documents give {got}, or different ones. Fix paths.mentions, or set ranker.candidates.folds = 0 if "
        "the index never saw the training documents."
    )
    E392 = "Expected mentions in {what} whose entities are in the pipeline's KB, got none. Check the ids."
    E393 = "Expected ranker.model.top_k >= ranker.candidates.n = {n}, got {top_k}. Set top_k to {n}."


class TrainingWarnings:
    W300 = "mixed_precision = 'bf16' is 3 to 20 times slower here than float32. Set 'auto', or use --gpu-id."
    W302 = (
        "The files of '{source}' lack weights of this model, which start as random numbers: {missing}. "
        "Check that it is an encoder."
    )
    W301 = (
        "No evaluation was better than that of the untrained model: {metric} {before:.4g} at step 0, {best:.4g} at best. "
        "Train longer, or change the learning rate or the loss."
    )
