"""An encoder's transformer as the layer under a detector; ``spacy train`` fine-tunes it."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.shims import Shim
from thinc.types import Floats2d
from thinc.util import get_torch_default_device, torch2xp, xp2torch

from ...encoders.backend import Backend, EncodeBatch, TorchBackend, encode_batches
from ...encoders.tower import TokenTower, Tower, move_towards
from ...errors import Errors, PelError
from ...types import Vectors
from ...util.config import check_range
from ...util.saved_folder import check_folder, load_from_bytes, save_to_bytes, write_folder
from .known_names import Codes, KnownNames, MarkedText, NamedTower, fold_of, learn_names
from .token_windows import TokenWindows, token_windows

_KIND, _VERSION = "transformer", 1
_WEIGHTS = "model.safetensors"
_NAMES = "names.safetensors"


@spacy.registry.architectures("spacy-pel.TransformerTok2Vec.v1")
def make_transformer_tok2vec(
    name: str | None = None,
    layers: int | None = None,
    max_length: int = 256,
    overlap: float = 0.0,
    batch_size: int = 16,
    rate: float = 0.2,
    store: str = "float16",
    names: str | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Build a Tok2Vec layer. A token's vector is the mean over its word pieces; that of a token without
    pieces, such as white space, is 0. The width is that of the transformer. A text that does not fit one window
    is cut between sentences into windows of about even length.

    Args:
        name: its weights at the start of a training: a folder (a tower of an encoder, or any of
            Hugging Face's), "package:NAME" or a hub id. A saved pipeline has its own and does not read it.
        layers: of these weights to train, evenly spread: 3 of 6 are the first, third and fifth. None = all.
        max_length: word pieces of a window, special tokens included.
        overlap: share of a window that only lends context to the rest of it, half at each end,
            0 <= overlap < 1.
        batch_size: windows in one batch of inference.
        rate: the transformer's learning rate, as a share of the optimizer's. Layers on top, trained from
            scratch, use all of it.
        store: "float32" or "float16", how the weights are saved; "int8" = as "float16", but the word embeddings of a
            BERT in 8 bits, which are half of a small model.
        names: a saved knowledge base at the start of a training: the layer also reads which stretches of the text
            are names there or were mentions in the training text, see ``KnownNames``; for a component that gives it
            the mentions, such as pel_mention_tagger. None = none. A saved pipeline has its own and does not read it.

    Returns:
        The layer.

    Raises:
        PelError: if a setting is out of its range.
    """
    if store not in ("float32", "float16", "int8"):
        raise PelError(Errors.E011.format(expected="store = 'float32', 'float16' or 'int8'", got=repr(store)))
    check_range("batch_size", batch_size, least=1)
    check_range("rate", rate, above=0)
    check_range("max_length", max_length, least=8)
    check_range("overlap", overlap, least=0, below=1)
    shim = TowerShim(TowerSettings(name, layers, max_length, overlap, batch_size, rate, store, names))
    return Model(
        "transformer_tok2vec", _forward, init=_initialize, dims={"nO": None}, attrs={"dropout_rate": 0.0}, shims=[shim]
    )


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim: Any = model.shims[0]
    bounds = np.cumsum([len(doc) for doc in docs])[:-1].tolist()
    if not is_train:
        vectors = model.ops.asarray2f(shim.predict(docs))
        return model.ops.xp.split(vectors, bounds) if docs else [], lambda gradients: []
    vectors, backprop = shim.begin_update(docs, dropout=model.attrs["dropout_rate"])

    def backprop_lists(gradients: list[Floats2d]) -> list[Doc]:
        backprop(model.ops.xp.concatenate(gradients))
        return []

    return model.ops.xp.split(model.ops.asarray2f(vectors), bounds), backprop_lists


def _initialize(model: Model[list[Doc], list[Floats2d]], X: Any = None, Y: Any = None) -> None:
    shim: Any = model.shims[0]
    shim.initialize()
    model.set_dim("nO", shim.width, force=True)


class TowerSettings(NamedTuple):
    """As for ``make_transformer_tok2vec``."""

    name: str | None
    layers: int | None
    max_length: int
    overlap: float
    batch_size: int
    rate: float
    store: str
    names: str | None


