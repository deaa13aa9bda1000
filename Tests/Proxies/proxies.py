# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Tests forward authentication: real proxies in front of an application send authorization requests to Gatehouse.

    proxies.py GATEHOUSE [--only PROXY] [--scenario WORDS]

GATEHOUSE is the server binary. PROXY is nginx, caddy, haproxy or replay (authorization requests without a proxy). A proxy that is not
installed is skipped, with a message. Every proxy runs its file in docs/forward-auth. WORDS is a part of the name of a scenario. Requires
Python 3.9 with requirements.txt (run.sh installs it), openssl and Linux.

Status: 0 if all tests that ran have passed, 1 if a test has failed, 77 if no test ran.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import traceback

import authorization_requests
import configuration_files
import hosts_and_fields
import pages
import proxy_processes
import refusals
import request_targets
import scenarios
import several_applications
import upgrades
from h2c_application import H2CApplication
from proxy_fixture import NAME, OPEN_HOST, SIGN_IN_HOST, WIKI, Application, Gatehouse, certificate


class Count:
    def __init__(self, words):
        self.words, self.passed, self.failed = words, 0, 0

    def run(self, scenario, place):
        name = scenario.__name__.replace("_", " ")
        if self.words and self.words not in name:
            return
        try:
            scenario(place)
        except Exception as error:  # noqa: BLE001 - after any failure the next scenario runs
            self.failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        else:
            self.passed += 1
            print(f"ok      {name}", flush=True)
        finally:
            place.close()


def run_proxy(kind, options, count, folder, applications):
    """Runs all scenarios of a proxy, with each of the two applications."""
    with Gatehouse(options.program) as gatehouse:
        targets_and_fields = request_targets.SCENARIOS + hosts_and_fields.SCENARIOS + refusals.SCENARIOS \
            + scenarios.SCENARIOS
        for application, chosen in zip(applications, (upgrades.SCENARIOS, targets_and_fields)):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", choices=[kind.title for kind in proxy_processes.ALL] + ["replay"])
    parser.add_argument("--scenario", default="")
    parser.add_argument("--verbose", action="store_true", help="print the log of a proxy after a failure")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    count, skipped = Count(options.scenario), 0
    folder = tempfile.mkdtemp(prefix="gatehouse-proxies-")
    # Worker processes of proxies run as another user and read their files here.
    os.chmod(folder, 0o755)
    try:
        with H2CApplication(folder) as h2c, Application() as application:
            for kind in proxy_processes.ALL:
                if options.only not in (None, kind.title):
                    continue
                if kind.missing():
                    skipped += 1
                    print(f"SKIPPED {kind.title}: {kind.missing()}")
                    continue
                run_proxy(kind, options, count, folder, (h2c, application))
                several_applications.run(kind, options.program, count, folder)
            if options.only in (None, "replay"):
                print("== authorization requests as each proxy sends them, including Traefik and Envoy", flush=True)
                with Gatehouse(options.program) as gatehouse:
                    for scenario in configuration_files.SCENARIOS + authorization_requests.SCENARIOS + pages.SCENARIOS:
                        count.run(scenario, authorization_requests.Place(gatehouse))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count.passed} passed, {count.failed} failed, {skipped} proxies skipped")
    if not count.passed + count.failed:
        return 77
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
