"""Elements, ions, isotopes and other chemicals that texts write in symbols, and their names in normal form.

In all tables "/" separates the names of a chemical, the preferred one first, and "_" stands for a blank.
"""

Names = tuple[str, ...]

_ELEMENTS = """
    H hydrogen  He helium  Li lithium  Be beryllium  B boron  C carbon  N nitrogen  O oxygen  F fluorine
    Ne neon  Na sodium  Mg magnesium  Al aluminum/aluminium  Si silicon  P phosphorus  S sulfur  Cl chlorine
    Ar argon  K potassium  Ca calcium  Sc scandium  Ti titanium  V vanadium  Cr chromium  Mn manganese
    Fe iron  Co cobalt  Ni nickel  Cu copper  Zn zinc  Ga gallium  Ge germanium  As arsenic  Se selenium
    Br bromine  Kr krypton  Rb rubidium  Sr strontium  Y yttrium  Zr zirconium  Nb niobium  Mo molybdenum
    Tc technetium  Ru ruthenium  Rh rhodium  Pd palladium  Ag silver  Cd cadmium  In indium  Sn tin
    Sb antimony  Te tellurium  I iodine  Xe xenon  Cs cesium/caesium  Ba barium  La lanthanum  Ce cerium
    Pr praseodymium  Nd neodymium  Sm samarium  Eu europium  Gd gadolinium  Tb terbium  Dy dysprosium
    Ho holmium  Er erbium  Tm thulium  Yb ytterbium  Lu lutetium  Hf hafnium  Ta tantalum  W tungsten
    Re rhenium  Os osmium  Ir iridium  Pt platinum  Au gold  Hg mercury  Tl thallium  Pb lead  Bi bismuth
    Po polonium  At astatine  Rn radon  Ra radium  Ac actinium  Th thorium  U uranium  Np neptunium
    Pu plutonium  Am americium
"""
# the usual charges of an element, and of ammonium, in salts and as ions
_VALENCES = """
    Li 1  Be 2  Na 1  Mg 2  Al 3  K 1  Ca 2  Sc 3  Ti 3/4  V 2/3/4/5  Cr 2/3/6  Mn 2/3/4/7  Fe 2/3  Co 2/3
    Ni 2/3  Cu 1/2  Zn 2  Ga 3  Ge 4  As 3/5  Se 4/6  Rb 1  Sr 2  Y 3  Zr 4  Nb 5  Mo 4/5/6  Tc 4/7  Ru 2/3/4
    Rh 3  Pd 2/4  Ag 1  Cd 2  In 3  Sn 2/4  Sb 3/5  Te 4/6  Cs 1  Ba 2  La 3  Ce 3/4  Pr 3  Nd 3  Sm 3  Eu 2/3
    Gd 3  Tb 3  Dy 3  Ho 3  Er 3  Tm 3  Yb 3  Lu 3  Hf 4  Ta 5  W 4/6  Re 4/7  Os 4/8  Ir 3/4  Pt 2/4  Au 1/3
    Hg 1/2  Tl 1/3  Pb 2/4  Bi 3/5  Ra 2  Ac 3  Th 4  U 3/4/6  Np 5  Pu 3/4  Am 3  NH4 1
"""
_NO_SALTS = "U V W Y"  # of these, since "VF" is ventricular fibrillation
# symbols that mostly mean something else: words, acetyl, creatinine, patients, blood groups; and single
# letters, but for potassium in blood tests
_NOT_ALONE = "Ac Am At Be Cr Er He Ho In La Os Pr Pt Ra Re Rh Ta Th Tm B C F H I N O P S U V W Y"
NO_FORMULAS = frozenset("CaO2 PtO2 TcO2".split())  # oxygen in arteries, in tissue, and under the skin
# of two charges, the higher one ends in "-ic"
_CHARGES = """
    Fe2 ferrous  Fe3 ferric  Cu1 cuprous  Cu2 cupric  Sn2 stannous  Sn4 stannic  Hg1 mercurous  Hg2 mercuric
    Co2 cobaltous  Co3 cobaltic  Mn2 manganous  Mn3 manganic  Cr2 chromous  Cr3 chromic  Au1 aurous
    Au3 auric  Pb2 plumbous  Pb4 plumbic  Ce3 cerous  Ce4 ceric
"""
_ISOTOPES = """
    2H 3H 11C 13C 14C 13N 15N 15O 17O 18O 18F 22Na 24Na 31P 32P 33P 35S 36Cl 40K 42K 45Ca 47Ca 51Cr 54Mn
    55Fe 59Fe 57Co 58Co 60Co 63Ni 62Cu 64Cu 67Cu 67Ga 68Ga 65Zn 75Se 76Br 77Br 82Br 81Kr 85Kr 82Rb 86Rb 85Sr
    89Sr 90Sr 90Y 89Zr 95Zr 95Nb 99Mo 99Tc 99mTc 103Ru 106Ru 103Pd 109Cd 111In 113mIn 123I 124I 125I 129I
    131I 127Xe 129Xe 133Xe 133Ba 134Cs 137Cs 141Ce 144Ce 153Sm 166Ho 169Yb 177Lu 186Re 188Re 192Ir 195mPt
    198Au 201Tl 203Hg 210Pb 212Pb 210Po 211At 212Bi 213Bi 222Rn 223Ra 226Ra 225Ac 232Th 235U 238U 238Pu
    239Pu 241Am
"""
# the last figure is the negative charge
_ANIONS = """
    F1 fluoride  Cl1 chloride  Br1 bromide  I1 iodide  OH1 hydroxide  CN1 cyanide  SCN1 thiocyanate
    OCN1 cyanate  NO3_1 nitrate  NO2_1 nitrite  N3_1 azide  HCO3_1 bicarbonate/hydrogencarbonate
    CO3_2 carbonate  SO4_2 sulfate  HSO4_1 bisulfate/hydrogensulfate  SO3_2 sulfite
    HSO3_1 bisulfite/hydrogensulfite  S2O3_2 thiosulfate  S2O4_2 dithionite  S2O5_2 metabisulfite/disulfite
    S2O8_2 persulfate/peroxodisulfate  S2 sulfide  HS1 hydrosulfide  O2 oxide  PO4_3 phosphate
    HPO4_2 hydrogenphosphate/hydrogen_phosphate/phosphate
    H2PO4_1 dihydrogenphosphate/dihydrogen_phosphate/phosphate  P2O7_4 pyrophosphate/diphosphate
    BO3_3 borate  B4O7_2 tetraborate/borate  ClO1 hypochlorite  OCl1 hypochlorite  ClO2_1 chlorite
    ClO3_1 chlorate  ClO4_1 perchlorate  BrO3_1 bromate  IO3_1 iodate  IO4_1 periodate  MnO4_1 permanganate
    CrO4_2 chromate  Cr2O7_2 dichromate/bichromate  MoO4_2 molybdate  WO4_2 tungstate
    VO3_1 metavanadate/vanadate  VO4_3 orthovanadate/vanadate  AsO2_1 arsenite  AsO3_3 arsenite
    AsO4_3 arsenate  SeO3_2 selenite  SeO4_2 selenate  SiO3_2 silicate  BH4_1 borohydride
    BF4_1 tetrafluoroborate  HCOO1 formate  CH3COO1 acetate  OAc1 acetate  C2O4_2 oxalate
    ONOO1 peroxynitrite
"""
_MOLECULES = """
    H2O water  D2O deuterium_oxide/heavy_water  H2O2 hydrogen_peroxide  O2 dioxygen/oxygen
    1O2 singlet_oxygen  O3 ozone  N2 dinitrogen/nitrogen  H2 dihydrogen/hydrogen  Cl2 dichlorine/chlorine
    Br2 dibromine/bromine  I2 diiodine/iodine  CO carbon_monoxide  CO2 carbon_dioxide  NO nitric_oxide
    N2O nitrous_oxide  N2O4 dinitrogen_tetroxide  NO2 nitrogen_dioxide  SO2 sulfur_dioxide
    SO3 sulfur_trioxide  NH3 ammonia  H2S hydrogen_sulfide  PH3 phosphine  HCN hydrogen_cyanide  AsH3 arsine
    CS2 carbon_disulfide  SF6 sulfur_hexafluoride  N2H4 hydrazine  NH2OH hydroxylamine
    NH2Cl chloramine/monochloramine  HNO nitroxyl  CH4 methane  C2H2 acetylene  C2H4 ethylene/ethene
    C2H6 ethane  C3H8 propane  C6H6 benzene  CCl4 carbon_tetrachloride/tetrachloromethane  CHCl3 chloroform
    CH2Cl2 methylene_chloride/dichloromethane  CH3Cl methyl_chloride/chloromethane
    CH3I methyl_iodide/iodomethane  CH3Br methyl_bromide/bromomethane  CH3OH methanol  C2H5OH ethanol
    CH3CH2OH ethanol  CH2O formaldehyde  HCHO formaldehyde  CH3CHO acetaldehyde  HCOOH formic_acid
    CH3COOH acetic_acid  CH3CN acetonitrile  CH3COONa sodium_acetate  CH3COOK potassium_acetate
    CH3COONH4 ammonium_acetate  C6H12O6 glucose  HCl hydrochloric_acid/hydrogen_chloride
    HBr hydrobromic_acid/hydrogen_bromide  H2SO4 sulfuric_acid  H2SO3 sulfurous_acid  HNO3 nitric_acid
    HNO2 nitrous_acid  H3PO4 phosphoric_acid  H2CO3 carbonic_acid  H3BO3 boric_acid  HClO hypochlorous_acid
    HOCl hypochlorous_acid  HOBr hypobromous_acid  HClO4 perchloric_acid  H2SeO3 selenious_acid
    HOSCN hypothiocyanous_acid  HAuCl4 chloroauric_acid/gold_tetrachloride_acid  SiO2 silicon_dioxide/silica
    CrO3 chromium_trioxide  As2O3 arsenic_trioxide  P2O5 phosphorus_pentoxide  V2O5 vanadium_pentoxide
    Fe3O4 ferrosoferric_oxide/magnetite  OsO4 osmium_tetroxide  Al2O3 aluminum_oxide/alumina
    ZrO2 zirconium_oxide/zirconium_dioxide  BaO2 barium_peroxide
    K3Fe(CN)6 potassium_ferricyanide/potassium_hexacyanoferrate_3
    K4Fe(CN)6 potassium_ferrocyanide/potassium_hexacyanoferrate_4  H+ hydrogen_ion/proton/hydron
    H3O+ hydronium_ion/hydronium  NH4+ ammonium_ion/ammonium/ammonia  O2- superoxide/superoxide_anion
    O2.- superoxide/superoxide_anion  .O2- superoxide/superoxide_anion  .OH hydroxyl_radical
    OH. hydroxyl_radical  HO. hydroxyl_radical  .NO nitric_oxide  NO. nitric_oxide
"""
# few articles say what these are
_SHORTHANDS = """
    EtOH ethanol  ETOH ethanol  MeOH methanol  iPrOH 2_propanol/isopropanol  BuOH butanol/1_butanol
    EtOAc ethyl_acetate  AcOEt ethyl_acetate  AcOH acetic_acid  HOAc acetic_acid  Ac2O acetic_anhydride
    NaOAc sodium_acetate  Et2O ethyl_ether/diethyl_ether  Et3N triethylamine  MeCN acetonitrile
    DMSO dimethyl_sulfoxide  Me2SO dimethyl_sulfoxide  DMF dimethylformamide/n_n_dimethylformamide
    EtBr ethidium_bromide/ethidium  PEG polyethylene_glycol/polyethylene_glycols
    PVP povidone/polyvinylpyrrolidone
    DPPH 2_2_diphenyl_1_picrylhydrazyl/1_1_diphenyl_2_picrylhydrazyl  cAMP cyclic_amp/3_5_cyclic_amp
    NADH nad  MTT 3_4_5_dimethylthiazol_2_yl_2_5_diphenyltetrazolium_bromide
    NBT nitro_blue_tetrazolium/nitroblue_tetrazolium
    BCIP 5_bromo_4_chloro_3_indolyl_phosphate/5_bromo_4_chloro_3_indoxyl_phosphate
    X-gal 5_bromo_4_chloro_3_indolyl_beta_galactoside/5_bromo_4_chloro_3_indolyl_beta_d_galactoside
    SDS sodium_dodecyl_sulfate/sodium_lauryl_sulfate
    PMSF phenylmethylsulfonyl_fluoride/phenylmethanesulfonyl_fluoride  DTT dithiothreitol/1_4_dithiothreitol
    EDTA edetic_acid/ethylenediaminetetraacetic_acid  EGTA egtazic_acid
    HEPES 4_2_hydroxyethyl_1_piperazineethanesulfonic_acid
    IPTG isopropyl_thiogalactoside/isopropyl_beta_d_thiogalactopyranoside  DAPI 4_6_diamidino_2_phenylindole
    FITC fluorescein_isothiocyanate/fluorescein_5_isothiocyanate  PFA paraformaldehyde
    BrdU bromodeoxyuridine/5_bromo_2_deoxyuridine  BrdUrd bromodeoxyuridine/5_bromo_2_deoxyuridine
    ENU ethylnitrosourea/n_ethyl_n_nitrosourea  GSH glutathione  GSSG glutathione_disulfide
"""
_AMINO_ACIDS = """
    Ala alanine  Arg arginine  Asn asparagine  Asp aspartic_acid  Cys cysteine  Gln glutamine
    Glu glutamic_acid  Gly glycine  His histidine  Ile isoleucine  Leu leucine  Lys lysine  Met methionine
    Phe phenylalanine  Pro proline  Ser serine  Thr threonine  Trp tryptophan  Tyr tyrosine  Val valine
"""


