#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Checks that every target declares the modules that its files import, and no others.

The compiler also accepts a module that another target happens to have built before, so a missing dependency fails only in a clean build,
and only sometimes. `swift build --explicit-target-dependency-import-check error` finds the same faults, but compiles every
target again. This script only reads the files.

A dependency that no file imports is reported too, because it is built and linked without need. Executables are an exception: a test may
depend on an executable in order to run it.

Usage: declared-imports.py PACKAGE_FOLDER ..."""
import json
import os
import re
import subprocess
import sys

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


def main(packages):
    findings = 0
    for package in packages:
        dump = subprocess.run(
            ["swift", "package", "--ignore-lock", "--package-path", package, "dump-package"],
            check=True,
            stdout=subprocess.PIPE,
        )
        targets = json.loads(dump.stdout)["targets"]
        executables = {target["name"] for target in targets if target["type"] == "executable"}
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
            for module in sorted(declared(target) - imported - executables):
                print(f"{package}: the target {target['name']} declares {module}, which none of its files imports")
                findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
