"""Cross references in one spelling: published files call a vocabulary by several names."""

import re
from functools import lru_cache

# usual spelling -> other names, without case and separators: "ICD-10-CM" and "RxNorm" need none
_NO_OTHERS = "ICD9 ICD9CM ICD10CM ICD10PCS ICD11 MONDO EFO GO CHEBI UBERON CL FMA DRUGBANK ATC UNII"
_SPELLINGS = {
    **dict.fromkeys(_NO_OTHERS.split(), ""),
    "MESH": "msh",
    "UMLS": "umlscui",
    "SNOMEDCT": "snomedctus snomed sctid sct",
    "ICD10": "icd10who",
    "ICDO": "icdo3",
    "NCIT": "nci ncithesaurus",
    "OMIM": "mim",
    "ORPHA": "orphanet ordo orphacode",
    "RXNORM": "rxcui",
    "LOINC": "lnc",
    "MEDDRA": "mdr",
    "HP": "hpo",
    "DOID": "do",
}
_VOCABULARIES = {spelling: name for name, more in _SPELLINGS.items() for spelling in (name.casefold(), *more.split())}
_RELEASE = re.compile(r"_?(19|20)\d\d(_\w+)*$")  # "SNOMEDCT_US_2016_03_01", "NCI2009_04D"
_SEPARATORS = re.compile(r"[\W_]+")
_NAMED_AGAIN = re.compile(r"([A-Za-z]+)[:_]?(?=\d)")  # "HPO:HP:0000118", "Orphanet:ORPHA3213"


def normalize_xref(xref: str) -> str:
    """Give a cross reference the usual spelling.

    Args:
        xref: a compact id, e.g. "MSH:D001249" or "SNOMEDCT_US_2016_03_01:16253001".

    Returns:
        e.g. "MESH:D001249", with the code in capitals. An id of an unknown vocabulary stays as it is.
    """
    prefix, colon, code = xref.strip().partition(":")
    prefix, code = prefix.rstrip(), code.lstrip()
    vocabulary = _vocabulary(prefix)
    if not vocabulary or not code:
        return f"{prefix}{colon}{code}"
    again = _NAMED_AGAIN.match(code)
    if again and _vocabulary(again[1]) == vocabulary:
        code = code[again.end() :]
    return f"{vocabulary}:{code.upper()}"


def xref_key(xref: str) -> str:
    """Equal for all spellings of a cross reference; here, the case of an unknown vocabulary does not matter either."""
    prefix, colon, code = normalize_xref(xref).partition(":")
    return f"{prefix.casefold()}{colon}{code}"


@lru_cache(maxsize=4096)
def _vocabulary(prefix: str) -> str:
    """The usual spelling; "" = unknown."""
    return _VOCABULARIES.get(_SEPARATORS.sub("", _RELEASE.sub("", prefix)).casefold(), "")