def _table(text: str) -> dict[str, Names]:
    words = text.split()
    table = {
        symbol: tuple(name.replace("_", " ") for name in names.split("/"))
        for symbol, names in zip(words[::2], words[1::2], strict=True)
    }
    if 2 * len(table) < len(words):
        raise ValueError("a symbol has two entries")
    return table


ELEMENTS = _table(_ELEMENTS)
ABBREVIATIONS = frozenset(_NOT_ALONE.split())  # symbols that mean an element only with a charge or a mass
ISOTOPES = frozenset(_ISOTOPES.split())
# without a hyphen the others are residues ("K40"), serogroups ("O18") and the like
MASS_LAST = frozenset("32P 33P 35S 90Y 123I 124I 125I 129I 131I 235U 238U".split())
HYDROGEN = {"2H": "deuterium", "3H": "tritium"}
CHARGED = {symbol: names[0] for symbol, names in _table(_CHARGES).items()}  # e.g. "Fe3": "ferric"
MOLECULES, SHORTHANDS, AMINO_ACIDS = map(_table, (_MOLECULES, _SHORTHANDS, _AMINO_ACIDS))
KNOWN = {**MOLECULES, **SHORTHANDS, **AMINO_ACIDS}
ANIONS = {  # charge and names of each
    symbol[:-1].rstrip("_"): (int(symbol[-1]), names) for symbol, names in _table(_ANIONS).items()
}
VALENCES = {symbol: tuple(map(int, charges)) for symbol, charges in _table(_VALENCES).items()}
CATIONS = {  # the charges that each may have in a salt
    symbol: charges for symbol, charges in VALENCES.items() if symbol not in _NO_SALTS.split()
}
