"""A detector that tags tokens: a mention's first token, a further one, or neither."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d
from thinc.util import to_numpy

from ...errors import Errors, PelError
from .boundary_rules import trimmed
from .token_splitting import split_tokens
from .white_space import breaks_of

_WORDS = 10_000  # tokens at a time: 15 MB of vectors
_SAMPLE = 10  # examples whose documents the model is initialized with
_BIO = {"B": "B", "I": "I", "L": "I", "U": "B"}  # spaCy's prefixes of aligned tags, and ours
_SETTINGS: dict[str, Any] = {
    "model": {
        "@architectures": "spacy.Tagger.v2",
        "nO": None,
        "normalize": False,
        "tok2vec": {"@architectures": "spacy-pel.TransformerTok2Vec.v1"},
    },
    "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    "teacher": None,
}
_WEIGHTS = {"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None}


@Language.factory(
    "pel_mention_tagger",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=_SETTINGS,
    default_score_weights=_WEIGHTS,
)
def make_mention_tagger(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Floats2d]],
    scorer: Callable[..., Any] | None,
    teacher: str | None,
) -> "MentionTagger":
    """Build a trainable detector.

    Args:
        nlp: the pipeline.
        name: the component's name.
        model: gives each token a row of scores, one for each tag, such as
            spacy.Tagger.v2 on any Tok2Vec layer.
        scorer: of ``doc.ents``.
        teacher: a pipeline with a larger detector of this name, to learn from as well as from the
            examples; read when training begins, and not part of the saved pipeline.

    Returns:
        The component.
    """
    return MentionTagger(nlp.vocab, model, name, scorer=scorer, teacher=teacher)


class MentionTagger(TrainablePipe):  # type: ignore[misc]
    """Sets ``doc.ents`` by one choice for each token: "B-LABEL" for the first token of a mention, "I-LABEL"
    for the others, "O" outside. Entities that a document has already are kept.

    spaCy's own ``ner`` builds entities by a sequence of actions. That suits small networks trained for long.
    On a transformer that is fine-tuned for a few hundred updates, tags are learned far sooner.

    Args:
        vocab: of the pipeline.
        model: see ``make_mention_tagger``.
        name: the component's name.
        scorer: of ``doc.ents``.
        teacher: see ``make_mention_tagger``.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "pel_mention_tagger",
        *,
        scorer: Callable[..., Any] | None = None,
        teacher: str | None = None,
    ):
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.teacher = teacher
        self._teacher: Any = None
        self.cfg: dict[str, Any] = {"labels": []}

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the mentions."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """What ``spacy init labels`` writes, and ``initialize`` takes."""
        return self.labels

    @property
    def tags(self) -> list[str]:
        """One for each column of the model's scores."""
        return ["O", *(f"{prefix}-{label}" for label in self.labels for prefix in "BI")]

    def predict(self, docs: Iterable[Doc]) -> list[NDArray[np.int64]]:
        """The tag of each token, of each document.

        Raises:
            PelError: if the component was not trained.
        """
        docs = list(docs)
        if not self.labels:
            raise PelError(Errors.E522.format(name=self.name))
        tags: list[NDArray[np.int64]] = []
        for batch in divided_by_words(docs):
            if any(map(len, batch)):
                tags += [to_numpy(scores).argmax(axis=1) for scores in self.model.predict(batch)]
            else:
                tags += [np.zeros(0, dtype=np.int64)] * len(batch)
        return tags

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[NDArray[np.int64]]) -> None:
        """Mentions that are there stay, and so do tokens that may be in none (``Doc.set_ents(blocked=…)``).

        Args:
            docs: get their mentions.
            scores: what ``predict`` returned.
        """
        for doc, tags in zip(docs, scores, strict=True):
            found = self._spans(doc, tags)  # may split tokens, so it comes first
            present = list(doc.ents)
            taken = {token.i for ent in present for token in ent}
            begun = (token.i for token in doc if token.ent_iob_ == "B" and token.i not in taken)
            blocked = [doc[i : i + 1] for i in begun]  # spaCy marks them so
            taken.update(span.start for span in blocked)
            added = [span for span in found if taken.isdisjoint(range(span.start, span.end))]
            doc.set_ents(present + added, blocked=blocked)

    def _spans(self, doc: Doc, tags: NDArray[np.int64]) -> list[Span]:
        """Mentions of the tagged tokens. White space has no tag of its own, as it has no word pieces: a
        mention continues across a wrapped line, but not across a blank line or into the next list item. No
        mention ends within a word that the tokenizer splits, such as "id" into "i" and "d".

        Returns:
            In order; none begins or ends with white space, begins with a negation or has
            half a bracket.
        """
        breaks = breaks_of(doc)
        runs: list[list[int]] = []  # the tokens of each mention
        labels: list[int] = []
        is_open = False  # whether the last mention may go on
        for token in doc:
            i = token.i
            if token.is_space and i not in breaks.certain:
                continue
            if i in breaks.within_word:
                if is_open and runs[-1][-1] == i - 1:
                    runs[-1].append(i)
                continue
            tag = 0 if i in breaks.certain else int(tags[i])
            label, inside = divmod(tag - 1, 2)  # of "O": -1
            if label < 0:
                is_open = False
            elif is_open and inside and labels[-1] == label:
                runs[-1].append(i)
            else:  # an "I" that nothing began begins a mention
                runs.append([i])
                labels.append(label)
                is_open = True
        pieces = trimmed(doc, runs, breaks.likely)
        split_tokens(doc, chain.from_iterable(pieces))
        spans: list[Any] = [
            doc.char_span(*offsets, label=self.labels[label])
            for label, own in zip(labels, pieces, strict=True)
            for offsets in own
        ]
        return spans

    def get_loss(self, examples: Iterable[Example], scores: list[Floats2d]) -> tuple[float, list[Floats2d]]:
        """Compare with the mentions of the examples, and as much with the teacher's probabilities if there is
        one.

        Args:
            examples: a batch.
            scores: (tokens, tags), probabilities, for each.

        Returns:
            The mean squared error of a token's probabilities, and the
            gradients of their mean cross-entropy. Tokens whose annotation is not known, or that the two
            tokenizations do not share, are left to the teacher, and count for nothing without one.
        """
        examples = list(examples)
        validate_examples(examples, "MentionTagger.get_loss")
        targets = scores if self.teacher is None else self._taught([example.x for example in examples])
        columns = {tag: column for column, tag in enumerate(self.tags)}
        xp: Any = self.model.ops.xp
        one_hot = xp.eye(len(columns), dtype="f")
        gradients: list[Floats2d] = []
        n, total = 0, 0.0
        for example, guess, soft in zip(examples, scores, targets, strict=True):
            target = soft.copy()
            tags = [_bio(tag, columns) for tag in example.get_aligned_ner()]
            known = [token for token, tag in enumerate(tags) if tag is not None]
            if known:
                hard = one_hot[[columns[tag] for tag in tags if tag is not None]]
                target[known] = hard if self.teacher is None else (hard + target[known]) / 2
            gradients.append(guess - target)
            total += float(xp.square(gradients[-1]).sum())
            n += len(known) if self.teacher is None else len(tags)
        n = max(1, n)
        return total / n, [gradient / n for gradient in gradients]

    def _taught(self, docs: list[Doc]) -> list[Floats2d]:
        """The teacher's probabilities."""
        if self._teacher is None:
            self._teacher = spacy.load(str(self.teacher)).get_pipe(self.name)
            if getattr(self._teacher, "tags", None) != self.tags:
                got = ", ".join(getattr(self._teacher, "labels", ())) or "none"
                raise PelError(
                    Errors.E525.format(name=self.name, teacher=self.teacher, labels=", ".join(self.labels), got=got)
                )
        return self._teacher.model.begin_update(docs)[0]  # type: ignore[no-any-return]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Read the labels and the initial weights. What was learned before is lost.

        Args:
            get_examples: of the training.
            nlp: the pipeline.
            labels: of the mentions; None = those of the examples.

        Raises:
            PelError: if there are none, or the model was made for another number of them.
        """
        validate_get_examples(get_examples, "MentionTagger.initialize")
        if labels is None:
            labels = [ent.label_ for example in get_examples() for ent in example.reference.ents]
        self.cfg["labels"] = sorted({label for label in labels if label})
        if not self.labels:
            raise PelError(Errors.E523.format(name=self.name))
        for label in self.labels:
            self.vocab.strings.add(label)
        known = self.model.get_dim("nO") if self.model.has_dim("nO") else None
        if known not in (None, len(self.tags)):
            got = ", ".join(self.labels)
            raise PelError(Errors.E524.format(name=self.name, columns=known, n=len(self.labels), got=got))
        docs = [example.x for example in islice(get_examples(), _SAMPLE)]
        truth = [self.model.ops.alloc2f(len(doc), len(self.tags)) for doc in docs]
        self.model.initialize(X=docs, Y=truth)


def divided_by_words(docs: Sequence[Doc], size: int = _WORDS) -> Iterator[list[Doc]]:
    """Divide documents, so that the vectors of a large batch of ``nlp.pipe`` are not all in memory at once.

    Args:
        docs: the documents.
        size: tokens in a batch at most, or one document.

    Yields:
        One or more documents, in order.
    """
    batch: list[Doc] = []
    words = 0
    for doc in docs:
        if batch and words + len(doc) > size:
            yield batch
            batch, words = [], 0
        batch.append(doc)
        words += len(doc)
    if batch:
        yield batch


def _bio(tag: str | None, known: Iterable[str]) -> str | None:
    """A tag of spaCy as one of ours; None = not known, or of another label."""
    if tag is None or tag == "O":
        return tag
    prefix, _, label = tag.partition("-")
    ours = f"{_BIO.get(prefix)}-{label}"
    return ours if ours in known else None
