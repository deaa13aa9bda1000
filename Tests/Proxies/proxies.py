# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Puts real proxies before an application and has them ask Gatehouse who comes in.

    proxies.py GATEHOUSE [--only PROXY] [--scenario WORDS]

GATEHOUSE is the program to try. PROXY is nginx, caddy, haproxy or replay: those that are not installed are skipped, and named. Every
proxy runs the file of docs/forward-auth that people paste. WORDS are words of a scenario's name. Python 3.9 with
requirements.txt (run.sh sees to that), openssl, Linux.

Status: 0, all that could run has passed; 1, something has not; 77, no proxy is installed.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import traceback

import hosts
import pages
import peers
import replay
import scenarios
import targets
import tunnels
import written
from h2c import H2CApplication
from world import NAME, OPEN_HOST, Application, Gatehouse, certificate


class Count:
    def __init__(self, words):
        self.words, self.passed, self.failed = words, 0, 0

    def run(self, scenario, place):
        name = scenario.__name__.replace("_", " ")
        if self.words and self.words not in name:
            return
        try:
            scenario(place)
        except Exception as error:  # noqa: BLE001 - a scenario may fail in any way, and the others go on
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
    """Every proxy twice: before the application that sees every byte, and before the one that speaks h2c."""
    with Gatehouse(options.program) as gatehouse:
        for application, chosen in zip(applications, (tunnels.SCENARIOS, targets.SCENARIOS + hosts.SCENARIOS + scenarios.SCENARIOS)):
            print(f"== {kind.title}, and {application.title}", flush=True)
            made = kind(folder, gatehouse, application, certificate(folder, NAME, OPEN_HOST))
            with made:
                place = scenarios.Place(made, gatehouse, application)
                for scenario in chosen:
                    failed = count.failed
                    count.run(scenario, place)
                    if gatehouse.server is None:
                        gatehouse.start()
                    # One that is gone would keep everybody out too.
                    scenarios.let_in(scenarios.Place(made, gatehouse, application))
                    if count.failed > failed and options.verbose:
                        print(made.log())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", choices=[kind.title for kind in peers.ALL] + ["replay"])
    parser.add_argument("--scenario", default="")
    parser.add_argument("--verbose", action="store_true", help="shows the log of a proxy at which something has failed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    count, skipped = Count(options.scenario), 0
    folder = tempfile.mkdtemp(prefix="gatehouse-proxies-")
    # Workers that have given up root's rights read their files here.
    os.chmod(folder, 0o755)
    try:
        with H2CApplication(folder) as h2c, Application() as application:
            for kind in peers.ALL:
                if options.only not in (None, kind.title):
                    continue
                if kind.missing():
                    skipped += 1
                    print(f"SKIPPED {kind.title}: {kind.missing()}")
                    continue
                run_proxy(kind, options, count, folder, (h2c, application))
            if options.only in (None, "replay"):
                print("== requests of the shapes that all of them send, Traefik and Envoy among them", flush=True)
                with Gatehouse(options.program) as gatehouse:
                    for scenario in written.SCENARIOS + replay.SCENARIOS + pages.SCENARIOS:
                        count.run(scenario, replay.Place(gatehouse))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count.passed} passed, {count.failed} failed, {skipped} proxies skipped")
    if not count.passed + count.failed:
        return 77
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
