#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the libraries that should build on a Mac use nothing that only Linux has, outside of `#if`.

A Mac is not at hand for a build, so the files of these targets, and of the targets that they use, are read for modules and names."""

import json
import re
import subprocess
import sys
from pathlib import Path

PORTABLE = {"GatehouseClient", "RealmFile", "RealmKit", "RealmTesting"}
LINUX = re.compile(
    r"\b(?:import (?:Glibc|Musl)|accept4|dup3|pipe2|epoll_\w+|eventfd\w*|inotify_\w+|signalfd|timerfd_\w+|memfd_create|openat2|renameat2"
    r"|O_DIRECT|O_PATH|O_TMPFILE|MSG_CMSG_CLOEXEC|MSG_NOSIGNAL|SOCK_CLOEXEC|SOCK_NONBLOCK|SO_PEERCRED|TCP_USER_TIMEOUT|CLOCK_BOOTTIME"
    r"|st_[acm]tim|__\w+_t|crypt_r|explicit_bzero|fallocate|fdatasync|getauxval|getrandom|getresuid|gettid|malloc_usable_size|posix_fadvise"
    r"|ppoll|prctl|pthread_\w+_(?:setclock|timedlock)|pthread_setname_np|sched_\w+affinity|secure_getenv|sem_timedwait|syncfs)\b"
)


def used(names):
    """The folders of the targets of these names and of all targets that they use."""
    dump = subprocess.run(["swift", "package", "--ignore-lock", "dump-package"], check=True, stdout=subprocess.PIPE)
    targets = {target["name"]: target for target in json.loads(dump.stdout)["targets"]}
    todo, found = set(names), set()
    while todo:
        found |= todo
        uses = [next(iter(use.values()))[0] for name in todo for use in targets[name]["dependencies"]]
        todo = {name for name in uses if name in targets} - found
    return sorted(Path(targets[name]["path"]) for name in found)


def findings(path, provided):
    """The places of names of Linux in a file, apart from those that LibC provides."""
    depth = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        code = line.strip()
        depth += {"#if": 1, "#endif": -1}.get(code.split(" ")[0], 0)
        for name in LINUX.findall(code.split("//")[0]) if depth == 0 else ():
            if name not in provided:
                yield f"{path}:{number}: a Mac does not have this: {name}"


def main():
    provided = set(re.findall(r"func (\w+)", Path("Sources/Base/LibC/LibC.swift").read_text(encoding="utf-8")))
    files = [path for folder in used(PORTABLE) for path in sorted(folder.rglob("*.swift"))]
    found = [text for path in files for text in findings(path, provided)]
    print("\n".join(found) or f"portable: {len(files)} files use nothing that only Linux has")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
