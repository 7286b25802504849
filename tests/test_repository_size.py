"""The check of continuous integration that keeps the repository small."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_sizes.py"
LIMITS = ("MAX_ADDED = 100 * MB", "MAX_ASSETS = 155 * MB")


@pytest.fixture
def repository(tmp_path):
    """Two small commits."""
    git(tmp_path, "init", "-q")
    for name in ("first", "second"):
        commit(tmp_path, name, 10)
    return tmp_path


def git(folder, *args):
    author = ("-c", "user.name=A", "-c", "user.email=a@b")
    subprocess.run(["git", *author, *args], cwd=folder, check=True, capture_output=True)


def commit(folder, name, size):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(name.encode() * (size // len(name)))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", name)


def check(folder, *args):
    """Run the script with limits of 2 MB for a change and of 1 MB for assets/."""
    script = SCRIPT.read_text(encoding="utf8").replace("100 * MB", "2 * MB").replace("155 * MB", "1 * MB")
    return subprocess.run([sys.executable, "-c", script, *args], cwd=folder, capture_output=True, text=True)


def test_small_changes_pass(repository):
    assert all(limit in SCRIPT.read_text(encoding="utf8") for limit in LIMITS)
    assert check(repository).returncode == 0


def test_large_files_count_even_if_a_later_commit_removes_them(repository):
    commit(repository, "model", 3 * 2**20)
    assert check(repository).returncode == 1
    git(repository, "rm", "-q", "model")
    git(repository, "commit", "-qm", "remove")
    assert check(repository).returncode == 0  # the last commit
    result = check(repository, "HEAD~2")
    assert result.returncode == 1 and "model (3 MB)" in result.stderr


def test_assets_have_a_limit_of_their_own(repository):
    commit(repository, "assets/model", 2**20 + 100)
    result = check(repository)
    assert result.returncode == 1 and result.stderr.count("\n") == 1 and "assets/" in result.stderr
