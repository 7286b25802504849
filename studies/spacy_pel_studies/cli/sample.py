"""The command ``research sample``: a part of a knowledge base."""

from itertools import chain
from typing import Annotated

from spacy_pel.cli._options import KB, Files, NewKB, Seed, option
from spacy_pel.cli._output import emit

from ._app import research_cli


@research_cli.command("sample")
def sample(
    kb: KB,
    out: NewKB,
    share: Annotated[float, option("NUMBER", "Share of entities to draw.", min=0.0, max=1.0)] = 0.1,
    keep: Annotated[Files, option("FILE", "A corpus whose entities are always kept (repeatable).")] = None,
    seed: Seed = 0,
) -> None:
    """Draw a random sample of a knowledge base for small experiments. Recall is higher on a smaller KB.

    Example: spacy-pel research sample corpus/kb corpus/kb_small --share 0.1 --keep corpus/dev.jsonl
    """
    from spacy_pel.corpora import read_corpus
    from spacy_pel.kb import KnowledgeBase

    from ..sample import sample_entities

    whole = KnowledgeBase.from_disk(kb)
    documents = chain.from_iterable(read_corpus(path) for path in keep or ())
    drawn = sample_entities(whole, share=share, seed=seed, documents=documents)
    source = {**whole.source, "sample": {"of": whole.fingerprint, "share": share, "seed": seed}}
    part = KnowledgeBase.build(drawn, out, source=source, redirects=whole.redirects())
    result = {"entities": len(part), "of": len(whole), "fingerprint": part.fingerprint}
    emit(result)
