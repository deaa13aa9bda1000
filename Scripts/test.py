#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the tests and runs them in several processes beside each other.

    test.py [--filter PATTERN] [--lanes NUMBER] [--no-rerun] [--runs NUMBER]

Most tests wait for programs, servers and time limits, so several processes share the processors, each with one test at a time and a temporary
folder of its own. Tests that compare costs measure processor time, so the other processes do not disturb them.

A pattern is a regular expression for names such as `RealmKitTests.StackTests/`. Up to three failed tests run again, each five times. If all
of these runs pass, the tests are unsteady: they are listed, and the status is 0 (decision 0045). --no-rerun switches this off. With --runs all
tests run several times, every second time beside a program that keeps a processor busy, and the tests that ever failed are listed.

The log of each process is in .build/test-logs. The status is 0 if all tests have passed, 1 if one has failed, 2 if the build has.
"""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.path.join(ROOT, "Scripts/build.sh")
LOGS = os.path.join(ROOT, ".build/test-logs")
# The jobs that take longest, in the order in which they begin, so that no lane works alone at the end: the name of a job and the pattern of its
# suites. Without a name, each suite is a job. All other suites of a target are one job.
JOBS = [
    ("Samba", r"\.(Samba|ActiveDirectory)"),  # One process makes the domain once, which takes seconds.
    (None, r"EndToEndTests\.(Certificate|Metrics|RunningStore|WebSession|UserNames)Tests"),
    (None, r"(RealmSQL|RealmExec|RealmPAM|RealmLDAP)Tests\."),
    (None, r"RealmKitTests\.RealmBackEndConformanceTests"),
    (None, r"EndToEndTests\."),
]
LANES = 4
# A process that takes longer is stopped. The longest suite takes less than a minute.
PROCESS_LIMIT = 600
RERUN_LIMIT = 3


class Job:
    """A process with some of the tests, and what it has reported."""

    def __init__(self, name, pattern, count=1):
        self.name = name
        self.pattern = pattern
        # The number of its tests.
        self.count = count
        self.seconds = 0
        self.processor_time = 0
        self.status = None
        self.durations = {}
        self.skipped = set()
        self.unfinished = set()
        # The text of each failed test, by its name.
        self.failures = collections.OrderedDict()

    def run(self, bundle, folder):
        """Runs the tests. `folder` is a temporary folder of their own."""
        events = os.path.join(folder, "events")
        temporary = os.path.join(folder, "t")
        os.mkdir(temporary)
        os.chmod(temporary, 0o755)
        log_path = os.path.join(LOGS, re.sub(r"[^A-Za-z0-9.-]", "_", self.name)[:100] + ".log")
        command = [bundle, "--testing-library", "swift-testing", "--no-parallel", "--filter", self.pattern,
                   "--event-stream-output-path", events, "--event-stream-version", "0"]
        begin = time.monotonic()
        with open(log_path, "wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                       env=dict(os.environ, TMPDIR=temporary))
            timer = threading.Timer(PROCESS_LIMIT, os.killpg, [process.pid, signal.SIGKILL])
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
        process.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - begin
        self.processor_time = usage.ru_utime + usage.ru_stime
        if os.path.exists(events):
            self.read(events)
        ended = len(self.durations) + len(self.skipped)
        if self.unfinished or ended != self.count or self.status not in (0, 1) or self.status == 1 and not self.failures:
            with open(log_path, encoding="utf-8", errors="replace") as log:
                tail = "".join(log.readlines()[-20:])
            text = f"the process has ended with status {self.status} after {self.seconds:.0f} s and {ended} of {self.count} tests:\n{tail}"
            for name in sorted(self.unfinished) or [self.name]:
                self.failures.setdefault(name, []).append(text)
        shutil.rmtree(folder, ignore_errors=True)

    def read(self, events):
        functions, begun = set(), {}
        with open(events, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # The last line of a process that has crashed.
                payload = record["payload"]
                if record["kind"] == "test":
                    if payload["kind"] == "function":
                        functions.add(payload["id"])
                    continue
                kind, test = payload["kind"], payload.get("testID")
                instant = payload["instant"]["absolute"]
                if kind == "issueRecorded" and not payload["issue"]["isKnown"]:
                    texts = [message["text"] for message in payload["messages"]]
                    self.failures.setdefault(test or self.name, []).append("\n".join(texts))
                elif test in functions and kind == "testStarted":
                    begun[test] = instant
                elif test in functions and kind == "testEnded":
                    self.durations[test] = instant - begun.pop(test, instant)
                elif test in functions and kind == "testSkipped":
                    self.skipped.add(test)
        self.unfinished = set(begun)


def jobs_of(bundle, pattern):
    """Returns the jobs in the order in which they begin."""
    listed = subprocess.run([bundle, "--testing-library", "swift-testing", "--list-tests"], capture_output=True, text=True, check=True)
    names, counts, places = collections.defaultdict(list), collections.Counter(), {}
    for test in listed.stdout.splitlines():
        if pattern and not re.search(pattern, test):
            continue
        suite = test.partition("/")[0]
        for place, (name, suites) in enumerate(JOBS):
            if re.search(suites, suite):
                name = name or suite
                break
        else:
            name, place = suite.partition(".")[0], len(JOBS)
        names[name].append(test if pattern else suite)
        counts[name] += 1
        places[name] = place
    return [Job(name, filter_of(dict.fromkeys(names[name])), counts[name]) for name in sorted(names, key=places.get)]


def filter_of(names):
    """Returns the pattern for tests, suites or targets."""
    return "^(" + "|".join(re.escape(name) for name in names) + ")(?![A-Za-z0-9_])"


def run_jobs(bundle, jobs, lanes, folder):
    """Runs jobs in order, as many at once as there are lanes."""
    waiting = collections.deque(jobs)

    def work():
        while waiting:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            try:
                own = tempfile.mkdtemp(dir=folder)
                os.chmod(own, 0o755)
                job.run(bundle, own)
            except Exception as error:  # noqa: BLE001 - such as a full disk
                job.failures[job.name] = [f"the process could not be run: {error!r}"]
            mark = "FAILED" if job.failures else "passed"
            print(f"{mark}  {job.seconds:6.1f} s, {job.processor_time:5.1f} s of processor time  {job.name}: {len(job.durations)} tests", flush=True)

    threads = [threading.Thread(target=work) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def temporary_folder():
    """The tests write thousands of small files and have each synced, which takes minutes on a busy disk. They go to memory, if there is a
    gigabyte of it and programs can be run from there."""
    memory = "/dev/shm"
    parent = None
    if "TMPDIR" not in os.environ and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30:
        if not os.statvfs(memory).f_flag & os.ST_NOEXEC:
            parent = memory
    folder = tempfile.mkdtemp(prefix="gatehouse.", dir=parent)
    os.chmod(folder, 0o755)  # Some tests run programs as another user.
    return folder


def main():
    parser = argparse.ArgumentParser(description="Builds the tests and runs them.")
    parser.add_argument("--filter", metavar="PATTERN")
    parser.add_argument("--lanes", metavar="NUMBER", type=int, default=LANES)
    parser.add_argument("--no-rerun", action="store_true")
    parser.add_argument("--runs", metavar="NUMBER", type=int)
    options = parser.parse_args()

    if subprocess.run([BUILD, "--build-tests"], cwd=ROOT).returncode != 0:
        return 2
    path = subprocess.run([BUILD, "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    bundle = os.path.join(path, "gatehousePackageTests.xctest")
    folder = temporary_folder()
    try:
        return runs(bundle, folder, options) if options.runs else run(bundle, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def runs(bundle, folder, options):
    """Runs all tests several times, every second time beside a program that keeps a processor busy, and lists those that ever failed."""
    options.no_rerun = True
    failed, table = collections.Counter(), []
    for number in range(1, options.runs + 1):
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if number % 2 == 0 else None
        begin = time.monotonic()
        failures = {}
        try:
            status = run(bundle, folder, options, failures)
        finally:
            if busy:
                busy.kill()
                busy.wait()
        if status != 0 and not failures:
            failures["no test has run"] = []
        failed.update(failures.keys())
        table.append(f"run {number:2}  {time.monotonic() - begin:4.0f} s  {len(failures)} failed{', beside a busy program' if busy else ''}")
        print("\n" + table[-1], flush=True)
    print("\n== All runs\n" + "\n".join(table))
    for test, count in failed.most_common():
        print(f"{count} of {options.runs}  {test}")
    return 1 if failed else 0


def run(bundle, folder, options, failures=None):
    """Runs all tests once. Adds the texts of the failed ones to `failures`."""
    shutil.rmtree(LOGS, ignore_errors=True)
    os.makedirs(LOGS)
    failures = {} if failures is None else failures
    begin = time.monotonic()
    jobs = jobs_of(bundle, options.filter)
    run_jobs(bundle, jobs, options.lanes, folder)
    seconds = time.monotonic() - begin

    durations = {test: duration for job in jobs for test, duration in job.durations.items()}
    skipped = {test for job in jobs for test in job.skipped}
    for job in jobs:
        if job.status is None and not job.failures:
            job.failures[job.name] = ["the process was not started"]
        failures.update(job.failures)
    print("\n== The slowest tests")
    for test in sorted(durations, key=durations.get, reverse=True)[:15]:
        print(f"{durations[test]:6.1f} s  {test}")
    if failures:
        print("\n== Failed tests")
        for test, texts in failures.items():
            print("\n".join([test] + [text[:3000] for text in texts[:10]]))
    processor_time = sum(job.processor_time for job in jobs)
    print(f"\n{seconds:.0f} s in {len(jobs)} processes, {options.lanes} at once; {processor_time:.0f} s of processor time")
    failed = len(failures)
    if failed and not options.no_rerun and failed <= RERUN_LIMIT and all(test in durations for test in failures):
        failed = 0 if pass_again(bundle, failures, folder) else failed
    passed = len(durations) if failed == 0 else len(durations.keys() - failures.keys())
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped", flush=True)
    return 1 if failed or not durations else 0


def pass_again(bundle, failures, folder):
    """Runs failed tests five times, and returns whether all of these runs pass."""
    print("\n== The failed tests once more, five times", flush=True)
    for _ in range(5):
        job = Job("again", filter_of(failures), len(failures))
        run_jobs(bundle, [job], 1, folder)
        if job.failures:
            return False
    print("\n== UNSTEADY: these tests failed once and passed five times. Each is a defect of a test or of the program; find it.")
    for test, texts in failures.items():
        print("\n".join([test] + texts[:10]))
    print()
    return True


if __name__ == "__main__":
    sys.exit(main())
