"""Elements, ions, isotopes and other chemicals that texts write in symbols, and their names in normal form: the tables
of chemicals.txt."""

from .word_lists import pairs_in, read_sections, words_in

Names = tuple[str, ...]


def _table(section: str) -> dict[str, Names]:
    """Symbols and their names."""
    return {
        symbol: tuple(name.replace("_", " ") for name in names.split("/"))
        for symbol, names in pairs_in(_LISTS[section]).items()
    }


_LISTS = read_sections("chemicals.txt")
ELEMENTS = _table("elements")
ABBREVIATIONS = frozenset(words_in(_LISTS["not_alone"]))  # symbols that mean an element only with a charge or a mass
NO_FORMULAS = frozenset("CaO2 PtO2 TcO2 KOD".split())  # oxygen in arteries, in tissue, under the skin; an enzyme
ISOTOPES = frozenset(words_in(_LISTS["isotopes"]))
# after which a blank is no unit or sex: "14 C", "18 F"
MASS_APART = frozenset("13C 15N 18O 32P 33P 35S".split())
# without a hyphen the others are residues ("K40"), serogroups ("O18") and the like
MASS_LAST = frozenset("32P 33P 35S 90Y 123I 124I 125I 129I 131I 235U 238U".split())
HYDROGEN = {"2H": "deuterium", "3H": "tritium"}
CHARGED = {symbol: names[0] for symbol, names in _table("charges").items()}  # e.g. "Fe3": "ferric"
MOLECULES, RADICALS, SOLVENTS = _table("molecules"), _table("radicals"), _table("solvents")
KNOWN = {**MOLECULES, **_table("shorthands"), **_table("amino_acids")}
ANIONS = {  # charge and names of each
    symbol[:-1].rstrip("_"): (int(symbol[-1]), names) for symbol, names in _table("anions").items()
}
VALENCES = {symbol: tuple(map(int, charges)) for symbol, charges in _table("valences").items()}
_NO_SALTS = frozenset(words_in(_LISTS["no_salts"]))
# the charges that each may have in a salt
CATIONS = {symbol: charges for symbol, charges in VALENCES.items() if symbol not in _NO_SALTS}
