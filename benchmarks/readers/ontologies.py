"""Ontologies: entities, names, synonyms, definitions and cross references."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from spacy_pel.ontologies import read_terms

from .entry import Counts, Entry, Read, opened

OBO = (
    "kb_hpo/hp.obo.gz",
    "kb_uberon/UBERON.obo.gz",
    "kb_cl/CL.obo.gz",
    "kb_doid/doid-2016-09-01.obo.gz",
    "kb_cui_open/doid_2015/HumanDO_2015-03-20.obo.gz",
    "kb_cui_open/symp/symp_2026-07-30.obo.gz",
    "kb_cui_open/semantic_network/sty.obo.gz",
)
GRAPHS = (
    "kb_cl/cl-basic-2022-12-15.json.gz",
    "kb_mondo/ncit-disease-2018-06-08.json.gz",
    "kb_mondo/ordo-2_6-2018-07-12.json.gz",
)
TURTLE = tuple(f"kb_nifstd/NIF-{part}.ttl.gz" for part in ("Cell", "Chemical", "Function", "Organism"))


def counted(terms: Iterable[tuple[str, int, bool, int]]) -> Counts:
    """terms: of each live term its name, how many synonyms it has, whether it has a definition, how many
    cross references."""
    counts: Counter = Counter(entities=0, names=0, synonyms=0, definitions=0, xrefs=0)
    for name, synonyms, definition, xrefs in terms:
        counts.update(entities=1, names=bool(name), synonyms=synonyms, definitions=definition, xrefs=xrefs)
    return dict(counts)


def ours(paths: list[Path]) -> Read:
    """Counts of the ontology reader's live terms."""
    live = {term.id: term for term in read_terms(paths[0]) if not term.obsolete}
    counts = counted((term.name, len(term.synonyms), bool(term.definition), len(term.xrefs)) for term in live.values())
    return Read(counts, {})


def by_obonet(paths: list[Path]) -> Counts:
    import obonet

    return counted(
        (term.get("name", ""), len(term.get("synonym", ())), "def" in term, len(term.get("xref", ())))
        for _, term in obonet.read_obo(str(paths[0])).nodes(data=True)
        if term  # obonet adds a node for each id that only a relation names
    )


def by_json(paths: list[Path]) -> Counts:
    with opened(paths[0]) as file:
        nodes = [node for graph in json.load(file)["graphs"] for node in graph["nodes"]]
    metas = [(node, node.get("meta", {})) for node in nodes if node.get("type", "CLASS") == "CLASS"]
    return counted(
        (node.get("lbl", ""), len(meta.get("synonyms", ())), "definition" in meta, len(meta.get("xrefs", ())))
        for node, meta in metas
        if not meta.get("deprecated")
    )


def by_rdflib(paths: list[Path]) -> Counts:
    """Synonyms and cross references are those of NIFSTD's own properties and of oboInOwl."""
    from rdflib import OWL, RDF, RDFS, SKOS, Graph, Namespace

    nif = Namespace("http://uri.neuinfo.org/nif/nifstd/readable/")
    obo = Namespace("http://purl.obolibrary.org/obo/")
    oio = Namespace("http://www.geneontology.org/formats/oboInOwl#")
    scopes = [oio[f"has{scope}Synonym"] for scope in ("Exact", "Related", "Narrow", "Broad")]
    synonyms = [SKOS.altLabel, nif.synonym, nif.acronym, nif.abbrev, *scopes]
    xrefs = [nif.UmlsCui, nif.umls_ID, oio.hasDbXref]
    definitions = [obo.IAO_0000115, SKOS.definition, nif.birnlexDefinition]
    with opened(paths[0]) as file:
        graph = Graph().parse(file, format="turtle")
    subjects = {subject for kind in (OWL.Class, OWL.NamedIndividual) for subject in graph.subjects(RDF.type, kind)}

    def terms() -> Iterable[tuple[str, int, bool, int]]:
        for subject in subjects:
            if str(graph.value(subject, OWL.deprecated)) == "true" or not hasattr(subject, "defrag"):
                continue  # deprecated, or a blank node
            values = {key: [str(one) for one in graph.objects(subject, key)] for key in graph.predicates(subject)}
            names = list(dict.fromkeys(name for key in (RDFS.label, SKOS.prefLabel) for name in values.get(key, [])))
            found = [len(values.get(key, [])) for key in synonyms]
            yield (
                names[0] if names else "",
                sum(found) + max(len(names) - 1, 0),  # a second label is a synonym
                any(key in values for key in definitions),
                sum(len(values.get(key, [])) for key in xrefs),
            )

    return counted(terms())


ENTRIES: list[Entry] = [
    *(Entry((path,), "obo", ours, by_obonet) for path in OBO),
    *(Entry((path,), "obograph", ours, by_json) for path in GRAPHS),
    *(Entry((path,), "turtle", ours, by_rdflib) for path in TURTLE),
]
