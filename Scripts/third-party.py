#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the licences and notices of the Swift packages in a folder, each text once: Scripts/third-party.py FOLDER"""
import os
import re
import sys


def main():
    folder = sys.argv[1]
    texts = {}
    for package in sorted(os.listdir(folder)):
        files = sorted(os.listdir(os.path.join(folder, package)))
        found = [file for file in files if re.match(r"(LICEN[CS]E|NOTICE|COPYING)(\.\w+)?$", file, re.IGNORECASE)]
        if not any(re.match("LICEN|COPYING", file, re.IGNORECASE) for file in found):
            sys.exit(f"{package} has no licence")
        for file in found:
            with open(os.path.join(folder, package, file), encoding="utf-8") as text:
                texts.setdefault(text.read().strip(), []).append(f"{package}/{file}")
    print("The programs of Gatehouse contain parts of these packages, and the Swift run-time library (Apache License 2.0 with\n"
          "the Runtime Library Exception, https://www.swift.org).")
    for text, places in texts.items():
        print("\n" + "=" * 78 + "\n" + "\n".join(places) + "\n" + "=" * 78 + "\n\n" + text)


if __name__ == "__main__":
    main()
