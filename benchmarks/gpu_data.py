"""What ``benchmarks.gpu`` reads, made on the spot: a BERT with random weights and a WordPiece tokenizer, a
knowledge base of made-up entities, and annotated texts about them.
"""

import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.kb_open import SYLLABLES, made_up_entities
from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Mention

_PER_DOCUMENT = 10  # mentions of a document
_FILLER = 12  # made-up words before each mention: windows of 128 word pieces are full


class Sizes(NamedTuple):
    """What a report measures.

    Attributes:
        layers, width, heads, vocabulary: of the transformers.
        entities, mentions: of the knowledge base and the corpus.
        calls: measured updates, chunks or batches of each row at most; 0 = until its time is up.
        compiler: backend of torch.compile.
        settings: what differs from ``configs/pel_sapbert.cfg``.
    """

    layers: int
    width: int
    heads: int
    vocabulary: int
    entities: int
    mentions: int
    calls: int
    compiler: str
    settings: dict[str, Any]


SIZES = {
    "paper": Sizes(12, 768, 12, 30_522, 50_000, 12_800, 0, "inductor", {}),
    # "eager" traces the code as "inductor" does, but needs no C++ compiler and no minutes
    "tiny": Sizes(
        layers=1,
        width=32,
        heads=2,
        vocabulary=300,
        entities=400,
        mentions=120,
        calls=2,
        compiler="eager",
        settings={
            "pel.training.batch_size": 4,
            "pel.negatives.n_negatives": 4,
            "pel.encoder.mention_template.max_length": 64,
            "pel.encoder.entity_template.max_length": 64,
        },
    ),
}


class Material(NamedTuple):
    """Folders and files: of the model, the knowledge base and the corpus."""

    model: Path
    kb: Path
    corpus: Path


def write_material(folder: Path, sizes: Sizes, *, seed: int = 0) -> Material:
    """Make model, knowledge base and corpus.

    Args:
        folder: an existing folder.
        sizes: of all three.
        seed: random seed.
    """
    made = Material(folder / "model", folder / "kb", folder / "corpus.jsonl")
    _write_model(made.model, sizes, seed)
    # as many aliases an entity as UMLS has
    kb = KnowledgeBase.build(made_up_entities(sizes.entities, 3 * sizes.entities, seed=seed), made.kb)
    write_corpus(made.corpus, made_up_documents(kb, sizes.mentions, seed=seed))
    return made


def made_up_documents(kb: KnowledgeBase, n_mentions: int, *, seed: int = 0) -> Iterator[Document]:
    """Texts of made-up words with names of entities.

    Yields:
        Documents of ten mentions.
    """
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(SYLLABLES, rng.integers(1, 4))) for _ in range(2_000)]
    for first in range(0, n_mentions, _PER_DOCUMENT):
        text, mentions = "", []
        for row in rng.choice(kb.live_rows, min(_PER_DOCUMENT, n_mentions - first)).tolist():
            entity = kb.entity_at(row)
            text += " ".join(rng.choice(words, _FILLER)) + " "
            mentions.append(Mention(len(text), len(text) + len(entity.canonical_name), ids=(entity.concept_id,)))
            text += f"{entity.canonical_name} "
        yield Document(f"d{first}", text.rstrip(), mentions)


def _write_model(folder: Path, sizes: Sizes, seed: int) -> None:
    import torch
    from tokenizers.implementations import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    whole = ["a", "condition", "made", "up", "of", "number"]  # words of the made-up definitions
    parts = [*string.ascii_lowercase, *string.digits, *SYLLABLES]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *whole, *string.punctuation]
    pieces = list(dict.fromkeys([*pieces, *parts, *(f"##{part}" for part in parts)]))
    pieces += [f"[unused{number}]" for number in range(sizes.vocabulary - len(pieces))]
    tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)}, lowercase=True)
    BertTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=4 * sizes.width,
    )
    torch.manual_seed(seed)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
