#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Kills programs that change a file of users, at random moments, and looks at what is left.

    durability.py --add 'PROGRAM ... {file} ... {name} ... {groups}' [--form glassfish|htpasswd] [--rounds 200]

The command adds one user and ends with status 0 once the user is there for good. In the command and in the template of
--conf these are replaced: {folder}, {file}, {group_file}, {conf}, {name}, {groups} (comma between them). Two are started
at a time and killed with SIGKILL after a random part of the time they usually take; some are left alone. After each round,
and read by this program's own reader, not by Gatehouse's:

  - the file is whole: every line that was there before is there byte for byte, every other line is a user as asked for;
  - every change that was acknowledged (status 0) is there, once, with its groups;
  - nobody is there who was not asked for, and nobody is in a group they were not asked for;
  - at most one temporary file is left over, and none after a writer that was not killed.

Status 0 if all of that held, else 1, with what did not.
"""

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HASH = "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="


class Files:
    """The files under test, and what must be in them."""

    def __init__(self, folder, form, size):
        self.folder, self.form = folder, form
        self.file = os.path.join(folder, "users")
        self.group_file = os.path.join(folder, "groups")
        self.conf = os.path.join(folder, "realms.conf")
        separator = ";" if form == "glassfish" else ":"
        lines = ["# a comment", "", "a line that is none"]
        lines += [f"old{n}{separator}{HASH}" + (";all" if form == "glassfish" else "") for n in range(size)]
        self.base = ("\r\n".join(lines[:3]) + "\r\n" + "".join(line + "\n" for line in lines[3:])).encode()
        self.group_base = b"# groups\nothers: old0 old1\n"
        self.write(self.file, self.base)
        self.write(self.group_file, self.group_base if form == "htpasswd" else b"")

    @staticmethod
    def write(path, data):
        with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(data)

    def fill(self, text, **words):
        words |= {"folder": self.folder, "file": self.file, "group_file": self.group_file, "conf": self.conf}
        for name, value in words.items():
            text = text.replace("{" + name + "}", value)
        return text

    def added(self):
        """The users who came, each with groups, and what is wrong with the file."""
        with open(self.file, "rb") as file:
            data = file.read()
        faults = [] if data.startswith(self.base) else ["lines that were there before are not there any more"]
        if data and not data.endswith(b"\n"):
            faults.append("the last line has no end")
        users = {}
        for line in data[len(self.base):].decode("utf-8", "replace").splitlines():
            fields = line.split(";" if self.form == "glassfish" else ":")
            if len(fields) != (3 if self.form == "glassfish" else 2) or not fields[1]:
                faults.append(f"a line is broken: {line!r}")
                continue
            if fields[0] in users:
                faults.append(f"{fields[0]} is there twice")
            users[fields[0]] = set(fields[2].split(",")) if self.form == "glassfish" else set()
        if self.form == "htpasswd":
            faults += self.add_groups(users)
        return users, faults

    def add_groups(self, users):
        with open(self.group_file, "rb") as file:
            data = file.read()
        faults = [] if data.startswith(self.group_base) else ["the group file's lines are not what they were"]
        for line in data[len(self.group_base):].decode("utf-8", "replace").splitlines():
            group, colon, members = line.partition(":")
            if not colon:
                faults.append(f"a line of the group file is broken: {line!r}")
            for member in members.split():
                # A membership of somebody who is not there is what a killed writer may leave: it lets nobody in.
                if member in users:
                    users[member].add(group)
        return faults

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if ".new-" in name]


def run(options, files, name, groups):
    command = shlex.split(files.fill(options.add, name=name, groups=",".join(groups)))
    stdin = subprocess.PIPE if options.input else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if options.input:
        try:
            process.stdin.write((options.input + "\n").encode())
            process.stdin.close()
        except BrokenPipeError:
            pass
    return process


def finish(process):
    status = process.wait()
    return status, process.stderr.read().decode("utf-8", "replace").strip()


class Trial:
    def __init__(self, options, files):
        self.options, self.files = options, files
        self.random = random.Random(options.seed)
        self.wanted, self.acknowledged, self.count = {}, set(), 0
        self.killed = self.unacknowledged_but_there = self.most_leftovers = 0

    def next_user(self):
        self.count += 1
        name = f"new{self.count}"
        self.wanted[name] = {f"g{self.count % 3}", "all"}
        return name, sorted(self.wanted[name])

    def usual(self):
        """How long a writer takes that is left alone."""
        times = []
        for _ in range(5):
            name, groups = self.next_user()
            began = time.monotonic()
            status, errors = finish(run(self.options, self.files, name, groups))
            if status != 0:
                sys.exit(f"the command fails when left alone: {errors}")
            self.acknowledged.add(name)
            times.append(time.monotonic() - began)
        return sorted(times)[2]

    def round(self, usual):
        """Two writers at a time, each killed or left alone; what is wrong afterwards."""
        running = []
        for _ in range(2):
            name, groups = self.next_user()
            moment = time.monotonic() + self.random.uniform(0, 2.2 * usual)
            running.append((moment, name, run(self.options, self.files, name, groups)))
        faults = []
        for moment, name, process in sorted(running, key=lambda entry: entry[0]):
            if self.random.random() < 0.9:
                time.sleep(max(0, moment - time.monotonic()))
                process.send_signal(signal.SIGKILL)
            status, errors = finish(process)
            if status == 0:
                self.acknowledged.add(name)
            elif status == -signal.SIGKILL:
                self.killed += 1
            else:
                faults.append(f"a writer failed with status {status}: {errors}")
        return faults + self.look()

    def look(self):
        users, faults = self.files.added()
        for name in sorted(self.acknowledged - users.keys()):
            faults.append(f"{name} was acknowledged and is lost")
        for name, groups in users.items():
            if name not in self.wanted:
                faults.append(f"{name} was never asked for")
            elif not groups <= self.wanted[name] or (name in self.acknowledged and groups != self.wanted[name]):
                faults.append(f"{name} is in {sorted(groups)}, not in {sorted(self.wanted[name])}")
        self.unacknowledged_but_there = len(users.keys() - self.acknowledged)
        leftovers = self.files.leftovers()
        self.most_leftovers = max(self.most_leftovers, len(leftovers))
        if len(leftovers) > 2:
            faults.append(f"temporary files pile up: {leftovers}")
        return faults

    def run(self):
        usual = self.usual()
        for number in range(self.options.rounds):
            faults = self.round(usual)
            if faults:
                return usual, [f"round {number + 1}: {fault}" for fault in faults]
        name, groups = self.next_user()
        status, errors = finish(run(self.options, self.files, name, groups))
        faults = [] if status == 0 else [f"after all of it a writer fails: {errors}"]
        faults += [f"{name} is left over" for name in self.files.leftovers()]
        return usual, faults + self.look()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--add", required=True, help="the command that adds one user")
    parser.add_argument("--form", choices=["glassfish", "htpasswd"], default="glassfish")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--size", type=int, default=200, help="how many users there are at first")
    parser.add_argument("--conf", help="a template to be written to {conf} first")
    parser.add_argument("--input", help="a line for the command's standard input")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="durability-") as folder:
        files = Files(folder, options.form, options.size)
        if options.conf:
            with open(options.conf, encoding="utf-8") as template:
                Files.write(files.conf, files.fill(template.read()).encode())
        trial = Trial(options, files)
        usual, faults = trial.run()
    for fault in faults:
        print(f"WRONG {fault}")
    print(
        f"{options.form}: {trial.killed} of {trial.count} writers killed (seed {options.seed}), each within "
        f"{2.2 * usual * 1000:.0f} ms; {len(trial.acknowledged)} acknowledged, all there; "
        f"{trial.unacknowledged_but_there} there without having been acknowledged; "
        f"at most {trial.most_leftovers} temporary files at a time"
        if not faults
        else f"{options.form}: failed with seed {options.seed}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
