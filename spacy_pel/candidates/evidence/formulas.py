"""Chemicals in symbols: "CaCl2" is not a name of the entity "calcium chloride", but it means it, as "Ca2+"
means "calcium", "32P" "phosphorus-32", and "EtOH" "ethanol"."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ...util import normalize_alias
from .chemicals import (
    ABBREVIATIONS,
    ANIONS,
    CATIONS,
    CHARGED,
    ELEMENTS,
    HYDROGEN,
    ISOTOPES,
    KNOWN,
    MASS_APART,
    MASS_LAST,
    MOLECULES,
    NO_FORMULAS,
    RADICALS,
    SOLVENTS,
    VALENCES,
    Names,
)

_LONGEST = 24  # characters of a formula
_FEW_ELEMENTS = 2  # "CD4" and "ND3" are no methane and ammonia
_FEW_ATOMS = 2  # "cyclophilin-d1" has no deuterium
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii")
_VALENT = ("", "mono", "di", "tri", "tetra", "penta", "hexa", "hepta", "octa")
_TIMES = ("", "", *_VALENT[2:])
_OF_SEVERAL_CHARGES = {symbol[:-1] for symbol in CHARGED}
_SYMBOL = "[A-Z][a-z]?"
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
_ASCII = str.maketrans({**_DASHES, **dict.fromkeys("·•∙⋅●˙*", "."), **dict.fromkeys("^{}")})
_RAISED = re.compile(r"</?su[bp]>")
_SET_OFF = re.compile(r" ?\((\d{0,2}[+-]?)\)")  # raised or lowered in print: "H(2)O(2)", "Ca(2+)"
_CHARGE_APART = re.compile(r" (?=\d?(?:\+{1,3}|-{1,3})$)")  # "PO4 3-"
_CHARGE_LAST = re.compile(rf"({_SYMBOL}|[A-Z]\w*\d)( ?)([+-])([1-7])")  # "Fe+3", "SO4-2"
_CONCENTRATION = re.compile(r"\[([^][]+[+-])\](?:\(?(?:i|o|e|c|in|out|cyt)\)?)?")  # "[Ca2+]i"
_ATOM_CHARGE = re.compile(rf"({_SYMBOL})\((\d-)\)")  # "O(2-)" is oxide, but "O2-" superoxide
_IONS = re.compile(r"[ -](?:cat|an)?ions?$")
_WATER = re.compile(r"[.x×] ?\d*[nx]?H2O$")  # of a crystal
_MASS_FIRST = re.compile(rf"\[?(\d{{1,3}}m?)([- ]?)({_SYMBOL})\]?-?")
_MASS_LAST = re.compile(rf"({_SYMBOL})(-?)(\d{{1,3}}m?)")
_CHARGE = re.compile(rf"({_SYMBOL})(?:(\d?)\+|(\+{{2,3}}))")
_STATES = "I|II|III|IV|V|VI|VII|VIII"
_STATE = re.compile(rf"({_SYMBOL}) ?\((0|{_STATES}|{_STATES.lower()})\)")
_BARE_STATE = re.compile("([A-Z][a-z])(?:(0)| ?(II|III|IV|V|VI|VII))")  # "FeIII"
_NAMED_STATE = re.compile(rf"(\w+) ?\(({_STATES})\)", re.IGNORECASE)  # "iron(III)"
_SALT = re.compile(rf"(\(NH4\)|NH4|{_SYMBOL})([2-8]?)(\(?)([A-Z][A-Za-z0-9]*)(\)?)([2-8]?)")
_LABELLED = re.compile(rf"(\[?)(?:(?:U|\d(?:,\d)*)-)?(\d{{1,3}}m?{_SYMBOL})\d?\]?-?(\w.{{2,}})")
_LABEL = re.compile(rf" ?\[?({'|'.join(sorted(ISOTOPES - {'2H'}, key=len, reverse=True))})(?![a-z])\]?")  # in "H218O"
_DEUTERIUM = re.compile(r"D(\d*)(?![a-z])")
_DEUTERATED = re.compile(r"(?:\[[dD](\d{1,2})\]-?|d(\d{1,2})-)(\w.+)|(\w.+)-d(\d{1,2})")
_NO_DEUTERIUM = re.compile(r"(vitamin|cyclin|dopamin\w*|prostaglandin|protectin|resolvin)s?$|receptor|\w*agonist|like")
# what follows an isotope and is no compound, as in "131I-therapy" and "35S-promoter"
_NO_COMPOUND = re.compile(
    r"dating|enrich|imaging|immuno|label|promoter|radio|scinti|therapy|treat|uptake|(mr[is]|nmr|pet|scan|spect|ubt)\b",
    re.IGNORECASE,
)
_ACIDS = {"HCl": "hydrochloride", "HBr": "hydrobromide"}
_OF_BASE = re.compile(rf"(.*\w{{3}})[ .-]({'|'.join(_ACIDS)})")
_NO_BASE = re.compile("(^| )(aqueous|conc|concentrated|diluted?|fuming|m?ethanolic)$", re.IGNORECASE)
_HANDED = re.compile(r"(?:([LD])|DL)-([A-Z][a-z]{2})")
_ELEMENT_OF = {name: symbol for symbol, names in ELEMENTS.items() for name in names}
_ANION_WORDS = {name for _, names in ANIONS.values() for name in names}
_ION_OF = {name: symbol for symbol, name in CHARGED.items()}  # e.g. "ferric": "Fe3"
_ANION_NAMES = {
    symbol + sign: tuple(
        form
        for name in names
        for form in (*([f"{name} {charge}"] if charge > 1 else []), name, f"{name} ion", f"{name} anion")
    )
    for symbol, (charge, names) in ANIONS.items()
    for sign in (f"{charge}-", "-" * charge)
}


@lru_cache(maxsize=4096)
def formula_names(written: str) -> Names:
    """Names of a chemical that is written in symbols: an element, an ion, an isotope, a salt, a small
    molecule, an amino acid, a common solvent or reagent; also of one with an isotope before its name, or an
    acid behind it ("[3H]dopamine", "bupropion HCl"). Capitals count: "CO" is a gas, "Co" a metal.

    Args:
        written: a mention as it stands in the text, e.g. "FeCl3", "Fe(3+)", "FeCl₃·6H2O".

    Returns:
        Names in normal form, the preferred one first, e.g. ("ferric chloride",
        "iron iii chloride", "iron chloride", "iron trichloride"); empty for what is no formula.
    """
    text = unicodedata.normalize("NFKC", _RAISED.sub("", written)).translate(_ASCII).strip()
    if text in NO_FORMULAS:
        return ()
    if len(text) > _LONGEST:
        return tuple(dict.fromkeys(_compound(text)))
    if atom := _ATOM_CHARGE.fullmatch(text):
        return _ANION_NAMES.get("".join(atom.groups()), ())
    without_ions = _IONS.sub("", text)
    is_ion = without_ions != text
    text = _SET_OFF.sub(r"\1", without_ions)
    if concentration := _CONCENTRATION.fullmatch(text):
        text = concentration[1]
    text = _CHARGE_APART.sub("", text)
    if (last := _CHARGE_LAST.fullmatch(text)) and (last[3] == "+" or last[1][-1].isdigit()):
        text = f"{last[1]}{last[4]}{last[3]}"
    return tuple(dict.fromkeys(_names(_WATER.sub("", text).strip() or text, is_ion)))


def _names(text: str, is_ion: bool) -> Iterator[str]:
    yield from _compound(text)
    yield from KNOWN.get(text, ())
    yield from _radical(text)
    symbol = _ELEMENT_OF.get(text.lower(), text)
    if is_ion and text.lower() in _ANION_WORDS:
        yield text.lower()
    if is_ion and symbol in ELEMENTS:
        yield from _ions(symbol)
    elif text in ELEMENTS and text not in ABBREVIATIONS:
        yield from _atom(text)
    yield from _isotope(text)
    yield from _cation(text, is_ion)
    yield from _ANION_NAMES.get(text, ())
    yield from _salt(text)
    yield from _labelled(text)
    yield from _deuterated(text)
    if handed := _HANDED.fullmatch(text):
        for name in KNOWN.get(handed[2], ()):
            yield from ([f"{handed[1].lower()} {name}", name] if handed[1] else [name])


def _radical(text: str) -> Iterator[str]:
    """Names of a radical, its dot before it, behind it, or beside its charge."""
    if text.count(".") == 1:
        before, after = text.split(".")
        if not before or after in ("", "-"):
            yield from RADICALS.get(before + after, ())


def _labelled(text: str) -> Iterator[str]:
    """Names of a formula with an isotope in it, such as "H218O"."""
    label = _LABEL.search(text)
    if label and label[0] != text:
        symbol = label[1].lstrip("0123456789m")
        plain = text[: label.start()] + symbol + text[label.end() :]
        names = [*MOLECULES.get(plain, ()), *_ANION_NAMES.get(plain, ()), *_salt(plain)]
        yield from (f"{label[1].removesuffix(symbol)} {symbol.lower()} {name}" for name in names)
        yield from names


def _deuterated(text: str) -> Iterator[str]:
    """Names of a solvent or a standard with deuterium: "CDCl3", "DMSO-d6", "d3-morphine"."""
    plain = _DEUTERIUM.sub(r"H\1", text)
    if plain != text and len(set(re.findall(_SYMBOL, plain))) > _FEW_ELEMENTS:
        atoms = sum(int(number or 1) for number in _DEUTERIUM.findall(text))
        names = MOLECULES.get(plain, ()) if not text.isalpha() else ()  # "DCN" is a gene
        yield from (form for name in names for form in (f"{name} d{atoms}", f"deuterated {name}"))
        yield from (*names, *_salt(plain))
    if text == "chloroform-d":
        text = "chloroform-d1"
    for solvent in SOLVENTS:
        if text in (f"D6-{solvent}", f"{solvent}-D6"):
            text = f"{solvent}-d6"
    if found := _DEUTERATED.fullmatch(text):
        compound, atoms = found[3] or found[4], int(found[1] or found[2] or found[5])
        if compound in SOLVENTS or atoms > _FEW_ATOMS and not _NO_DEUTERIUM.search(compound):
            names = SOLVENTS.get(compound, (normalize_alias(compound),))
            yield from (form for name in names for form in (f"{name} d{atoms}", f"deuterated {name}"))
            yield from names


def _compound(text: str) -> Iterator[str]:
    """Names of a compound without its label, of a base with an acid and without."""
    if (labelled := _LABELLED.fullmatch(text)) and labelled[2] in ISOTOPES:
        bracket, isotope, compound = labelled.groups()
        # without brackets "2H-" says where a ring has hydrogen
        if bracket or isotope != "2H" and not _NO_COMPOUND.match(compound):
            yield normalize_alias(compound)
            yield from KNOWN.get(compound, ())
    if (salt := _OF_BASE.fullmatch(text)) and not _NO_BASE.search(salt[1]):
        yield from (f"{normalize_alias(salt[1])} {_ACIDS[salt[2]]}", normalize_alias(salt[1]))


def _atom(symbol: str) -> Names:
    return (f"{ELEMENTS[symbol][0]} atom", *ELEMENTS[symbol])  # an ontology may have more than one "iron"


def _isotope(text: str) -> Iterator[str]:
    if first := _MASS_FIRST.fullmatch(text):
        mass, symbol = first[1], first[3]
        if first[2] == " " and len(symbol) == 1 and mass + symbol not in MASS_APART:
            return
    elif (last := _MASS_LAST.fullmatch(text)) and (last[2] or len(last[1]) > 1 or last[3] + last[1] in MASS_LAST):
        symbol, mass = last[1], last[3]
    else:
        return
    if mass + symbol in ISOTOPES:
        if mass + symbol in HYDROGEN:
            yield from (f"{HYDROGEN[mass + symbol]} atom", HYDROGEN[mass + symbol])
        for element in ELEMENTS[symbol]:
            yield from (f"{element} {mass}", f"{element} {mass} atom", f"{element} isotopes")
        yield from _atom(symbol)


def _ions(symbol: str) -> Iterator[str]:
    """Names of an element's ions, whatever their charge."""
    yield from (*KNOWN.get(f"{symbol}+", ()), *_ANION_NAMES.get(f"{symbol}-", ()))
    for element in ELEMENTS[symbol]:
        yield from (f"{element} ion", f"{element} cation")
    if len(VALENCES.get(symbol, ())) == 1:
        yield from _of_charge(symbol, VALENCES[symbol][0])


