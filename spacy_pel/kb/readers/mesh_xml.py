"""Records of NLM's MeSH XML (desc2025.xml, supp2025.xml), streamed with line numbers."""

from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from ...errors import Errors, PelError
from .reader_base import Place

_RECORDS = {
    # element of a record: its id, its name
    "DescriptorRecord": ("DescriptorUI", "DescriptorName/String"),
    "SupplementalRecord": ("SupplementalRecordUI", "SupplementalRecordName/String"),
}


class MeshRecord(NamedTuple):
    """A descriptor or a supplementary record.

    tree_numbers (Tuple[str, ...]): of a descriptor.
    mapped_to (Tuple[str, ...]): ids of the descriptors of a supplementary record.
    """

    place: Place
    id: str
    name: str
    aliases: Tuple[str, ...]
    tree_numbers: Tuple[str, ...] = ()
    mapped_to: Tuple[str, ...] = ()
    definition: Optional[str] = None


def read_mesh_xml(lines: Iterable[Tuple[Place, bytes]]) -> Iterator[MeshRecord]:
    """Stream the records of a descriptor or supplementary file; memory holds one at a time.

    lines (Iterable[Tuple[Place, bytes]]): the file.
    YIELDS (MeshRecord): in file order; its place is the line where the record ends.
    RAISES (PelError): if the XML is broken or cut off.
    """
    parser: Any = XMLPullParser(events=("start", "end"))
    place, root = None, None
    try:
        for place, line in lines:
            parser.feed(line)
            for event, element in parser.read_events():
                if root is None:
                    root = element
                elif event == "end" and element.tag in _RECORDS:
                    yield _record(place, element)
                    root.clear()  # yielded elements must not accumulate below the root
        parser.close()
    except (ParseError, LookupError, ValueError) as err:  # the latter two: of its declared encoding
        if isinstance(err, PelError):
            raise
        raise PelError(
            Errors.E002.format(
                expected="MeSH XML",
                path=place,
                got=f"malformed XML ({err})",
                todo="Download the file again from NLM.",
            )
        ) from err
    if place is None or root is None:
        return
    # the parser may hold back the end of the file until it is closed
    for event, element in parser.read_events():
        if event == "end" and element.tag in _RECORDS:
            yield _record(place, element)


def _record(place: Place, record: Element) -> MeshRecord:
    id_path, name_path = _RECORDS[record.tag]
    definition = None
    for concept in record.iterfind("ConceptList/Concept"):
        if concept.get("PreferredConceptYN") == "Y":
            definition = concept.findtext("ScopeNote")
    return MeshRecord(
        place=place,
        id=record.findtext(id_path, ""),
        name=record.findtext(name_path, ""),
        # the terms of all concepts: those of non-preferred ones are entry terms as well
        aliases=tuple(_texts(record, "ConceptList/Concept/TermList/Term/String")),
        tree_numbers=tuple(_texts(record, "TreeNumberList/TreeNumber")),
        mapped_to=tuple(
            name.lstrip("*")
            for name in _texts(
                record, "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI"
            )
        ),
        definition=definition,
    )


def _texts(record: Element, path: str) -> List[str]:
    return [element.text or "" for element in record.iterfind(path)]
