# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Has a real browser sign in: what a person meets, what an attacker's page can do, what the pages look like.

    browser.py GATEHOUSE --chromium PROGRAM --screenshots FOLDER [--only WORDS]

Started by run.sh, which sees to Playwright.
"""

import argparse
import os
import signal
import sys
import traceback

from playwright.sync_api import sync_playwright

import attacks
import leaving
import looks
import proxied
import signing_in
from place import SCENARIOS, Place

# In this order: those that wait for a session to run out are last.
MODULES = [module.__name__ for module in (signing_in, attacks, looks, proxied, leaving)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--screenshots", required=True)
    parser.add_argument("--only", default="", help="words of the name of a scenario")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    passed = failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP app.example.com 127.0.0.1"],
            # Playwright turns it off; people have it, and it is what shows pages after a sign-out.
            ignore_default_args=["--disable-back-forward-cache"])
        with Place(options.program, browser, options.screenshots) as place:
            print(f"Chromium {browser.version}; {place.origin}", flush=True)
            for scenario in sorted(SCENARIOS, key=lambda one: MODULES.index(one.__module__)):
                name = scenario.__name__.replace("_", " ")
                if options.only not in name:
                    continue
                try:
                    scenario(place)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - a scenario may fail in any way, and the others go on
                    failed += 1
                    print(f"FAILED  {name}: {error}", flush=True)
                    if not isinstance(error, AssertionError):
                        traceback.print_exc()
                    place.picture_of_failure(scenario.__name__)
                else:
                    passed += 1
                    print(f"ok      {name}", flush=True)
                finally:
                    place.close_contexts()
        browser.close()
    print(f"{passed} passed, {failed} failed; screenshots in {options.screenshots}")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
