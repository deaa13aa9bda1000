#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills programs that change a file of users at random times, and checks the file.

    kill_file_writers.py --add 'PROGRAM ... {file} ... {name} ... {groups}' [--form glassfish|htpasswd] [--rounds 200]

The command adds one user. Its status is 0 when the user is stored. These words are replaced in the command and in the template of
--conf: {folder}, {file}, {group_file}, {conf}, {name}, {groups} (separated by commas). In each round two writers are started at the
same time. Most of them are killed with SIGKILL after a random part of the usual time. After each round the files are read by a
parser of this script, not by Gatehouse. It checks that

  - every line that was there at the start is there byte for byte, and every other line is a user that a writer added;
  - every acknowledged user (status 0) is there exactly once, with all groups;
  - no other user is there, and no user is in another group;
  - at most two temporary files are left over, and none after a writer that was not killed.

The status is 0 if all checks succeed; otherwise it is 1, and the failures are printed.
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
    """The files under test, with their contents at the start."""

    def __init__(self, folder, form, size):
        self.folder, self.form = folder, form
        self.file = os.path.join(folder, "users")
        self.group_file = os.path.join(folder, "groups")
        self.conf = os.path.join(folder, "realms.conf")
        separator = ";" if form == "glassfish" else ":"
        lines = ["# a comment", "", "a malformed line"]
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
        """Returns the added users with their groups, and the faults of the files."""
        with open(self.file, "rb") as file:
            data = file.read()
        faults = [] if data.startswith(self.base) else ["a line from the start is missing or changed"]
        if data and not data.endswith(b"\n"):
            faults.append("the last line has no line end")
        users = {}
        for line in data[len(self.base):].decode("utf-8", "replace").splitlines():
            fields = line.split(";" if self.form == "glassfish" else ":")
            if len(fields) != (3 if self.form == "glassfish" else 2) or not fields[1]:
                faults.append(f"a line is malformed: {line!r}")
                continue
            if fields[0] in users:
                faults.append(f"{fields[0]} is on two lines")
            users[fields[0]] = set(fields[2].split(",")) if self.form == "glassfish" else set()
        if self.form == "htpasswd":
            faults += self.add_groups(users)
        return users, faults

    def add_groups(self, users):
        with open(self.group_file, "rb") as file:
            data = file.read()
        faults = [] if data.startswith(self.group_base) else ["a line of the group file from the start is missing or changed"]
        for line in data[len(self.group_base):].decode("utf-8", "replace").splitlines():
            group, colon, members = line.partition(":")
            if not colon:
                faults.append(f"a line of the group file is malformed: {line!r}")
            for member in members.split():
                # A killed writer may leave a membership of a user who is not in the file. It gives access to no user.
                if member in users:
                    users[member].add(group)
        return faults

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if ".new-" in name]


def start_writer(options, files, name, groups):
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
        self.expected, self.acknowledged, self.count = {}, set(), 0
        self.killed = self.stored_without_acknowledgement = self.maximum_leftovers = 0

    def next_user(self):
        self.count += 1
        name = f"new{self.count}"
        self.expected[name] = {f"g{self.count % 3}", "all"}
        return name, sorted(self.expected[name])

    def usual_time(self):
        """Returns the usual time of a writer that is not killed."""
        times = []
        for _ in range(5):
            name, groups = self.next_user()
            start = time.monotonic()
            status, errors = finish(start_writer(self.options, self.files, name, groups))
            if status != 0:
                sys.exit(f"the command fails although it was not killed: {errors}")
            self.acknowledged.add(name)
            times.append(time.monotonic() - start)
        return sorted(times)[2]

    def round(self, usual_time):
        """Runs two writers at the same time, kills most of them, and returns the faults."""
        running = []
        for _ in range(2):
            name, groups = self.next_user()
            kill_time = time.monotonic() + self.random.uniform(0, 2.2 * usual_time)
            running.append((kill_time, name, start_writer(self.options, self.files, name, groups)))
        faults = []
        for kill_time, name, process in sorted(running, key=lambda entry: entry[0]):
            if self.random.random() < 0.9:
                time.sleep(max(0, kill_time - time.monotonic()))
                process.send_signal(signal.SIGKILL)
            status, errors = finish(process)
            if status == 0:
                self.acknowledged.add(name)
            elif status == -signal.SIGKILL:
                self.killed += 1
            else:
                faults.append(f"a writer failed with status {status}: {errors}")
        return faults + self.check()

    def check(self):
        users, faults = self.files.added()
        for name in sorted(self.acknowledged - users.keys()):
            faults.append(f"{name} was acknowledged but is missing")
        for name, groups in users.items():
            if name not in self.expected:
                faults.append(f"{name} was not added by any writer")
            elif not groups <= self.expected[name] or (name in self.acknowledged and groups != self.expected[name]):
                faults.append(f"{name} is in {sorted(groups)}, expected {sorted(self.expected[name])}")
        self.stored_without_acknowledgement = len(users.keys() - self.acknowledged)
        leftovers = self.files.leftovers()
        self.maximum_leftovers = max(self.maximum_leftovers, len(leftovers))
        if len(leftovers) > 2:
            faults.append(f"too many temporary files: {leftovers}")
        return faults

    def run(self):
        usual_time = self.usual_time()
        for number in range(self.options.rounds):
            faults = self.round(usual_time)
            if faults:
                return usual_time, [f"round {number + 1}: {fault}" for fault in faults]
        name, groups = self.next_user()
        status, errors = finish(start_writer(self.options, self.files, name, groups))
        faults = [] if status == 0 else [f"a writer after the last round fails: {errors}"]
        faults += [f"temporary file left over: {name}" for name in self.files.leftovers()]
        return usual_time, faults + self.check()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--add", required=True, help="the command that adds one user")
    parser.add_argument("--form", choices=["glassfish", "htpasswd"], default="glassfish")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--size", type=int, default=200, help="the number of users at the start")
    parser.add_argument("--conf", help="a template that is written to {conf} before the first round")
    parser.add_argument("--input", help="a line for the standard input of the command")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="durability-") as folder:
        files = Files(folder, options.form, options.size)
        if options.conf:
            with open(options.conf, encoding="utf-8") as template:
                Files.write(files.conf, files.fill(template.read()).encode())
        trial = Trial(options, files)
        usual_time, faults = trial.run()
    for fault in faults:
        print(f"FAILED {fault}")
    print(
        f"{options.form}: {trial.killed} of {trial.count} writers killed (seed {options.seed}), each within "
        f"{2.2 * usual_time * 1000:.0f} ms; {len(trial.acknowledged)} users acknowledged, none missing; "
        f"{trial.stored_without_acknowledgement} stored without acknowledgement; "
        f"at most {trial.maximum_leftovers} temporary files at the same time"
        if not faults
        else f"{options.form}: failed with seed {options.seed}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