def _cation(text: str, is_ion: bool) -> Iterator[str]:
    word, _, metal = text.lower().partition(" ")
    named = _NAMED_STATE.fullmatch(text)
    if word in _ION_OF and (metal in ELEMENTS[_ION_OF[word][:-1]] or is_ion and not metal):
        symbol, charge = _ION_OF[word][:-1], int(_ION_OF[word][-1])
    elif named and named[1].lower() in _ELEMENT_OF:
        symbol, charge = _ELEMENT_OF[named[1].lower()], _ROMAN.index(named[2].lower())
    elif state := _STATE.fullmatch(text):
        symbol, charge = state[1], 0 if state[2] == "0" else _ROMAN.index(state[2].lower())
    elif (state := _BARE_STATE.fullmatch(text)) and not ((state[2] or " " in text) and state[1] in ABBREVIATIONS):
        symbol, charge = state[1], 0 if state[2] else _ROMAN.index(state[3].lower())
    elif ion := _CHARGE.fullmatch(text):
        symbol, charge = ion[1], len(ion[3]) if ion[3] else int(ion[2] or 1)
    else:
        return
    if symbol in ELEMENTS and not charge:
        yield from (*(f"{element} 0" for element in ELEMENTS[symbol]), *_atom(symbol))
    elif symbol in ELEMENTS and charge in VALENCES.get(symbol, ()):
        yield from _of_charge(symbol, charge)


