#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the released versions of CHANGELOG.md in the form of debian/changelog: Scripts/debian-changelog.py CHANGELOG.md"""
import datetime
import re
import sys
import textwrap

MAINTAINER = "Gatehouse maintainers <maintainers@gatehouse.invalid>"


def entries(text):
    """The versions with their dates and changes, the newest first."""
    sections = re.split(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", text, flags=re.MULTILINE)
    for version, date, body in zip(sections[1::3], sections[2::3], sections[3::3]):
        changes = re.findall(r"^- (.*(?:\n  .*)*)", body, flags=re.MULTILINE)
        yield version, datetime.date.fromisoformat(date), [" ".join(change.split()) for change in changes]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(entries(file.read()))
    if not found:
        sys.exit(f"{sys.argv[1]} has no released version")
    for version, date, changes in found:
        print(f"gatehouse ({version}) unstable; urgency=medium\n")
        for change in changes:
            print(textwrap.fill(change.replace("`", ""), 78, initial_indent="  * ", subsequent_indent="    ",
                                break_long_words=False, break_on_hyphens=False))
        print(f"\n -- {MAINTAINER}  {date:%a, %d %b %Y} 12:00:00 +0000\n")


if __name__ == "__main__":
    main()
