"""A component that finds the names of a linker's knowledge base, and follows its changes."""

from typing import Any, Dict, List, Optional, Set

from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from .name_patterns import distinct_names
from .proxy_entity_linker import ProxyEntityLinker

_ATTRIBUTES = ("LOWER", "ORTH")  # of names in any case, and of acronyms


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
    """Adds the names and aliases of live entities to ``doc.ents``, in any case; acronyms only as they are
    written. Of two that overlap, the longer one counts, also of those that were there before.

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
        found = [
            Span(doc, start, end, label=self.label)
            for matcher in self._matchers
            for _, start, end in matcher(doc)
        ]
        if found:
            doc.ents = filter_spans([*doc.ents, *found])  # type: ignore[assignment]
        return doc

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
            for name, pattern in zip(added, map(self.nlp.make_doc, added), strict=True):
                matcher.add(self._key(name), [pattern])
            old.clear()
            old.update(new)
        self._memo = kb.memo

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


def read_names(nlp: Language) -> None:
    """Have the name finders of a pipeline read their names now, not for the first text."""
    for _, pipe in nlp.components:
        if isinstance(pipe, NameFinder):
            len(pipe)
