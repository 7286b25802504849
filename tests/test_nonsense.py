"""Every number in the training configs: nonsense is refused when the config is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.ranker.settings import read_rank_settings
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.util.config import load_config

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[1] / "configs"
READERS = {"pel": read_settings, "ranker": read_rank_settings}
MAY_BE_NEGATIVE = {"offset"}  # similarities


def numbers(section: dict, prefix: str) -> Iterator[tuple[str, str]]:
    """Dotted name of each number, with the part or section that it is a setting of."""
    part = next((value for key, value in section.items() if key.startswith("@")), prefix)
    for key, value in section.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}.{key}")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}.{key}", f"{part} {key}"


def settings() -> Iterator[tuple[str, str, Path]]:
    seen = set()
    for path in sorted(CONFIGS.glob("*.cfg")):
        config = load_config(path)
        for top in READERS.keys() & config.keys():
            for name, setting in numbers(config[top], top):
                if setting not in seen:
                    seen.add(setting)
                    yield name, setting, path


SETTINGS = list(settings())


@pytest.mark.parametrize("value", [-3, float("nan")])
def test_nonsense_is_refused(value):
    assert len(SETTINGS) > 50
    accepted = []
    for name, setting, path in SETTINGS:
        if name.rpartition(".")[2] in MAY_BE_NEGATIVE and value == -3:
            continue
        try:
            READERS[name.partition(".")[0]](path, {name: value})
        except PelError as err:
            assert "\n" not in str(err)
        else:
            accepted.append(setting)
    assert accepted == []


@pytest.mark.parametrize("end", ["learn_rate", "warmup", "weight_decay", "epsilon", "hide_names", "alias_share"])
def test_rates_and_shares_above_one_are_refused(end):
    found = [
        (name, path)
        for name, setting, path in SETTINGS
        if setting.endswith(end) and "SoftRadius.v1 epsilon" not in setting
    ]
    assert found
    for name, path in found:
        with pytest.raises(PelError):
            READERS[name.partition(".")[0]](path, {name: 1.6})
