#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the PAM services that packages of Debian ship with the parser of pam.d files.

    pam-services.py CONFORMANCE FOLDER [PACKAGE...]

CONFORMANCE is the built program. The packages are downloaded with apt-get into FOLDER, and unpacked there; without names
they are those which depend on libpam0g, libpam-runtime or libpam-modules, up to 6 MB each. The files of this machine's
/etc/pam.d complete each package. The report says what was read and what was refused, and why.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys

LIBRARIES = ["libpam0g", "libpam-runtime", "libpam-modules"]
MAXIMUM_SIZE = 6_000_000
SYSTEM = pathlib.Path("/etc/pam.d")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options).stdout


def dependent_packages():
    names = {line.strip(" |") for line in run("apt-cache", "rdepends", *LIBRARIES).splitlines() if line[:1] in " |"}
    names -= {"Reverse Depends:"}
    shown = run("apt-cache", "show", "--no-all-versions", *sorted(names))
    sizes = dict(re.findall(r"^Package: (\S+)$.*?^Size: (\d+)$", shown, re.M | re.S))
    return sorted(name for name, size in sizes.items() if int(size) <= MAXIMUM_SIZE)


def services(package, folder):
    """Returns the folder with the services of a package and of this machine; None if it has no services."""
    unpacked, laid = folder / "unpacked" / package.name, folder / "pam.d" / package.name.split("_")[0]
    unpacked.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    found = [file for place in ("etc/pam.d", "usr/lib/pam.d") for file in (unpacked / place).glob("*") if file.is_file()]
    if found:
        shutil.rmtree(laid, ignore_errors=True)
        laid.mkdir(parents=True)
        for file in [*SYSTEM.iterdir(), *found]:
            shutil.copyfile(file, laid / file.name)
    return (laid, {file.name for file in found}) if found else None


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    names = sys.argv[3:] or dependent_packages()
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(names), 20):
        wanted = [n for n in names[start : start + 20] if not list(folder.glob(f"{n}_*.deb"))]
        if wanted:
            subprocess.run(["apt-get", "download", "-q", *wanted], cwd=folder, stdout=subprocess.DEVNULL)
    packages = sorted(folder.glob("*.deb"))
    laid = [found for package in packages if (found := services(package, folder))]
    shipped = {str(path / name) for path, names in laid for name in names}
    lines = "".join(f"{path}\n" for path, _ in laid)
    answers = [line.split("\t") for line in run(program, "pam-folders", input=lines).splitlines()]
    answers = [answer for answer in answers if answer[1] in shipped]
    words = collections.Counter(answer[0] for answer in answers)
    print(f"{len(packages)} packages, {len(laid)} with services; {len(answers)} services: {dict(words)}")
    for word, path, _, texts in answers:
        if texts:
            print(f"{word} {path.removeprefix(str(folder))}: {texts}")
    sys.exit(0 if len(answers) == len(shipped) else 1)


if __name__ == "__main__":
    main()
