#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what services of PAM mean here with what the libpam of this machine makes of them.

    pam-compare.py CONFORMANCE [--cases FILE] [--mutations NUMBER] [--lists NUMBER] [--seed NUMBER] [FOLDER...]

CONFORMANCE is the built program. Each service of the folders, which pam-services.py lays out, is evaluated with lists of
codes that its modules return: each of the 32 codes alone, and random ones. For each list, the called modules with their
arguments and the result must be the same. --cases adds the recorded files; --mutations adds files that are made of these,
and generated ones. A file that we refuse is counted, and not compared. Needs cc and libpam0g-dev.
"""
import argparse
import collections
import pathlib
import random
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
CHUNK = 2000
TYPES = ["auth", "account", "auth", "account", "-auth", "-account", "AUTH", "Account", "password", "session"]
FLAGS = ["required", "requisite", "sufficient", "optional", "Required", "[required]"]
ACTIONS = ["ok", "done", "bad", "die", "ignore", "reset", "1", "2", "3", "1", "0", "255"]
MODULES = ["pam_unix.so", "pam_deny.so", "pam_permit.so", "/lib/security/pam_x.so", "[pam x.so]", "pam_missing.so", "%N%"]
ARGUMENTS = ["nullok", "try_first_pass", "a=b", "[two words]", "[a\\]b]", "[]", "x[y", "\u00fc", "a\\", "\"q", "#c", "[ #]", "x#y"]
INTERESTING = b" \t\n#\\[]=,-@/.01axA\r\"\x00\xff"
# What most modules return, so that most lists reach the end of a stack.
USUAL = [0, 0, 0, 25, 7, 10, 9, 12]


def values():
    text = (HERE / "../../Sources/Text/LoginConf/PAM/PAMCode.swift").read_text(encoding="utf-8")
    return re.findall(r'"(\w+)"', text.split("let names = [")[1].split("]")[0]) + ["default"]


VALUES = values()


def a_list(chance, length=12):
    # libpam takes a number that it does not define as a failure.
    draw = lambda: chance.choice(USUAL) if chance.random() < 0.7 else chance.choice([*range(32), chance.choice([32, 255])])
    return ",".join(str(draw()) for _ in range(length))


def lists(chance, number, all_codes):
    found = [f"{kind}:{code}" for kind in ("auth", "account") for code in range(32) if all_codes]
    return found + [f"{kind}:{a_list(chance)}" for kind in ("auth", "account") for _ in range(number)]


def control(chance):
    if chance.random() < 0.4:
        return chance.choice(FLAGS)
    pair = lambda: chance.choice(["", " "]).join([chance.choice(VALUES), "=", chance.choice(ACTIONS)])
    frequent = lambda: chance.choice(["success", "default", "ignore", "auth_err"]) + "=" + chance.choice(ACTIONS[:9])
    pairs = [chance.choice([pair, frequent, frequent])() for _ in range(chance.randint(1, 4))]
    if chance.random() < 0.8:
        pairs = list({text.split("=")[0].strip(): text for text in pairs}.values())
    return "[" + chance.choice([" ", " ", "  ", "\t", ""]).join(pairs) + "]"


def line(chance, files):
    blank = chance.choice([" ", " ", "\t", " \\\n"])
    kind = chance.random()
    if kind < 0.05:
        return f"@include {chance.choice(files)}\n"
    words = [chance.choice(TYPES[:4] if kind < 0.8 else TYPES)]
    if kind < 0.2:
        words += [chance.choice(["include", "substack", "Substack"]), chance.choice(files)]
    else:
        words += [control(chance), chance.choice(MODULES)]
        words += [chance.choice(ARGUMENTS[:7] if kind < 0.9 else ARGUMENTS) for _ in range(chance.choice([0, 0, 1, 2]))]
    return blank.join(words) + chance.choice(["\n", "\n", " # x\n", "\n\n", "\n# y\n"])


def generated(chance, files):
    return "".join(line(chance, files) for _ in range(chance.randint(1, 9))).encode()


def mutated(chance, text, texts, files):
    text = bytearray(text)
    for _ in range(chance.randint(1, 3)):
        place = chance.randint(0, len(text))
        end = min(len(text), place + chance.choice([0, 1, 1, 2, 8]))
        match chance.randint(0, 6):
            case 0:
                del text[place:end]
            case 1:
                text[place:end] = bytes(chance.choices(INTERESTING, k=chance.randint(1, 2)))
            case 2:
                other = chance.choice(texts)
                start = chance.randint(0, len(other))
                text[place:end] = other[start : start + chance.randint(1, 40)]
            case 3:
                rows = bytes(text).splitlines(True)
                chance.shuffle(rows)
                text = bytearray(b"".join(rows[: chance.randint(0, len(rows))]))
            case 4:
                start = text.rfind(b"\n", 0, place) + 1
                text[start:start] = line(chance, files).encode()
            case _:
                words = list(re.finditer(rb"\[[^\]\n]*\]|[^\s\[]+", bytes(text)))
                if words:
                    word = chance.choice(words)
                    new = chance.choice([control(chance), chance.choice(TYPES), chance.choice(MODULES), chance.choice(files),
                                         chance.choice(ARGUMENTS), chance.choice(VALUES), ""])
                    text[word.start() : word.end()] = new.encode()
    return bytes(text)


def is_cut(text):
    """Returns whether libpam before 1.6 cuts a line."""
    return any(len(row) > 1000 for row in re.sub(rb"\\[ \t]*\n", b" ", text).split(b"\n"))


def cases(path):
    """Returns the files of the recorded cases by their names."""
    found = {}
    for block in path.read_bytes().split(b"@case ")[1:]:
        name, rest = block.split(b"\n", 1)
        for part in rest.split(b"@file ")[1:]:
            file, text = part.split(b"\n", 1)
            text = text.split(b"@end")[0].removesuffix(b"%NONL%\n")
            found.setdefault(name.decode(), {})[file.decode()] = text
    return found


class Comparison:
    def __init__(self, conformance, folder):
        self.conformance, self.dump = conformance, folder / "pam-dump"
        self.counts = collections.Counter()
        subprocess.run(["cc", "-O2", "-Wall", "-rdynamic", "-o", self.dump, HERE / "pam-dump.c", "-lpam"], check=True)

    def ours(self, jobs):
        text = "".join("\t".join([str(path), *lists]) + "\n" for path, lists in jobs)
        output = subprocess.run([self.conformance, "pam-runs"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        rows = iter(output.split(b"\n"))
        for _, lists in jobs:
            first = next(rows)
            yield None if first.startswith(b"refused") else [first, *(next(rows) for _ in lists[1:])]

    def theirs(self, jobs):
        while jobs:
            text = "".join("\t".join([str(path), *lists]) + "\n" for path, lists in jobs)
            try:
                output = subprocess.run([self.dump], input=text.encode(), stdout=subprocess.PIPE, timeout=60).stdout
            except subprocess.TimeoutExpired as error:
                output = error.stdout or b""
            rows = output.split(b"\n")[:-1]
            while jobs and len(rows) >= len(jobs[0][1]):
                yield rows[: len(jobs[0][1])]
                rows, jobs = rows[len(jobs[0][1]) :], jobs[1:]
            if jobs:
                yield [b"libpam crashed or did not end"] * len(jobs[0][1])
                jobs = jobs[1:]

    def compare(self, name, jobs):
        """Compares services, each a path and its lists; prints what differs."""
        plain = lambda row: re.sub(rb"\x1e/(usr/)?lib/([^/\x1e]+-linux-gnu/)?security/", b"\x1e", row)
        answers = list(self.ours(jobs))
        read = [(job, rows) for job, rows in zip(jobs, answers) if rows is not None]
        accepted = [(job, rows) for job, rows in read if not is_cut(job[0].read_bytes())]
        self.counts[name, "services"] += len(jobs)
        self.counts[name, "refused"] += len(jobs) - len(read)
        self.counts[name, "too long for libpam 1.5"] += len(read) - len(accepted)
        for (job, ours), theirs in zip(accepted, self.theirs([job for job, _ in accepted])):
            self.counts[name, "runs"] += len(ours)
            self.counts[name, "calls"] += sum(row.count(b"\x1e") - 1 for row in theirs)
            self.counts[name, "granted"] += sum(row.endswith(b"\x1e=0") for row in theirs)
            different = [rows for rows in zip(job[1], map(plain, ours), map(plain, theirs)) if rows[1] != rows[2]]
            if different:
                self.counts[name, "different"] += 1
                if self.counts[name, "different"] <= 20:
                    used, ours, theirs = different[0]
                    print(f"{job[0]} with {used}\n  here   {ours}\n  libpam {theirs}\n  {job[0].read_bytes()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conformance")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--cases", type=pathlib.Path)
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--lists", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        comparison = Comparison(options.conformance, temporary)
        found = [file.absolute() for folder in options.folders for file in sorted(folder.iterdir())]
        # libpam reads the file of a service by its name in lower case, and that of the service `other` twice. The folders share
        # the files of this machine.
        unique = {(file.name, file.read_bytes()): file for file in found if file.name == file.name.lower() != "other"}
        services, texts = list(unique.values()), [text for _, text in unique]
        for start in range(0, len(services), 20):
            comparison.compare("services", [(file, lists(chance, options.lists, True)) for file in services[start : start + 20]])
        jobs = []
        for name, files in (cases(options.cases) if options.cases else {}).items():
            folder = temporary / "cases" / name
            folder.mkdir(parents=True)
            for file, text in files.items():
                (folder / file).write_bytes(text.replace(b"%D%", str(folder).encode()))
            if "svc" in files:
                jobs.append((folder / "svc", lists(chance, options.lists, True)))
                texts.append(files["svc"])
        comparison.compare("cases", jobs)
        folder = temporary / "mutations"
        folder.mkdir()
        included = [f"sub{index}" for index in range(6)]
        for index, name in enumerate(included):
            (folder / name).write_bytes(b"".join(
                f"{kind} {control(chance)} pam_s{index}.so\n".encode() for kind in TYPES[:4] if index or kind == "auth"))
        (folder / "other").write_bytes(b"auth required pam_other.so\naccount required pam_other.so\n")
        for file in services:
            if file.name.startswith("common-"):
                (folder / file.name).write_bytes(file.read_bytes())
                included.append(file.name)
        for start in range(0, options.mutations, CHUNK):
            jobs = []
            for index in range(min(CHUNK, options.mutations - start)):
                path = folder / f"m{index}"
                text = generated(chance, included)
                if chance.random() < 0.6:
                    text = mutated(chance, chance.choice([text, chance.choice(texts or [text])]), [text, *texts[:50]], included)
                path.write_bytes(text)
                jobs.append((path, lists(chance, 2, False)))
            comparison.compare("mutations", jobs)
    version = subprocess.run(["dpkg-query", "-W", "libpam0g"], capture_output=True, text=True).stdout.strip()
    print(f"seed {options.seed}, {version or 'libpam of unknown version'}")
    for name in dict.fromkeys(name for name, _ in comparison.counts):
        print(name + ": " + ", ".join(f"{value:,} {key}" for (kind, key), value in comparison.counts.items() if kind == name))
    raise SystemExit(any(key == "different" for _, key in comparison.counts))


if __name__ == "__main__":
    main()
