"""Chemicals in symbols: "CaCl2" is not a name of the entity "calcium chloride", but it means it, as "Ca2+"
means "calcium", "32P" "phosphorus-32", and "EtOH" "ethanol". The tables are in chemicals.txt."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .other_forms import pairs_in, read_sections, words_in

Names = tuple[str, ...]

_LISTS = read_sections("chemicals.txt")


def _table(section: str) -> dict[str, Names]:
    """Symbols and their names."""
    return {symbol: tuple(names.replace("_", " ").split("/")) for symbol, names in pairs_in(_LISTS[section]).items()}


_ELEMENTS = _table("elements")
_KNOWN = {**_table("molecules"), **_table("shorthands"), **_table("amino_acids")}
_NOT_ALONE = frozenset(words_in(_LISTS["not_alone"]))  # symbols that mean an element only with a charge or a mass
_ISOTOPES = frozenset(words_in(_LISTS["isotopes"]))
_CHARGED = {symbol: names[0] for symbol, names in _table("charges").items()}  # e.g. "Fe3": "ferric"
_ANIONS = {symbol[:-1].rstrip("_"): (int(symbol[-1]), names) for symbol, names in _table("anions").items()}
_ANION_NAMES = {
    symbol + sign: tuple(form for name in names for form in (f"{name} {charge}", name, f"{name} ion", f"{name} anion"))
    for symbol, (charge, names) in _ANIONS.items()
    for sign in (f"{charge}-", "-" * charge)
}
_VALENCES = {symbol: tuple(map(int, charges)) for symbol, charges in _table("valences").items()}
_NO_SALTS = frozenset(words_in(_LISTS["no_salts"]))
_CATIONS = {**_ELEMENTS, "NH4": ("ammonium",)}
_NO_FORMULAS = frozenset("CaO2 PtO2 TcO2 KOD".split())  # oxygen in arteries, in tissue, under the skin; an enzyme
_LONGEST = 24  # characters of a formula
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii")
_TIMES = ("", "", "di", "tri", "tetra", "penta", "hexa", "hepta", "octa")
_SYMBOL = "[A-Z][a-z]?"
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
_ASCII = str.maketrans({**_DASHES, **dict.fromkeys("^{}")})
_RAISED = re.compile(r"</?su[bp]>")
_SET_OFF = re.compile(r" ?\((\d{0,2}[+-]?)\)")  # raised or lowered in print: "H(2)O(2)", "Ca(2+)"
_CHARGE_APART = re.compile(r" (?=\d?(?:\+{1,3}|-{1,3})$)")  # "PO4 3-"
_CONCENTRATION = re.compile(r"\[([^][]+[+-])\](?:\(?(?:i|o|e|c|in|out|cyt)\)?)?")  # "[Ca2+]i"
_IONS = re.compile(r"[ -](?:cat|an)?ions?$")
_MASS = re.compile(rf"\[?(\d{{1,3}}m?)-?({_SYMBOL})\]?-?|({_SYMBOL})-(\d{{1,3}}m?)")
_CHARGE = re.compile(rf"({_SYMBOL})(?:(\d?)\+|(\+{{2,3}}))")
_SALT = re.compile(rf"(\(NH4\)|NH4|{_SYMBOL})([2-8]?)(\(?)([A-Z][A-Za-z0-9]*)(\)?)([2-8]?)")


@lru_cache(maxsize=4096)
def formula_names(written: str) -> Names:
    """Names of a chemical that is written in symbols: an element, an ion, an isotope, a salt, a small
    molecule, an amino acid, a common solvent or reagent. Capitals count: "CO" is a gas, "Co" a metal.

    Args:
        written: a mention as it stands in the text, e.g. "FeCl3", "Fe(3+)".

    Returns:
        Names in normal form, the preferred one first, e.g. ("ferric chloride",
        "iron iii chloride", "iron chloride", "iron trichloride"); empty for what is no formula.
    """
    text = unicodedata.normalize("NFKC", _RAISED.sub("", written)).translate(_ASCII).strip()
    if text in _NO_FORMULAS or len(text) > _LONGEST:
        return ()
    without_ions = _IONS.sub("", text)
    symbols = _SET_OFF.sub(r"\1", without_ions)
    if concentration := _CONCENTRATION.fullmatch(symbols):
        symbols = concentration[1]
    return tuple(dict.fromkeys(_names(_CHARGE_APART.sub("", symbols), is_ion=without_ions != text)))


def _names(symbols: str, is_ion: bool) -> Iterator[str]:
    yield from _KNOWN.get(symbols, ())
    if is_ion:
        yield from _ANION_NAMES.get(f"{symbols}-", ())
        for charge in _VALENCES.get(symbols, ())[:1]:
            yield from _charged(symbols, charge)
    elif symbols in _ELEMENTS and symbols not in _NOT_ALONE:
        yield from _atom(symbols)
    if mass := _MASS.fullmatch(symbols):
        number, symbol = mass[1] or mass[4], mass[2] or mass[3]
        if number + symbol in _ISOTOPES:
            yield from (f"{element} {number}{form}" for element in _ELEMENTS[symbol] for form in ("", " atom"))
            yield from _atom(symbol)
    if ion := _CHARGE.fullmatch(symbols):
        charge = len(ion[3]) if ion[3] else int(ion[2] or 1)
        if charge in _VALENCES.get(ion[1], ()):
            yield from _charged(ion[1], charge)
    yield from _ANION_NAMES.get(symbols, ())
    yield from _salt(symbols)


def _atom(symbol: str) -> Names:
    return (f"{_ELEMENTS[symbol][0]} atom", *_ELEMENTS[symbol])  # an ontology may have more than one "iron"


def _charged(symbol: str, charge: int) -> Iterator[str]:
    if prefix := _CHARGED.get(f"{symbol}{charge}"):
        yield from (f"{prefix} ion", f"{prefix} {_ELEMENTS[symbol][0]}", f"{prefix} cation")
    for element in _CATIONS[symbol]:
        yield from (f"{element} {charge}", f"{element} {_ROMAN[charge]}")  # the first of "calcium(2+)"
        yield from (f"{element} ion", f"{element} cation", element)


def _salt(symbols: str) -> Iterator[str]:
    if not (salt := _SALT.fullmatch(symbols)) or bool(salt[3]) != bool(salt[5]):
        return
    metal, n_metals = salt[1].strip("()"), int(salt[2] or 1)
    if metal not in _VALENCES or metal in _NO_SALTS:
        return
    for anion, n_anions in _counted(salt[4], salt[6], bracketed=bool(salt[3])):
        negative, names = _ANIONS[anion]
        charge, rest = divmod(negative * n_anions, n_metals)
        if rest or charge not in _VALENCES[metal]:
            continue
        for name in names:
            if prefix := _CHARGED.get(f"{metal}{charge}"):
                yield f"{prefix} {name}"
            for element in _CATIONS[metal]:
                if len(_VALENCES[metal]) > 1:
                    yield f"{element} {_ROMAN[charge]} {name}"
                yield f"{element} {name}"
                yield f"{_TIMES[n_metals]}{element} {_TIMES[n_anions]}{name}"


def _counted(group: str, after: str, *, bracketed: bool) -> Iterator[tuple[str, int]]:
    """Readings of a group as an anion and how many of it there are."""
    if group in _ANIONS:
        yield group, int(after or 1)
    if not bracketed and group + after in _ANIONS:
        yield group + after, 1
    if not bracketed and not after and group[-1] in "2345678" and group[:-1] in _ANIONS:
        yield group[:-1], int(group[-1])
