"""A full disk: one clear error that names the output, and nothing half-written."""

import subprocess

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from spacy_pel.errors import PelError
from spacy_pel.util import atomic_path


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path]
    try:
        is_mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        is_mounted = False
    if not is_mounted:
        pytest.skip("only root can mount a file system")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def plain(path):
    path.write_bytes(bytes(2**21))


def tensors(path):
    save_file({"a": np.zeros(2**20, np.float32)}, path)


@pytest.mark.parametrize("write", [plain, tensors])
def test_a_full_disk(small_disk, write):
    out = small_disk / "out"
    with pytest.raises(PelError) as raised, atomic_path(out) as part:
        part.mkdir()
        with atomic_path(part / "inner" / "weights") as inner:
            write(inner)
    text = str(raised.value)
    assert "No space left on device" in text and f" {out / 'inner' / 'weights'}," in text
    assert list(small_disk.iterdir()) == []


def test_an_error_of_safetensors_without_a_file_system_stays(tmp_path):
    with pytest.raises(SafetensorError), atomic_path(tmp_path / "out"):
        raise SafetensorError("invalid header")
