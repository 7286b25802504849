"""Cross references in one spelling: published files call a vocabulary by several names."""

import re
from functools import lru_cache

RXNORM = "RXNORM"
INGREDIENT = "RXNORM_INGREDIENT"  # a choice of RxNorm's codes, see ``KnowledgeBase.codes``
# usual spelling -> other names, without case and separators: "ICD-10-CM" and "RxNorm" need none
_NO_OTHERS = "ICD9 ICD9CM ICD10CM ICD10PCS ICD11 MONDO EFO GO CHEBI UBERON CL FMA DRUGBANK ATC UNII"
_SPELLINGS = {
    **dict.fromkeys(_NO_OTHERS.split(), ""),
    **{"MESH": "msh", "UMLS": "umlscui", "LOINC": "lnc", "MEDDRA": "mdr", "HP": "hpo", "DOID": "do", "OMIM": "mim"},
    **{"ICD10": "icd10who", "ICDO": "icdo3", "NCIT": "nci ncithesaurus", "ORPHA": "orphanet ordo orphacode"},
    **{"SNOMEDCT": "snomedctus snomed sctid sct", RXNORM: "rxcui", INGREDIENT: "rxnormingredient"},
}
_VOCABULARIES = {spelling: name for name, more in _SPELLINGS.items() for spelling in (name.casefold(), *more.split())}
_RELEASE = re.compile(r"_?(19|20)\d\d(_\w+)*$")  # "SNOMEDCT_US_2016_03_01", "NCI2009_04D"
_SEPARATORS = re.compile(r"[\W_]+")
# their codes are written with the prefix: "HP:0002099"
_OBO = frozenset("HP MONDO DOID EFO GO CHEBI UBERON CL".split())
_FORMS = {"UMLS": re.compile(r"C\d{7}"), "MESH": re.compile(r"D\d{6}|[CD]\d{9}")}
_UNDOTTED = re.compile(r"([A-Z]\d[0-9A-Z]|\d{3})([0-9A-Z]{1,4})")
_UNDOTTED_E = re.compile(r"(E\d{3})(\d)")  # external causes of ICD-9-CM
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


def vocabulary_name(name: str) -> str:
    """The usual spelling of a vocabulary's name, e.g. "ICD10CM" for "icd-10-cm"; an unknown one stays as it is."""
    name = name.strip()
    return _vocabulary(name) or name


def vocabulary_key(name: str) -> str:
    """Equal for all spellings of a vocabulary's name; of an unknown one, for those that differ in case and signs."""
    return _SEPARATORS.sub("", vocabulary_name(name)).casefold()


def split_xref(xref: str) -> tuple[str, str]:
    """The vocabulary of a cross reference in its usual spelling, and the code as people report it: "D001249" of
    "MESH:D001249", but "HP:0002099". Without a vocabulary, the first is empty."""
    vocabulary, colon, code = xref.partition(":")
    return (vocabulary, xref if vocabulary in _OBO else code) if colon else ("", xref)


def split_id(entity_id: str) -> tuple[str, str]:
    """``split_xref`` of an entity's id. The vocabulary of an id without a prefix is that whose form it has: CUIs of
    the UMLS, records of MeSH."""
    if ":" in entity_id:
        return split_xref(normalize_xref(entity_id))
    return next((name for name, form in _FORMS.items() if form.fullmatch(entity_id)), ""), entity_id


def is_code(vocabulary: str, code: str) -> bool:
    """Whether something can be reported as this code: it is not empty, and no chapter or block of ICD ("I10-I16")."""
    return bool(code) and not ("-" in code and vocabulary.startswith("ICD"))


def dotted(vocabulary: str, code: str) -> str:
    """A code of ICD with its dot, which some releases of vocabularies leave out: "J45.90" for "J4590". Other codes
    stay as they are."""
    if vocabulary not in ("ICD10CM", "ICD10", "ICD9CM"):
        return code
    match = (vocabulary == "ICD9CM" and _UNDOTTED_E.fullmatch(code)) or _UNDOTTED.fullmatch(code)
    return f"{match[1]}.{match[2]}" if match else code


@lru_cache(maxsize=4096)
def _vocabulary(prefix: str) -> str:
    """The usual spelling; "" = unknown."""
    return _VOCABULARIES.get(_SEPARATORS.sub("", _RELEASE.sub("", prefix)).casefold(), "")
