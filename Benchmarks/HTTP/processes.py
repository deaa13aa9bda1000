# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Processes: started on a core, measured with all their children, and ended again; those of ours and no others."""

import ctypes
import os
import signal
import subprocess
import time

_TICKS = os.sysconf("SC_CLK_TCK")
_SET_PARENT_DEATH_SIGNAL = 1
_libc = ctypes.CDLL(None, use_errno=True)


def pinned(core):
    """What a child does before it becomes its program: goes to its core, and ends when the driver ends."""

    def prepare():
        os.sched_setaffinity(0, {core})
        # One that sleeps would not hear a politer signal.
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    return prepare


class Service:
    """A server that runs in the foreground, with whatever processes it starts itself."""

    def __init__(self, command, core, log, environment=None):
        # A closed log would change what the server does; its own process group is how all of it can be ended.
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
                preexec_fn=pinned(core),
            )
        self.log = log

    def pids(self):
        """The process and all its descendants that live."""
        children = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                fields = _stat(name)
                if fields is not None:
                    children.setdefault(int(fields[1]), []).append(int(name))
        found, left = [], [self.process.pid]
        while left:
            pid = left.pop()
            found.append(pid)
            left.extend(children.get(pid, []))
        return found

    def cpu(self):
        """Seconds of user and system time of all threads and processes, those that have ended included."""
        total = 0
        for pid in self.pids():
            fields = _stat(pid)
            if fields is not None:
                # utime, stime, and those of children that were waited for: proc(5), fields 14 to 17.
                total += sum(int(value) for value in fields[11:15])
        return total / _TICKS

    def memory(self):
        """Bytes in memory, (PSS, RSS), of all processes. A page that several share counts once in PSS."""
        pss = rss = 0
        for pid in self.pids():
            try:
                with open(f"/proc/{pid}/smaps_rollup") as lines:
                    for line in lines:
                        if line.startswith("Pss:"):
                            pss += int(line.split()[1]) * 1024
                        elif line.startswith("Rss:"):
                            rss += int(line.split()[1]) * 1024
            except (FileNotFoundError, ProcessLookupError):
                continue
        return pss, rss

    def alive(self):
        # Looks without reaping: as long as it is not waited for, nobody else can get its id, which is its group's too.
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def pause(self):
        """Keeps it from using the core while another is measured."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def end(self):
        """Ends it with all it has started: politely, then not. Once only."""
        self.resume()
        self._signal(signal.SIGTERM)
        wait_until(lambda: not self.alive(), 5)
        # Workers that have outlived their parent are still in its group.
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def _stat(pid):
    """The fields of /proc/PID/stat from the third on: the name before may hold blanks. None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def wait_until(condition, seconds, interval=0.05):
    """Whether the condition came to hold in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(interval)
    return condition()
