"""The folder of an evaluation: predictions.jsonl and metrics.json."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, PelError
from ..util import atomic_path, read_json, read_jsonl
from .outcomes import Outcomes, Prediction

MentionKey = tuple[str, int, int, int]  # document, start, end, number of earlier ones with the same


class Run(NamedTuple):
    """An evaluation.

    Attributes:
        path: its folder.
        metrics: metrics.json.
        outcomes: of the mentions, in the order of the file.
        mentions: which mentions these are.
        gold: their gold ids, sorted; empty = NIL.
    """

    path: Path
    metrics: dict[str, Any]
    outcomes: Outcomes
    mentions: list[MentionKey]
    gold: list[tuple[str, ...]]


def read_run(path: Path, *, watch: Sequence[Callable[[Prediction], None]] = ()) -> Run:
    """Read the folder of an evaluation.

    Args:
        path: the folder.
        watch: called with each prediction, so that the file is read only once.

    Returns:
        Without the candidates, which would not fit in memory for a large corpus.

    Raises:
        PelError: if a file is missing, or is not one that ``evaluate`` wrote.
    """
    metrics = read_metrics(path)
    mentions: list[MentionKey] = []
    gold: list[tuple[str, ...]] = []
    counts: dict[tuple[str, int, int], int] = {}

    def add(prediction: Prediction) -> None:
        span = (prediction.doc, prediction.start, prediction.end)
        counts[span] = counts.get(span, -1) + 1
        mentions.append((*span, counts[span]))
        gold.append(tuple(sorted(prediction.gold)))

    outcomes = Outcomes.of(tapped(read_predictions(path / "predictions.jsonl"), [add, *watch]))
    if not mentions:
        raise PelError(Errors.E681.format(path=path / "predictions.jsonl", got="an empty file"))
    return Run(path, metrics, outcomes, mentions, gold)


def tapped(predictions: Iterable[Prediction], watch: Sequence[Callable[[Prediction], None]]) -> Iterator[Prediction]:
    """The same predictions; each is shown to the watchers as it passes."""
    for prediction in predictions:
        for call in watch:
            call(prediction)
        yield prediction


def recorded(predictions: Iterable[Prediction], output: str | Path | None) -> Iterator[Prediction]:
    """Write predictions to predictions.jsonl of a folder as they pass; None = write nothing.

    Yields:
        The same predictions.
    """
    if output is None:
        yield from predictions
        return
    with atomic_path(Path(output) / "predictions.jsonl") as part, part.open("w", encoding="utf8") as file:
        for prediction in predictions:
            file.write(json.dumps(prediction.to_json(), ensure_ascii=False) + "\n")
            yield prediction


def read_metrics(path: Path) -> dict[str, Any]:
    """metrics.json of the folder of an evaluation.

    Raises:
        PelError: if the folder lacks one of its files.
    """
    for name in ("metrics.json", "predictions.jsonl"):
        if not (path / name).is_file():
            raise PelError(Errors.E680.format(path=path, name=name))
    return dict(read_json(path / "metrics.json"))


def read_predictions(path: Path) -> Iterator[Prediction]:
    """The lines of a predictions.jsonl.

    Raises:
        PelError: at a line that is not a prediction.
    """
    for record in read_jsonl(path):
        try:
            yield Prediction.from_json(record)
        except (KeyError, TypeError, ValueError) as err:
            raise PelError(Errors.E681.format(path=path, got=f"{str(record)[:80]!r} ({err})")) from err


def run_names(paths: Sequence[Path]) -> list[str]:
    """A name for each folder: the shortest end of its path that is unique among
    them."""
    parts = [path.absolute().parts for path in paths]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-n:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({number})" for number, path in enumerate(paths, start=1)]
