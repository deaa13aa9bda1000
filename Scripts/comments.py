#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation comments of Sources: what is not public has no lists of parameters, but a sentence.

Members of a public protocol or a public extension are public."""

import re
import sys
from pathlib import Path

LIST = re.compile(r"/// *-( Parameters?\b|   - \w+:)|///   - \w+:")
OPENS_PUBLIC = re.compile(r"(public|open)\b.*\b(protocol|extension)\b.*\{$|public extension\b.*\{$")


def findings(path):
    listed, public = 0, None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        text = line.strip()
        if OPENS_PUBLIC.match(line):
            public = True
        elif line == "}":
            public = None
        if text.startswith("///"):
            listed = listed or (number if LIST.match(text) else 0)
        elif not text.startswith("@") or re.search(r"\b(func|init|var|struct|class|enum)\b", text):
            if listed and not public and not re.search(r"\b(public|open)\b", text):
                yield f"{path}:{listed}: a list of parameters of a declaration that is not public"
            listed = 0


def main():
    found = [text for path in sorted(Path("Sources").rglob("*.swift")) for text in findings(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
