"""Words derived from a name's words: "nuclear" is not a name of the entity "nucleus", but it means it, as
"transfected" means "transfection", "hepatic" "liver", and "apoptosis" "apoptotic process"."""

from functools import lru_cache

from .variants import british_or_american

_SHORTEST = 3  # letters of a stem
_SHORTEST_NOUN = 4
_SHORTEST_WORD = 5  # letters of a stem before an ending that nouns have, too: "camp" is no "camping"
_MOST_WORDS = 5  # of a name
_DOUBLED = frozenset("bdgklmnprt")  # after a short vowel: "stopped" and "stopping"
_VOWELS = frozenset("aeiou")
_SOUNDED = _VOWELS | {"y"}

# the ending of an adjective or a verb = endings of the nouns that it may stand for
_ENDINGS = """
    ar=us/um/a/e  ular=le/ulus/ula/ule/e/  lar=
    al=/us/um/a/e/on/y/is  eal=us/um/es  ngeal=nx  iceal=ix  ical=ex/ix/icus/y  ial=ia/ium/y/us/e/ion  ian=y
    ate=ic_acid  ic=/us/um/y/a/is/ium/ia/e/ic_acid
    nic=  tic=/sis/tis/s  stic=sm  genic=genesis  ptic=pse/psy/psis/psia
    osis=otic_process  esis=etic_process  ism=ic_process
    etic=etes  ous=/us/um/a/y  tous=  ive=ion  ory=ion  ary=/a/e  ant=ance/ancy  ent=ence/ency
    ed=ion/ation/ing/ment  bed=ption  ced=ction  ded=sion  ied=ication/y
    ing=/ion/ation/ment/e  bing=ption  cing=ction  ding=sion  ying=ication
    es=ion/ing  bes=ption  ces=ction  des=sion  ies=ication  s=ion/ing/ment
    e=ion/ing/ity  be=ption  ce=ction  de=sion  y=ication  =ion/ing/ity/ment
"""
_OF_WORDS = frozenset(["", "e", "es", "s"])  # endings of nouns as well: "cats" are no "cation"
# "organic" has nothing to do with an organ, nor "nicotinic" receptors with nicotinic acid
_NOT_DERIVED = frozenset(
    "basic clonal colony cubic digital during general generic infant lactate mental molar native nicotinic "
    "organic positive prone signal vertical".split()
)
# adjectives and participles, and nouns of another root or vowel that they stand for; "_" is a blank
_NOUNS = """
    cardiac heart  hepatic liver  pulmonary lung  renal kidney  gastric stomach  enteric intestine
    splenic spleen  ocular eye  ophthalmic eye  lenticular lens  nasal nose  oral mouth  buccal cheek
    lingual tongue  dental tooth  cerebral brain  encephalic brain  meningeal meninges  thoracic thorax
    abdominal abdomen  femoral femur  costal rib  osseous bone  bony bone  articular joint  cutaneous skin
    ungual nail  mammary breast  testicular testis  uterine uterus  penile penis  iliac ilium  caudal tail
    vesical urinary_bladder  amniotic amnion  vascular blood_vessel  venous vein  lymphatic lymph
    auditory hearing  visual vision  gustatory taste  tactile touch
    febrile fever  obese obesity  injured injury  anxious anxiety  painful pain  deaf deafness
    blind blindness  dead death  fatal death  lethal death  natal birth  maternal mother  paternal father
    murine mouse  bovine cattle  ovine sheep  porcine pig  canine dog  feline cat  equine horse  avian bird
    bound binding
"""
_OF_ENDING = {
    ending: nouns.replace("_", " ").split("/")
    for ending, _, nouns in (rule.partition("=") for rule in _ENDINGS.split())
}
_OF_WORD = dict(zip(_NOUNS.split()[::2], _NOUNS.split()[1::2], strict=True))
_LONGEST = max(map(len, _OF_ENDING))


@lru_cache(maxsize=4096)
def derivations(form: str) -> tuple[str, ...]:
    """Names that a form may stand for: one of its words, an adjective or a form of a verb, becomes a noun.

    Args:
        form: a name in normal form, of up to five words, e.g. "cardiac development".

    Returns:
        e.g. ("heart development", ...), in the other English, too, and forms that are
        no words; distinct, and without ``form`` itself.
    """
    derived: dict[str, None] = {}
    for english in (form, *british_or_american(form)):
        words = english.split(" ")
        if len(words) <= _MOST_WORDS:
            for number, word in enumerate(words):
                for noun in _nouns(word):
                    derived[" ".join([*words[:number], noun, *words[number + 1 :]])] = None
    derived.pop(form, None)
    return tuple(derived)


def _nouns(word: str) -> tuple[str, ...]:
    if not word.isalpha() or word in _NOT_DERIVED or _is_acronym(word):
        return ()
    nouns: dict[str, None] = {}
    if word in _OF_WORD:
        nouns[_OF_WORD[word].replace("_", " ")] = None
    for length in range(min(_LONGEST, len(word) - _SHORTEST) + 1):
        ending, stem = word[len(word) - length :], word[: len(word) - length]
        if ending not in _OF_WORDS or _is_word(stem):
            for noun in _OF_ENDING.get(ending, ()):
                nouns[stem + noun] = None
                if noun == "ing" and stem[-1] in _DOUBLED and stem[-2] in _VOWELS and stem[-3] not in _VOWELS:
                    nouns[stem + stem[-1] + noun] = None
    nouns.pop(word, None)
    return tuple(noun for noun in nouns if len(noun) >= _SHORTEST_NOUN)


def _is_word(stem: str) -> bool:
    """May this stem be a verb or an adjective, perhaps without a last "e"?"""
    return len(stem) >= _SHORTEST_WORD and not (stem[-1] in "aiousy" and not stem.endswith("ss"))


def _is_acronym(word: str) -> bool:
    """Whether this is hardly a word: "mpsiiic" is a mucopolysaccharidosis."""
    return "ii" in word or not _SOUNDED.intersection(word[:4])
