#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Looks that every test that docs/asvs.md names is there; says which are not, with status 1."""

import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def names():
    """Names of tests: sentences of Swift, functions of Python as they are printed, and the scanners' checks."""
    for folder, _, files in os.walk(os.path.join(ROOT, "Tests")):
        for file in files:
            with open(os.path.join(folder, file), errors="replace") as source:
                text = source.read()
            if file.endswith(".swift"):
                # A dot cannot stand in such a name: it is written as another character there.
                yield from re.findall(r"func `([^`]+)`", text)
                yield from re.findall(r'@Test\("([^"]+)"', text)
            elif file.endswith(".py"):
                yield from (name.replace("_", " ") for name in re.findall(r"^@scenario\ndef (\w+)", text, re.MULTILINE))
                yield from re.findall(r'@check\(f?"([^"]+)"\)', text)


def main():
    known = set(names())
    missing = []
    with open(os.path.join(ROOT, "docs", "asvs.md")) as document:
        rows = [line for line in document if line.startswith("|") and not line.startswith("|---")]
    claimed = [name for row in rows for name in re.findall(r"`([^`]+)`", row.rstrip("|\n ").rpartition(" | ")[2])]
    missing = [name for name in claimed if name not in known]
    for name in missing:
        print(f"asvs-tests: there is no test: {name}")
    without = [row.split("|")[1].strip() for row in rows if row.split("|")[3].strip() == "met"
               and not row.rstrip("|\n ").rpartition("|")[2].count("`")]
    print(f"{len(claimed)} claims, {len(missing)} of them of tests that are not there; met without a test: {', '.join(without) or 'none'}")
    return 1 if missing or not claimed else 0


if __name__ == "__main__":
    sys.exit(main())
