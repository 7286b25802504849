"""A component that finds the names that a linker knows, and follows its changes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc

from ...abbreviations.documents import listed_kinds
from ...errors import Errors, PelError
from ...util.names import Runs, runs_of
from ...util.reading import Reading, as_read, read
from ..mentions import PHRASE
from .boundaries import has_blank_line, split_tokens
from .name_search import Mention, NameTable, best_reading, phrase_probability

if TYPE_CHECKING:  # spaCy imports this file for every pipeline
    from ...linking import Linker
    from ...linking.corrections.matching import LearnedMentions


@Language.factory(
    "pel_name_finder",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "span._.pel_phrase"],
    default_config={"linker": "proxy_entity_linker", "label": "ENTITY"},
)
class NameFinder:
    """Adds the names and aliases of live entities to ``doc.ents``, in any case, and their regular plurals and
    singulars; acronyms only as they are written. A mention that was corrected to an entity counts as one of
    its names. Names are compared as the knowledge base does, see ``runs_of``: "type-2 diabetes" is "type 2
    diabetes". A name may be wrapped at the end of a line.

    Of mentions that overlap, also of those that were there before, those count that cover the most words, see
    ``best_reading``. A token that holds several words, such as "1.HTN", is split where a mention begins or
    ends, whatever tokenizer the pipeline has.

    The text's words are put into the other number, not the names, so that a large knowledge base has no more
    names to hold and to search for.

    It has no data of its own: the names are those that the linker knows at the time. After a change
    (``add_entities``, ``rename``, ``retire``, ``learn``, ``unlearn``) the next document is searched for the
    names as they are then.

    Args:
        nlp: the pipeline, which has the linker too, before or after this component.
        name: the component's name.
        linker: the name of the linker.
        label: of the mentions.
    """

    def __init__(self, nlp: Language, name: str, *, linker: str, label: str):
        self.nlp = nlp
        self.name = name
        self.linker = linker
        self.label = label
        self._names = self._learned = NameTable()  # of the knowledge base, and from corrections
        # of the linker, when the names were read; each is another object after a change
        self._memo: dict[str, Any] | None = None
        self._known: LearnedMentions | None = None

    def __len__(self) -> int:
        """How many names are searched for; 0 before the linker has data."""
        self._update()
        return len({*self._names, *self._learned})

    def __call__(self, doc: Doc) -> Doc:
        """Find names in a document; none before the linker has data.

        Raises:
            PelError: if the pipeline has no such linker.
        """
        self._update()
        seen, reading = as_read(doc, self.nlp)
        runs = runs_of(reading.text)
        mentions = [mention for mention in self._search(reading.text, runs) if not _is_in_address(seen, mention)]
        if reading.places is not None and (other := read(doc.text, hyphenated=True, apart=True)).text != reading.text:
            # which words keep their hyphen at the end of a line is a guess, unless names tell
            others = list(self._search(other.text, runs_of(other.text)))
            places = reading.read(other.given((mention.start, mention.end) for mention in others))
            for mention, (start, end) in zip(others, places, strict=True):
                first, last = _words(runs, start, end)
                if start <= runs.starts[first] and runs.ends[last - 1] <= end:
                    mentions.append(Mention(start, end, first, last, mention.n_marks))
        wholes: dict[Mention, str] = {}  # "hepatitis C" for "C" of "hepatitis B and C"
        for start, end, names in chain.from_iterable(listed_kinds(reading.text)):
            if (name := next(filter(self._names.__contains__, names), None)) is not None:
                wholes[Mention(start, end, *_words(runs, start, end))] = name
        if mentions := [*mentions, *wholes]:
            self._add(doc, mentions, runs, reading, wholes)
        elif not doc.ents:
            doc.ents = []  # read, without a mention
        return doc

    def _search(self, text: str, runs: Runs) -> Iterator[Mention]:
        return chain.from_iterable(table.search(text, runs) for table in (self._names, self._learned))

    def _add(
        self, doc: Doc, mentions: list[Mention], runs: Runs, reading: Reading, wholes: Mapping[Mention, str]
    ) -> None:
        known: dict[Mention, tuple[int, int, Any, Any, Any]] = {}
        places = reading.read((ent.start_char, ent.end_char) for ent in doc.ents)
        for ent, (start, end) in zip(doc.ents, places, strict=True):
            key = Mention(start, end, *_words(runs, start, end))
            known[key] = (ent.start_char, ent.end_char, ent.label, ent.kb_id, ent.id)
        chosen = best_reading([*known, *mentions], len(runs.words))
        taken = {offset for mention in chosen for offset in range(mention.start, mention.end)}
        signs = [mention for mention in known if mention.first >= mention.last]  # without words
        chosen += [mention for mention in signs if taken.isdisjoint(range(mention.start, mention.end))]
        kept = [known[mention] for mention in chosen if mention in known]
        new = [mention for mention in chosen if mention not in known]
        found = reading.given((mention.start, mention.end) for mention in new)
        split_tokens(doc, found)
        spans: list[Any] = [doc.char_span(*offsets, self.label) for offsets in found]
        for span, mention in zip(spans, new, strict=True):
            span._.set(PHRASE, phrase_probability(wholes.get(mention, span.text)))
        doc.ents = spans + [
            doc.char_span(start, end, label, kb_id, span_id=id) for start, end, label, kb_id, id in kept
        ]

    def _update(self) -> None:
        linker = self._linker
        if linker is None:
            return
        kb, known = linker.kb, linker.learned_mentions
        if kb.memo is not self._memo:
            self._names = NameTable(name for names in kb.names_at(kb.live_rows) for name in names)
            self._memo = kb.memo
        if known is not self._known:
            self._learned = NameTable(form for form in known.forms if not has_blank_line(form))
            self._known = known

    @property
    def _linker(self) -> "Linker | None":
        from ..proxy_entity_linker import ProxyEntityLinker

        pipes: dict[str, Any] = dict(self.nlp.components)  # also disabled ones
        linker = pipes.get(self.linker)
        if not isinstance(linker, ProxyEntityLinker):
            raise PelError(Errors.E521.format(name=self.name, linker=self.linker, got=", ".join(pipes)))
        # an entity ruler that is being loaded runs the components before it on its patterns
        return linker.linker if linker.is_initialized else None

    # names are read again from the linker: no copy is saved or sent to another process

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("nlp", "name", "linker", "label")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _words(runs: Runs, start: int, end: int) -> tuple[int, int]:
    return bisect_right(runs.ends, start), bisect_left(runs.starts, end)


def _is_in_address(doc: Doc, mention: Mention) -> bool:
    """Whether this is a part of a URL or an e-mail address."""
    if doc.char_span(mention.start, mention.end) is not None:
        return False
    tokens: Any = doc.char_span(mention.start, mention.end, alignment_mode="expand")
    return any(token.like_url or token.like_email for token in tokens)


def read_names(nlp: Language) -> None:
    """Have the name finders of a pipeline read their names now, not for the first text."""
    for _, pipe in nlp.components:
        if isinstance(pipe, NameFinder):
            len(pipe)
