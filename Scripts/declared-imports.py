#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Checks that every target declares the modules that its files import.

The compiler also accepts a module that another target happens to have built before, so a missing dependency fails only in a clean build,
and only sometimes. `swift build --explicit-target-dependency-import-check error` finds the same, but runs the compiler over every
target again. This check reads text only.

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
    """The modules that a file imports, without those that it imports only on another system."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [module for module in IMPORT.findall(text) if f"canImport({module})" not in text]


def main(packages):
    missing = 0
    for package in packages:
        dump = subprocess.run(
            ["swift", "package", "--ignore-lock", "--package-path", package, "dump-package"],
            check=True,
            stdout=subprocess.PIPE,
        )
        for target in json.loads(dump.stdout)["targets"]:
            if target["type"] in ("system", "plugin", "macro", "binary"):
                continue
            allowed = declared(target) | TOOLCHAIN | {target["name"]}
            for place, _, names in sorted(os.walk(folder(package, target))):
                for name in sorted(name for name in names if name.endswith(".swift")):
                    path = os.path.join(place, name)
                    for module in imports(path):
                        if module not in allowed:
                            print(f"{path}: imports {module}, which the target {target['name']} does not declare")
                            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
