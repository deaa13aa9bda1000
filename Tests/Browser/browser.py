# SPDX-License-Identifier: Apache-2.0
"""Tests the pages with a real browser: signing in and out, attacks by other sites, accessibility.

    browser.py GATEHOUSE --chromium PROGRAM --screenshots FOLDER [--only WORDS]

run.sh installs Playwright and starts this program.
"""

import argparse
import os
import signal
import sys
import traceback

from playwright.sync_api import sync_playwright

import cross_site_requests
import signing_out
import accessibility
import behind_proxies
import form_script
import one_sign_in
import signing_in
from browser_fixture import SCENARIOS, Place

# In this order: the scenarios that wait for a session to expire are last.
MODULES = [module.__name__ for module in (signing_in, form_script, cross_site_requests, accessibility, behind_proxies, one_sign_in, signing_out)]


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
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", "--host-resolver-rules=MAP *.example.com 127.0.0.1, MAP *.example.net 127.0.0.1"],
            # Playwright turns the back-forward cache off. Users have it, and it can show pages after a sign-out.
            ignore_default_args=["--disable-back-forward-cache"])
        with Place(options.program, browser, options.screenshots) as place:
            print(f"Chromium {browser.version}; {place.origin}", flush=True)
            for scenario in sorted(SCENARIOS, key=lambda one: MODULES.index(one.__module__)):
                name = scenario.__name__.replace("_", " ")
                if options.only not in name:
                    continue
                try:
                    scenario(place)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - after any failure the next scenario runs
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
