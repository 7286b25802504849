"""docs/licensed-vocabularies.md: its commands, with a tiny pipeline and made-up files in the published formats."""

import shlex
import shutil
from pathlib import Path

import pytest
import spacy
from pages import ROOT, blocks

from spacy_pel.index import EntityIndex
from spacy_pel.types import Entity
from spacy_pel.util import write_jsonl

from .conftest import done

pytestmark = pytest.mark.slow

KB = ROOT / "tests" / "fixtures" / "kb"
LINKER = Path("proxy_entity_linker")


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    """The pipeline before, my_pipeline after the page's commands, and what `kb merge` printed."""
    path = tmp_path_factory.mktemp("licensed")
    before = path / "assets" / "pel_medmentions"
    shutil.copytree(folder / "pipeline", before)
    known = {"C0": "RXNORM:900", "C2": "SNOMEDCT:10000001", "C4": "NCIT:C3224", "C6": "NCIT:C5", "C7": "NCIT:C5"}
    names = dict(zip(known, ("aspirin", "heart attack", "kidney stone", "asthma", "influenza"), strict=True))
    entities = [Entity(key, names[key], types=("T047",), xrefs=(xref,)) for key, xref in known.items()]
    write_jsonl(path / "more.jsonl", (one.to_json() for one in [*entities, Entity("C0000002", "enzyme", ("stroke",))]))
    done("kb", "add", before, path / "more.jsonl")
    places = {
        "assets/pel_medmentions": str(before),
        "configs/licensed.cfg": str(ROOT / "configs" / "licensed.cfg"),
        '["umls/2024AB/META"]': f'["{KB / "umls" / "META"}"]',
        '["RxNorm_full/rrf"]': f'["{KB / "rxnorm" / "rrf"}"]',
        '["Thesaurus.txt"]': f'["{KB / "ontologies" / "Thesaurus.txt"}"]',
        '["SnomedCT_International/Snapshot"]': f'["{KB / "rf2"}"]',
        "corpus/dev.jsonl": str(folder / "dev.jsonl"),
        "corpus/test.jsonl": str(folder / "dev.jsonl"),
        **{name: str(path / name) for name in ("corpus/kb_mine", "my_pipeline", "metrics/mine")},
    }
    (page,) = [one for one in blocks(ROOT / "docs" / "licensed-vocabularies.md") if one.language == "bash"]
    outputs = []
    for line in page.code.replace("\\\n", " ").splitlines():
        words = [places.get(word, word) for word in shlex.split(line, comments=True)]
        if words[:2] == ["cp", "-r"]:
            shutil.copytree(*words[2:])
        elif words:
            assert words[0] == "spacy-pel"
            data = ["--data", path] if words[1:3] == ["kb", "merge"] else []
            outputs.append(done(*words[1:], *data).out)
    return before, path / "my_pipeline", outputs


def test_evidence_of_the_default_stays(made):
    old, new = (EntityIndex.from_disk(folder / LINKER / "index") for folder in made[:2])
    assert old.meta["live_rows"]["mention"] == new.meta["live_rows"]["mention"] > 0
    assert old.meta["priors"] == new.meta["priors"] > 0
    assert new.meta["live_rows"]["alias"] > old.meta["live_rows"]["alias"]


def test_own_codes_meet_the_entities_of_the_default_or_are_new(made):
    kb = spacy.load(made[1]).get_pipe("proxy_entity_linker").linker.kb
    assert kb["C0"].canonical_name == "aspirin" and kb.ids("examplazole") == ["C0"]
    assert kb.ids("Knee examplitis") == ["C2"] and kb.ids("Malignant Melanoma") == ["C4"]
    assert kb["C4"].types == ("T047",) and "melanocytes" in kb["C4"].definition
    # the same CUI, with all its names; a CUI that the default lacks
    assert kb["C0000002"].canonical_name == "enzyme" and "C0000002" in kb.ids("examplase")
    assert kb.ids("Example neoplasm") == ["C0000001"] and "NCIT:C1" in kb.xrefs("C0000001")
    # new, as no entity or several have the code
    assert kb.ids("Example haemorrhage") == ["SNOMEDCT:10000005"] and kb.ids("Human IL-2") == ["NCIT:C5"]
    assert kb.ids_of_xref("SNOMEDCT:10000005") == ["SNOMEDCT:10000005"] and kb.ids_of_xref("RXNORM:900") == ["C0"]


def test_new_names_are_linked(made):
    nlp = spacy.load(made[1])
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "Example haemorrhage"}])
    doc = nlp("An Example haemorrhage and a heart attack in mice.")
    assert [ent._.pel_candidates[0][0] for ent in doc.ents] == ["SNOMEDCT:10000005", "C2"]
    sources = nlp.get_pipe("proxy_entity_linker").linker.kb.sources
    assert "CC BY 4.0" in [one.get("licence") for one in sources if one["name"] == "ncit"]
    assert "terms" not in made[2][0] and ", not retired" in made[2][1]
    assert "snomed" in made[2][0] and (made[1].parent / "metrics" / "mine" / "metrics.json").is_file()
