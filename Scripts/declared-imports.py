#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every target declares the modules that its files import, and no others.

The compiler also accepts a module that another target happens to have built before, so a missing dependency fails only in a clean build,
and only sometimes. `swift build --explicit-target-dependency-import-check error` finds the same faults, but compiles every
target again. This script only reads the files.

A dependency that no file imports is reported too, because it is built and linked without need; those of tests are not.

It also checks the floors, the folders of Sources: a target depends on targets of its own floor and of lower floors only, and no target of
Realms on one of Text, or the other way round.

Usage: declared-imports.py PACKAGE_FOLDER ..."""
import json
import os
import re
import subprocess
import sys

# From the bottom up. Realms and Text stand side by side, and so do Web and Testing.
FLOORS = {"System": 0, "Base": 1, "Core": 2, "Realms": 3, "Text": 3, "Web": 4, "Testing": 4, "Programs": 5}
# Modules of the toolchain and of the system.
TOOLCHAIN = {"Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization", "Testing"}
IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?"
    r"import[ \t]+(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)",
    re.M,
)


def folder(package, target):
    if "path" in target and target["path"]:
        return os.path.join(package, target["path"])
    return os.path.join(package, "Tests" if target["type"] == "test" else "Sources", target["name"])


def declared(target):
    """The modules that a target may import: its dependencies. Products have the names of their modules in all our packages."""
    names = set()
    for dependency in target["dependencies"]:
        for kind in ("byName", "product", "target"):
            if kind in dependency:
                names.add(dependency[kind][0])
    return names


def imports(path):
    """The modules that a file imports. The second value is false for imports behind `canImport`, which other systems need."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [(module, f"canImport({module})" not in text) for module in IMPORT.findall(text)]


def files(place):
    """The Swift files in a folder and the folders below it."""
    for below, _, names in sorted(os.walk(place)):
        for name in sorted(names):
            if name.endswith(".swift"):
                yield os.path.join(below, name)


def floor(target):
    """The floor of a target of Sources."""
    parts = (target.get("path") or "").split("/")
    return parts[1] if len(parts) == 3 and parts[0] == "Sources" and parts[1] in FLOORS else None


def arrows(targets):
    """The dependencies that lead up, or between floors that stand side by side."""
    floors = {target["name"]: floor(target) for target in targets}
    for target in targets:
        above = floors[target["name"]]
        for below in filter(None, (floors.get(name) for name in sorted(declared(target)) if above)):
            if FLOORS[below] > FLOORS[above] or (FLOORS[below] == FLOORS[above] and below != above):
                yield f"the target {target['name']} of {above} depends on a target of {below}"


def main(packages):
    findings = 0
    for package in packages:
        dump = subprocess.run(
            ["swift", "package", "--ignore-lock", "--package-path", package, "dump-package"],
            check=True,
            stdout=subprocess.PIPE,
        )
        targets = json.loads(dump.stdout)["targets"]
        for arrow in arrows(targets):
            print(f"{package}: {arrow}")
            findings += 1
        for target in targets:
            if target["type"] in ("system", "plugin", "macro", "binary"):
                continue
            allowed = declared(target) | TOOLCHAIN | {target["name"]}
            imported = set()
            for path in files(folder(package, target)):
                for module, is_needed in imports(path):
                    imported.add(module)
                    if is_needed and module not in allowed:
                        print(f"{path}: imports {module}, which the target {target['name']} does not declare")
                        findings += 1
            for module in sorted(declared(target) - imported if target["type"] != "test" else ()):
                print(f"{package}: the target {target['name']} declares {module}, which none of its files imports")
                findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
