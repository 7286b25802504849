from benchmarks.code_lines import count_code_lines

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
