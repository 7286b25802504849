"""The command ``calibrate``: fit the combiner, the NIL model and the threshold."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._output import JSON, emit, key_values, message


@pel_cli.command("calibrate")
def calibrate(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    corpus: Annotated[
        Path, typer.Argument(help="Development corpus (JSON lines); some entities must lack in the KB (NIL).")
    ],
    apply_to: Annotated[
        Optional[List[Path]],
        typer.Option(
            help="Store what was learned in this pipeline instead; may be given several times. For a "
            "pipeline whose own KB holds the development corpus' entities: it has no NIL to learn from."
        ),
    ] = None,
    output: Annotated[
        Optional[Path], typer.Option(help="Write a calibrated copy here and leave the pipeline as it is.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Fit how evidence is combined, P(NIL) and the NIL threshold (max F1), and store them.

    Example: spacy-pel calibrate training/pipeline corpus/dev.jsonl
    """
    from ..data import read_corpus
    from ..pipeline.gold import gold_queries
    from ..pipeline.learned import learned_state
    from ._learned import check_fits, copy_pipeline, store_learned
    from ._pipeline import load_pipeline

    if apply_to and output:
        raise PelError(Errors.E660)
    nlp, name, component = load_pipeline(pipeline)
    targets = list(apply_to or [pipeline])
    learned = learned_state(component.linker)
    for target in targets:
        check_fits(target, learned)  # before the work, not after it
    ask = gold_queries(nlp, name=name)
    documents = list(read_corpus(corpus))
    queries = [query for document in documents for query in ask(document)]
    gold = [mention.ids for document in documents for mention in document.mentions]
    if not gold:
        raise PelError(Errors.E620)
    message(f"Fitting on {len(gold):,} mentions")
    component.linker.fit_mentions(queries, gold)
    learned = learned_state(component.linker)
    if output:
        copy_pipeline(pipeline, output, learned)
        targets = [output]
    else:
        for target in targets:
            store_learned(target, learned)
    is_nil = [len(component.linker.gold_rows(ids)) == 0 for ids in gold]
    result: Dict[str, Any] = {
        "threshold": learned["calibrated_threshold"],
        "n": len(gold),
        "n_nil": sum(is_nil),
        "stored_in": [str(target) for target in targets],
    }
    emit(result, as_json=as_json, text=key_values)
