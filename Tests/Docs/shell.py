# SPDX-License-Identifier: Apache-2.0
"""A shell on a terminal of its own, which runs the commands of a page and answers their prompts."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

LOOP = r"""
while IFS= read -r -d '' -u 199 command; do
    eval "$command"
    printf '%d\n' "$?" >&198
done
"""


class Shell:
    """Runs commands one after the other. Folder, variables and background processes remain from one to the next."""

    def __init__(self, folder, environment):
        self.terminal, inner = os.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
        command_end, self.commands = os.pipe()
        self.statuses, status_end = os.pipe()

        def attach():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            # Far from the descriptors that Popen itself uses.
            ends = [os.dup(command_end), os.dup(status_end)]
            os.dup2(ends[0], 199)
            os.dup2(ends[1], 198)

        self.process = subprocess.Popen(["bash", "--noprofile", "--norc", "-c", LOOP], stdin=inner, stdout=inner, stderr=inner,
                                        cwd=folder, env=environment, preexec_fn=attach, close_fds=False)
        for descriptor in (inner, command_end, status_end):
            os.close(descriptor)
        self.rest = b""

    def _read(self, wait):
        """What the terminal shows within a time, and the status if the command has ended."""
        output, status = b"", None
        ready, _, _ = select.select([self.terminal, self.statuses], [], [], wait)
        if self.terminal in ready:
            try:
                output = os.read(self.terminal, 65536)
            except OSError:
                status = -1
        elif self.statuses in ready:
            data = os.read(self.statuses, 64)
            status = int(data.split()[-1]) if data.split() else -1
        return output, status

    def start(self, command):
        os.write(self.commands, command.encode() + b"\0")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def run(self, command, shown="", password="", seconds=120):
        """Runs a command. Returns its output, and its status; the status is None if it did not end in time.

        If the command waits at the end of an unfinished line, the line of the page that begins with it has the answer. If that line has
        no answer, the command gets the password.
        """
        self.start(command)
        output, status = b"", None
        lines = shown.split("\n")
        answered = {}
        deadline = time.monotonic() + seconds
        last = time.monotonic()
        while status is None and time.monotonic() < deadline:
            data, status = self._read(0.15)
            output += data
            if data or status is not None:
                last = time.monotonic()
                continue
            text = output.decode(errors="replace").replace("\r\n", "\n")
            prompt = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.rpartition("\n")[2])
            at = text.count("\n")
            if not prompt or answered.get(at) == prompt:
                continue
            line = next((line for line in lines[at:] + lines if line.rstrip() and
                         (line.startswith(prompt) or line.rstrip() == prompt.rstrip())), None)
            if line is None and time.monotonic() - last > 20:
                # A prompt that the page does not show.
                break
            if line is None and not re.search(r"(?i)(pass\w*.*|once more): ?$", prompt):
                continue
            answer = line[len(prompt):].strip() if line else ""
            self.send((answer or ("" if line and re.search(r"[\]?)] ?$", prompt) else password)) + "\n")
            answered[at] = prompt
        while status is not None:
            data, _ = self._read(0.02)
            if not data:
                break
            output += data
        return output.decode(errors="replace").replace("\r\n", "\n"), status

    def listen(self, seconds, until):
        """What the terminal shows until a text, the end of the command, or a time; and whether the command still runs."""
        output, status = b"", None
        deadline = time.monotonic() + seconds
        while status is None and time.monotonic() < deadline:
            data, status = self._read(0.1)
            output += data
            if until in output and not data:
                break
        return output.decode(errors="replace").replace("\r\n", "\n"), status

    def interrupt(self):
        """Ctrl-C."""
        os.write(self.terminal, b"\x03")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            _, status = self._read(0.1)
            if status is not None:
                return status
        return None

    def close(self):
        for descriptor in (self.commands, self.statuses, self.terminal):
            try:
                os.close(descriptor)
            except OSError:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def commands(text):
    """The commands of a script, each with the number of its first line from 0."""
    found = []
    part, start = [], 0
    for number, line in enumerate(text.split("\n")):
        if not part and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if not part:
            start = number
        part.append(line)
        source = "\n".join(part)
        if line.endswith("\\"):
            continue
        parsed = subprocess.run(["bash", "-n", "-c", source], capture_output=True, text=True)
        if parsed.returncode == 0 and not parsed.stderr:
            found.append((start, source))
            part = []
    if part:
        found.append((start, "\n".join(part)))
    return found


def session(text):
    """The commands of a session, after `$ ` or `# `, with the lines printed below them: (line from 0, command, shown)."""
    found = []
    lines = text.split("\n")[:-1]
    number = 0
    while number < len(lines):
        if not lines[number].startswith("$ "):
            if not found:
                raise ValueError("a session begins with a command: `$ COMMAND`")
            found[-1][2].append(lines[number])
            number += 1
            continue
        start, command = number, lines[number][2:]
        number += 1
        while number < len(lines) and (command.endswith("\\") or lines[number].startswith("> ")):
            command += "\n" + lines[number].removeprefix("> ")
            number += 1
        found.append((start, command, []))
    return [(start, command, "\n".join(shown)) for start, command, shown in found]
