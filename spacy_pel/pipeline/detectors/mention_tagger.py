"""A detector that tags tokens: a mention's first token, a further one, or neither."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Model
from thinc.types import Floats2d
from thinc.util import to_numpy

from ...abbreviations.documents import listed_kinds
from ...errors import Errors, PelError
from ...types import Vectors
from ...types.semantic_types import labels_named
from ...util.reading import Reading, as_read
from ..mentions import type_columns, write_token_types
from .boundaries import are_names, breaks_of, split_tokens, trimmed

# tokens at a time. A small transformer reads no faster with more, and their arrays, up to 25 MB each for 10,000, leave
# hundreds of MB behind: the C library cannot give back what was freed between things that documents still hold
_WORDS = 1000
_OUTSIDE, _INSIDE = 0, 2
_LEAST = 1e-6  # a probability
# names of these kinds are apart on both sides of a slash; drugs, genes and tests may have one in their name
_APART = frozenset("BIOLOGIC_FUNCTION BACTERIUM FINDING INJURY_OR_POISONING VIRUS".split())
_SPACED = len(" / ")
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
    "labels_keep": None,
}
_WEIGHTS = {"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None}


class Tagged(NamedTuple):
    """A document as it is read, see ``as_read``, the way back, and P(tag) of each of its tokens, (tokens, tags)."""

    doc: Doc
    reading: Reading
    probabilities: Vectors


@Language.factory(
    "pel_mention_tagger",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=_SETTINGS,
    default_score_weights=_WEIGHTS,
)
class MentionTagger(TrainablePipe):  # type: ignore[misc]
    """Sets ``doc.ents`` by tags of tokens: "B-LABEL" for the first token of a mention, "I-LABEL" for the others,
    "O" outside. Entities that a document has already are kept.

    spaCy's own ``ner`` builds entities by a sequence of actions. That suits small networks trained for long.
    On a transformer that is fine-tuned for a few hundred updates, tags are learned far sooner.

    Args:
        nlp: the pipeline.
        name: the component's name.
        model: gives each token a row of scores, one for each tag, such as
            spacy.Tagger.v2 on any Tok2Vec layer.
        scorer: of ``doc.ents``.
        teacher: a pipeline with a larger detector of this name, to learn from as well as from the
            examples; read when training begins, and not part of the saved pipeline.
        labels_keep: labels, their groups or ids of semantic types; mentions of others are left out. None = all.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        *,
        model: Model[list[Doc], list[Floats2d]],
        scorer: Callable[..., Any] | None,
        teacher: str | None,
        labels_keep: list[str] | None,
    ):
        self.nlp = nlp
        self.vocab = nlp.vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.teacher = teacher
        self.labels_keep = labels_keep
        self._teacher: Any = None
        self.cfg: dict[str, Any] = {"labels": []}

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the mentions."""
        return tuple(self.cfg["labels"])

    @property
    def writes_token_types(self) -> bool:
        """Whether linkers can read types of gold mentions, too, see ``query_maker``."""
        return type_columns(self.labels) is not None

    @property
    def label_data(self) -> tuple[str, ...]:
        """What ``spacy init labels`` writes, and ``initialize`` takes."""
        return self.labels

    @property
    def tags(self) -> list[str]:
        """One for each column of the model's scores."""
        return ["O", *(f"{prefix}-{label}" for label in self.labels for prefix in "BI")]

    def predict(self, docs: Iterable[Doc]) -> list[Tagged]:
        """Read documents and tag their tokens.

        Raises:
            PelError: if the component was not trained.
        """
        if not self.labels:
            raise PelError(Errors.E522.format(name=self.name))
        read = [as_read(doc, self.nlp) for doc in docs]
        probabilities: list[Vectors] = []
        for batch in divided_by_words([doc for doc, _ in read]):
            if any(map(len, batch)):
                probabilities += [to_numpy(self._as_shares(scores)) for scores in self.model.predict(batch)]
            else:
                probabilities += [np.zeros((0, len(self.tags)), dtype=np.float32)] * len(batch)
        return [Tagged(*one, of_tags) for one, of_tags in zip(read, probabilities, strict=True)]

    def _as_shares(self, scores: Floats2d) -> Floats2d:
        """Scores of tags as probabilities, which layers give that normalize them."""
        ops = self.model.ops
        return scores if ops.xp.allclose(scores.sum(axis=1), 1.0, atol=1e-3) else ops.softmax(scores)

    def set_annotations(self, docs: Iterable[Doc], tagged: Sequence[Tagged]) -> None:
        """Mentions that are there stay, and so do tokens that may be in none (``Doc.set_ents(blocked=…)``). If the
        labels are types of ST21pv, what each token was taken for is kept for the linker, see ``mentions.py``.

        Args:
            docs: get their mentions.
            tagged: what ``predict`` returned.

        Raises:
            PelError: if ``labels_keep`` has the name of no label.
        """
        kept = frozenset(self.labels)
        if self.labels_keep is not None:
            kept = labels_named(self.labels_keep, self.labels, where=f"labels_keep of '{self.name}'")
        for doc, (seen, reading, of_tags) in zip(docs, tagged, strict=True):
            if not len(seen):
                doc.set_ents(list(doc.ents))  # a detector was there, and found none
                continue
            begins = np.array([token.idx for token in seen])
            begins = begins if reading.places is None else reading.places[begins, 0]
            mentions = reading.given(self._with_kinds(seen, self._offsets(seen, of_tags)))
            split_tokens(doc, mentions)
            at = np.searchsorted(begins, [token.idx for token in doc], side="right") - 1
            of_tags = of_tags[np.maximum(at, 0)]
            of_labels = of_tags[:, 1::2] + of_tags[:, 2::2]
            present = list(doc.ents)
            taken = {token.i for ent in present for token in ent}
            begun = (token.i for token in doc if token.ent_iob_ == "B" and token.i not in taken)
            blocked = [doc[i : i + 1] for i in begun]  # spaCy marks them so
            taken.update(span.start for span in blocked)
            joined: list[tuple[int, int]] = []
            before: Span | None = None
            spans = list(self._labelled(doc, mentions, of_labels))
            for span in spans:
                is_one = before is not None and self._are_one(before, span, reading)
                joined.append((joined.pop()[0] if is_one else span.start_char, span.end_char))
                before = span
            if len(joined) < len(spans):
                spans = list(self._labelled(doc, joined, of_labels))
            for span in spans:
                label, tokens = span.label_, range(span.start, span.end)
                if label in kept and taken.isdisjoint(tokens):
                    present.append(span)
                    taken.update(tokens)
            doc.set_ents(present, blocked=blocked)
            total = of_labels.sum(axis=1, keepdims=True)
            shares = np.divide(of_labels, total, out=np.zeros_like(of_labels), where=total > 0)
            write_token_types(doc, self.labels, shares)

    def _labelled(self, doc: Doc, mentions: Iterable[tuple[int, int]], of_labels: Vectors) -> Iterator[Span]:
        """Mentions, by their offsets, with the label that is likeliest for their tokens."""
        logs = np.log(of_labels + _LEAST)
        for start, end in mentions:
            span: Any = doc.char_span(start, end)
            span.label_ = self.labels[int(logs[span.start : span.end].sum(axis=0).argmax())]
            yield span

    def _are_one(self, before: Span, after: Span, reading: Reading) -> bool:
        """Whether two mentions are read apart only because the slash between them is, see ``read``."""
        if reading.places is None:
            return False
        [(start, end)] = reading.read([(before.end_char, after.start_char)])
        if not end - start == _SPACED > after.start_char - before.end_char:
            return False
        n_apart = (before.label_ in _APART) + (after.label_ in _APART)
        both = before.doc[before.start : after.end].text
        return self._knows([both]) if n_apart == 1 else n_apart == 0 and not are_names(both, self._knows)

    def _knows(self, names: Iterable[str]) -> bool:
        """Whether one of these is a name that the model has learned."""
        shims = (shim for layer in self.model.walk() for shim in layer.shims)
        learned = (getattr(shim, "known", None) for shim in shims)
        return any(known.has_name(names) for known in learned if known is not None)

    def _with_kinds(self, doc: Doc, mentions: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Mentions, and the other items of lists that begin with one, "hepatitis A, B and C", if these are names that
        the detector knows. Of the first item it may have found only the word that all share, "hepatitis B/C". With a
        slash, it may have found none of them, or tagged the list as one mention, "levels of IL-4/-13"."""
        taken = {offset for mention in mentions for offset in range(*mention)}
        ends = dict(mentions)
        for (first, first_end, first_names), *others in listed_kinds(doc.text):
            known = [(start, end) for start, end, names in others if self._knows(names)]
            is_known, before = self._knows(first_names), _before_of(doc.text, first, ends)
            is_alone = before in ends or taken.isdisjoint(range(first, first_end))
            if is_alone and is_known and len(known) == len(others) and doc.text.startswith("/", first_end):
                ends[first] = ends.pop(before, first_end)
            if first in ends and is_known and taken.isdisjoint(range(ends[first], first_end)):
                known.append((first, first_end))
                taken.difference_update(range(first_end, ends[first]))
            elif first_end - 1 not in taken:
                continue
            ends.update(item for item in known if item[0] == first or taken.isdisjoint(range(*item)))
        return sorted(ends.items())

    def _offsets(self, doc: Doc, of_tags: Vectors) -> list[tuple[int, int]]:
        """Mentions by the likeliest of outside, first token and further one, whatever their label. White space has no
        tag of its own, as it has no word pieces: a mention continues across a wrapped line, but not across a blank
        line or into the next list item. No mention ends within a word that the tokenizer splits, such as "id" into
        "i" and "d".

        Args:
            doc: the document.
            of_tags: (tokens, tags), P(tag).

        Returns:
            Character offsets, in order; none begins or ends with white space, begins with a negation or has
            half a bracket. They may begin or end within tokens.
        """
        tags = np.stack([of_tags[:, 0], of_tags[:, 1::2].sum(axis=1), of_tags[:, 2::2].sum(axis=1)]).argmax(axis=0)
        breaks = breaks_of(doc)
        runs: list[list[int]] = []  # the tokens of each mention
        is_open = False  # whether the last mention may go on
        for token in doc:
            i = token.i
            if token.is_space and i not in breaks.certain:
                continue
            if i in breaks.within_word:
                if is_open and runs[-1][-1] == i - 1:
                    runs[-1].append(i)
                continue
            tag = _OUTSIDE if i in breaks.certain else int(tags[i])
            if tag == _OUTSIDE:
                is_open = False
            elif is_open and tag == _INSIDE:
                runs[-1].append(i)
            else:  # an "I" that nothing began begins a mention
                runs.append([i])
                is_open = True
        return list(chain.from_iterable(trimmed(doc, runs, breaks.likely, self._knows)))

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
        for shim in (shim for layer in self.model.walk() for shim in layer.shims if hasattr(shim, "learn_names")):
            shim.learn_names(self.labels, lambda: map(self._marked, get_examples()))
        self.model.initialize(X=docs, Y=truth)

    def move_towards(self, other: "MentionTagger", weight: float) -> None:
        """Change the weights to those on the straight line to another detector's, trained from the same start: what it
        has learned of other text, without all that it has forgotten.

        Args:
            other: has the same labels and the same layers.
            weight: 0 = this one, 1 = the other.

        Raises:
            PelError: if it has not.
        """
        mine: Any
        theirs: Any
        try:
            for mine, theirs in zip(self.model.walk(), other.model.walk(), strict=True):
                for name in mine.param_names:
                    own = mine.get_param(name)
                    own += weight * (theirs.get_param(name) - own)
                for shim, of_other in zip(mine.shims, theirs.shims, strict=True):
                    shim.move_towards(of_other, weight)
        except (AttributeError, KeyError, RuntimeError, ValueError) as error:
            raise PelError(Errors.E354.format(name=self.name)) from error

    def _marked(self, example: Example) -> tuple[Doc, list[tuple[int, int, str]]]:
        mentions = [(ent.start_char, ent.end_char, ent.label_) for ent in example.reference.ents]
        return example.x, [mention for mention in mentions if mention[2] in self.labels]


def _before_of(text: str, first: int, ends: Mapping[int, int]) -> int:
    """Where a mention begins that goes on over a character after its "of", "levels of IL-4"; -1 = there is none."""
    return next((start for start, end in ends.items() if start < first < end and text[:first].endswith(" of ")), -1)


def divided_by_words(docs: Sequence[Doc], size: int = _WORDS) -> Iterator[list[Doc]]:
    """Divide documents: what a model holds while it reads must not grow with the batches of ``nlp.pipe``.

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
