"""Names that a detector knows: which stretches of a text are names, of what type, and how often annotated text marks
them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc
from torch import Tensor, nn

from ...encoders.tower import Tower
from ...types import DOC_ID
from ...types.semantic_types import st21pv_type
from ...util.arrays import look_up

_LONGEST = 6  # tokens of a stretch
_CHARACTERS = (2, 40)  # letters and digits of a name
_RATES = (0.1, 0.3, 0.6, 0.9)  # least share of its places that are marked, by bucket; rarer ones are left out
_COUNTS = (1, 2, 5, 20)  # least places that are marked
_PLACES = 4  # of a token in a stretch: the only one, the first, a middle one, the last
_FOLDS = 8

if TYPE_CHECKING:  # spaCy imports this file for every pipeline
    from ...kb import KnowledgeBase

Codes = NDArray[np.int64]
MarkedText = tuple[Doc, Sequence[tuple[int, int, str]]]  # with the start, end and label of its mentions


class KnownNames:
    """Two codes for each token: one for the longest stretch of tokens that annotated text marks, one for the longest
    stretch that is a name in an ontology; 0 = neither. Capitals, blanks and punctuation do not count.

    Names are kept as 32-bit hashes: of 500,000 names, one stretch in 8,000 is taken for a name by chance.

    Args:
        labels: of the detector; names have one of them, or none.
        hashes: (n,) uint32, ascending.
        marked: (n,) uint16: 0 = not marked in annotated text; otherwise buckets of share and count, and the label.
        named: (n,) uint8: 0 = not a name; otherwise 1 + label, where the number of labels stands for none.
    """

    def __init__(
        self, labels: Sequence[str], hashes: NDArray[np.uint32], marked: NDArray[np.uint16], named: NDArray[np.uint8]
    ):
        self.labels = list(labels)
        self.hashes, self.marked, self.named = hashes, marked, named

    @property
    def n_codes(self) -> tuple[int, int]:
        """How many codes of each kind there are."""
        n = len(self.labels) + 1
        return 1 + _PLACES * len(_RATES) * len(_COUNTS) * n, 1 + _PLACES * n

    def codes(self, doc: Doc) -> Codes:
        """(tokens,), marked * names + named."""
        spans, hashes = stretches(doc)
        return self.codes_of(len(doc), spans, *self.find(hashes)) @ np.array([self.n_codes[1], 1])  # type: ignore[no-any-return]

    def find(self, hashes: NDArray[np.uint32]) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """What is known of stretches: ``marked`` and ``named``; 0 = nothing."""
        if not len(self.hashes):
            return np.zeros(len(hashes), np.uint16), np.zeros(len(hashes), np.uint8)
        at, is_known = look_up(self.hashes, hashes)
        return np.where(is_known, self.marked[at], 0), np.where(is_known, self.named[at], 0)

    def has_name(self, names: Iterable[str]) -> bool:
        """Whether one of these is known."""
        hashes = [value for name in names if (value := name_hash(name)) is not None]
        return any(values.any() for values in self.find(np.array(hashes, dtype=np.uint32)))

    def codes_of(self, n: int, spans: NDArray[np.int64], marked: NDArray[np.uint16], named: NDArray[np.uint8]) -> Codes:
        """(n, 2), the codes of n tokens, given what is known of their stretches. Longer stretches come first, then
        earlier ones."""
        both = []
        for values in (marked, named):
            codes = np.zeros(n, dtype=np.int64)
            known = np.flatnonzero(values)
            lengths = spans[known, 1] - spans[known, 0]
            for number in known[np.lexsort((spans[known, 0], -lengths))].tolist():
                start, end = spans[number].tolist()
                if not codes[start:end].any():
                    places = np.full(end - start, 2)
                    places[0], places[-1] = 1, 3
                    codes[start:end] = 1 + _PLACES * (int(values[number]) - 1) + (places if end - start > 1 else 0)
            both.append(codes)
        return np.stack(both, axis=1)

    def features(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What the codes of each kind mean as numbers, (codes, 5 + labels) and (codes, 3 + labels): first, inside and
        last token, for marked names the share and the logarithm of the count, and the label."""
        n_labels = len(self.labels)
        features = []
        for size, has_counts in zip(self.n_codes, (True, False), strict=True):
            value, place = np.divmod(np.arange(size - 1), _PLACES)
            value, label = np.divmod(value, n_labels + 1)
            columns = [place < 2, place > 1, (place == 0) | (place == 3)]
            if has_counts:
                rate, count = np.divmod(value, len(_COUNTS))
                columns += [np.array(_RATES)[rate], np.log1p(np.array(_COUNTS)[count]) / 5]
            columns += list(np.eye(n_labels, n_labels + 1)[:, label])
            features.append(np.pad(np.stack(columns, axis=1).astype(np.float32), ((1, 0), (0, 0))))
        return features[0], features[1]

    def write(self, path: Path, weights: Mapping[str, Any]) -> None:
        """Save the names with what a model learned of them.

        Args:
            path: a file of safetensors.
            weights: tensors of torch.
        """
        from safetensors.torch import save_file

        arrays = {
            "names.hashes": self.hashes.view(np.int32),
            "names.marked": self.marked.view(np.int16),
            "names.named": self.named,
        }
        tensors = {name: torch.from_numpy(values) for name, values in arrays.items()}
        save_file({**tensors, **weights}, str(path), metadata={"labels": json.dumps(self.labels)})

    @classmethod
    def read(cls, path: Path) -> tuple["KnownNames", dict[str, Any]]:
        """As saved by ``write``."""
        from safetensors import safe_open

        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            labels = json.loads(file.metadata()["labels"])
        hashes, marked, named = (tensors.pop(f"names.{name}").numpy() for name in ("hashes", "marked", "named"))
        return cls(labels, hashes.view(np.uint32), marked.view(np.uint16), named), tensors


