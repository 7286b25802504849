"""Entities from LOINC's table of terms."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...registry import registry
from ...types import Entity
from ...util.files import Place
from .reader_base import KBReaderBase

_KINDS = {"terms": ("loinc_num", "long_common_name", "status"), "replacements": ("loinc", "map_to")}
# not RELATEDNAMES2, whose words belong to the parts of a term: "Blood", "Quantitative"; nor COMPONENT, which
# hundreds of terms share
_ALIASES = ("display_name", "shortname", "consumer_name")
_WITHDRAWN = ("DEPRECATED", "DISCOURAGED")


@registry.pel_kb_readers("spacy-pel.LoincKB.v1")
class LoincKB(KBReaderBase):
    """Reads Loinc.csv or LoincTableCore.csv, and MapTo.csv if it is passed too.

    The name is LONG_COMMON_NAME; the aliases are DisplayName, SHORTNAME and CONSUMER_NAME; the type is CLASS.
    Deprecated and discouraged terms are left out; those with one replacement in MapTo.csv redirect to it.

    Attributes:
        types: keep terms of any of these classes, e.g. ["CHEM", "HEM/BC"].
        id_prefix: keep terms whose code starts with this.
        strict: turn repairs into errors.
    """

    origin = "LOINC, Regenstrief Institute"
    licence = "LOINC licence: free of charge; its notice has to be passed on"

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The terms."""
        withdrawn: list[str] = []
        replacements: dict[str, set[str]] = {}
        for path in paths:
            for kind, place, row in self.release_rows(path, _KINDS):
                if kind == "replacements":
                    replacements.setdefault(row["loinc"], set()).add(row["map_to"])
                elif row["status"].strip().upper() in _WITHDRAWN:
                    withdrawn.append(row["loinc_num"])
                else:
                    aliases = tuple(filter(None, (row.get(column) for column in _ALIASES)))
                    types = tuple(filter(None, [row.get("class")]))
                    definition = row.get("definition_description")
                    yield place, Entity(row["loinc_num"], row["long_common_name"], aliases, types, definition)
        for old in withdrawn:
            self.note_obsolete(old, *sorted(replacements.get(old, ())))
        self.redirects.update({old: new.pop() for old, new in replacements.items() if len(new) == 1})
