"""Attacks run in child processes: one that crashes or hangs is a finding, not the end."""

import faulthandler
import logging
import multiprocessing
import os
import random
import re
import resource
import shutil
import time
import traceback
from collections import Counter
from collections import Counter as CounterType
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from spacy_pel.errors import PelError
from spacy_pel.util import logger
from spacy_pel.util.console import progress_bar

REFUSED, NET, ACCEPTED = "refused", "by the net", "accepted"
RAW, WRONG, CRASH, HANG = "raw exceptions", "wrong", "crashes", "hangs"
FAILURES = (RAW, WRONG, CRASH, HANG)
BATCH = 500  # inputs of one child process
MEMORY = 12 * 2**30  # bytes of address space for a child
_CONTEXT = multiprocessing.get_context("fork")
_START = 300  # seconds
LONGEST = 1000  # characters of an error
GIVEN = "given"  # name of the folder with the files of a reader
_END = r"(?:\.gz)?(?![\w/-]|\.\w)"  # of a name; what was read may be the file compressed


class Wrong(Exception):
    """A finding that is no exception: an error that does not say what it must, or a false answer."""


class Attack(Protocol):
    """One kind of input. Its folder is its own and is there in every process."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Write what all inputs share; runs once, in a process of its own."""

    def begin(self, folder: Path) -> None:
        """Load what the inputs of a process share; its time does not count as theirs."""

    def run(self, rng: random.Random, folder: Path) -> None:
        """Make one input and use it. RAISES (PelError): if it was refused; any other error is a finding."""


@dataclass
class Tally:
    """What became of the inputs of one attack."""

    name: str
    counts: CounterType[str] = field(default_factory=Counter)
    worst: float = 0.0  # seconds
    slowest: int = 0  # the input that took them
    failures: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return sum(self.counts.values())


def verdict_of(attack: Attack, seed: int, number: int, folder: Path) -> "tuple[str, str]":
    """Run one input.

    Returns:
        The verdict, and for a failure what happened.
    """
    rng = random.Random(f"{seed}/{attack.name}/{number}")
    try:
        attack.run(rng, folder)
    except PelError as err:
        fault = _fault_of(str(err), folder)
        return (WRONG, fault) if fault else (NET if "PEL-E012" in str(err) else REFUSED, str(err))
    except Wrong as err:
        return WRONG, str(err)
    except Exception as err:
        where = traceback.extract_tb(err.__traceback__)[-1]
        return RAW, f"{type(err).__name__}: {err}"[:300] + f" ({Path(where.filename).name}, line {where.lineno})"
    return ACCEPTED, ""


def _fault_of(message: str, folder: Path) -> str:
    """What is wrong with an error; "" = nothing."""
    if len(message) > LONGEST:
        return f"an error of {len(message):,} characters: {message[:80]}…"
    if not message.isprintable():
        return f"an error of several lines or with control characters: {message!r}"
    return "" if names_a_file(message, folder) else f"an error that names no file: {message}"


def names_a_file(message: str, folder: Path) -> bool:
    """Whether an error names a file of an attack, or one that it looked for: its path, or a
    name with an ending as a word of its own. Names without one, e.g. "index", are words of other errors."""
    return bool(_names(folder).search(message)) or bool(_names.__wrapped__(folder).search(message))


@lru_cache(maxsize=1)
def _names(folder: Path) -> "re.Pattern[str]":
    """Of the paths and names in a folder as they are now; its files hardly change."""
    paths = [path for path in sorted(folder.rglob("*")) if path.name != GIVEN]
    found = [re.escape(str(path)) for path in paths]
    given = re.escape(str(folder / GIVEN))
    found += [rf"{given}/[^\s,]+", rf"{given}(?:/.*(?=, got )|(?=, got a ))"]  # named by a damaged file, and not there
    found += sorted({rf"(?<![\w.-]){re.escape(path.name)}" for path in paths if path.suffix})
    return re.compile(rf"(?:{'|'.join(found)}){_END}")


def prepared(attack: Attack, folder: Path) -> Path:
    """Prepare an attack in a child process: what it loads has threads that would not survive a fork.

    Returns:
        The folder. RAISES (RuntimeError): if it fails.
    """
    process = _CONTEXT.Process(target=attack.prepare, args=(folder,))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"The preparation of {attack.name} failed.")
    return folder


def run_attack(attack: Attack, *, seed: int, seconds: float, most: int | None, hang: float, folder: Path) -> Tally:
    """Run inputs until the time is over.

    Args:
        seconds: for this attack, without its preparation. most (Optional[int]): number of inputs.
        hang: seconds after which an input counts as one that hangs.
    """
    tally = Tally(attack.name)
    tqdm.monitor_interval = 0  # its thread could hold a lock when a child is forked
    prepared(attack, folder)
    end = time.monotonic() + seconds
    number = 0
    with progress_bar(f"Attacking {attack.name}", most) as bar:
        while time.monotonic() < end and (most is None or number < most):
            stop = number + BATCH if most is None else min(number + BATCH, most)
            done, number = number, _batch(attack, seed, range(number, stop), end, hang, folder, tally)
            bar.update(number - done)
    return tally


def _batch(attack: Attack, seed: int, numbers: range, end: float, hang: float, folder: Path, tally: Tally) -> int:
    """The number of the next input."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    args = (attack, seed, numbers, end, folder, sender)
    process = _CONTEXT.Process(target=_child, args=args, daemon=True)
    process.start()
    sender.close()
    number = numbers.start
    try:
        if not receiver.poll(_START):
            process.kill()
            raise RuntimeError(f"{attack.name} did not begin within {_START} s.")
        receiver.recv()
        while True:
            if not receiver.poll(hang):
                process.kill()
                process.join()
                _note(tally, HANG, number, seed, f"after {hang:g} s")
                prepared(attack, emptied(folder))  # the damage is still there
                return number + 1
            verdict, spent, text = receiver.recv()
            if spent > tally.worst:
                tally.worst, tally.slowest = spent, number
            _note(tally, verdict, number, seed, text)
            number += 1
    except EOFError:
        process.join()
    if process.exitcode:
        _note(tally, CRASH, number, seed, f"exit code {process.exitcode}")
        prepared(attack, emptied(folder))
        return number + 1
    return number


def _note(tally: Tally, verdict: str, number: int, seed: int, text: str) -> None:
    tally.counts[verdict] += 1
    if verdict in FAILURES:
        tally.failures.append(f"{tally.name} --seed {seed} --number {number}: {verdict}: {text}")


def _child(attack: Attack, seed: int, numbers: range, end: float, folder: Path, sender: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logger.setLevel(logging.ERROR)  # warnings of damage, thousands of them
    attack.begin(folder)
    sender.send("ready")
    for number in numbers:
        started = time.monotonic()
        verdict, text = verdict_of(attack, seed, number, folder)
        sender.send((verdict, time.monotonic() - started, text if verdict in FAILURES else ""))
        if time.monotonic() > end:
            break
    sender.close()


def emptied(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