def learn_names(
    labels: Sequence[str], texts: Callable[[], Iterable[MarkedText]], kb: "KnowledgeBase"
) -> tuple[KnownNames, list[KnownNames]]:
    """Collect the names of a knowledge base and the mentions of annotated text.

    Args:
        labels: of the mentions.
        texts: documents with their mentions; gone through twice.
        kb: its names get the label whose type of ST21pv is theirs, if the labels are such types. It must not have names
            that come from the mentions of this text: what it has would look known everywhere.

    Returns:
        By all texts, and for each fold of the texts (``fold_of``) by the others alone.
    """
    by_type = {st21pv_type(label): number for number, label in enumerate(labels)} if len(labels) > 1 else {}
    numbers = {label: number for number, label in enumerate(labels)}
    of_names: dict[int, NDArray[np.float32]] = {}
    for entity in kb.entities():
        types = [number for kind in entity.types if (number := by_type.get(st21pv_type(kind))) is not None]
        for name in {entity.canonical_name, *entity.aliases}:
            if (value := name_hash(name)) is not None:
                of_names.setdefault(value, np.zeros(len(labels), np.float32))[types] += 1 / max(1, len(types))
    of_labels: dict[int, NDArray[np.float32]] = {}  # (folds, labels) each
    for doc, mentions in texts():
        for start, end, label in mentions:
            if (value := name_hash(doc.text[start:end])) is not None:
                counts = of_labels.setdefault(value, np.zeros((_FOLDS, len(labels)), np.float32))
                counts[fold_of(doc), numbers[label]] += 1
    places = {value: np.zeros(_FOLDS) for value in of_labels}
    for doc, _ in texts():
        for value in stretches(doc)[1].tolist():
            if value in places:
                places[value][fold_of(doc)] += 1
    hashes = sorted({*of_names, *of_labels})
    named = [
        1 + (int(kinds.argmax()) if kinds.any() else len(labels)) if (kinds := of_names.get(value)) is not None else 0
        for value in hashes
    ]

    def known(left_out: int | None) -> KnownNames:
        folds = [fold for fold in range(_FOLDS) if fold != left_out]
        marked = [
            marked_value(rows[folds].sum(axis=0), places[value][folds].sum())
            if (rows := of_labels.get(value)) is not None
            else 0
            for value in hashes
        ]
        return KnownNames(labels, np.array(hashes, np.uint32), np.array(marked, np.uint16), np.array(named, np.uint8))

    return known(None), [known(fold) for fold in range(_FOLDS)]


