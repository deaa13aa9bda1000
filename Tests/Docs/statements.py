# SPDX-License-Identifier: Apache-2.0
"""The statements of a realms.conf, as text: enough to put the parts of a page together."""

import re

TOKEN = re.compile(r'\s+|#[^\n]*|"(?:[^"\\\n]|\\.)*"|[{};]|[^\s{};"]+')


def split(text):
    """The statements at the outermost level: (keyword and names, text). Comments before a statement belong to it."""
    found, at, start, depth, words = [], 0, 0, 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"cannot read: {text[at:at + 40]!r}")
        token = match.group()
        at = match.end()
        if token.isspace() or token.startswith("#"):
            continue
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif depth == 0 and token != ";":
            words.append(token)
        if depth == 0 and token in ";}":
            if words:
                found.append((key(words, token), text[start:at]))
            else:
                # The `;` after the block of a login.conf.
                found[-1] = (found[-1][0], found[-1][1] + text[start:at])
            start, words = at, []
    if words or depth:
        raise ValueError("the last statement has no end")
    return found, text[start:]


def key(words, end):
    """What makes two statements the same: the keyword, and for blocks with a name also the name."""
    return tuple(words) if end == "}" else (words[0],)


def merged(text, addition):
    """A configuration whose statements are replaced by those of an addition with the same name; the others are added at the end."""
    old, rest = split(text)
    new, _ = split(addition)
    names = {name for name, _ in new}
    repeated = {name for name in names if name in (("login-config",),)}
    result, placed = [], set()
    for name, part in old:
        if name in names and name not in repeated:
            if name not in placed:
                # A place may have several blocks with methods: all of the addition replace all of the old ones.
                result += [re.match(r"\s*", part).group() + piece.strip() for other, piece in new if other == name]
                placed.add(name)
        else:
            result.append(part)
    result += ["\n\n" + piece.strip() for name, piece in new if name not in placed]
    return "".join(result) + (rest if rest.strip() else "\n")