def _of_charge(symbol: str, charge: int) -> Iterator[str]:
    if f"{symbol}{charge}" in CHARGED:
        known = CHARGED[f"{symbol}{charge}"]
        yield from (f"{known} ion", f"{known} {ELEMENTS[symbol][0]}", f"{known} cation")
    for element in ELEMENTS[symbol]:
        yield from (f"{element} {charge}", f"{element} {_ROMAN[charge]}")  # the first of "calcium(2+)"
        yield from (f"{_VALENT[charge]}valent {element}", f"{element} {_VALENT[charge]}valent ion")
        yield from (f"{element} ion", f"{element} cation", element)


def _salt(text: str) -> Iterator[str]:
    if not (salt := _SALT.fullmatch(text)) or bool(salt[3]) != bool(salt[5]):
        return
    metal, n_metals = salt[1].strip("()"), int(salt[2] or 1)
    if metal not in CATIONS:
        return
    for anion, n_anions in _counted(salt[4], salt[6], bracketed=bool(salt[3])):
        negative, names = ANIONS[anion]
        positive, rest = divmod(negative * n_anions, n_metals)
        if rest or positive not in CATIONS[metal]:
            continue
        elements = ELEMENTS.get(metal, ("ammonium",))
        for name in names:
            if f"{metal}{positive}" in CHARGED:
                yield f"{CHARGED[f'{metal}{positive}']} {name}"
            for element in elements:
                if metal in _OF_SEVERAL_CHARGES:
                    yield f"{element} {_ROMAN[positive]} {name}"
                yield f"{element} {name}"
                yield f"{_TIMES[n_metals]}{element} {_TIMES[n_anions]}{name}"


def _counted(group: str, after: str, *, bracketed: bool) -> Iterator[tuple[str, int]]:
    """Readings of a group as an anion and how many of it there are."""
    if group in ANIONS:
        yield group, int(after or 1)
    if not bracketed and group + after in ANIONS:
        yield group + after, 1
    if not bracketed and not after and group[-1] in "2345678" and group[:-1] in ANIONS:
        yield group[:-1], int(group[-1])
