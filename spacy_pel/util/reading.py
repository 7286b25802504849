"""The text as it is read: without the tags, marks and characters that are no part of its words, and the way back."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .names import GREEK

Offsets = tuple[int, int]
Edit = tuple[int, int, str]  # start, end, and what is read there instead

# Many signs in a row, with at most two letters or digits between them: no name has as many, and spaCy's tokenizer,
# which takes off one at a time, would need quadratic time.
_SIGN = r"(?:[^\w\s]|_)"
_RUN = 64
LONG_RUN = rf"(?:{_SIGN}[^\W_]{{0,2}}){{{_RUN - 1},}}{_SIGN}"

_INLINE = """a abbr acronym b bdi bdo big cite code del dfn em ext-link font i img ins italic kbd label mark
named-content q s samp sc small span strike strong sub sup tt u underline var xref bold monospace"""
_BLOCKS = """abstract abstracttext address article aside blockquote body br button caption center dd details div dl dt
fieldset fig figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html input legend li link list list-item
main meta nav ol option p pre script sec section select style summary table tbody td textarea tfoot th thead title tr
ul"""


def _tag(names: str) -> str:
    """A tag with one of these names: "<b>", "</p>", "<br/>", "<a href=…>", but not "<b and c>"."""
    return rf"(?i:</?(?:jats:)?(?:{'|'.join(names.split())})(?=\s*/?>|\s+[\w:-]+\s*=)[^<>]*>)"


TAG = re.compile(_tag(f"{_INLINE} {_BLOCKS}"))
_PLAIN = r"\d{1,3}(?:[,\u2013-]\d{1,3}){0,9}"
_NUMBERS = r"\d{1,4}(?:\s?[,;\u2013\u2014-]\s?\d{1,4})*"


def _not_after(words: Iterable[str]) -> str:
    return "".join(f"(?<!(?i:{word}))" for word in words)


# "chi\u00b2", not "TNF-alpha\u00b2"
_NOT_GREEK = _not_after(rf"(?<!-){name}" for name in GREEK.values() if len(name) > 2)
# whose number may be in brackets: "type(1)", "interleukin(2)", "FEV(1)", "PGE(2)", "pCO(2)"
_NUMBERED = """type stage grade class group phase chromosome factor interleukin caspase fev pla pip glp peg hiv
pg[a-z] tx[a-z] lt[a-z] [cipv]o"""
_NOT_NUMBERED = _not_after([*filter(lambda name: len(name) > 2, GREEK.values()), *_NUMBERED.split()])  # "beta(2)"
# elements with isotopes in use: "iodine[131]"
_ELEMENTS = """hydrogen carbon nitrogen oxygen fluorine fluoride phosphorus sulfur chromium cobalt copper gallium
rubidium strontium yttrium technetium indium iodine iodide xenon cesium samarium lutetium thallium radium thorium"""
_NOT_ELEMENT = _not_after(_ELEMENTS.split())
# A number after it is none of a unit, a formula or a type: "m²", "10⁹", "R²", "P[5]".
_AFTER_NAME = (
    r"(?:(?<=[a-z]{3}|[A-Z]{3}|[A-Z]{2}\d|[A-Z]\d[a-z]|[a-z)\]][.,;:)][.,;:)\]\"\u201d]|[A-Za-z]{2}[.,;:)\]\"\u201d]|\w[\w)][.,;:])"
    r"|(?<=[A-Za-z]{2}-\d)|(?<=[A-Za-z]-\d\d)|(?<=-[\u03b1-\u03c9])|(?<=[a-z]{4} [ACDEK])|(?<=[a-z]{4} [ACDEK][\].,;])"
    rf"|(?<=type \d)){_NOT_GREEK}"
)
# before a ring in the name of a chemical: "spiro[4]decane", "phenyl[1,3]dioxolane"
_NOT_CHEMICAL = _not_after("o yl calix cucurbit pillar".split())
_SUPERSCRIPT = "[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]"
# of Markdown: what is shown, and where it is
_LABEL = r"(?:[^\[\]\n]|\[[^\[\]\n]*\])*"
_TARGET = r"(?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"\n]*\")?"
_URL = rf"(?:https?:|mailto:|www\.|#|\.{{0,2}}/){_TARGET}"
_BREAK = r"(?:\r\n?|[\n\v\f\x85\u2028])"
_QUOTED = r"(?:>[^\S\r\n]?)+"  # "> " of quoted mail
_CITED = (
    # "asthma<sup>1</sup>", "asthma²", "asthma^1^", "asthma$^{1,2}$"
    rf"{_AFTER_NAME}(?:(?i:(?:[<\[](?:sup|xref|a)\b[^<>\[\]]*[>\]]\s?){{1,3}}\[?{_NUMBERS}\]?(?:\s?[<\[]/(?:sup|xref|a)[>\]]){{1,3}})"
    rf"|\u207d?{_SUPERSCRIPT}+(?:[,\u2013\u207b-]{_SUPERSCRIPT}+)*\u207e?(?![\w+\u207a\u207b])"
    rf"|(?:\$?\^|\\textsuperscript)(?:\{{{_NUMBERS}\}}|\[{_NUMBERS}\]|{_NUMBERS})\^?\$?(?![\w+\u207a-]))",
    # notes of tables: "asthma<sup>a,b</sup>", "asthma<sup>*</sup>"
    r"(?<=[a-z]{4})<sup>\s?(?:[a-z](?:,\s?[a-z])*|[*#\u00a7\u00b6\u2020\u2021]{1,3})\s?</sup>",
    # "asthma[1,2]", "asthma.[3]-[5]", "asthma[1]and", "COPD[ref]", "COPD(2)"
    rf"(?:{_AFTER_NAME}{_NOT_ELEMENT}|(?<=\w\d|-\d|\d[.,;\]]))\[\s?(?:#?{_NUMBERS}(?:,?\s[a-z]{{1,5}}\.?\s?\d+)?\.?|[\^@][^\[\]\s]+"
    r"|citation needed|[*?\u00a7\u00b6\u2020\u2021]{1,2}|(?i:note|ref\.?|fn\.?|pmid:?)\s?\d+"
    rf"|[A-Z][a-z][^\[\]\n]{{0,60}}\d{{4}}[a-z]?)\s?\](?:[-\u2013]\[{_NUMBERS}\])*(?::\s?\d{{1,4}})?(?![\w+\u207a-])",
    # of Wikipedia, EndNote and others: "asthma<ref>…</ref>", "asthma{{cn}}", "asthma{Lee, 2019 #12}", "asthma{1,2}"
    r"<ref\b[^<>]*(?:/>|>[^<]*</ref>)",
    rf"{_AFTER_NAME}(?:\{{\{{[^{{}}\n]{{1,80}}\}}\}}|\{{(?:{_NUMBERS}|[^{{}}#\n]{{1,60}}#\d[^{{}}\n]{{0,60}})\}})",
    # superscripts of copied text: "asthma.1 COPD", "asthma,1,2 COPD", "asthma1,2"
    rf"(?:(?<=[a-z]{{4}})|(?<=[A-Z]{{3}})){_NOT_GREEK}(?:\.{_PLAIN}(?=\s+[A-Z(]|\s*$)|[,;]{_PLAIN}(?=\s[a-z]|\s*$))",
    rf"(?<=[a-z]{{6}}){_NOT_NUMBERED}\d{{1,3}}(?:[,\u2013-]\d{{1,3}})+(?![\w-])",
    rf"(?<=[a-z]{{3}}|[A-Z]{{3}}|[a-z]{{2}}[.,;]){_NOT_ELEMENT}{_NOT_CHEMICAL}\[{_NUMBERS}\](?=[A-Za-z]{{2}})",
    r"(?<!\S)\[\d{1,3}\](?i:(?!benz|rota|caten|fluor|iod|carb)(?=[a-z]{3}))",  # "[1]asthma"
    rf"{_AFTER_NAME}{_NOT_ELEMENT}\[(?:[a-z]|[ivx]{{2,4}}|refs?\.?|note|sic)\](?=[\s.,;:)]|$)",
    rf"(?:(?:(?<=[a-z]{{4}})|(?<=[A-Z]{{3}})|(?<=[A-Za-z]-\d\d)){_NOT_NUMBERED}|(?<=[a-z]{{2}}[.,;]))\({_NUMBERS}\)"
    r"(?![\w+-])",
    r"(?<=[^\W_])[\u2020\u2021\u00a7\u00b6\u00ae\u2122\u00a9]+",
    r"~?\\(?:[a-zA-Z]{0,9}(?:cite[a-zA-Z]{0,9}|ref|footnote|graphics)|footnotemark|label|begin|end|input|url|href)\*?(?:\[[^\[\]{}]*\])*\{[^{}]*\}",
)
_UNREAD = (
    # Markdown: "**x**", "~~x~~", "==x==", "++x++", "__x__", "`x`", "[[x]]"
    r"(?<!\*)\*{2,3}(?=[A-Za-z(])|(?<=[\w.,:;!?)])\*{2,3}(?![\w*])",
    r"(?<![~=+\w])(?:~~|==|\+\+(?=[^+\n]{1,99}\+\+))(?=\w)|(?<=[\w.,)])(?:~~|==)(?![~=\w])|(?<=[a-z]{3})\+\+(?![+\w])",
    r"(?<!\w)__(?=[A-Za-z])|(?<=[^\W_]|[.,)])__(?!\w)",
    r"(?<![\w`])`{1,3}(?=\w)|(?:(?<=[A-Za-z.)])|(?<=-\d|\d\d))`{1,3}(?![\w`])",
    # "*x*.", "~x~", and what is escaped: "\\>= 18", "\\[HIV\\]"; "kid=\nney" of quoted-printable mail
    r"(?:(?<=[a-z]{3})|(?<=[A-Z]{3}))[*_~=}]{1,3}(?=[.,;:!?](?:\s|$))|(?<!\S)~(?=[A-Za-z]{3})|(?<=[A-Za-z]{3})~(?!\S)",
    r"\\(?=[\[\](){}<>*_~#+!&%$])|(?<=[a-z ])=\r?\n(?=[a-z])",
    r"\[\[(?:[^\[\]|\n]*\|)?(?=[^\[\]|\n]*\]\])|(?<=[A-Za-z])\]\](?!>)",
)
# where a line may break, zero-width characters, marks of direction, soft hyphens, byte order marks, fillers
_ZERO = (
    r"(?:(?i:<wbr\s?/?>)|[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff])+"
)
ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_PICTURES = "[\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]{1,9}"
# between two names of which one is an acronym: "CHF/CAD", "obesity/OSA", not "mg/dL", "A/P" or "SWI/SNF-dependent"
_SLASH = (
    r"(?<=[A-Z][A-Z0-9])[/&](?!OR\b)(?=(?:[A-Z][A-Z0-9]{1,5}|[A-Z]?[a-z]{4,})(?![\w-]))"
    r"|(?:(?<=[A-Za-z)])[-=]>|[\u2190-\u21ff\u2794])(?=[A-Za-z]{2})"  # "HTN->stroke"
    rf"|{_PICTURES}(?=[^\W_])|(?<=[^\W_]){_PICTURES}"
    # "lactate=4.1", "Dx1:gout", "Q2.gout", "'gout','asthma'"
    r"|(?<=[A-Za-z]{3}|[A-Z]\d[a-z])=(?=[<>~]?\d)|(?<=[A-Za-z]\d)[:.](?=[A-Za-z][a-z]{3})"
    r"|(?<=[a-z]{2})[\"'\u201d][,;:|][\"'\u201c](?=[A-Za-z])"
    r"|(?<=[a-z]{4})/(?=[A-Z][A-Z0-9]{1,5}(?![\w-]))"
    r"|(?<=\b[A-Z]{2}[a-z]{2})/(?=[A-Z]{2})|(?<=[a-z]['\u2019]s)/(?=[A-Za-z][a-z]{3}|[A-Z]{2})"
    r"|(?<= disease|syndrome|disorder)/(?=[A-Za-z][a-z]{3})"
)
_WITHOUT_END = "amp|lt|gt|nbsp|quot|apos|[mn]dash|[lr][sd]quo"
_PAIRED = re.compile(r"[<\[](/?[A-Za-z][\w:.-]*)(?:(?=\s*/?>|\s*=|\s+[\w:-]+\s*=)[^<>\[\]]*>|(?:=[^\[\]\n]*)?\])")
_RULES = {
    "slash": _SLASH,
    "sharp": r"(?<![^\W\d_])\u00df(?![^\W\d_])",  # for beta: "TGF-\u00df"
    "wide": "[\uff01-\uff5e]",
    # which tokenizers divide words at: "non\u2013small", "IFN\u2013\u03b3"
    "dash": "(?:(?<=\\b[Nn]on)|(?<=[A-Z])(?=.[\u03b1-\u03c9]))[\u2011-\u2015\u2212](?=[^\\W_])",
    "run": rf"(?<=[^\W_])(?P<sign>{_SIGN})(?P=sign){{7,}}(?=[^\W_])|(?<!{_SIGN}){LONG_RUN}",
    "hyphen": rf"(?<=\w)[-\u2010\u00ac\u00ad](?:[ \t\xa0]*{_BREAK}){{1,2}}[^\S\r\n]*(?:{_QUOTED})?(?=\w)",
    "broken": r"(?<=[a-z]{2})-[ \xa0](?=[a-z]{2})",  # where lines were joined: "amy- loidosis"
    # what begins an item of a list: "A)gout ii)gout", "(1)gout(2)asthma"
    "mark": r"(?:(?<=(?<!\S)[A-Za-z\d])|(?<=(?<!\S)(?:[ivx]{2}|\d\d|\([a-h\d]))|(?<=(?<!\S)[ivx]{3}))\)"
    r"(?=[A-Za-z][a-z]{3})",
    "under": "(?<=[a-z]{4})_(?=[a-z]{4})",  # "#lung_cancer"
    # "COPD(Lee et al., 2019)"
    "glued": rf"(?<=[a-z]{{4}}){_NOT_NUMBERED}(?=\(\d{{1,2}}\)[A-Za-z][a-z]{{3}})|"
    r"(?<=[A-Z]{3}|[A-Z]-\d|-\d\d)(?=\((?:[A-Z]?[a-z]{2}|PMID)[^()\s]{0,60}\s[^()\n]{0,99}\))",
    "placeholder": r"\[\*\*[^\[\]*]{0,80}\*\*\](?!\()",  # of MIMIC-III: "[**Last Name**]"
    "link": rf"(?P<image>!)?\[(?P<of_link>{_LABEL})\]\((?(image){_TARGET}|{_URL})\)",
    "cited": rf"(?=[<\[($^~\\{{]|[.,;]?\d|[^\x00-\x7f])(?:{'|'.join(_CITED)})",
    "unread": rf"(?m:^|(?<=^ )){_QUOTED}(?=[^\s\d<>=.])|{'|'.join(_UNREAD)}",
    "raised": r"(?i:(?<=\w)<(?P<level>su[bp])>[^<>]{1,20}</(?P=level)>)",  # or lowered: "Ca<sup>2+</sup>"
    "tag": rf"{_tag(_INLINE)}|<!--[^<>]*-->|<[?!][A-Za-z][^<>]*>|<!\[CDATA\[|\]\]>",
    "block": rf"(?i:<(?P<element>script|style)\b[^<>]*>[^<]*</(?P=element)>)|{_tag(_BLOCKS)}",
    "entity": rf"{ENTITY.pattern}|&(?:{_WITHOUT_END})(?![A-Za-z0-9;=])",
    "command": r"\\[a-zA-Z]{2,20}\*?\{(?P<of_command>[^{}]*)\}",
    "zero": _ZERO,
    "paired": _PAIRED.pattern,
    # and what only the font of its writer shows, such as bullets
    "control": r"\x1b\[[\d;?]{0,20}[A-Za-z]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u2800\u3164\ue000-\uf8ff\ufdd0-\ufdef"
    r"\ufff0-\ufff8\ufffc\ufffe\uffff\U000f0000-\U0010ffff]+",
}
_CHANGED = re.compile(
    rf"(?=[^a-zA-Z0-9\s]|(?<=[a-z]{{6}})\d)(?:{'|'.join(f'(?P<{name}>{rule})' for name, rule in _RULES.items())})"
)
_INSTEAD = {"block": "\n\n", "dash": "-", "placeholder": "\u2026", "mark": ") ", "sharp": "\u03b2"}
_INSTEAD |= dict.fromkeys(("control", "glued", "under"), " ")
_IN_WORD = re.compile(rf"(?=[-<]|[^\x00-\x7f])(?:{_RULES['hyphen']}|{_RULES['broken']}|(?<=[^\W_]){_ZERO}(?=[^\W_]))")
_APART = " - "
_PASSES = 4  # what one leaves may be changed by the next: "<b>asthma</b>[1]", "&amp;nbsp;"

_WORD = re.compile(r"[^\W_]+")
_HYPHENATED = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LONGEST_WORD = 30  # characters
# in no text by themselves, though KBs have some
_NO_WORDS = frozenset("endo hyper hypo infra inter intra peri retro sub supra trans ultra".split())
# a hyphen between two lines stays after the first of these and before the others
_HYPHEN_AFTER = frozenset("non self all half cross high low alpha beta gamma delta".split())
_HYPHEN_BEFORE = frozenset(
    """acid acquired alpha associated barr based beta blocker borne brain cell cells converting day delta density
    dependent derived dose eluting free gamma grade host induced intensity joint kappa level like limiting linked
    lowering lung mediated negative old onset positive ray related releasing resistant risk sectional sensitive small
    specific stage term threatening transmitted treated type up vessel wave year deficient""".split()
)
_AND = frozenset("and or to nor but".split())  # "pre-\nand postoperative"


@dataclass(frozen=True, eq=False)
class Reading:
    """A text as it is read.

    Attributes:
        text: what is read.
        places: (characters, 2), where each of its characters begins and ends in the text as given;
            None = it is the text as given.
    """

    text: str
    places: NDArray[np.int64] | None = None

    def given(self, stretches: Iterable[Offsets]) -> list[Offsets]:
        """Where stretches of what is read, of at least one character each, are in the text as given."""
        if self.places is None:
            return list(stretches)
        return [(int(self.places[start, 0]), int(self.places[end - 1, 1])) for start, end in stretches]

    def read(self, stretches: Iterable[Offsets]) -> list[Offsets]:
        """Where stretches of the text as given are in what is read; both offsets are the same if nothing is read."""
        if self.places is None:
            return list(stretches)
        begins, ends = self.places[:, 1].searchsorted, self.places[:, 0].searchsorted
        found = [(int(begins(start, side="right")), int(ends(end))) for start, end in stretches]
        return [(start, max(start, end)) for start, end in found]


@lru_cache(maxsize=16)  # the parts of a pipeline read a text one after the other
def read(text: str, *, hyphenated: bool = False, apart: bool = False) -> Reading:
    """Read a text: without tags ("<b>"), entities ("&amp;"), citations that are glued to a word ("asthma[1]"),
    marks of Markdown and LaTeX, and invisible characters; words that are hyphenated at the end of a line in one
    piece; of long runs of signs the first sign. Tags of blocks end a paragraph.

    Args:
        text: as given. Most texts are read as they are.
        hyphenated: all words that go on in the next line keep their hyphen, not only those that seem to have one.
        apart: names stand apart, "CHF / CAD", that have only a slash between them.

    Returns:
        What is read, with the way back to the text as given.
    """
    return _read(text, hyphenated, apart, None)


def _read(text: str, hyphenated: bool, apart: bool, is_word: Callable[[str], object] | None) -> Reading:
    reading = Reading(text)
    for _ in range(_PASSES):
        if not (edits := list(_edits(reading.text, hyphenated, apart, is_word))):
            break
        reading = _edited(reading, edits)
    return reading


def read_apart(text: str, is_word: Callable[[str], object] | None, *, apart: bool = False) -> Reading:
    """Read a text, see ``read``, of which two words stay apart that are known, rather than one."""
    if is_word is None or not _IN_WORD.search(text):
        return read(text, apart=apart)
    return _read(text, False, apart, is_word)


def as_read(doc: Any, nlp: Any) -> tuple[Any, Reading]:
    """What is read of the text of spaCy's Doc, as a Doc: the same one, unless its text is read as another one. Two
    words that the knowledge base of a linker has stay apart between two lines, "pain-\\nfever", unless it has both as
    one, too.

    Args:
        doc: the document.
        nlp: a pipeline, whose tokenizer divides the other text.
    """
    reading = read_apart(doc.text, partial(_is_word, nlp), apart=True)
    return doc if reading.places is None else nlp.tokenizer(reading.text), reading


def _is_word(nlp: Any, text: str) -> bool:
    linkers = (pipe for _, pipe in nlp.components if getattr(pipe, "is_initialized", False))
    return nlp.vocab[text].is_stop or any(linker.kb.ids(text) for linker in linkers)


def _edits(text: str, hyphenated: bool, apart: bool, is_word: Callable[[str], object] | None) -> Iterator[Edit]:
    words: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    for match in _CHANGED.finditer(text):
        (start, end), kind, changed = match.span(), match.lastgroup, match[0]
        is_between = text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()
        if kind == "run":
            yield from [(start, start + 1, " "), (start + 2, end, " ")] if is_between else [(start + 1, end, "")]
        elif kind == "hyphen":
            words = frozenset(_HYPHENATED.findall(text.lower())) if words is None else words
            joint = "-" if hyphenated else _joint(text, start, end, words, is_word)
            yield (start, end, joint) if joint == _APART else (start + len(joint[:1]), end, joint[1:])
        elif kind == "entity":
            if (character := html.unescape(changed.rstrip(";") + ";")) != f"{changed.rstrip(';')};":
                yield start, end, character.replace("\xa0", " ")
        elif kind in ("command", "link"):  # its argument, its label is read
            yield start, match.start(f"of_{kind}"), ""
            yield match.end(f"of_{kind}"), end, ""
        elif kind == "raised":  # a mention that ends with it ends after the tag
            last = start + changed.rindex("<") - 1
            yield start, start + changed.index(">") + 1, ""
            yield last, end, text[last]
        elif kind == "paired":
            tags = frozenset(_PAIRED.findall(text.lower())) if tags is None else tags
            name = _PAIRED.findall(changed.lower())[0].strip("/")
            if changed.endswith("/>") or {name, f"/{name}"} <= tags:
                is_last = changed[:2] == "</" and text[end : end + 1] == "<" and text[end + 1 : end + 2].isalpha()
                yield start, end, "\n\n" * is_last
        elif kind == "cited":
            yield start + (changed[0] in ".,;"), end, " " * text[end : end + 1].isalnum()
        elif kind == "broken":
            before, after = _WORD.findall(text, max(0, start - _LONGEST_WORD), start)[-1], _WORD.match(text, end)
            if is_word is not None and after is not None and after[0] not in _AND and is_word(before + after[0]):
                yield start, end, ""
        elif kind == "zero":
            first = _WORD.findall(text, max(0, start - _LONGEST_WORD), start)[-1:]
            second = _WORD.findall(text, end, end + _LONGEST_WORD)[:1]
            yield start, end, " " * (is_between and _are_two((*first, *second), is_word))
        elif kind == "wide":  # a letter, digit or sign of ASCII
            yield start, end, chr(ord(changed) - 0xFEE0)
        elif kind == "under" and "/" in text[max(0, start - _LONGEST_WORD) : start].split()[-1]:
            continue  # an address
        elif kind not in ("slash", "mark", "under") or apart:
            yield start, end, f" {changed} " if kind == "slash" else _INSTEAD.get(str(kind), "")


def _joint(text: str, start: int, end: int, words: frozenset[str], is_word: Callable[[str], object] | None) -> str:
    """What is read between two lines, of which the first ends with a hyphen.

    Args:
        text: the text.
        start, end: of the hyphen and the line break.
        words: of the text, in lower case.
        is_word: tells what else is a word or a name; None = not known.
    """
    first = _HYPHENATED.findall(text[max(0, start - _LONGEST_WORD) : start])[-1:]
    second = _WORD.match(text, end, end + _LONGEST_WORD)
    if text[start] in "\u00ac\u00ad" or not first or second is None:
        return ""
    before, after = first[0].rpartition("-")[2], second[0]
    if after in _AND:
        return "- "
    both = before.lower(), after.lower()
    if "".join(both) in words or (both[0] in _NO_WORDS and after.isalpha()):
        return ""
    is_cased = (before[1:].islower() and after.islower()) or (before + after).isupper()
    is_compound = both[0] in _HYPHEN_AFTER or both[1] in _HYPHEN_BEFORE or "-".join(both) in words
    if is_compound or not (is_cased and (before + after).isalpha()):
        return "-"
    if not _are_two(both, is_word) or is_word is None:
        return ""
    return "-" if is_word("-".join(both)) else _APART


def _are_two(both: tuple[str, ...], is_word: Callable[[str], object] | None) -> bool:
    """If two words are known, or are a name together, but not as one."""
    if is_word is None or is_word("".join(both)):
        return False
    return bool(is_word(" ".join(both))) or all(map(is_word, both))


def _edited(reading: Reading, edits: Iterable[Edit]) -> Reading:
    text, pieces, last = reading.text, [], 0
    of_pieces: list[NDArray[np.int64]] = []
    for start, end, new in (*edits, (len(text), len(text), "")):
        pieces += [text[last:start], new]
        of_pieces += [np.arange(last, start)[:, None] + [0, 1], np.full((len(new), 2), [start, end])]
        last = end
    places = np.concatenate(of_pieces)
    if (before := reading.places) is not None:
        places = np.stack([before[places[:, 0], 0], before[places[:, 1] - 1, 1]], axis=1)
    return Reading("".join(pieces), places)
