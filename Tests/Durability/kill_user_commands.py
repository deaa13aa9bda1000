#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `gatehouse user` and the server at random times while users are changed, and checks the users.

    kill_user_commands.py PROGRAM [--kills 200] [--seed N]

PROGRAM is the gatehouse program under test. In each round three commands at the same time change a store realm and a file realm: add,
set-password, groups, remove. Most of them are killed with SIGKILL after a random part of the usual time. In one of three rounds the
server is killed too, and started again. The test ends when --kills commands have been killed. After each round it checks for both
realms that

  - `gatehouse user list` can read the users, and so can a reader of this script (it also runs SQLite's integrity check);
  - every acknowledged change (status 0) is stored: the user has the groups, the server accepts the password that was set, rejects
    the previous password, and rejects removed users;
  - a killed change is stored completely or not at all;
  - a command that was not killed has status 0.

The status is 0 if all checks succeed; otherwise it is 1, and the failures are printed.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import Folder, Server, bound, sign_in  # noqa: E402

CONFIGURATION = """
default-realm people;
login storeRealm { StoreLoginModule required; }
login fileRealm { FileLoginModule required; }
realm people { class StoreRealm; rehash false; }
realm filed { class FileRealm; file users; format glassfish; }
passwords { hash argon2id memory=1MiB passes=1; minimum-length 4; }
server {
    listen 127.0.0.1:0; state var; access-log off; credential-cache 0s;
    throttle { delay 0s; failures 0; source-failures 0; }
}
protect /people { realm people; auth basic; require any; }
protect /filed { realm filed; auth basic; require any; }
"""

REALMS = ("people", "filed")
NAMES = [f"user{number}" for number in range(8)]
GROUPS = ["red", "green", "blue"]
WRITERS = 3
# A running server reads a change within a second (docs/operations.md). This is longer, for a busy machine.
RELOAD_TIME = 3


@dataclass(frozen=True)
class State:
    """The password and groups of a user. The password is None if the user does not exist."""
    password: str = None
    groups: frozenset = frozenset()


ABSENT = State()


@dataclass
class Command:
    realm: str
    name: str
    words: list
    stdin: str
    before: State
    after: State
    process: subprocess.Popen = None
    status: int = None
    errors: str = ""
    kill_time: float = 0
    is_killed: bool = field(default=False)


class Trial:
    def __init__(self, folder, options):
        self.folder, self.random = folder, random.Random(options.seed)
        self.kills, self.wanted_kills, self.server_kills = 0, options.kills, 0
        self.rounds = self.acknowledged = self.completed_despite_kill = self.sign_ins = self.passwords = 0
        self.known = {(realm, name): ABSENT for realm in REALMS for name in NAMES}
        self.faults = []
        self.usual_time = 0.1

    def fault(self, text):
        self.faults.append(f"round {self.rounds}: {text}")

    # The commands

    def command(self, realm, name):
        before = self.known[realm, name]
        self.passwords += 1
        password = f"word-{self.passwords}"
        what = "add" if before == ABSENT else self.random.choice(["set-password", "groups", "groups", "remove"])
        words, stdin = ["user", what, name, "--realm", realm], ""
        if what == "add":
            groups = frozenset(self.random.sample(GROUPS, self.random.randint(0, 3)))
            words += ["--password-stdin"] + [word for group in sorted(groups) for word in ("--group", group)]
            stdin, after = password + "\n", State(password, groups)
        elif what == "set-password":
            words, stdin, after = words + ["--password-stdin"], password + "\n", State(password, before.groups)
        elif what == "groups":
            # Several groups are changed at once, so that an incomplete change is detected.
            leave = frozenset(group for group in before.groups if self.random.random() < 0.5)
            join = frozenset(GROUPS) - before.groups
            words += [word for group in sorted(leave) for word in ("--remove", group)]
            words += [word for group in sorted(join) for word in ("--add", group)]
            if not leave and not join:
                leave = before.groups
                words += [word for group in sorted(leave) for word in ("--remove", group)]
            after = State(before.password, before.groups - leave | join)
        else:
            after = ABSENT
        return Command(realm, name, words, stdin, before, after)

    def start(self, command):
        command.process = subprocess.Popen(
            self.folder.command(*command.words), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, preexec_fn=bound())
        try:
            command.process.stdin.write(command.stdin.encode())
            command.process.stdin.close()
        except BrokenPipeError:
            pass

    def round(self, server):
        """Runs three commands at the same time. Kills most of them, and sometimes the server."""
        self.rounds += 1
        targets = self.random.sample(sorted(self.known), WRITERS)
        commands = [self.command(realm, name) for realm, name in targets]
        start_time = time.monotonic()
        for command in commands:
            self.start(command)
            command.is_killed = self.random.random() < 0.8
            # Half of the commands are killed near the end, when they write most.
            part = self.random.choice([self.random.uniform(0, 1.4), self.random.gauss(1, 0.2)])
            command.kill_time = start_time + max(0, part) * self.usual_time
        kill_at = start_time + self.random.uniform(0, 1.4 * self.usual_time) if self.random.random() < 1 / 3 else None
        running = list(commands)
        is_server_killed = False
        while running or (kill_at and not is_server_killed):
            now = time.monotonic()
            if kill_at and not is_server_killed and now >= kill_at:
                server.kill()
                is_server_killed = True
                self.server_kills += 1
            for command in list(running):
                command.status = command.process.poll()
                if command.status is not None:
                    running.remove(command)
                    if command.status == 0:
                        self.usual_time += 0.05 * (now - start_time - self.usual_time)
                elif command.is_killed and now >= command.kill_time:
                    command.process.send_signal(signal.SIGKILL)
            time.sleep(0.001)
        for command in commands:
            command.errors = command.process.stderr.read().decode("utf-8", "replace").strip()
            command.process.stderr.close()
        return commands, kill_at is not None

    # The checks

    def check(self, commands, server):
        seen = {}
        for realm in REALMS:
            listed = self.list(realm)
            raw = self.store() if realm == "people" else self.file()
            if listed is None or raw is None:
                return
            if listed != raw:
                self.fault(f"{realm}: `user list` returns {listed}, the file contains {raw}")
            for name in listed.keys() - set(NAMES):
                self.fault(f"{realm}: {name} was not added by any command")
            for name in NAMES:
                seen[realm, name] = listed.get(name)
        touched = {(command.realm, command.name): command for command in commands}
        for key, groups in seen.items():
            command = touched.get(key)
            allowed = [self.known[key]]
            if command:
                allowed = self.allowed(command)
            # First the groups are compared. settle() then checks the password by a login.
            allowed = [state for state in allowed if (None if state == ABSENT else state.groups) == groups]
            if not allowed:
                self.fault(f"{key}: the groups are {groups}, the user was {self.known[key]},"
                           f" the command {command.words if command else '-'}"
                           f" status {command.status if command else '-'}")
                continue
            if command or self.random.random() < 0.05:
                self.settle(key, allowed, server)

    def allowed(self, command):
        """Returns the allowed states of the user after a command."""
        if command.status == 0:
            self.acknowledged += 1
            return [command.after]
        if command.status == -signal.SIGKILL:
            self.kills += 1
            return [command.before, command.after]
        self.fault(f"{' '.join(command.words)}: status {command.status}: {command.errors}")
        return [command.before, command.after]

    def settle(self, key, allowed, server):
        """Finds the state of the user by logins at the server. It must be one of the allowed states."""
        realm, name = key
        until = time.monotonic() + RELOAD_TIME
        while True:
            for state in allowed:
                if state == ABSENT:
                    # The previous password must be rejected.
                    password = next((other.password for other in (self.known[key], *allowed) if other.password), "word")
                    status = self.sign_in(server, realm, name, password)
                    is_expected = status == 401
                else:
                    status = self.sign_in(server, realm, name, state.password)
                    is_expected = status == 200
                if is_expected:
                    old = self.known[key]
                    if old.password and old.password != state.password and state != ABSENT:
                        other = self.sign_in(server, realm, name, old.password)
                        if other != 401 and time.monotonic() < until:
                            break
                        if other != 401:
                            self.fault(f"{key}: status {other} for the previous password, not 401")
                    if len(allowed) > 1 and state == allowed[1]:
                        self.completed_despite_kill += 1
                    self.known[key] = state
                    return
            if time.monotonic() > until:
                self.fault(f"{key}: the last login has status {status}, and the user has none of the states {allowed}")
                return
            time.sleep(0.1)

    def sign_in(self, server, realm, name, password):
        self.sign_ins += 1
        return sign_in(server.port, name, password, path=f"/{realm}")[0]

    def list(self, realm):
        status, output = self.folder.run("user", "list", "--json", "--realm", realm)
        start = output.find("[")
        if status != 0 or start < 0:
            return self.fault(f"{realm}: `user list` ends with {status}: {output}")
        users = json.JSONDecoder().raw_decode(output[start:])[0]
        return {user["user"]: frozenset(user["groups"]) for user in users}

    def store(self):
        try:
            base = sqlite3.connect(f"file:{self.folder.path}/var/gatehouse.sqlite?mode=ro", uri=True, timeout=10)
            users = {name: set() for name, in base.execute("SELECT name FROM users WHERE realm = 'people'")}
            for name, group in base.execute('SELECT name, "group" FROM user_groups WHERE realm = \'people\''):
                users[name].add(group)
            whole = base.execute("PRAGMA integrity_check").fetchall() + base.execute("PRAGMA foreign_key_check").fetchall()
            base.close()
        except (sqlite3.Error, KeyError) as error:
            return self.fault(f"people: the store cannot be read: {error!r}")
        if whole != [("ok",)]:
            return self.fault(f"people: the integrity check of the store fails: {whole}")
        return {name: frozenset(groups) for name, groups in users.items()}

    def file(self):
        with open(os.path.join(self.folder.path, "users")) as file:
            text = file.read()
        users = {}
        if text and not text.endswith("\n"):
            return self.fault("filed: the last line has no line end")
        for line in text.splitlines():
            fields = line.split(";")
            if len(fields) != 3 or not fields[1].startswith("$argon2id$") or fields[0] in users:
                return self.fault(f"filed: a line is malformed, or its user is on two lines: {line!r}")
            users[fields[0]] = frozenset(filter(None, fields[2].split(",")))
        return users

    # The run

    def measure_usual(self):
        times = []
        for number in range(5):
            start_time = time.monotonic()
            self.folder.add(f"user{number}", "word-0", "--realm", "people")
            times.append(time.monotonic() - start_time)
            self.known["people", f"user{number}"] = State("word-0")
        self.usual_time = sorted(times)[2]

    def run(self):
        self.measure_usual()
        first = self.usual_time
        server = Server(self.folder)
        try:
            while self.kills < self.wanted_kills and not self.faults:
                commands, was_killed = self.round(server)
                if was_killed:
                    server = Server(self.folder)
                self.check(commands, server)
                if server.process.poll() is not None:
                    self.fault(f"the server has exited: {server.log}")
                if self.rounds % 50 == 0:
                    print(f"    {self.rounds} rounds, {self.kills} commands killed", flush=True)
            for key in sorted(self.known):
                if not self.faults:
                    self.settle(key, [self.known[key]], server)
        finally:
            server.kill()
        left = [name for name in os.listdir(self.folder.path) if ".new-" in name]
        if len(left) > 2:
            self.fault(f"too many temporary files: {left}")
        print(f"{self.rounds} rounds of {WRITERS} commands, {first * 1000:.0f} to {self.usual_time * 1000:.0f} ms each:"
              f" {self.kills} killed, {self.completed_despite_kill} of them had stored their change; {self.acknowledged} acknowledged;"
              f" server killed {self.server_kills} times; {self.sign_ins} logins; {len(left)} temporary files left", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with Folder(options.program, CONFIGURATION, "durability") as folder:
        with open(os.path.join(folder.path, "users"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)):
            pass
        trial = Trial(folder, options)
        trial.run()
    for fault in trial.faults:
        print(f"FAILED {fault}")
    print(f"durability of users: {'failed' if trial.faults else 'passed'}, seed {options.seed}")
    sys.exit(bool(trial.faults))


if __name__ == "__main__":
    main()
