"""A component that finds the names that a linker knows, and follows its changes."""

from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set

from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..errors import Errors, PelError
from ..evidence.variants import other_numbers
from ..linking import Linker
from ..linking.memory.known import Known
from .name_patterns import distinct_names, has_other_number, is_acronym
from .proxy_entity_linker import ProxyEntityLinker
from .white_space import has_blank_line, words_of

_ATTRIBUTES = ("LOWER", "ORTH")  # of names in any case, and of acronyms
_NAMES, _LEARNED = "names", "learned"  # of the knowledge base, and from corrections
_OF = "of"
_REACH = 12  # tokens of a name to either side of the word that is in another number


@Language.factory(
    "pel_name_finder",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"linker": "proxy_entity_linker", "label": "ENTITY"},
)
def make_name_finder(nlp: Language, name: str, linker: str, label: str) -> "NameFinder":
    """Build a component that finds the names that a linker knows.

    nlp (Language): the pipeline, which has the linker too, before or after this component.
    name (str): the component's name.
    linker (str): the name of the linker.
    label (str): of the mentions.
    RETURNS (NameFinder): the component.
    """
    return NameFinder(nlp, name, linker=linker, label=label)


class NameFinder:
    """Adds the names and aliases of live entities to ``doc.ents``, in any case, and their regular plurals and
    singulars; acronyms only as they are written. A mention that was corrected to an entity counts as one of
    its names. Of two that overlap, the longer one counts, also of those that were there before; a name as it
    is written goes before another number of the same length. A name may be wrapped at the end of a line.

    The text's words are put into the other number, not the names, so that a large knowledge base has no more
    names to hold and to search for.

    It has no data of its own: the names are those that the linker knows at the time. After a change
    (``add_entities``, ``rename``, ``retire``, ``learn``, ``unlearn``) the next document is searched for the
    names as they are then.

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
        self._names: Dict[str, List[Set[str]]] = {
            source: [set() for _ in _ATTRIBUTES] for source in (_NAMES, _LEARNED)
        }
        self._heads: Set[str] = set()  # words of names that may be in another number; also of removed names
        # of the linker, when the names were read; each is another object after a change
        self._memo: Optional[Dict[str, Any]] = None
        self._known: Optional[Known] = None

    def __len__(self) -> int:
        """RETURNS (int): how many names are searched for; 0 before the linker has data."""
        self._update()
        both = zip(self._names[_NAMES], self._names[_LEARNED], strict=True)
        return sum(len(names) + len(learned - names) for names, learned in both)

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
        linker = self._linker
        if linker is None:
            return
        if not self._matchers:
            self._matchers = [PhraseMatcher(self.nlp.vocab, attr=attribute) for attribute in _ATTRIBUTES]
        kb, known = linker.kb, linker.known
        if kb.memo is not self._memo:
            self._search_for(_NAMES, (name for names in kb.names_at(kb.live_rows) for name in names))
            self._memo = kb.memo
        if known is not self._known:
            self._search_for(_LEARNED, (form for form in known.forms if not has_blank_line(form)))
            self._known = known

    def _search_for(self, source: str, names: Iterable[str]) -> None:
        """Search for these names, and no longer for the others of this source."""
        wanted = distinct_names(names)
        for matcher, old, new in zip(self._matchers, self._names[source], map(set, wanted), strict=True):
            for name in old - new:
                matcher.remove(self._key(source, name))
            added = sorted(new - old)
            for name, pattern in zip(added, map(self._pattern, added), strict=True):
                matcher.add(self._key(source, name), [pattern])
                self._heads.update(_heads(pattern))
            old.clear()
            old.update(new)

    def _pattern(self, name: str) -> Doc:
        """RETURNS (Doc): the words of a name, without more than one blank between them."""
        return self.nlp.make_doc(" ".join(name.split()))

    def _key(self, source: str, name: str) -> str:
        """RETURNS (str): a name's key in the matchers; no word of a text is equal to it, so that it outlives
        the memory zone in which it is added."""
        key = f"{self.name} {source}\0{name}"
        self.nlp.vocab.strings.add(key, allow_transient=False)  # type: ignore[call-arg]
        return key

    @property
    def _linker(self) -> Optional[Linker]:
        linkers: Dict[str, Any] = dict(self.nlp.components)  # also disabled ones
        linker = linkers.get(self.linker)
        if not isinstance(linker, ProxyEntityLinker):
            raise PelError(Errors.E521.format(name=self.name, linker=self.linker, got=", ".join(linkers)))
        # an entity ruler that is being loaded runs the components before it on its patterns
        return linker.linker if linker.is_initialized else None

    # names are read again from the linker: no copy is saved or sent to another process

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
