"""Map names that an ontology lost to it, as curators map a list of terms; and check right ids and wrong ones.

    python -m benchmarks.terms metrics/terms hpo=hp.obo.gz mondo=mondo.json.gz
    python -m benchmarks.terms metrics/terms doid=doid.json.gz,mondo_exactmatch_doid.sssom.tsv.gz

Of each ontology, exact synonyms of some entities are taken out, names are embedded as ``quickstart`` does it, and
``linker.map`` looks for the entities again. With mappings that curators made, in SSSOM, no name is taken out, and the
terms are the subjects of mappings. Peers compare spelling: rapidfuzz's token_sort_ratio, and TF-IDF of character
n-grams. ``linker.check`` is given the right ids, and as many siblings, parents and other entities.
"""

import csv
import gzip
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from spacy_pel.errors import PelError
from spacy_pel.util import machine_note, normalize_alias, read_json, write_json, write_jsonl

_SURE, _LIKELY = 0.9, 0.7
_BINS = 10
Finder = Callable[[Sequence[str]], list[list[str]]]  # texts -> of each the ids of the 5 nearest entities


def main(
    output: Annotated[Path, typer.Argument(help="Gets knowledge bases, pipelines and figures; what is there is used.")],
    ontologies: Annotated[list[str], typer.Argument(help="NAME=FILE or NAME=FILE,SSSOM: also mappings to it.")],
    n: Annotated[int, typer.Option(help="Synonyms taken out of each, or subjects.")] = 400,
    seed: Annotated[int, typer.Option(help="Which ones.")] = 0,
    reader: Annotated[str | None, typer.Option(help="Of the ontologies, as for `kb build`.")] = None,
) -> None:
    """Print a row for each ontology and way."""
    try:
        report = {"machine": machine_note(), "n": n, "seed": seed, "ontologies": {}}
        for given in ontologies:
            name, _, files = given.partition("=")
            pipeline, held_out = prepare([*map(Path, files.split(","))], output / name, n, seed, reader)
            report["ontologies"][name] = found = measure(pipeline, held_out, seed)
            write_json(output / "terms.json", report)
            for way, figures in found.items():
                shown = "  ".join(f"{key} {value:.4g}" for key, value in figures.items())
                typer.echo(f"{name:8}{way:14}{shown}")
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err


def prepare(
    files: Sequence[Path], folder: Path, n: int, seed: int, reader: str | None = None
) -> tuple[Path, list[list[str]]]:
    """Build a pipeline, without some synonyms unless there are mappings; what is there is used.

    Returns:
        Its folder, and each synonym, or subject of a mapping, with the id of its entity.

    Raises:
        PelError: if a command fails.
    """
    from spacy_pel.kb import KnowledgeBase

    whole, kept, pipeline, chosen = (folder / name for name in ("whole", "kb", "pipeline", "held_out.json"))
    if not pipeline.is_dir():
        ontology, *mappings = files
        _run("kb", "build", whole, *(["--reader", reader] if reader else []), ontology)
        kb = KnowledgeBase.from_disk(whole)
        pairs = mapped(kb, mappings) if mappings else synonyms(kb)
        if len(pairs) < n:
            raise PelError(
                f"Expected {n} exact synonyms or mappings in {files[-1]}, got {len(pairs)}. "
                "Choose another file, or a lower --n."
            )
        numbers = np.random.default_rng(seed).permutation(len(pairs))[:n]
        held_out = [list(pairs[number]) for number in numbers.tolist()]
        if not mappings:
            lost = {normalize_alias(alias) for alias, _ in held_out}
            left = (
                replace(entity, aliases=tuple(name for name in entity.aliases if normalize_alias(name) not in lost))
                for entity in kb.entities()
            )
            write_jsonl(folder / "kb.jsonl", (entity.to_json() for entity in left))
            _run("kb", "build", kept, "--reader", "jsonl", folder / "kb.jsonl")
        write_json(chosen, held_out)
        _run("quickstart", whole if mappings else kept, pipeline)
    return pipeline, read_json(chosen)


def synonyms(kb: Any) -> list[tuple[str, str]]:
    """Those of one entity alone, with its id."""
    entities = list(kb.entities())
    owners: dict[str, set[str]] = {}
    for entity in entities:
        for name in names_of(entity):
            owners.setdefault(normalize_alias(name), set()).add(entity.concept_id)
    return sorted(
        (alias, entity.concept_id)
        for entity in entities
        for alias in {normalize_alias(alias): alias for alias in entity.aliases}.values()
        if len(owners[normalize_alias(alias)]) == 1 and normalize_alias(alias) != normalize_alias(entity.canonical_name)
    )


def mapped(kb: Any, mappings: Sequence[Path]) -> list[tuple[str, str]]:
    """The subjects of exact mappings to one entity that is in the knowledge base, with its id."""
    objects: dict[str, set[str]] = {}
    for path in mappings:
        with gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else path.open(encoding="utf8") as file:
            rows = [line for line in file if not line.startswith("#")]
        for row in csv.DictReader(rows, delimiter="\t"):
            code = row["object_id"].partition(":")[2]
            known = [one for one in (row["object_id"], code) if one in kb]
            if row["predicate_id"] == "skos:exactMatch" and known:
                objects.setdefault(row["subject_label"], set()).add(known[0])
    return sorted((label, *ids) for label, ids in objects.items() if len(ids) == 1)


