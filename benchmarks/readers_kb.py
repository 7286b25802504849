"""Compare what the ontology reader gives with what an independent parser finds in the same files.

    pip install obonet rdflib
    python -m benchmarks.readers_kb --data /path/to/data

The data folder holds published files under the names in ``ENTRIES``; files that are missing are left out.
"""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Callable, Dict, Iterable, List, Tuple

import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.kb.readers.ontology import read_terms
from spacy_pel.util import machine_note

Counts = Dict[str, int]
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


def counted(terms: Iterable[Tuple[str, int, bool, int]]) -> Counts:
    """terms: of each live term its name, how many synonyms it has, whether it has a definition, how many
    cross references."""
    counts: Counter = Counter(entities=0, names=0, synonyms=0, definitions=0, xrefs=0)
    for name, synonyms, definition, xrefs in terms:
        counts.update(entities=1, names=bool(name), synonyms=synonyms, definitions=definition, xrefs=xrefs)
    return dict(counts)


def ours(path: Path) -> Counts:
    live = {term.id: term for term in read_terms(path) if not term.obsolete}
    return counted(
        (term.name, len(term.synonyms), bool(term.definition), len(term.xrefs)) for term in live.values()
    )


def by_obonet(path: Path) -> Counts:
    import obonet

    return counted(
        (term.get("name", ""), len(term.get("synonym", ())), "def" in term, len(term.get("xref", ())))
        for _, term in obonet.read_obo(str(path)).nodes(data=True)
        if term  # obonet adds a node for each id that only a relation names
    )


def by_json(path: Path) -> Counts:
    with gzip.open(path, "rt", encoding="utf8") as file:
        nodes = [node for graph in json.load(file)["graphs"] for node in graph["nodes"]]
    metas = [(node, node.get("meta", {})) for node in nodes if node.get("type", "CLASS") == "CLASS"]
    return counted(
        (node.get("lbl", ""), len(meta.get("synonyms", ())), "definition" in meta, len(meta.get("xrefs", ())))
        for node, meta in metas
        if not meta.get("deprecated")
    )


def by_rdflib(path: Path) -> Counts:
    """Synonyms and cross references are those of NIFSTD's own properties and of oboInOwl."""
    from rdflib import OWL, RDF, RDFS, SKOS, Graph, Namespace

    nif = Namespace("http://uri.neuinfo.org/nif/nifstd/readable/")
    obo = Namespace("http://purl.obolibrary.org/obo/")
    oio = Namespace("http://www.geneontology.org/formats/oboInOwl#")
    scopes = [oio[f"has{scope}Synonym"] for scope in ("Exact", "Related", "Narrow", "Broad")]
    synonyms = [SKOS.altLabel, nif.synonym, nif.acronym, nif.abbrev, *scopes]
    xrefs = [nif.UmlsCui, nif.umls_ID, oio.hasDbXref]
    definitions = [obo.IAO_0000115, SKOS.definition, nif.birnlexDefinition]
    with gzip.open(path, "rt", encoding="utf8") as file:
        graph = Graph().parse(file, format="turtle")
    subjects = {
        subject for kind in (OWL.Class, OWL.NamedIndividual) for subject in graph.subjects(RDF.type, kind)
    }

    def terms() -> Iterable[Tuple[str, int, bool, int]]:
        for subject in subjects:
            if str(graph.value(subject, OWL.deprecated)) == "true" or not hasattr(subject, "defrag"):
                continue  # deprecated, or a blank node
            values = {
                key: [str(one) for one in graph.objects(subject, key)] for key in graph.predicates(subject)
            }
            names = list(
                dict.fromkeys(name for key in (RDFS.label, SKOS.prefLabel) for name in values.get(key, []))
            )
            found = [len(values.get(key, [])) for key in synonyms]
            yield (
                names[0] if names else "",
                sum(found) + max(len(names) - 1, 0),  # a second label is a synonym
                any(key in values for key in definitions),
                sum(len(values.get(key, [])) for key in xrefs),
            )

    return counted(terms())


ENTRIES: List[Tuple[str, str, Callable[[Path], Counts]]] = [
    *((path, "OBO, obonet", by_obonet) for path in OBO),
    *((path, "OBO graph, json", by_json) for path in GRAPHS),
    *((path, "Turtle, rdflib", by_rdflib) for path in TURTLE),
]


def main(data: Annotated[Path, typer.Option(help="The folder of published files.")]) -> None:
    """Print the counts of each file by our reader and by an independent parser."""
    table = Table("file", "format, other parser", "counted", "ours", "theirs", "difference")
    for name, kind, theirs in ENTRIES:
        path = data / name
        if not path.exists():
            typer.echo(f"Left out, not there: {name}", err=True)
            continue
        mine, other = ours(path), theirs(path)
        columns: List[Any] = [
            "\n".join(mine),
            *("\n".join(f"{n:,}" for n in counts.values()) for counts in (mine, other)),
            "\n".join("" if mine[key] == other[key] else f"{mine[key] - other[key]:+,}" for key in mine),
        ]
        table.add_row(path.name, kind, *columns)
    Console(width=120).print(table)
    Console(width=120).print(machine_note(), soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
