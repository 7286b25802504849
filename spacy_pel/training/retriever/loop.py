"""Training bi-encoders: examples, hard negatives, and retrieval on dev; and averaging two of them."""

from pathlib import Path
from typing import Any

from ...corpora import read_gold
from ...encoders.bi_encoder import BiEncoder
from ...encoders.tower import move_towards
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...util import fingerprint, logger
from ...util.config import check_range
from ...util.files import open_text
from ..base_trainer import BaseTrainer, Task
from ..checkpoint import Progress, describe
from ..settings import NOT_FINGERPRINTED
from .batches import BatchPlanner
from .dev import DevRetrieval
from .example_store import ExampleStore
from .examples import cached_examples
from .miner import Miner, read_mined_negatives
from .objective import Objective
from .settings import RunSettings


class Trainer(BaseTrainer):
    """Trains a bi-encoder; see ``BaseTrainer`` on reproducibility.

    Args:
        settings: from ``read_settings``.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl, learning_curve.png, checkpoint, cache and
            mining.
        gpu_id: -1 = CPU.
    """

    stream = 4

    def __init__(self, settings: RunSettings, output: Path, *, gpu_id: int = -1):
        pel = settings.pel
        for name in ("kb", "train", "dev"):
            settings.paths.required(name)
        super().__init__(pel.encoder, pel.training, output, seed=settings.seed, gpu_id=gpu_id)
        self.settings = settings
        self.encoder: BiEncoder = pel.encoder

    def load_data(self) -> None:
        paths, dev = self.settings.paths, self.settings.pel.training.dev
        self.kb = KnowledgeBase.from_disk(paths.required("kb"))
        self.dev = DevRetrieval(self.kb, read_gold(paths.required("dev")), dev, self.seed)

    def fingerprint(self) -> str:
        """Of settings, initial weights and data. Mining settings count only where negatives are mined."""
        pel, paths = self.settings.pel, self.settings.paths
        mines = pel.negatives.mined_depth > 0
        training = pel.training.model_dump(exclude=NOT_FINGERPRINTED if mines else {*NOT_FINGERPRINTED, "mining"})
        parts = (pel.loss, pel.negatives, pel.regularizer, pel.mixing)
        files = [paths.required("train")]
        if mines and paths.negatives:
            files.append(paths.negatives)
        for path in files:
            open_text(path).close()  # raises our error for a missing file
        described = [describe(part) for part in parts if part is not None]
        settings = (self.seed, training, pel.positives.model_dump(), *described)
        return fingerprint(*settings, pel.encoder.fingerprint, self.kb.fingerprint, *files)

    def make_task(self) -> Task:
        pel = self.settings.pel
        cache = self.settings.paths.cache or self.output / "cache"
        store = cached_examples(self.settings, self.kb, self.encoder, cache)
        planner = self.make_planner(store)
        logger.info(
            "%d mentions, %d names, %d entities; %d batches per epoch",
            *(len(store.mentions), len(store.names), store.n_entities, planner.batches_per_epoch),
        )
        self.miner = self._miner(planner)
        parts: Any = {"similarity": self.encoder.similarity, "regularizer": pel.regularizer, "mixing": pel.mixing}
        return Task(Objective(self.encoder.towers, pel.loss, **parts), planner, self.dev)

    def make_planner(self, store: ExampleStore) -> BatchPlanner:
        """Plans epochs over the examples; a subclass may return another kind."""
        return BatchPlanner(store, **self.planner_settings)

    @property
    def planner_settings(self) -> dict[str, Any]:
        """Arguments of ``BatchPlanner``, besides the examples."""
        sizes = {"batch_size": self.training.batch_size, "pad_id": self.encoder.tokenizer.pad_token_id}
        pel = self.settings.pel
        return {"views": pel.positives, "negatives": pel.negatives, "seed": self.seed, **sizes}

    def before_update(self, state: Progress, total: int) -> None:
        self.miner.before_update(self.encoder, state, total)

    def after_checkpoint(self, state: Progress) -> None:
        self.miner.after_checkpoint(state)

    def _miner(self, planner: BatchPlanner) -> Miner:
        path, table = self.settings.paths.negatives, None
        if path is not None and planner.negatives.mined_depth:
            table = read_mined_negatives(path, self.kb, planner.store)
        every, per_update = self.settings.pel.training.mining.every_epochs, self.training.accumulate_gradient
        return Miner(planner, self.output / "mining", every_epochs=every, accumulate=per_update, table=table)


def average(encoder: BiEncoder, other: BiEncoder, *, weight: float = 0.5) -> BiEncoder:
    """Move the weights of an encoder towards those of another: on the straight line between two models
    trained from the same start, each keeps most of what it has learnt. An encoder fine-tuned on one corpus
    gets back what it has forgotten of others.

    Args:
        encoder: is changed.
        other: reads the same, and has towers of the same shape.
        weight: 0 = ``encoder``, 1 = ``other``.

    Returns:
        ``encoder``.

    Raises:
        PelError: if the weight is not between 0 and 1, or the encoders differ in more than weights.
    """
    check_range("weight", weight, least=0, most=1)
    differing = [key for key, value in encoder.settings.items() if other.settings[key] != value]
    if not differing and encoder.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        differing = ["the vocabulary of the tokenizer"]
    mine, theirs = encoder.towers.float().state_dict(), other.towers.state_dict()
    if not differing and {k: v.shape for k, v in mine.items()} != {k: v.shape for k, v in theirs.items()}:
        differing = ["the shapes of the weights"]
    if differing:
        raise PelError(Errors.E351.format(differing=", ".join(differing)))
    move_towards(encoder.towers, theirs, weight)
    encoder.changed()
    return encoder
