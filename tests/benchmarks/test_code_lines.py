from benchmarks.code_lines import count_by_room, count_code_lines

SOURCE = '''"""Module."""

import os  # counts, the comment does not


class Reader:
    """Two
    lines."""

    names = """a
    string"""

    def read(self):
        """One."""
        return [
            # nothing
            os.sep,
        ]
'''


def test_blanks_comments_and_docstrings_do_not_count():
    assert count_code_lines(SOURCE) == 8


def test_rooms(tmp_path):
    for name in ("top.py", "kb/store/a.py", "kb/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    assert count_by_room(tmp_path, 1) == {".": (1, 1), "kb": (2, 2)}
    assert count_by_room(tmp_path, 2) == {".": (1, 1), "kb": (1, 1), "kb/store": (1, 1)}
