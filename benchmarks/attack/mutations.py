"""Damage to files: from a flipped bit to a tree of JSON with a value of the wrong type in it."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

_NUMBER = re.compile(rb"-?\d+")
_QUOTED = re.compile(rb'"[^"\n]*"|>[^<\n]*<')
_SEPARATORS = [b"\t", b"|", b"||", b",", b";", b":", b'"', b"'", b"\\", b"\n", b"\r\n", b"=", b"{", b"}"]
NUMBERS = ["-1", "0", "007", "1e999", "-1e999", "NaN", "3000000000", "9" * 20, "9" * 5000, "1.5", "²", "٣", "1_0"]
ODD = [
    "\x00", "\x07", "\x1b[2J", "\r", "\x85", "\xa0", "\u2028", "\u200b", "\u202e", "\ufeff", "\ufffe",
    "\ufffd", "e\u0301", "ﬁ", "İ", "ß", "中文", "𝒜", "\U0010ffff", "\\ud800", "\\udfff", "\\u0000",
    "&#9999999999;", "&#xD800;",
    "&#" + "9" * 5000 + ";", "&nbsp;", "&lol;", "]]>", "<!--", "'''", '"""', "\\", " !", " {", "#",
]  # fmt: skip
BYTES = [b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xe9", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"\xff\xfe", b"\x00\x00"]
VALUES: list[Any] = [
    None, True, 5, -1, 0, 1.5, float("inf"), float("nan"), 3_000_000_000, 10**19, 10**400, "", " ", "x",
    "NIL", "-1", "1e999", "\ud800", "a\x00b", "x" * 100_000, [], {}, [5], [None], ["x"], [[]], {"a": 1},
    {"": {}}, [{"a": []}],
]  # fmt: skip
Change = Callable[[bytes, random.Random], bytes]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The content of a file with one to three kinds of damage; the same for the same state
    of the generator."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _insert(data: bytes, what: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + what + data[at:]


def _replace_one(data: bytes, pattern: "re.Pattern[bytes]", what: bytes, rng: random.Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return _insert(data, what, rng)
    match = rng.choice(found)
    return data[: match.start()] + what + data[match.end() :]


def flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def delete(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + rng.choice((1, 2, 10, 100)) :]


def duplicate(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted((_place(data, rng), _place(data, rng)))
    return _insert(data, data[start:end] * rng.choice((1, 1, 3)), rng)


def line_order(data: bytes, rng: random.Random) -> bytes:
    """A line is lost, doubled or moved."""
    lines = data.splitlines(keepends=True)
    if lines:
        line = lines.pop(rng.randrange(len(lines)))
        for _ in range(rng.randrange(3)):
            lines.insert(rng.randrange(len(lines) + 1), line)
    return b"".join(lines)


def swap_fields(data: bytes, rng: random.Random) -> bytes:
    """Two fields of a line change places, or one is lost or doubled."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    mark = rng.choice([mark for mark in (b"\t", b"|", b",", b" ") if mark in lines[at]] or [b"\t"])
    fields = lines[at].split(mark)
    field = fields.pop(rng.randrange(len(fields)))
    for _ in range(rng.choice((0, 1, 1, 2))):
        fields.insert(rng.randrange(len(fields) + 1), field)
    lines[at] = mark.join(fields)
    return b"\n".join(lines)


def number(data: bytes, rng: random.Random) -> bytes:
    return _replace_one(data, _NUMBER, rng.choice(NUMBERS).encode(), rng)


def odd_text(data: bytes, rng: random.Random) -> bytes:
    return _insert(data, rng.choice(ODD).encode(), rng)


def odd_string(data: bytes, rng: random.Random) -> bytes:
    """A string in quotation marks, or the text of an XML element, gives way."""
    what = rng.choice([*ODD, "", "x" * 100_000]).encode()
    return _replace_one(data, _QUOTED, rng.choice((b'"%b"', b">%b<")) % what, rng)


def odd_bytes(data: bytes, rng: random.Random) -> bytes:
    return _insert(data, rng.choice(BYTES), rng)


def separator(data: bytes, rng: random.Random) -> bytes:
    mark = rng.choice(_SEPARATORS)
    if rng.random() < 0.5 and mark in data:
        return _replace_one(data, re.compile(re.escape(mark)), rng.choice([b"", *_SEPARATORS]), rng)
    return _insert(data, mark, rng)


def nested(data: bytes, rng: random.Random) -> bytes:
    n = rng.choice((50, 990, 100_000))
    opening, closing = rng.choice(
        [(b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")"), (b"- ", b""), (b"&a", b";")]
    )
    return _insert(data, opening * n + b"1" + closing * n, rng)


def long_run(data: bytes, rng: random.Random) -> bytes:
    what = rng.choice((b" ", b"\\", b'"', b"\t", b"|", b"!", b"{", b"#", b"a", b"\n", b" !", b"\r", b"&"))
    return _insert(data, what * rng.choice((16_000, 200_000)), rng)


def line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\r", b"\x85", b"\x0b", b"")))


def encoding(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf8", "replace")
    name = rng.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32"))
    if name == "latin-1":
        text += "é"
    return text.encode(name, "replace")


def declared_encoding(data: bytes, rng: random.Random) -> bytes:
    name = rng.choice((b"UF-8", b"latin-1", b"utf-16", b"euc-jp", b"", b"idna", b"rot13", b"utf-7", b"x" * 5000))
    return re.sub(rb'encoding="[^"]*"', b'encoding="%b"' % name, data)


def empty(data: bytes, rng: random.Random) -> bytes:
    return rng.choice((b"", b"\n", b" ", b"\x00" * 100, b"{}", b"[]", b"null", b"5", b"<a/>"))


def json_tree(data: bytes, rng: random.Random) -> bytes:
    """A value of one JSON object gives way to another, is lost or gets another key."""
    text = data.decode("utf8", "replace")
    lines = [text]
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        lines = text.split("\n")
    at = rng.randrange(len(lines))
    try:
        tree = json.loads(lines[at])
    except (ValueError, RecursionError):
        return odd_string(data, rng)
    lines[at] = json.dumps(changed_tree(tree, rng))
    return "\n".join(lines).encode("utf8", "replace")


def changed_tree(tree: Any, rng: random.Random) -> Any:
    """The tree with one change."""
    places: list[Any] = [(None, None)]
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (dict, list)):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            places += [(node, key) for key in keys]
            stack += [node[key] for key in keys]
    node, key = rng.choice(places)
    if node is None:
        return rng.choice([*VALUES, [tree], {"a": tree}])
    how = rng.choice(("value", "value", "value", "lose", "rename", "wrap"))
    if how == "lose":
        del node[key]
    elif how == "rename" and isinstance(node, dict):
        node[rng.choice(("x", "", key.upper(), key + " ", "\ud800"))] = node.pop(key)
    elif how == "wrap":
        node[key] = rng.choice(([node[key]], {"a": node[key]}, str(node[key])))
    else:
        node[key] = rng.choice(VALUES)
    return tree


CHANGES: list[Change] = [
    flip, flip, truncate, delete, duplicate, line_order, line_order, swap_fields, swap_fields, number, number,
    odd_text, odd_text, odd_string, odd_bytes, separator, separator, nested, long_run, line_ends, encoding,
    declared_encoding, empty, json_tree, json_tree, json_tree,
]  # fmt: skip


def changes_by_name() -> dict[str, Change]:
    """Each kind of damage."""
    return {change.__name__: change for change in CHANGES}
