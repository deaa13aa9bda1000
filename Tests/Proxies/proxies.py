# SPDX-License-Identifier: Apache-2.0
"""Tests forward authentication: real proxies in front of an application send authorization requests to Gatehouse.

    proxies.py GATEHOUSE [--only PROXY] [--scenario WORDS]

Without --only, the proxies are tested at the same time, each by a process of its own.


GATEHOUSE is the server binary. PROXY is nginx, caddy, haproxy or replay (authorization requests without a proxy). A proxy that is not
installed is skipped, with a message. Every proxy runs its file in docs/forward-auth. WORDS is a part of the name of a scenario, or the name of
the file with the scenario, without .py. Requires Python 3.9 with requirements.txt (run.sh installs it), openssl, curl
and Linux. The walk through the documentation needs root and unshare.

Status: 0 if all tests that ran have passed, 1 if a test has failed, 77 if no test ran.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import authorization_requests
import configuration_files
import hosts_and_fields
import identity_fields
import mistakes
import pages
import proxy_processes
import refusals
import request_targets
import scenarios
import several_applications
import silence
import streams
import upgrades
import walk
from h2c_application import H2CApplication
from streaming_application import StreamingApplication
from proxy_fixture import NAME, OPEN_HOST, SIGN_IN_HOST, WIKI, Application, Gatehouse, bound, certificate

ONLY = [kind.title for kind in proxy_processes.ALL] + ["replay"]


class Count:
    def __init__(self, words):
        self.words, self.passed, self.failed = words, 0, 0

    def run(self, scenario, place):
        name = scenario.__name__.replace("_", " ")
        if self.words and self.words not in name and self.words != scenario.__module__:
            return
        began = time.monotonic()
        try:
            scenario(place)
        except Exception as error:  # noqa: BLE001 - after any failure the next scenario runs
            self.failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        else:
            self.passed += 1
            seconds = time.monotonic() - began
            print(f"ok      {name}" + (f" ({seconds:.0f} s)" if seconds >= 5 else ""), flush=True)
        finally:
            place.close()


def run_proxy(kind, options, count, folder, applications):
    """Runs all scenarios of a proxy, with each of the three applications."""
    with Gatehouse(options.program) as gatehouse:
        targets_and_fields = identity_fields.SCENARIOS + request_targets.SCENARIOS + hosts_and_fields.SCENARIOS + refusals.SCENARIOS \
            + scenarios.SCENARIOS
        for application, chosen in zip(applications, (upgrades.SCENARIOS, streams.SCENARIOS, targets_and_fields)):
            print(f"== {kind.title}, and {application.title}", flush=True)
            made = kind(folder, gatehouse, application, certificate(folder, NAME, OPEN_HOST, WIKI, SIGN_IN_HOST))
            with made:
                place = scenarios.Place(made, gatehouse, application)
                for scenario in chosen:
                    failed = count.failed
                    count.run(scenario, place)
                    if gatehouse.server is None:
                        gatehouse.start()
                    # A proxy or server that has crashed would deny all requests, and the next scenarios would pass.
                    scenarios.expect_user_allowed(scenarios.Place(made, gatehouse, application))
                    if count.failed > failed and options.verbose:
                        print(made.log())


def run_all(options):
    """Runs this program for each proxy and for replay at the same time, and prints their outputs one after the other."""
    words = ["--scenario", options.scenario, *(["--verbose"] if options.verbose else [])]
    processes = {name: subprocess.Popen([sys.executable, "-B", __file__, options.program, "--only", name, *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=bound())
                 for name in ONLY}
    outputs = {}
    threads = [threading.Thread(target=lambda name=name: outputs.update({name: processes[name].communicate()[0]})) for name in processes]
    for thread in threads:
        thread.start()
    total = [0, 0, 0]
    for name, thread in zip(processes, threads):
        thread.join()
        lines = outputs[name].splitlines()
        numbers = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) proxies skipped", lines[-1] if lines else "")
        print("\n".join(lines[:-1] if numbers else [*lines, f"FAILED  {name} has ended with status {processes[name].returncode}"]), flush=True)
        total = [sum(pair) for pair in zip(total, map(int, numbers.groups()) if numbers else (0, 1, 0))]
    return total


def status_of(passed, failed):
    if not passed + failed:
        return 77
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", choices=ONLY)
    parser.add_argument("--scenario", default="")
    parser.add_argument("--verbose", action="store_true", help="print the log of a proxy after a failure")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.only is None:
        passed, failed, skipped = run_all(options)
        print(f"{passed} passed, {failed} failed, {skipped} proxies skipped")
        return status_of(passed, failed)
    count, skipped = Count(options.scenario), 0
    folder = tempfile.mkdtemp(prefix="gatehouse-proxies-")
    # Worker processes of proxies run as another user and read their files here.
    os.chmod(folder, 0o755)
    try:
        with H2CApplication(folder) as h2c, StreamingApplication() as streaming, Application() as application:
            for kind in proxy_processes.ALL:
                if options.only != kind.title:
                    continue
                if kind.missing():
                    skipped += 1
                    print(f"SKIPPED {kind.title}: {kind.missing()}")
                    continue
                waiting = silence.Silence(kind, options.program, folder) if not options.scenario or options.scenario == "silence" else None
                run_proxy(kind, options, count, folder, (h2c, streaming, application))
                several_applications.run(kind, options.program, count, folder)
                identity_fields.run(kind, options.program, count, folder)
                mistakes.run(kind, options.program, count, folder)
                walk.run(kind, options.program, count, folder)
                if waiting:
                    count.run(waiting.scenario(), waiting)
            if options.only == "replay":
                print("== authorization requests as each proxy sends them, including Traefik and Envoy", flush=True)
                with Gatehouse(options.program) as gatehouse:
                    for scenario in configuration_files.SCENARIOS + authorization_requests.SCENARIOS + pages.SCENARIOS:
                        count.run(scenario, authorization_requests.Place(gatehouse))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count.passed} passed, {count.failed} failed, {skipped} proxies skipped")
    return status_of(count.passed, count.failed)


if __name__ == "__main__":
    sys.exit(main())