def measure(pipeline: Path, held_out: Sequence[Sequence[str]], seed: int) -> dict[str, dict[str, float]]:
    """Figures of each way."""
    from spacy_pel.pipeline.saved import load_pipeline

    linker: Any = load_pipeline(pipeline).component
    terms, gold = ([pair[number] for pair in held_out] for number in (0, 1))
    linker.map(terms[:2])  # what is read when first asked for
    started, used = time.perf_counter(), time.process_time()
    matches = linker.map(terms, always=True)
    rate, cpu = len(terms) / (time.perf_counter() - started), time.process_time() - used
    best = [[one.id, *(other.id for other in one.alternatives[:4])] for one in matches]
    answers = linker.map(terms)
    right = np.array([one.id == key for one, key in zip(answers, gold, strict=True)])
    trust = np.array([one.probability for one in answers])
    linked = np.array([one.id != "NIL" for one in answers])
    figures = {**recall(best, gold), "answered": linked.mean(), "right_of_answered": right[linked].mean()}
    above = [set(linker.kb.ancestors(key)) for key in gold]  # an answer may say that it is broader than the term
    broader = [one.relation == "broader" and one.id in ids for one, ids in zip(answers, above, strict=True)]
    for bound in (_SURE, _LIKELY):
        sure = linked & (trust > bound)
        figures |= {f"answered>{bound}": sure.mean(), f"right>{bound}": right[sure].mean() if sure.any() else 0.0}
        figures |= {f"right_or_broader>{bound}": (right | broader)[sure].mean() if sure.any() else 0.0}
    always = np.array([one.probability for one in matches])
    first = np.array([ids[0] == key for ids, key in zip(best, gold, strict=True)])
    figures |= {"ece": calibration_error(always, first), "terms_per_second": rate, "cpu_ms": 1000 * cpu / len(terms)}
    found = {"map": figures}
    for name, finder in peers(linker.kb).items():
        started = time.perf_counter()
        nearest = finder(terms)
        found[name] = recall(nearest, gold) | {"terms_per_second": len(terms) / (time.perf_counter() - started)}
    return found | {"check": check(linker, terms, gold, seed)}


def recall(found: Sequence[Sequence[str]], gold: Sequence[str]) -> dict[str, float]:
    """The share of terms whose entity is first, and among five."""
    pairs = list(zip(found, gold, strict=True))
    return {f"recall@{k}": float(np.mean([key in ids[:k] for ids, key in pairs])) for k in (1, 5)}


def calibration_error(trust: Any, right: Any) -> float:
    """How far P(right) is from the share that is right, over ten equal bins."""
    bins = np.minimum((trust * _BINS).astype(int), _BINS - 1)
    return float(sum(abs(trust[bins == one].sum() - right[bins == one].sum()) for one in set(bins)) / len(trust))


def peers(kb: Any) -> dict[str, Finder]:
    """Ways that compare the spelling of all names."""
    from rapidfuzz import fuzz, process
    from sklearn.feature_extraction.text import TfidfVectorizer

    named = [(normalize_alias(name), entity.concept_id) for entity in kb.entities() for name in names_of(entity)]
    names, ids = [name for name, _ in named], [key for _, key in named]

    def by_tokens(texts: Sequence[str]) -> list[list[str]]:
        scorer: Any = fuzz.token_sort_ratio
        found = [process.extract(normalize_alias(text), names, scorer=scorer, limit=25) for text in texts]
        return [_distinct(ids[at] for _, _, at in of_text) for of_text in found]

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    matrix = vectorizer.fit_transform(names)

    def by_ngrams(texts: Sequence[str]) -> list[list[str]]:
        scores = (vectorizer.transform(map(normalize_alias, texts)) @ matrix.T).toarray()
        return [_distinct(ids[at] for at in order) for order in np.argsort(-scores, axis=1, kind="stable")[:, :25]]

    return {"rapidfuzz": by_tokens, "TF-IDF": by_ngrams}


def names_of(entity: Any) -> tuple[str, ...]:
    """All names."""
    return (entity.canonical_name, *entity.aliases)


def _distinct(ids: Any) -> list[str]:
    return list(dict.fromkeys(ids))[:5]


def check(linker: Any, terms: Sequence[str], gold: Sequence[str], seed: int) -> dict[str, float]:
    """Of ``linker.check``: AUC of P(right) over right and wrong ids, and how many of each verdict disagree."""
    from sklearn.metrics import roc_auc_score

    kb, generator = linker.kb, np.random.default_rng(seed)
    ids = list(kb)
    wrong: dict[str, list[tuple[str, str]]] = {"sibling": [], "parent": [], "random": []}
    kinds = list(wrong)
    for number, (term, key) in enumerate(zip(terms, gold, strict=True)):
        parents = kb.parents(key)
        siblings = sorted({child for parent in parents for child in kb.children(parent)} - {key})
        choices = {"sibling": siblings, "parent": parents}.get(kinds[number % 3]) or ids
        kind = kinds[number % 3] if choices is not ids else "random"
        wrong[kind].append((term, choices[int(generator.integers(len(choices)))]))
    right = linker.check(list(zip(terms, gold, strict=True)))
    checked = {kind: linker.check(pairs) for kind, pairs in wrong.items()}
    of_right = [one.probability for one in right]

    def auc(found: Sequence[Any]) -> float:
        truth = [1] * len(of_right) + [0] * len(found)
        return float(roc_auc_score(truth, [*of_right, *(one.probability for one in found)]))

    figures = {"auc": auc([one for found in checked.values() for one in found])}
    for kind, found in checked.items():
        figures |= {f"auc_{kind}": auc(found), f"disagree_{kind}": float(np.mean([one.disagrees for one in found]))}
    return figures | {"disagree_right": float(np.mean([one.disagrees for one in right]))}


def _run(*words: Any) -> None:
    command = [sys.executable, "-m", "spacy", "pel", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise PelError(f"Expected '{' '.join(command[2:])}' to succeed, got: {done.stderr.strip()[-400:]}")


if __name__ == "__main__":
    typer.run(main)
