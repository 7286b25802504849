"""Records of NLM's MeSH XML (desc2025.xml, supp2025.xml), streamed with line numbers."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .reader_base import Place
from .xml_elements import read_elements

_RECORDS = {
    # element of a record: its id, its name
    "DescriptorRecord": ("DescriptorUI", "DescriptorName/String"),
    "SupplementalRecord": ("SupplementalRecordUI", "SupplementalRecordName/String"),
}


class MeshRecord(NamedTuple):
    """A descriptor or a supplementary record.

    Attributes:
        tree_numbers: of a descriptor.
        mapped_to: ids of the descriptors of a supplementary record.
    """

    place: Place
    id: str
    name: str
    aliases: tuple[str, ...]
    tree_numbers: tuple[str, ...] = ()
    mapped_to: tuple[str, ...] = ()
    definition: str | None = None


def read_mesh_xml(lines: Iterable[tuple[Place, bytes]]) -> Iterator[MeshRecord]:
    """Stream the records of a descriptor or supplementary file; memory holds one at a time.

    Args:
        lines: the file.

    Yields:
        In file order; its place is the line where the record ends.

    Raises:
        PelError: if the XML is broken or cut off.
    """
    for place, _, element in read_elements(lines, expected="MeSH XML"):
        if element.tag in _RECORDS:
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
            for name in _texts(record, "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
        ),
        definition=definition,
    )


def _texts(record: Element, path: str) -> list[str]:
    return [element.text or "" for element in record.iterfind(path)]
