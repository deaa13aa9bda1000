#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests that docs/asvs.md and docs/advisories.md quote exist. Prints the missing tests and exits with status 1.

The last column of a table has names of tests in backticks. It may leave out the ids of advisories that a name begins with. A row of
advisories.md may also say "SomeTests, by this id": then that file or folder must have a test whose name begins with each id of the row.
"""

import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ID = r"(?:CVE|GHSA)-[\w-]+"


def tests():
    """The path and name of each test: Swift functions, Python functions as their runner prints them, and checks of the scanners."""
    for folder, _, files in os.walk(os.path.join(ROOT, "Tests")):
        for file in files:
            if not file.endswith((".swift", ".py")):
                continue
            path = os.path.join(folder, file)
            with open(path) as source:
                text = source.read()
            if file.endswith(".swift"):
                names = re.findall(r"func\s+`([^`]+)`", text) + re.findall(r'@Test\("([^"]+)"', text)
            else:
                names = [name.replace("_", " ") for name in re.findall(r"^@scenario\ndef (\w+)", text, re.MULTILINE)]
                names += re.findall(r'@check\(f?"([^"]+)"\)', text)
            for name in names:
                yield path, name


def rows(document):
    """The rows of the tables of a document, as lists of cells, without the lines below the headings."""
    with open(os.path.join(ROOT, "docs", document)) as lines:
        return [[cell.strip() for cell in re.split(r"(?:^| )\|(?: |$)", line.rstrip("\n"))[1:-1]]
                for line in lines if line.startswith("|") and not line.startswith("|---")]


def with_ids(found):
    """Yields (path, id) for each id that the name of a test begins with."""
    for path, name in found:
        prefix = re.match(rf"{ID}(?:, {ID})*(?=: )", name)
        for advisory in re.findall(ID, prefix.group() if prefix else ""):
            yield path, advisory


def main():
    found = list(tests())
    names = {name for _, name in found} | {re.sub(rf"^{ID}(, {ID})*: ", "", name) for _, name in found}
    ids = list(with_ids(found))
    requirements, advisories = rows("asvs.md"), rows("advisories.md")

    quoted = [name for row in requirements + advisories for name in re.findall(r"`([^`]+)`", row[-1])]
    missing = [name for name in quoted if name not in names]
    for row in advisories:
        for place in re.findall(r"(\w+Tests), by th(?:is|ese) ids?", row[-1]):
            wanted = re.findall(ID, row[0])
            quoted += wanted
            missing += [f"{advisory} in {place}" for advisory in wanted
                        if not any(advisory == each and re.search(rf"/{place}(/|\.swift$)", path) for path, each in ids)]
    for name in missing:
        print(f"quoted-tests: no such test: {name}")
    untested = [row[0] for row in requirements if len(row) > 2 and row[2] == "met" and "`" not in row[-1]]
    print(f"quoted-tests: {len(quoted)} tests quoted, {len(missing)} missing; requirements met without a test: {', '.join(untested) or 'none'}")
    return 1 if missing or not quoted else 0


if __name__ == "__main__":
    sys.exit(main())
