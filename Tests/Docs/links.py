# SPDX-License-Identifier: Apache-2.0
"""The links of a page to files and headings of the repository, and which of them lead nowhere."""

import os
import re

LINK = re.compile(r"!?\[(?:[^\]\\]|\\.)*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|<img src=\"([^\"]+)\"|<source [^>]*srcset=\"([^\"]+)\"|<a href=\"([^\"]+)\"")


def without_code(text):
    """A page without its code blocks, and without code in lines; the lines keep their numbers."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r" *(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark.group(1)
            lines.append("")
        elif fence is not None:
            if re.match(rf" *{re.escape(fence)}\s*$", line):
                fence = None
            lines.append("")
        else:
            lines.append(line)
    return lines


def anchors(text):
    """The names that a link can have after `#`: those of the headings, as GitHub makes them, and ids."""
    found, counts = set(), {}
    for line in without_code(text):
        found.update(re.findall(r'<a id="([^"]+)"', line))
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if heading:
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "").lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def broken(root, path):
    """The links of a page that lead nowhere: (line, message)."""
    with open(os.path.join(root, path)) as file:
        text = file.read()
    for number, line in enumerate(without_code(text), 1):
        for match in LINK.finditer(re.sub(r"`[^`]*`(?!\])", "", line)):
            link = next(group for group in match.groups() if group)
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(root, os.path.dirname(path), name)) if name else os.path.join(root, path)
            if not os.path.exists(target):
                yield number, f"the link {link} leads to no file"
            elif anchor and target.endswith(".md"):
                with open(target) as file:
                    if anchor not in anchors(file.read()):
                        yield number, f"the link {link} leads to no heading"
