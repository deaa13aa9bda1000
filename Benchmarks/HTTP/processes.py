# SPDX-License-Identifier: Apache-2.0
"""Starts processes on a core, measures them with all their children, and ends them."""

import ctypes
import os
import signal
import subprocess
import time

_TICKS = os.sysconf("SC_CLK_TCK")
_SET_PARENT_DEATH_SIGNAL = 1
_libc = ctypes.CDLL(None, use_errno=True)


def pinned(core):
    """Returns a preexec_fn: the child process stays on a core, and is killed when the driver ends."""

    def prepare():
        os.sched_setaffinity(0, {core})
        # SIGKILL, because a stopped process does not handle other signals.
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    return prepare


class Service:
    """A server that runs in the foreground, and the processes that it starts."""

    def __init__(self, command, core, log, environment=None):
        # The log stays open, because servers behave differently without one. The process group is used to end all processes.
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
        """The process and all its running descendants."""
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
        """The user and system time of all threads and processes in seconds, including those that have ended."""
        total = 0
        for pid in self.pids():
            fields = _stat(pid)
            if fields is not None:
                # utime, stime, cutime and cstime: fields 14 to 17 of proc(5).
                total += sum(int(value) for value in fields[11:15])
        return total / _TICKS

    def memory(self):
        """The memory of all processes in bytes, (PSS, RSS). PSS counts a shared page once."""
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
        # Does not reap the process. So its id, which is also the id of its group, cannot be reused.
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def pause(self):
        """Stops the server, so that it does not use the core while another server is measured."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def end(self):
        """Ends the server and all its processes, by SIGTERM and then by SIGKILL. May be called once."""
        self.resume()
        self._signal(signal.SIGTERM)
        wait_until(lambda: not self.alive(), 5)
        # Workers that still run without their parent are in its group.
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def _stat(pid):
    """The fields of /proc/PID/stat from the third on, after the name, which may contain blanks. None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def wait_until(condition, seconds, interval=0.05):
    """Waits for a condition. Returns whether it became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(interval)
    return condition()
