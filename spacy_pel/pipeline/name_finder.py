"""A component that finds the names of a linker's knowledge base, and follows its changes."""

from typing import Any, Dict, Iterator, List, Optional, Sequence, Set

from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..errors import Errors, PelError
from ..evidence.variants import other_numbers
from ..kb import KnowledgeBase
from .name_patterns import distinct_names, has_other_number, is_acronym
from .proxy_entity_linker import ProxyEntityLinker
from .white_space import words_of

_ATTRIBUTES = ("LOWER", "ORTH")  # of names in any case, and of acronyms
_OF = "of"
_REACH = 12  # tokens of a name to either side of the word that is in another number


@Language.factory(
    "pel_name_finder",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"linker": "proxy_entity_linker", "label": "ENTITY"},
)
def make_name_finder(nlp: Language, name: str, linker: str, label: str) -> "NameFinder":
    """Build a component that finds the names of a linker's knowledge base.

    nlp (Language): the pipeline, which has the linker too, before or after this component.
    name (str): the component's name.
    linker (str): the name of the linker.
    label (str): of the mentions.
    RETURNS (NameFinder): the component.
    """
    return NameFinder(nlp, name, linker=linker, label=label)


class NameFinder:
    """Adds the names and aliases of live entities to ``doc.ents``, in any case, and their regular plurals and
    singulars; acronyms only as they are written. Of two that overlap, the longer one counts, also of those
    that were there before; a name as it is written goes before another number of the same length. A
    name may be wrapped at the end of a line.

    The text's words are put into the other number, not the names, so that a large knowledge base has no more
    names to hold and to search for.

    It has no data of its own: the names are those of the linker's knowledge base at the time. After a change
    (``add_entities``, ``rename``, ``retire``) the next document is searched for the names as they are then.

    nlp (Language): the pipeline.
    name (str): the component's name.
    linker (str): the name of the linker.
    label (str): of the mentions.
    """

    def __init__(self, nlp: Language, name: str, *, linker: str, label: str) -> None:
        self.nlp = nlp
        self.name = name
        self.linker = linker
        self.label = label
        self._matchers: List[PhraseMatcher] = []
        self._names: List[Set[str]] = [set() for _ in _ATTRIBUTES]
        self._heads: Set[str] = set()  # words of names that may be in another number; also of removed names
        self._memo: Optional[Dict[str, Any]] = None  # that of the knowledge base, when the names were read

    def __len__(self) -> int:
        """RETURNS (int): how many names are searched for; 0 before the linker has data."""
        self._update()
        return sum(map(len, self._names))

    def __call__(self, doc: Doc) -> Doc:
        """Find names in a document; none before the linker has data.

        RAISES (PelError): if the pipeline has no such linker.
        """
        self._update()
        places = words_of(doc)
        words = doc if len(places) == len(doc) else Doc(doc.vocab, words=[doc[i].text for i in places])
        found = [
            self._mention(doc, places[start:end])
            for matcher in self._matchers
            for _, start, end in matcher(words)
        ]
        known = [*doc.ents, *found]
        lengths = [0] * len(doc)  # of the longest known mention at each token
        for span in known:
            for i in range(span.start, span.end):
                lengths[i] = max(lengths[i], len(span))
        in_other_number = (
            self._mention(doc, places[span.start : span.end]) for span in self._in_other_number(words)
        )
        others = [span for span in in_other_number if len(span) > max(lengths[span.start : span.end])]
        if found or others:
            doc.ents = filter_spans([*known, *others])  # type: ignore[assignment]
        return doc

    def _mention(self, doc: Doc, places: Sequence[int]) -> Span:
        """RETURNS (Span): from the first to the last of these tokens."""
        return Span(doc, places[0], places[-1] + 1, label=self.label)

    def _in_other_number(self, doc: Doc) -> Iterator[Span]:
        """YIELDS (Span): text that is a name once its last word, or the word before its first "of", is in the
        other number."""
        words = [token.text for token in doc]
        lower = [token.lower_ for token in doc]
        for i, word in enumerate(lower):
            for other in other_numbers(word):
                if other not in self._heads:  # none before the linker has data
                    continue
                first = max(0, i - _REACH)
                before_of = lower[i + 1 : i + 2] == [_OF]
                last = i + 1 + _REACH if before_of else i + 1
                window = Doc(doc.vocab, words=[*words[first:i], other, *words[i + 1 : last]])
                for key, start, end in self._matchers[0](window):
                    start, end = start + first, end + first
                    is_last = end == i + 1
                    is_before_of = before_of and start <= i and end > i + 2 and _OF not in lower[start:i]
                    if not (is_last or is_before_of):
                        continue
                    span = Span(doc, start, end, label=self.label)
                    name = doc.vocab.strings[key].partition("\0")[2]
                    if has_other_number(name, before_of=not is_last) and not is_acronym(span.text):
                        yield span

    def _update(self) -> None:
        kb = self._kb
        if kb is None or kb.memo is self._memo:
            return
        if not self._matchers:
            self._matchers = [PhraseMatcher(self.nlp.vocab, attr=attribute) for attribute in _ATTRIBUTES]
        wanted = distinct_names(name for names in kb.names_at(kb.live_rows) for name in names)
        for matcher, old, new in zip(self._matchers, self._names, map(set, wanted), strict=True):
            for name in old - new:
                matcher.remove(self._key(name))
            added = sorted(new - old)
            for name, pattern in zip(added, map(self._pattern, added), strict=True):
                matcher.add(self._key(name), [pattern])
                self._heads.update(_heads(pattern))
            old.clear()
            old.update(new)
        self._memo = kb.memo

    def _pattern(self, name: str) -> Doc:
        """RETURNS (Doc): the words of a name, without more than one blank between them."""
        return self.nlp.make_doc(" ".join(name.split()))

    def _key(self, name: str) -> str:
        """RETURNS (str): a name's key in the matchers; no word of a text is equal to it, so that it outlives
        the memory zone in which it is added."""
        key = f"{self.name}\0{name}"
        self.nlp.vocab.strings.add(key, allow_transient=False)  # type: ignore[call-arg]
        return key

    @property
    def _kb(self) -> Optional[KnowledgeBase]:
        linkers: Dict[str, Any] = dict(self.nlp.components)  # also disabled ones
        linker = linkers.get(self.linker)
        if not isinstance(linker, ProxyEntityLinker):
            raise PelError(Errors.E521.format(name=self.name, linker=self.linker, got=", ".join(linkers)))
        # an entity ruler that is being loaded runs the components before it on its patterns
        return linker.kb if linker.is_initialized else None

    # names are read again from the knowledge base: no copy is saved or sent to another process

    def __getstate__(self) -> Dict[str, Any]:
        return {name: getattr(self, name) for name in ("nlp", "name", "linker", "label")}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _heads(pattern: Doc) -> List[str]:
    """RETURNS (List[str]): the words of a name that may be in another number."""
    words = [token.lower_ for token in pattern]
    return [words[-1], words[words.index(_OF) - 1]] if _OF in words[1:-1] else words[-1:]


def read_names(nlp: Language) -> None:
    """Have the name finders of a pipeline read their names now, not for the first text."""
    for _, pipe in nlp.components:
        if isinstance(pipe, NameFinder):
            len(pipe)