def fold_of(doc: Doc) -> int:
    """The fold of a text, the same everywhere. Copies of a document that were altered have its id, and share a fold:
    what one of them marks must not tell about another."""
    return crc32(doc.user_data.get(DOC_ID, doc.text).encode("utf8", "surrogatepass")) % _FOLDS


def stretches(doc: Doc) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """(m, 2) first token and end of stretches that may be a name, and (m,) their hashes."""
    keys = [name_key(token.text).encode() for token in doc]
    words = [i for i, token in enumerate(doc) if not token.is_space]
    spans, hashes = [], []
    for first, start in enumerate(words):
        if not keys[start]:
            continue
        value, length = 0, 0
        for i in words[first : first + _LONGEST]:
            if not keys[i]:
                continue
            value, length = crc32(keys[i], value), length + len(keys[i])
            if length >= _CHARACTERS[0]:
                spans.append((start, i + 1))
                hashes.append(value)
    return np.array(spans, dtype=np.int64).reshape(-1, 2), np.array(hashes, dtype=np.uint32)


def name_key(text: str) -> str:
    """What is compared: letters and digits, without capitals."""
    return "".join(filter(str.isalnum, text.casefold()))


def name_hash(text: str) -> int | None:
    """The hash of a name; None = too short or too long."""
    key = name_key(text)
    return crc32(key.encode()) if _CHARACTERS[0] <= len(key) <= _CHARACTERS[1] else None


def marked_value(labels: NDArray[np.floating], places: float) -> int:
    """What is kept of a stretch.

    Args:
        labels: (labels,), how often annotated text marks it as each.
        places: where it occurs.

    Returns:
        0 if it is hardly ever marked.
    """
    n = float(labels.sum())
    rate = int(np.searchsorted(_RATES, n / max(n, places, 1), side="right")) - 1
    if n < 1 or rate < 0:
        return 0
    count = int(np.searchsorted(_COUNTS, n, side="right")) - 1
    return 1 + (rate * len(_COUNTS) + count) * (len(labels) + 1) + int(labels.argmax())


class NamedTower(nn.Module):
    """ids, mask -> states, for a backend. The mask holds the codes of names, see ``CodedTokens``.

    What a code means (``KnownNames.features``) is projected to the width of the word embeddings and added to them.

    Args:
        tower: whose weights it uses.
        features: of both kinds of codes, (codes, features) each.
    """

    def __init__(self, tower: Tower, features: Sequence[NDArray[np.float32]]):
        super().__init__()
        self.tower = tower
        marked, named = map(torch.from_numpy, features)
        width = int(tower.transformer.config.hidden_size)
        self.width = width + marked.shape[1] + named.shape[1]  # of the states
        self.marked = nn.Linear(marked.shape[1], width, bias=False)
        self.named = nn.Linear(named.shape[1], width, bias=False)
        nn.init.zeros_(self.marked.weight)  # at first the transformer reads as before
        nn.init.zeros_(self.named.weight)
        self.register_buffer("of_marked", marked, persistent=False)
        self.register_buffer("of_named", named, persistent=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Args:
            ids: (batch, length), int64.
            mask: the same, 0 = padding, otherwise 1 + code.

        Returns:
            (batch, length, width), the transformer's states, and behind them the features of names.
        """
        of_marked: Any = self.of_marked
        of_named: Any = self.of_named
        n_named = of_named.shape[0]
        codes = (mask - 1).clamp(min=0)
        named = codes % n_named
        marked = (codes - named) // n_named  # exact: some backends divide as floats
        read = of_marked[marked], of_named[named]
        names = self.marked(read[0]) + self.named(read[1])
        states = self.tower.states(ids, (mask > 0).to(mask.dtype), self.tower.embed(ids) + names)
        return torch.cat([states, *read], dim=-1)

    def weights(self) -> dict[str, Tensor]:
        """Those of the names alone."""
        return {name: getattr(self, name).weight.detach().cpu().contiguous() for name in ("marked", "named")}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Args:
        weights: of ``weights``.
        """
        with torch.no_grad():
            for name, values in weights.items():
                getattr(self, name).weight.copy_(values)