class TowerShim(Shim):
    """The transformer of the layer, for thinc: vectors, gradients, updates, and files instead of pickle. Inference is
    run by ``backend``."""

    def __init__(self, settings: TowerSettings):
        super().__init__(None)
        self.settings = settings
        self.known: KnownNames | None = None
        self._of_folds: list[KnownNames] = []  # by the other folds of the training text
        self.backend: Backend = TorchBackend()
        self._tokenizer: Any = None
        self._encode: EncodeBatch | None = None

    # -- weights ---------------------------------------------------------------------------

    def initialize(self) -> None:
        """Read the weights named by ``name``; without a name, keep those there are.

        Raises:
            PelError: if there is no such model, or neither name nor weights, or it does not have the
                layers.
        """
        if self.settings.names is not None and self.known is None:
            raise PelError(Errors.E356.format(names=self.settings.names))
        if self.settings.name is None:
            self._tower()
            return
        from ...encoders.pretrained import load_pretrained, load_tower

        folder = Path(self.settings.name)
        is_saved = (folder / _WEIGHTS).is_file() and (folder / "tokenizer.json").is_file()
        tokenizer, transformer = load_tower(folder) if is_saved else load_pretrained(self.settings.name, [])
        if self.settings.layers is not None:
            _keep_layers(transformer, self.settings.layers)
        self._set(tokenizer, transformer)

    def _set(self, tokenizer: Any, transformer: Any) -> None:
        from ...encoders.pretrained import check_lengths

        check_lengths(transformer.config, self.settings.max_length)
        self._tokenizer = tokenizer
        tower = Tower(transformer, pooling="mean")
        module: Any = TokenTower(tower) if self.known is None else NamedTower(tower, self.known.features())
        self._model = module.to(get_torch_default_device())
        self._encode = None

    def learn_names(self, labels: Sequence[str], mentions: Callable[[], Iterable[MarkedText]]) -> None:
        """Collect the names that the layer knows, if it reads any; before ``initialize``.

        Args:
            labels: of the mentions.
            mentions: the training text, gone through twice.

        Raises:
            PelError: if ``names`` is no knowledge base.
        """
        if self.settings.names is None:
            return
        from ...kb import KnowledgeBase

        self.known, self._of_folds = learn_names(labels, mentions, KnowledgeBase.from_disk(self.settings.names))

    def _tower(self) -> Any:
        if self._model is None:
            raise PelError(Errors.E353)
        return self._model

    @property
    def width(self) -> int:
        """Of the vectors."""
        return int(self._tower().width)

    # -- vectors ---------------------------------------------------------------------------

    def predict(self, fwd_args: list[Doc]) -> Vectors:
        """(tokens of all documents, width)."""
        tower = self._tower()
        windows = self._windows(fwd_args, KnownNames.codes)
        if not len(windows.reads):
            return np.zeros((len(windows.counts), self.width), dtype=np.float32)
        encode = self._encode  # another thread may set it
        if encode is None:
            self._encode = encode = self.backend.prepare(tower)
        pad_id = self._tokenizer.pad_token_id
        batches = encode_batches(encode, windows.windows, batch_size=self.settings.batch_size, pad_id=pad_id)
        return windows.vectors(batches, self.width)

    def begin_update(self, fwd_args: list[Doc], *, dropout: float = 0.0) -> tuple[Any, Callable[[Any], None]]:
        """Read documents for an update.

        Args:
            fwd_args: the documents.
            dropout: share of the vectors' values to set to 0.

        Returns:
            The vectors as an array of thinc, (tokens, width), and what adds to
            the gradients of the weights, given those of the vectors.
        """
        tower = self._tower()
        windows = self._windows(fwd_args, self._training_codes)
        tower.float().eval()  # no dropout inside: of all pairs of pieces, it takes half of the time on a CPU
        device = next(tower.parameters()).device
        order = np.argsort(-windows.windows.lengths, kind="stable")
        parts, numbers = [torch.zeros((0, self.width), device=device)], [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(order), self.settings.batch_size):
            rows = order[start : start + self.settings.batch_size]
            ids, mask = windows.windows.padded(rows, self._tokenizer.pad_token_id)
            states = tower(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
            inside, of_batch = windows.read(rows, mask.shape[1])
            parts.append(states[torch.from_numpy(inside).to(device)])
            numbers.append(of_batch)
        back = torch.from_numpy(np.argsort(np.concatenate(numbers))).to(device)
        vectors = torch.nn.functional.dropout(windows.means(torch.cat(parts)[back]), dropout)

        def backprop(gradient: Any) -> None:
            if vectors.requires_grad:
                vectors.backward(xp2torch(gradient, device=device))

        return torch2xp(vectors.detach()), backprop

    def _windows(self, docs: list[Doc], codes_of: Callable[[KnownNames, Doc], Codes]) -> TokenWindows:
        codes, given = None if self.known is None else partial(codes_of, self.known), self.settings
        return token_windows(self._tokenizer, docs, codes_of=codes, max_length=given.max_length, overlap=given.overlap)

    def _training_codes(self, known: KnownNames, doc: Doc) -> Codes:
        """By the other texts alone: what a text itself marks must not tell. A saved layer has no folds any more."""
        return (self._of_folds[fold_of(doc)] if self._of_folds else known).codes(doc)

    # -- updates ---------------------------------------------------------------------------

    def finish_update(self, optimizer: Any) -> None:
        """Args:
        optimizer: of thinc; gives each weight ``rate`` times its learning rate.
        """
        for name, parameter in self._tower().named_parameters():
            if parameter.grad is None:
                continue
            value, _ = optimizer(
                (self.id, name), torch2xp(parameter.data), torch2xp(parameter.grad), lr_scale=self.settings.rate
            )
            # in place: a tensor made of the array would keep the one that it was made of, and so on
            parameter.data.copy_(xp2torch(value, device=parameter.device))
            parameter.grad = None
        self._encode = None

    @contextlib.contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Args:
        params: values for the time of the context, e.g. averages.
        """
        own = {} if self._model is None else dict(self._model.named_parameters())
        before = {name: parameter.data for name, parameter in own.items() if (self.id, name) in params}
        for name, value in before.items():
            own[name].data = xp2torch(params[self.id, name], device=value.device)
        self._encode = None
        try:
            yield
        finally:
            for name, value in before.items():
                own[name].data = value
            self._encode = None

    def to_device(self, device_type: str, device_id: int) -> None:
        """Args:
        device_type: "cpu" or "gpu". device_id (int): which GPU.
        """
        if self._model is not None:
            self._model.to("cpu" if device_type == "cpu" else f"cuda:{device_id}")
        self._encode = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_encode": None}

    def move_towards(self, other: "TowerShim", weight: float) -> None:
        """Change the weights to those on the straight line to another layer's."""
        move_towards(self._tower(), other._tower().state_dict(), weight)
        self._encode = None

    # -- bytes -----------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """A Hugging Face folder with hashes, no pickle; none without weights."""
        return b"" if self._model is None else save_to_bytes(self._write, kind=_KIND)

    def _write(self, path: Path) -> None:
        from ...encoders.pretrained import save_tower

        dtype = torch.float32 if self.settings.store == "float32" else torch.float16
        with write_folder(path, kind=_KIND, version=_VERSION) as part:
            transformer, tokenizer = self._tower().tower.transformer, self._tokenizer
            save_tower(transformer, tokenizer, part, dtype, small_words=self.settings.store == "int8")
            if self.known is not None:
                self.known.write(part / _NAMES, self._model.weights())

    def from_bytes(self, data: bytes) -> "TowerShim":
        """Raises:
        PelError: if the bytes are damaged, or the windows too long for the transformer.
        """
        if data:
            tokenizer, transformer, names = load_from_bytes(data, _read, kind=_KIND)
            self.known, weights = (None, {}) if names is None else names
            self._set(tokenizer, transformer)
            if self.known is not None:
                self._model.load_weights(weights)
        return self


def _keep_layers(transformer: Any, n: int) -> None:
    stack: Any = getattr(getattr(transformer, "encoder", None), "layer", ())
    if not 1 <= n <= len(stack):
        raise PelError(Errors.E355.format(got=n, most=len(stack) or "no named layers"))
    transformer.encoder.layer = type(stack)(stack[i * len(stack) // n] for i in range(n))
    transformer.config.num_hidden_layers = n


def _read(path: Path) -> tuple[Any, Any, tuple[KnownNames, dict[str, Any]] | None]:
    from ...encoders.pretrained import load_tower

    check_folder(path, kind=_KIND, version=_VERSION)
    names = path / _NAMES
    return (*load_tower(path), KnownNames.read(names) if names.is_file() else None)
