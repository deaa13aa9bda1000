# SPDX-License-Identifier: Apache-2.0
"""The steps of a page: its fenced code blocks, and the markers for docs_check in its comments.

A marker is an HTML comment. `run`, `password`, `stop` and `packages` stand alone; the others belong to the next block:

    <!-- docs-check: skip, REASON -->        the block is not checked
    <!-- docs-check: file PATH -->           the block is written to a file. The text "`PATH`:" before the block does the same
    <!-- docs-check: merge PATH -->          the statements of the block replace those of the same name in a realms.conf, or are added
    <!-- docs-check: in PATH -->             the block is a part of a file of the page
    <!-- docs-check: replaces -->            the block replaces the text of the block before it, which is a part of a file
    <!-- docs-check: excerpt PATH -->        the lines of the block are in a file of the repository, in this order
    <!-- docs-check: printed -->             the server of the page has printed these lines, in this order
    <!-- docs-check: inside server -->       the block is a part of a `server` block of a realms.conf
    <!-- docs-check: with
    STATEMENTS -->                           a realms.conf is checked together with these statements
    <!-- docs-check: where
    TEXT = OTHER TEXT -->                    the placeholders of a block are replaced before it is checked, in this order
    <!-- docs-check: password TEXT -->       the answer to prompts for a password, from here on
    <!-- docs-check: packages NAME ... -->   the page makes these packages: its folder is .build-docs/pages, beside a link `gatehouse`
    <!-- docs-check: stop -->                Ctrl-C: the server of the page stops
    <!-- docs-check: run
    COMMANDS -->                             commands that the page does not show. Each must end with status 0
"""

import re
from dataclasses import dataclass, field

FOR_NEXT_BLOCK = {"skip", "file", "merge", "in", "replaces", "excerpt", "with", "where", "inside", "printed"}
ON_THEIR_OWN = {"run", "password", "stop", "packages"}


class BadPage(Exception):
    """A page that cannot be read: a marker that does not exist, a block that is not closed."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


@dataclass
class Marker:
    line: int
    name: str
    argument: str = ""
    body: str = ""


@dataclass
class Block:
    """A fenced code block. `line` is the line of its first line of text."""

    line: int
    language: str
    text: str
    markers: dict = field(default_factory=dict)
    named_file: str = None

    @property
    def lines(self):
        return self.text.split("\n")[:-1] if self.text else []


def marker(line, comment):
    """The marker of a comment; None for a comment that is not for docs_check."""
    match = re.match(r"\s*docs-check:\s*(\w+)(.*)\Z", comment, re.DOTALL)
    if not match:
        if "docs-check" in comment:
            raise BadPage(line, "a marker is written `docs-check: NAME`")
        return None
    name, rest = match.groups()
    first, _, body = rest.partition("\n")
    first = first.lstrip(",").strip()
    if name not in FOR_NEXT_BLOCK | ON_THEIR_OWN:
        raise BadPage(line, f"there is no marker {name}")
    if name == "skip" and not first:
        raise BadPage(line, "a skipped block needs a reason: <!-- docs-check: skip, REASON -->")
    if name in ("file", "merge", "in", "excerpt", "inside", "password", "packages") and not first:
        raise BadPage(line, f"the marker {name} needs an argument")
    if name in ("run", "with", "where") and not body.strip():
        raise BadPage(line, f"the marker {name} needs lines below it")
    return Marker(line, name, first, body.rstrip() + "\n" if body.strip() else "")


def named_file(paragraph):
    """The file that a paragraph before a block names: "`PATH`:", or a paragraph that ends so."""
    match = re.search(r"(?:^|\s)`([\w./+-]+\.[\w-]+)`(?: \([^()`]*(?:`[^`]*`[^()`]*)*(?:\[[^]]*\]\([^)]*\))?[^()]*\))?:$", paragraph)
    return match.group(1) if match else None


def first_of(paragraph):
    return next((line for line in paragraph if line), "x")


def steps(text):
    """The blocks and the markers of a page, in order."""
    result = []
    pending = {}
    paragraph = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        comment = re.match(r"\s*<!--", line)
        fence = re.match(r"( *)(```+|~~~+)\s*(\S*)", line)
        if comment:
            start = number + 1
            collected = line[comment.end():]
            while "-->" not in collected:
                number += 1
                if number == len(lines):
                    raise BadPage(start, "the comment is not closed")
                collected += "\n" + lines[number]
            found = marker(start, collected[:collected.index("-->")])
            if found and found.name in FOR_NEXT_BLOCK:
                pending[found.name] = found
            elif found:
                result.append(found)
        elif fence:
            indent, mark, language = fence.groups()
            start = number + 2
            content = []
            number += 1
            while number < len(lines) and not re.match(rf" *{re.escape(mark)}\s*$", lines[number]):
                content.append(lines[number].removeprefix(indent))
                number += 1
            if number == len(lines):
                raise BadPage(start - 1, "the code block is not closed")
            result.append(Block(start, language, "".join(part + "\n" for part in content), pending,
                                named_file(" ".join(part.strip() for part in paragraph).strip())))
            pending, paragraph = {}, []
        elif line.startswith("    ") and paragraph[-1:] in ([""], []) and not re.match(r"\s|[-*] |\d+\. ", first_of(paragraph)):
            raise BadPage(number + 1, "an indented code block is not checked: write a fenced block")
        elif not line.strip():
            if paragraph and paragraph[-1] != "":
                paragraph.append("")
        else:
            if paragraph and paragraph[-1] == "":
                paragraph = []
            paragraph.append(line.rstrip())
            if pending:
                unused = next(iter(pending.values()))
                raise BadPage(unused.line, f"no code block follows the marker {unused.name}")
        number += 1
    if pending:
        unused = next(iter(pending.values()))
        raise BadPage(unused.line, f"no code block follows the marker {unused.name}")
    return result
