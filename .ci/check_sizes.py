#!/usr/bin/env python3
"""Refuse a change that makes the repository large: a pipeline is committed once per release.

python3 .ci/check_sizes.py [BASE]   # the change: all commits after BASE, and the index
"""

import subprocess
import sys

MB = 2**20
MAX_ADDED = 100 * MB
MAX_ASSETS = 155 * MB


def git(*args, text=""):
    """The output of a git command; "" if it fails."""
    return subprocess.run(["git", *args], input=text, capture_output=True, text=True).stdout.strip()


def files(objects):
    """(size, path) of the files among lines of ids and paths, the largest first."""
    lines = git("cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)", text=objects).splitlines()
    blobs = [line.split(" ", 2) for line in lines if line.startswith("blob ")]
    return sorted(((int(size), path) for _, size, path in blobs), reverse=True)


def added(base):
    """Files of all commits after the base and of the index, also those that a later commit removes."""
    return files(git("rev-list", "--objects", "HEAD", git("write-tree"), f"^{base}"))


def assets():
    """Files in the index below assets/."""
    entries = [line.split(maxsplit=3) for line in git("ls-files", "-s", "assets").splitlines()]
    return files("\n".join(f"{blob} {path}" for _, blob, _, path in entries))


def complaint(what, found, maximum):
    """One line, or nothing if the files are small enough."""
    total = sum(size for size, _ in found)
    if total <= maximum:
        return []
    largest = ", ".join(f"{path} ({size / MB:.0f} MB)" for size, path in found[:3])
    return [f"{what}: expected at most {maximum // MB} MB, got {total / MB:.0f} MB. Largest: {largest}."]


def change_base():
    """The commit before the change: where it left main or, on main itself, the last commit's parent."""
    base = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main")
    return git("rev-parse", "--verify", "HEAD^") if base in ("", git("rev-parse", "HEAD")) else base


if __name__ == "__main__":
    base = sys.argv[1] if len(sys.argv) > 1 else change_base()
    problems = complaint("Files that the change adds", added(base) if base else [], MAX_ADDED)
    problems += complaint("Files in assets/", assets(), MAX_ASSETS)
    sys.exit("\n".join(problems) or 0)
